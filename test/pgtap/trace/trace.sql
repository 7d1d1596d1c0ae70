-- Traces: where an execution gets its trace from, what passes it on, and the spans of its runs.
BEGIN;
SELECT plan(75);

CREATE SCHEMA shop;
CREATE TABLE shop.seen (n serial, context text, child text);
CREATE FUNCTION shop.charge(amount integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO shop.seen (context) VALUES (current_setting('sfflow.traceparent'));
	IF amount > 5 THEN
		PERFORM sf_raise('TooMuch', 'more than 5');
	END IF;
	RETURN amount;
END $$;
CREATE FUNCTION shop.begin() RETURNS text LANGUAGE sql AS $$
	INSERT INTO shop.seen (context, child)
	VALUES (current_setting('sfflow.traceparent'), sf_start('plain', '{}')) RETURNING child $$;

CREATE FUNCTION pg_temp.machine(name text, definition json, options jsonb DEFAULT '{}') RETURNS integer
	LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, definition, or_replace => true, options => options) $$;
CREATE FUNCTION pg_temp.context(id text) RETURNS text LANGUAGE sql AS
	'SELECT trace FROM _sfflow.execution WHERE execution_id = id';
-- Start an execution with a context, in the name that it has.
CREATE FUNCTION pg_temp.start(machine text, name text, context text DEFAULT NULL, input jsonb DEFAULT '{}') RETURNS text
LANGUAGE sql AS $$ SELECT sf_start(machine, input, options => jsonb_build_object('name', name, 'trace', context)) $$;
-- The spans of all runs that are due, and take none of them.
CREATE TEMP TABLE span (export_no bigint, n bigint, span jsonb);
CREATE FUNCTION pg_temp.take() RETURNS bigint LANGUAGE sql AS $$
	TRUNCATE span;
	INSERT INTO span SELECT t.export_no, s.n, s.span
	FROM sf_take_spans(1000, '0') t, jsonb_array_elements(t.spans) WITH ORDINALITY s(span, n);
	SELECT count(*) FROM span $$;
-- The tree of the spans of an execution's run: names and what is around them.
CREATE FUNCTION pg_temp.tree(execution_id text, run integer DEFAULT 0) RETURNS text LANGUAGE sql AS $$
	WITH RECURSIVE root AS (
		SELECT s.export_no FROM span s, jsonb_array_elements(s.span -> 'attributes') a
		WHERE s.n = 1 AND a #>> '{value,stringValue}' = execution_id AND s.span -> 'attributes' @>
			jsonb_build_array(jsonb_build_object('key', 'sfflow.execution.redrive_count', 'value',
				jsonb_build_object('intValue', run::text)))),
	tree(id, path, depth, name, n) AS (
		SELECT s.span ->> 'spanId', ARRAY[s.n], 0, s.span ->> 'name', s.n FROM span s JOIN root USING (export_no)
		WHERE s.n = 1
		UNION ALL
		SELECT s.span ->> 'spanId', t.path || s.n, t.depth + 1, s.span ->> 'name', s.n
		FROM tree t JOIN span s ON s.span ->> 'parentSpanId' = t.id
		JOIN root USING (export_no))
	SELECT string_agg(repeat('.', depth) || name, ' ' ORDER BY path) FROM tree $$;
-- An attribute of a span.
CREATE FUNCTION pg_temp.attribute(span jsonb, key text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(a #>> '{value,stringValue}', a #>> '{value,intValue}')
	FROM jsonb_array_elements(span -> 'attributes') a WHERE a ->> 'key' = key $$;

SELECT pg_temp.machine('plain', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}') \g /dev/null
\set context 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01

-- Where a trace comes from.
SELECT pg_temp.start('plain', 'none') \g /dev/null
SELECT is(pg_temp.context('plain:none'), NULL, 'an execution has no trace');
SELECT pg_temp.start('plain', 'option', :'context') \g /dev/null
SELECT is(pg_temp.context('plain:option'), :'context', 'the option of a start gives it one');
SELECT pg_temp.start('plain', 'state', :'context' || ' a=1,b=2') \g /dev/null
SELECT is(pg_temp.context('plain:state'), :'context' || ' a=1,b=2', '... with its tracestate');
SELECT pg_temp.start('plain', 'later', '01' || substr(:'context', 3) || '-more') \g /dev/null
SELECT is(pg_temp.context('plain:later'), :'context', '... of a later version what this one knows');
SELECT throws_ok(format($$SELECT pg_temp.start('plain', 'bad', %L)$$, bad), 'SF012',
	'option trace must be a traceparent of W3C Trace Context', 'refused: ' || bad)
FROM unnest(ARRAY['', '00', replace(:'context', 'a', 'A'), replace(:'context', '00-4', 'ff-4'), :'context' || '-01',
	regexp_replace(:'context', '4bf.*36', repeat('0', 32)), regexp_replace(:'context', '00f.*b7', repeat('0', 16)),
	substr(:'context', 1, 54), replace(:'context', '-00f', '_00f')]) AS bad;
SELECT throws_ok($$SELECT sf_start('plain', '{}', options => '{"trace": 1}')$$, 'SF012', NULL, 'refused: a number');
SELECT is(pg_temp.context(sf_start('plain', '{}', options => '{"trace": null}')), NULL, 'null is none');
SELECT sf_start_many('plain', ARRAY['{}', '{}']::jsonb[], ARRAY['many-1', 'many-2'],
	options => jsonb_build_object('trace', :'context')) \g /dev/null
SELECT is(pg_temp.context('plain:many-2'), :'context', 'one for all of sf_start_many()');

SET LOCAL sfflow.traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00 x=y';
SELECT sf_start('plain', '{}', 'setting') \g /dev/null
SELECT is(pg_temp.context('plain:setting'), '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00 x=y',
	'the setting of the session');
SELECT pg_temp.start('plain', 'over', :'context') \g /dev/null
SELECT is(pg_temp.context('plain:over'), :'context', '... if the start has no option');
SET LOCAL sfflow.traceparent = 'rubbish';
SELECT sf_start('plain', '{}', 'rubbish') \g /dev/null
SELECT is(pg_temp.context('plain:rubbish'), NULL, '... and passed over if it is none');
RESET sfflow.traceparent;

SELECT sf_start('plain', '{}', 'comment')
	/*db='x',traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',tracestate='congo%3Dt61%2Crojo%3D0'*/
	\g /dev/null
SELECT is(pg_temp.context('plain:comment'), :'context' || ' congo=t61,rojo=0', 'the comment of sqlcommenter');
SELECT sf_start('plain', '{}', 'within') /*traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'*/ AS a
	\g /dev/null
SELECT is(pg_temp.context('plain:within'), NULL, '... at the end of the query alone');
SELECT sf_start('plain', '{}', 'other') /*xtraceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'*/
	\g /dev/null
SELECT is(pg_temp.context('plain:other'), NULL, '... under its name alone');
SELECT sf_start('plain', '{}', 'wrong') /*traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-01'*/ \g /dev/null
SELECT is(pg_temp.context('plain:wrong'), NULL, '... and passed over if it is no context');

SELECT sf_aws_api('StartExecution', jsonb_build_object('stateMachineArn',
		'arn:aws:states:us-east-1:000000000000:stateMachine:plain',
	'name', 'amazon-' || n, 'traceHeader', h)) FROM (VALUES (1,
	'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1'),
	(2, 'Self=1-a-b;Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0'),
	(3, 'Root=1-5759e988-bd862e3fe1be46a994272793'),
	(4, 'Root=1-5759e988-bd8')) AS v(n, h) \g /dev/null
SELECT is(pg_temp.context('plain:amazon-1'), '00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01',
	'the header of the AWS API');
SELECT is(pg_temp.context('plain:amazon-2'), '00-5759e988bd862e3fe1be46a994272793-0000000000000000-00',
	'... without a parent, not sampled');
SELECT is(pg_temp.context('plain:amazon-3'), '00-5759e988bd862e3fe1be46a994272793-0000000000000000-00',
	'... not decided, and so by the machine, which samples none');
SELECT is(pg_temp.context('plain:amazon-4'), NULL, '... and passed over if it is none');

-- The option of a machine.
SELECT throws_ok(format($$SELECT pg_temp.machine('bad', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}', %L)$$,
	jsonb_build_object('trace', bad)), 'SF012', NULL, 'refused as the option of a machine: ' || bad::text)
FROM jsonb_array_elements('[0.5, {}, {"sample": 1.5}, {"sample": -1}, {"sample": "1"}, {"sample": 1, "more": 1}]')
AS bad;
SELECT pg_temp.machine('all', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}', '{"trace": {"sample": 1}}'),
	pg_temp.machine('half', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}', '{"trace": {"sample": 0.5}}'),
	pg_temp.machine('zero', '{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}', '{"trace": {"sample": 0}}')
	\g /dev/null
SELECT matches(pg_temp.context(sf_start('all', '{}')), '^00-[0-9a-f]{32}-0{16}-01$',
	'a machine begins traces of its own');
SELECT matches(pg_temp.context(sf_start('zero', '{}')), '^00-[0-9a-f]{32}-0{16}-00$', '... which may not be sampled');
SELECT sf_start_many('half', array_fill('{}'::jsonb, ARRAY[400])) \g /dev/null
SELECT ok(count(*) FILTER (WHERE trace LIKE '%-01') BETWEEN 100 AND 300, 'a share of them is sampled')
FROM _sfflow.execution WHERE execution_id LIKE 'half:%';
SELECT is(count(*) FILTER (WHERE (trace LIKE '%-01') <> (substr(trace, 20, 1) < '8')), 0::bigint, '... by the trace id')
FROM _sfflow.execution WHERE execution_id LIKE 'half:%';
SELECT pg_temp.start('zero', 'given', :'context') \g /dev/null
SELECT is(pg_temp.context('zero:given'), :'context', 'a trace that is given decides for itself');

-- The tree of spans.
SELECT pg_temp.machine('child', '{"StartAt": "C", "States": {"C": {"Type": "Task", "Resource": "sql:shop.charge",
	"Parameters": {"amount": 2}, "End": true}}}'),
	pg_temp.machine('tree', '{"StartAt": "Both", "States": {
		"Both": {"Type": "Parallel", "ResultPath": null, "Next": "Each", "Branches": [
			{"StartAt": "Charge", "States": {"Charge": {"Type": "Task", "Resource": "sql:shop.charge",
				"Parameters": {"amount": 1}, "End": true}}},
			{"StartAt": "Other", "States": {"Other": {"Type": "Task",
				"Resource": "arn:aws:states:::states:startExecution.sync",
				"Parameters": {"StateMachineArn": "child", "Name": "of-tree"}, "End": true}}}]},
		"Each": {"Type": "Map", "ItemsPath": "$.amounts", "End": true, "ItemProcessor": {"StartAt": "One", "States": {
			"One": {"Type": "Task", "Resource": "sql:shop.charge", "Parameters": {"amount.$": "$"}, "End": true,
				"Retry": [{"ErrorEquals": ["TooMuch"], "MaxAttempts": 1, "IntervalSeconds": 1}]}}}}}}'),
	pg_temp.machine('begin', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:shop.begin",
		"End": true}}}') \g /dev/null
SELECT pg_temp.start('tree', 'one', :'context' || ' a=1', '{"amounts": [1, 9]}') \g /dev/null
SELECT sf_run('tree:one', skip_waits => true) \g /dev/null
SELECT sf_run('child:of-tree') \g /dev/null
SELECT sf_run('tree:one', skip_waits => true) \g /dev/null
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'tree:one'), 'FAILED', 'an execution fails');
SELECT pg_temp.take() \g /dev/null
SELECT is(pg_temp.tree('tree:one'), 'tree .Both ..Both branch ...Charge ....SELECT shop.charge ..Both branch ...Other'
	' ....arn:aws:states:::states:startExecution.sync .Each ..Each iteration ...One ....SELECT shop.charge'
	' ..Each iteration ...One ....SELECT shop.charge ....SELECT shop.charge',
	'runs, states, branches, iterations and attempts');
SELECT is(pg_temp.tree('child:of-tree'), 'child .C ..SELECT shop.charge', '... and those of a child');
SELECT is(c.span ->> 'parentSpanId', p.span ->> 'spanId', 'the child is below the task that has begun it')
FROM span c, span p WHERE c.n = 1 AND pg_temp.attribute(c.span, 'sfflow.execution.id') = 'child:of-tree'
	AND p.span ->> 'name' = 'arn:aws:states:::states:startExecution.sync';
SELECT is(p.span -> 'links', jsonb_build_array(jsonb_build_object('traceId', c.span ->> 'traceId', 'spanId',
			c.span ->> 'spanId', 'attributes',
	'[{"key": "sfflow.link", "value": {"stringValue": "child_execution"}}]'::jsonb)), '... which links to it')
FROM span c, span p WHERE c.n = 1 AND pg_temp.attribute(c.span, 'sfflow.execution.id') = 'child:of-tree'
	AND p.span ->> 'name' = 'arn:aws:states:::states:startExecution.sync';
SELECT is((SELECT count(*) FROM shop.seen v JOIN span s ON s.span ->> 'spanId' = substr(v.context, 37, 16)
	AND s.span ->> 'name' = 'SELECT shop.charge' AND v.context LIKE '00-' || (s.span ->> 'traceId') || '-%-01 a=1'),
	3::bigint,
	'each task that has not failed knows the span of its attempt');
SELECT is((SELECT jsonb_object_agg(key, value) FROM span, jsonb_each(span) WHERE n = 1 AND span ->> 'name' = 'tree'
		AND key <> ALL ('{spanId,attributes,endTimeUnixNano,startTimeUnixNano}')),
	jsonb_build_object('name', 'tree', 'kind', 2, 'traceId', '4bf92f3577b34da6a3ce929d0e0e4736', 'parentSpanId',
		'00f067aa0ba902b7', 'traceState', 'a=1',
		'flags', 769, 'status', '{"code": 2, "message": "more than 5"}'::jsonb, 'events',
		jsonb_build_array(jsonb_build_object(
			'name', 'exception', 'timeUnixNano', (SELECT span ->> 'endTimeUnixNano' FROM span WHERE n = 1
				AND span ->> 'name' = 'tree'), 'attributes',
			'[{"key": "exception.type", "value": {"stringValue": "TooMuch"}}, {"key": "exception.message",
				"value": {"stringValue": "more than 5"}}]'::jsonb))),
	'the span of a run, as OTLP has it');
SELECT is((SELECT jsonb_object_agg(a ->> 'key', a -> 'value') FROM span, jsonb_array_elements(span -> 'attributes') a
		WHERE n = 1 AND span ->> 'name' = 'tree'),
	'{"sfflow.execution.id": {"stringValue": "tree:one"}, "sfflow.state_machine.name": {"stringValue": "tree"},
		"sfflow.state_machine.version": {"intValue": "1"},
	"sfflow.execution.status": {"stringValue": "FAILED"}, "sfflow.execution.redrive_count": {"intValue": "0"},
		"error.type": {"stringValue": "TooMuch"}}', '... with its attributes');
SELECT is((SELECT jsonb_agg(jsonb_build_array(span -> 'kind', pg_temp.attribute(span, 'sfflow.attempt'),
			pg_temp.attribute(span, 'db.system.name'),
		pg_temp.attribute(span, 'db.stored_procedure.name'), pg_temp.attribute(span, 'error.type'),
		span #> '{status,code}') ORDER BY n DESC)
	FROM (SELECT * FROM span s WHERE s.export_no = (SELECT export_no FROM span WHERE n = 1 AND span ->> 'name' = 'tree')
		ORDER BY n DESC LIMIT 2) s),
	'[[3, "2", "postgresql", "shop.charge", "TooMuch", 2], [3, "1", "postgresql", "shop.charge", "TooMuch", 2]]',
	'attempts by the conventions for databases');
SELECT is((SELECT count(*) FROM span
		WHERE (span ->> 'startTimeUnixNano')::numeric > (span ->> 'endTimeUnixNano')::numeric
	OR span ->> 'spanId' !~ '^[0-9a-f]{16}$' OR span ->> 'traceId' !~ '^[0-9a-f]{32}$'), 0::bigint,
	'all have ids, and end after they begin');
SELECT is((SELECT count(DISTINCT span ->> 'spanId') FROM span), (SELECT count(*) FROM span), 'no two have the same id');
CREATE TEMP TABLE before AS TABLE span;
SELECT pg_temp.take() \g /dev/null
SELECT set_eq('TABLE span', 'TABLE before', 'spans that are taken again are the same');

-- A redrive.
SELECT sf_redrive('tree:one') \g /dev/null
SELECT sf_run('tree:one', skip_waits => true) \g /dev/null
SELECT pg_temp.take() \g /dev/null
SELECT is(pg_temp.tree('tree:one'),
	(SELECT 'tree .Both ..Both branch ...Charge ....SELECT shop.charge ..Both branch ...Other'
	' ....arn:aws:states:::states:startExecution.sync .Each ..Each iteration ...One ....SELECT shop.charge'
	' ..Each iteration ...One ....SELECT shop.charge ....SELECT shop.charge'), 'the first run stays as it was');
SELECT is(pg_temp.tree('tree:one', 1),
	'tree .Each ..Each iteration ...One ....SELECT shop.charge ....SELECT shop.charge', 'a redrive has what ran again');
SELECT is(b.span #>> '{links,0,spanId}', a.span ->> 'spanId', '... and links to the first run')
FROM span a, span b WHERE a.n = 1 AND b.n = 1 AND a.span ->> 'name' = 'tree' AND b.span ->> 'name' = 'tree'
AND a.export_no < b.export_no;
SELECT is((SELECT count(DISTINCT span ->> 'spanId') FROM span), (SELECT count(*) FROM span), '... with ids of its own');
SELECT sf_start('tree', '{"amounts": []}', options => '{"name": "one", "if_exists": "restart"}') \g /dev/null
SELECT is(pg_temp.context('tree:one'), NULL, 'a restart has the trace of its start: none');
SELECT pg_temp.take() \g /dev/null
SELECT is(pg_temp.tree('tree:one', 1),
	'tree .Each ..Each iteration ...One ....SELECT shop.charge ....SELECT shop.charge',
	'... and the runs before stay as they were');

SELECT sf_start('plain', '{}', options => jsonb_build_object('name', 'replaced', 'delay', 3600, 'trace', :'context')),
	sf_start('plain', '{"a": 1}', options => '{"name": "replaced", "if_exists": "replace",
		"trace": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"}') \g /dev/null
SELECT is(pg_temp.context('plain:replaced'), '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00',
	'so has an execution whose input a start replaces');

-- What a task starts.
SELECT pg_temp.start('begin', 'one', :'context') \g /dev/null
SELECT sf_run('begin:one') /*traceparent='00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'*/ \g /dev/null
SELECT is((SELECT pg_temp.context(child) FROM shop.seen WHERE child IS NOT NULL),
	(SELECT context FROM shop.seen WHERE child IS NOT NULL),
	'an execution that a task starts is below its span');

-- Confirm and reject.
SELECT is((SELECT sf_confirm_spans(array_agg(DISTINCT export_no)) FROM before), 2::bigint,
	'what was delivered is forgotten');
SELECT pg_temp.take() \g /dev/null
SELECT is((SELECT count(*) FROM span JOIN before USING (export_no)), 0::bigint, '... and not taken again');
SELECT is((SELECT count(DISTINCT export_no) FROM sf_take_spans(1, '1 hour')), 1::bigint, 'at most so many runs');
SELECT is((SELECT count(*) FROM sf_take_spans(1000, '1 hour') t WHERE t.export_no = (SELECT min(export_no) FROM span)),
	0::bigint, 'a run with a lease is not taken');
SELECT is(sf_reject_spans(ARRAY[(SELECT min(export_no) FROM span), -1], 'too large'), 1::bigint,
	'what the collector refuses is rejected');
SELECT throws_ok('UPDATE _sfflow.trace_export SET ' || wrong, '23514', NULL, wrong || ' does not fit to it')
FROM unnest('{status = 0,status = 1,status = 2,status = 3}'::text[]) wrong;
UPDATE _sfflow.trace_export SET status = 0, lease_until = NULL WHERE status = 1;
SELECT pg_temp.take() \g /dev/null
SELECT is((SELECT count(*) FROM sf_take_spans(1000, '1 hour') t WHERE t.export_no NOT IN (SELECT export_no FROM span)),
	0::bigint, '... and not taken any more');
SELECT matches((SELECT detail FROM sf_health WHERE item = 'traces' AND NOT ok),
	'; 1 were rejected, the last one: too large$', '... which sf_health tells');

-- The view.
CREATE ROLE trace_reader;
SELECT pg_temp.machine('seen', '{"StartAt": "S", "States": {"S": {"Type": "Succeed"}}}'),
	pg_temp.machine('root', '{"StartAt": "S", "States": {"S": {"Type": "Succeed"}}}', '{"trace": {"sample": 1}}')
	\g /dev/null
SELECT pg_temp.start('seen', 'a', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 vendor=1'),
	pg_temp.start('seen', 'b', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00'),
	sf_start('seen', '{}', 'c'), sf_start('root', '{}', 'a'), sf_run('seen:a'), sf_run('seen:b'), sf_run('root:a')
	\g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', execution_id, trace_id, parent_span_id, is_sampled, exports_waiting,
			exports_rejected), ', ' ORDER BY execution_id) FROM sf_traces WHERE state_machine = 'seen'),
	'seen:a 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b7 t 1 0, seen:b 4bf92f3577b34da6a3ce929d0e0e4736 '
	'00f067aa0ba902b7 f 0 0', 'sf_traces has executions that are part of one');
SELECT is((SELECT concat(length(trace_id), ' ', parent_span_id, ' ', is_sampled, ' ', exports_waiting) FROM sf_traces
		WHERE execution_id = 'root:a'), '32  t 1', '... also one that began its trace');
SELECT is(sf_console_api('execution', '{"execution_id": "seen:b"}') -> 'trace',
	'{"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "is_sampled": false, "exports_waiting": 0,
	"exports_rejected": 0}', 'the console shows it');
SELECT is(sf_console_api('execution', '{"execution_id": "seen:c"}') -> 'trace', 'null',
	'... and none where there is none');
SET LOCAL ROLE trace_reader;
SELECT is((SELECT count(*) FROM sf_traces), 0::bigint, 'who may not read the machine sees none');
RESET ROLE;
SELECT is((SELECT count(*) FROM sf_check()), 0::bigint, 'sf_check() has no complaint');
SELECT * FROM finish();
ROLLBACK;
