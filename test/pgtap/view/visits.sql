-- Jobs, picture and timeline are projections of one fold of the events: they agree about 1,000 executions of machines
-- that are made up, from a seed. There are retries, catchers, loops, waits, nested Parallel, Map and JobNet states,
-- stops, redrives, restarts and marks among them.
-- needs: hold
BEGIN;
SELECT plan(19);

CREATE FUNCTION chance(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	IF random() * 100 < (payload ->> 'fails')::numeric THEN
		RETURN sf_raise(CASE WHEN random() < 0.7 THEN 'Faulty' ELSE 'Odd' END, 'by chance');
	END IF;
	RETURN jsonb_build_object('again', random() < 0.15);
END $$;
CREATE FUNCTION pg_temp.dice(sides integer) RETURNS integer LANGUAGE sql AS 'SELECT floor(random() * sides)::integer';

-- Members of a state that may fail: a retrier, a catcher that goes on with the first state of its scope, neither, or
-- both.
CREATE FUNCTION pg_temp.recovery(first text) RETURNS text LANGUAGE sql AS $$
	SELECT concat(CASE WHEN random() < 0.5 THEN ', "Retry": [{"ErrorEquals": ["Faulty"], "MaxAttempts": 2, '
		'"IntervalSeconds": 1}]' END,
		CASE WHEN random() < 0.2
		AND first IS NOT NULL THEN format(', "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "%s"}]', first) END) $$;
CREATE FUNCTION pg_temp.task(first text) RETURNS text LANGUAGE sql AS $$
	SELECT format('"Type": "Task", "Resource": "sql:%s.chance", "Arguments": {"fails": %s}%s', current_schema,
		(ARRAY[0, 0, 10, 40])[1 + pg_temp.dice(4)], pg_temp.recovery(first)) $$;

CREATE FUNCTION pg_temp.flow(prefix text, depth integer) RETURNS text LANGUAGE sql AS 'SELECT NULL::text';
-- The members of a state without Next or End.
CREATE FUNCTION pg_temp.any_state(name text, first text, depth integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	kind integer := pg_temp.dice(CASE WHEN depth < 2 THEN 10 ELSE 6 END);
BEGIN
	RETURN CASE
		WHEN kind < 4 THEN pg_temp.task(first)
		WHEN kind = 4 THEN '"Type": "Pass"'
		WHEN kind = 5 THEN '"Type": "Wait", "Seconds": 1000'
		WHEN kind = 6 THEN format('"Type": "Parallel", "Branches": [%s, %s]%s', pg_temp.flow(name || 'a', depth + 1),
			pg_temp.flow(name || 'b', depth + 1), pg_temp.recovery(first))
		WHEN kind = 7 THEN format('"Type": "Map", "Items": [1, 2, 3], "MaxConcurrency": %s, "ItemProcessor": %s%s',
			pg_temp.dice(3),
			pg_temp.flow(name || 'i', depth + 1), pg_temp.recovery(first))
		ELSE format('"Type": "JobNet", "FailureMode": "%s", "Jobs": {"%sx": {%s}, "%sy": {%s}, "%sz": {%s, "After": '
			'["%sx"]}, "%sf": %s}%s',
			(ARRAY['ABORT', 'DRAIN'])[1 + pg_temp.dice(2)], name, pg_temp.task(NULL), name, pg_temp.task(NULL), name,
			pg_temp.task(NULL), name,
			name, pg_temp.flow(name || 'f', depth + 1), pg_temp.recovery(first)) END;
END $$;
-- A definition of up to three states, and of a loop now and then.
CREATE OR REPLACE FUNCTION pg_temp.flow(prefix text, depth integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n integer := 1 + pg_temp.dice(3);
	first text := prefix || '1';
	states text := '';
BEGIN
	FOR i IN 1 .. n LOOP
		states := states || format('"%s%s": {%s, %s}, ', prefix, i, pg_temp.any_state(prefix || i, first, depth),
			format('"Next": "%s"', CASE WHEN i < n THEN format('%s%s', prefix, i + 1) ELSE prefix || 'Loop' END));
	END LOOP;
	RETURN format('{"StartAt": "%s", "States": {%s "%sLoop": {"Type": "Choice",
		"Choices": [{"Condition": "{%% $states.input.again = true %%}", "Next": "%s"}], "Default": "%sEnd"},
		"%sEnd": {"Type": "%s"}}}',
		first, states, prefix, first, prefix, prefix, CASE WHEN pg_temp.dice(12) = 0 THEN 'Fail' ELSE 'Succeed' END);
END $$;

CREATE TABLE refused (reason text);
-- Settle a job in whatever way, if it can be.
CREATE FUNCTION pg_temp.mark(execution text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v_job text := (SELECT job_id FROM sf_jobs WHERE execution_id = execution ORDER BY job_status <> 'failure',
		random() LIMIT 1);
BEGIN
	PERFORM sf_mark(execution, v_job, (ARRAY['success', 'skip', 'failure'])[1 + pg_temp.dice(3)]);
EXCEPTION WHEN OTHERS THEN
	INSERT INTO refused VALUES (SQLERRM);
END $$;
CREATE FUNCTION pg_temp.redrive(execution text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_redrive(execution);
EXCEPTION WHEN OTHERS THEN
	INSERT INTO refused VALUES (SQLERRM);
END $$;

-- Run an execution, and interfere.
CREATE FUNCTION pg_temp.live(machine text, name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v_id text := sf_start(machine, '{}', name);
	v_status text;
BEGIN
	FOR turn IN 1 .. 3 + pg_temp.dice(6) LOOP
		v_status := (SELECT status FROM sf_executions WHERE execution_id = v_id);
		CASE
			WHEN v_status = 'SUCCEEDED' THEN
				EXIT;
			WHEN v_status = 'RUNNING' AND random() < 0.15 THEN
				PERFORM pg_temp.mark(v_id);
			WHEN v_status = 'RUNNING' AND random() < 0.1 THEN
				PERFORM sf_stop(v_id);
			WHEN v_status = 'RUNNING' THEN
				PERFORM sf_run(v_id, random() < 0.9, 4 + pg_temp.dice(16));
			WHEN random() < 0.2 THEN
				PERFORM pg_temp.mark(v_id);
			WHEN random() < 0.05 THEN
				PERFORM sf_start(machine, '{}', name, if_exists => 'restart');
			WHEN random() < 0.8 THEN
				PERFORM pg_temp.redrive(v_id);
			ELSE
				EXIT;
		END CASE;
	END LOOP;
END $$;

SET client_min_messages = warning;
SELECT setseed(0.275) \g /dev/null
SELECT sf_create_state_machine('m' || n, jsonb_set(pg_temp.flow('s', 0)::jsonb, '{QueryLanguage}', '"JSONata"')::json)
FROM generate_series(1, 100) AS n \g /dev/null
SELECT pg_temp.live('m' || 1 + n % 100, n::text) FROM generate_series(1, 1000) AS n \g /dev/null
RESET client_min_messages;

-- What the three tell, each by itself. The label of a job ends with its state, and the indexes of its iteration.
CREATE TEMPORARY TABLE job AS SELECT j.execution_id AS id, regexp_replace(j.job_id, '^.*/|\[[^]/]*\]$', '',
	'g') AS state, j.job_id, j.job_status AS status,
	j.attempts, j.started_at, j.stopped_at FROM sf_jobs j;
CREATE TEMPORARY TABLE picture AS SELECT e.execution_id AS id, e.status AS ended, s ->> 'name' AS state,
	s ->> 'status' AS status,
	coalesce((s ->> 'visits')::integer, 0) AS visits, coalesce((s ->> 'attempts')::integer, 0) AS attempts,
	(s ->> 'ms')::numeric AS ms
FROM sf_executions e, jsonb_array_elements(sf_graph_status(execution_id)) AS s;
CREATE TEMPORARY TABLE span AS SELECT e.execution_id AS id, s.*, row_number() OVER (PARTITION BY execution_id, job_id
	ORDER BY visit DESC, attempt DESC) AS from_last
FROM sf_executions e, _sfflow.spans(execution_id, NULL, true, 0, 1000000) s;
UPDATE span SET status = 'failure' WHERE status = 'aborted'; -- which the others tell by the cause and by a flag
CREATE INDEX ON span (id, job_id);
CREATE TEMPORARY TABLE event AS SELECT execution_id AS id, type, state FROM sf_history
	WHERE type ~ 'Marked|Redriven|Started$';
CREATE TEMPORARY TABLE marked AS SELECT DISTINCT id, state FROM event WHERE type = 'TaskStateMarked';
CREATE TEMPORARY TABLE redriven AS SELECT DISTINCT id FROM event WHERE type = 'ExecutionRedriven';
ANALYZE job, picture, span, event, marked, redriven;

-- There is enough of everything.
SELECT is(count(DISTINCT id), 1000::bigint, 'there are 1,000 executions') FROM picture;
SELECT cmp_ok(count(*), '>', 100::bigint, '... many were redriven') FROM redriven;
SELECT cmp_ok(count(*), '>', 100::bigint, '... many jobs were marked') FROM marked;
SELECT cmp_ok(count(*), '>', 5::bigint, '... and restarted') FROM (SELECT id FROM event WHERE type = 'ExecutionStarted'
	GROUP BY 1 HAVING count(*) > 1) x;
SELECT cmp_ok(count(*), '>', 5::bigint, type || ' states have several attempts') FROM span
	WHERE type IN ('Parallel', 'Map', 'JobNet') AND attempt > 1 GROUP BY type ORDER BY type;

-- Jobs and picture
SELECT is_empty($$ SELECT j.*, p.attempts FROM (SELECT id, state, sum(attempts) AS tried FROM job GROUP BY 1, 2) j
	JOIN picture p USING (id, state) WHERE p.attempts <> j.tried $$,
	'the picture counts the attempts of all iterations of a job');
-- A mark counts in the picture once it takes effect. What a redrive goes past has failed in the picture, and is no job
-- any more.
CREATE TEMPORARY TABLE passed AS SELECT DISTINCT j.id, j.state FROM job j JOIN span s ON s.id = j.id
	AND s.job_id = j.job_id AND s.from_last = 1
WHERE j.status IN ('skip', 'entry') AND s.status = 'failure' AND j.id IN (SELECT id FROM redriven);
SELECT is_empty($$ SELECT j.*, p.status FROM (
		SELECT id, state, max(CASE status WHEN 'failure' THEN 4 WHEN 'running' THEN 3 WHEN 'success' THEN 2
			WHEN 'entry' THEN 1 ELSE 0 END) AS weight FROM job GROUP BY 1, 2) j
	JOIN picture p USING (id, state)
	WHERE p.status <> (ARRAY['skip', 'entry', 'success', 'running', 'failure'])[1 + weight]
	AND NOT (p.status = 'failure' AND (id, state) IN (SELECT id, state FROM passed))
		AND (id, state) NOT IN (SELECT id, state FROM marked) $$, 'the picture has the weightiest status of a job');
-- The grid has the longest time among iterations, the picture the sum of all.
CREATE TEMPORARY TABLE grid AS SELECT m.state_machine, g.execution_id AS id, g.job_id AS state, g.jobs,
	g.job_status AS status, g.attempts, extract(epoch FROM g.duration) * 1000 AS ms
FROM sf_state_machines m, sf_grid(m.state_machine, 1000) g WHERE m.is_current AND m.state_machine IN (SELECT 'm' || n
	FROM generate_series(1, 100) n);
SELECT set_eq('SELECT id, state, jobs, attempts FROM grid WHERE state IS NOT NULL',
	'SELECT id, state, count(*)::integer, sum(attempts)::integer FROM job GROUP BY 1, 2', 'the grid has all jobs');
SELECT is_empty($$ SELECT g.*, p.ms FROM grid g JOIN picture p USING (id, state) WHERE p.ended <> 'RUNNING'
	AND g.status <> 'entry' AND (id, state) NOT IN (SELECT id, state FROM passed)
	AND (g.ms IS NULL <> (p.ms IS NULL) OR g.ms > p.ms OR g.jobs = 1 AND g.ms < p.ms) $$,
	'... with the times of the picture');
SELECT is_empty($$ SELECT g.* FROM grid g
	JOIN (SELECT id, state, max(array_position('{skip,success,entry,running,failure}', status)) AS weight FROM job
		GROUP BY 1, 2) j USING (id, state)
	WHERE g.status <> ('{skip,success,entry,running,failure}'::text[])[weight] $$,
	'... and the weightiest status, where some are to come before some that have succeeded');

-- Picture and timeline
SELECT is_empty($$ SELECT s.*, p.visits FROM (SELECT id, state, sum(visit) AS visits FROM (SELECT id, state, job_id,
			max(visit) AS visit FROM span GROUP BY 1, 2, 3) x GROUP BY 1, 2) s
	FULL JOIN (SELECT * FROM picture WHERE state IN (SELECT state FROM span WHERE span.id = picture.id)) p USING (id,
		state) WHERE p.visits <> s.visits $$,
	'picture and timeline have the same visits');
SELECT is_empty($$ SELECT s.*, p.attempts FROM (SELECT id, state, count(*) AS tried FROM span
		WHERE type IN ('Parallel', 'Map', 'JobNet') GROUP BY 1, 2) s JOIN picture p USING (id, state)
	WHERE p.ended <> 'RUNNING' AND p.attempts <> s.tried $$,
	'... and the same attempts of joins, once something has happened in the last one');
SELECT is_empty($$ SELECT s.*, p.ms
	FROM (SELECT id, state, trunc(sum(extract(epoch FROM stopped_at - started_at)) * 1000) AS ms FROM span GROUP BY 1,
		2) s JOIN picture p USING (id, state)
	WHERE p.ended <> 'RUNNING' AND p.ms + 1 < s.ms $$, 'the picture counts all attempts, and the time between them');
SELECT is_empty($$ SELECT id, state FROM span JOIN picture p USING (id, state) WHERE p.ended <> 'RUNNING'
	AND (stopped_at IS NULL OR span.status = 'running') $$, 'nothing lasts when the execution has ended');

-- Jobs and timeline
SELECT is_empty($$ SELECT j.*, s.status FROM job j LEFT JOIN span s ON s.id = j.id AND s.job_id = j.job_id
	AND s.from_last = 1
	WHERE (j.id, j.state) NOT IN (SELECT id, state FROM marked) AND CASE
		WHEN j.status IN ('success', 'failure') THEN s.status IS DISTINCT FROM j.status
		WHEN j.status = 'running' THEN s.status IS NULL
		OR s.status = 'success' -- the last try may have failed, and the next one is to come
		ELSE s.status IS NOT NULL AND NOT (s.status = 'failure' AND j.id IN (SELECT id FROM redriven)) END $$,
		'a job is as its last attempt');
SELECT is_empty($$ SELECT j.*, s.began FROM job j CROSS JOIN LATERAL (
		SELECT min(started_at) AS began FROM span s WHERE s.id = j.id AND s.job_id = j.job_id GROUP BY visit
		ORDER BY visit DESC LIMIT 1) s
	WHERE j.started_at <> s.began AND j.status IN ('success', 'failure', 'running') $$,
	'a job began with the first attempt of its last visit');
SELECT is_empty($$ SELECT j.*, s.stopped_at FROM job j JOIN span s ON s.id = j.id AND s.job_id = j.job_id
	AND s.from_last = 1
	WHERE j.stopped_at <> s.stopped_at AND j.status IN ('success', 'failure') AND (j.id, j.state) NOT IN (SELECT id,
		state FROM marked) $$, '... and ended with the last one');
SELECT * FROM finish();
ROLLBACK;
