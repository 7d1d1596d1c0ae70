-- What a role owns is given to another one; a role that owns something cannot be dropped, in any order.
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT sf_disable();
CREATE ROLE regress_sfflow_leaver;
CREATE ROLE regress_sfflow_heir;
CREATE ROLE regress_sfflow_third;
SET ROLE regress_sfflow_leaver;
SELECT sf_create_state_machine('regress_who',
	'{"StartAt": "Pause", "States": {"Pause": {"Type": "Wait", "Seconds": 3600, "Next": "Who"},
	"Who": {"Type": "Task", "Resource": "sql:query", "Parameters": {"Statement": "SELECT current_user::text AS who"},
		"End": true}}}');
SELECT sf_create_state_machine('regress_both', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');
SELECT sf_create_activity('regress_desk');
SELECT sf_map_resource('regress:*', 'sql:public.nothing');
SELECT sf_start('regress_who', name => '1');
SELECT sf_run('regress_who:1');
-- Who may: a member of the owner that can become the new one.
SELECT sf_alter_owner('regress_who', 'regress_sfflow_heir');
SET ROLE regress_sfflow_third;
SELECT sf_alter_owner('regress_who', 'regress_sfflow_third');
SELECT sf_reassign_owned('regress_sfflow_leaver', 'regress_sfflow_third');
RESET ROLE;
SELECT sf_alter_owner('regress_who', 'no_such_role');
SELECT sf_alter_owner('regress_whom', 'regress_sfflow_heir');
SELECT sf_alter_owner('schedule:regress_none', 'regress_sfflow_heir');
SELECT sf_revoke('CREATE', '*', 'public');
GRANT regress_sfflow_heir TO regress_sfflow_leaver;
SET ROLE regress_sfflow_leaver;
SELECT sf_alter_owner('regress_who', 'regress_sfflow_heir');
RESET ROLE;
SELECT sf_grant('CREATE', '*', 'public');
SET ROLE regress_sfflow_leaver;
SELECT sf_alter_owner('regress_who', 'regress_sfflow_heir');
RESET ROLE;
REVOKE regress_sfflow_heir FROM regress_sfflow_leaver;
SELECT state_machine, owner FROM sf_state_machines WHERE state_machine LIKE 'regress\_%' ORDER BY 1;
SET ROLE regress_sfflow_leaver;
SELECT sf_start('regress_who', name => '2');
RESET ROLE;
-- What runs goes on as the new owner, in this session, too, which knew the old one.
SELECT sf_run('regress_who:1', skip_waits => true);
SELECT output FROM sf_executions WHERE execution_id = 'regress_who:1';
SELECT problem, detail FROM sf_check();

-- No order of commands drops a role that owns something, or was given something.
SELECT sf_grant('READ', 'regress_who', 'regress_sfflow_leaver');
DROP ROLE regress_sfflow_leaver;
REASSIGN OWNED BY regress_sfflow_leaver TO regress_sfflow_heir;
DROP ROLE regress_sfflow_leaver;
DROP OWNED BY regress_sfflow_leaver;
DROP ROLE regress_sfflow_leaver;
SELECT sf_map_resource('regress:*', 'sql:public.other');
SELECT sf_reassign_owned('regress_sfflow_leaver', current_user);
SELECT sf_unmap_resource('regress:*');
SELECT sf_reassign_owned('regress_sfflow_leaver', 'regress_sfflow_heir');
SELECT sf_reassign_owned('regress_sfflow_heir', 'regress_sfflow_heir');
SELECT state_machine, owner FROM sf_state_machines WHERE state_machine LIKE 'regress\_%' ORDER BY 1;
SELECT activity, owner FROM sf_activities WHERE activity LIKE 'regress\_%';
SELECT owner, pattern, resource FROM _sfflow.resource_map WHERE pattern LIKE 'regress%';
SELECT count(*) FROM _sfflow.privilege WHERE role = 'regress_sfflow_leaver'::regrole;
DROP ROLE regress_sfflow_leaver;
SELECT sf_drop_state_machine('regress_who', true), sf_drop_state_machine('regress_both'),
	sf_drop_activity('regress_desk');
SET ROLE regress_sfflow_heir;
SELECT sf_unmap_resource('regress:*');
RESET ROLE;
DROP ROLE regress_sfflow_heir, regress_sfflow_third;
SELECT sf_enable();
