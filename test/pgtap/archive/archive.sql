-- Archives: batches of executions that a program takes, reads and confirms; what purges and redrives leave alone
-- meanwhile.
BEGIN;
SELECT plan(40);

CREATE ROLE archive_owner;
CREATE ROLE archive_worker;
CREATE ROLE archive_other;
CREATE FUNCTION pg_temp.machine(name text, options jsonb) RETURNS integer LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, '{"StartAt": "C", "States": {"C": {"Type": "Choice", "Default": "S",
		"Choices": [
		{"Variable": "$.fail", "IsPresent": true, "Next": "F"}]}, "S": {"Type": "Succeed"}, "F": {"Type": "Fail",
			"Error": "No"}}}',
		options => options, or_replace => true)
$$;
CREATE FUNCTION pg_temp.left_of(machine text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(name, ' ' ORDER BY name) FROM sf_executions WHERE state_machine = machine
$$;

-- The option.
SELECT throws_ok($$ SELECT pg_temp.machine('kept', '{"archive": "activity:keep"}') $$, 'SF018',
	'activity "keep" of option archive does not exist, or you have no right to WORK for it');
SELECT throws_ok($$ SELECT pg_temp.machine('kept', '{"archive": "activity:keep.waitForTaskToken"}') $$, 'SF012');
SELECT sf_create_activity('keep'), sf_create_activity('bare'), sf_grant('WORK', 'activity:keep', 'archive_worker')
	\g /dev/null
SET ROLE archive_owner;
SELECT throws_ok($$ SELECT pg_temp.machine('of_other', '{"archive": "activity:keep"}') $$, 'SF018', NULL,
	'nor one that the owner may not use');
RESET ROLE;
SELECT lives_ok($$ SELECT pg_temp.machine('kept', '{"retention": {"SUCCEEDED": "30 days", "FAILED": "1 year"},
		"archive": "activity:keep"}') $$, 'an activity is an archive');
SELECT sf_grant('WORK', 'activity:keep', 'archive_owner') \g /dev/null
SET ROLE archive_owner;
SELECT lives_ok($$ SELECT pg_temp.machine('of_other', '{"retention": "30 days", "archive": "activity:keep"}') $$,
	'and one that it may');
RESET ROLE;

-- Of each: one that succeeded, one that failed, 40 days ago, and one of today.
SELECT sf_start(m, CASE n WHEN 'fail' THEN '{"fail": 1}' ELSE '{"large": 12345678901234567890.10,
	"text": "é\"\\\n"}' END::jsonb, n), sf_run(m || ':' || n)
FROM unnest(ARRAY['kept', 'of_other']) AS m, unnest(ARRAY['good', 'fail', 'new']) AS n \g /dev/null
UPDATE _sfflow.open_execution AS o SET requested_at = o.requested_at - interval '40 days' FROM _sfflow.execution AS e
WHERE e.execution_no = o.execution_no AND e.execution_id ~ '^(kept|of_other):';
UPDATE _sfflow.execution SET requested_at = requested_at - interval '40 days',
	stopped_at = stopped_at - interval '40 days'
WHERE execution_id ~ '^(kept|of_other):' AND execution_id NOT LIKE '%:new';
CREATE FUNCTION pg_temp.purge() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	CALL sf_purge_due(n);
	RETURN n;
END $$;
SELECT is(pg_temp.purge(), 0::bigint, 'a purge leaves them to the archive');
SELECT is(sf_purge('1 day'), 0::bigint, 'also sf_purge');

-- Taking.
SET ROLE archive_other;
SELECT throws_ok($$ SELECT sf_take_archive_batch('keep') $$, 'SF018', NULL, 'taking needs the right WORK');
SET ROLE archive_worker;
CREATE TEMP TABLE taken AS SELECT * FROM sf_take_archive_batch('keep', 'me');
SELECT results_eq('SELECT executions, all_taken FROM taken', 'VALUES (3, true)', 'what is old enough is taken');
SELECT matches((SELECT name FROM taken), '^executions-\d{10}-[0-9a-f]{12}$', 'the batch has a name');
SELECT results_eq('SELECT t.batch, t.name, t.executions, t.all_taken FROM taken x, sf_take_archive_batch(''keep'', '
	'''again'') t', 'SELECT batch, name, executions, false FROM taken',
	'a batch that is not confirmed is handed out again, with its name');
SELECT results_eq('SELECT activity COLLATE "default", executions, worker, confirmed_at IS NULL, file FROM '
	'sf_archive_batches', $$ VALUES ('keep'::text, 3, 'again'::text, true, NULL::text) $$, 'a view shows it');

-- Reading. The role has no right to READ the machines.
SELECT is_empty('SELECT 1 FROM sf_executions', 'who has WORK alone sees no executions');
CREATE TEMP TABLE lines AS SELECT l.* FROM taken t, sf_read_archive_batch(t.batch) l;
SELECT set_eq($$ SELECT line::jsonb ->> 'execution_id' FROM lines WHERE event_id = 0 $$, $$ VALUES ('kept:good'),
	('of_other:good'), ('of_other:fail') $$, '... but reads those of the batch');
RESET ROLE;
GRANT SELECT ON taken, lines TO PUBLIC;
SELECT is((SELECT count(*) FROM lines l FULL JOIN (SELECT e.execution_no, h.* FROM sf_history h
			JOIN _sfflow.execution e USING (execution_id)
		WHERE execution_id IN ('kept:good', 'of_other:good', 'of_other:fail')) h ON h.execution_no = l.execution
		AND h.id = l.event_id
	WHERE l.event_id IS DISTINCT FROM 0 AND (h.id IS NULL OR l.event_id IS NULL OR h.details IS DISTINCT
		FROM l.line::jsonb -> 'details' OR h.type <> l.line::jsonb ->> 'type'
		OR h.state IS DISTINCT FROM l.line::jsonb ->> 'state' OR h.previous_event_id
		<> (l.line::jsonb -> 'previous_event_id')::int)), 0::bigint, 'the events are those of sf_history');
SELECT is((SELECT jsonb_agg(l.line::jsonb - '{requested_at,started_at,stopped_at,owner,requested_by}'::text[])
		FROM lines l WHERE l.event_id = 0 AND l.line::jsonb ->> 'execution_id' = 'kept:good'),
	'[{"execution_id": "kept:good", "state_machine": "kept", "version": 1, "name": "good", "status": "SUCCEEDED",
		"input": {"large": 12345678901234567890.10, "text": "é\"\\\n"},
	"output": {"large": 12345678901234567890.10, "text": "é\"\\\n"}, "error": null, "cause": null, "redrive_count": 0,
		"last_redriven_at": null, "start_requests": 1,
	"parent_execution_id": null, "labels": null}]'::jsonb, 'an execution, with every digit');
SELECT is((SELECT (l.line::jsonb ->> 'stopped_at')::timestamptz FROM lines l WHERE l.event_id = 0
		AND l.line::jsonb ->> 'execution_id' = 'kept:good'),
	(SELECT stopped_at FROM sf_executions WHERE execution_id = 'kept:good'), 'and its times');
SET TimeZone = 'Asia/Tokyo';
SELECT results_eq('SELECT l.* FROM taken t, sf_read_archive_batch(t.batch) l', 'TABLE lines',
	'reading again gives the same, in another time zone, too');
RESET TimeZone;
SELECT set_eq('SELECT l.* FROM taken t, sf_read_archive_batch(t.batch, (SELECT min(execution) FROM lines), 1) l',
	'SELECT * FROM lines WHERE execution = (SELECT min(execution) FROM lines WHERE execution > (SELECT min(execution) '
	'FROM lines))', 'a part of a batch');

-- Meanwhile nothing changes the executions.
SELECT throws_ok($$ SELECT sf_redrive('of_other:fail') $$, 'SF027',
	'execution "of_other:fail" is being archived, and is deleted after that', 'a redrive is refused');
SELECT throws_ok($$ SELECT sf_start('of_other', '{"fail": 1}', 'fail') $$, 'SF027', NULL, 'also one by sf_start');
SELECT throws_ok($$ SELECT sf_start('kept', '{}', 'good', if_exists => 'restart') $$, 'SF027', NULL,
	'a restart is refused');
SELECT results_eq($$ SELECT execution_id COLLATE "default", outcome COLLATE "default", reason COLLATE "default"
	FROM sf_redrive_many('of_other') $$, $$ VALUES ('of_other:fail'::text, 'refused'::text,
		'it is being archived'::text) $$, 'sf_redrive_many says so');
SELECT is(sf_start('kept', '{}', 'good', if_exists => 'skip'), 'kept:good', 'a start that skips what there is does so');
SELECT pg_temp.machine('kept', '{"retention": "30 days"}') \g /dev/null
SELECT is(pg_temp.purge(), 1::bigint, 'without the option a purge deletes what failed, but not what is being archived');
SELECT is(pg_temp.left_of('kept'), 'good new', '... which stays');
SELECT is(sf_purge('1 day'), 0::bigint, 'sf_purge leaves it alone, too');
SELECT throws_ok($$ SELECT sf_drop_activity('keep') $$, '55006',
	'activity "keep" has executions that are being archived', 'the activity stays');

-- Confirming.
SET ROLE archive_other;
SELECT throws_ok($$ SELECT sf_confirm_archive_batch((SELECT batch FROM taken), 'f', 1, 's') $$, '42704', NULL,
	'confirming needs the right WORK');
SELECT throws_ok($$ SELECT sf_read_archive_batch((SELECT batch FROM taken)) $$, '42704', NULL, 'and so does reading');
SET ROLE archive_worker;
SELECT is((SELECT sf_confirm_archive_batch(batch, 'data/f', 17, 'abc') FROM taken), 3::bigint, 'a batch is confirmed');
SELECT results_eq('SELECT executions, confirmed_at IS NOT NULL, file, bytes, sha256 COLLATE "default" FROM '
	'sf_archive_batches', $$ VALUES (3, true, 'data/f'::text, 17::bigint, 'abc'::text) $$,
	'the view keeps what it was');
SELECT throws_ok($$ SELECT sf_confirm_archive_batch((SELECT batch FROM taken), 'f', 1, 's') $$, '55006', NULL, 'once');
SELECT results_eq($$ SELECT batch, name, executions, all_taken FROM sf_take_archive_batch('keep') $$,
	$$ VALUES (NULL::bigint, NULL::text, 0, true) $$, 'nothing is left');
RESET ROLE;
SELECT is(pg_temp.left_of('kept') || ' ' || pg_temp.left_of('of_other'), 'new new', 'its executions are deleted');
SELECT is_empty('SELECT problem FROM sf_check()', 'nothing is left of them');
SELECT is((SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
		AND classid = '_sfflow.archive_batch'::regclass), 1::bigint, 'but the lock, until the end of the transaction');

-- Behind.
SELECT pg_temp.machine('kept', '{"retention": "30 days", "archive": "activity:keep"}') \g /dev/null
UPDATE _sfflow.archive_progress SET caught_up_at = now() - interval '59 minutes';
SELECT is((SELECT ok FROM sf_health WHERE item = 'archive'), true, 'an archive may be behind for an hour');
UPDATE _sfflow.archive_progress SET caught_up_at = now() - interval '61 minutes';
SELECT results_eq($$ SELECT kind COLLATE "default", target,
	detail LIKE 'archive "activity:keep": not all that was old enough has been archived since %' FROM sf_alerts
	WHERE kind = 'archive_behind' $$, $$ VALUES ('archive_behind'::text, 'activity:keep'::text, true) $$,
	'after that there is an alert');
SELECT is((SELECT ok || ' ' || detail FROM sf_health WHERE item = 'archive'),
	'false 1 of 1 archives are behind, and their executions are kept: is sfworker --archive running? See sf_alerts',
	'... and a row of sf_health');

SELECT * FROM finish();
ROLLBACK;
