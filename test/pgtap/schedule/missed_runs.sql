-- Runs that were missed or have waited start each by itself, and none is lost because there are many. Without pg_cron:
-- the test calls what it would call.
BEGIN;
SET LOCAL timezone = 'UTC';
SET LOCAL client_min_messages = warning;
SELECT plan(29);

SELECT sf_create_state_machine(m, '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}')
	FROM unnest('{some,all_at_once,queue,left}'::text[]) AS m;
-- Schedules that run each minute, as if nothing had called them for some minutes.
CREATE FUNCTION pg_temp.make(name text, missed text, overlap text) RETURNS void LANGUAGE sql AS $$
	INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, timezone, missed, overlap, cron_job_id,
		changed_at, created_at)
	VALUES (name, current_user::regrole, '* * * * *', name, '{}', 'UTC', missed, overlap, 0, '2025-01-01',
		'2025-01-01');
	UPDATE _sfflow.schedule s SET handled_until = timestamptz '2025-02-01 00:00' WHERE s.name = make.name; $$;
-- A call by pg_cron some minutes after that.
CREATE FUNCTION pg_temp.call(name text, minutes integer) RETURNS text LANGUAGE sql AS
	$$ SELECT _sfflow.run_schedule_at(name, timestamptz '2025-02-01 00:00:01' + make_interval(mins => minutes)) $$;
CREATE FUNCTION pg_temp.started(machine text) RETURNS bigint LANGUAGE sql AS
	$$ SELECT count(*) FROM _sfflow.execution WHERE execution_id LIKE machine || ':%' $$;
CREATE FUNCTION pg_temp.handled(schedule text) RETURNS integer LANGUAGE sql AS
	$$ SELECT extract(epoch FROM handled_until - timestamptz '2025-02-01 00:00') / 60 FROM _sfflow.schedule
	WHERE name = $1 $$;

-- A new owner has the runs that were missed.
CREATE ROLE missed_owner;
SELECT pg_temp.make('all_at_once', 'run_all', 'parallel');
SELECT sf_alter_owner('schedule:all_at_once', 'missed_owner') \g /dev/null
SELECT results_eq($$ SELECT pg_temp.handled('all_at_once'), changed_at, owner::text FROM _sfflow.schedule
	WHERE name = 'all_at_once' $$, $$ VALUES (0, timestamptz '2025-01-01', 'missed_owner') $$,
	'a new owner forgets nothing that was missed');
SELECT sf_unschedule('all_at_once') \g /dev/null

-- One start fails: when it is noted, after all the rest.
CREATE FUNCTION pg_temp.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no start of %',
	NEW.execution_id; END $$;
CREATE TRIGGER fail BEFORE INSERT ON _sfflow.schedule_run FOR EACH ROW
	WHEN (NEW.execution_id LIKE 'some:%T000200Z') EXECUTE FUNCTION pg_temp.fail();
SELECT pg_temp.make('some', 'run_all', 'parallel');
SELECT is(pg_temp.call('some', 5), 'some:schedule-20250201T000500Z',
	'one of the missed runs cannot start, which does not keep the call from starting its own');
SELECT results_eq($$ SELECT right(execution_id, 7) COLLATE "default" FROM _sfflow.execution
	WHERE execution_id LIKE 'some:%' ORDER BY 1 $$,
	$$ VALUES ('000100Z'), ('000300Z'), ('000400Z'), ('000500Z') $$, '... and the other missed ones stand');
SELECT results_eq($$ SELECT scheduled_for, outcome, message FROM _sfflow.schedule_run WHERE schedule = 'some'
	AND outcome <> 'succeeded' $$,
	$$ VALUES (timestamptz '2025-02-01 00:02', 'failed', 'no start of some:schedule-20250201T000200Z') $$,
	'its error is noted');
SELECT is(_sfflow.look_at_schedules('2025-02-01 00:06'), true, 'a look tries again, and it waits still');
SELECT is((SELECT count(*) FROM _sfflow.schedule_run WHERE schedule = 'some' AND outcome = 'failed'), 1::bigint,
	'... which is not noted again');
DROP TRIGGER fail ON _sfflow.schedule_run;
SELECT is(_sfflow.look_at_schedules('2025-02-01 00:07'), false, 'once it can start, a look starts it');
SELECT is(pg_temp.started('some'), 5::bigint, '... and all have started');

-- Of runs that wait, too.
CREATE TRIGGER fail BEFORE INSERT ON _sfflow.schedule_run FOR EACH ROW
	WHEN (NEW.execution_id ~ 'left:.*T000[25]00Z') EXECUTE FUNCTION pg_temp.fail();
SELECT pg_temp.make('left', 'skip', 'parallel');
INSERT INTO _sfflow.pending_run (schedule, scheduled_for, max_running, kind)
SELECT 'left', timestamptz '2025-02-01 00:00' + make_interval(mins => n),
CASE WHEN n > 3 THEN 10 END, CASE WHEN n > 3 THEN 2 ELSE 1 END FROM generate_series(1, 6) n;
SELECT throws_ok($$ INSERT INTO _sfflow.pending_run (schedule, scheduled_for, max_running)
	VALUES ('left', now(), 1) $$,
	'23514', NULL, 'what a row is of goes with its columns');
SELECT _sfflow.look_at_schedules('2025-02-01 00:06');
SELECT results_eq($$ SELECT right(execution_id, 7) COLLATE "default" FROM _sfflow.execution
	WHERE execution_id LIKE 'left:%' ORDER BY 1 $$,
	$$ VALUES ('000100Z'), ('000300Z'), ('000400Z'), ('000600Z') $$,
	'of runs that wait, two cannot start, the others do');
DROP TRIGGER fail ON _sfflow.schedule_run;
SELECT _sfflow.look_at_schedules('2025-02-01 00:07');
SELECT is(pg_temp.started('left'), 6::bigint, '... and these with the next look');

-- More are missed than are started at once.
SELECT pg_temp.make('all_at_once', 'run_all', 'parallel');
SELECT is(pg_temp.call('all_at_once', 120), NULL,
	'of 120 missed runs a call starts some, and its own will have its turn');
SELECT is(pg_temp.handled('all_at_once'), 50, '... fifty');
SELECT pg_temp.call('all_at_once', 120);
SELECT is(pg_temp.call('all_at_once', 120), 'all_at_once:schedule-20250201T020000Z',
	'... until all before have started');
SELECT is(pg_temp.started('all_at_once'), 120::bigint, 'none is lost');

-- More are missed than may wait.
SELECT pg_temp.make('queue', 'run_all', 'queue');
SELECT is(pg_temp.call('queue', 1100), NULL, 'of 1,100 missed runs one starts,');
SELECT is((SELECT count(*) FROM _sfflow.pending_run WHERE schedule = 'queue'), 1000::bigint, '... a thousand wait,');
SELECT is(pg_temp.handled('queue'), 1001, '... and the others are still to be dealt with');
DELETE FROM _sfflow.pending_run WHERE schedule = 'queue'
	AND scheduled_for <= timestamptz '2025-02-01 00:00' + interval '901 min';
SELECT is(pg_temp.call('queue', 1100), NULL, 'when some wait no more');
SELECT is(pg_temp.handled('queue'), 1100, '... the others do,');
SELECT is((SELECT max(scheduled_for) FROM _sfflow.pending_run WHERE schedule = 'queue'),
	timestamptz '2025-02-01 18:20', '... up to the one that was called');

-- Subtransactions that have written stay few: with more than 64 of them the snapshots of other sessions overflow.
CREATE FUNCTION pg_temp.subtransactions() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM (SELECT s.xmin FROM _sfflow.schedule s UNION SELECT s.xmax FROM _sfflow.schedule s
		UNION SELECT e.xmin FROM _sfflow.execution e UNION SELECT r.xmin FROM _sfflow.schedule_run r) x(xid)
	WHERE xid::text NOT IN ('0', pg_current_xact_id()::xid::text) $$;
CREATE TEMP TABLE seen (n bigint);
DELETE FROM _sfflow.pending_run;
DELETE FROM _sfflow.schedule_run;
DELETE FROM _sfflow.schedule;
SELECT count(pg_temp.make('idle' || n, 'skip', 'parallel')) FROM generate_series(1, 70) n;
INSERT INTO seen SELECT pg_temp.subtransactions();
SELECT _sfflow.look_at_schedules('2025-02-01 00:06');
SELECT is(pg_temp.subtransactions(), (SELECT n FROM seen),
	'a look at seventy schedules of which none is due writes in no subtransaction');
UPDATE _sfflow.schedule SET state_machine = 'some';
INSERT INTO _sfflow.pending_run (schedule, scheduled_for) SELECT name,
	timestamptz '2025-02-03' + make_interval(mins => substr(name, 5)::integer) FROM _sfflow.schedule;
SELECT is(_sfflow.look_at_schedules('2025-02-01 00:07'), true, 'when a run of each is due, a look starts some');
SELECT cmp_ok(pg_temp.subtransactions() - n, '<=', 50::bigint, '... as many as fit,') FROM seen;
SELECT is(ARRAY(SELECT _sfflow.look_at_schedules('2025-02-01 00:08') FROM generate_series(1, 2)), '{t,f}'::boolean[],
	'... later ones the others,');
SELECT is((SELECT count(*) FROM _sfflow.execution WHERE execution_id LIKE 'some:schedule-20250203%'), 70::bigint,
	'... and none is lost');
INSERT INTO _sfflow.pending_run (schedule, scheduled_for) SELECT 'idle' || n % 2 + 1,
	timestamptz '2025-02-04' + make_interval(mins => n) FROM generate_series(1, 100) n;
UPDATE seen SET n = pg_temp.subtransactions();
SELECT _sfflow.look_at_schedules('2025-02-01 00:09');
SELECT cmp_ok(pg_temp.subtransactions() - n, '<=', 50::bigint,
	'of two schedules with fifty runs each, a look starts as many as fit,') FROM seen;
SELECT is(ARRAY(SELECT _sfflow.look_at_schedules('2025-02-01 00:10') FROM generate_series(1, 3)), '{t,t,f}'::boolean[],
	'... later ones the others');
SELECT is((SELECT count(*) FROM _sfflow.execution WHERE execution_id LIKE 'some:schedule-20250204%'), 100::bigint,
	'... and none is lost here, either');

SELECT * FROM finish();
ROLLBACK;
