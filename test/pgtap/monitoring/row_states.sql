-- Columns that have values together, or never, and columns with words or numbers of a list: a row that tells two
-- things, or one that is none of the list, is refused.
BEGIN;
SELECT plan(53);

-- A table of a feature that was left out is not there.
CREATE FUNCTION pg_temp.refused(statement text, why text) RETURNS text LANGUAGE sql AS
$$ SELECT CASE WHEN to_regclass(substring(statement FROM 'INSERT INTO (\S+)')) IS NULL THEN skip(why, 1)
	ELSE throws_ok(statement, '23514', NULL, why) END $$;
CREATE FUNCTION pg_temp.task(status int, activity_no int, started_at timestamptz, lease_until timestamptz) RETURNS text
LANGUAGE sql AS $$
	SELECT format('INSERT INTO _sfflow.task (execution_no, branch_no, activity_no, status, generation, state, attempt,
		scheduled_at, started_at, lease_until, secret) VALUES (-1, 0, %L, %s, 0, 0, 0, now(), %L, %L, %L)',
		activity_no, status, started_at, lease_until, '')
$$;

SELECT pg_temp.refused(pg_temp.task(0, NULL, NULL, NULL), 'a queued task of no activity');
SELECT pg_temp.refused(pg_temp.task(0, 1, now(), NULL), 'a queued task that has started');
SELECT pg_temp.refused(pg_temp.task(0, 1, NULL, now()), 'a queued task with a lease');
SELECT pg_temp.refused(pg_temp.task(1, 1, NULL, now()), 'a taken task that has not started');
SELECT pg_temp.refused(pg_temp.task(2, 1, now(), NULL), 'a token of an activity');
SELECT pg_temp.refused(pg_temp.task(9, 1, now(), NULL), 'a status that is none');

SELECT pg_temp.refused(format('INSERT INTO _sfflow.parked (execution_no, branch_no, feature, object_no, queue,
	as_if_since, since, kind) VALUES (-1, 0, %L, %L, %L, %L, %L, %s)', 'limit', object_no, queue, as_if_since, since,
	kind), why)
FROM (VALUES (0, NULL, NULL, NULL, NULL, 'a branch that waits for an object and has none'),
	(0, 1, 1, NULL, NULL, 'a queue of a branch that is in none'),
	(0, 1, NULL, now(), NULL, 'a place in no queue'),
	(0, 1, NULL, NULL, now(), 'a time of no queue'),
	(1, 1, NULL, NULL, NULL, 'an object of a line'),
	(2, 1, 1, now(), NULL, 'a branch ahead in a queue, since no time'),
	(3, 1, 1, NULL, now(), 'a branch in a queue without a place'),
	(3, NULL, 1, now(), now(), 'a queue of no object'),
	(4, 1, 1, now(), now(), 'a kind that is none')) AS h (kind, object_no, queue, as_if_since, since, why);

SELECT pg_temp.refused(format('INSERT INTO _sfflow.acknowledgement (execution_no, kind, since, acknowledged_at,
	acknowledged_by, slow_since) VALUES (-1, %L, now(), now(), CURRENT_USER::regrole, %L)', kind, slow_since), why)
FROM (VALUES ('slow_task', NULL, 'slow tasks without their times'), ('failed', ARRAY[now()], 'a failure with those'))
	AS a (kind, slow_since, why);

SELECT pg_temp.refused($$ INSERT INTO _sfflow.aws_resource (object_kind, object_name, tags, encryption)
	VALUES ('m', 'none', '{}', '{}') $$, 'the encryption of a state machine');
SELECT pg_temp.refused($$ INSERT INTO _sfflow.version_publication (machine_no, version, published, published_at)
	VALUES (-1, 1, true, now()) $$, 'a published version without a number');
SELECT pg_temp.refused($$ INSERT INTO _sfflow.instance (system_identifier, database_oid, incarnation, enabled,
		stopped_because, changed_at) VALUES (1, 1, 1, true, 'moved', now()) $$,
	'a database that is driven and says why not');
SELECT pg_temp.refused($$ INSERT INTO _sfflow.metric_fold (only_row, system_identifier) VALUES (true, 1)
	ON CONFLICT (only_row) DO UPDATE SET system_identifier = 1, database_oid = NULL $$, 'half a horizon');

SELECT pg_temp.refused(format('INSERT INTO _sfflow.branch (execution_no, branch_no, state, phase, owner, due_at, %I)
	VALUES (-1, 0, 0, 2, CURRENT_USER::regrole, now(), true)', flag), 'what is no join is not ' || flag)
FROM unnest(ARRAY['failing', 'aborting']) AS flag;
SELECT pg_temp.refused($$ INSERT INTO _sfflow.branch (execution_no, branch_no, state, phase, owner, failing, aborting)
	VALUES (-1, 0, 0, 3, CURRENT_USER::regrole, true, true) $$, 'a join that aborts fails no more');
SELECT pg_temp.refused($$ INSERT INTO _sfflow.branch (execution_no, branch_no, state, phase, owner, uncatchable)
	VALUES (-1, 0, 0, 3, CURRENT_USER::regrole, true) $$, 'a column of 1.0 that is not used');
SELECT pg_temp.refused($$ INSERT INTO _sfflow.map_run (execution_no, map_run_no, branch_no, state, uuid, status, keyed,
		max_items, max_items_per_batch, max_bytes_per_batch, tolerated_count, tolerated_percentage, max_concurrency,
		total, children, succeeded, failed, timed_out, aborted, items_succeeded, items_failed, started_at, stopped_at)
	VALUES (-1, 0, 0, 0, '', 0, false, NULL, NULL, NULL, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, now(), now()) $$,
	'a run that has stopped and runs');
SELECT pg_temp.refused(format('INSERT INTO _sfflow.map_run (execution_no, map_run_no, branch_no, state, uuid, status,
		keyed, tolerated_count, tolerated_percentage, total, children, succeeded, failed, timed_out, aborted,
		items_succeeded, items_failed, started_at, %I)
	VALUES (-1, 0, 0, 0, %L, 0, false, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, now(), 0)', max, ''), max || ' of 0')
FROM unnest('{max_items,max_items_per_batch,max_bytes_per_batch,max_concurrency}'::text[]) AS max;
SELECT pg_temp.refused(format('INSERT INTO _sfflow.hold (kind, machine_no, name, state, held_at, held_by)
	VALUES (%L, %L, %L, %L, now(), CURRENT_USER)', kind, machine_no, 'none', state), why)
FROM (VALUES ('machine', 1, '', 'a hold of a state without a name'), ('resource', NULL, 'A', 'a state of a resource'))
	h (kind, machine_no, state, why);
SELECT pg_temp.refused(format('INSERT INTO _sfflow.run_limit (kind, name, state, key, in_definition, max_running,
		highest, fails, set_at, set_by)
	VALUES (%L, %L, %L, %L, false, 1, 1, false, now(), CURRENT_USER)', 'resource', 'none', state, key), why)
FROM (VALUES ('A', NULL, 'a limit of a state of a resource'), (NULL, '', 'a limit by no path')) l (state, key, why);

-- words
SELECT pg_temp.refused(format('INSERT INTO _sfflow.%s VALUES (%s)', relation, replace(row, '?', quote_literal(word))),
	format('%s of a row of %s', word, relation))
FROM (VALUES ('start_request (execution_no, request_no, requested_at, requested_by, input_differs, outcome)',
		'-1, 1, now(), CURRENT_USER::regrole, false, ?', 'started'),
	('open_execution (machine_no, requested_at, execution_no, status)', '-1, now(), -1, ?', '1'),
	('purge_position (machine_no, requested_at, began_at, status)', '-1, now(), now(), ?', '0'),
	('privilege (object_name, role, privilege, object_kind)', '''none'', 0, ''R'', ?', 'z'),
	('privilege (object_name, role, object_kind, privilege)', '''none'', 0, ''m'', ?', 'r'),
	('privilege (object_name, role, object_kind, privilege, is_revoked)', '''none'', 10, ''m'', ?, true', 'N'),
	('aws_resource (object_name, tags, object_kind)', '''none'', ''{}'', ?', 'x'),
	('audit (at, action, object_name, target, role, session_role, object_kind)',
		'now(), '''', '''', '''', '''', '''', ?', 'z'),
	('acknowledgement (execution_no, since, acknowledged_at, acknowledged_by, kind)',
		'-1, now(), now(), CURRENT_USER::regrole, ?', 'no_poller'),
	('mark (execution_no, job_id, details, outcome)', '-1, ''j'', ''{}'', ?', 'end'),
	('mark (execution_no, job_id, details, output, outcome)', '-1, ''j'', ''{}'', ''1'', ?', 'skip'),
	('schedule_run (schedule, run_at, pid, outcome)', '''none'', now(), 0, ?', 'SKIPPED'),
	('lateness (target, deadline_at, base_at, raised_at, finding, due_by)',
		'''none'', now(), now(), now(), ''never_started'', ?', 'middle'),
	('lateness (target, deadline_at, base_at, raised_at, due_by, finding)',
		'''none'', now(), now(), now(), ''end'', ?', 'late'),
	('event_type (name, owner, ttl, remember_ids, created_at, alert_unreceived, deliver)',
		'''none'', CURRENT_USER::regrole, ''1 s'', ''1 s'', now(), false, ?', 'some'),
	('keyed_start (execution_no, machine_no, key, entered_at, place)', '-1, -1, '''', now(), ?', '7'),
	('human_task_event (execution_no, task_no, at, worklist, state, state_now, is_relayed, action)',
		'-1, 1, now(), '''', '''', '''', false, ?', 'claimed'),
	('rule (name, owner, target, created_at, bytes, wants_alerts, pattern, execution_name, if_exists)',
		'''none'', CURRENT_USER::regrole, '''', now(), 0, false, ''{}'', ''n'', ?', 'ignore'))
	AS w (relation, row, word);

-- Numbers and letters of a list have a CHECK, but where it would cost too much.
SELECT is(string_agg(format('%s.%s', c.relname, a.attname), ' ' ORDER BY c.relname, a.attname),
	'emission.alert emission.status execution.priority execution.status', 'all others are held to their lists')
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = '_sfflow'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
	AND a.atttypid IN ('"char"'::regtype, 'smallint'::regtype)
	AND NOT EXISTS (SELECT FROM pg_constraint n
		WHERE n.conrelid = c.oid AND n.contype = 'c' AND a.attnum = ANY (n.conkey));

SELECT * FROM finish();
ROLLBACK;
