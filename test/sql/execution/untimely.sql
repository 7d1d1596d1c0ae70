-- What comes at a bad moment: limits, timeouts, answers, aborts, calls from inside a task.
\set VERBOSITY terse
SELECT sf_disable();

CREATE SCHEMA untimely;
CREATE TABLE untimely.ledger (job text);
CREATE FUNCTION untimely.job(payload jsonb) RETURNS void LANGUAGE sql
AS 'INSERT INTO untimely.ledger VALUES (payload ->> 0)';

-- The machine's timeout finds what was done before it: both jobs are in the ledger and in the history.
SELECT sf_create_state_machine('deadline', $$
{"TimeoutSeconds": 5, "StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
  {"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 10, "End": true}}},
  {"StartAt": "Q", "States": {"Q": {"Type": "Parallel", "End": true, "Branches": [
    {"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:untimely.job", "Parameters": ["A"], "End":
    	true}}},
    {"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "sql:untimely.job", "Parameters": ["B"], "End":
    	true}}}]}}}]}}}
$$);
SELECT sf_start('deadline', name => 'x');
SELECT sf_run('deadline:x', skip_waits => true);
SELECT job FROM untimely.ledger ORDER BY job;
SELECT state, count(*) FROM sf_history WHERE execution_id = 'deadline:x' AND type = 'TaskSucceeded' GROUP BY 1
	ORDER BY 1;
TRUNCATE untimely.ledger;

-- A history that is full ends the branch that filled it, and the execution once its siblings are through.
SELECT sf_create_state_machine('endless', $$
{"StartAt": "P", "States": {"P": {"Type": "Parallel", "FailureMode": "DRAIN", "End": true, "Branches": [
  {"StartAt": "Loop", "States": {"Loop": {"Type": "Wait", "Seconds": 1, "Next": "Again"}, "Again":
  	{"Type": "Pass", "Next": "Loop"}}}]}}}
$$);
SET sfflow.max_history_events = 100;
SELECT sf_start('endless', name => 'x');
SELECT sf_run('endless:x', skip_waits => true, max_steps => 1000);
SELECT status, error, cause FROM sf_executions WHERE execution_id = 'endless:x';
RESET sfflow.max_history_events;

-- A failure that was answered before a stop, and not looked at, is no reason to fail after the redrive.
SELECT sf_create_activity('untimely');
SELECT sf_create_state_machine('answered', $$
{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "activity:untimely", "End": true}}}
$$);
SELECT sf_start('answered', name => 'x');
SELECT sf_run('answered:x');
SELECT sf_send_task_failure(task_token, 'Broken') FROM sf_get_activity_task('untimely');
SELECT sf_stop('answered:x');
SELECT sf_redrive('answered:x');
SELECT sf_run('answered:x');
SELECT sf_send_task_success(task_token, '"repaired"') FROM sf_get_activity_task('untimely');
SELECT sf_run('answered:x');
SELECT output FROM sf_executions WHERE execution_id = 'answered:x';

-- A child execution ends with the branch that waited for it, also where the failure is caught.
SELECT sf_create_state_machine('child', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 100,
	"End": true}}}');
SELECT sf_create_state_machine('parent', $$
{"StartAt": "P", "States": {"P": {"Type": "Parallel", "Branches": [
  {"StartAt": "C", "States": {"C": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync",
    "Parameters": {"StateMachineArn": "child", "Name": "x"}, "End": true}}},
  {"StartAt": "W0", "States": {"W0": {"Type": "Wait", "Seconds": 1, "Next": "F"}, "F":
  	{"Type": "Fail", "Error": "No"}}}],
  "Catch": [{"ErrorEquals": ["No"], "Next": "Z"}], "End": true}, "Z": {"Type": "Succeed"}}}
$$);
SELECT sf_start('parent', name => 'x');
SELECT sf_run('parent:x', skip_waits => true);
SELECT sf_run('child:x');

-- A task cannot advance executions: its own branch would be taken a second time.
CREATE FUNCTION untimely.again(payload jsonb) RETURNS text LANGUAGE sql AS 'SELECT sf_run(''again:x'')';
SELECT sf_create_state_machine('again', '{"StartAt": "T",
	"States": {"T": {"Type": "Task", "Resource": "sql:untimely.again", "End": true}}}');
SELECT sf_start('again', name => 'x');
SELECT sf_run('again:x');
SELECT error, cause::json ->> 'message' AS message FROM sf_executions WHERE execution_id = 'again:x';

-- Nor can it stop the execution that it is part of: the stop would roll back with it.
CREATE FUNCTION untimely.halt(payload jsonb) RETURNS text LANGUAGE sql AS 'SELECT sf_stop(''halt:x'')';
SELECT sf_create_state_machine('halt', '{"StartAt": "T",
	"States": {"T": {"Type": "Task", "Resource": "sql:untimely.halt", "End": true}}}');
SELECT sf_start('halt', name => 'x');
SELECT sf_run('halt:x');
SELECT error, cause::json ->> 'message' AS message FROM sf_executions WHERE execution_id = 'halt:x';

-- Restarted with a version, it runs that version.
SELECT sf_create_state_machine('versions', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": "first",
	"End": true}}}');
SELECT sf_start('versions', name => 'x');
SELECT sf_run('versions:x');
SELECT sf_create_state_machine('versions', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": "second",
	"End": true}}}', or_replace => true);
SELECT sf_start('versions/1', name => 'x', if_exists => 'restart');
SELECT sf_run('versions:x');
SELECT version, output FROM sf_executions WHERE execution_id = 'versions:x';

-- A transaction that may not write advances, starts, and stops nothing.
SELECT sf_start('versions', name => 'y');
BEGIN READ ONLY;
SELECT * FROM sf_step('versions:y');
ROLLBACK;
BEGIN READ ONLY;
SELECT sf_run('versions:y');
ROLLBACK;
BEGIN READ ONLY;
SELECT sf_stop('versions:y');
ROLLBACK;
BEGIN READ ONLY;
SELECT sf_start('versions', name => 'y');
ROLLBACK;
SELECT sf_run('versions:y');

-- Triggers on the extension's tables, those of a foreign key among them, are run.
CREATE TABLE untimely.runs (execution_no bigint REFERENCES _sfflow.execution);
CREATE FUNCTION untimely.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO untimely.ledger VALUES (TG_OP || ' ' || TG_TABLE_NAME);
	RETURN NULL;
END $$;
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON _sfflow.execution FOR EACH ROW EXECUTE FUNCTION untimely.note();
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON _sfflow.branch FOR EACH ROW EXECUTE FUNCTION untimely.note();
CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON _sfflow.history FOR EACH ROW EXECUTE FUNCTION untimely.note();
TRUNCATE untimely.ledger;
SELECT sf_start('versions', name => 'z');
SELECT sf_run('versions:z');
SELECT job, count(*) FROM untimely.ledger GROUP BY 1 ORDER BY 1;
DROP TRIGGER note ON _sfflow.execution;
DROP TRIGGER note ON _sfflow.branch;
DROP TRIGGER note ON _sfflow.history;
DROP TABLE untimely.runs;

SELECT * FROM sf_check();
SELECT sf_drop_state_machine(m, force => true)
FROM unnest('{deadline,endless,answered,parent,child,again,halt,versions}'::text[]) AS m;
SELECT sf_drop_activity('untimely');
DROP SCHEMA untimely CASCADE;
SELECT sf_enable();
