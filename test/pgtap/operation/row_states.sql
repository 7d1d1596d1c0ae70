-- Columns that have values together, or never: a row that tells two things is refused.
BEGIN;
SELECT plan(21);

CREATE FUNCTION pg_temp.refused(statement text, why text) RETURNS text LANGUAGE sql AS
$$ SELECT throws_ok(statement, '23514', NULL, why) $$;
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

SELECT * FROM finish();
ROLLBACK;
