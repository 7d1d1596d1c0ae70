-- Rows of _sfflow.history: what a slice writes, what is read from it, and rows that are damaged.
\set VERBOSITY terse
SELECT sf_disable();

-- Rows of several slices; payloads are stored once.
SELECT sf_create_state_machine('packed', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "W"},
	"W": {"Type": "Wait", "Seconds": 1, "Next": "B"}, "B": {"Type": "Pass", "Result": [1], "ResultPath": "$.b",
		"Next": "X"},
	"X": {"Type": "Wait", "Seconds": 1, "Next": "P"}, "P": {"Type": "Parallel", "End": true, "Branches": [
	{"StartAt": "Y", "States": {"Y": {"Type": "Wait", "Seconds": 1, "Next": "C"}, "C": {"Type": "Pass", "End": true}}},
	{"StartAt": "D", "States": {"D": {"Type": "Pass", "OutputPath": "$.a", "Next": "Z"},
		"Z": {"Type": "Wait", "Seconds": 1, "End": true}}}]}}}');
SELECT sf_start('packed', '{"a": 1}', 'x');
SELECT sf_run('packed:x', skip_waits => true);
-- how many slices that took depends on the machine
SELECT count(*) BETWEEN 3 AND 20 AS several, sum((SELECT count(*) FROM _sfflow.history_events(h.execution_no,
	h.first_id, h.at, h.body, NULL, '{6,12,17}'))) AS entered
FROM _sfflow.history h;
SELECT d.document FROM _sfflow.history h, unnest(h.documents) WITH ORDINALITY AS d (document, n)
	ORDER BY h.first_id, d.n;
SELECT _sfflow.history_event_payload(h.execution_no, h.first_id, h.body, h.documents, 1) FROM _sfflow.history h
	WHERE h.first_id = 1;
SELECT e.id, e.previous_id, e.version, e.type, e.state, e.payload_from, e.payload FROM _sfflow.history_event e
	ORDER BY 1;
-- payloads of other rows are there
SELECT id, type, state, coalesce(details -> 'input', details -> 'output') AS payload
FROM sf_history WHERE execution_id = 'packed:x' ORDER BY id;

-- The key leads to the rows, also through the view.
CREATE FUNCTION pg_temp.plan(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || statement;
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT pg_temp.plan('SELECT e.type FROM _sfflow.history_event e WHERE e.execution_no = 7');
RESET enable_seqscan;
RESET enable_bitmapscan;

-- A restart runs another version; what the first one did keeps its names.
SELECT sf_create_state_machine('packed', '{"StartAt": "N", "States": {
	"N": {"Type": "Choice", "Choices": [{"Variable": "$.b", "NumericEquals": 1, "Next": "Z"}], "Default": "F"},
	"F": {"Type": "Fail", "Error": "No"}, "Z": {"Type": "Pass", "End": true}}}', or_replace => true);
SELECT sf_start('packed', '{"b": 2}', 'x', if_exists => 'restart');
SELECT sf_run('packed:x');
SELECT e.version, string_agg(h.state, ' ' ORDER BY h.id) AS states
FROM sf_history h JOIN _sfflow.history_event e USING (id) WHERE h.execution_id = 'packed:x' GROUP BY 1 ORDER BY 1;
-- nor is the input of a state of the first version that of a state with its number
SELECT sf_redrive('packed:x', from_state => 'Z');
SELECT sf_redrive('packed:x', from_state => 'F');
SELECT sf_run('packed:x');
SELECT id, details FROM sf_history WHERE execution_id = 'packed:x' AND type = 'FailStateEntered' ORDER BY id;
SELECT * FROM sf_check();
SELECT sf_drop_state_machine('packed', force => true);

-- Many events, and large documents, are several rows.
SELECT sf_create_state_machine('packed', '{"StartAt": "M",
	"States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {
	"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}}}}');
SELECT sf_start('packed', (SELECT jsonb_agg(n) FROM generate_series(1, 400) n), 'many');
SELECT sf_start('packed', (SELECT jsonb_agg(repeat(n::text, 20000)) FROM generate_series(1, 9) n), 'large');
SELECT sf_run('packed:many');
SELECT sf_run('packed:large');
SELECT e.execution_id, count(*) > 1 AS several, bool_and(h.n <= 1000) AS short,
	sum(h.n) = max(e.last_event_id) AS complete
FROM _sfflow.execution e CROSS JOIN LATERAL (
	SELECT (SELECT count(*) FROM _sfflow.history_events(h.execution_no, h.first_id, h.at, h.body, NULL, NULL)) AS n
	FROM _sfflow.history h WHERE h.execution_no = e.execution_no) h
GROUP BY 1 ORDER BY 1;
-- without its last document no row has 64 kB
SELECT count(*) > 3 AS several, bool_and(s.bytes < 65536) AS bounded
FROM _sfflow.history h JOIN _sfflow.execution e USING (execution_no)
CROSS JOIN LATERAL (SELECT coalesce(sum(pg_column_size(d)), 0) AS bytes FROM unnest(trim_array(h.documents, 1)) d) s
WHERE e.execution_id = 'packed:large' AND h.documents IS NOT NULL;
SELECT count(DISTINCT details -> 'input') FROM sf_history WHERE execution_id = 'packed:large'
	AND type = 'PassStateEntered';
SELECT job_id FROM sf_jobs WHERE execution_id = 'packed:many';
SELECT * FROM sf_check();

-- What cannot be read is refused by all that reads it.
SELECT sf_start('packed', '[1, 2]', 'bad');
SELECT count(*) FROM sf_step('packed:bad');
SELECT sf_run('packed:bad');
UPDATE _sfflow.history h SET body = '\x0201010000' FROM _sfflow.execution e
WHERE e.execution_no = h.execution_no AND e.execution_id = 'packed:bad';
DO $$
DECLARE
	query text;
BEGIN
	FOREACH query IN ARRAY '{
		SELECT count(*) FROM sf_history WHERE execution_id = ''packed:bad'',
		SELECT count(*) FROM sf_jobs WHERE execution_id = ''packed:bad'',
		SELECT sf_graph(''packed:bad''),
		SELECT state_transitions FROM sf_metrics,
		SELECT count(*) FROM _sfflow.history_event}'::text[]
	LOOP
		BEGIN
			EXECUTE query;
			RAISE NOTICE 'read: %', query;
		EXCEPTION WHEN data_corrupted THEN
			RAISE NOTICE 'refused: %, %', query, regexp_replace(sqlerrm, '\d+', 'N');
		END;
	END LOOP;
END $$;
SELECT problem, execution_id, detail FROM sf_check();
-- but it can be stopped
SELECT sf_create_state_machine('packed_wait',
	'{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1000, "End": true}}}');
SELECT sf_start('packed_wait', name => 'x');
SELECT sf_run('packed_wait:x');
UPDATE _sfflow.history h SET body = '\x01' FROM _sfflow.execution e
WHERE e.execution_no = h.execution_no AND e.execution_id = 'packed_wait:x';
SELECT sf_stop('packed_wait:x');
SELECT status FROM sf_executions WHERE execution_id = 'packed_wait:x';
SELECT sf_drop_state_machine('packed_wait', force => true);
SELECT sf_drop_state_machine('packed', force => true);
SELECT count(*) FROM _sfflow.history;

-- The example of src/store/README.md.
SELECT id, previous_id, version, type, state, payload_from, at AT TIME ZONE 'UTC' AS at, iterations, payload, extra
FROM _sfflow.history_events(1, 5, '2025-02-05 00:00Z', '\x010104 131d0402 19427e 1d280100 06340203010e',
	ARRAY['["in"]', '{"length": 8}']::jsonb[], NULL);
SELECT id, type FROM _sfflow.history_events(1, 5, '2025-02-05 00:00Z', '\x010104 131d0402 19427e 1d280100 06340203010e', NULL,
	'{25, 6, 300, NULL}');

-- PUBLIC may call the functions, with any arguments.
SELECT _sfflow.history_events(1, 1, now(), NULL, NULL, NULL);
SELECT _sfflow.history_events(NULL, 1, now(), '\x0101010000', NULL, NULL);
SELECT _sfflow.history_events(1, 0, now(), '\x0101010000', NULL, NULL);
SELECT _sfflow.history_event_payload(1, 1, '\x0101010018', ARRAY[NULL]::jsonb[], 1);
SELECT _sfflow.history_event_payload(1, 1, '\x0101010018', '{{1},{2}}', 1);
SELECT _sfflow.history_event_payload(1, 1, '\x0101010018', '{1}', 2);
SELECT _sfflow.history_events(1, 1, now(), '', NULL, NULL);
SELECT sf_enable();
