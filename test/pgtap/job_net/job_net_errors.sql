-- JobNet: retries, timeouts, stops, moves, holds and marks in the middle of a net, in one slice (sf_run) and with one
-- transition a slice (sf_step).
-- needs: hold
BEGIN;
SELECT plan(27);
\ir ../../fixtures/phases.sql

CREATE SEQUENCE public.tries;
-- Fail the first n times.
CREATE FUNCTION public.flaky(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	v_try int := nextval('public.tries');
BEGIN
	IF v_try <= n THEN
		PERFORM sf_raise('Bad', 'try ' || v_try);
	END IF;
	RETURN 'try ' || v_try;
END $$;
CREATE FUNCTION public.once(x text) RETURNS text LANGUAGE sql AS 'SELECT x';
SELECT sf_create_activity('outside');

-- The state of a job: a task that fails the first n times; one that does not; one for a program outside.
CREATE FUNCTION pg_temp.flaky(n int, further text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT format('{"Type": "Task", "Resource": "sql:public.flaky", "Parameters": {"n": %s}%s}', n, further) $$;
CREATE FUNCTION pg_temp.once(further text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT format('{"Type": "Task", "Resource": "sql:public.once", "Parameters": {"x": "did"}%s}', further) $$;
CREATE FUNCTION pg_temp.outside(further text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT format('{"Type": "Task", "Resource": "activity:outside"%s}', further) $$;

-- A machine of one net.
CREATE FUNCTION pg_temp.net(name text, jobs text, further text DEFAULT '') RETURNS integer LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, format('{"StartAt": "N", "States": {"N": {"Type": "JobNet", "End": true,
			"Jobs": {%s}%s}}}', jobs, further)::json)
$$;

-- Let an execution go on until it rests.
CREATE FUNCTION pg_temp.go_on(id text, way text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF way = 'memory' THEN
		PERFORM sf_run(id, true);
		RETURN;
	END IF;
	LOOP
		WHILE EXISTS (SELECT FROM sf_step(id)) LOOP
		END LOOP;
		UPDATE _sfflow.branch SET due_at = now() WHERE phase = pg_temp.phase('RUN') AND due_at > now();
		EXIT WHEN NOT FOUND;
	END LOOP;
END $$;

-- What an execution has come to: status, error, jobs with their statuses, output; what sf_check finds.
CREATE FUNCTION pg_temp.state_of(id text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', e.status, e.error, (SELECT string_agg(j.job_id || '=' || j.job_status, ',' ORDER BY j.job_id)
			FROM sf_jobs j WHERE j.state_machine || ':' || j.id = e.execution_id),
		e.output, (SELECT string_agg(c.problem || ' ' || c.detail, ', ') FROM sf_check() c))
	FROM sf_executions e WHERE e.execution_id = state_of.id
$$;

-- Start an execution, and let it go on.
CREATE FUNCTION pg_temp.play(machine text, way text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setval('public.tries', 1, false);
	PERFORM sf_start(machine, '{}', name => way);
	PERFORM pg_temp.go_on(machine || ':' || way, way);
	RETURN pg_temp.state_of(machine || ':' || way);
END $$;
CREATE FUNCTION pg_temp.both(machine text, expected text, what text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT is(pg_temp.play(machine, way), expected, what || ', ' || way) FROM unnest('{memory,rows}'::text[]) way
$$;

-- --- Retry ---

SELECT pg_temp.net('job_retry',
	format('"a": %s, "b": %s', pg_temp.flaky(2, ', "Retry": [{"ErrorEquals": ["Bad"], "MaxAttempts": 2}]'),
	pg_temp.once(', "After": ["a"]')));
SELECT pg_temp.both('job_retry', 'SUCCEEDED a=success,b=success {"a": "try 3", "b": "did"}', 'a job is retried');
SELECT pg_temp.net('job_retry_fails', format('"a": %s, "b": %s, "c": %s',
		pg_temp.flaky(2, ', "Retry": [{"ErrorEquals": ["Bad"], "MaxAttempts": 1}]'),
	pg_temp.once(', "After": ["a"]'), pg_temp.once(', "After": [{"Job": "a", "On": ["failure"]}]')));
SELECT pg_temp.both('job_retry_fails', 'FAILED Bad a=failure,b=skip,c=success', 'a job is retried in vain');
SELECT pg_temp.net('net_retry', format('"a": %s, "b": %s, "c": %s', pg_temp.once(),
		pg_temp.flaky(2, ', "After": ["a"]'), pg_temp.once(', "After": ["b"]')),
	', "Retry": [{"ErrorEquals": ["Bad"], "MaxAttempts": 2}]');
SELECT pg_temp.both('net_retry', 'SUCCEEDED a=success,b=success,c=success {"a": "did", "b": "try 3", "c": "did"}',
	'a net is retried');
SELECT is((SELECT array_agg(attempts ORDER BY job_id) FROM sf_jobs WHERE state_machine = 'net_retry' AND id = 'rows'),
	'{3,3,1}', 'its jobs run again, each time');
SELECT pg_temp.net('net_catch',
	format('"n": {"Type": "JobNet", "Jobs": {"a": %s, "b": %s}, "Retry": [{"ErrorEquals": ["Bad"], "MaxAttempts": 1}],
	"Catch": [{"ErrorEquals": ["Bad"], "ResultPath": "$.e"}]}, "c": {"Type": "Pass", "After": ["n"], "Parameters": '
	'{"e.$": "$$.Jobs.n.Output.e.Cause"}}',
	pg_temp.flaky(2), pg_temp.once(', "After": ["a"]')), ', "ResultSelector": {"c.$": "$.c.e"}');
SELECT pg_temp.both('net_catch', 'SUCCEEDED a=failure,b=skip {"c": "try 2"}', 'a net in a net is retried, and caught');

-- --- a timeout in a job ---

SELECT pg_temp.net('late', format('"a": %s, "b": %s, "c": %s', pg_temp.outside(', "TimeoutSeconds": 10'),
		pg_temp.once(', "After": ["a"]'),
	pg_temp.once(', "After": [{"Job": "a", "On": ["failure"]}]')));
CREATE FUNCTION pg_temp.time_out(id text, way text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_start('late', '{}', name => way);
	PERFORM pg_temp.go_on(id, way);
	UPDATE _sfflow.task SET started_at = now() - interval '1 min' WHERE status = 1;
	UPDATE _sfflow.branch SET due_at = now(), started_at = now() - interval '1 min', deadline = now() - interval '1 s'
	WHERE phase = pg_temp.phase('EXTERNAL');
	PERFORM pg_temp.go_on(id, way);
	RETURN pg_temp.state_of(id);
END $$;
SELECT is(pg_temp.time_out('late:' || way, way), 'FAILED States.Timeout a=failure,b=skip,c=success',
	'a job times out, ' || way)
FROM unnest('{memory,rows}'::text[]) way;

-- --- a stop, and a move, in the middle of a net ---

SELECT pg_temp.net('stop',
	format('"a": %s, "b": %s, "c": %s, "d": %s, "n": {"Type": "JobNet", "After": ["a"], "Jobs": {"n1": %s, "n2": %s}}',
		pg_temp.once(),
	pg_temp.outside(', "After": ["a"]'), pg_temp.once(', "After": ["a", "b"]'), pg_temp.once(', "After": ["c", "n"]'),
	pg_temp.outside(), pg_temp.once(', "After": ["n1"]')), ', "ResultSelector": {"d.$": "$.d"}');
CREATE FUNCTION pg_temp.answer(id text, way text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	LOOP
		PERFORM pg_temp.go_on(id, way);
		PERFORM sf_send_task_success(t.task_token, '1') FROM sf_get_activity_task('outside') t
		WHERE t.task_token IS NOT NULL;
		EXIT WHEN NOT FOUND;
	END LOOP;
	RETURN pg_temp.state_of(id);
END $$;
CREATE FUNCTION pg_temp.stop(id text, way text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	v_stopped text;
BEGIN
	PERFORM sf_stop(id);
	v_stopped := pg_temp.state_of(id);
	PERFORM sf_redrive(id);
	RETURN v_stopped || '; ' || pg_temp.answer(id, way);
END $$;
SELECT pg_temp.play('stop', way) FROM unnest('{memory,rows}'::text[]) way;
-- The program has answered the second one by then, as it answers all: its answers are kept.
SELECT is(pg_temp.stop('stop:' || way, way),
	CASE way WHEN 'memory' THEN 'ABORTED a=success,b=failure,c=skip,d=skip,n1=failure,n2=skip; '
	ELSE 'ABORTED a=success,b=success,c=skip,d=skip,n1=success,n2=skip; ' END ||
	'SUCCEEDED a=success,b=success,c=success,d=success,n1=success,n2=success {"d": "did"}',
	'a net is stopped, and redriven, ' || way)
FROM unnest('{memory,rows}'::text[]) way;

SELECT sf_start('stop', '{}', name => way || '2'), pg_temp.go_on('stop:' || way || '2', way)
	FROM unnest('{memory,rows}'::text[]) way;
SELECT sf_create_state_machine('stop', (SELECT replace(definition::text, '"did"', '"new"') FROM sf_state_machines
		WHERE state_machine = 'stop' ORDER BY version DESC LIMIT 1)::json, or_replace => true);
SELECT sf_migrate('stop:' || way || '2', 2) FROM unnest('{memory,rows}'::text[]) way;
SELECT is(pg_temp.answer('stop:' || way || '2', way),
	'SUCCEEDED a=success,b=success,c=success,d=success,n1=success,n2=success {"d": "new"}',
	'a net is moved to another version, ' || way) FROM unnest('{memory,rows}'::text[]) way;
SELECT sf_start('stop', '{}', name => '3'), sf_run('stop:3');
SELECT sf_create_state_machine('stop', (SELECT replace(definition::text, '["a", "b"]', '["b"]') FROM sf_state_machines
		WHERE state_machine = 'stop' ORDER BY version DESC LIMIT 1)::json, or_replace => true);
SELECT throws_like($$ SELECT sf_migrate('stop:3', 3) $$, '%cannot be migrated%',
	'a net whose jobs wait for others is not moved');
SELECT sf_stop('stop:3');

-- a large net of which no job runs, between two slices
SELECT pg_temp.net('large',
	(SELECT string_agg(format('"a%s": %s, "b%s": %s', i, pg_temp.once(), i,
			pg_temp.once(format(', "After": ["a%s", "a%s"]', i, i % 30 + 1))),
	', ' ORDER BY i) FROM generate_series(1, 30) i), ', "ResultSelector": {"b.$": "$.b29"}');
CREATE FUNCTION pg_temp.rest(id text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_start('large', '{}', name => split_part(id, ':', 2));
	PERFORM sf_run(id, true, 40);
	RETURN (SELECT concat_ws(' ', pg_temp.phase_name(b.phase), b.total,
			(SELECT string_agg(c.problem || ' ' || c.detail, ', ') FROM sf_check() c))
		FROM _sfflow.branch b JOIN _sfflow.execution e USING (execution_no) WHERE e.execution_id = id
		AND b.branch_no = 0);
END $$;
CREATE FUNCTION pg_temp.large(id text, way text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_temp.go_on(id, way);
	RETURN (SELECT concat_ws(' ', e.status, e.output, count(*) FILTER (WHERE j.job_status = 'success'), sum(j.attempts))
		FROM sf_executions e JOIN sf_jobs j ON j.state_machine || ':' || j.id = e.execution_id
		WHERE e.execution_id = large.id
		GROUP BY e.status, e.output);
END $$;
SELECT is(pg_temp.rest('large:' || way), 'NET 60', 'a net between two slices, ' || way)
	FROM unnest('{memory,rows}'::text[]) way;
SELECT sf_stop('large:' || way), sf_redrive('large:' || way) FROM unnest('{memory,rows}'::text[]) way;
SELECT is(pg_temp.large('large:' || way, way), 'SUCCEEDED {"b": "did"} 60 60', 'it is stopped, and redriven, ' || way)
	FROM unnest('{memory,rows}'::text[]) way;
SELECT sf_create_state_machine('large', (SELECT replace(definition::text, '"did"', '"new"') FROM sf_state_machines
		WHERE state_machine = 'large')::json, or_replace => true);
SELECT sf_migrate('large:4', 1) FROM pg_temp.rest('large:4');
SELECT is(pg_temp.large('large:4', 'memory'), 'SUCCEEDED {"b": "did"} 60 60', 'it is moved to another version');

-- --- a hold and a mark of a job in a nested net ---

SELECT pg_temp.net('inner',
	format('"a": %s, "n": {"Type": "JobNet", "After": ["a"], "Jobs": {"n1": %s, "n2": %s, "n3": %s}}, "z": %s',
		pg_temp.once(),
	pg_temp.once(), pg_temp.once(', "After": ["n1"]'), pg_temp.once(', "After": ["n2"]'),
	pg_temp.once(', "After": ["n"]')), ', "ResultSelector": {"n.$": "$.n"}');
CREATE FUNCTION pg_temp.hold(id text, way text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	v_held text;
BEGIN
	PERFORM sf_start('inner', '{}', name => way);
	PERFORM sf_hold(id, state => 'n2');
	PERFORM pg_temp.go_on(id, way);
	v_held := pg_temp.state_of(id);
	PERFORM sf_release(id, state => 'n2');
	PERFORM pg_temp.go_on(id, way);
	RETURN v_held || '; ' || pg_temp.state_of(id);
END $$;
SELECT is(pg_temp.hold('inner:' || way, way),
	'RUNNING a=success,n1=success,n2=entry,n3=entry,z=entry; SUCCEEDED a=success,n1=success,n2=success,n3=success,'
	'z=success '
	'{"n": {"n1": "did", "n2": "did", "n3": "did"}}', 'a job of an inner net is held, ' || way)
	FROM unnest('{memory,rows}'::text[]) way;
CREATE FUNCTION pg_temp.mark(id text, way text, outcome text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_start('inner', '{}', name => split_part(id, ':', 2));
	PERFORM sf_mark(id, 'n2', outcome, reason => 'by hand');
	PERFORM pg_temp.go_on(id, way);
	RETURN pg_temp.state_of(id);
END $$;
SELECT is(pg_temp.mark('inner:failure-' || way, way, 'failure'),
	'FAILED Sfflow.Marked a=success,n1=success,n2=failure,n3=skip,z=skip', 'one is marked as failed, ' || way)
FROM unnest('{memory,rows}'::text[]) way;
SELECT is(pg_temp.mark('inner:skip-' || way, way, 'skip'),
	'SUCCEEDED a=success,n1=success,n2=skip,n3=success,z=success {"n": {"n1": "did", "n2": {}, "n3": "did"}}',
	'one is marked as skipped, ' || way) FROM unnest('{memory,rows}'::text[]) way;

SELECT finish();
ROLLBACK;
