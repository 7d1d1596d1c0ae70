-- What sf_alerts names: each kind appears for its reason, and not without it.
BEGIN;
SELECT plan(11);

CREATE FUNCTION alert_task(bad boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF bad THEN
		PERFORM sf_raise('Bad', 'as told');
	END IF;
END $$;
SELECT sf_create_activity('alert', '1 min', 1);
SELECT sf_create_state_machine('alert_sql', format('{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:%s.alert_task", "End": true}}}',
	current_schema)::json);
SELECT sf_create_state_machine('alert_out', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:alert", "End": true}}}');
CREATE FUNCTION pg_temp.kinds(id text) RETURNS text LANGUAGE sql AS
	$$ SELECT coalesce(string_agg(kind, ',' ORDER BY kind), '') FROM sf_alerts WHERE execution_id = id $$;

-- Failed, and failed again.
SELECT sf_start('alert_sql', '{"bad": true}', 'f'), sf_run('alert_sql:f');
SELECT is(pg_temp.kinds('alert_sql:f'), 'failed', 'failed once');
SELECT sf_redrive('alert_sql:f'), sf_run('alert_sql:f');
SELECT is(pg_temp.kinds('alert_sql:f'), 'failed,failed_again', 'and again under the same id');
SELECT is((SELECT detail FROM sf_alerts WHERE kind = 'failed_again'), 'it has failed 2 times under this id');
SELECT sf_start('alert_sql', '{"bad": false}', 'g'), sf_run('alert_sql:g');
SELECT is(pg_temp.kinds('alert_sql:g'), '', 'what went well is no alert');

-- Nobody polls.
SELECT sf_start('alert_out', '{}', n::text) FROM generate_series(1, 7) n;
SELECT sf_run('alert_out:' || n) FROM generate_series(1, 7) n;
SELECT is_empty($$ SELECT 1 FROM sf_alerts WHERE kind = 'no_poller' $$, 'a task just queued may wait');
UPDATE _sfflow.task SET scheduled_at = scheduled_at - interval '10 min';
SELECT is((SELECT detail FROM sf_alerts WHERE kind = 'no_poller'),
	'activity "alert" has 7 tasks queued and nobody has ever polled it', 'after ten minutes somebody should');

-- Five runs of a second; the sixth takes a minute.
SELECT sf_send_task_success(task_token) FROM sf_get_activity_task('alert', 'w', 5);
UPDATE _sfflow.task SET started_at = now() - interval '1 s' WHERE status = 3;
SELECT sf_run('alert_out:' || n) FROM generate_series(1, 5) n;
SELECT is_empty($$ SELECT 1 FROM sf_alerts WHERE kind = 'no_poller' $$, 'a poll was seen');
SELECT execution_id AS slow FROM sf_get_activity_task('alert', 'w', 1) \gset
SELECT is(pg_temp.kinds(:'slow'), '', 'it has only begun');
UPDATE _sfflow.task SET started_at = now() - interval '1 min' WHERE status = 1;
SELECT is(pg_temp.kinds(:'slow'), 'slow_task', 'a minute is far longer than the runs before');
SET LOCAL sfflow.slow_task_factor = 1000;
SELECT is(pg_temp.kinds(:'slow'), '', 'unless that is usual');

-- Handed out once, never answered.
UPDATE _sfflow.task SET lease_until = now() - interval '1 s' WHERE status = 1;
UPDATE _sfflow.branch b SET due_at = now() FROM _sfflow.execution e WHERE e.execution_no = b.execution_no AND e.execution_id = :'slow';
SELECT sf_run(:'slow');
SELECT is(pg_temp.kinds(:'slow'), 'dead_letter,failed', 'a dead letter is an alert');

SELECT * FROM finish();
ROLLBACK;
