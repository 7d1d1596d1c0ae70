-- sf_import_jobs: tables and queries of jobs and their predecessors become nets; what is wrong with a row is said with
-- its place.
BEGIN;
SELECT plan(36);

-- The jobs of a definition.
CREATE FUNCTION pg_temp.jobs(definition json) RETURNS jsonb LANGUAGE sql AS $$
	SELECT s.value #> '{Jobs}' FROM jsonb_each(definition::jsonb -> 'States') AS s
$$;
-- The error that a query makes.
CREATE FUNCTION pg_temp.error(query text, defaults jsonb DEFAULT '{"Resource": "activity:a"}') RETURNS text
	LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_import_jobs(query, defaults);
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

-- --- tables ---

CREATE TABLE public.job_relation (job_id text, pre_job_id text, PRIMARY KEY (job_id, pre_job_id));
INSERT INTO public.job_relation VALUES ('JOB-002', 'JOB-001'), ('JOB-003', 'JOB-002'), ('JOB-004', 'JOB-001'),
	('JOB-005', 'JOB-004'),
	('JOB-006', 'JOB-003'), ('JOB-006', 'JOB-005');
SELECT is(sf_import_jobs('public.job_relation', '{"Resource": "activity:a"}', 'Night')::text,
$${"StartAt": "Night", "States": {"Night": {"Type": "JobNet", "Jobs": {
	"JOB-002": {"Type":"Task","After":["JOB-001"],"Resource":"activity:a"},
	"JOB-001": {"Type":"Task","Resource":"activity:a"},
	"JOB-003": {"Type":"Task","After":["JOB-002"],"Resource":"activity:a"},
	"JOB-004": {"Type":"Task","After":["JOB-001"],"Resource":"activity:a"},
	"JOB-005": {"Type":"Task","After":["JOB-004"],"Resource":"activity:a"},
	"JOB-006": {"Type":"Task","After":["JOB-003","JOB-005"],"Resource":"activity:a"}}, "End": true}}}$$,
	'a table of pairs, whose jobs share a resource');
SELECT is_empty($$ SELECT * FROM sf_validate(sf_import_jobs('public.job_relation', '{"Resource": "activity:a"}')::text)
	WHERE severity = 'ERROR' $$, '... is a definition');
SELECT is(sf_create_state_machine('night', sf_import_jobs('public.job_relation', '{"Resource": "activity:a"}')), 1,
	'... for sf_create_state_machine');
SELECT set_eq($$ SELECT job_id, pre_job_id FROM sf_job_relations WHERE state_machine = 'night'
	AND pre_job_id IS NOT NULL $$,
	'SELECT job_id, pre_job_id FROM public.job_relation', '... with the same relations');
SELECT is(pg_temp.jobs(sf_import_jobs($$ SELECT * FROM sf_job_relations WHERE state_machine = 'night' $$,
			'{"Resource": "activity:a"}')),
	pg_temp.jobs(sf_import_jobs('public.job_relation', '{"Resource": "activity:a"}')),
	'the rows of sf_job_relations make the net again');
CREATE VIEW public."select; --" AS SELECT * FROM public.job_relation;
SELECT is(sf_import_jobs('public."select; --"', '{"Resource": "activity:a"}')::text,
	sf_import_jobs('TABLE public.job_relation', '{"Resource": "activity:a"}')::text,
	'a view, whose name needs quotes');
SELECT is(sf_import_jobs(E'\n (SELECT * FROM public.job_relation)', '{"Resource": "activity:a"}')::text,
	sf_import_jobs('public.job_relation', '{"Resource": "activity:a"}')::text,
	'a query in parentheses');

-- --- what a job does ---

CREATE TEMP TABLE job (job text, predecessor text, on_status text, resource text, function text, command text,
	parameters jsonb, fields jsonb, note text);
INSERT INTO job (job, predecessor, on_status, resource, function, command, parameters, fields) VALUES
	('load', NULL, NULL, NULL, 'dwh.load', NULL, '{"day.$": "$.day"}',
		'{"Priority": 3, "Retry": [{"ErrorEquals": ["States.ALL"]}]}'),
	('copy', 'load', NULL, NULL, NULL, '/opt/batch/copy --all', '{"Env": {"DAY.$": "$.day"}}', NULL),
	('mail', 'load', 'failure', 'activity:mail', NULL, NULL, NULL, NULL),
	('mail', 'copy', 'Failure, skip', NULL, NULL, NULL, NULL, NULL),
	('clean', 'mail', 'end', NULL, NULL, NULL, NULL, '{"Type": "Wait", "Seconds": 1}'),
	('clean', 'copy', 'end', NULL, NULL, NULL, NULL, NULL);
CREATE TEMP TABLE made AS SELECT pg_temp.jobs(sf_import_jobs('pg_temp.job', '{"TimeoutSeconds": 60}', activity => 'sh'))
	AS j;
SELECT is(j -> 'load', '{"Type": "Task", "Resource": "sql:dwh.load", "Parameters": {"day.$": "$.day"}, "Priority": 3,
	"Retry": [{"ErrorEquals": ["States.ALL"]}], "TimeoutSeconds": 60}', 'a function, with parameters and fields')
	FROM made;
SELECT is(j -> 'copy', '{"Type": "Task", "Resource": "activity:sh", "Parameters": {"Command": "/opt/batch/copy --all",
	"Env": {"DAY.$": "$.day"}},
	"After": ["load"], "TimeoutSeconds": 60}', 'a command, for an activity') FROM made;
SELECT is(j -> 'mail', '{"Type": "Task", "Resource": "activity:mail", "TimeoutSeconds": 60,
	"After": [{"Job": "load", "On": ["failure"]}, {"Job": "copy", "On": ["failure", "skip"]}]}',
	'a resource, and ends of predecessors') FROM made;
SELECT is(j #> '{clean,Type}', '"Wait"', 'fields may make it another state') FROM made;
SELECT is(pg_temp.jobs(sf_import_jobs($$ SELECT 'a' AS job, '["ls", "-l"]'::json AS command $$)) -> 'a',
	'{"Type": "Task", "Resource": "activity:shell", "Parameters": {"Command": ["ls", "-l"]}}',
	'a command of several words');
SELECT is(pg_temp.jobs(sf_import_jobs($$ SELECT 'a' AS job, 'ls' AS command $$, '{"Parameters": {"Env": {}}}')) #>
	'{a,Parameters}',
	'{"Env": {}, "Command": "ls"}', 'a command joins the parameters of defaults');
SELECT is(pg_temp.jobs(sf_import_jobs($$ SELECT 'a' AS job, 'f' AS function, '{"x": 1}'::jsonb AS parameters $$,
			'{"QueryLanguage": "JSONata"}')) -> 'a',
	'{"Type": "Task", "QueryLanguage": "JSONata", "Resource": "sql:f", "Arguments": {"x": 1}}',
	'in JSONata parameters are Arguments');
SELECT is(pg_temp.jobs(sf_import_jobs($$ SELECT 1 AS job, 'pg_catalog.now'::regproc AS function,
			NULL::integer AS predecessor $$)) -> '1',
	'{"Type": "Task", "Resource": "sql:now"}', 'columns may have other types');
SELECT is(pg_temp.jobs(sf_import_jobs($$ SELECT * FROM (VALUES ('a', 'b'), ('a', 'b'), ('b', NULL)) AS v (job,
			predecessor) $$, '{"Resource": "activity:a"}')) #> '{a,After}',
	'["b"]', 'a pair that stands twice counts once');
SELECT is((SELECT array_agg(k)
		FROM json_object_keys(sf_import_jobs($$ SELECT 'b' || i AS job FROM generate_series(10, 1, -1) AS i $$,
	'{"Resource": "activity:a"}') #> '{States,Net,Jobs}') AS k), (SELECT array_agg('b' || i ORDER BY i DESC)
	FROM generate_series(1, 10) AS i), 'jobs keep their order');
SELECT is((SELECT count(*)
		FROM jsonb_object_keys(pg_temp.jobs(sf_import_jobs($$ SELECT 'j' || i AS job, 'j' || i - 1 AS predecessor
			FROM generate_series(1, 5000) AS i $$,
	'{"Resource": "activity:a"}')))), 5001::bigint, 'thousands of jobs');

-- --- hostile names ---

SELECT is(pg_temp.jobs(sf_import_jobs($$ SELECT E'a"}, "x\\\n' AS job, E'''; DROP TABLE job; --' AS predecessor $$,
			'{"Resource": "activity:a"}'))
	#>> ARRAY[E'a"}, "x\\\n', 'After', '0'], E'''; DROP TABLE job; --', 'names are strings of JSON');
SELECT is(json_object_keys(sf_import_jobs($$ SELECT 'a' AS job $$, '{"Resource": "activity:a"}', 'N"}') -> 'States'),
	'N"}', '... that of the net, too');
SELECT throws_ok($$ SELECT sf_import_jobs('job; SELECT 1') $$, '42602', NULL, 'a name is not a statement');
SELECT throws_ok($$ SELECT sf_import_jobs('SELECT 1 AS job; SELECT 2 AS job') $$, 'SF012', NULL,
	'two queries are refused');

-- --- what is wrong ---

SELECT throws_ok($$ SELECT sf_import_jobs('none') $$, '42P01', NULL, 'a table that is not there');
SELECT ok(pg_temp.error('SELECT 1 AS no') LIKE '%argument relations has no column "job" or "job_id"',
	'no column of jobs');
SELECT is(pg_temp.error('SELECT 1 AS job WHERE false'), 'SF001 there are no jobs: argument relations has no rows',
	'no rows');
SELECT is(pg_temp.error($$ VALUES (1) $$), 'SF012 argument relations has no column "job" or "job_id"',
	'columns without names');
SELECT is(pg_temp.error($$ SELECT * FROM (VALUES ('a', 'b'), (NULL, 'b')) AS v (job_id, predecessor) $$),
	'SF001 row 2, column "job_id": it names no job', 'a row without a job');
SELECT is(pg_temp.error($$ SELECT * FROM (VALUES ('a', 'b'), ('c', 'd')) AS v (job, predecessor) $$, '{}'),
	'SF001 row 1: job "a" has no resource, function or command', 'a job that does nothing');
SELECT is(pg_temp.error($$ SELECT * FROM (VALUES ('a', NULL, 'f'), ('a', 'b', NULL), ('b', NULL, 'g'), ('a', 'c', 'g'))
		AS v (job, predecessor, function) $$),
	'SF001 row 4, column "function": row 1 has another value for job "a"', 'two functions of one job');
SELECT is(pg_temp.error($$ SELECT 'a' AS job, 'f' AS function, 'ls' AS command $$),
	'SF001 row 1: job "a" has more than one of resource, function and command', 'a function and a command');
SELECT is(pg_temp.error($$ SELECT 'a' AS job, 'b' AS predecessor, 'success, often' AS on_status $$),
	'SF001 row 1, column "on_status": "often" is none of success, failure, skip and end', 'an end that there is not');
SELECT is(pg_temp.error($$ SELECT 'a' AS job, 'end' AS on_status $$),
	'SF001 row 1, column "on_status": there is no predecessor', 'an end of nothing');
SELECT is(pg_temp.error($$ SELECT * FROM (VALUES ('a', '{}'), ('b', '[1]')) AS v (job, parameters) $$),
	'SF001 row 2, column "parameters": it is no JSON object', 'parameters that are no object');
SELECT is(pg_temp.error($$ SELECT 'a' AS job, '{' AS fields $$), 'SF001 row 1, column "fields": it is not JSON',
	'fields that are not JSON');
SELECT is((SELECT code || ' ' || message
		FROM sf_validate(sf_import_jobs($$ SELECT * FROM (VALUES ('a', 'c'), ('b', 'a'), ('c', 'b'), ('d', 'a'))
			AS v (job, predecessor) $$,
	'{"Resource": "sql:now"}')::text) WHERE severity = 'ERROR'),
	'JOB_CYCLE Jobs wait for each other: ''a'' waits for ''c'', which waits for ''b'', which waits for ''a''',
	'jobs that wait for each other');

-- --- rights ---

CREATE ROLE stranger;
REVOKE ALL ON public.job_relation FROM public;
SET LOCAL ROLE stranger;
SELECT throws_ok($$ SELECT sf_import_jobs('public.job_relation') $$, '42501', NULL,
	'the rights on the table are the caller''s');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
