-- sf_drop_state_machine of a machine with very many executions: what the call deletes, what the purge does, and what is
-- seen in between.
BEGIN;
SELECT plan(24);

CREATE FUNCTION pg_temp.machine(name text) RETURNS integer LANGUAGE sql AS
	$$ SELECT sf_create_state_machine($1, '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1000,
		"Next": "P"}, "P": {"Type": "Pass", "End": true}}}') $$;
CREATE FUNCTION pg_temp.fill(n integer) RETURNS void LANGUAGE sql AS $$
	INSERT INTO _sfflow.execution (execution_no, machine_no, version, status, requested_at, started_at, stopped_at,
		execution_id, input, error)
	SELECT nextval('_sfflow.execution_no'), m.machine_no, 1, CASE WHEN i % 100 = 0 THEN 2 ELSE 1 END,
	now() + interval '1 ms' * i - interval '1 hour', now(), now(),
		'many:' || i, '{}', CASE WHEN i % 100 = 0 THEN 'E' END
	FROM generate_series(1, n) AS i, _sfflow.state_machine AS m WHERE m.name = 'many';
	INSERT INTO _sfflow.open_execution SELECT machine_no, 2, requested_at, execution_no, error
	FROM _sfflow.execution WHERE status = 2;
	INSERT INTO _sfflow.history (execution_no, at, first_id, body) SELECT execution_no, requested_at, 1,
	'' FROM _sfflow.execution WHERE execution_id LIKE 'many:%9';
$$;
CREATE FUNCTION pg_temp.stored() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM _sfflow.execution $$;

-- Few executions go with the call.
SELECT pg_temp.machine('many'), pg_temp.fill(500), sf_start('many', name => 'runs') \g /dev/null
SELECT throws_ok($$ SELECT sf_drop_state_machine('many') $$, 'SF004', 'state machine "many" has 1 running executions');
SELECT sf_drop_state_machine('many', true) \g /dev/null
SELECT is(pg_temp.stored(), 0::bigint, 'of a machine with few executions nothing is left');
SELECT is((SELECT count(*) FROM _sfflow.dropped_machine), 0::bigint, '... and nothing to do');

-- Of many the call deletes what runs and some of the others.
SELECT pg_temp.machine('many'), pg_temp.fill(25000), sf_start('many', name => 'runs'),
	sf_start('many', name => 'waits'), sf_enable(), sf_run('many:waits') \g /dev/null
SELECT throws_ok($$ SELECT sf_stop('many:runs'), sf_stop('many:waits'), sf_drop_state_machine('many') $$, 'SF004',
	'state machine "many" has 25002 ended executions');
SELECT sf_drop_state_machine('many', true) \g /dev/null
SELECT is(pg_temp.stored(), 15000::bigint, 'the call deletes 10,000 ended executions at most');
SELECT is((SELECT count(*) FROM _sfflow.execution WHERE status = 0), 0::bigint, '... and all that run');
SELECT is((SELECT count(*) FROM _sfflow.branch), 0::bigint, '... with their branches');
SELECT is((SELECT count(*) FROM sf_executions), 0::bigint, 'no view shows the others');
SELECT is((SELECT count(*) FROM sf_list_executions()), 0::bigint, '... nor a list');
SELECT is((SELECT count(*) FROM sf_history), 0::bigint, '... nor their history');
SELECT throws_ok($$ SELECT sf_redrive('many:20000') $$, 'SF005', 'execution "many:20000" does not exist');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT is(sf_purge('0 s'), 0::bigint, 'sf_purge has no machine of them');

-- A machine of that name is another one.
SELECT is(pg_temp.machine('many'), 1, 'the name is free at once');
SELECT is((SELECT count(*) FROM sf_list_executions('many', name_prefix => '2')), 0::bigint,
	'the new machine has no execution');
SELECT is(sf_start('many', '{"new": true}', '20000'), 'many:20000', 'and the ids are free');
SELECT is((SELECT string_agg(outcome, ' ') FROM sf_start_many('many', '{1, 2}'::jsonb[], '{20000, 20001}')),
	'running started', '... also for many');
SELECT results_eq('SELECT execution_id COLLATE "default", status, input FROM sf_executions ORDER BY 1',
	$$ VALUES ('many:20000', 'RUNNING', '{"new": true}'::jsonb), ('many:20001', 'RUNNING', '2') $$,
	'only what it has started is seen');
SELECT is(pg_temp.stored(), 15000::bigint, 'each took the place of an old one');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

-- The purge does the rest.
DO $$ DECLARE n bigint; BEGIN CALL sf_purge_due(n); PERFORM set_config('drop.purged', n::text, true); END $$;
SELECT is(current_setting('drop.purged'), '14998', 'the purge deletes the others');
SELECT is(pg_temp.stored(), 2::bigint, '... and nothing else');
SELECT is((SELECT count(*) FROM _sfflow.dropped_machine), 0::bigint, '... and forgets the machine');
SELECT is((SELECT count(*) FROM _sfflow.history h WHERE NOT EXISTS (SELECT FROM _sfflow.execution e
			WHERE e.execution_no = h.execution_no))
	+ (SELECT count(*) FROM _sfflow.open_execution WHERE status = 2), 0::bigint, '... with what they had');

SELECT * FROM finish();
ROLLBACK;
