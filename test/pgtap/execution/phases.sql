-- Phases of branches: with a debug point set, a transition that leaves a branch in a phase that does not follow
-- (SF_PHASES_AFTER_… in src/store/branch/phase.h) raises an error. Here branches go through most of them.
BEGIN;
SELECT plan(31);
\ir ../../fixtures/phases.sql
SET LOCAL sfflow.debug_point = 'no-such-point:error';

CREATE FUNCTION public.moody(x jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	IF x ? 'fail' AND nextval('moods') <= (x ->> 'fail')::integer THEN
		PERFORM sf_raise('Bad', 'mood');
	END IF;
	RETURN x;
END $$;
CREATE SEQUENCE public.moods;

-- Run an execution, as a whole or by single transitions; what it came to.
CREATE FUNCTION pg_temp.play(id text, steps boolean) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF steps THEN
		WHILE sf_run(id, skip_waits => true, max_steps => 1) = 'RUNNING' LOOP
		END LOOP;
	ELSE
		PERFORM sf_run(id, skip_waits => true);
	END IF;
	RETURN (SELECT concat_ws(' ', status, error) FROM sf_executions WHERE execution_id = id);
END $$;

SELECT sf_create_state_machine('phases', $def$ {"StartAt": "P", "States": {
	"P": {"Type": "Pass", "Next": "W"},
	"W": {"Type": "Wait", "Seconds": 1, "Next": "T"},
	"T": {"Type": "Task", "Resource": "sql:public.moody",
		"Retry": [{"ErrorEquals": ["Bad"], "IntervalSeconds": 1, "MaxAttempts": 1}],
		"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "C"}], "ResultPath": null, "Next": "C"},
	"C": {"Type": "Choice", "Choices": [{"Variable": "$.x", "IsPresent": true, "Next": "L"}], "Default": "L"},
	"L": {"Type": "Parallel", "ResultPath": null, "Next": "M",
		"Retry": [{"ErrorEquals": ["Bad"], "IntervalSeconds": 0, "MaxAttempts": 2}],
		"Branches": [
			{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 1, "End": true}}},
			{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "sql:public.moody",
				"Parameters": {"fail": 3}, "End": true}}}]},
	"M": {"Type": "Map", "MaxConcurrency": 2, "ItemsPath": "$$.Execution.Input.items", "Next": "N",
		"ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Pass", "End": true}}}},
	"N": {"Type": "JobNet", "MaxConcurrency": 1, "End": true, "Jobs": {
		"a": {"Type": "Pass"}, "b": {"Type": "Pass", "After": ["a"]},
		"c": {"Type": "Fail", "Error": "Late", "After": ["b"]},
		"d": {"Type": "Pass", "After": [{"Job": "c", "On": ["failure"]}]}}}}} $def$);
SELECT is(pg_temp.play(sf_start('phases', '{"items": [1, 2, 3, 4, 5], "fail": 1}', name => 'whole'), false),
	'FAILED Late', 'as a whole');
SELECT sf_redrive('phases:whole');
SELECT is(pg_temp.play('phases:whole', false), 'FAILED Late', '... and after a redrive');
ALTER SEQUENCE public.moods RESTART;
SELECT is(pg_temp.play(sf_start('phases', '{"items": [1, 2, 3, 4, 5], "fail": 1}', name => 'steps'), true),
	'FAILED Late', 'by single transitions');
SELECT sf_redrive('phases:steps');
SELECT is(pg_temp.play('phases:steps', true), 'FAILED Late', '... and after a redrive');

-- Stopped in its joins, and redriven from there.
SELECT sf_start('phases', '{"items": [1]}', name => 'stopped');
DO $$ BEGIN
	WHILE NOT EXISTS (SELECT FROM _sfflow.branch b JOIN _sfflow.execution e USING (execution_no)
		WHERE e.execution_id = 'phases:stopped' AND b.parent_no IS NOT NULL) LOOP
		EXIT WHEN sf_run('phases:stopped', skip_waits => true, max_steps => 1) <> 'RUNNING';
	END LOOP;
END $$;
SELECT sf_stop('phases:stopped');
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'phases:stopped'), 'ABORTED', 'stopped in a join');
SELECT sf_redrive('phases:stopped');
SELECT is(pg_temp.play('phases:stopped', true), 'FAILED Late', '... and redriven');

-- A task of a program outside: a timeout, a retry, and an answer.
SELECT sf_create_activity('phases');
SELECT sf_create_state_machine('outside', $$ {"StartAt": "T", "States": {"T": {"Type": "Task",
	"Resource": "activity:phases", "End": true}}} $$);
SELECT sf_start('outside', '{}', name => 'x');
SELECT sf_run('outside:x');
SELECT is((SELECT pg_temp.phase_name(b.phase) FROM _sfflow.branch b JOIN _sfflow.execution e USING (execution_no)
	WHERE e.execution_id = 'outside:x'), 'EXTERNAL', 'a task waits outside');
SELECT sf_send_task_success(task_token, '1') FROM sf_get_activity_task('phases', 'me');
SELECT is(pg_temp.play('outside:x', false), 'SUCCEEDED', '... and is answered');

-- What is answered when its execution ends keeps the outcome, from which a redrive goes on unless it is a failure.
CREATE FUNCTION pg_temp.phase_of(id text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', pg_temp.phase_name(b.phase), CASE WHEN b.outcome_failed THEN b.error ELSE b.outcome::text END,
		CASE WHEN b.due_at IS NULL THEN 'never' END, (SELECT string_agg(problem, ' ') FROM sf_check()))
	FROM _sfflow.branch b JOIN _sfflow.execution e USING (execution_no) WHERE e.execution_id = id
$$;
CREATE FUNCTION pg_temp.keep(id text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	v_phases text[];
BEGIN
	PERFORM sf_start('outside', '{}', name => split_part(id, ':', 2)), sf_run(id);
	PERFORM CASE WHEN id ~ 'good' THEN sf_send_task_success(t.task_token, '7')
		ELSE sf_send_task_failure(t.task_token, 'Bad') END FROM sf_get_activity_task('phases', 'me') t;
	v_phases := ARRAY[pg_temp.phase_of(id)];
	PERFORM sf_stop(id);
	v_phases := v_phases || pg_temp.phase_of(id);
	PERFORM sf_redrive(id);
	RETURN v_phases || pg_temp.phase_of(id);
END $$;
SELECT is(pg_temp.keep('outside:good'), '{ANSWERED 7,KEPT 7 never,ANSWERED 7}'::text[],
	'an outcome is kept by an execution that is stopped');
SELECT is(pg_temp.play('outside:good', false), 'SUCCEEDED', '... and a redrive goes on from it');
SELECT is(pg_temp.keep('outside:bad'), '{ANSWERED Bad,KEPT Bad never,ENTER}'::text[],
	'a failure is kept, too, and a redrive does the work again');
SELECT throws_like(format($$ UPDATE _sfflow.branch SET phase = %s WHERE phase = %s $$, pg_temp.phase('KEPT'),
	pg_temp.phase('ENTER')), '%violates check constraint "branch_phase"', 'what ends is not due');

-- A Distributed Map has phases of its own. An activity reads its items, or fails to; a function writes the results.
CREATE FUNCTION public.store_results(payload jsonb) RETURNS void LANGUAGE sql RETURN NULL;
SELECT sf_create_state_machine('fan', $def$ {"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
	"ItemReader": {"Resource": "activity:phases"}, "ResultWriter": {"Resource": "sql:public.store_results"},
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "I",
		"States": {"I": {"Type": "Pass", "End": true}}}}}} $def$);
CREATE FUNCTION pg_temp.read(id text, good boolean DEFAULT true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	v_token text := task_token FROM sf_get_activity_task('phases', 'me');
BEGIN
	IF NOT good THEN
		PERFORM sf_send_task_failure(v_token, 'Bad');
	ELSE
		PERFORM sf_send_task_items(v_token, '[1, 2, 3]');
		PERFORM sf_send_task_success(v_token, '3');
	END IF;
	RETURN pg_temp.phase_of(id);
END $$;
CREATE FUNCTION pg_temp.fan(id text) RETURNS text LANGUAGE sql AS $$
	SELECT sf_start('fan', '{}', name => split_part(id, ':', 2));
	SELECT sf_run(id);
	SELECT pg_temp.phase_of(id)
$$;
-- The phases that it comes to rest in, step by step, until it has ended.
CREATE FUNCTION pg_temp.rests(id text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	v_rests text[] := '{}';
	v_phase text;
BEGIN
	WHILE sf_run(id, max_steps => 1) = 'RUNNING' LOOP
		v_phase := pg_temp.phase_of(id);
		IF v_phase IS DISTINCT FROM v_rests[cardinality(v_rests)] THEN
			v_rests := v_rests || v_phase;
		END IF;
	END LOOP;
	RETURN v_rests;
END $$;
CREATE FUNCTION pg_temp.children_of(id text) RETURNS TABLE (status text) LANGUAGE sql AS $$
	SELECT s.status FROM _sfflow.execution p JOIN _sfflow.execution c ON c.parent_execution_no = p.execution_no
	JOIN sf_executions s ON s.execution_id = c.execution_id WHERE p.execution_id = id
$$;
SELECT is(ARRAY[pg_temp.fan('fan:good'), pg_temp.read('fan:good')], '{EXTERNAL never,MAP_ANSWERED 3}'::text[],
	'a Distributed Map is answered');
SELECT is(pg_temp.rests('fan:good'), '{JOIN,JOIN never,JOIN,MAP_WRITE}'::text[],
	'... has its children run, and writes');
SELECT pg_temp.fan('fan:kept'), pg_temp.read('fan:kept'), sf_stop('fan:kept');
SELECT is(pg_temp.phase_of('fan:kept'), 'KEPT 3 never', 'one that is stopped keeps what it has read');
SELECT sf_redrive('fan:kept');
SELECT is(pg_temp.phase_of('fan:kept'), 'MAP_ANSWERED 3', '... and a redrive goes on from it');
SELECT is((SELECT concat_ws(' ', status, redrive_count, stopped_at) FROM sf_map_runs WHERE execution_id = 'fan:kept'),
	'RUNNING 1', '... in its run');
DO $$ BEGIN
	WHILE NOT EXISTS (SELECT FROM pg_temp.children_of('fan:kept')) LOOP
		PERFORM sf_run('fan:kept', max_steps => 1);
	END LOOP;
END $$;
SELECT sf_stop('fan:kept');
SELECT results_eq($$ SELECT DISTINCT status FROM pg_temp.children_of('fan:kept') $$, $$ VALUES ('ABORTED') $$,
	'... whose children a stop ends');
SELECT sf_redrive('fan:kept');
SELECT is(pg_temp.play('fan:kept', false), 'SUCCEEDED', '... and another redrive goes on to the end');
SELECT pg_temp.fan('fan:writes'), pg_temp.read('fan:writes');
DO $$ BEGIN
	WHILE pg_temp.phase_of('fan:writes') <> 'MAP_WRITE' LOOP
		PERFORM sf_run('fan:writes', max_steps => 1);
	END LOOP;
END $$;
SELECT throws_like(format($$ UPDATE _sfflow.branch SET phase = %s WHERE phase = %s $$, pg_temp.phase('RUN'),
	pg_temp.phase('MAP_WRITE')), '%violates check constraint "branch_map_run"', 'only its phases have a run');
SELECT throws_like(format($$ UPDATE _sfflow.branch SET items_unread = true WHERE phase = %s $$,
	pg_temp.phase('MAP_WRITE')), '%violates check constraint "branch_map_run"', '... and its items are read or not');
SELECT sf_stop('fan:writes');
SELECT is(pg_temp.phase_of('fan:writes'), 'ABORTED never', 'one that is to write is stopped');
SELECT sf_redrive('fan:writes');
SELECT is(pg_temp.rests('fan:writes'), '{MAP_WRITE}'::text[], '... and a redrive goes on with its children');
SELECT pg_temp.fan('fan:bad');
SELECT is(ARRAY[pg_temp.read('fan:bad', false), pg_temp.play('fan:bad', false)],
	'{MAP_ANSWERED Bad,FAILED States.ItemReaderFailed}'::text[], 'one that cannot read fails');
SELECT sf_redrive('fan:bad');
SELECT is((SELECT concat_ws(' ', pg_temp.phase_of('fan:bad'), b.map_run_no, b.items_unread) FROM _sfflow.branch b
	JOIN _sfflow.execution e USING (execution_no) WHERE e.execution_id = 'fan:bad'), 'ENTER f',
	'... and a redrive begins another run');
SELECT sf_run('fan:bad'), pg_temp.read('fan:bad');
SELECT is(pg_temp.play('fan:bad', false), 'SUCCEEDED', '... which has two runs then');

-- A branch is due; or it is not, and stands at a place, which says why, or waits for others, or has ended.
CREATE FUNCTION pg_temp.may_be(phase smallint, place integer, due timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO _sfflow.branch (execution_no, branch_no, state, owner, phase, place, due_at, jobs, map_run_no)
	VALUES (-1, CASE pg_temp.phase_name(phase) WHEN 'TIMEOUT' THEN -1 WHEN 'STOP' THEN -2 ELSE 0 END, 0,
		CURRENT_USER::regrole, phase, place, due, CASE WHEN place = 3 THEN '{}'::integer[] END,
		CASE WHEN pg_temp.phase_name(phase) LIKE 'MAP%' THEN 1 END);
	DELETE FROM _sfflow.branch WHERE execution_no = -1;
	RETURN true;
EXCEPTION WHEN check_violation THEN
	RETURN false;
END $$;
SELECT is(string_agg(concat_ws(' ', name, ways), ', ' ORDER BY number), 'ENTER due WAITS READY PARKED, '
	'RUN due PARKED, WAIT due, JOIN due never, ANNOUNCED due PARKED, ANSWERED due, EXTERNAL due never, '
	'DONE never SHARED, FAILED never, ABORTED never, TIMEOUT due, STOP due, NET due PARKED, KEPT never, '
	'MAP_WRITE due PARKED, MAP_ANSWERED due',
	'when a branch is due')
FROM unnest(pg_temp.phase_names()) WITH ORDINALITY AS p (name, number) CROSS JOIN LATERAL (
	SELECT string_agg(way, ' ' ORDER BY due IS NULL, place) AS ways
	FROM (VALUES ('never', 0), ('WAITS', 1), ('READY', 2), ('SHARED', 3), ('PARKED', 4), ('none', 5)) AS x (at, place)
	CROSS JOIN (VALUES (NULL), (now())) AS t (due)
	CROSS JOIN LATERAL (SELECT CASE WHEN due IS NULL THEN at
		ELSE concat_ws(' ', 'due', nullif(at, 'never')) END) AS y (way)
	WHERE pg_temp.may_be(pg_temp.phase(name), place, due)) AS w;

-- A long task that is answered by its token: the process that ran it has given the token away, and ended before it
-- noted that. The branch is announced still when the answer comes.
CREATE TABLE public.tokens (token text);
CREATE FUNCTION public.keep_token(x jsonb) RETURNS void LANGUAGE sql AS $$
	INSERT INTO public.tokens VALUES (x ->> 'token')
$$;
SELECT sf_create_state_machine('token', $def$ {"StartAt": "T", "States": {"T": {"Type": "Task",
	"Resource": "sql:public.keep_token.waitForTaskToken", "Parameters": {"token.$": "$$.Task.Token"},
	"End": true}}} $def$);
CREATE FUNCTION pg_temp.announce(id text) RETURNS text LANGUAGE sql AS $$
	DELETE FROM public.tokens;
	SELECT sf_start('token', '{}', name => split_part(id, ':', 2));
	SELECT sf_run(id);
	UPDATE _sfflow.branch b SET phase = pg_temp.phase('ANNOUNCED'), task_payload = '{}', due_at = now()
	FROM _sfflow.execution e WHERE e.execution_no = b.execution_no AND e.execution_id = id AND b.branch_no = 0;
	SELECT token FROM public.tokens
$$;
SELECT lives_ok($$ SELECT sf_send_task_success(pg_temp.announce('token:good'), '8') $$,
	'a task that shows as announced is answered by its token');
SELECT is(pg_temp.play('token:good', false), 'SUCCEEDED', '... and its execution goes on');
SELECT sf_send_task_failure(pg_temp.announce('token:bad'), 'Bad', 'luck');
SELECT is(pg_temp.play('token:bad', false), 'FAILED Bad', '... also with a failure');
SELECT sf_send_task_heartbeat(pg_temp.announce('token:beat'));
SELECT is((SELECT count(b.due_at) FROM _sfflow.branch b JOIN _sfflow.execution e USING (execution_no)
	WHERE e.execution_id = 'token:beat'), 1::bigint, 'a heartbeat leaves it due, so that another process runs it');
SELECT * FROM finish();
ROLLBACK;
