-- What sweeps look at: each pair of a wait and an event once, whatever comes later. Receipts are looked for with each
-- pair, so the scans of their index count the pairs.
-- needs: event
BEGIN;
SELECT plan(9);

SELECT sf_create_event('much'), sf_create_event('next') \g /dev/null
SELECT sf_create_state_machine('never', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:much",
	"Parameters": {"Key": "k", "Filter": {"a": ["never"]}}, "End": true}}}'),
	sf_create_state_machine('always', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:much",
	"Parameters": {"Key": "k", "MaxEvents": 1000}, "End": true}}}') \g /dev/null
CREATE FUNCTION pg_temp.pairs() RETURNS bigint LANGUAGE sql AS $$
	SELECT pg_stat_get_xact_numscans('_sfflow.event_receipt_pkey'::regclass) $$;
SELECT sf_start_many('never', array_agg('{}'::jsonb)) FROM generate_series(1, 100) n \g /dev/null
CALL sf_run_due(1000);
SELECT is((SELECT count(*) FROM sf_event_waits), 100::bigint, 'many executions wait');

SELECT pg_temp.pairs() AS before \gset
SELECT sf_emit_many('much', array_agg(jsonb_build_object('key', 'k', 'payload', '{"a": "x"}'::jsonb)))
FROM generate_series(1, 600) n \g /dev/null
CALL sf_run_due(1000);
SELECT cmp_ok(pg_temp.pairs() - :before, '>=', 60000::bigint, 'they are matched with many events');
SELECT cmp_ok(pg_temp.pairs() - :before, '<', 62000::bigint, '... once, though these are more than a pass is of');
SELECT is((SELECT count(*) FROM _sfflow.emission WHERE status < 2), 0::bigint, 'no event is fresh then');

SELECT pg_temp.pairs() AS before \gset
SELECT sf_emit('much', 'k', '{"a": "y"}') \g /dev/null
CALL sf_run_due(1000);
SELECT cmp_ok(pg_temp.pairs() - :before, '<=', 110::bigint, 'another event is matched with all waits, and it alone');

SELECT pg_temp.pairs() AS before \gset
SELECT sf_start('never', '{}', 'later') \g /dev/null
CALL sf_run_due(1000);
-- when the wait begins, some events are looked through, too
SELECT cmp_ok(pg_temp.pairs() - :before, '<', 1000::bigint, 'another wait is matched with all events, and it alone');
SELECT is((SELECT count(*) FROM _sfflow.awaited_event WHERE ripe), 0::bigint, '... and is not ripe then');

-- A wait that takes many events gets those of other passes, too.
SELECT sf_start('always', '{}', 'all') \g /dev/null
CALL sf_run_due(1000);
SELECT is((SELECT jsonb_array_length(output) FROM sf_executions WHERE execution_id = 'always:all'), 601,
	'a wait receives more events than a pass is of');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

SELECT * FROM finish();
ROLLBACK;
