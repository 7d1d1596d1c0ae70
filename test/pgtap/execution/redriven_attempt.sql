-- A branch that is redriven enters its state anew: nothing of the attempt that has failed is left.
BEGIN;
SELECT plan(4);
SET client_min_messages = error;

SELECT current_schema AS schema \gset
CREATE FUNCTION fail_always(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN RETURN sf_raise('Faulty'); END $$;
SELECT sf_create_state_machine('anew',
	format('{"QueryLanguage": "JSONata", "StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true,
	"Branches": [{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:%s.fail_always", "End": true,
		"Arguments": "{%% $states.context.Execution.RedriveCount = 0 ? {} : $error(''too late'') %%}"}}}]}}}',
		:'schema')::json) \g /dev/null
SELECT sf_start('anew', '{}', 'x'), sf_run('anew:x') \g /dev/null
CREATE FUNCTION pg_temp.tells(event text) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM sf_history h WHERE h.execution_id = 'anew:x' AND h.type = event $$;
SELECT is(pg_temp.tells('TaskStateAborted'), 1::bigint, 'a task that has run counts as aborted when its branch fails');
SELECT sf_redrive('anew:x'), sf_run('anew:x') \g /dev/null
SELECT is((SELECT e.error FROM sf_executions e WHERE e.execution_id = 'anew:x'), 'States.QueryEvaluationError',
	'after the redrive it does not begin');
SELECT is(pg_temp.tells('TaskScheduled'), 1::bigint, '... its task is not run again');
SELECT is(pg_temp.tells('TaskStateAborted'), 1::bigint, '... and does not count as aborted again');

SELECT * FROM finish();
ROLLBACK;
