-- Jobs: every Task of an execution with how far it is, derived from its events and branches.
\set VERBOSITY terse
\set ON_ERROR_STOP 1
BEGIN;
\getenv abs_srcdir PG_ABS_SRCDIR
\set fixtures :abs_srcdir '/fixtures/status.sql'
\set ECHO none
\i :fixtures
\set ECHO all
SET LOCAL timezone = 'UTC';

CREATE VIEW jobs AS
SELECT execution_id, job_id, job_status, attempts, to_char(started_at, 'MI:SS') AS started,
	to_char(stopped_at, 'MI:SS') AS stopped, input, output, error
FROM sf_jobs;

-- What directly precedes what: the join waits for both branches, which begin after the first job.
SELECT * FROM sf_job_relations;

-- Accepted, not begun: everything is still to come.
DO $$ BEGIN
	PERFORM fixture.execution('nightly', 'begun');
	PERFORM fixture.branch('nightly:begun', 0, 0, 'ENTER', due => '2025-02-05 02:00Z');
END $$;
SELECT job_id, job_status, attempts FROM jobs WHERE execution_id = 'nightly:begun';

-- JOB-005 failed while JOB-002 still runs: its sibling goes on to the join, JOB-006 is out of reach.
DO $$ BEGIN
	PERFORM fixture.execution('nightly', 'draining');
	PERFORM fixture.event('nightly:draining', 0, NULL, '{"id": 1}');
	PERFORM fixture.task('nightly:draining', 0);
	PERFORM fixture.event('nightly:draining', 17, 1, '{}');
	PERFORM fixture.event('nightly:draining', 21, 1);
	PERFORM fixture.event('nightly:draining', 8, 2, '"in 2"');
	PERFORM fixture.event('nightly:draining', 39, 2, '{}');
	PERFORM fixture.event('nightly:draining', 40, 2);
	PERFORM fixture.task('nightly:draining', 4);
	PERFORM fixture.task('nightly:draining', 5, fails => true);
	PERFORM fixture.branch('nightly:draining', 0, 1, 'JOIN', pending => 1, failing => true);
	PERFORM fixture.branch('nightly:draining', 11, 2, 'ANNOUNCED', parent => 0, scope => 1, due => '2025-02-05 02:10Z');
	PERFORM fixture.branch('nightly:draining', 12, 5, 'FAILED', parent => 0, scope => 2, branch_index => 1,
		error => 'check_violation', cause => 'amount is negative');
END $$;
SELECT job_id, job_status, attempts, started, stopped, input, output, error
FROM jobs WHERE execution_id = 'nightly:draining';

-- A failed execution: JOB-002 and JOB-003 completed, JOB-006 was skipped.
DO $$ BEGIN
	PERFORM fixture.execution('nightly', 'failed', 2, 'check_violation', 'amount is negative');
	PERFORM fixture.event('nightly:failed', 0, NULL, '{"id": 1}');
	PERFORM fixture.task('nightly:failed', 0);
	PERFORM fixture.task('nightly:failed', 2);
	PERFORM fixture.task('nightly:failed', 4);
	PERFORM fixture.task('nightly:failed', 5, fails => true);
	PERFORM fixture.task('nightly:failed', 3);
	PERFORM fixture.event('nightly:failed', 23, 1);
	PERFORM fixture.event('nightly:failed', 2, NULL, NULL, '{"error": "check_violation"}');
	PERFORM fixture.branch('nightly:failed', 0, 1, 'FAILED');
	PERFORM fixture.branch('nightly:failed', 11, 3, 'DONE', parent => 0, scope => 1);
	PERFORM fixture.branch('nightly:failed', 12, 5, 'FAILED', parent => 0, scope => 2, branch_index => 1,
		error => 'check_violation', cause => 'amount is negative');
END $$;
SELECT job_id, job_status, attempts, error FROM jobs WHERE execution_id = 'nightly:failed';

-- Redriven: JOB-005 is up again, with it JOB-006 has come within reach.
DO $$ BEGIN
	UPDATE _sfflow.execution SET status = 0, redrive_count = 1, stopped_at = NULL, error = NULL, cause = NULL
	WHERE execution_id = 'nightly:failed';
	PERFORM fixture.event('nightly:failed', 5, NULL, NULL, '{"redriveCount": 1}');
	DELETE FROM _sfflow.branch WHERE branch_no IN (0, 12)
		AND execution_no = (SELECT execution_no FROM _sfflow.execution WHERE execution_id = 'nightly:failed');
	PERFORM fixture.branch('nightly:failed', 0, 1, 'JOIN', pending => 1);
	PERFORM fixture.branch('nightly:failed', 12, 5, 'ENTER', parent => 0, scope => 2, branch_index => 1,
		due => '2025-02-05 03:00Z');
END $$;
SELECT job_id, job_status, attempts, error FROM jobs WHERE execution_id = 'nightly:failed';

-- Redriven from Fork: what failed comes again, what succeeded shows its last visit until then.
SAVEPOINT before;
DO $$ BEGIN
	DELETE FROM _sfflow.branch
	WHERE execution_no = (SELECT execution_no FROM _sfflow.execution WHERE execution_id = 'nightly:failed');
	PERFORM fixture.branch('nightly:failed', 0, 1, 'ENTER', due => '2025-02-05 03:00Z');
END $$;
SELECT job_id, job_status, attempts, error FROM jobs WHERE execution_id = 'nightly:failed';
ROLLBACK TO before;

-- ... and done: JOB-005 ran twice, all others once.
DO $$ BEGIN
	UPDATE _sfflow.execution SET status = 1, stopped_at = '2025-02-05 03:10Z' WHERE execution_id = 'nightly:failed';
	PERFORM fixture.task('nightly:failed', 5);
	PERFORM fixture.task('nightly:failed', 6);
	PERFORM fixture.event('nightly:failed', 1, NULL, '{}');
	DELETE FROM _sfflow.branch
	WHERE execution_no = (SELECT execution_no FROM _sfflow.execution WHERE execution_id = 'nightly:failed');
END $$;
SELECT job_id, job_status, attempts, error FROM jobs WHERE execution_id = 'nightly:failed';

-- Started again from the beginning ("restart"): what happened before does not count.
DO $$ BEGIN
	UPDATE _sfflow.execution SET status = 0, stopped_at = NULL WHERE execution_id = 'nightly:failed';
	PERFORM fixture.event('nightly:failed', 0, NULL, '{"id": 1}');
	PERFORM fixture.branch('nightly:failed', 0, 0, 'ENTER', due => '2025-02-05 04:00Z');
END $$;
SELECT job_id, job_status, attempts FROM jobs WHERE execution_id = 'nightly:failed';

-- A choice, a loop and a catcher: 0 Check, 1 A, 2 B, 3 Repair, 4 Count, 5 Again, 6 Done. Check leads to
-- A, B or Done; A is caught by Repair; both go on to Count and Again, which leads back to Check.
SELECT fixture.machine('choice', '{
	"StartAt": "Check",
	"States": {
		"Check": {"Type": "Choice", "Default": "B",
			"Choices": [{"Variable": "$.x", "NumericEquals": 1, "Next": "A"},
				{"Variable": "$.x", "NumericEquals": 2, "Next": "Done"}]},
		"A": {"Type": "Task", "Resource": "sql:f", "Next": "Count",
			"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Repair"}]},
		"B": {"Type": "Task", "Resource": "sql:f", "End": true},
		"Repair": {"Type": "Task", "Resource": "sql:f", "Next": "Count"},
		"Count": {"Type": "Pass", "Next": "Again"},
		"Again": {"Type": "Task", "Resource": "sql:f", "Next": "Check"},
		"Done": {"Type": "Succeed"}}}') > 0 AS made;
SELECT job_id, pre_job_id FROM sf_job_relations WHERE state_machine = 'choice';

-- In B: nothing else can be reached any more.
DO $$ BEGIN
	PERFORM fixture.execution('choice', 'b');
	PERFORM fixture.event('choice:b', 8, 2, '1');
	PERFORM fixture.branch('choice:b', 0, 2, 'ANNOUNCED');
END $$;
SELECT job_id, job_status FROM jobs WHERE execution_id = 'choice:b';

-- In Repair: A failed and was caught, which leaves it a failure; B is open, and A could come again.
DO $$ BEGIN
	PERFORM fixture.execution('choice', 'repair');
	PERFORM fixture.task('choice:repair', 1, fails => true);
	PERFORM fixture.event('choice:repair', 9, 1, '{"Error": "check_violation"}');
	PERFORM fixture.event('choice:repair', 8, 3, '1');
	PERFORM fixture.event('choice:repair', 39, 3, '1');
	PERFORM fixture.branch('choice:repair', 0, 3, 'ANNOUNCED');
END $$;
SELECT job_id, job_status, output, error FROM jobs WHERE execution_id = 'choice:repair';

-- Second time in A: the last visit shows, attempts are summed up.
DO $$ BEGIN
	PERFORM fixture.event('choice:repair', 9, 3, '"out 3"');
	PERFORM fixture.task('choice:repair', 5);
	PERFORM fixture.task('choice:repair', 1);
	UPDATE _sfflow.branch SET state = 4, phase = pg_temp.phase('ENTER')
	WHERE execution_no = (SELECT execution_no FROM _sfflow.execution WHERE execution_id = 'choice:repair');
END $$;
SELECT job_id, job_status, attempts, output, error FROM jobs WHERE execution_id = 'choice:repair';

-- A retry that waits for its time runs; it is no failure yet.
DO $$ BEGIN
	PERFORM fixture.execution('choice', 'retry');
	PERFORM fixture.task('choice:retry', 1, fails => true);
	PERFORM fixture.branch('choice:retry', 0, 1, 'RUN', due => '2125-02-05 02:00Z');
END $$;
SELECT job_id, job_status, attempts, stopped, error FROM jobs WHERE execution_id = 'choice:retry';

-- An error without an event of its own (a path that does not exist) is read from the execution.
DO $$ BEGIN
	PERFORM fixture.execution('choice', 'path', 2, 'States.Runtime', 'Invalid path');
	PERFORM fixture.event('choice:path', 8, 1, '1');
	PERFORM fixture.event('choice:path', 2, NULL, NULL, '{"error": "States.Runtime"}');
	PERFORM fixture.branch('choice:path', 0, 1, 'FAILED', error => 'States.Runtime', cause => 'Invalid path');
END $$;
SELECT job_id, job_status, attempts, error FROM jobs WHERE execution_id = 'choice:path';

-- Without history there is only current work: no claim about what came before, or comes later.
INSERT INTO _sfflow.state_machine_version
SELECT machine_no, 2, definition, NULL, '{"history": "NONE"}', v.created_at
FROM _sfflow.state_machine_version v JOIN _sfflow.state_machine USING (machine_no) WHERE name = 'nightly';
DO $$ BEGIN
	PERFORM fixture.execution('nightly', 'silent');
	UPDATE _sfflow.execution SET version = 2 WHERE execution_id = 'nightly:silent';
	PERFORM fixture.branch('nightly:silent', 0, 1, 'JOIN', pending => 2);
	PERFORM fixture.branch('nightly:silent', 1, 3, 'ANNOUNCED', parent => 0, scope => 1);
	PERFORM fixture.branch('nightly:silent', 2, 5, 'ENTER', parent => 0, scope => 2, branch_index => 1,
		due => '2025-02-05 02:10Z');
END $$;
SELECT job_id, job_status, attempts FROM jobs WHERE execution_id = 'nightly:silent';
UPDATE _sfflow.branch b SET phase = pg_temp.phase('FAILED'), error = 'check_violation', due_at = NULL
FROM _sfflow.execution e WHERE e.execution_no = b.execution_no AND e.execution_id = 'nightly:silent'
	AND b.branch_no = 2;
SELECT job_id, job_status, error FROM jobs WHERE execution_id = 'nightly:silent';
UPDATE _sfflow.execution SET status = 1, stopped_at = now() WHERE execution_id = 'nightly:silent';
DELETE FROM _sfflow.branch b USING _sfflow.execution e WHERE e.execution_no = b.execution_no
	AND e.execution_id = 'nightly:silent';
SELECT job_id, job_status FROM jobs WHERE execution_id = 'nightly:silent';

-- Map in Map: 0 Stores, 1 Prepare, 2 Days, 3 Load, 4 After. Iterations that began have rows.
SELECT fixture.machine('maps', '{
	"StartAt": "Stores",
	"States": {
		"Stores": {"Type": "Map", "Next": "After", "ItemProcessor": {"StartAt": "Prepare", "States": {
			"Prepare": {"Type": "Task", "Resource": "sql:f", "Next": "Days"},
			"Days": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "Load", "States": {
				"Load": {"Type": "Task", "Resource": "sql:f", "End": true}}}}}}},
		"After": {"Type": "Task", "Resource": "sql:f", "End": true}}}') > 0 AS made;
DO $$ BEGIN
	PERFORM fixture.execution('maps', 'm');
	PERFORM fixture.event('maps:m', 29, 0, NULL, NULL, '{0}');
	PERFORM fixture.event('maps:m', 29, 0, NULL, NULL, '{1}');
	PERFORM fixture.task('maps:m', 1, iterations => '{1}');
	PERFORM fixture.event('maps:m', 29, 2, NULL, NULL, '{1,0}');
	PERFORM fixture.event('maps:m', 29, 2, NULL, NULL, '{1,10}');
	PERFORM fixture.event('maps:m', 29, 2, NULL, NULL, '{1,2}');
	PERFORM fixture.task('maps:m', 3, iterations => '{1,0}');
	PERFORM fixture.branch('maps:m', 0, 0, 'JOIN', pending => 2);
	PERFORM fixture.branch('maps:m', 1, 1, 'ENTER', parent => 0, scope => 1, iterations => '{0}');
	PERFORM fixture.branch('maps:m', 2, 2, 'JOIN', parent => 0, scope => 1, iterations => '{1}', pending => 2);
	PERFORM fixture.branch('maps:m', 4, 3, 'ENTER', parent => 2, scope => 2, iterations => '{1,10}');
	PERFORM fixture.branch('maps:m', 5, 3, 'ANNOUNCED', parent => 2, scope => 2, iterations => '{1,2}');
END $$;
SELECT job_id, job_status, attempts FROM jobs WHERE execution_id = 'maps:m';
SELECT job_id, pre_job_id FROM sf_job_relations WHERE state_machine = 'maps';

-- 20,000 iterations cost what they are.
DO $$ BEGIN PERFORM fixture.execution('maps', 'many'); END $$;
INSERT INTO _sfflow.history (execution_no, first_id, at, body)
-- MapIterationStarted, TaskStateEntered, TaskScheduled, TaskStateExited
SELECT execution_no, 4 * i + 1, now(), '\x010104 1d240201'::bytea || fixture.number(2 * i) || '\x080402 2700 0900'
FROM _sfflow.execution, generate_series(0, 19999) i WHERE execution_id = 'maps:many';
SET LOCAL statement_timeout = '60 s';
SELECT job_status, count(*), min(job_id), count(DISTINCT job_id)
FROM sf_jobs WHERE execution_id = 'maps:many' GROUP BY 1 ORDER BY 1;
ROLLBACK;
