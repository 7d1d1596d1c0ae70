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
	'{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 3600, "Next": "B"}, "B": {"Type": "Pass", "End": true}}}');

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
