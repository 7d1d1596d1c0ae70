-- sf_check finds each broken invariant, and nothing in executions that are well.
\set VERBOSITY terse
\set ON_ERROR_STOP 1
BEGIN;
\getenv abs_srcdir PG_ABS_SRCDIR
\set fixtures :abs_srcdir '/fixtures/status.sql'
\set ECHO none
\i :fixtures
\set ECHO all

ALTER SEQUENCE _sfflow.branch_no RESTART WITH 1000;

-- One execution that waits at its join with one branch running, one that has succeeded.
DO $$ BEGIN
	PERFORM fixture.execution('nightly', 'good');
	PERFORM fixture.event('nightly:good', 0, NULL, '{"id": 1}');
	PERFORM fixture.task('nightly:good', 0);
	PERFORM fixture.branch('nightly:good', 0, 1, 'JOIN', pending => 1);
	PERFORM fixture.branch('nightly:good', 1, 2, 'ENTER', parent => 0, scope => 1, due => '2025-02-05 02:10Z');
	PERFORM fixture.branch('nightly:good', 2, 5, 'DONE', parent => 0, scope => 2, branch_index => 1);
	PERFORM fixture.execution('nightly', 'done', 1);
	PERFORM fixture.event('nightly:done', 0, NULL, '{"id": 1}');
	PERFORM fixture.event('nightly:done', 1, NULL, payload_from => 1);
END $$;
SELECT * FROM sf_check();

-- Break it in one way, look, and mend it.
CREATE PROCEDURE pg_temp.broken(statement text, INOUT problems text DEFAULT NULL)
LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		EXECUTE replace(replace(statement, 'GOOD',
			 '(SELECT execution_no FROM _sfflow.execution WHERE execution_id = ''nightly:good'')'),
			'ENDED', '(SELECT execution_no FROM _sfflow.execution WHERE execution_id = ''nightly:done'')');
		SELECT string_agg(format('%s %s: %s', execution_id, problem,
			regexp_replace(detail, '(execution_no|machine_no) \d+', '\1')), E'\n') INTO problems FROM sf_check();
		RAISE EXCEPTION 'mend' USING errcode = 'P0009';
	EXCEPTION WHEN SQLSTATE 'P0009' THEN
	END;
END
$$;
\pset format unaligned
\pset tuples_only on
-- history
CALL pg_temp.broken('DELETE FROM _sfflow.history WHERE execution_no = GOOD AND first_id = 3');
CALL pg_temp.broken('DELETE FROM _sfflow.history WHERE execution_no = GOOD AND first_id = 6');
CALL pg_temp.broken('UPDATE _sfflow.history SET body = fixture.body(3, 3, 39, 0, NULL, true, NULL, false) WHERE '
	'execution_no = GOOD AND first_id = 3');
CALL pg_temp.broken('UPDATE _sfflow.history SET body = ''\x02'' WHERE execution_no = GOOD AND first_id = 3');
CALL pg_temp.broken('UPDATE _sfflow.history SET documents = NULL WHERE execution_no = ENDED AND first_id = 1');
CALL pg_temp.broken('UPDATE _sfflow.history SET documents = documents || documents WHERE execution_no = ENDED AND '
	'first_id = 1');
CALL pg_temp.broken('UPDATE _sfflow.history SET body = fixture.body(1, 0, 0, NULL, NULL, false, NULL, false), '
	'documents = NULL WHERE execution_no = ENDED AND first_id = 1');
CALL pg_temp.broken('UPDATE _sfflow.history SET body = fixture.body(2, 1, 2, NULL, 1, false, NULL, false) WHERE '
	'execution_no = ENDED AND first_id = 2');
-- executions
CALL pg_temp.broken('UPDATE _sfflow.execution SET stopped_at = NULL WHERE execution_no = ENDED');
CALL pg_temp.broken('UPDATE _sfflow.execution SET version = 7 WHERE execution_no = ENDED');
CALL pg_temp.broken('DELETE FROM _sfflow.branch WHERE execution_no = GOOD');
CALL pg_temp.broken('INSERT INTO _sfflow.branch (execution_no, branch_no, owner, state, phase) VALUES '
	'(ENDED, 0, current_user::regrole, 0, pg_temp.phase(''DONE''))');
CALL pg_temp.broken('UPDATE _sfflow.execution SET status = 2, stopped_at = ''2025-02-05 03:00Z'' WHERE execution_no = '
	'GOOD');
-- branches
CALL pg_temp.broken('INSERT INTO _sfflow.branch (execution_no, branch_no, owner, state, phase, due_at, parent_no, '
	'branch_index, scope) SELECT execution_no, 1000, owner, state, phase, due_at, parent_no, branch_index + 7, scope '
	'FROM _sfflow.branch WHERE execution_no = GOOD AND branch_no = 1');
CALL pg_temp.broken('UPDATE _sfflow.branch SET due_at = NULL, place = 4 WHERE execution_no = GOOD AND branch_no = 1');
CALL pg_temp.broken('UPDATE _sfflow.branch SET pending = 2 WHERE execution_no = GOOD AND branch_no = 0');
CALL pg_temp.broken('UPDATE _sfflow.branch SET phase = pg_temp.phase(''DONE''), due_at = NULL, pending = 0 '
	'WHERE execution_no = GOOD AND branch_no < 2');
CALL pg_temp.broken('UPDATE _sfflow.branch SET parent_no = 9 WHERE execution_no = GOOD AND branch_no = 2');
CALL pg_temp.broken('UPDATE _sfflow.branch SET branch_index = 0 WHERE execution_no = GOOD AND branch_no = 2');
CALL pg_temp.broken('UPDATE _sfflow.branch SET branch_index = -2147483648 WHERE execution_no = GOOD AND branch_no = 2');
CALL pg_temp.broken('UPDATE _sfflow.branch SET state = 99 WHERE execution_no = GOOD AND branch_no = 1');
CALL pg_temp.broken('UPDATE _sfflow.branch SET scope = 0 WHERE execution_no = GOOD AND branch_no = 1');
CALL pg_temp.broken('UPDATE _sfflow.branch SET owner = ''pg_monitor'' WHERE execution_no = GOOD AND branch_no = 1');
CALL pg_temp.broken('UPDATE _sfflow.branch SET entered_event = 99 WHERE execution_no = GOOD AND branch_no = 1');
-- what belongs to nothing
CALL pg_temp.broken('DELETE FROM _sfflow.execution WHERE execution_no = GOOD');
CALL pg_temp.broken('UPDATE _sfflow.state_machine SET current_version = 2 WHERE name = ''nightly''');
ROLLBACK;

-- Not for everybody.
CREATE ROLE regress_sfflow_nobody;
SET ROLE regress_sfflow_nobody;
\set ON_ERROR_STOP 0
SELECT * FROM sf_check();
RESET ROLE;
DROP ROLE regress_sfflow_nobody;
