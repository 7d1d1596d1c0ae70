-- Tasks of people: what a state says of them, who claims and answers them, forms, errors, retries, ends; and what is
-- left.
-- needs: human
BEGIN;
SELECT plan(78);

CREATE FUNCTION pg_temp.refused(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	code text;
	said text;
BEGIN
	EXECUTE call;
	RETURN 'allowed';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, said = MESSAGE_TEXT;
	RETURN code || ' ' || said;
END $$;
CREATE FUNCTION pg_temp.machine(name text, parameters text, more text DEFAULT '') RETURNS bigint LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, format('{"StartAt": "Approve", "States": {"Approve": {"Type": "Task",
		"Resource": "human:approve", "Parameters": %s, %s "End": true}}}', parameters, more)::json) $$;
CREATE FUNCTION pg_temp.go(machine text, name text, input jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT sf_start(machine, input, name); SELECT sf_run(machine || ':' || name) $$;
CREATE FUNCTION pg_temp.task(id text) RETURNS bigint LANGUAGE sql AS $$ SELECT task FROM sf_human_tasks
	WHERE execution_id = id $$;
CREATE FUNCTION pg_temp.failure(id text) RETURNS text LANGUAGE sql AS $$
	SELECT status || ' ' || coalesce(error, '') || ' ' || coalesce(regexp_replace(cause,
			'^An error .*entered at the event id #\d+\)\. ', ''), '')
	FROM sf_executions WHERE execution_id = id $$;

\ir ../../fixtures/problems.sql

-- A worklist.
SELECT lives_ok($$ SELECT sf_create_worklist('approve', '{"type": "object", "properties": {"ok": {"type": "boolean"}},
		"required": ["ok"]}',
	'{"description": "Orders"}') $$, 'a worklist is created');
SELECT is((SELECT concat_ws(' ', name, owner, description, tasks, unclaimed) FROM sf_worklists),
	format('approve %s Orders 0 0', current_user), '... and shown');
SELECT is(pg_temp.refused($$ SELECT sf_create_worklist('a/b') $$),
	'SF002 worklist name "a/b" contains a character that is not allowed', 'names are as others');
SELECT is(pg_temp.refused($$ SELECT sf_create_worklist('x', options => '{"color": 1}') $$),
	'SF012 argument options has a member other than a description of at most 4000 bytes',
	'an option that is not known');

-- A task waits, and is claimed and completed.
SELECT pg_temp.machine('order', '{"Title.$": "States.Format(''Order {}'', $.no)", "Data.$": "$", "Priority": 5,
	"Due": 3600}') \g /dev/null
SELECT is(pg_temp.go('order', '1', '{"no": 7}'), 'RUNNING', 'the execution waits');
SELECT is((SELECT waiting_on FROM sf_executions WHERE execution_id = 'order:1'), '"Approve" waits for human:approve',
	'waiting_on says for what');
SELECT results_eq($$ SELECT worklist COLLATE "default", state, title, priority, claimed_by, roles, not_by, data,
	due_at - created_at BETWEEN '59 min' AND '61 min'
	FROM sf_human_tasks $$, $$ VALUES ('approve', 'Approve', 'Order 7', 5, NULL::text, '{}'::text[], '{}'::text[],
		'{"no": 7}'::jsonb, true) $$, 'sf_human_tasks shows the task');
SELECT is((SELECT form -> 'required' FROM sf_human_tasks), '["ok"]', '... with the form');
SELECT is((SELECT tasks || ' ' || unclaimed FROM sf_worklists), '1 1', 'sf_worklists counts it');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together while it waits');
SELECT is(pg_temp.problems('DELETE FROM _sfflow.human_task'), 'human_task_missing',
	'a wait without a task is a problem');
SELECT is(pg_temp.problems('UPDATE _sfflow.human_task SET branch_no = 7'), 'human_task_left human_task_missing',
	'... and so is a task without a wait');
SELECT is(pg_temp.refused($$ SELECT sf_drop_worklist('approve') $$),
	'55006 worklist "approve" has 1 tasks that wait for people', 'its worklist is not dropped');
SELECT lives_ok('SELECT sf_claim_task(pg_temp.task(''order:1''))', 'the task is claimed');
SELECT is((SELECT claimed_by FROM sf_human_tasks), current_user::text, '... by the role');
SELECT is((SELECT tasks || ' ' || unclaimed FROM sf_worklists), '1 0', '... and counted so');
SELECT lives_ok('SELECT sf_claim_task(pg_temp.task(''order:1''))', '... again, which changes nothing');
SELECT lives_ok('SELECT sf_release_task(pg_temp.task(''order:1'')), sf_release_task(pg_temp.task(''order:1''))',
	'it is released, also when nobody has it');
SELECT is((SELECT claimed_by FROM sf_human_tasks), NULL, '... and nobody has it');
SELECT is(pg_temp.refused('SELECT sf_complete_task(pg_temp.task(''order:1''), ''{"ok": 1}'')'),
	'SF061 the output does not fit the form of worklist "approve": "/ok" is not of type "boolean"',
	'an output that does not fit the form');
SELECT is(pg_temp.refused('SELECT sf_complete_task(pg_temp.task(''order:1''))'),
	'SF061 the output does not fit the form of worklist "approve": "/ok" is missing', '... nor does the default one');
SELECT lives_ok('SELECT sf_complete_task(pg_temp.task(''order:1''), ''{"ok": true, "note": "x"}'', ''fine'')',
	'a task that nobody has claimed is completed');
SELECT is_empty('SELECT * FROM sf_human_tasks', '... and gone');
SELECT is((SELECT waiting_on FROM sf_executions WHERE execution_id = 'order:1'), 'task "Approve" answered',
	'... and its branch goes on');
SELECT is(sf_run('order:1'), 'SUCCEEDED', '... to the end');
SELECT results_eq($$ SELECT output - 'At', output ->> 'At' LIKE '20%Z' FROM sf_executions
	WHERE execution_id = 'order:1' $$,
	$$ VALUES (jsonb_build_object('Output', '{"ok": true, "note": "x"}'::jsonb, 'By', current_user, 'Comment', 'fine'),
		true) $$, 'its result');
SELECT is((SELECT string_agg(type::text, ' ' ORDER BY id) FROM sf_history WHERE execution_id = 'order:1'),
	'ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskSubmitted TaskSucceeded TaskStateExited '
	'ExecutionSucceeded', 'its history');
SELECT is((SELECT string_agg(DISTINCT details ->> 'resourceType', ' ') FROM sf_history WHERE execution_id = 'order:1'
		AND details ? 'resourceType'), 'human', '... has the resourceType human');
SELECT sf_aws_api('GetExecutionHistory', '{"executionArn": "arn:aws:states:us-east-1:000000000000:execution:order:1"}')
	-> 'events' AS events \gset
SELECT is((SELECT string_agg(e ->> 'type', ' ' ORDER BY (e ->> 'id')::integer) FROM jsonb_array_elements(:'events') e),
	'ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskSubmitted TaskSucceeded TaskStateExited '
	'ExecutionSucceeded', '... which the AWS API shows');
SELECT is(jsonb_path_query_array(:'events', '$[*].keyvalue() ? (@.value.resourceType == "human").value.resource'),
	'["approve", "approve", "approve", "approve"]', '... as of that resource');
SELECT is(sf_aws_api('ListActivities', '{}') -> 'activities', '[]', 'a worklist is no activity there');
SELECT is((SELECT string_agg(action || coalesce(' ' || reason, ''), ', ' ORDER BY at) FROM sf_audit
		WHERE execution_id = 'order:1' AND action <> 'start'),
	'claim task, release task, complete task fine', 'sf_audit tells who did what');
SELECT is(pg_temp.refused('SELECT sf_claim_task(1000000)'), 'SF063 task 1000000 does not exist, or is over',
	'a task that does not exist');
SELECT is(pg_temp.refused('SELECT sf_claim_task(NULL)'), '22004 argument task must not be null', '... or is null');

-- JSONata.
SELECT sf_create_state_machine('jsonata', '{"QueryLanguage": "JSONata", "StartAt": "Approve",
	"States": {"Approve": {"Type": "Task",
	"Resource": "human:approve", "Arguments": {"Title": "{% ''Order '' & $states.input.no %}",
		"Due": "2030-01-01T00:00:00Z"},
	"Output": "{% $states.result.Output.ok %}", "End": true}}}') \g /dev/null
SELECT pg_temp.go('jsonata', '1', '{"no": 8}') \g /dev/null
SELECT is((SELECT title || ' ' || (due_at AT TIME ZONE 'UTC')::date FROM sf_human_tasks), 'Order 8 2030-01-01',
	'Arguments of a machine in JSONata');
SELECT sf_complete_task(pg_temp.task('jsonata:1'), '{"ok": true}'), sf_run('jsonata:1') \g /dev/null
SELECT is((SELECT output FROM sf_executions WHERE execution_id = 'jsonata:1'), 'true', '... and its output');

-- What Parameters must not say.
SELECT sf_create_state_machine('any', '{"StartAt": "Approve", "States": {"Approve": {"Type": "Task",
	"Resource": "human:approve",
	"End": true}}}') \g /dev/null
CREATE TEMP TABLE wrong (what text, input jsonb, wanted text);
INSERT INTO wrong VALUES
	('unknown', '{"Color": 1}', 'States.Runtime A task of people has Title, Data, Roles, NotBy, Due, Escalate and '
		'Priority, and no ''Color''.'),
	('title', '{"Title": 1}', 'States.Runtime ''Title'' must be a string of at most 1000 bytes.'),
	('roles', '{"Roles": []}', 'States.Runtime ''Roles'' must be an array of names, and not empty.'),
	('role', '{"Roles": ["human_nobody"]}',
		'Sfflow.UnknownRole The role ''human_nobody'' of ''Roles'' does not exist.'),
	('not-by', '{"NotBy": ["Check"]}',
		'States.Runtime ''NotBy'' names neither "starter" nor a state of the machine: ''Check''.'),
	('due', '{"Due": "soon"}', 'States.Runtime ''Due'' must be an integer of seconds, or a time.'),
	('priority', '{"Priority": 99999}', 'States.Runtime ''Priority'' must be an integer from -32768 to 32767.'),
	('array', '[1]', 'States.Runtime The Parameters of a task of people are an object.');
SELECT count(sf_start('any', input, what)), count(sf_run('any:' || what)) FROM wrong \g /dev/null
SELECT is(pg_temp.failure('any:' || what), 'FAILED ' || wanted, what) FROM wrong;
SELECT is((SELECT message FROM sf_validate('{"StartAt": "A", "States": {"A": {"Type": "Task",
			"Resource": "human:nothing", "End": true}}}')),
	'The resource ''human:nothing'' is worklist ''nothing'', which does not exist.',
	'sf_validate warns of a worklist that does not exist');
SELECT is((SELECT severity || ' ' || message FROM sf_validate('{"StartAt": "A", "States": {"A": {"Type": "Task",
			"Resource": "human:", "End": true}}}')),
	'ERROR Resource should be ''human:'' and the name of a worklist', '... and refuses one without a name');
SELECT is((SELECT severity || ' ' || message FROM sf_validate('{"StartAt": "A", "States": {"A": {"Type": "Task",
			"Resource": "human:approve.waitForTaskToken",
	"Parameters": {"Data.$": "$$.Task.Token"}, "End": true}}}')), 'ERROR A task of people has no task token',
	'... or with a token');

-- Failing, Retry, Catch; a time-out; a retry is a new task with the form as it is then.
SELECT sf_create_state_machine('retries', '{"StartAt": "Approve", "States": {"Approve": {"Type": "Task",
	"Resource": "human:approve", "Parameters": {"Title": "x"},
	"Retry": [{"ErrorEquals": ["Unclear"], "IntervalSeconds": 1, "MaxAttempts": 1}],
		"Catch": [{"ErrorEquals": ["States.TaskFailed"], "Next": "Caught"}], "End": true},
	"Caught": {"Type": "Pass", "End": true}}}') \g /dev/null
SELECT pg_temp.go('retries', '1') \g /dev/null
CREATE TEMP TABLE first AS SELECT task FROM sf_human_tasks;
SELECT is(pg_temp.refused($$ SELECT sf_fail_task(task, repeat('x', 257)) FROM first $$),
	'22001 argument error has more than 256 bytes', 'an error that is too long');
SELECT sf_claim_task(task), sf_fail_task(task, 'Unclear', 'which order?') FROM first \g /dev/null
SELECT sf_create_worklist('approve', '{"type": "object"}') \g /dev/null
SELECT is(sf_run('retries:1', skip_waits => true), 'RUNNING', 'a task that fails is retried');
SELECT results_eq($$ SELECT t.task > f.task, t.claimed_by IS NULL, t.form = '{"type": "object"}' FROM sf_human_tasks t,
	first f $$, 'VALUES (true, true, true)',
	'... as a new task with the form that the worklist has now');
SELECT is(pg_temp.refused('SELECT sf_claim_task(task) FROM first'),
	(SELECT format('SF063 task %s does not exist, or is over', task) FROM first), '... and the first one is over');
SELECT sf_fail_task(pg_temp.task('retries:1'), 'Unclear', 'which order?'), sf_run('retries:1') \g /dev/null
SELECT is((SELECT status || ' ' || output::text FROM sf_executions WHERE execution_id = 'retries:1'),
	'SUCCEEDED {"Cause": "which order?", "Error": "Unclear"}', 'then it is caught');
SELECT pg_temp.machine('short', '{"Title": "x", "Roles": ["' || current_user || '"]}', '"TimeoutSeconds": 1,'),
	pg_temp.go('short', '1') \g /dev/null
SELECT is((SELECT count(*) FROM sf_human_tasks), 1::bigint, 'a task with a time-out waits');
SELECT pg_sleep(1.1) \g /dev/null
SELECT is(sf_run('short:1'), 'FAILED', 'its time is over');
SELECT is((SELECT error FROM sf_executions WHERE execution_id = 'short:1'), 'States.Timeout',
	'... which is a time-out');
SELECT is_empty('SELECT * FROM _sfflow.human_task', '... and it is gone');
SELECT lives_ok($$ SELECT sf_redrive('short:1'), sf_run('short:1') $$, 'a redrive');
SELECT is((SELECT roles::text FROM sf_human_tasks), format('{%s}', current_user),
	'... is a new task, for the same roles');
SELECT sf_stop('short:1') \g /dev/null
SELECT is_empty('SELECT execution_no FROM _sfflow.human_task UNION ALL SELECT execution_no FROM '
	'_sfflow.human_task_role', 'a stop takes the task away, and what it had');

-- A branch beside it fails; a mark; a Map.
SELECT sf_create_state_machine('beside', '{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true,
	"Branches": [
	{"StartAt": "Approve", "States": {"Approve": {"Type": "Task", "Resource": "human:approve",
		"Parameters": {"Title": "x"}, "End": true}}},
	{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1, "Next": "F"}, "F": {"Type": "Fail",
		"Error": "Other"}}}]}}}'), pg_temp.go('beside', '1') \g /dev/null
SELECT is((SELECT count(*) FROM sf_human_tasks), 1::bigint, 'a task beside another branch');
SELECT is(sf_run('beside:1', skip_waits => true), 'FAILED', '... which fails');
SELECT is_empty('SELECT * FROM _sfflow.human_task', '... takes the task away');
SELECT sf_create_state_machine('items', '{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
	"ItemProcessor": {"StartAt": "Approve",
	"States": {"Approve": {"Type": "Task", "Resource": "human:approve", "Parameters": {"Title.$": "$"},
		"End": true}}}}}}'), pg_temp.go('items', '1', '["a", "b"]') \g /dev/null
SELECT is((SELECT string_agg(title || ' ' || state, ', ' ORDER BY title) FROM sf_human_tasks), 'a Approve, b Approve',
	'a Map has a task for each item');
SELECT count(sf_complete_task(task, jsonb_build_object('title', title))) FROM sf_human_tasks \g /dev/null
SELECT is(sf_run('items:1'), 'SUCCEEDED', '... all of which are answered');
SELECT is((SELECT jsonb_path_query_array(output, '$[*].Output.title') FROM sf_executions
		WHERE execution_id = 'items:1'), '["a", "b"]', '... each with its own output');

-- Changing a task.
SELECT pg_temp.go('order', '2', '{"no": 9}') \g /dev/null
SELECT lives_ok($$ SELECT sf_change_task(pg_temp.task('order:2'), roles => ARRAY[current_user::text], due => 'infinity',
		priority => -1) $$, 'a task is changed');
SELECT is((SELECT concat_ws(' ', roles, due_at, priority) FROM sf_human_tasks), format('{%s} -1', current_user),
	'... its roles, its time and its priority');
SELECT sf_change_task(pg_temp.task('order:2'), roles => '{}', due => '2030-01-01 00:00Z') \g /dev/null
SELECT is((SELECT concat_ws(' ', roles, due_at AT TIME ZONE 'UTC', priority) FROM sf_human_tasks),
	'{} 2030-01-01 00:00:00 -1', '... and what is not given stays');
SELECT is(pg_temp.refused($$ SELECT sf_change_task(pg_temp.task('order:2'), roles => '{human_nobody}') $$),
	'42704 role "human_nobody" does not exist', 'a role that does not exist');
SELECT is(pg_temp.refused($$ SELECT sf_change_task(pg_temp.task('order:2'), priority => 99999) $$),
	'SF012 argument priority must be from -32768 to 32767', 'a priority that is too great');
SELECT is((SELECT details - 'task' FROM sf_audit WHERE execution_id = 'order:2' AND action = 'change task'
		ORDER BY at DESC LIMIT 1),
	'{"state": "Approve", "worklist": "approve", "change": {"due": "2030-01-01T00:00:00.000Z", "roles": []}}',
	'the audit has what was changed');

-- What is left: nothing.
SELECT sf_stop('order:2') \g /dev/null
SELECT sf_drop_state_machine(m, force => true) FROM unnest('{order,jsonata,any,retries,short,beside,items}'::text[]) m
	\g /dev/null
SELECT is_empty('SELECT execution_no FROM _sfflow.human_task UNION ALL SELECT execution_no FROM _sfflow.human_task_role
	UNION ALL SELECT execution_no FROM _sfflow.human_task_event UNION ALL SELECT execution_no FROM '
	'_sfflow.human_starter', 'machines that are dropped leave no rows');
CREATE ROLE human_of_task;
SELECT pg_temp.machine('order', '{"Title": "x", "Roles": ["human_of_task"]}'), pg_temp.go('order', '3') \g /dev/null
SELECT sf_drop_state_machine('order', force => true) \g /dev/null
SELECT is_empty('SELECT execution_no FROM _sfflow.human_task UNION ALL SELECT execution_no FROM '
	'_sfflow.human_task_role', '... also one with a task that waits');
SELECT lives_ok('DROP ROLE human_of_task', '... whose role can be dropped then');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT lives_ok($$ SELECT sf_drop_worklist('human:approve') $$, 'the worklist is dropped');
SELECT is_empty('SELECT * FROM sf_worklists', '... and gone');
SELECT is(pg_temp.refused($$ SELECT sf_drop_worklist('approve') $$), 'SF064 worklist "approve" does not exist',
	'... and does not exist');

SELECT * FROM finish();
ROLLBACK;
