-- JobNet: a net that goes on as a whole, slice by slice: which rows it has between slices, and what comes of it when it
-- is looked at, stepped through, stopped and redriven, or moved to another version there.
BEGIN;
SELECT plan(36);
\ir ../../fixtures/phases.sql

CREATE TABLE public.ran (n serial, id text, job text);
CREATE TABLE public.bad (id text, job text);
-- A SQL function that writes nothing but what it ran; it fails where the table says so.
CREATE FUNCTION public.job(id text, job text, before jsonb DEFAULT NULL) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.ran (id, job) VALUES (id, job);
	IF EXISTS (SELECT FROM public.bad b WHERE b.id = job.id AND b.job = job.job) THEN
		PERFORM sf_raise('Bad', job);
	END IF;
	RETURN jsonb_build_object('did', job, 'after', before->'did');
END $$;

-- A net of 60 jobs: each comes after up to two of the ten before it, every fourth takes the output of one of them,
-- every seventh has a condition that does not hold if the input says so, and what comes after it runs all the same.
CREATE FUNCTION pg_temp.net(backwards boolean) RETURNS integer LANGUAGE sql AS $net$
	SELECT sf_create_state_machine('net', or_replace => true, definition => json_build_object('StartAt', 'N', 'States',
			json_build_object('N', json_build_object(
		'Type', 'JobNet', 'End', true, 'Jobs',
		(SELECT json_object_agg('j' || i, jsonb_build_object('Type', 'Task', 'Resource', 'sql:public.job',
			'After', (SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('Job', 'j' || b, 'On', '["success",
						"skip"]'::jsonb)), '[]')
				FROM (SELECT i - 1 - (i * k * 7) % 10 AS b FROM generate_series(1, 2) k) l WHERE b > 0),
			'Parameters', jsonb_build_object('id.$', '$$.Execution.Name', 'job', 'j' || i)
				|| CASE WHEN i % 4 = 0 AND i > 10 AND (i - 1 - (i * 7) % 10) % 7 > 0
					THEN jsonb_build_object('before.$', format('$$.Jobs.j%s.Output', i - 1 - (i * 7) % 10))
					ELSE '{}' END)
			|| CASE i % 7 WHEN 0 THEN '{"Condition": {"Variable": "$.all", "BooleanEquals": true}}'::jsonb ELSE '{}' END
			ORDER BY CASE WHEN backwards THEN -i ELSE i END) FROM generate_series(1, 60) i)))))
$net$;
SELECT pg_temp.net(false) AS done \gset

-- The phase of the net, how many rows its jobs have, and how many of these are shared.
CREATE FUNCTION pg_temp.rows_of(id text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', (SELECT pg_temp.phase_name(b.phase) FROM _sfflow.branch b
			WHERE b.execution_no = e.execution_no AND b.branch_no = 0), count(b), count(b.jobs))
	FROM _sfflow.execution e LEFT JOIN _sfflow.branch b ON b.execution_no = e.execution_no AND b.parent_no = 0
	WHERE e.execution_id = 'net:' || id GROUP BY e.execution_no
$$;
-- What is known of an execution: its status, its output, how many jobs of each status it has, whether one ran twice.
CREATE FUNCTION pg_temp.outcome(id text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', e.status, md5(e.output::text),
		(SELECT string_agg(j.n || ' ' || j.job_status, ', ' ORDER BY j.job_status) FROM (
			SELECT j.job_status, count(*) AS n FROM sf_jobs j WHERE j.state_machine = 'net' AND j.id = outcome.id
			GROUP BY 1) j),
		(SELECT 'twice: ' || string_agg(t.job, ' ') FROM (
			SELECT r.job FROM public.ran r WHERE r.id = outcome.id GROUP BY 1 HAVING count(*) > 1) t))
	FROM sf_executions e WHERE e.execution_id = 'net:' || outcome.id
$$;
-- Start an execution, and run it until some steps of a net have been made.
CREATE FUNCTION pg_temp.begin(id text, steps integer, input jsonb DEFAULT '{"all": false}') RETURNS text
	LANGUAGE sql AS $$
	SELECT sf_run(sf_start('net', input, name => id), max_steps => steps)
$$;
CREATE FUNCTION pg_temp.step(id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	WHILE EXISTS (SELECT FROM sf_step('net:' || id)) LOOP END LOOP;
END $$;

SELECT is(pg_temp.begin('once', 1000), 'SUCCEEDED', 'a net ends in one slice');
SELECT is(pg_temp.outcome('once') ~ '52 success, 8 skip|8 skip, 52 success', true,
	'its jobs have succeeded, but for those whose condition does not hold');

-- --- rows between slices ---

SELECT is(pg_temp.begin('parts', 25), 'RUNNING', 'another one goes on in a later slice');
SELECT is(pg_temp.rows_of('parts'), 'NET 1 1', 'the jobs that have ended share a row, the others have none');
SELECT is_empty($$ SELECT * FROM sf_check() $$, 'the tables hold together');
SELECT is((SELECT count(*) FILTER (WHERE job_status = 'success') || ' ' || count(*) FILTER (WHERE job_status = 'entry')
		FROM sf_jobs WHERE id = 'parts'),
	(SELECT count(*) || ' ' || 60 - count(*) - 3 FROM ran WHERE id = 'parts'),
	'the others are shown as jobs to come, but for three that were skipped');
SELECT is(sf_run('net:parts', max_steps => 20), 'RUNNING', 'it goes on once more');
SELECT is(pg_temp.rows_of('parts'), 'NET 2 2', 'with one more row');
SELECT is(sf_run('net:parts'), 'SUCCEEDED', 'and to its end');
SELECT is(pg_temp.outcome('parts'), pg_temp.outcome('once'), 'with the same outcome');

-- --- by rows from there ---

SELECT pg_temp.begin('rows', 25) AS done \gset
SELECT lives_ok($$ SELECT sf_step('net:rows'), sf_step('net:rows') $$, 'a net that goes on is stepped through');
SELECT is_empty($$ SELECT * FROM sf_check() $$, 'its jobs have rows then');
SELECT pg_temp.step('rows') AS done \gset
SELECT is(pg_temp.outcome('rows'), pg_temp.outcome('once'), 'and it has the same outcome');

-- --- stopped ---

SELECT pg_temp.begin('stopped', 25) AS done \gset
SELECT sf_stop('net:stopped') AS done \gset
SELECT is_empty($$ SELECT * FROM sf_check() $$, 'a net is stopped between slices');
SELECT sf_redrive('net:stopped') AS done \gset
SELECT is_empty($$ SELECT * FROM sf_check() $$, 'a redrive gives its jobs rows');
SELECT is(sf_run('net:stopped'), 'SUCCEEDED', 'and it goes on');
SELECT is(pg_temp.outcome('stopped'), pg_temp.outcome('once'), 'with the same outcome: none runs twice');

-- --- redriven within a Parallel, by a session that has lower numbers for rows than those there are ---

SELECT sf_create_state_machine('within', json_build_object('StartAt', 'P', 'States',
		json_build_object('P', json_build_object('Type', 'Parallel', 'End', true, 'Branches', json_build_array(
	json_build_object('StartAt', 'N', 'States', json_build_object('N', json_build_object('Type', 'JobNet', 'End', true,
				'Jobs',
		(SELECT json_object_agg('j' || i, json_build_object('Type', 'Task', 'Resource', 'sql:public.job', 'Parameters',
			json_build_object('id.$', '$$.Execution.Name', 'job', 'j' || i))) FROM generate_series(1, 60) i)))),
	'{"StartAt": "B", "States": {"B": {"Type": "Pass", "End": true}}}'::json))))) AS done \gset
SELECT last_value AS low, setval('_sfflow.branch_no', last_value + 1000000) AS done FROM _sfflow.branch_no \gset
SELECT is(sf_run(sf_start('within', '{}', name => 'within'), max_steps => 20), 'RUNNING', 'a net within a Parallel');
SELECT is((SELECT count(*) FROM _sfflow.branch b JOIN _sfflow.execution e USING (execution_no)
		WHERE e.execution_id = 'within:within' AND b.phase = pg_temp.phase('NET') AND b.job_ends IS NOT NULL),
	1::bigint, 'goes on as a whole');
SELECT setval('_sfflow.branch_no', :low) AS done, sf_stop('within:within') AS stopped,
	sf_redrive('within:within') AS redriven \gset
SELECT set_eq($$ SELECT problem FROM sf_check() $$, '{sequence_behind}'::text[], 'its jobs get rows of lower numbers');
SELECT is(sf_run('within:within'), 'SUCCEEDED', 'and it goes on');
SELECT is((SELECT count(*) || ' ' || count(DISTINCT job) FROM ran WHERE id = 'within'), '60 60',
	'each job has run once');
SELECT setval('_sfflow.branch_no', :low + 2000000) AS done \gset

-- --- moved to a version where the jobs have other numbers ---

SELECT pg_temp.begin('moved', 25) AS done \gset
SELECT pg_temp.net(true) AS done \gset
SELECT lives_ok($$ SELECT sf_migrate('net:moved', 2) $$, 'a net is moved between slices');
SELECT is_empty($$ SELECT * FROM sf_check() $$, 'the tables hold together');
SELECT is(sf_run('net:moved'), 'SUCCEEDED', 'and it goes on');
SELECT is(pg_temp.outcome('moved'), pg_temp.outcome('once'), 'with the same outcome');

-- --- failed jobs ---

INSERT INTO bad SELECT id, job FROM unnest('{fails,fails-parts}'::text[]) id, unnest('{j5,j31}'::text[]) job;
SELECT is(pg_temp.begin('fails', 1000, '{"all": true}'), 'FAILED', 'a net with two jobs that fail');
SELECT is(pg_temp.begin('fails-parts', 25, '{"all": true}'), 'RUNNING', 'goes on after the first one of them');
SELECT is(pg_temp.rows_of('fails-parts'), 'NET 2 1', 'the one that has failed has a row of its own');
SELECT is(sf_run('net:fails-parts'), 'FAILED', 'and it fails at its end');
SELECT is(pg_temp.outcome('fails-parts'), pg_temp.outcome('fails'), 'with the same outcome');
DELETE FROM bad;
SELECT is((SELECT sf_run('net:' || id) || ' ' || pg_temp.outcome(id) FROM (SELECT sf_redrive('net:fails-parts'),
			'fails-parts' AS id) r),
	(SELECT sf_run('net:' || id) || ' ' || pg_temp.outcome(id) FROM (SELECT sf_redrive('net:fails'), 'fails' AS id) r),
	'so has a redrive');

-- --- a wide net ---

SELECT sf_create_state_machine('wide', json_build_object('StartAt', 'N', 'States',
		json_build_object('N', json_build_object('Type', 'JobNet', 'End', true,
	'Jobs', (SELECT json_object_agg('j' || i, json_build_object('Type', 'Pass', 'Result', i))
		FROM generate_series(1, 700) i))))) AS done \gset
SELECT sf_start('wide', name => 'x') AS done \gset
SELECT is(sf_run('wide:x', max_steps => 601), 'RUNNING', 'a net of jobs that wait for none');
SELECT is((SELECT count(*) FROM _sfflow.branch WHERE parent_no = 0), 3::bigint,
	'has one row for up to 256 jobs that have ended');
SELECT is(sf_run('wide:x'), 'SUCCEEDED', 'and ends');
SELECT is((SELECT sum(v::int) FROM sf_executions e, jsonb_each_text(e.output) o(k, v) WHERE e.execution_id = 'wide:x'),
	245350::bigint, 'with the outputs of all of them');
SELECT * FROM finish();
ROLLBACK;
