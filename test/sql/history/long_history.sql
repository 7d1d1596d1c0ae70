-- Reading a history takes time in proportion to its length: 100,000 events in a thousand rows of
-- _sfflow.history, against 10,000 events in a hundred. It does not matter that this session reads histories
-- when the table is tiny, and that its statistics stay so.
SET client_min_messages = warning;
SELECT sf_disable();
SELECT sf_create_state_machine('long_history', '{"StartAt": "Add", "States": {
	"Add": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.n, 1)", "of.$": "$.of"}, "Next": "More"},
	"More": {"Type": "Choice", "Choices": [{"Variable": "$.n", "NumericLessThanPath": "$.of", "Next": "Add"}],
		"Default": "Done"},
	"Done": {"Type": "Succeed"}}}');
SELECT sf_start('long_history', '{"n": 0, "of": 2500}', 'short');
SELECT sf_start('long_history', '{"n": 0, "of": 25000}', 'long');
ANALYZE _sfflow.history;
SELECT count(*) FROM generate_series(1, 10) AS n, LATERAL (SELECT count(n) FROM sf_history
	WHERE execution_id = 'long_history:long') AS h;

-- One transaction, and so one row, per 50 states.
\set ECHO none
\o /dev/null
SELECT format('SELECT sf_run(%L, max_steps => 50)', execution_id)
FROM sf_executions, generate_series(1, ((input->>'of')::integer * 2 + 100) / 50)
	WHERE state_machine = 'long_history' \gexec
\o
\set ECHO all
SELECT e.name, e.status, count(*) AS rows
FROM _sfflow.history AS h JOIN _sfflow.execution AS x USING (execution_no) JOIN sf_executions AS e USING (execution_id)
WHERE e.state_machine = 'long_history' GROUP BY e.name, e.status ORDER BY e.name;

-- Read one: the least time of three.
CREATE FUNCTION pg_temp.read_time(execution text, OUT events bigint, OUT bytes bigint, OUT seconds double precision)
	LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
BEGIN
	FOR i IN 1 .. 3 LOOP
		began := clock_timestamp();
		SELECT count(*), sum(length(details::text)) INTO events, bytes FROM sf_history WHERE execution_id = execution;
		seconds := least(seconds, extract(epoch FROM clock_timestamp() - began));
	END LOOP;
END $$;
SELECT short.events AS short, long.events AS long, long.bytes > 9 * short.bytes AS larger,
	CASE WHEN long.seconds <= 60 * short.seconds THEN 'linear' ELSE format('%s s for %s s', long.seconds,
		short.seconds) END AS growth
FROM pg_temp.read_time('long_history:short') AS short, pg_temp.read_time('long_history:long') AS long;

-- It ran to its end.
SELECT status, output FROM sf_executions WHERE execution_id = 'long_history:long';
SELECT sf_drop_state_machine('long_history');
SELECT sf_enable();
