-- Pictures of a JobNet: Mermaid, Graphviz, the layout, and the status of each job while the net runs, fails and is
-- redriven.
BEGIN;
SELECT plan(22);

CREATE FUNCTION public.job(job text, fails boolean) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF fails THEN
		PERFORM sf_raise('Bad', job);
	END IF;
	RETURN job;
END $$;

SELECT sf_create_state_machine('night', '{"StartAt": "Night", "States": {"Night": {"Type": "JobNet", "Next": "Done",
	"Jobs": {
	"load": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"job": "load", "fails": false}},
	"check": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"job": "check", "fails.$": "$.fails"},
		"After": ["load"]},
	"sum": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"job": "sum", "fails": false},
		"After": ["check"]},
	"ship": {"StartAt": "pack", "After": ["sum"], "Condition": {"Variable": "$.day", "NumericLessThan": 6}, "States": {
		"pack": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"job": "pack", "fails": false},
			"Next": "send"},
		"send": {"Type": "Pass", "End": true}}},
	"alarm": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"job": "alarm", "fails": false},
		"After": [{"Job": "check", "On": ["failure"]}]},
	"clean": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"job": "clean", "fails": false},
		"After": ["load", {"Job": "ship", "On": ["end"]}]},
	"log": {"Type": "Pass", "After": [{"Job": "alarm", "On": ["success", "skip"]}]}}},
	"Done": {"Type": "Succeed"}}}');

-- --- the net as text ---

SELECT is(sf_graph('night'), $$flowchart TD
    subgraph s0["Night (JobNet)"]
        s1["load<br/>sql:public.job"]
        s2["check<br/>sql:public.job"]
        s3["sum<br/>sql:public.job"]
        subgraph s0b3["ship<br/>if $.day #60; 6"]
            s4["pack<br/>sql:public.job"]
            s5["send<br/>Pass"]
            s4 --> s5
        end
        s6["alarm<br/>sql:public.job"]
        s7["clean<br/>sql:public.job"]
        s8["log<br/>Pass"]
        s1 --> s2
        s2 --> s3
        s3 --> s0b3
        s2 -.->|"failure"| s6
        s1 --> s7
        s0b3 -->|"end"| s7
        s6 -->|"success, skip"| s8
    end
    s9(["Done<br/>Succeed"])
    s0 --> s9
    start((" ")) --> s0
    s9 --> stop(((" ")))
$$, 'Mermaid');
SELECT is((SELECT array_agg(trim(line) ORDER BY n) FROM regexp_split_to_table(sf_graph('night', 'dot'),
			'\n') WITH ORDINALITY AS l (line, n)
		WHERE line ~ 's0b|->'), ARRAY['subgraph cluster_s0b3 {', 's0b3 [shape=point]; s0b3_end [shape=point];',
		's4 -> s5;',
	's0b3 -> s4;', 's5 -> s0b3_end;', 's1 -> s2;', 's2 -> s3;', 's3 -> s0b3;',
	's2 -> s6 [style=dashed, label="failure"];',
	's1 -> s7;', 's0b3_end -> s7 [label="end"];', 's6 -> s8 [label="success, skip"];', 's0 -> s1;', 's7 -> s0_end;',
	's8 -> s0_end;',
	's0_end -> s9;', 'start [shape=circle, label="", width=0.2]; start -> s0;', 's9 -> stop;'], 'Graphviz');

-- --- the layout ---

CREATE TEMP TABLE layout AS SELECT sf_graph_layout('night') AS l;
CREATE TEMP TABLE box AS
	SELECT s ->> 'name' AS name, (s ->> 'parent')::integer AS parent, (s ->> 'x')::integer AS x,
	(s ->> 'y')::integer AS y,
		(s ->> 'w')::integer AS w, (s ->> 'h')::integer AS h FROM layout, jsonb_array_elements(l -> 'states') AS s
	UNION ALL SELECT coalesce(b ->> 'job', 'frame'), (b ->> 'parent')::integer, (b ->> 'x')::integer,
	(b ->> 'y')::integer,
		(b ->> 'w')::integer, (b ->> 'h')::integer FROM layout, jsonb_array_elements(l -> 'branches') AS b;
CREATE FUNCTION pg_temp.inside(inner_box text, outer_box text) RETURNS boolean LANGUAGE sql AS $$
	SELECT i.x > o.x AND i.y > o.y AND i.x + i.w < o.x + o.w AND i.y + i.h < o.y + o.h
	FROM box i, box o WHERE i.name = inner_box AND o.name = outer_box
$$;
SELECT bag_eq($$ SELECT coalesce(e ->> 'from_job', f.name) || '>' || coalesce(e ->> 'to_job', t.name) FROM layout,
		jsonb_array_elements(l -> 'edges') AS e
		LEFT JOIN LATERAL (SELECT s ->> 'name' AS name FROM jsonb_array_elements(l -> 'states') AS s
			WHERE s -> 'id' = e -> 'from') AS f ON true
		LEFT JOIN LATERAL (SELECT s ->> 'name' AS name FROM jsonb_array_elements(l -> 'states') AS s
			WHERE s -> 'id' = e -> 'to') AS t ON true
		WHERE coalesce(e ->> 'from', e ->> 'from_job') IS NOT NULL AND coalesce(e ->> 'to',
			e ->> 'to_job') IS NOT NULL $$,
	'{load>check,check>sum,sum>ship,check>alarm,load>clean,ship>clean,alarm>log,pack>send,Night>Done}'::text[],
	'a line for each link and each transition');
SELECT bag_eq($$ SELECT e ->> 'to' FROM layout, jsonb_array_elements(l -> 'edges') AS e
	WHERE (e ->> 'catch')::boolean $$,
	'{6}'::text[], '... that of a job which needs a failure like that of a Catch');
SELECT is((SELECT jsonb_agg(b ->> 'title' ORDER BY b ->> 'title') FROM layout,
		jsonb_array_elements(l -> 'labels') AS b),
	'["end", "failure", "success, skip"]', '... with labels where not success alone is meant');
SELECT ok(bool_and(pg_temp.inside(name, 'frame') AND pg_temp.inside(name, 'Night')),
	'all jobs are in the box of the net')
	FROM unnest('{load,check,sum,ship,pack,send,alarm,clean,log}'::text[]) AS name;
SELECT ok(pg_temp.inside('pack', 'ship') AND pg_temp.inside('send', 'ship'), '... states of a job in its frame');
SELECT is((SELECT count(*) FROM box a, box b WHERE a.name < b.name AND a.x < b.x + b.w AND b.x < a.x + a.w
		AND a.y < b.y + b.h AND b.y < a.y + a.h
		AND NOT (pg_temp.inside(a.name, b.name) OR pg_temp.inside(b.name, a.name))), 0::bigint,
		'no two boxes overlap, but one in the other');
SELECT ok((SELECT bool_and(a.y + a.h < b.y) FROM (VALUES ('load', 'check'), ('check', 'sum'), ('sum', 'ship'),
			('check', 'alarm'), ('ship', 'clean'), ('alarm', 'log'))
	AS v (before, after) JOIN box a ON a.name = v.before JOIN box b ON b.name = v.after),
	'what comes before stands above');
SELECT is((SELECT b -> 'small' FROM layout, jsonb_array_elements(l -> 'branches') AS b WHERE b ->> 'job' = 'ship'),
	'["if $.day < 6"]', 'the frame of a job has its condition');
SELECT ok(sf_graph('night', 'svg') ~ '<g class="job" data-job="ship"><title>ship</title><rect class="branch"',
	'... and is in the SVG picture');

-- --- the status of each job ---

-- Each Task has the status of its job; the other states, and Tasks that differ, in words.
CREATE FUNCTION pg_temp.statuses(id text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg((s ->> 'name') || '=' || (s ->> 'status') || CASE WHEN j.job_status <> s ->> 'status'
		THEN ' but job ' || j.job_status ELSE '' END,
		' ' ORDER BY (s ->> 'id')::integer)
	FROM jsonb_array_elements(sf_graph_status(id)) AS s LEFT JOIN sf_jobs j ON j.execution_id = $1
	AND j.job_id = s ->> 'name'
$$;
CREATE FUNCTION pg_temp.steps(execution text, n integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		PERFORM sf_step(execution);
	END LOOP;
END $$;

SELECT sf_start('night', '{"fails": true, "day": 3}', 'a');
SELECT is(pg_temp.statuses('night:a'), 'Night=entry load=entry check=entry sum=entry pack=entry send=entry alarm=entry '
	'clean=entry log=entry Done=entry', 'a net that has not begun');
SELECT pg_temp.steps('night:a', 1);
SELECT is(pg_temp.statuses('night:a'),
	'Night=running load=entry check=entry sum=entry pack=entry send=entry alarm=entry clean=entry log=entry Done=entry',
	'a net that has begun');
SELECT pg_temp.steps('night:a', 1);
SELECT is(pg_temp.statuses('night:a'),
	'Night=running load=success check=entry sum=entry pack=entry send=entry alarm=entry clean=entry log=entry '
	'Done=entry', '... with a job that has ended');
SELECT pg_temp.steps('night:a', 2);
SELECT is(pg_temp.statuses('night:a'),
	'Night=running load=success check=failure sum=skip pack=skip send=skip alarm=entry clean=entry log=entry Done=skip',
	'... with one that has failed');
SELECT sf_run('night:a');
SELECT is(pg_temp.statuses('night:a'),
	'Night=failure load=success check=failure sum=skip pack=skip send=skip alarm=success clean=success log=success '
	'Done=skip', 'a net that has failed');
SELECT sf_redrive('night:a');
SELECT is(pg_temp.statuses('night:a'),
	'Night=running load=success check=entry sum=entry pack=entry send=entry alarm=success clean=success log=success '
	'Done=entry', 'after a redrive');
SELECT sf_run('night:a');
SELECT is(pg_temp.statuses('night:a'),
	'Night=failure load=success check=failure sum=skip pack=skip send=skip alarm=success clean=success log=success '
	'Done=skip', '... and when it has failed again');

SELECT sf_start('night', '{"fails": false, "day": 3}', 'b');
SELECT sf_run('night:b');
SELECT is(pg_temp.statuses('night:b'), 'Night=success load=success check=success sum=success pack=success send=success '
	'alarm=skip clean=success log=success Done=success', 'a net that has succeeded');
SELECT ok((sf_graph_status('night:b') #> '{0,attempts}')::integer = 1, '... at its first attempt');
SELECT sf_start('night', '{"fails": false, "day": 7}', 'c');
SELECT sf_run('night:c');
SELECT is(pg_temp.statuses('night:c'),
	'Night=success load=success check=success sum=success pack=skip send=skip alarm=skip clean=success log=success '
	'Done=success', '... without a job whose condition did not hold');
SELECT is((SELECT count(*) FROM regexp_matches(sf_graph('night:c', 'svg'), 'data-status="skip"', 'g')), 3::bigint,
	'... as the picture shows');

SELECT * FROM finish();
ROLLBACK;
