-- A branch or iteration that ended in a Fail state begins again at a redrive; what succeeded is kept.
BEGIN;
SELECT plan(8);

CREATE TABLE mood (item text PRIMARY KEY, good boolean, asked integer DEFAULT 0);
INSERT INTO mood VALUES ('a', true), ('b', false), ('c', true);
CREATE FUNCTION ask(item text) RETURNS boolean LANGUAGE sql AS $$
	UPDATE mood SET asked = asked + 1 WHERE mood.item = ask.item RETURNING good
$$;

SELECT lives_ok($$SELECT sf_create_state_machine('moods', format('{"StartAt": "M", "States": {"M": {"Type": "Map",
			"End": true,
	"FailureMode": "DRAIN", "ItemProcessor": {"StartAt": "Ask", "States": {
		"Ask": {"Type": "Task", "Resource": "sql:%s.ask", "Parameters": {"item.$": "$"}, "ResultPath": null,
			"Next": "Note"},
		"Note": {"Type": "Task", "Resource": "sql:%s.ask", "Parameters": {"item.$": "$"}, "Next": "Good?"},
		"Good?": {"Type": "Choice", "Choices": [{"Variable": "$", "BooleanEquals": true, "Next": "Yes"}],
			"Default": "No"},
		"Yes": {"Type": "Succeed"},
		"No": {"Type": "Fail", "Error": "BadMood"}}}}}}', current_schema, current_schema)::json)$$);

SELECT is(sf_start('moods', '["a", "b", "c"]', 'x'), 'moods:x');
SELECT is(sf_run('moods:x'), 'FAILED', 'one iteration ends in its Fail state');
SELECT sf_redrive('moods:x');
SELECT is(sf_run('moods:x'), 'FAILED', 'nothing has changed, so it fails again');
UPDATE mood SET good = true;
SELECT sf_redrive('moods:x');
SELECT is(sf_run('moods:x'), 'SUCCEEDED', 'now it does not');
SELECT results_eq('SELECT item, asked FROM mood ORDER BY item', $$VALUES ('a', 2), ('b', 6), ('c', 2)$$,
	'only the failed iteration began again, from its first state and with its own item');
SELECT is((SELECT output FROM sf_executions WHERE execution_id = 'moods:x'), '[true, true, true]',
	'and its output is in its place');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

SELECT * FROM finish();
ROLLBACK;
