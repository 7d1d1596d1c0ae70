-- A process keeps 512 functions, and the one that it calls; of those that it called longest ago the plans are made
-- anew.
BEGIN;
SELECT plan(4);
DO $$ BEGIN
	FOR i IN 1 .. 600 LOOP
		EXECUTE format('CREATE FUNCTION f%s(payload jsonb) RETURNS jsonb LANGUAGE sql AS ''SELECT payload''', i);
	END LOOP;
	PERFORM sf_create_state_machine('calls', json_build_object('StartAt', 'S1', 'States', (
		SELECT json_object_agg('S' || i, jsonb_build_object('Type', 'Task', 'Resource', 'sql:public.f' || i)
			|| CASE WHEN i < 600 THEN jsonb_build_object('Next', 'S' || i + 1) ELSE '{"End": true}' END)
		FROM generate_series(1, 600) i)));
END $$;
CREATE VIEW kept AS SELECT count(*) AS functions FROM pg_backend_memory_contexts WHERE name = 'sfflow function';
SELECT is(sf_run(sf_start('calls', '{}')), 'SUCCEEDED', '600 functions are called');
SELECT ok(functions BETWEEN 512 AND 513, '512 of them are kept') FROM kept;
SELECT is(sf_run(sf_start('calls', '{}')), 'SUCCEEDED', 'they are called again');
SELECT ok(functions BETWEEN 512 AND 513, '... and no more are kept') FROM kept;
SELECT * FROM finish();
ROLLBACK;
