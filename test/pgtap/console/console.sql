-- sf_console_api: what each page of the console gets, with the rights of its role, bounded; sf_graph_layout and
-- sf_graph_status.
-- needs: hold deadline limit rule
BEGIN;
SELECT plan(150);

SELECT current_schema AS schema \gset
CREATE ROLE console_reader;
CREATE ROLE console_operator;
CREATE ROLE console_nobody;
CREATE TABLE broken (job text);
CREATE FUNCTION console_task(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM broken WHERE job = payload ->> 'job') THEN
		RAISE EXCEPTION 'broken' USING DETAIL = 'a detail';
	END IF;
	RETURN jsonb_build_object('by', payload ->> 'job');
END $$;
CREATE FUNCTION pg_temp.task(job text, further text) RETURNS text LANGUAGE sql AS $$
	SELECT format('"%s": {"Type": "Task", "Resource": "sql:%s.console_task", "Parameters": {"job": "%s"}, '
		'"ResultPath": "$.%s", %s}', job, current_schema, job, job, further) $$;
CREATE FUNCTION pg_temp.api(action text, request jsonb DEFAULT '{}') RETURNS jsonb
	LANGUAGE sql AS 'SELECT sf_console_api(action, request)';
CREATE FUNCTION pg_temp.list(rows jsonb, member text) RETURNS text LANGUAGE sql AS
	'SELECT string_agg(e ->> member, '' '' ORDER BY n) FROM jsonb_array_elements(rows) WITH ORDINALITY AS x(e, n)';

-- A night: A, then B beside C and D, then E; and a Map over three items.
SELECT sf_create_state_machine('night', format('{"StartAt": "A", "States": {%s, "Both": {"Type": "Parallel",
		"FailureMode": "DRAIN", "ResultPath": null, "Next": "E", "Branches": [
	{"StartAt": "B", "States": {%s}}, {"StartAt": "C", "States": {%s, %s}}]}, %s}}',
	pg_temp.task('A', '"Next": "Both"'), pg_temp.task('B', '"End": true'),
	pg_temp.task('C', '"Next": "D"'), pg_temp.task('D', '"End": true'), pg_temp.task('E', '"End": true'))::json)
	\g /dev/null
SELECT sf_create_state_machine('items', format('{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
		"ItemsPath": "$.items", "ItemProcessor": {"StartAt": "T", "States": {%s}}}}}',
	pg_temp.task('T', '"End": true, "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1}]'))::json) \g /dev/null
INSERT INTO broken VALUES ('D');
SELECT sf_start('night', '{"day": 1, "big": 12345678901234567890.10}', '1'), sf_run('night:1') \g /dev/null
SELECT sf_start('items', '{"items": [{}, {}, {}]}', '1'), sf_run('items:1') \g /dev/null

-- Tonight.
SELECT is(pg_temp.api('tonight') -> 'failed' -> 0 -> 'executions', '["night:1"]', 'tonight tells what failed');
SELECT is(pg_temp.api('tonight') -> 'failed' -> 0 -> 'jobs', '["D"]', '... in which job');
SELECT is((pg_temp.api('tonight') -> 'failed' -> 0 -> 'cause' ->> 'text')::jsonb ->> 'detail', 'a detail',
	'... and why');
SELECT is((SELECT concat_ws('|', a ->> 'error', (a #>> '{cause,text}')::jsonb ->> 'detail')
	FROM (SELECT pg_temp.api('alerts') #> '{rows,0}' AS a) x), 'raise_exception|a detail',
	'the alert of a failure has its error and the cause');
SELECT is(pg_temp.list(pg_temp.api('tonight') -> 'ended', 'execution_id'), 'items:1', 'what has succeeded');
SELECT is(pg_temp.api('tonight') -> 'kinds', '{"failed": 1}', 'how many alerts of each kind');
SELECT is(pg_temp.list(pg_temp.api('tonight') -> 'machines', 'state_machine'), 'night items',
	'the machines, those with failures first');
SELECT is((SELECT sum((h ->> 'started')::integer) FROM jsonb_array_elements(pg_temp.api('tonight') -> 'hours') AS h),
	2::bigint, 'what was started, by hour');

SELECT is((SELECT string_agg(concat_ws('|', r ->> 'name', r ->> 'state', r ->> 'n'), ', ' ORDER BY r ->> 'name')
		FROM jsonb_array_elements(pg_temp.api('night') -> 'rows') AS r),
	'items|SUCCEEDED|1, night|FAILED|1', 'the night, by machine and state');
SELECT is(pg_temp.api('night', '{"since": "2020-01-01", "until": "2020-01-02"}') -> 'rows', '[]', 'another night');

-- Executions, by pages.
SELECT sf_start('items', '{"items": []}', n::text), sf_run('items:' || n) FROM generate_series(2, 5) AS n \g /dev/null
UPDATE _sfflow.execution SET requested_at = now() + execution_no * interval '1 ms' WHERE execution_id LIKE 'items:%';
SELECT pg_temp.api('executions', '{"state_machine": "items", "limit": 3}') AS page \gset
SELECT is(pg_temp.list(:'page'::jsonb -> 'rows', 'name'), '5 4 3', 'a page of executions');
SELECT pg_temp.api('executions', jsonb_build_object('state_machine', 'items', 'limit', 3, 'key',
		:'page'::jsonb -> 'next')) AS page \gset
SELECT is(pg_temp.list(:'page'::jsonb -> 'rows', 'name'), '2 1', 'the next page');
SELECT is(:'page'::jsonb ->> 'next', NULL, '... is the last one');
SELECT is(pg_temp.list(pg_temp.api('executions', '{"status": "FAILED"}') -> 'rows', 'execution_id'), 'night:1',
	'by status');
SELECT is(pg_temp.list(pg_temp.api('executions', '{"error": "raise_exception"}') -> 'rows', 'execution_id'), 'night:1',
	'by error');
SELECT is(pg_temp.list(pg_temp.api('executions', '{"name": "1", "state_machine": "night"}') -> 'rows', 'execution_id'),
	'night:1', 'by name');
SELECT is(jsonb_array_length(pg_temp.api('executions', '{"after": "2100-01-01"}') -> 'rows'), 0, 'by time');
SELECT is(jsonb_array_length(pg_temp.api('executions', '{"limit": -1}') -> 'rows'), 1, 'a page has one row at least');
SELECT lives_ok($$ SELECT sf_console_api('executions', '{"limit": 100000}') $$, '... and a limit');

-- One execution.
SELECT pg_temp.api('execution', '{"execution_id": "night:1"}') AS one \gset
SELECT is(:'one'::jsonb -> 'execution' ->> 'status', 'FAILED', 'an execution: its status');
SELECT is(:'one'::jsonb -> 'execution' -> 'input' ->> 'text', '{"big": 12345678901234567890.10, "day": 1}',
	'its input is text, so that no digit is lost');
SELECT is(pg_temp.list(:'one'::jsonb -> 'states', 'status'), 'success failure success success failure skip',
	'the status of each state');
SELECT is(:'one'::jsonb -> 'states', sf_graph_status('night:1'), '... as sf_graph_status tells');
SELECT is(:'one'::jsonb -> 'progress' ->> 'total', '4', 'how far it came');
SELECT is(:'one'::jsonb -> 'jobs', '{"skip": 1, "failure": 1, "success": 3}', 'how many jobs');
SELECT is(pg_temp.list(:'one'::jsonb -> 'done', 'action'), 'start', 'what was done to it');
SELECT is(pg_temp.list(pg_temp.api('jobs', '{"execution_id": "night:1"}') -> 'rows', 'job_status'),
	'success success success failure skip', 'its jobs');
SELECT is(pg_temp.list(pg_temp.api('jobs', '{"execution_id": "night:1", "after": 3, "limit": 1}') -> 'rows', 'job_id'),
	'D', 'a page of them');
SELECT is(pg_temp.list(pg_temp.api('jobs', '{"execution_id": "night:1", "status": "skip"}') -> 'rows', 'job_id'), 'E',
	'... of a status');
SELECT is(pg_temp.list(pg_temp.api('events', '{"execution_id": "night:1", "after": 2, "limit": 3}') -> 'rows', 'id'),
	'3 4 5', 'a page of events');
SELECT is(pg_temp.api('events', '{"execution_id": "night:1", "after": 2, "limit": 3}') ->> 'next', '5',
	'... and where it goes on');

-- The timeline: by place, visit and attempt.
CREATE FUNCTION pg_temp.spans(eid text, inside boolean) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws('|', s ->> 'job_id', s ->> 'branch', s ->> 'visit', s ->> 'attempt', s ->> 'status'),
		', ' ORDER BY (s ->> 'first_event')::integer)
	FROM jsonb_array_elements(pg_temp.api('timeline', jsonb_build_object('execution_id', eid, 'inside', inside)) ->
		'rows') AS s $$;
SELECT is(pg_temp.spans('night:1', false),
	'A||1|1|success, Both||1|1|failure, B|Both[0]|1|1|success, C|Both[1]|1|1|success, D|Both[1]|1|1|failure',
	'the timeline');
SELECT is(pg_temp.spans('items:1', false), 'M||1|1|success', 'iterations are left out');
SELECT is(pg_temp.spans('items:1', true),
	'M||1|1|success, T[0]|M[0]|1|1|success, T[1]|M[1]|1|1|success, T[2]|M[2]|1|1|success', '... or told');
SELECT is(pg_temp.api('timeline', '{"execution_id": "night:1"}') -> 'usual' -> 'A' ->> 'runs', '1',
	'how long a state usually takes');

-- A state.
SELECT pg_temp.api('state', '{"execution_id": "night:1", "state": "D"}') AS state \gset
SELECT is((:'state'::jsonb -> 'input' ->> 'text')::jsonb -> 'C', '{"by": "C"}', 'the input of a state');
SELECT is(:'state'::jsonb -> 'output', 'null', '... no output, since it failed');
SELECT is(:'state'::jsonb -> 'job' ->> 'error', 'raise_exception', '... its error');
SELECT is(pg_temp.list(:'state'::jsonb -> 'events', 'type'), 'TaskStateEntered TaskScheduled TaskStarted TaskFailed',
	'... its events, without those of its siblings');
SELECT is((pg_temp.api('state', '{"execution_id": "night:1", "state": "C"}') -> 'output' ->> 'text')::jsonb -> 'C',
	'{"by": "C"}', 'the output of another one');
SELECT is((SELECT string_agg(v ->> 'job_id', ' ')
		FROM jsonb_array_elements(pg_temp.api('state', '{"execution_id": "items:1", "state": "T"}') -> 'visits') AS v),
	'T[0] T[1] T[2]', 'the visits of a state inside a Map');
SELECT is(pg_temp.api('state', jsonb_build_object('execution_id', 'items:1', 'state', 'T', 'event',
	(SELECT v -> 'first_event' FROM jsonb_array_elements(pg_temp.api('state', '{"execution_id": "items:1",
				"state": "T"}') -> 'visits') AS v WHERE v ->> 'job_id' = 'T[1]'))) -> 'chosen' ->> 'job_id', 'T[1]',
	'... of which one is chosen');

-- Payloads are cut, and fetched piece by piece.
SELECT sf_start('items', jsonb_build_object('items', '[]'::jsonb, 'long', repeat(U&'\20AC', 500000)), 'long'),
	sf_run('items:long') \g /dev/null
SELECT is(length(pg_temp.api('execution', '{"execution_id": "items:long"}') -> 'execution' -> 'input' ->> 'text'),
	20000, 'a payload is cut');
SELECT is(pg_temp.api('execution', '{"execution_id": "items:long"}') -> 'execution' -> 'input' ->> 'cut', 'true',
	'... and says so');
SELECT ok(octet_length(pg_temp.api('execution', '{"execution_id": "items:long"}')::text) < 200000,
	'... so that the answer is bounded');
SELECT ok(octet_length(pg_temp.api('events', '{"execution_id": "items:long"}')::text) < 10000,
	'... that with events, too');
SELECT is((SELECT string_agg(pg_temp.api('payload', jsonb_build_object('execution_id', 'items:long', 'what', 'input',
			'offset', o, 'limit', 200000)) ->> 'text', '' ORDER BY o)
	FROM generate_series(0, 600000, 200000) AS o)::jsonb, (SELECT input FROM sf_executions
	WHERE execution_id = 'items:long'), 'all of its pieces are the payload');
SELECT is((SELECT string_agg(pg_temp.api('payload', jsonb_build_object('execution_id', 'items:long', 'what', 'event',
			'event', 2, 'member', 'input', 'offset', o)) ->> 'text', '' ORDER BY o)
	FROM generate_series(0, 600000, 200000) AS o)::jsonb, (SELECT input FROM sf_executions
	WHERE execution_id = 'items:long'), '... those of an event, too');
SELECT is(pg_temp.api('payload', '{"execution_id": "night:1", "what": "output"}'), 'null', 'there is none');

-- Machines.
SELECT is(pg_temp.list(pg_temp.api('machines') -> 'rows', 'state_machine'), 'items night', 'the machines');
SELECT is(pg_temp.list(pg_temp.api('machines', '{"after": "items"}') -> 'rows', 'state_machine'), 'night',
	'a page of them');
SELECT is(pg_temp.api('machine', '{"state_machine": "night"}') -> 'machine' ->> 'version', '1', 'one of them');
SELECT is(pg_temp.api('machine', '{"state_machine": "none"}'), 'null', 'none');
SELECT is(pg_temp.list(pg_temp.api('layout', '{"target": "night:1"}') -> 'states', 'name'), 'A Both B C D E',
	'the layout of an execution');
SELECT is(pg_temp.api('layout', '{"target": "night"}'), sf_graph_layout('night/1'), '... is that of its version');
SELECT is((SELECT count(*) FROM jsonb_array_elements(sf_graph_layout('night') -> 'states') AS s
	WHERE s ->> 'parent' = '1' AND (s ->> 'x')::integer > (sf_graph_layout('night') #>> '{states,1,x}')::integer
		AND (s ->> 'y')::integer + (s ->> 'h')::integer < (sf_graph_layout('night') #>> '{states,1,y}')::integer +
		(sf_graph_layout('night') #>> '{states,1,h}')::integer),
	3::bigint, 'the states of the branches are inside of their Parallel');
SELECT is((SELECT string_agg(concat(e ->> 'from', '>', e ->> 'to'), ' ' ORDER BY e ->> 'from' NULLS FIRST)
		FROM jsonb_array_elements(sf_graph_layout('night') -> 'edges') AS e),
	'>0 0>1 1>5 3>4 5>', 'the lines between them');
SELECT ok((SELECT position(format('d="%s"', e ->> 'line') IN sf_graph('night', 'svg')) > 0
		FROM jsonb_array_elements(sf_graph_layout('night') -> 'edges') AS e LIMIT 1), '... are those of the picture');
SELECT is(pg_temp.list(pg_temp.api('validate', '{"definition": "{}"}') -> 'rows', 'severity'), 'ERROR',
	'a definition is validated');
SELECT is((pg_temp.api('test_state', '{"definition": "{\"Type\": \"Pass\", \"End\": true}",
			"input": "{\"a\": 1}"}') -> 'result' ->> 'text')::jsonb -> 'output', '{"a": 1}', 'a state is tried');

-- What writes.
SELECT pg_temp.api('plan', '{"execution_id": "night:1"}') AS plan \gset
SELECT is(:'plan'::jsonb, '{"runs": ["D", "E"], "more": [], "runs_count": 2, "at_most": false, "kept_count": 3,
	"fails_again": false, "goes_on_with": "\"D\" due"}', 'what a redrive would run');
SELECT sf_create_state_machine('vain', format('{"StartAt": "A", "States": {"A": {"Type": "Task",
		"Resource": "sql:%s.console_task", "Parameters": {"job": "D"}, "Catch": [{"ErrorEquals": ["States.ALL"],
		"Next": "No"}], "End": true}, "No": {"Type": "Fail"}}}', current_schema)::json),
	sf_start('vain', '{}', '1'), sf_run('vain:1') \g /dev/null
SELECT is(pg_temp.api('plan', '{"execution_id": "vain:1"}') - '{kept_count,more,at_most}'::text[],
	'{"runs": [], "runs_count": 0, "fails_again": true, "goes_on_with": "\"No\" due"}',
	'... and that it would be in vain');
SELECT is(pg_temp.api('plan', '{"execution_id": "vain:1", "from_state": "A"}') -> 'fails_again', 'false',
	'... but from an earlier state');
SELECT sf_drop_state_machine('vain', true) \g /dev/null
SELECT is(pg_temp.api('plan', '{"execution_id": "night:1", "from_state": "Both"}') -> 'runs', '["B", "C", "D", "E"]',
	'... from a state');
SELECT is((SELECT status || redrive_count FROM sf_executions WHERE execution_id = 'night:1'), 'FAILED0',
	'... which did not happen');
SELECT is_empty('SELECT * FROM sf_check()', '... and left nothing');
DELETE FROM broken;
SELECT is(pg_temp.api('redrive', '{"targets": ["night:1"]}') -> 'rows', '[{"target": "night:1", "result": "1"}]',
	'a redrive');
SELECT is(sf_run('night:1'), 'SUCCEEDED', '... that runs');
SELECT is(pg_temp.spans('night:1', false),
	'A||1|1|success, Both||1|1|failure, B|Both[0]|1|1|success, C|Both[1]|1|1|success, D|Both[1]|1|1|failure, '
	'Both||1|2|success, D|Both[1]|2|1|success, E||1|1|success',
	'the timeline has what ran again');
SELECT is(pg_temp.list(pg_temp.api('hold', '{"targets": ["night", "none"], "reason": "the bank"}') -> 'rows',
		'sqlstate'), 'SF003', 'of several targets one may fail');
SELECT is(pg_temp.list(pg_temp.api('operations') -> 'held', 'reason'), 'the bank', '... and the others are done');
SELECT sf_set_limit('night', max_running => 3), sf_set_deadline('night', end_by => '06:00') \g /dev/null
SELECT is(concat(pg_temp.api('operations') -> 'limits' -> 0 ->> 'max_running', ' ',
		pg_temp.api('operations') -> 'deadlines' -> 0 ->> 'end_by'), '3 06:00:00', 'limits and deadlines');
SELECT is(concat(pg_temp.api('machine', '{"state_machine": "night"}') -> 'limits' -> 0 ->> 'target', ' ',
		pg_temp.api('machine', '{"state_machine": "night"}') -> 'deadlines' -> 0 ->> 'target'), 'night night',
	'... on the page of their machine');
SELECT is(concat(pg_temp.api('machine', '{"state_machine": "items"}') -> 'limits',
		pg_temp.api('machine', '{"state_machine": "items"}') -> 'deadlines'), '[][]',
	'... and not on that of another one');
SELECT is(concat(pg_temp.api('tonight') -> 'limits', pg_temp.list(pg_temp.api('tonight') -> 'deadlines', 'target')),
	'[]night', '... and tonight, but for a limit that nothing waits for');
SELECT is(pg_temp.api('release', '{"targets": ["night"]}') -> 'rows' -> 0 ->> 'result', '0', 'a release');
SELECT is(pg_temp.api('start', '{"state_machine": "night", "name": "2", "input": "{\"day\": 2}"}') ->> 'execution_id',
	'night:2', 'a start');
SELECT is(pg_temp.api('stop', '{"targets": ["night:2"], "reason": "enough"}') -> 'rows' -> 0 ->> 'result', 'ABORTED',
	'a stop');
SELECT is(pg_temp.api('mark', '{"targets": ["night:2"], "job_id": "A", "outcome": "skip"}') -> 'rows' -> 0 ->> 'target',
	'night:2', 'a mark');
SELECT is((SELECT array_agg(a ORDER BY a) FROM unnest(sf_console_actions()) AS a),
	ARRAY['acknowledge', 'acknowledge_all', 'act_on_matches', 'assign_task', 'claim_task', 'complete_task',
		'create_rule', 'discard', 'drop_alias', 'drop_calendar', 'drop_limit', 'drop_rule', 'fail_task', 'hold', 'mark',
		'plan',
		'plan_alias', 'plan_calendar', 'plan_limit', 'plan_schedule', 'redeliver', 'redrive', 'release', 'release_task',
		'set_alias', 'set_calendar', 'set_labels', 'set_limit', 'set_schedule', 'start', 'stop', 'test_state',
		'unschedule'], 'the actions that write');

-- Rules.
SELECT throws_ok($$ SELECT sf_console_api('create_rule', '{"name": "r", "pattern": "{\"nothing\": 1}",
		"target": "items"}') $$, 'SF050', NULL, 'a pattern that is none');
SELECT lives_ok($$ SELECT sf_console_api('create_rule', '{"name": "r", "pattern": "{\"source\": [\"aws.states\"]}",
		"target": "items", "input": ""}') $$, 'a rule is made');
SELECT throws_ok($$ SELECT sf_console_api('create_rule', '{"name": "r",
		"pattern": "{\"source\": [\"sfflow.deadlines\"]}", "target": "items"}') $$, 'SF012',
	'there is a rule "r" already', '... once');
SELECT is(pg_temp.api('rules') -> 'rows' -> 0 ->> 'target', 'items', '... and listed');
SELECT is(pg_temp.api('rules') -> 'rows' -> 0 -> 'pattern' ->> 'text', '{"source": ["aws.states"]}',
	'... with its pattern');
SELECT is(pg_temp.api('rules') -> 'may_create', 'true', '... by a role that may');
INSERT INTO _sfflow.rule_delivery (rule_no, event_id, owner, attempt, depth, due_at, created_at, failed_at, error,
	event, status)
SELECT rule_no, e, owner, 12, 1, d, now(), now(), 'broken', '{"id": 1}', s FROM _sfflow.rule,
(VALUES ('dead', NULL, 4), ('later', now() + interval '1 h', 3)) AS x(e, d, s);
SELECT is(pg_temp.list(pg_temp.api('rules') -> 'deliveries', 'event_id'), 'dead later',
	'deliveries, those that are dead first');
SELECT is(pg_temp.list(pg_temp.api('rules', '{"rule": "other"}') -> 'deliveries', 'event_id'), NULL, '... of a rule');
SELECT is(pg_temp.api('redeliver', '{"targets": ["r"], "event_id": "dead"}') -> 'rows' -> 0 ->> 'result', '1',
	'one is tried again');
SELECT is(pg_temp.list(pg_temp.api('rules') -> 'deliveries', 'status'), 'PENDING PENDING', '... and waits');
INSERT INTO _sfflow.rule_delivery (rule_no, event_id, owner, attempt, depth, due_at, created_at, event)
SELECT rule_no, 'more' || n, owner, 0, 1, now() + interval '1 h', now(), '{"id": 1}' FROM _sfflow.rule,
	generate_series(1, 98) AS n;
SELECT is(concat(jsonb_array_length(a -> 'deliveries'), a -> 'cut'), '100[]', 'a list that is whole')
	FROM (SELECT pg_temp.api('rules') AS a) x;
INSERT INTO _sfflow.rule_delivery (rule_no, event_id, owner, attempt, depth, due_at, created_at, event)
SELECT rule_no, 'most', owner, 0, 1, now() + interval '1 h', now(), '{"id": 1}' FROM _sfflow.rule;
SELECT is(concat(jsonb_array_length(a -> 'deliveries'), a -> 'cut'), '100["deliveries"]', '... and one that is cut')
	FROM (SELECT pg_temp.api('rules') AS a) x;
DELETE FROM _sfflow.rule_delivery WHERE event_id LIKE 'mo%';
SELECT is(_sfflow.console_bounded('{"a": [1, 2, 3], "b": [1], "cut": ["x"]}', '{"a": 2, "b": 1, "none": 5}'),
	'{"a": [1, 2], "b": [1], "cut": ["a", "x"]}', 'the names of lists that are cut come together');
SELECT is(_sfflow.console_bounded('{"a": []}', '{"a": 0}'), '{"a": [], "cut": []}', '... or there are none');
SELECT is((SELECT string_agg(name, ' ' ORDER BY name)
	FROM unnest('{tonight,night,alerts,activities,schedules,operations,rules}'::text[]) AS name
	WHERE pg_temp.api(name) -> 'cut' IS DISTINCT FROM '[]'), NULL, 'pages whose lists are whole say so');
UPDATE _sfflow.rule_delivery SET due_at = NULL, status = 4;
SELECT is(pg_temp.api('discard', '{"targets": ["r"]}') -> 'rows' -> 0 ->> 'result', '2',
	'those that are dead are deleted');
SELECT is(pg_temp.api('test_pattern', '{"pattern": "{\"a\": [1]}", "event": "{\"a\": 1}"}'), '{"matches": true}',
	'a pattern is tried');
SET LOCAL ROLE console_nobody;
SELECT is(sf_console_api('rules', '{}') - 'may_create', '{"cut": [], "rows": [], "deliveries": []}',
	'another role sees no rule');
SELECT throws_ok('SELECT sf_console_api(''drop_rule'', ''{"targets": ["r"]}'')', NULL, 'rule "r" does not exist',
	'... and drops none');
RESET ROLE;
SELECT is(pg_temp.api('drop_rule', '{"targets": ["r"]}') -> 'rows' -> 0 ->> 'target', 'r', 'a rule is removed');

-- Rights: without READ there is nothing, with READ one sees, with OPERATE one acts.
SELECT sf_grant('READ', 'night', 'console_reader'), sf_grant('READ', 'night', 'console_operator'),
	sf_grant('OPERATE', 'night', 'console_operator') \g /dev/null
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pg_temp TO PUBLIC;
SET LOCAL ROLE console_nobody;
SELECT is((SELECT jsonb_object_agg(k, v) FROM jsonb_each(sf_console_api('tonight', '{}')) AS t(k, v)
		WHERE jsonb_typeof(v) = 'array' AND k <> 'unwell' AND v <> '[]'), NULL,
	'a role without a right sees nothing tonight');
SELECT is(sf_console_api('executions', '{}'), '{"rows": [], "next": null, "rights": {}}', '... no execution');
SELECT is(sf_console_api('machines', '{}'), '{"rows": [], "next": null, "rights": {}}', '... no machine');
SELECT is(sf_console_api('alerts', '{}'), '{"cut": [], "rows": [], "rights": {}, "acknowledged": []}', '... no alert');
SELECT is(sf_console_api('activities', '{}'), '{"cut": [], "dead": [], "rows": [], "rights": {}}', '... no activity');
SELECT is(sf_console_api('machine', '{"state_machine": "night"}'), 'null', '... nor the machine that it names');
SELECT is(sf_console_api('payload', '{"execution_id": "night:1", "what": "input"}'), 'null', '... nor a payload');
SELECT throws_ok(format('SELECT sf_console_api(%L, ''{"execution_id": "night:1", "target": "night:1", "state": "A", '
		'"targets": ["night:1"], "what": "event", "event": 2}'')', a),
	'SF005', 'execution "night:1" does not exist', '... ' || a || ': as if there was none')
FROM unnest('{execution,layout,timeline,state,events,payload,plan,redrive,stop,acknowledge}'::text[]) AS a;
SELECT throws_ok('SELECT sf_graph_status(''night:1'')', 'SF005', NULL, '... sf_graph_status');
SET LOCAL ROLE console_reader;
SELECT is(pg_temp.list(sf_console_api('machines', '{}') -> 'rows', 'state_machine'), 'night',
	'with READ one sees a machine');
SELECT is(sf_console_api('execution', '{"execution_id": "night:1"}') -> 'execution' ->> 'status', 'SUCCEEDED',
	'... and its executions');
SELECT throws_ok('SELECT sf_console_api(''stop'', ''{"targets": ["night:1"]}'')', '42501', NULL, '... and acts not');
SELECT is((SELECT jsonb_object_agg(a, sf_console_api(a, q) -> 'rights')
		FROM unnest('{machines,machine,executions,execution}'::text[]) AS a,
	jsonb_build_object('state_machine', 'night', 'execution_id', 'night:1') AS q),
	'{"machine": {"night": []}, "machines": {"night": []}, "execution": {"night": []}, "executions": {"night": []}}',
	'... which pages are told');
SET LOCAL ROLE console_operator;
SELECT is(sf_console_api('hold', '{"targets": ["night"]}') -> 'rows' -> 0 ->> 'result', 'true',
	'with OPERATE one acts');
SELECT is(sf_console_api('execution', '{"execution_id": "night:1"}') -> 'rights', '{"night": ["OPERATE"]}',
	'... which pages are told, too');
SELECT is(sf_console_api('operations', '{}') -> 'held' -> 0 -> 'may_release', 'true',
	'... and that it may release what it held');
SET LOCAL ROLE console_reader;
SELECT is(sf_console_api('operations', '{}') -> 'held' -> 0 -> 'may_release', 'false',
	'... which one with READ may not');
RESET ROLE;
SELECT is(pg_temp.api('machine', '{"state_machine": "night"}') -> 'rights', '{"night": ["OWN", "START", "OPERATE"]}',
	'the owner may do all');
SELECT sf_create_activity('queue'), sf_grant('WORK', 'activity:queue', 'console_operator'), sf_hold('activity:queue'),
	sf_hold('sql:nothing') \g /dev/null
SELECT is((SELECT string_agg(h ->> 'may_release', ' ') FROM jsonb_array_elements(pg_temp.api('operations') -> 'held')
		AS h), 'true true true', '... also with activities and resources');
SET LOCAL ROLE console_operator;
SELECT is((SELECT h -> 'may_release' FROM jsonb_array_elements(sf_console_api('operations', '{}') -> 'held') AS h
		WHERE h ->> 'target' = 'activity:queue'), 'false', 'one that works on an activity may not release it');
RESET ROLE;

-- Limits: whoever may change one is told so, and no one else.
SELECT sf_set_limit('night', max_running => 1), sf_release('night') \g /dev/null
SELECT sf_start('night', '{}', 'first'), sf_step('night:first'), sf_start('night', '{}', 'waits'),
	sf_step('night:waits') \g /dev/null
SELECT is((SELECT concat_ws(' ', w ->> 'target', w ->> 'position', w ->> 'waiting', w ->> 'in_use', w ->> 'max_running',
			w ->> 'in_use_by')
	FROM jsonb_array_elements(pg_temp.api('execution', '{"execution_id": "night:waits"}') -> 'waits') AS w),
	'night 1 1 1 1 ["night:first"]', 'an execution that waits: for which limit, its place, who has the places');
SET LOCAL ROLE console_reader;
SELECT is(sf_console_api('machine', '{"state_machine": "night"}') -> 'limits' -> 0 ->> 'may_change', 'false',
	'one with READ may not change a limit');
SELECT throws_ok($$ SELECT sf_console_api('set_limit', '{"target": "night", "max_running": "5"}') $$, '42501', NULL,
	'... and cannot');
SELECT throws_ok($$ SELECT sf_console_api('drop_limit', '{"targets": ["night"]}') $$, '42501', NULL, '... nor drop it');
SET LOCAL ROLE console_operator;
SELECT is(sf_console_api('machine', '{"state_machine": "night"}') -> 'limits' -> 0 ->> 'may_change', 'true',
	'one with OPERATE may');
SELECT lives_ok($$ SELECT sf_console_api('set_limit', '{"target": "night", "key": "", "max_running": "5", "rate": "",
		"per": "", "on_limit": "queue"}') $$, '... sets it');
SELECT is((SELECT concat_ws(' ', max_running, rate, on_limit) FROM sf_limits WHERE target = 'night'), '5 queue',
	'... as it says');
SELECT is(sf_console_api('drop_limit', '{"targets": ["night"]}') -> 'rows' -> 0 ->> 'result', 'true',
	'... and drops it');
RESET ROLE;

-- Bad input.
SELECT throws_ok('SELECT sf_console_api(''tonight'', ''[]'')', 'SF012', 'the request must be an object',
	'a request that is no object');
SELECT throws_ok('SELECT sf_console_api(''drop'', ''{}'')', 'SF012', 'there is no action "drop" of the console',
	'an action that does not exist');
SELECT throws_ok('SELECT sf_console_api(''executions'', ''{"limit": "x"}'')', '22P02', NULL,
	'a limit that is no number');
SELECT throws_ok('SELECT sf_console_api(''redrive'', ''{"targets": []}'')', 'SF012', NULL, 'no target');

-- What a change would do: it is made and taken back, with the rights of who asks.
SELECT is(pg_temp.api('plan_limit', '{"target": "items", "key": "", "max_running": "7", "rate": "", "per": "",
		"on_limit": "queue"}') #> '{after}',
	'{"max_running": 7, "rate": null, "per": null, "on_limit": "queue", "in_use": 0, "waiting": 0}',
	'what a limit would do');
SELECT is_empty($$ SELECT FROM sf_limits WHERE target = 'items' $$, '... which is not set');
SELECT is(pg_temp.api('plan_alias', '{"state_machine": "night", "alias": "live", "versions": "{\"1\": 100}"}') ->
	'rows', '[{"version": 1, "percent": 100}]', 'what an alias would be');
SELECT is(pg_temp.api('set_alias', '{"state_machine": "night", "alias": "live", "versions": "{\"1\": 100}"}') -> 'rows',
	'[{"version": 1, "percent": 100}]', '... and then is');
SELECT is(pg_temp.api('drop_alias', '{"targets": ["live"], "state_machine": "night"}') #>> '{rows,0,target}', 'live',
	'... until it is dropped');
SELECT is(jsonb_array_length(pg_temp.api('plan_calendar', '{"name": "shop", "rule": "{\"Weekdays\": [\"MON\"]}",
			"days": "", "new": true}') -> 'days'), 62, 'the days of a calendar that there is not yet');
SELECT is_empty($$ SELECT FROM sf_calendars WHERE calendar = 'shop' $$, '... nor afterwards');
SET LOCAL ROLE console_operator;
SELECT throws_ok($$ SELECT sf_console_api('set_alias', '{"state_machine": "night", "alias": "live",
		"versions": "{\"1\": 100}"}') $$, '42501', NULL, 'one that does not own a machine gives it no alias');
SELECT throws_ok($$ SELECT sf_console_api('plan_alias', '{"state_machine": "night", "alias": "live",
		"versions": "{\"1\": 100}"}') $$, '42501', NULL, '... nor tries one');
RESET ROLE;
SELECT * FROM finish();
ROLLBACK;
