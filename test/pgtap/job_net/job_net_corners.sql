-- JobNet: what jobs are and are called: nets in Maps in nets, Distributed Maps, catchers and conditions in both
-- languages, odd names.  Each net runs in one slice, which has its jobs in memory (sf_run), and with one transition a
-- slice, so that each job has a row (sf_step).
BEGIN;
SELECT plan(16);

CREATE FUNCTION public.job(x jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	IF x ? 'fail' THEN
		PERFORM sf_raise(x->>'fail', 'because');
	END IF;
	RETURN x;
END $$;

-- Run an execution of a net to its end; what it came to.
CREATE FUNCTION pg_temp.play(machine text, way text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	v_id text := sf_start(machine, '{}', name => way);
BEGIN
	IF way = 'memory' THEN
		PERFORM sf_run(v_id);
	ELSE
		WHILE EXISTS (SELECT FROM sf_step(v_id)) LOOP
		END LOOP;
	END IF;
	RETURN (SELECT concat_ws(' ', status, error, cause, output) FROM sf_executions WHERE execution_id = v_id);
END $$;
CREATE FUNCTION pg_temp.both(machine text, jobs text, expected text, what text) RETURNS SETOF text
	LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_create_state_machine(machine, format('{"StartAt": "N", "States": {"N": {"Type": "JobNet", "End": true,
			"Jobs": {%s}}}}', jobs)::json);
	RETURN QUERY SELECT is(pg_temp.play(machine, way), expected, what || ', ' || way)
	FROM unnest('{memory,rows}'::text[]) way;
END $$;

SELECT pg_temp.both('nested', $net$
	"a": {"Type": "Pass", "Result": [5, 6]},
	"m": {"Type": "Map", "After": ["a"], "ItemsPath": "$$.Jobs.a.Output", "ItemSelector": {"v.$": "$$.Map.Item.Value",
	"o.$": "$$.Jobs.a.Status"},
		"ItemProcessor": {"StartAt": "In", "States": {"In": {"Type": "JobNet", "End": true, "Jobs": {
			"p": {"Type": "Pass", "Parameters": {"i.$": "$$.Map.Item.Index"}},
			"q": {"Type": "Pass", "After": ["p"], "Parameters": {"i.$": "$$.Jobs.p.Output.i", "v.$": "$.v",
			"o.$": "$.o"}}}}}}}
	$net$, 'SUCCEEDED {"a": [5, 6], "m": [{"p": {"i": 0}, "q": {"i": 0, "o": "success", "v": 5}}, {"p": {"i": 1}, "q": '
	'{"i": 1, "o": "success", "v": 6}}]}',
	'a net in a Map in a net');

SELECT pg_temp.both('distributed', $net$
	"a": {"Type": "Pass", "Result": [1, 2]},
	"m": {"Type": "Map", "After": ["a"], "ItemsPath": "$$.Jobs.a.Output",
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "In", "States": {"In": {"Type": "JobNet", "End": true, "MaxConcurrency": 1, "Jobs": {
			"p": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"v.$": "$"}},
			"q": {"Type": "Pass", "After": ["p"], "Condition": {"Variable": "$$.Jobs.p.Output.v",
			"NumericGreaterThan": 1}}}}}}},
	"z": {"Type": "Pass", "After": ["m"], "Parameters": {"got.$": "$$.Jobs.m.Output"}}
	$net$, 'SUCCEEDED {"a": [1, 2], "m": [{"p": {"v": 1}}, {"p": {"v": 2}, "q": 2}], "z": {"got": [{"p": {"v": 1}}, '
	'{"p": {"v": 2}, "q": 2}]}}',
	'a net in a Distributed Map in a net');

SELECT pg_temp.both('catchers', $net$
	"a": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"fail": "Bad"},
	"Catch": [{"ErrorEquals": ["Bad"], "ResultPath": "$.e", "Assign": {"e.$": "$.Error"}}]},
	"b": {"Type": "Task", "QueryLanguage": "JSONata", "Resource": "sql:public.job", "Arguments": {"fail": "Worse"},
	"After": ["a"],
		"Catch": [{"ErrorEquals": ["States.ALL"], "Output": "{% $states.errorOutput.Error & '!' %}",
			"Assign": {"e": "{% $states.errorOutput.Cause %}"}}]},
	"c": {"Type": "Pass", "QueryLanguage": "JSONata", "After": ["b"], "Output": "{% $states.jobs %}"}
	$net$, 'SUCCEEDED {"a": {"e": {"Cause": "because", "Error": "Bad"}}, "b": "Worse!", '
	'"c": {"a": {"Output": {"e": {"Cause": "because", "Error": "Bad"}}, "Status": "success"}, "b": {"Output": '
	'"Worse!", "Status": "success"}}}',
	'catchers in both languages');

SELECT pg_temp.both('conditions', $net$
	"f": {"StartAt": "f1", "States": {"f1": {"Type": "Pass", "End": true}}, "Condition": {"Variable": "$.nope",
	"NumericEquals": 1}}
	$net$, 'FAILED States.Runtime An error occurred while evaluating the condition of the job ''f''. '
	'Invalid path ''$.nope'': The choice state''s condition path references an invalid value.',
	'a condition that fails');

SELECT pg_temp.both('languages', $net$
	"a": {"Type": "Pass", "Result": 1}, "b": {"Type": "Pass", "QueryLanguage": "JSONata", "Output": 2},
	"c": {"Type": "Pass", "QueryLanguage": "JSONata", "After": ["a"], "Condition": "{% $states.jobs.a.Output-1 = 0 %}",
	"Output": "{% $states.jobs.a.Output-1 %}"},
	"d": {"Type": "Pass", "After": ["b", "c"], "Condition": {"Variable": "$$.Jobs.b.Output", "NumericEquals": 2},
	"InputPath": "$$.Jobs.c.Output"}
	$net$, 'SUCCEEDED {"a": 1, "b": 2, "c": 0, "d": 0}', 'jobs in two languages look at each other');

SELECT pg_temp.both('names', $net$
	"a/b.c": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"x": 1}},
	"it's": {"Type": "Task", "Resource": "sql:public.job", "After": ["a/b.c"],
	"Parameters": {"x.$": "$$.Jobs['a/b.c'].Output.x"}},
	"日本 語": {"Type": "Task", "Resource": "sql:public.job", "After": ["it's"],
	"Parameters": {"x.$": "$$.Jobs['it\\'s'].Output.x"}},
	"z": {"StartAt": "Jobs", "States": {"Jobs": {"Type": "Pass", "Parameters": {"n.$": "$$.Jobs['a/b.c','日本 語']"},
	"Next": "y"},
		"y": {"Type": "Pass", "Parameters": {"Jobs": {"n.$": "$.n", "s.$": "$$.Jobs['a/b.c'].Status"}}, "End": true}},
		"After": ["日本 語"]}
	$net$, 'SUCCEEDED {"z": {"Jobs": {"n": {"a/b.c": {"Output": {"x": 1}, "Status": "success"}, '
	'"日本 語": {"Output": {"x": 1}, "Status": "success"}}, "s": "success"}}, "it''s": {"x": 1}, "a/b.c": {"x": 1}, '
	'"日本 語": {"x": 1}}', 'odd names');
SELECT results_eq($$SELECT job_id, pre_job_id FROM sf_job_relations WHERE state_machine = 'names'
	ORDER BY job_id COLLATE "C"$$,
	$$VALUES ('a/b.c', NULL), ('it''s', 'a/b.c'), ('日本 語', 'it''s')$$, '... in relations');
SELECT is((SELECT string_agg(job_id || '=' || job_status, ', ' ORDER BY job_id COLLATE "C") FROM sf_jobs
		WHERE state_machine = 'names' AND id = 'rows'),
	'a/b.c=success, it''s=success, 日本 語=success', '... in jobs');
SELECT matches(sf_graph('names', format => 'svg'), 'it&#39;s|it''s|it&apos;s', '... in a picture');
SELECT is((SELECT count(*) FROM sf_check()), 0::bigint, 'the tables are in order');

SELECT * FROM finish();
ROLLBACK;
