-- An installation of some years for the measurements of lists and of retention: n executions of 20 state
-- machines, of which the first has half of all and each further one less.

SELECT sf_create_state_machine('m' || lpad(i::text, 2, '0'), '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}')
FROM generate_series(1, 20) AS i;

-- 1 of 40 has failed, 1 of 200 has timed out, 1 of 400 was stopped, 1 of 1000 runs, and of the newest
-- 1000 each fifth has not begun. One of ten is a child of the first execution or of one of a hundred others.
CREATE PROCEDURE bench.fill_lists(n bigint) LANGUAGE plpgsql AS $$
DECLARE
	first bigint := (SELECT coalesce(max(execution_no), 0) FROM _sfflow.execution);
BEGIN
	INSERT INTO _sfflow.execution (execution_no, machine_no, version, status, last_event_id, parent_execution_no,
		requested_at, started_at, stopped_at, execution_id, input, output, error)
	SELECT first + x.i, m.machine_no, 1, x.status, 5,
		CASE WHEN x.i % 10 = 0 AND x.i > 1000 THEN first + CASE WHEN x.i % 500 = 0 THEN 1 ELSE 2 + x.i / 10 % 100 END END,
		x.at, CASE WHEN NOT x.waits THEN x.at + interval '1 ms' END,
		CASE WHEN x.status > 0 THEN x.at + interval '10 ms' END,
		m.name || ':' || CASE x.i % 3 WHEN 0 THEN 'order-' WHEN 1 THEN 'bill-' ELSE 'import/' || x.i % 1000 || '/' END || x.i,
		'{}', CASE WHEN x.status = 1 THEN '{}'::jsonb END,
		CASE WHEN x.status IN (2, 3) THEN (ARRAY['States.Timeout', 'States.TaskFailed', 'Db.Deadlock', 'Rare.Error'])[
			CASE WHEN x.status = 3 THEN 1 WHEN x.i % 100000 = 40 THEN 4 ELSE 2 + x.i / 40 % 2 END] END
	FROM (SELECT i, i > n - 1000 AND i % 5 = 0 AS waits, now() - interval '0.02 s' * (n - i) AS at,
			least(19, floor(-ln((hashint8(i)::float8 + 2147483649) / 4294967296.0) / ln(2::float8)))::integer AS machine,
			CASE WHEN i > n - 1000 AND i % 5 = 0 THEN 0 WHEN i % 40 = 0 THEN 2 WHEN i % 200 = 1 THEN 3
				WHEN i % 400 = 2 THEN 4 WHEN i % 1000 = 3 THEN 0 ELSE 1 END AS status
		FROM generate_series(1, n) AS i) AS x
	JOIN _sfflow.state_machine AS m ON m.name = 'm' || lpad((x.machine + 1)::text, 2, '0')
	ORDER BY x.i;
	INSERT INTO _sfflow.open_execution
	SELECT machine_no, status, requested_at, execution_no, error
	FROM _sfflow.execution WHERE execution_no > first AND status <> 1 AND started_at IS NOT NULL;
	INSERT INTO _sfflow.branch (execution_no, branch_no, owner, state, phase, due_at, entered_at, payload)
	SELECT execution_no, 0, 'postgres'::regrole, 0, CASE WHEN status = 0 AND started_at IS NULL THEN 0 WHEN status = 0 THEN 6 ELSE 8 END,
		CASE WHEN started_at IS NULL AND status = 0 THEN requested_at END, started_at, '{}'
	FROM _sfflow.execution WHERE execution_no > first AND status <> 1;
	PERFORM setval('_sfflow.execution_no', first + n);
END $$;

-- What users ask for, with values drawn at random: milliseconds of each page.
CREATE FUNCTION bench.pages(n integer) RETURNS SETOF float LANGUAGE plpgsql AS $$
DECLARE
	span interval := (SELECT max(requested_at) - min(requested_at) FROM _sfflow.execution);
	parents text[] := ARRAY(SELECT execution_id FROM _sfflow.execution ORDER BY execution_no LIMIT 100);
	machine text;
	before timestamptz;
	began timestamptz;
BEGIN
	FOR i IN 1 .. n LOOP
		machine := 'm' || lpad((1 + floor(random() * 20))::text, 2, '0');
		before := now() - random() * span;
		began := clock_timestamp();
		CASE i % 14
			WHEN 0 THEN PERFORM FROM sf_list_executions();
			WHEN 1 THEN PERFORM FROM sf_list_executions(machine);
			WHEN 2 THEN PERFORM FROM sf_list_executions(machine, requested_before => before);
			WHEN 3 THEN PERFORM FROM sf_list_executions(machine, 'FAILED');
			WHEN 4 THEN PERFORM FROM sf_list_executions(machine, 'RUNNING');
			WHEN 5 THEN PERFORM FROM sf_list_executions(machine, 'SUCCEEDED', requested_before => before);
			WHEN 6 THEN PERFORM FROM sf_list_executions(status => 'FAILED', requested_before => before);
			WHEN 7 THEN PERFORM FROM sf_list_executions(status => 'RUNNING');
			WHEN 8 THEN PERFORM FROM sf_list_executions(machine, error => 'Rare.Error');
			WHEN 9 THEN PERFORM FROM sf_list_executions(error => 'Db.Deadlock', requested_before => before);
			WHEN 10 THEN PERFORM FROM sf_list_executions(machine, name_prefix => 'order-');
			WHEN 11 THEN PERFORM FROM sf_list_executions(machine, name_prefix => 'order-' || 1 + i % 999);
			WHEN 12 THEN PERFORM FROM sf_list_executions(parent_execution_id => parents[1 + i % 100]);
			WHEN 13 THEN PERFORM FROM sf_list_executions(owner => current_user, requested_before => before);
		END CASE;
		RETURN NEXT 1000 * extract(epoch FROM clock_timestamp() - began);
	END LOOP;
END $$;

-- The same in plain SQL, which people write.
CREATE FUNCTION bench.plain_pages(n integer) RETURNS SETOF float LANGUAGE plpgsql AS $$
DECLARE
	conditions text[] := ARRAY['', 'WHERE state_machine = %1$L', 'WHERE status = ''FAILED''', 'WHERE status = ''RUNNING''',
		'WHERE state_machine = %1$L AND status = ''FAILED''', 'WHERE requested_at < %2$L'];
	span interval := (SELECT max(requested_at) - min(requested_at) FROM _sfflow.execution);
	began timestamptz;
BEGIN
	FOR i IN 1 .. n LOOP
		began := clock_timestamp();
		EXECUTE format('SELECT execution_id, status, requested_at FROM sf_executions ' || conditions[1 + i % 6]
			|| ' ORDER BY requested_at DESC LIMIT 50', 'm' || lpad((1 + floor(random() * 20))::text, 2, '0'), now() - random() * span);
		RETURN NEXT 1000 * extract(epoch FROM clock_timestamp() - began);
	END LOOP;
END $$;

-- Three labels for each execution: a tenant, of which acme has half of all and of the failed ones, mid 1 % (none of which has
-- failed) and rare 0.005 %; a region, of which us has next to nothing of m03; and an order of its own. The reader may read
-- every other machine.
CREATE PROCEDURE bench.fill_labels() LANGUAGE plpgsql AS $$
BEGIN
	UPDATE _sfflow.execution AS e SET labels = jsonb_build_object('order', e.execution_no::text,
		'region', CASE WHEN e.execution_no % CASE WHEN m.name = 'm03' THEN 5000 ELSE 3 END = 0 THEN 'us' ELSE 'eu' END,
		'tenant', CASE WHEN e.execution_no % 100 = 1 AND e.error IS NULL THEN 'mid' WHEN e.execution_no % 20000 = 3 THEN 'rare'
			WHEN e.execution_no / 40 % 2 = 0 THEN 'acme' ELSE 't' || e.execution_no % 1000 END)
	FROM _sfflow.state_machine AS m WHERE m.machine_no = e.machine_no;
	INSERT INTO _sfflow.label (requested_at, execution_no, machine_no, name, value)
	SELECT e.requested_at, e.execution_no, e.machine_no, v.key, v.value
	FROM _sfflow.execution AS e CROSS JOIN LATERAL jsonb_each_text(e.labels) AS v ORDER BY e.execution_no, v.key;
	CREATE ROLE bench_reader;
	PERFORM sf_grant('READ', 'm' || lpad(i::text, 2, '0'), 'bench_reader') FROM generate_series(1, 20, 2) AS i;
END $$;

-- Milliseconds of the newest 50 of a label, NAME:VALUE (order: one at random), as the reader: by sf_labels, or
-- (more: a machine or any, and a status) by sf_list_executions.
CREATE FUNCTION bench.label_pages(label text, more text, n integer) RETURNS SETOF float LANGUAGE plpgsql AS $$
DECLARE
	orders text[] := ARRAY(SELECT execution_no::text FROM _sfflow.execution ORDER BY random() LIMIT 500);
	name text := split_part(label, ':', 1);
	machine text := nullif(split_part(more, ' ', 1), 'any');
	asked text := nullif(split_part(more, ' ', 2), '');
	wanted text;
	began timestamptz;
BEGIN
	PERFORM set_config('role', 'bench_reader', true);
	FOR i IN 1 .. n LOOP
		wanted := CASE name WHEN 'order' THEN orders[1 + i % cardinality(orders)] ELSE split_part(label, ':', 2) END;
		began := clock_timestamp();
		IF more = '' THEN
			PERFORM l.execution_id FROM sf_labels l WHERE l.label = name AND l.value = wanted ORDER BY l.requested_at DESC LIMIT 50;
		ELSE
			PERFORM FROM sf_list_executions(labels => jsonb_build_object(name, wanted), state_machine => machine,
				status => asked);
		END IF;
		RETURN NEXT 1000 * extract(epoch FROM clock_timestamp() - began);
	END LOOP;
	PERFORM set_config('role', 'none', true);
END $$;

-- Note each batch of a purge: how many executions it has deleted, from its begin until when.
CREATE TABLE bench.purged (i serial, began timestamptz, at timestamptz, n bigint);
CREATE FUNCTION bench.note_purge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO bench.purged (began, at, n) SELECT transaction_timestamp(), clock_timestamp(), count(*) FROM gone;
	RETURN NULL;
END $$;
CREATE PROCEDURE bench.watch_purge() LANGUAGE sql AS $$
	CREATE TRIGGER watch_purge AFTER DELETE ON _sfflow.execution
		REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION bench.note_purge();
$$;

-- The time per execution in the last quarter of the batches, by that in the first.
CREATE FUNCTION bench.last_by_first() RETURNS float8 LANGUAGE sql AS $$
	WITH b AS (SELECT ntile(4) OVER (ORDER BY i) AS quarter, extract(epoch FROM at - began) AS s, n FROM bench.purged),
		q AS (SELECT quarter, sum(s) / nullif(sum(n), 0) AS each FROM b GROUP BY quarter)
	SELECT (SELECT each FROM q WHERE quarter = 4) / (SELECT each FROM q WHERE quarter = 1)
$$;
