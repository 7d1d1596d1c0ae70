-- Quotas of owners: running executions, starts per minute; and transitions of an execution.
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT sf_disable();
CREATE ROLE regress_sfflow_tenant;
CREATE ROLE regress_sfflow_other;
-- A count of running executions is trusted for a while where it took long, as on a busy machine.
CREATE FUNCTION pg_temp.insist(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
	FOR i IN 1 .. 1800 LOOP
		BEGIN
			EXECUTE 'SELECT ' || call INTO result;
			RETURN result;
		EXCEPTION WHEN SQLSTATE 'SF040' THEN
			PERFORM pg_sleep(0.1);
		END;
	END LOOP;
	RETURN 'refused';
END $$;
-- What a tenant may not raise for itself.
SET ROLE regress_sfflow_tenant;
ALTER ROLE regress_sfflow_tenant SET sfflow.max_executions_per_owner = 0;
SET sfflow.max_starts_per_owner = 0;
RESET ROLE;

-- Running executions: of the owner, whoever starts them. One that has ended makes room.
ALTER ROLE regress_sfflow_tenant SET sfflow.max_executions_per_owner = 3;
SET ROLE regress_sfflow_tenant;
SELECT sf_create_state_machine('regress_pause',
	'{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 3600, "End": true}}}');
SELECT sf_start('regress_pause', name => i::text) FROM generate_series(1, 3) i;
SELECT sf_start('regress_pause', name => '4');
RESET ROLE;
SELECT sf_start('regress_pause', name => '4');
-- A name that is taken starts nothing.
SELECT sf_start('regress_pause', name => '3');
SELECT sf_stop('regress_pause:1');
-- To go on with one counts as a start.
SELECT pg_temp.insist($$sf_redrive('regress_pause:1')$$);
SELECT sf_stop('regress_pause:2');
SELECT pg_temp.insist($$sf_start('regress_pause', name => '4')$$);
SELECT sf_redrive('regress_pause:2');
SELECT sf_start('regress_pause', name => '2');
-- Another owner is not held up.
SET ROLE regress_sfflow_other;
SELECT sf_create_state_machine('regress_other', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');
SELECT count(sf_start('regress_other')) FROM generate_series(1, 5);
RESET ROLE;
SELECT ok, detail ~ 'sfflow.max_executions_per_owner \(3\) of role "regress_sfflow_tenant" is reached: \d+ refused' AS
	named
FROM sf_health WHERE item = 'quotas';

-- A task that starts an execution fails with an error that can be retried, a Map holds back.
ALTER ROLE regress_sfflow_other SET sfflow.max_executions_per_owner = 6;
SET ROLE regress_sfflow_other;
SELECT sf_create_state_machine('regress_parent',
	'{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution",
	"Parameters": {"StateMachineArn": "regress_other"},
		"Catch": [{"ErrorEquals": ["StepFunctions.ExecutionLimitExceeded"], "Next": "B"}], "End": true},
	"B": {"Type": "Pass", "End": true}}}');
SELECT pg_sleep(1.1);
SELECT sf_start('regress_parent', name => 'p');
SELECT sf_run('regress_parent:p');
SELECT output FROM sf_executions WHERE execution_id = 'regress_parent:p';
SELECT sf_create_state_machine('regress_map',
	'{"StartAt": "A", "States": {"A": {"Type": "Map", "End": true, "ItemProcessor": {
	"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "B",
		"States": {"B": {"Type": "Wait", "Seconds": 60, "End": true}}}}}}');
-- On a slow server a count is trusted for a while, until it is taken again.
DO $$
BEGIN
	FOR try IN 1..1200 LOOP
		BEGIN
			PERFORM sf_start('regress_map', '[1, 2, 3, 4, 5]', 'm');
			RETURN;
		EXCEPTION WHEN SQLSTATE 'SF040' THEN
			PERFORM pg_sleep(0.1);
		END;
	END LOOP;
END $$;
SELECT sf_run('regress_map:m');
SELECT executions, running FROM sf_map_runs WHERE execution_id = 'regress_map:m';
SELECT sf_run('regress_map:m', skip_waits => true);
SELECT executions, succeeded FROM sf_map_runs WHERE execution_id = 'regress_map:m';
RESET ROLE;

-- Starts per minute.
ALTER ROLE regress_sfflow_tenant SET sfflow.max_executions_per_owner = 0;
ALTER ROLE regress_sfflow_tenant SET sfflow.max_starts_per_owner = 2;
SELECT pg_sleep(1.1);
-- A redrive that is refused is no start: of what runs, of what has succeeded, and from a state that there is not.
SELECT sf_redrive('regress_pause:3');
SELECT sf_run('regress_pause:3', skip_waits => true);
SELECT sf_redrive('regress_pause:3');
SELECT sf_stop('regress_pause:4');
SELECT sf_redrive('regress_pause:4', from_state => 'Nowhere');
SELECT sf_start('regress_pause', name => '5');
SELECT sf_start('regress_pause', name => '6');
SELECT sf_start('regress_pause', name => '7');
SELECT sf_start('regress_pause', name => '6');
-- What may not be redriven is told so, however many starts are left.
SELECT sf_redrive('regress_pause:3');
SELECT sf_redrive('regress_pause:6');
SELECT sf_redrive('regress_pause:4');

-- A redrive of what a Map has tolerated is a start.
ALTER ROLE regress_sfflow_tenant RESET sfflow.max_starts_per_owner;
SELECT pg_sleep(1.1);
SET ROLE regress_sfflow_tenant;
SELECT sf_create_state_machine('regress_tolerant', '{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
	"ToleratedFailurePercentage": 100, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED",
	"ExecutionType": "STANDARD"}, "StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "Odd"}}}}}}');
SELECT sf_start('regress_tolerant', '[1]', 't');
SELECT sf_run('regress_tolerant:t');
RESET ROLE;
ALTER ROLE regress_sfflow_tenant SET sfflow.max_starts_per_owner = 1;
SELECT pg_sleep(1.1);
SELECT sf_redrive('regress_tolerant:t');
SELECT sf_redrive('regress_tolerant:t');
SELECT sf_start('regress_tolerant', '[1]', 'other');

-- Transitions, also of what no history is kept of, and in branches.
ALTER ROLE regress_sfflow_other SET sfflow.max_transitions = 50;
ALTER ROLE regress_sfflow_other RESET sfflow.max_executions_per_owner;
SELECT pg_sleep(1.1);
SET ROLE regress_sfflow_other;
SELECT sf_create_state_machine('regress_loop', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"},
	"B": {"Type": "Choice", "Choices": [{"Variable": "$.x", "IsPresent": true, "Next": "C"}], "Default": "A"},
	"C": {"Type": "Succeed"}}}', options => '{"history": "NONE"}');
SELECT sf_start('regress_loop', name => 'l');
SELECT sf_run('regress_loop:l');
SELECT error, cause FROM sf_executions WHERE execution_id = 'regress_loop:l';
SELECT sf_create_state_machine('regress_branches',
	'{"StartAt": "A", "States": {"A": {"Type": "Parallel", "Next": "D", "Branches": [
	{"StartAt": "B", "States": {"B": {"Type": "Pass", "End": true}}},
		{"StartAt": "C", "States": {"C": {"Type": "Pass", "End": true}}}]},
	"D": {"Type": "Choice", "Choices": [{"Variable": "$[0].x", "IsPresent": true, "Next": "Z"}], "Default": "A"},
		"Z": {"Type": "Succeed"}}}', options => '{"history": "NONE"}');
SELECT sf_start('regress_branches', name => 'b');
SELECT sf_run('regress_branches:b');
SELECT error, cause FROM sf_executions WHERE execution_id = 'regress_branches:b';
-- A redrive may make as many again.
SELECT sf_redrive('regress_loop:l');
SELECT sf_run('regress_loop:l');
RESET ROLE;
SELECT problem, detail FROM sf_check();
SELECT sf_drop_state_machine(m, true) FROM unnest('{regress_pause,regress_other,regress_parent,regress_map,
	regress_tolerant,regress_loop,regress_branches}'::text[]) m;
DROP ROLE regress_sfflow_tenant, regress_sfflow_other;
SELECT sf_enable();
