-- Alerts tell rules when they open: each kind once, by the write that opens it or, if time opens it, by a look.
-- needs: rule
BEGIN;
SELECT plan(30);

CREATE ROLE told_owner;
CREATE ROLE told_reader;
CREATE FUNCTION told_task(bad boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF bad THEN
		PERFORM sf_raise('Bad', 'as told');
	END IF;
END $$;
SELECT sf_create_activity('told', '1 min', 1) \g /dev/null
SELECT sf_create_state_machine('told_sql', format('{"StartAt": "T", "States": {"T": {"Type": "Task",
		"Resource": "sql:%s.told_task", "End": true}}}',
	current_schema)::json) \g /dev/null
SELECT sf_create_state_machine('told_out', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "activity:told", "End": true}}}') \g /dev/null
SELECT sf_create_rule('told', '{"source": ["sfflow.alerts"]}', 'notify:told') \g /dev/null
CREATE FUNCTION pg_temp.events() RETURNS text LANGUAGE sql AS $$
	WITH d AS (DELETE FROM _sfflow.rule_delivery RETURNING event)
	SELECT coalesce(string_agg(concat_ws(' ', event #>> '{detail,alert}', event #>> '{detail,status}',
				event #>> '{detail,target}', event #>> '{detail,name}'),
		', ' ORDER BY event #>> '{detail,alert}', event #>> '{detail,status}'), '') FROM d $$;
CREATE FUNCTION pg_temp.look() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM _sfflow.check_alerts();
	RETURN pg_temp.events();
END $$;

-- Those that a write opens.
SELECT sf_start('told_sql', '{"bad": true}', 'f'), sf_run('told_sql:f') \g /dev/null
SELECT is(pg_temp.events(), 'failed OPENED f', 'failed');
SELECT sf_redrive('told_sql:f') \g /dev/null
SELECT is(pg_temp.events(), 'failed CLEARED f', 'redriven');
SELECT sf_run('told_sql:f') \g /dev/null
SELECT is(pg_temp.events(), 'failed OPENED f, failed_again OPENED f', 'failed again');
SELECT sf_redrive('told_sql:f') \g /dev/null
SELECT is(pg_temp.events(), 'failed CLEARED f, failed_again CLEARED f', 'redriven once more');
SELECT sf_stop('told_sql:f') \g /dev/null
SELECT is(pg_temp.look(), '', 'a look has nothing to tell of these');

-- A dead letter, at the moment of the failure.
SELECT sf_start('told_out', '{}', 'd'), sf_run('told_out:d') \g /dev/null
SELECT execution_id FROM sf_get_activity_task('told', 'w', 1) \g /dev/null
UPDATE _sfflow.task SET lease_until = now() - interval '1 s' WHERE status = 1;
UPDATE _sfflow.branch b SET due_at = now() FROM _sfflow.execution e WHERE e.execution_no = b.execution_no
	AND e.execution_id = 'told_out:d';
SELECT sf_run('told_out:d') \g /dev/null
SELECT is((SELECT (event #>> '{detail,sinceDate}')::bigint FROM _sfflow.rule_delivery WHERE event #>> '{detail,alert}'
		= 'dead_letter'),
	(SELECT floor(extract(epoch FROM since) * 1000)::bigint FROM sf_alerts WHERE kind = 'dead_letter'),
	'since as the view has it');
SELECT is(pg_temp.look(), 'dead_letter OPENED d, failed OPENED d', 'a dead letter');
SELECT is(pg_temp.look(), '', 'once');
SELECT sf_stop('told_out:d') \g /dev/null

-- A task that takes too long.
SELECT sf_start('told_out', '{}', n::text), sf_run('told_out:' || n) FROM generate_series(1, 6) n \g /dev/null
SELECT sf_send_task_success(task_token) FROM sf_get_activity_task('told', 'w', 5) \g /dev/null
UPDATE _sfflow.task SET started_at = now() - interval '1 s' WHERE status = 3;
SELECT sf_run('told_out:' || n) FROM generate_series(1, 5) n \g /dev/null
SELECT split_part(execution_id, ':', 2) AS slow FROM sf_get_activity_task('told', 'w', 1) \gset
SELECT is(pg_temp.look(), '', 'nothing is slow');
UPDATE _sfflow.task SET started_at = now() - interval '1 min' WHERE status = 1;
SELECT is(pg_temp.look(), 'slow_task OPENED ' || :'slow', 'a slow task');
SELECT is(pg_temp.look() || pg_temp.look(), '', 'once, however often it is looked at');
SELECT is(sf_acknowledge('told_out:' || :'slow', 'slow_task'), 1, 'it is acknowledged');
SELECT is(pg_temp.look(), 'slow_task ACKNOWLEDGED ' || :'slow', 'which is told, and not that it is cleared');
SELECT sf_stop('told_out:' || :'slow') \g /dev/null

-- No program polls, until one does.
SELECT sf_start('told_out', '{}', 'q'), sf_run('told_out:q') \g /dev/null
UPDATE _sfflow.task SET scheduled_at = scheduled_at - interval '10 min';
UPDATE _sfflow.activity SET last_polled_at = NULL WHERE name = 'told';
SELECT is((SELECT count(*) FROM sf_alerts WHERE kind = 'no_poller'), 1::bigint, 'no program polls');
SELECT _sfflow.check_alerts() \g /dev/null
SELECT is((SELECT event #>> '{resources,0}' FROM _sfflow.rule_delivery),
	'arn:aws:states:us-east-1:000000000000:activity:told', 'of the activity');
SELECT is(pg_temp.look(), 'no_poller OPENED activity:told', '... tells an event');
UPDATE _sfflow.task SET scheduled_at = scheduled_at + interval '1 min' WHERE status = 0;
SELECT is(pg_temp.look(), '', 'once, although the oldest task is another one now');
SELECT sf_stop('told_out:q') \g /dev/null
SELECT is(pg_temp.look(), 'no_poller CLEARED activity:told', 'nothing is queued any more');

-- Overdue: nothing drives the database.
SELECT sf_start('told_sql', '{"bad": false}', 'o') \g /dev/null
UPDATE _sfflow.branch b SET due_at = now() - interval '6 min' FROM _sfflow.execution e
	WHERE e.execution_no = b.execution_no AND e.execution_id = 'told_sql:o';
SELECT is(pg_temp.look() || pg_temp.look(), 'overdue OPENED o', 'an execution that is not driven');
SELECT sf_run('told_sql:o') \g /dev/null
SELECT is(pg_temp.look(), 'overdue CLEARED o', '... is driven again');
SELECT sf_start('told_sql', '{"bad": false}', 'p') \g /dev/null
UPDATE _sfflow.branch b SET due_at = now() - interval '6 min' FROM _sfflow.execution e
	WHERE e.execution_no = b.execution_no AND e.execution_id = 'told_sql:p';
SELECT pg_temp.look(), sf_run('told_sql:p') \g /dev/null
UPDATE _sfflow.execution SET stopped_at = now() - interval '1 day' WHERE execution_id = 'told_sql:p';
SELECT sf_purge('1 hour') \g /dev/null
SELECT is(pg_temp.look(), 'overdue CLEARED p', 'so is one that has been purged since');

-- A run that was missed, and a machine without an owner.
INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, timezone, cron_job_id,
	changed_at, created_at)
VALUES ('told', current_user::regrole, '0 2 * * *', 'told_sql', '{}', 'UTC', 0, now() - interval '3 days', now());
SELECT is((SELECT count(*) FROM sf_alerts WHERE kind = 'missed_run'), 1::bigint, 'a run was missed');
SELECT is(pg_temp.look() || pg_temp.look(), 'missed_run OPENED schedule:told', '... tells an event');
DELETE FROM _sfflow.schedule WHERE name = 'told';
SELECT is(pg_temp.look(), 'missed_run CLEARED schedule:told', '... also when the schedule is gone');
UPDATE _sfflow.state_machine SET owner = 999999::oid::regrole WHERE name = 'told_sql';
SELECT is((SELECT count(*) FROM sf_alerts WHERE kind = 'unknown_owner'), 1::bigint, 'the owner is gone');
SELECT is(pg_temp.look() || pg_temp.look(), 'unknown_owner OPENED', '... tells an event');
SELECT is((SELECT count(*) FROM _sfflow.told_alert), 1::bigint, 'what is over is forgotten');
UPDATE _sfflow.state_machine SET owner = current_user::regrole WHERE name = 'told_sql';

-- A rule knows of what its owner may read.
SELECT sf_drop_rule('told'), sf_grant('CREATE', '*', 'told_owner'), sf_grant('CREATE', '*', 'told_reader'),
	sf_grant('READ', 'told_out', 'told_reader') \g /dev/null
SET LOCAL ROLE told_owner;
SELECT sf_create_rule('mine', '{"source": ["sfflow.alerts"]}', 'notify:mine') \g /dev/null
SET LOCAL ROLE told_reader;
SELECT sf_create_rule('read', '{"source": ["sfflow.alerts"]}', 'notify:read') \g /dev/null
RESET ROLE;
SELECT sf_start('told_out', '{}', 'r') \g /dev/null
UPDATE _sfflow.branch b SET due_at = now() - interval '6 min' FROM _sfflow.execution e
	WHERE e.execution_no = b.execution_no AND e.execution_id = 'told_out:r';
SELECT _sfflow.check_alerts() \g /dev/null
SELECT is((SELECT string_agg(rule_name || ' ' || (event #>> '{detail,name}'), ', ') FROM sf_rule_deliveries
		WHERE event #>> '{detail,alert}' = 'overdue'), 'read r', 'READ shows it');
UPDATE _sfflow.execution SET status = 1, stopped_at = now() - interval '1 day' WHERE execution_id = 'told_out:r';
SELECT sf_purge('1 hour') \g /dev/null
DELETE FROM _sfflow.rule_delivery;
SELECT _sfflow.check_alerts() \g /dev/null
SELECT is((SELECT string_agg(rule_name || ' ' || (event #>> '{resources,0}'), ', ') FROM sf_rule_deliveries),
	'read arn:aws:states:us-east-1:000000000000:execution:told_out:r', '... also of an execution that is gone');

-- More than one look tells of.
SELECT sf_drop_rule('mine'), count(*) FROM sf_start_many('told_out',
	'SELECT jsonb_build_object() FROM generate_series(1, 1100)') \g /dev/null
UPDATE _sfflow.branch b SET due_at = now() - interval '6 min' FROM _sfflow.execution e
	WHERE e.execution_no = b.execution_no AND e.execution_id LIKE 'told_out:%' AND b.due_at IS NOT NULL;
SELECT is(_sfflow.check_alerts()::text || _sfflow.check_alerts()::text, 'truefalse', 'a thousand at a time');

SELECT * FROM finish();
ROLLBACK;
