-- Events that have expired are deleted, a thousand with a sweep, of which one follows the other.
-- needs: event
BEGIN;
SELECT plan(3);

SELECT sf_create_event('much') \g /dev/null
SELECT sf_create_state_machine('once', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:much",
	"Parameters": {"Key": "k"}, "End": true}}}') \g /dev/null
SELECT sf_start('once', '{}', 'x') \g /dev/null
-- The first sweep of a process looks for what has expired.
SELECT sf_emit_many('much', array_agg(jsonb_build_object('key', 'old'))) FROM generate_series(1, 2500) n \g /dev/null
UPDATE _sfflow.emission SET status = 2, expires_at = '2020-01-01', forget_at = '2020-01-01';
CALL sf_run_due(1000);
SELECT is((SELECT count(*) FROM _sfflow.emission), 0::bigint, 'events that have expired go, however many they are');
SELECT is((SELECT count(*) FROM sf_event_waits), 1::bigint, 'a wait is not given them');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

SELECT * FROM finish();
ROLLBACK;
