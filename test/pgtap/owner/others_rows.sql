-- What one role puts into the tables costs the work of other roles nothing. Proved by counts: how many rows of sfflow's
-- tables each operation of one role reads, before and after another role has filled a table, and after it has changed
-- one row more.
-- needs: hold deadline limit rule
BEGIN;
CREATE ROLE rows_victim;
CREATE ROLE rows_stranger;
CREATE SCHEMA rows;
GRANT USAGE ON SCHEMA rows TO public;
CREATE FUNCTION rows.f(x jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT x';

-- Rows that the other role makes, and that an operation may read of them
CREATE FUNCTION pg_temp.many() RETURNS integer LANGUAGE sql AS 'SELECT 1000';
CREATE FUNCTION pg_temp.slack() RETURNS integer LANGUAGE sql AS 'SELECT 200';

-- What the one role does: to be repeated, $n is a number that is used once.
CREATE TABLE pg_temp.operation (name text PRIMARY KEY, call text, base bigint);
GRANT ALL ON pg_temp.operation TO public;
INSERT INTO pg_temp.operation (name, call) VALUES
('an execution', $$SELECT sf_run(sf_start('victim', '{}', 'run$n'))$$),
('a failure and a redrive', $$SELECT sf_run(sf_start('broken', '{}', 'bad$n')); SELECT sf_redrive('broken:bad$n');
	SELECT sf_run('broken:bad$n')$$),
('a stop', $$SELECT sf_start('victim', '{}', 'stop$n'); SELECT sf_stop('victim:stop$n')$$),
('a hold of a machine', $$SELECT sf_hold('victim'); SELECT sf_release('victim')$$),
('a hold of an execution', $$SELECT sf_start('victim', '{}', 'hold$n'); SELECT sf_hold('victim:hold$n');
	SELECT sf_run('victim:hold$n'); SELECT sf_release('victim:hold$n'); SELECT sf_run('victim:hold$n')$$),
('a hold of a resource', $$SELECT sf_hold('sql:rows.f'); SELECT sf_release('sql:rows.f')$$),
('a limit', $$SELECT sf_set_limit('victim', max_running => 5); SELECT sf_run(sf_start('victim', '{}', 'limited$n'));
	SELECT sf_drop_limit('victim')$$),
('a limit of a resource', $$SELECT sf_set_limit('sql:rows.f', rate => 1000000);
	SELECT sf_run(sf_start('victim', '{}', 'res$n')); SELECT sf_drop_limit('sql:rows.f')$$),
('a mark', $$SELECT sf_run(sf_start('broken', '{}', 'mark$n')); SELECT sf_mark('broken:mark$n', 'T', 'skip');
	SELECT sf_redrive('broken:mark$n'); SELECT sf_run('broken:mark$n')$$),
('an acknowledgement', $$SELECT sf_run(sf_start('broken', '{}', 'ack$n')); SELECT sf_acknowledge('broken:ack$n')$$),
('a mapping', $$SELECT sf_map_resource('arn:aws:states:::own:thing', 'sql:rows.f');
	SELECT sf_unmap_resource('arn:aws:states:::own:thing')$$),
('an alias', $$SELECT sf_set_alias('victim', 'live', '{"1": 100}');
	SELECT sf_run(sf_start('victim/live', '{}', 'alias$n')); SELECT sf_drop_alias('victim', 'live')$$),
('a rule', $$SELECT sf_create_rule('own', '{"detail": {"name": ["x"]}}', 'notify:x');
	SELECT sf_run(sf_start('victim', '{}', 'rule$n')); SELECT sf_drop_rule('own')$$),
('a calendar', $$SELECT sf_create_calendar('own', '{}'); SELECT sf_drop_calendar('own')$$),
('a deadline', $$SELECT sf_set_deadline('victim', end_by => '02:00'); SELECT sf_drop_deadline('victim')$$),
('an activity', $$SELECT sf_create_activity('own$n'); SELECT sf_get_activity_task('own$n', 'w')$$),
('a grant', $$SELECT sf_grant('READ', 'victim', 'rows_victim'); SELECT sf_revoke('READ', 'victim', 'rows_victim')$$),
('a machine', $$SELECT sf_create_state_machine('fresh$n', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}');
	SELECT sf_run(sf_start('fresh$n', '{}', 'a'))$$);

-- What the other role fills, with how it changes one row more.
CREATE TABLE pg_temp.filling (n serial, name text PRIMARY KEY, fill text, change text);
GRANT ALL ON pg_temp.filling TO public;
INSERT INTO pg_temp.filling (name, fill, change) VALUES
('rules', $$SELECT count(sf_create_rule('r' || i, '{"source": ["aws.states", "sfflow.jobs"],
			"detail": {"name": ["never"]}}', 'notify:x')) FROM generate_series(1, pg_temp.many()) i$$,
	$$SELECT sf_create_rule('r1', '{"source": ["aws.states"]}', 'notify:x')$$),
('holds', $$SELECT count(sf_hold('sql:rows.h' || i)) FROM generate_series(1, pg_temp.many()) i$$,
	$$SELECT sf_release('sql:rows.h1'); SELECT sf_hold('sql:rows.h1')$$),
('limits', $$SELECT count(sf_set_limit('sql:rows.l' || i, max_running => 5))
	FROM generate_series(1, pg_temp.many()) i$$,
	$$SELECT sf_set_limit('sql:rows.l1', max_running => 6)$$),
('executions', $$SELECT count(sf_start('stranger', '{}', 'e' || i)) FROM generate_series(1, pg_temp.many()) i$$,
	$$SELECT sf_stop('stranger:e1')$$),
('holds of executions', $$SELECT count(sf_hold('stranger:e' || i)) FROM generate_series(2, pg_temp.many()) i$$,
	$$SELECT sf_release('stranger:e2'); SELECT sf_hold('stranger:e2')$$),
('mappings', $$SELECT count(sf_map_resource('arn:aws:states:::m' || i, 'sql:rows.f'))
	FROM generate_series(1, pg_temp.many()) i$$,
	$$SELECT sf_map_resource('arn:aws:states:::m1', 'sql:rows.f')$$),
('aliases', $$SELECT count(sf_set_alias('stranger', 'a' || i, '{"1": 100}'))
	FROM generate_series(1, pg_temp.many()) i$$,
	$$SELECT sf_set_alias('stranger', 'a1', '{"1": 100}')$$),
('calendars', $$SELECT count(sf_create_calendar('c' || i, '{}')) FROM generate_series(1, pg_temp.many()) i$$,
	$$SELECT sf_create_calendar('c1', '{}')$$),
('activities', $$SELECT count(sf_create_activity('a' || i)) FROM generate_series(1, pg_temp.many()) i$$,
	$$SELECT sf_drop_activity('a1'); SELECT sf_create_activity('a1')$$),
('grants', $$SELECT count(sf_grant('WORK', 'activity:a' || i, 'rows_victim'))
	FROM generate_series(1, pg_temp.many()) i$$,
	$$SELECT sf_revoke('WORK', 'activity:a1', 'rows_victim'); SELECT sf_grant('WORK', 'activity:a1', 'rows_victim')$$),
('machines', $$SELECT count(sf_create_state_machine('s' || i, '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}'))
	FROM generate_series(1, pg_temp.many()) i$$,
	$$SELECT sf_drop_state_machine('s1'); SELECT sf_create_state_machine('s1',
		'{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}')$$),
('deadlines', $$SELECT count(sf_set_deadline('s' || i, end_by => '02:00')) FROM generate_series(1, pg_temp.many()) i$$,
	$$SELECT sf_set_deadline('s1', end_by => '02:01')$$),
('marks', $$SELECT count(sf_mark('stranger:e' || i, 'A', 'skip')) FROM generate_series(2, pg_temp.many()) i$$,
	$$SELECT sf_mark('stranger:e2', 'A', 'success')$$),
('failures', $$RESET ROLE; INSERT INTO _sfflow.failure SELECT e.execution_no, e.machine_no, 1, now(), true
	FROM _sfflow.execution e JOIN _sfflow.state_machine m USING (machine_no) WHERE m.name = 'stranger'$$,
	$$SELECT sf_acknowledge('stranger:e2')$$),
('acknowledgements', $$RESET ROLE; INSERT INTO _sfflow.acknowledgement SELECT e.execution_no, 'failed', now(), now(),
	'rows_stranger'::regrole, '' FROM _sfflow.execution e JOIN _sfflow.state_machine m USING (machine_no)
	WHERE m.name = 'stranger' AND e.execution_id <> 'stranger:e2'$$,
	$$SELECT sf_acknowledge('stranger:e3')$$),
('schedules', $$RESET ROLE; INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, changed_at,
		created_at)
	SELECT 's' || i, 'rows_stranger'::regrole, '0 0 1 1 *', 'stranger', '{}', now(), now()
	FROM generate_series(1, pg_temp.many()) i$$,
	$$SELECT sf_hold('schedule:s1'); SELECT sf_release('schedule:s1')$$);
SELECT plan((SELECT count(*) FROM pg_temp.operation)::int * (SELECT count(*) FROM pg_temp.filling)::int + 1);

CREATE FUNCTION pg_temp.rows_read() RETURNS bigint LANGUAGE sql AS $$
	SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_xact_all_tables
	WHERE schemaname = '_sfflow'
$$;
CREATE SEQUENCE pg_temp.used_once;
GRANT ALL ON SEQUENCE pg_temp.used_once TO public;

-- The rows that an operation reads.
CREATE FUNCTION pg_temp.cost(call text) RETURNS bigint LANGUAGE plpgsql SET client_min_messages = error AS $$
DECLARE
	before bigint;
BEGIN
	SET LOCAL ROLE rows_victim;
	before := pg_temp.rows_read();
	EXECUTE replace(call, '$n', nextval('pg_temp.used_once')::text);
	RETURN pg_temp.rows_read() - before;
END $$;

-- Fill, measure each operation, change a row, measure again: the most that each has read.
CREATE FUNCTION pg_temp.compare(what text) RETURNS SETOF text LANGUAGE plpgsql SET client_min_messages = error AS $$
DECLARE
	f pg_temp.filling;
	o pg_temp.operation;
	most bigint;
BEGIN
	SELECT * INTO f FROM pg_temp.filling WHERE name = what;
	UPDATE pg_temp.operation SET base = greatest(pg_temp.cost(call), pg_temp.cost(call));
	SET LOCAL ROLE rows_stranger;
	EXECUTE f.fill;
	FOR o IN SELECT * FROM pg_temp.operation ORDER BY name LOOP
		most := pg_temp.cost(o.call);
		SET LOCAL ROLE rows_stranger;
		EXECUTE f.change;
		most := greatest(most, pg_temp.cost(o.call));
		RESET ROLE;
		RETURN NEXT ok(most <= o.base + pg_temp.slack(),
			format('%s %s of another role cost %s nothing (%s rows, %s before)', pg_temp.many(), what, o.name, most,
				o.base));
	END LOOP;
	RESET ROLE;
END $$;

-- Plans are made while the tables are empty: a scan of a table would be as cheap as an index.
SET enable_seqscan = off;
SET ROLE rows_victim;
SELECT sf_create_state_machine('victim', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"},
	"B": {"Type": "Task", "Resource": "arn:aws:states:::other:thing", "Next": "C"}, "C": {"Type": "Task",
		"Resource": "sql:rows.f", "End": true}}}'),
	sf_create_state_machine('broken', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:query",
		"Parameters": {"Statement": "SELECT 1 / 0"}, "End": true}}}'),
	sf_map_resource('arn:aws:states:::other:thing', 'sql:rows.f') \g /dev/null
SET ROLE rows_stranger;
SELECT sf_create_state_machine('stranger', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:rows.f",
	"End": true}}}') \g /dev/null
RESET ROLE;
-- The first time plans are made and caches are filled.
SELECT pg_temp.cost(call) FROM pg_temp.operation \g /dev/null
SELECT pg_temp.compare(name) FROM pg_temp.filling ORDER BY n;
SELECT ok((SELECT min(base) FROM pg_temp.operation) > 0, 'rows are counted');
SELECT * FROM finish();
ROLLBACK;
