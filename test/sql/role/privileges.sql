-- Rights on state machines: what the owner has by itself, sf_grant gives and sf_revoke takes.
\set VERBOSITY default
\set SHOW_CONTEXT never
CREATE ROLE regress_sfflow_owner;
CREATE ROLE regress_sfflow_member IN ROLE regress_sfflow_owner;
CREATE ROLE regress_sfflow_clerk;
CREATE ROLE regress_sfflow_group;
CREATE ROLE regress_sfflow_grouped IN ROLE regress_sfflow_group;
SET ROLE regress_sfflow_owner;
SELECT sf_create_state_machine('regress_nightly',
	'{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 3600, "Next": "B"},
		"B": {"Type": "Pass", "End": true}}}');

-- Who may give a right: the owner and its members.
SET ROLE regress_sfflow_clerk;
SELECT sf_grant('READ', 'regress_nightly', 'regress_sfflow_clerk');
SELECT count(*) FROM sf_state_machines WHERE state_machine = 'regress_nightly';
SET ROLE regress_sfflow_member;
SELECT count(*) FROM sf_state_machines WHERE state_machine = 'regress_nightly';
SELECT sf_grant('READ', 'regress_nightly', 'regress_sfflow_clerk');
SELECT sf_grant('read', 'arn:aws:states:eu-west-1:123456789012:stateMachine:regress_nightly', 'regress_sfflow_clerk');
SELECT sf_grant('READ', 'regress_nightly', 'regress_sfflow_group');
SET ROLE regress_sfflow_clerk;
SELECT count(*) FROM sf_state_machines WHERE state_machine = 'regress_nightly';
SET ROLE regress_sfflow_grouped;
SELECT count(*) FROM sf_state_machines WHERE state_machine = 'regress_nightly';

-- A right is looked up at each use.
RESET ROLE;
SELECT sf_revoke('READ', 'regress_nightly', 'regress_sfflow_clerk');
SET ROLE regress_sfflow_clerk;
SELECT count(*) FROM sf_state_machines WHERE state_machine = 'regress_nightly';
RESET ROLE;
SELECT sf_grant('READ', 'regress_nightly', 'public');
SET ROLE regress_sfflow_clerk;
SELECT count(*) FROM sf_state_machines WHERE state_machine = 'regress_nightly';
RESET ROLE;
SELECT sf_revoke('READ', 'regress_nightly', 'public');

-- What does not fit is told.
SELECT sf_grant('RUN', 'regress_nightly', 'public');
SELECT sf_grant('START', 'no_such_machine', 'public');
SELECT sf_grant('START', 'regress_nightly', 'no_such_role');
SELECT sf_grant('WORK', 'regress_nightly', 'public');
SELECT sf_grant('START', 'activity:shell', 'public');
SELECT sf_grant('WORK', 'activity:no_such_activity', 'public');
SELECT sf_grant(NULL, 'regress_nightly', 'public') IS NULL AS nothing_for_null;

-- A role that is known to sfflow cannot be dropped; once it is unknown, it can.
SELECT sf_grant('START', 'regress_nightly', 'regress_sfflow_clerk');
DROP ROLE regress_sfflow_clerk;
SELECT sf_revoke('START', 'regress_nightly', 'regress_sfflow_clerk');
DROP ROLE regress_sfflow_clerk;
SELECT sf_revoke('READ', 'regress_nightly', 'regress_sfflow_group');

-- Dropping a machine takes its rights along.
CREATE ROLE regress_sfflow_clerk;
SELECT sf_create_state_machine('regress_dropped', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');
SELECT sf_grant('START', 'regress_dropped', 'regress_sfflow_clerk');
SELECT sf_drop_state_machine('regress_dropped');
DROP ROLE regress_sfflow_clerk;

-- What a role has no right on does not exist for it: the same error in either case.
CREATE ROLE regress_sfflow_clerk;
SELECT sf_disable();
SELECT sf_start('regress_nightly', name => 'secret');
SELECT sf_create_activity('regress_queue');
CREATE FUNCTION pg_temp.error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE d text; h text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n', SQLSTATE, SQLERRM, d, h);
END $$;
SET ROLE regress_sfflow_clerk;
SELECT call, replace(pg_temp.error_of(format('SELECT ' || call, e.there)), e.there, '?')
	= replace(pg_temp.error_of(format('SELECT ' || call, e.missing)), e.missing, '?') AS same
FROM (VALUES ('sf_start(%L)', 'regress_nightly', 'regress_monthly'), ('sf_graph(%L)', 'regress_nightly',
	'regress_monthly'),
	('sf_drop_state_machine(%L)', 'regress_nightly', 'regress_monthly'), ('sf_start(''%s/1'')', 'regress_nightly',
		'regress_monthly'),
	('sf_grant(''READ'', %L, ''public'')', 'regress_nightly', 'regress_monthly'),
	('sf_stop(%L)', 'regress_nightly:secret', 'regress_nightly:open'), ('sf_redrive(%L)', 'regress_nightly:secret',
		'regress_nightly:open'),
	('sf_await(%L)', 'regress_nightly:secret', 'regress_nightly:open'), ('sf_graph(%L)', 'regress_nightly:secret',
		'regress_nightly:open'),
	('sf_run(%L)', 'regress_nightly:secret', 'regress_nightly:open'), ('sf_step(%L)', 'regress_nightly:secret',
		'regress_nightly:open'),
	('sf_get_activity_task(%L)', 'regress_queue', 'regress_other'), ('sf_drop_activity(%L)', 'regress_queue',
		'regress_other'),
	('sf_grant(''WORK'', ''activity:%s'', ''public'')', 'regress_queue', 'regress_other')) e (call, there, missing);
SELECT pg_temp.error_of($$SELECT sf_start('regress_nightly')$$);
SELECT pg_temp.error_of($$SELECT sf_stop('regress_nightly:secret')$$);
-- One that knows the machine is told which right it lacks, whether the execution exists or not.
RESET ROLE;
SELECT sf_grant('START', 'regress_nightly', 'regress_sfflow_clerk');
SET ROLE regress_sfflow_clerk;
SELECT sf_stop('regress_nightly:secret');
SELECT sf_stop('regress_nightly:open');
-- A hint names only what the caller may know.
SELECT sf_start('regress_nightyl');
RESET ROLE;
SELECT sf_revoke('START', 'regress_nightly', 'regress_sfflow_clerk');
SET ROLE regress_sfflow_clerk;
SELECT sf_start('regress_nightyl');
-- That a name is taken cannot be concealed.
SELECT sf_create_state_machine('regress_nightly', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');

-- CREATE is everybody's until it is taken from public.
SELECT sf_grant('CREATE', '*', 'regress_sfflow_clerk');
SELECT sf_create_state_machine('regress_own', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');
RESET ROLE;
SELECT sf_grant('CREATE', 'regress_nightly', 'public');
SELECT sf_revoke('CREATE', '*', 'public');
SET ROLE regress_sfflow_clerk;
SELECT sf_create_state_machine('regress_second', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');
SELECT sf_create_state_machine('regress_nightly', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');
SELECT sf_create_activity('regress_second');
-- What is there already can be changed.
SELECT sf_create_state_machine('regress_own', '{"StartAt": "B", "States": {"B": {"Type": "Pass", "End": true}}}',
	or_replace => true);
RESET ROLE;
SELECT sf_grant('CREATE', '*', 'regress_sfflow_clerk');
SET ROLE regress_sfflow_clerk;
SELECT sf_create_activity('regress_second');
RESET ROLE;
DROP ROLE regress_sfflow_clerk;
SELECT sf_revoke('CREATE', '*', 'regress_sfflow_clerk');
SELECT sf_grant('CREATE', '*', 'public');
SELECT sf_drop_state_machine('regress_own'), sf_drop_activity('regress_second');
SELECT count(*) FROM _sfflow.privilege WHERE object_kind = '*';

-- Tokens: public may answer them until SEND is taken from it.
SELECT sf_create_state_machine('regress_asks',
	'{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:regress_queue", "End": true}}}');
SELECT sf_start('regress_asks', name => 'a');
SELECT sf_run('regress_asks:a');
SELECT task_token FROM sf_get_activity_task('regress_queue') \gset
SET ROLE regress_sfflow_clerk;
SELECT sf_send_task_heartbeat(:'task_token');
RESET ROLE;
SELECT sf_revoke('SEND', 'activity:regress_queue', 'public');
SET ROLE regress_sfflow_clerk;
SELECT sf_send_task_heartbeat(:'task_token');
RESET ROLE;
SELECT sf_grant('SEND', 'activity:regress_queue', 'regress_sfflow_clerk');
SET ROLE regress_sfflow_clerk;
SELECT sf_send_task_heartbeat(:'task_token');
-- SEND does not take tasks; WORK answers them, too.
SELECT count(*) FROM sf_get_activity_task('regress_queue');
RESET ROLE;
SELECT sf_revoke('SEND', 'activity:regress_queue', 'regress_sfflow_clerk');
SELECT sf_grant('WORK', 'activity:regress_queue', 'regress_sfflow_clerk');
SET ROLE regress_sfflow_clerk;
SELECT sf_send_task_success(:'task_token');
RESET ROLE;
SELECT sf_run('regress_asks:a');
SELECT sf_drop_state_machine('regress_asks');
-- A dropped activity takes its rights along.
SELECT sf_drop_activity('regress_queue');
SELECT sf_stop('regress_nightly:secret');
SELECT sf_enable();
DROP ROLE regress_sfflow_clerk;

-- START, READ and OPERATE each allow what they say, and nothing else.
SELECT sf_disable();
CREATE ROLE regress_sfflow_clerk;
SET ROLE regress_sfflow_clerk;
SELECT sf_start('regress_nightly', name => '1');
RESET ROLE;
SELECT sf_grant('START', 'regress_nightly', 'regress_sfflow_clerk');
SET ROLE regress_sfflow_clerk;
SELECT sf_start('regress_nightly', name => '1');
SELECT count(*) FROM sf_executions WHERE state_machine = 'regress_nightly';
SELECT sf_stop('regress_nightly:1');
SELECT sf_run('regress_nightly:1');
-- To go on as it was is START's and OPERATE's, as sf_start does it; to go back to a state OPERATE's.
RESET ROLE;
SELECT sf_stop('regress_nightly:1');
SET ROLE regress_sfflow_clerk;
SELECT sf_redrive('regress_nightly:1', from_state => 'A');
SELECT sf_redrive('regress_nightly:1');
RESET ROLE;
SELECT sf_stop('regress_nightly:1');
SET ROLE regress_sfflow_clerk;
SELECT sf_start('regress_nightly', name => '1');
SELECT sf_drop_state_machine('regress_nightly');
RESET ROLE;
SELECT sf_grant('OPERATE', 'regress_nightly', 'regress_sfflow_clerk');
SELECT sf_run('regress_nightly:1', skip_waits => true);
SET ROLE regress_sfflow_clerk;
SELECT sf_stop('regress_nightly:1') = 'SUCCEEDED' AS stopped;
SELECT sf_redrive('regress_nightly:1');
RESET ROLE;
SELECT sf_drop_state_machine('regress_nightly', force => true);
DROP ROLE regress_sfflow_clerk;
DROP ROLE regress_sfflow_owner, regress_sfflow_member, regress_sfflow_group, regress_sfflow_grouped;
SELECT sf_enable();
