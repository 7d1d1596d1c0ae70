-- Tasks of people: what time brings (Due, Escalate), what rules are told, alerts.
-- needs: human rule
BEGIN;
SELECT plan(32);

CREATE ROLE human_clerk; CREATE ROLE human_lead; CREATE ROLE human_boss;
SELECT sf_create_worklist('ask'), sf_grant('DO', 'human:ask', r)
	FROM unnest('{human_clerk,human_lead,human_boss}'::text[]) r \g /dev/null
CREATE FUNCTION pg_temp.go(machine text, name text, input jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT sf_start(machine, input, name); SELECT sf_run(machine || ':' || name) $$;
-- What has become of a task, in order: the same as rules are told, whose deliveries have no order.
CREATE FUNCTION pg_temp.told(id text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', h.action, h.role), ', ' ORDER BY h.at) FROM _sfflow.human_task_event h
	JOIN _sfflow.execution e ON e.execution_no = h.execution_no WHERE e.execution_id = 'm:' || id $$;
SELECT sf_create_rule('tell', '{"source": ["sfflow.tasks"]}', 'notify:people') \g /dev/null
SELECT sf_create_state_machine('m', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:ask",
	"TimeoutSeconds": 3600, "End": true}}}') \g /dev/null

-- Events for rules.
SELECT pg_temp.go('m', 'done', '{"Title": "Do it", "Priority": 3, "Due": 3600}') \g /dev/null
SELECT is((SELECT event ->> 'detail-type' FROM sf_rule_deliveries), 'sfflow Human Task Status Change',
	'rules are told of a task');
SELECT is((SELECT (event -> 'detail') - '{task,dueDate,executionArn,stateMachineArn}'::text[] FROM sf_rule_deliveries),
	'{"name": "done", "worklist": "ask", "state": "A", "title": "Do it", "status": "CREATED", "by": null,
		"comment": null, "priority": 3, "change": null}', '... and of what it is');
SELECT is((SELECT (event -> 'detail' ->> 'task')::bigint FROM sf_rule_deliveries), (SELECT task FROM sf_human_tasks),
	'... by its number');
SELECT is((SELECT to_timestamp((event -> 'detail' ->> 'dueDate')::numeric / 1000) - due_at < '1 ms'
		FROM sf_rule_deliveries, sf_human_tasks), true, '... and when it is due');
SELECT sf_claim_task(task) FROM sf_human_tasks \g /dev/null
SELECT sf_release_task(task) FROM sf_human_tasks \g /dev/null
SELECT sf_assign_task(task, 'human_clerk') FROM sf_human_tasks \g /dev/null
SELECT sf_assign_task(task, NULL), sf_change_task(task, priority => 4) FROM sf_human_tasks \g /dev/null
SELECT sf_complete_task(task, '{}', 'fine') FROM sf_human_tasks \g /dev/null
SELECT is((SELECT array_agg(s ORDER BY s) FROM (SELECT event -> 'detail' ->> 'status' AS s FROM sf_rule_deliveries) x),
	'{ASSIGNED,ASSIGNED,CHANGED,CLAIMED,COMPLETED,CREATED,RELEASED}', 'what becomes of it');
SELECT is((SELECT event -> 'detail' ->> 'by' || ' ' || (event -> 'detail' ->> 'comment') FROM sf_rule_deliveries
		WHERE event -> 'detail' ->> 'status' = 'COMPLETED'), current_user || ' fine', '... by whom');
SELECT is((SELECT event -> 'detail' -> 'change' FROM sf_rule_deliveries WHERE event -> 'detail' ->> 'status'
		= 'CHANGED'), '{"priority": 4}', '... and what is changed');
SELECT pg_temp.go('m', 'stopped'), sf_stop('m:stopped'), pg_temp.go('m', 'failed') \g /dev/null
SELECT sf_fail_task(task, 'Bad', 'no') FROM sf_human_tasks \g /dev/null
SELECT is(pg_temp.told('stopped'), 'CREATED, CANCELLED', 'a task that is stopped is cancelled');
SELECT is(pg_temp.told('failed'), 'CREATED, FAILED ' || current_user, '... one that fails is not');
SELECT is((SELECT string_agg(event -> 'detail' ->> 'status', ' ' ORDER BY event -> 'detail' ->> 'status')
		FROM sf_rule_deliveries
	WHERE event -> 'detail' ->> 'name' IN ('stopped', 'failed')), 'CANCELLED CREATED CREATED FAILED',
	'... and rules are told');
SELECT is((SELECT count(*) FROM sf_audit WHERE action ~* 'cancel|creat' AND target LIKE 'm:%'), 0::bigint,
	'... and is not in the audit, for it was done by nobody');

-- Due. now() is that of the transaction: an alert is of what was due before that.
SELECT pg_temp.go('m', 'due', '{"Due": 0}') \g /dev/null
SELECT is_empty($$ SELECT * FROM sf_alerts WHERE execution_id = 'm:due' $$, 'a task is due at its time');
CALL sf_run_due() \g /dev/null
SELECT is(pg_temp.told('due'), 'CREATED, DUE', 'rules are told then');
CALL sf_run_due() \g /dev/null
SELECT is(pg_temp.told('due'), 'CREATED, DUE', '... once');
SELECT sf_change_task(task, due => now() - interval '1 h') FROM sf_human_tasks \g /dev/null
SELECT is((SELECT kind || ' ' || since::text || ' ' || detail FROM sf_alerts WHERE execution_id = 'm:due'),
	(SELECT format('task_due %s state "A": task %s of worklist "ask" is not done', due_at, task) FROM sf_human_tasks),
	'it is an alert');
CALL sf_run_due() \g /dev/null
SELECT is(pg_temp.told('due'), 'CREATED, DUE, CHANGED ' || current_user || ', DUE',
	'... of which they are told, for it is another time');
SELECT sf_claim_task(task), sf_change_task(task, priority => 1) FROM sf_human_tasks \g /dev/null
SELECT is((SELECT detail LIKE '%is not done, "' || current_user || '" has claimed it' FROM sf_alerts
		WHERE execution_id = 'm:due'), true, 'it tells who has claimed the task');
CALL sf_run_due() \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.human_task_event WHERE action = 'DUE'), 2::bigint,
	'another change has it not told again');
SELECT sf_complete_task(task) FROM sf_human_tasks \g /dev/null
SELECT is_empty($$ SELECT * FROM sf_alerts WHERE execution_id = 'm:due' $$, 'a task that is done is no alert');

-- Escalate.
SELECT sf_run('m:due'), pg_temp.go('m', 'e', '{"Roles": ["human_clerk"], "Escalate": [{"After": 0,
	"Roles": ["human_lead", "human_clerk"]}, {"After": 3000, "Roles": ["human_boss"]}]}') \g /dev/null
SELECT is((SELECT roles FROM sf_human_tasks), '{human_clerk,human_lead}', 'a task is for more roles from its time on');
SELECT is((SELECT string_agg(role::text, ' ' ORDER BY role::text) FROM _sfflow.human_task_role),
	'human_boss human_clerk human_lead', '... and for others later');
SET ROLE human_lead;
SELECT is((SELECT count(*) FROM sf_human_tasks), 1::bigint, 'such a role sees it');
SELECT lives_ok('SELECT sf_claim_task(task), sf_release_task(task) FROM sf_human_tasks', '... and claims it');
SET ROLE human_boss;
SELECT is_empty('SELECT * FROM sf_human_tasks', '... the later ones do not');
RESET ROLE;
SELECT throws_ok('DROP ROLE human_boss', '2BP01', NULL, '... but cannot be dropped');
CALL sf_run_due() \g /dev/null
CALL sf_run_due() \g /dev/null
SELECT is((SELECT string_agg(details::text, ', ') FROM _sfflow.human_task_event WHERE action = 'ESCALATED'),
	'{"roles": ["human_lead"]}', 'rules are told once, of the roles that are new');
SELECT sf_change_task(task, roles => '{human_boss}') FROM sf_human_tasks \g /dev/null
SELECT is((SELECT roles FROM sf_human_tasks), '{human_boss}', 'other roles take the place of those that it has by now');
SELECT sf_stop('m:e') \g /dev/null
SELECT is_empty('SELECT * FROM _sfflow.human_task_role', 'a stop forgets them all');
SELECT pg_temp.go('m', name, input::jsonb) FROM (VALUES ('e1', '{"Escalate": [{"After": 1, "Roles": ["human_lead"]}]}'),
	('e2', '{"Roles": ["human_lead"], "Escalate": {"After": 1, "Roles": ["human_lead"]}}'),
	('e3', '{"Roles": ["human_lead"], "Escalate": [{"After": "1"}]}'),
	('e4', '{"Roles": ["human_lead"], "Escalate": [{"After": 1, "Roles": ["human_nobody"]}]}')) c (name, input)
	\g /dev/null
SELECT is((SELECT string_agg(error || ' ' || regexp_replace(cause, '^An error .*entered at the event id #\d+\)\. ', ''),
			', ' ORDER BY execution_id) FROM sf_executions WHERE execution_id ~ '^m:e\d'),
	'States.Runtime ''Escalate'' makes a task one for more roles, so it needs ''Roles''., States.Runtime ''Escalate'' '
	'must be an array., '
	'States.Runtime ''Escalate'' must be an array of objects with ''After'', an integer of seconds, and ''Roles''., '
	'Sfflow.UnknownRole The role ''human_nobody'' of ''Roles'' does not exist.',
	'what Escalate must not say');

-- Who is told.
SELECT sf_alter_owner('human:ask', 'human_lead'), sf_grant('ASSIGN', 'human:ask', current_user::text) \g /dev/null
SET ROLE human_lead;
SELECT sf_create_rule('owner', '{"source": ["sfflow.tasks"]}', 'notify:people') \g /dev/null
SET ROLE human_clerk;
SELECT sf_create_rule('clerk', '{"source": ["sfflow.tasks"]}', 'notify:people') \g /dev/null
RESET ROLE;
SELECT pg_temp.go('m', 'who') \g /dev/null
SELECT is((SELECT string_agg(rule_name, ' ' ORDER BY rule_name) FROM sf_rule_deliveries
		WHERE event -> 'detail' ->> 'name' = 'who'), 'owner tell',
	'rules of who owns the worklist, or may read the machine');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');

-- A mock stands for what a person does.
SELECT is(sf_test_state('{"Type": "Task", "Resource": "human:ask", "ResultSelector": {"ok.$": "$.Output.ok"},
		"End": true}', '{}',
	mock => '{"result": {"Output": {"ok": true}, "By": "anna"}}') ->> 'output', '{"ok": true}',
	'sf_test_state takes a mock');

SELECT * FROM finish();
ROLLBACK;
