-- if_exists => 'replace': an execution that has not begun gets another input, other labels, another time and version.
-- needs: hold limit label event rule
BEGIN;
SELECT plan(36);

CREATE FUNCTION pg_temp.start(name text, input jsonb, options jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT sf_start('replaced', input, options => '{"if_exists": "replace"}' || options || jsonb_build_object('name',
			name)) $$;
CREATE FUNCTION pg_temp.shown(name text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' / ', status, started_at IS NOT NULL, input, labels, regexp_replace(waiting_on, '\d{4}-\S+', 'T'))
	FROM sf_executions WHERE execution_id = 'replaced:' || $1 $$;
CREATE FUNCTION pg_temp.outcomes(name text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(outcome || ' ' || input_differs, ', ' ORDER BY requested_at) FROM sf_start_requests
	WHERE execution_id = 'replaced:' || $1 $$;
SELECT sf_create_state_machine('replaced', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "W"},
	"W": {"Type": "Wait", "Seconds": 86400, "End": true}}}',
	options => '{"labels": {"n": "$.n"}}') \g /dev/null

SELECT is(pg_temp.start('a', '{"n": 1}'), 'replaced:a', 'where there is none, it starts');
SELECT is(pg_temp.shown('a'), 'RUNNING / f / {"n": 1} / {"n": "1"} / "A" due', '... as usual');
SELECT is(pg_temp.start('a', '{"n": 2}', '{"labels": {"m": "x"}}'), 'replaced:a', 'it has not begun: the same id');
SELECT is(pg_temp.shown('a'), 'RUNNING / f / {"n": 2} / {"m": "x", "n": "2"} / "A" due',
	'... with the new input and labels');
SELECT is(pg_temp.outcomes('a'), 'replaced true', '... which is recorded');
SELECT is((SELECT string_agg(label || value, ' ' ORDER BY label) FROM sf_labels WHERE execution_id = 'replaced:a'),
	'mx n2', '... and found by its new labels alone');
SELECT is(pg_temp.start('a', '{"n": 3}', '{"delay": 600}'), 'replaced:a', 'a later time');
SELECT is(pg_temp.shown('a'), 'RUNNING / f / {"n": 3} / {"n": "3"} / start at T', '... counts');
SELECT is(sf_run('replaced:a'), 'RUNNING', '... so that it does not begin');
SELECT is(pg_temp.shown('a'), 'RUNNING / f / {"n": 3} / {"n": "3"} / start at T', '... yet');
SELECT is(pg_temp.start('a', '{}'), 'replaced:a', 'no time');
SELECT is(pg_temp.shown('a'), 'RUNNING / f / {} / "A" due', '... is at once, and labels that have no value are gone');
SELECT is((SELECT count(*) FROM sf_labels WHERE execution_id = 'replaced:a'), 0::bigint,
	'... also where they are looked for');

-- Another version, whose first state is another one.
SELECT sf_create_state_machine('replaced', '{"StartAt": "B", "States": {"B": {"Type": "Pass", "Next": "A"},
	"A": {"Type": "Pass", "Next": "W"}, "W": {"Type": "Wait", "Seconds": 86400, "End": true}}}',
	or_replace => true) \g /dev/null
SELECT is(pg_temp.start('a', '{"n": 5}'), 'replaced:a', 'another version');
SELECT is(pg_temp.shown('a'), 'RUNNING / f / {"n": 5} / "B" due', '... counts');
SELECT is(sf_run('replaced:a'), 'RUNNING', 'it begins');
SELECT is((SELECT string_agg(concat_ws(' ', type, state, details -> 'input'), ', ' ORDER BY id) FROM sf_history
		WHERE execution_id = 'replaced:a' AND id <= 2),
	'ExecutionStarted {"n": 5}, PassStateEntered B {"n": 5}', '... in the new version with the newest input');
SELECT is(pg_temp.start('a', '{"n": 6}'), 'replaced:a', 'one that has begun');
SELECT is((SELECT input FROM sf_executions WHERE execution_id = 'replaced:a'), '{"n": 5}', '... keeps its input');
SELECT is(pg_temp.outcomes('a'), 'replaced true, replaced true, replaced true, replaced true, skipped true',
	'... and is skipped');
SELECT sf_stop('replaced:a') \g /dev/null
SELECT is(pg_temp.start('a', '{"n": 7}'), 'replaced:a', 'one that has ended');
SELECT is((SELECT status || ' ' || input FROM sf_executions WHERE execution_id = 'replaced:a'), 'ABORTED {"n": 5}',
	'... stays as it is');

SELECT is((SELECT string_agg(name || ' ' || outcome, ', ') FROM sf_start_many('replaced',
			ARRAY['{"n": 1}', '{"n": 2}']::jsonb[], ARRAY['m', 'm'], if_exists => 'replace')),
	'm started, m replaced', 'sf_start_many');
SELECT is((SELECT input FROM sf_executions WHERE execution_id = 'replaced:m'), '{"n": 2}', '... too');
SELECT throws_ok($$SELECT sf_start('replaced', if_exists => 'replaced')$$, 'SF012',
	'argument if_exists must not be "replaced"', 'a wrong name');

-- One that is held, or waits for a limit.
SELECT sf_hold('replaced'), sf_run('replaced:m') \g /dev/null
SELECT is(pg_temp.shown('m'), 'RUNNING / f / {"n": 2} / "B" held', 'one that is held');
SELECT is(pg_temp.start('m', '{"n": 3}'), 'replaced:m', '... is replaced');
SELECT sf_run('replaced:m') \g /dev/null
SELECT is(pg_temp.shown('m'), 'RUNNING / f / {"n": 3} / "B" held', '... and is held again');
SELECT sf_stop('replaced:m'), sf_release('replaced'), sf_set_limit('replaced', max_running => 1),
	pg_temp.start('l1', '{}'), sf_run('replaced:l1') \g /dev/null
SELECT pg_temp.start('l2', '{"n": 2}'), sf_run('replaced:l2'), pg_temp.start('l3', '{"n": 3}'), sf_run('replaced:l3')
	\g /dev/null
SELECT is(pg_temp.shown('l2'), 'RUNNING / f / {"n": 2} / "B" limit', 'one that waits for a limit');
SELECT is(pg_temp.start('l2', '{"n": 4}'), 'replaced:l2', '... is replaced');
SELECT sf_run('replaced:l2') \g /dev/null
SELECT is((SELECT string_agg(e.name || e.input::text, ' ' ORDER BY w.as_if_since) FROM _sfflow.parked w
		JOIN sf_executions e ON e.execution_id = (SELECT x.execution_id FROM _sfflow.execution x
			WHERE x.execution_no = w.execution_no)
	WHERE e.state_machine = 'replaced'), 'l2{"n": 4} l3{"n": 3}', '... and keeps its place');

-- What a rule starts for an event has received the event of its input.
SELECT sf_create_event('replacing'), sf_create_rule('r', '{"source": ["sfflow.events"], "detail-type": ["replacing"]}',
	'replaced', '{"n.$": "$.detail.payload"}', '$.detail.key', 'replace') \g /dev/null
SELECT is((SELECT if_exists FROM sf_rules WHERE rule_name = 'r'), 'replace', 'rules have it');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT is((SELECT count(*) FROM sf_history WHERE execution_id = 'replaced:l2'), 0::bigint,
	'what has not begun has no history');
SELECT sf_stop('replaced:l1'), sf_run('replaced:l2') \g /dev/null
SELECT is((SELECT concat_ws(' ', started_at IS NOT NULL, input) FROM sf_executions WHERE execution_id = 'replaced:l2'),
	't {"n": 4}', 'it begins in its turn');
SELECT is((SELECT start_requests FROM _sfflow.execution WHERE execution_id = 'replaced:l2'), 2, 'calls are counted');
SELECT * FROM finish();
ROLLBACK;
