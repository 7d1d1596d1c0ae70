-- A pass over a key that several sweeps share: each gives one answer here, and CALL sf_run_due(1) sweeps a thousand
-- times at most. What comes meanwhile, also with lower numbers, is for another pass, which follows at once.
-- needs: event
BEGIN;
SELECT plan(8);

SELECT sf_create_event('much') \g /dev/null
SELECT sf_create_state_machine('once', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:much",
	"Parameters": {"Key": "k"}, "End": true}}}') \g /dev/null
SELECT sf_start_many('once', array_agg('{}'::jsonb)) FROM generate_series(1, 1003) n \g /dev/null
CALL sf_run_due(10000);
SELECT is((SELECT count(*) FROM sf_event_waits), 1003::bigint, 'many executions wait');

-- Those of the other key, which are more than a sweep has in memory, become late events of the first one.
SELECT sf_emit('much', 'other', jsonb_build_object('a', repeat('x', 1100000)))
FROM generate_series(1, 16) n \g /dev/null
SELECT sf_emit('much', 'k', to_jsonb(n)) FROM generate_series(1, 14) n \g /dev/null
SET LOCAL sfflow.debug_point = 'event_answers:ms=1';
CALL sf_run_due(1);
SET LOCAL sfflow.debug_point = '';
SELECT cmp_ok((SELECT count(*) FROM sf_event_waits), '>', 0::bigint, 'a pass is cut');

UPDATE _sfflow.emission SET key = 'k', status = 0, expires_at = NULL, forget_at = NULL WHERE key = 'other';
SELECT sf_emit('much', 'k', '"new"') \g /dev/null
CALL sf_run_due(1);
SELECT is((SELECT count(*) FROM sf_event_waits), 0::bigint, 'the pass goes on');
SELECT is((SELECT count(*) FROM _sfflow.emission WHERE status < 2), 0::bigint,
	'... and another has what came meanwhile');
-- A filter has so many steps for an event.
SELECT sf_create_state_machine('filter', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:much",
	"Parameters": {"Key": "filter", "Filter": {"a": [{"equals-ignore-case": "XY"}]}}, "End": true}}}') \g /dev/null
SELECT sf_start('filter', '{}', 'f') \g /dev/null
CALL sf_run_due(1000);
SET LOCAL sfflow.debug_point = 'event_steps:ms=1';
SELECT sf_emit('much', 'filter', '{"a": "xy"}') \g /dev/null
CALL sf_run_due(1000);
SELECT is((SELECT count(*) FROM sf_event_waits), 1::bigint, 'an event that takes too long to match does not match');
SELECT is((SELECT count(*) FROM _sfflow.emission WHERE status < 2), 0::bigint, '... and is looked at no more');
SET LOCAL sfflow.debug_point = '';
SELECT sf_emit('much', 'filter', '{"a": "Xy"}') \g /dev/null
CALL sf_run_due(1000);
SELECT is((SELECT output #>> '{Payload,a}' FROM sf_executions WHERE execution_id = 'filter:f'), 'Xy',
	'another one does');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

SELECT * FROM finish();
ROLLBACK;
