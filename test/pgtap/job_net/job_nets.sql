-- JobNet: which jobs run, and what comes of a net.  Each net runs twice: in one slice, which has its jobs in memory
-- (sf_run), and with one transition a slice, so that each job has a row (sf_step).
-- needs: hold
BEGIN;
SELECT plan(40);

CREATE TABLE public.ran (n serial, id text, job text);
CREATE FUNCTION public.job(id text, job text, fails text[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.ran (id, job) VALUES (id, job);
	IF job = ANY (fails) THEN
		PERFORM sf_raise('Bad', job);
	END IF;
	RETURN upper(job);
END $$;

-- A machine of one net; a job without a type is a task that fails if it is told to.
CREATE FUNCTION pg_temp.net(name text, jobs jsonb, fields jsonb DEFAULT '{}') RETURNS integer LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, json_build_object('StartAt', 'N', 'States', json_build_object('N',
		'{"Type": "JobNet", "End": true}' || fields || jsonb_build_object('Jobs', (
			SELECT jsonb_object_agg(j.key, CASE WHEN j.value ?| '{Type,StartAt}' THEN j.value ELSE
				'{"Type": "Task", "Resource": "sql:public.job"}' || jsonb_build_object('Parameters',
					jsonb_build_object('job', j.key, 'id.$', '$.id', 'fails.$', '$.fails')) || j.value END)
			FROM jsonb_each(jobs) j)))))
$$;

-- Run an execution to its end; what it came to: status, error, the tasks that ran and did not fail, those that are no
-- success, output.
CREATE FUNCTION pg_temp.play(machine text, way text, fails text[] DEFAULT '{}', again boolean DEFAULT false)
	RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	v_id text := machine || ':' || way;
BEGIN
	DELETE FROM public.ran WHERE id = way;
	IF again THEN
		PERFORM sf_redrive(v_id);
	ELSE
		PERFORM sf_start(machine, json_build_object('id', way, 'fails', fails)::jsonb, name => way);
	END IF;
	IF way = 'memory' THEN
		PERFORM sf_run(v_id);
	ELSE
		WHILE EXISTS (SELECT FROM sf_step(v_id)) LOOP
		END LOOP;
	END IF;
	RETURN (SELECT concat_ws(' ', e.status, e.error, (SELECT string_agg(r.job, ',' ORDER BY r.job) FROM public.ran r
				WHERE r.id = way),
		(SELECT string_agg(j.job_id || '=' || j.job_status, ',' ORDER BY j.job_id) FROM sf_jobs j
			WHERE j.state_machine = machine AND j.id = way AND j.job_status <> 'success'), e.output)
		FROM sf_executions e WHERE e.execution_id = v_id);
END $$;

CREATE FUNCTION pg_temp.both(machine text, fails text[], expected text, what text, again boolean DEFAULT false)
	RETURNS SETOF text
LANGUAGE sql AS $$
	SELECT is(pg_temp.play(machine, way, fails, again), expected, what || ', ' || way)
	FROM unnest('{memory,rows}'::text[]) way
$$;

-- --- order, and what a failure skips ---

SELECT pg_temp.net('night', '{"load": {}, "check": {"After": ["load"]}, "report": {"After": ["check", "stock"]},
	"stock": {}, "clean": {"After": [{"Job": "load", "On": ["failure"]}]}}');
SELECT pg_temp.both('night', '{}', 'SUCCEEDED check,load,report,stock clean=skip '
	'{"load": "LOAD", "check": "CHECK", "stock": "STOCK", "report": "REPORT"}', 'all succeed');
SELECT pg_temp.net('night2', '{"load": {}, "check": {"After": ["load"]}, "report": {"After": ["check", "stock"]},
	"stock": {}, "clean": {"After": [{"Job": "load", "On": ["failure"]}]}}');
SELECT pg_temp.both('night2', '{load}', 'FAILED Bad clean,stock check=skip,load=failure,report=skip',
	'the first fails');

-- --- On ---

SELECT pg_temp.net('ends', '{"a": {}, "b": {},
	"ok": {"After": ["a", {"Job": "b", "On": ["success"]}]}, "no": {"After": [{"Job": "a", "On": ["failure"]}]},
	"end": {"After": [{"Job": "ok", "On": ["end"]}, {"Job": "no", "On": ["end"]}]},
	"either": {"After": [{"Job": "b", "On": ["success", "failure"]}]},
	"skipped": {"After": [{"Job": "ok", "On": ["skip"]}]}, "after": {"After": ["skipped"]}}');
SELECT pg_temp.both('ends', '{a}', 'FAILED Bad after,b,either,end,no,skipped a=failure,ok=skip', 'ends');

-- --- Condition ---

SELECT pg_temp.net('conditions', '{"a": {"Condition": {"Variable": "$.id", "StringEquals": "none"}},
	"b": {"After": ["a"]}, "c": {"After": [{"Job": "a", "On": ["skip"]}]},
	"d": {"After": ["c"], "Condition": {"Variable": "$$.Jobs.c.Output", "StringEquals": "C"}},
	"e": {"After": ["c"], "Condition": {"Not": {"Variable": "$$.Jobs.c.Status", "StringEquals": "success"}}}}');
SELECT pg_temp.both('conditions', '{}', 'SUCCEEDED c,d a=skip,b=skip,e=skip {"c": "C", "d": "D"}', 'JSONPath');
SELECT pg_temp.net('conditions2', '{
	"a": {"Type": "Pass", "QueryLanguage": "JSONata", "Condition": "{% $states.input.id = \"none\" %}"},
	"b": {"Type": "Pass", "QueryLanguage": "JSONata", "Output": "{% [$states.input.id] %}"},
	"c": {"Type": "Pass", "QueryLanguage": "JSONata", "After": ["b"],
		"Condition": "{% $count($states.jobs.b.Output) = 1 %}",
		"Output": "{% $states.jobs.b.Status & \" \" & $states.context.Jobs.b.Output[0] %}"},
	"d": {"StartAt": "d1", "States": {"d1": {"Type": "Pass", "End": true}}, "After": ["c"],
		"Condition": {"Variable": "$$.Jobs.b.Output[1]", "IsPresent": true}}}');
SELECT is(pg_temp.play('conditions2', 'memory'), 'SUCCEEDED {"b": ["memory"], "c": "success memory"}',
	'JSONata, memory');
SELECT is(pg_temp.play('conditions2', 'rows'), 'SUCCEEDED {"b": ["rows"], "c": "success rows"}', 'JSONata, rows');

-- a condition that cannot be evaluated fails the job
SELECT pg_temp.net('conditions3', '{"a": {"Type": "Pass", "QueryLanguage": "JSONata", "Condition": "{% 1 %}"},
	"b": {"After": ["a"]}, "c": {}}');
SELECT pg_temp.both('conditions3', '{}', 'FAILED States.QueryEvaluationError c b=skip',
	'a condition that is no boolean');

-- --- what is known of the jobs before ---

SELECT pg_temp.net('known', '{"a": {}, "b": {"After": ["a"]},
	"c": {"Type": "Pass", "After": ["b"], "Parameters": {"a.$": "$$.Jobs.a", "b.$": "$$.Jobs.b.Output"}},
	"d": {"Type": "Parallel", "After": [{"Job": "c", "On": ["end"]}], "Branches": [
		{"StartAt": "d1", "States": {"d1": {"Type": "Pass", "Parameters": {"c.$": "$$.Jobs.c.Status"}, "End": true}}}]},
	"e": {"Type": "Pass", "QueryLanguage": "JSONata", "After": ["d"], "Output": "{% $keys($states.jobs) %}"}}');
SELECT pg_temp.both('known', '{}',
	'SUCCEEDED a,b {"a": "A", "b": "B", "c": {"a": {"Output": "A", "Status": "success"}, "b": "B"}, '
	'"d": [{"c": "success"}], "e": ["a", "b", "c", "d"]}', 'jobs');

-- --- jobs of all kinds ---

SELECT pg_temp.net('kinds', '{"p": {"Type": "Pass", "Result": 1}, "w": {"Type": "Wait", "Seconds": 0, "After": ["p"]},
	"m": {"Type": "Map", "After": ["w"], "ItemsPath": "$.items", "ItemProcessor": {"StartAt": "i",
		"States": {"i": {"Type": "Pass", "End": true}}}},
	"f": {"StartAt": "f1", "States": {"f1": {"Type": "Pass", "Result": "x", "Next": "f2"}, "f2": {"Type": "Pass",
		"End": true}}, "After": ["m"]},
	"n": {"Type": "JobNet", "After": ["f"], "Jobs": {"n2": {"Type": "Pass", "After": ["n1"],
		"Parameters": {"n1.$": "$$.Jobs.n1.Output"}},
		"n1": {"Type": "Pass", "Result": 2}}},
	"s": {"Type": "Succeed", "After": ["n"]}}', '{"Parameters": {"items": [1, 2], "id": 1},
		"ResultSelector": {"p.$": "$.p", "m.$": "$.m", "f.$": "$.f", "n.$": "$.n", "s.$": "$.s.id"}}');
SELECT pg_temp.both('kinds', '{}', 'SUCCEEDED {"f": "x", "m": [1, 2], "n": {"n1": 2, "n2": {"n1": 2}}, "p": 1, "s": 1}',
	'kinds');

-- --- a net that fails is caught; a job whose error is caught has succeeded ---

SELECT pg_temp.net('caught', '{"a": {"Catch": [{"ErrorEquals": ["Bad"], "ResultPath": "$.caught"}]},
	"b": {"Type": "Pass", "After": ["a"], "Parameters": {"e.$": "$$.Jobs.a.Output.caught.Error"}}}');
SELECT ok(pg_temp.play('caught', way, '{a}') LIKE 'SUCCEEDED a=failure %"b": {"e": "Bad"}}',
	'a job that catches, ' || way)
FROM unnest('{memory,rows}'::text[]) way;
SELECT sf_create_state_machine('net_caught', '{"StartAt": "N", "States": {"N": {"Type": "JobNet", "Next": "P",
	"Catch": [{"ErrorEquals": ["Bad"], "ResultPath": "$.e", "Next": "P"}], "Jobs": {
		"a": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"id": "-", "job": "a", "fails": ["a"]}},
		"b": {"Type": "Pass", "After": ["a"]}, "c": {"Type": "Pass"}}},
	"P": {"Type": "Pass", "InputPath": "$.e.Error", "End": true}}}');
SELECT ok(pg_temp.play('net_caught', way) LIKE 'SUCCEEDED a=failure "Bad"', 'a net that is caught, ' || way)
	FROM unnest('{memory,rows}'::text[]) way;

-- --- FailureMode ABORT: no more jobs begin ---

SELECT pg_temp.net('abort', '{"a": {}, "b": {"After": ["a"]}, "c": {"After": [{"Job": "a", "On": ["end"]}]}}',
	'{"FailureMode": "ABORT"}');
SELECT pg_temp.both('abort', '{a}', 'FAILED Bad a=failure,b=skip,c=skip', 'ABORT');

-- --- MaxConcurrency and Priority ---

SELECT pg_temp.net('one', '{"a": {}, "b": {"Priority": 2}, "c": {"Priority": 1}, "d": {"After": ["b"], "Priority": 9},
	"e": {"Priority": -1}}', '{"MaxConcurrency": 1}');
SELECT pg_temp.both('one', '{}', 'SUCCEEDED a,b,c,d,e {"a": "A", "b": "B", "c": "C", "d": "D", "e": "E"}',
	'MaxConcurrency');
SELECT is((SELECT string_agg(r.job, ',' ORDER BY r.n) FROM public.ran r WHERE r.id = way AND r.n > (SELECT max(n) - 5
			FROM public.ran m WHERE m.id = way)),
	'b,d,c,a,e', 'Priority, ' || way) FROM unnest('{memory,rows}'::text[]) way;

-- --- redrive ---

SELECT pg_temp.net('again', '{"a": {}, "b": {"After": ["a"]}, "c": {"After": ["b"]}, "r": {"After": [{"Job": "b",
	"On": ["failure"]}]},
	"z": {"After": [{"Job": "b", "On": ["end"]}, {"Job": "c", "On": ["end"]}]}}');
SELECT pg_temp.both('again', '{b,z}', 'FAILED Bad a,r b=failure,c=skip,z=failure', 'before the redrive');
UPDATE _sfflow.branch b SET payload = jsonb_set(b.payload, '{fails}', '[]'), join_input = NULL FROM _sfflow.execution e
WHERE e.execution_no = b.execution_no AND e.execution_id LIKE 'again:%' AND b.payload ? 'fails';
SELECT pg_temp.both('again', '{}', 'SUCCEEDED b,c,z {"a": "A", "b": "B", "c": "C", "r": "R", "z": "Z"}',
	'the redrive runs what failed and what was skipped', true);

-- a net in a net whose jobs have lesser numbers than it has, as another session may have given them
SELECT pg_temp.net('less', '{"a": {}, "n": {"After": ["a"], "Type": "JobNet", "Jobs": {"n1": {"Type": "Pass",
	"Result": 1},
	"n2": {"After": ["n1"], "Type": "Task", "Resource": "sql:public.job", "Parameters": {"job": "n2", "id.$": "$.id",
		"fails.$": "$.fails"}}}}}');
SELECT sf_start('less', '{"id": "rows", "fails": ["n2"]}', name => 'rows');
SELECT setval('_sfflow.branch_no', 2000000);
SELECT sf_step('less:rows') FROM generate_series(1, 2);
SELECT setval('_sfflow.branch_no', 1000000);
DO $$ BEGIN WHILE EXISTS (SELECT FROM sf_step('less:rows')) LOOP END LOOP; END $$;
SELECT setval('_sfflow.branch_no', 3000000);
SELECT is((SELECT array_agg(count ORDER BY count) FROM (SELECT count(*) FROM _sfflow.branch b JOIN _sfflow.branch p
	ON p.execution_no = b.execution_no AND p.branch_no = b.parent_no WHERE b.branch_no < p.branch_no
	GROUP BY p.branch_no) n),
	'{2}', 'the jobs of the inner net have lesser numbers');
UPDATE _sfflow.branch b SET payload = jsonb_set(b.payload, '{fails}', '[]') WHERE b.payload ? 'fails'
	AND b.execution_no = (SELECT e.execution_no FROM _sfflow.execution e WHERE e.execution_id = 'less:rows');
SELECT is(pg_temp.play('less', 'rows', again => true), 'SUCCEEDED n2 {"a": "A", "n": {"n1": 1, "n2": "N2"}}',
	'a net in a net is redriven');
-- --- operators, and events ---

CREATE FUNCTION public.twice(x text) RETURNS text LANGUAGE sql AS 'SELECT x || x';
SELECT sf_create_state_machine('h', '{"StartAt": "N", "States": {"N": {"Type": "JobNet", "End": true, "Jobs": {
	"a": {"Type": "Task", "Resource": "sql:public.twice", "Parameters": {"x": "a"}},
	"b": {"Type": "Task", "Resource": "sql:public.twice", "Parameters": {"x": "b"}, "After": ["a"]},
	"c": {"Type": "Task", "Resource": "sql:public.twice", "Parameters": {"x": "c"}, "After": ["b"]},
	"d": {"Type": "Task", "Resource": "sql:public.twice", "Parameters": {"x": "d"}, "After": ["a"]}}}}}');
SELECT sf_hold('h', state => 'b');
SELECT sf_start('h', '{}', name => '1');
SELECT sf_run('h:1');
SELECT is((SELECT string_agg(job_id || '=' || job_status, ',' ORDER BY job_id) FROM sf_jobs WHERE id = '1'),
	'a=success,b=entry,c=entry,d=success', 'a job that is held holds what waits for it, and nothing else');
SELECT is_empty('SELECT * FROM sf_check()', 'sf_check finds nothing');
SELECT sf_release('h', state => 'b');
SELECT sf_run('h:1');
SELECT is((SELECT output::text FROM sf_executions WHERE execution_id = 'h:1'),
	'{"a": "aa", "b": "bb", "c": "cc", "d": "dd"}', 'released');
SELECT sf_start('h', '{}', name => '2');
SELECT sf_mark('h:2', 'b', 'skip', reason => 'not tonight');
SELECT sf_run('h:2');
SELECT is((SELECT string_agg(job_id || '=' || job_status, ',' ORDER BY job_id) FROM sf_jobs WHERE id = '2'),
	'a=success,b=skip,c=success,d=success', 'marked as skipped');
SELECT sf_start('h', '{}', name => '3');
SELECT sf_mark('h:3', 'b', 'failure', reason => 'broken');
SELECT sf_run('h:3');
SELECT is((SELECT string_agg(job_id || '=' || job_status, ',' ORDER BY job_id) FROM sf_jobs WHERE id = '3'),
	'a=success,b=failure,c=skip,d=success', 'marked as failed');
SELECT is((SELECT array_agg(type || coalesce(' ' || state, '') ORDER BY id) FROM sf_history WHERE execution_id = 'h:1'
		AND type LIKE 'JobNet%'),
	'{JobNetStateEntered N,JobNetStateStarted N,JobNetStateSucceeded N,JobNetStateExited N}'::text[], 'events');
SELECT sf_start('h', '{}', name => '4');
SELECT sf_step('h:4');
SELECT is((SELECT string_agg(job_id || '=' || job_status, ',' ORDER BY job_id) FROM sf_jobs WHERE id = '4'),
	'a=entry,b=entry,c=entry,d=entry', 'begun');
SELECT is_empty('SELECT * FROM sf_check()', 'sf_check finds nothing');

SELECT finish();
ROLLBACK;
