-- What the measurements run, and a second set of tables for the floors that write the same rows
-- without sfflow.

CREATE EXTENSION sfflow;
CREATE SCHEMA bench;
CREATE TABLE bench.floor (n bigint, at timestamptz DEFAULT now());
CREATE FUNCTION nothing(payload jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS 'SELECT payload';
CREATE FUNCTION lengthy(payload jsonb) RETURNS jsonb LANGUAGE sql VOLATILE AS 'SELECT $1 FROM pg_sleep(0.025)';
CREATE FUNCTION moment(payload jsonb) RETURNS jsonb LANGUAGE sql VOLATILE AS
	'SELECT $1 FROM pg_sleep(($1 ->> ''ms'')::float / 1000)';
CREATE FUNCTION nothing_later(n integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	IF n = 0 THEN
		PERFORM sf_raise('Later');
	END IF;
	RETURN n;
END $$;

-- A machine of n states in a row; every state is the given one.
CREATE FUNCTION bench.chain(name text, n integer, state jsonb) RETURNS void LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, json_build_object('StartAt', 'S1', 'States', (
		SELECT json_object_agg('S' || i, state || CASE WHEN i < n
			THEN jsonb_build_object('Next', 'S' || i + 1) ELSE '{"End": true}' END)
		FROM generate_series(1, n) AS i)))
$$;
SELECT bench.chain('one', 1, '{"Type": "Task", "Resource": "sql:public.nothing"}');
SELECT bench.chain('chain5', 5, '{"Type": "Task", "Resource": "sql:public.nothing"}');
SELECT bench.chain('pass10', 10, '{"Type": "Pass"}');
SELECT bench.chain('pass1', 1, '{"Type": "Pass"}');
SELECT bench.chain('pass2', 2, '{"Type": "Pass"}');
SELECT bench.chain('task2', 2, '{"Type": "Task", "Resource": "sql:public.nothing"}');
SELECT bench.chain('wait1', 1, '{"Type": "Wait", "Seconds": 0}');
SELECT bench.chain('wait2', 2, '{"Type": "Wait", "Seconds": 0}');
-- The same with limits, which the item limits sets.
SELECT bench.chain('chain5_limited', 5, '{"Type": "Task", "Resource": "sql:public.nothing"}');
SELECT bench.chain('chain5_steps', 5, '{"Type": "Task", "Resource": "sql:public.nothing"}');
SELECT sf_create_state_machine('tenants', '{"StartAt": "Which", "States": {
	"Which": {"Type": "Choice", "Choices": [{"Variable": "$.hold", "IsPresent": true, "Next": "Hold"}], "Default": "Work"},
	"Hold": {"Type": "Wait", "Seconds": 1000000, "End": true},
	"Work": {"Type": "Task", "Resource": "sql:public.moment", "End": true}}}');
-- A task that takes longer than sfflow.slice_ms has transactions of its own.
SELECT bench.chain('long1', 1, '{"Type": "Task", "Resource": "sql:public.lengthy"}');
SELECT bench.chain('long2', 2, '{"Type": "Task", "Resource": "sql:public.lengthy"}');
SELECT bench.chain('retry1', 1, '{"Type": "Task", "Resource": "sql:public.nothing_later",
	"Parameters": {"n.$": "$$.State.RetryCount"}, "Retry": [{"ErrorEquals": ["Later"], "IntervalSeconds": 1}]}');
SELECT bench.chain('rest1', 1, '{"Type": "Wait", "Seconds": 1}');
SELECT bench.chain('rest2', 2, '{"Type": "Wait", "Seconds": 1}');
SELECT bench.chain('timer', 1, '{"Type": "Wait", "TimestampPath": "$.at"}');

-- Pass and Choice by turns.
SELECT sf_create_state_machine('choice20', json_build_object('StartAt', 'S1', 'States', (
	SELECT json_object_agg('S' || i, CASE i % 2
		WHEN 1 THEN jsonb_build_object('Type', 'Pass', 'Next', 'S' || i + 1)
		ELSE jsonb_build_object('Type', 'Choice', 'Choices', json_build_array(json_build_object(
			'Variable', '$.n', 'NumericGreaterThan', 0, 'Next', CASE i WHEN 20 THEN 'Done' ELSE 'S' || i + 1 END))) END)
	FROM generate_series(1, 20) AS i)::jsonb || '{"Done": {"Type": "Succeed"}}'));

-- A net of n jobs, each of which waits for up to two of the twenty before it; a chain of five as a net.
CREATE FUNCTION bench.net(name text, n integer, links integer DEFAULT 2, reach integer DEFAULT 20) RETURNS void LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, json_build_object('StartAt', 'N', 'States', json_build_object('N',
		json_build_object('Type', 'JobNet', 'End', true, 'Jobs', (
			SELECT json_object_agg('J' || i, jsonb_build_object('Type', 'Task', 'Resource', 'sql:public.nothing', 'After', (
				SELECT coalesce(jsonb_agg(DISTINCT 'J' || b), '[]')
				FROM (SELECT i - 1 - (i * k * 7) % reach AS b FROM generate_series(1, links) AS k) AS l WHERE b > 0)))
			FROM generate_series(1, n) AS i)))))
$$;
SELECT bench.net('net5', 5, 1, 1);
SELECT bench.net('net100', 100);
SELECT bench.net('net_part', :large / 5);
SELECT bench.net('net_large', :large);

SELECT sf_create_state_machine('fan', '{"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemsPath": "$",
	"ItemProcessor": {"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.nothing", "End": true}}},
	"End": true}}}');

-- The same tables with the same indexes and settings, in a schema of their own.
CREATE TABLE bench.execution (LIKE _sfflow.execution INCLUDING ALL) WITH (fillfactor = 70);
CREATE TABLE bench.branch (LIKE _sfflow.branch INCLUDING ALL);
CREATE TABLE bench.history (LIKE _sfflow.history INCLUDING ALL);
CREATE SEQUENCE bench.execution_no START 1000000000;
CREATE TABLE bench.template (LIKE _sfflow.execution);
CREATE TABLE bench.template_history (LIKE _sfflow.history);
CREATE TABLE bench.template_branch (LIKE _sfflow.branch);

-- Remember an execution's rows as they are.
CREATE PROCEDURE bench.remember(which text) LANGUAGE sql AS $$
	INSERT INTO bench.template SELECT * FROM _sfflow.execution WHERE execution_id = which;
	INSERT INTO bench.template_branch SELECT b.* FROM _sfflow.branch AS b
		JOIN bench.template USING (execution_no) WHERE execution_id = which;
	INSERT INTO bench.template_history SELECT h.* FROM _sfflow.history AS h
		JOIN bench.template USING (execution_no) WHERE execution_id = which;
$$;

-- Write n copies of a remembered execution into the tables of a schema; returns their numbers.
CREATE FUNCTION bench.copy(schema text, which text, n integer) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
	numbers bigint[] := ARRAY(SELECT nextval('bench.execution_no') FROM generate_series(1, n));
	part text;
BEGIN
	FOREACH part IN ARRAY ARRAY['execution', 'branch', 'history'] LOOP
		EXECUTE (SELECT format('INSERT INTO %I.%I SELECT %s FROM unnest($1) AS no, bench.%I AS t
			WHERE t.execution_no = (SELECT execution_no FROM bench.template WHERE execution_id = $2)
			ORDER BY no %s', schema, part, string_agg(CASE attname
				WHEN 'execution_no' THEN 'no'
				WHEN 'execution_id' THEN 'execution_id || ''-'' || no'
				ELSE attname END, ', ' ORDER BY attnum),
			CASE part WHEN 'execution' THEN 'template' ELSE 'template_' || part END,
			CASE part WHEN 'history' THEN ', first_id' END)
			FROM pg_attribute WHERE attrelid = format('_sfflow.%I', part)::regclass AND attnum > 0) USING numbers, which;
	END LOOP;
	RETURN numbers;
END $$;

-- What n executions like a remembered one leave and go through, set-based in one transaction: every
-- row is inserted, the executions are updated when they end, and the branches deleted.
CREATE PROCEDURE bench.raw(which text, n integer, branches integer) LANGUAGE plpgsql AS $$
DECLARE
	numbers bigint[] := bench.copy('bench', which, n);
BEGIN
	INSERT INTO bench.branch (execution_no, branch_no, owner, parent_no, branch_index, state, phase, due_at, entered_at, payload)
		SELECT no, i, 'postgres'::regrole, nullif(least(i, 1) - 1, -1), i, 0, 0, now(), now(), input
		FROM unnest(numbers) AS no, generate_series(0, branches - 1) AS i, bench.template WHERE execution_id = which;
	UPDATE bench.execution SET status = 1, stopped_at = now() WHERE execution_no = ANY (numbers);
	DELETE FROM bench.branch WHERE execution_no = ANY (numbers);
END $$;

-- A stored histogram of 300 durations from 1 ms to 10 s.
CREATE VIEW bench.some_times AS
SELECT '\x7001'::bytea || (SELECT string_agg('\x0101'::bytea, '') FROM generate_series(1, 200)) AS h;

-- Bytes of all tables of sfflow with their indexes.
CREATE FUNCTION bench.stored() RETURNS numeric LANGUAGE sql AS $$
	SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = '_sfflow'::regnamespace AND relkind = 'r'
$$;
