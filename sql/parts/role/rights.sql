-- Who may use what. What ALTER DEFAULT PRIVILEGES of the installing role gave away is taken back.

-- The private schema: its owner alone.
DO $rights$
DECLARE
	given record;
BEGIN
	FOR given IN
		SELECT 'SCHEMA _sfflow' AS object, a.grantee
		FROM pg_namespace AS n, aclexplode(n.nspacl) AS a
		WHERE n.nspname = '_sfflow' AND a.grantee <> n.nspowner
		UNION
		SELECT format('%s %s', CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass), a.grantee
		FROM pg_class AS c, aclexplode(c.relacl) AS a
		WHERE c.relnamespace = '_sfflow'::regnamespace AND a.grantee <> c.relowner
	LOOP
		EXECUTE format('REVOKE ALL ON %s FROM %s', given.object,
			CASE given.grantee WHEN 0 THEN 'PUBLIC' ELSE given.grantee::regrole::text END);
	END LOOP;
END $rights$;

-- Functions. Those of the private schema are for its owner, those of the extension's schema for PUBLIC, but for these
-- exceptions.
DO $rights$
DECLARE
	-- For superusers and the extension's owner, and whom these give EXECUTE
	administrative name[] := '{sf_access_key, sf_add_node, sf_drop_node, sf_enable, sf_disable, sf_check,
		sf_node_addresses, sf_run_due, sf_move_key, sf_purge_due, sf_set_node, sf_confirm_spans, sf_reject_spans,
		sf_take_spans}';
	-- Views and pg_cron call these with the rights of their user. Each checks its caller, or tells nothing that is
	-- worth hiding. Features list their own.
	public name[] := '{
--@slot public_functions
		apply_definition, athena_rows, aws_install_athena, aws_install_dynamodb,
		aws_install_s3, aws_install_s3_api, aws_install_sfn, aws_install_sqs, aws_install_ssm, branch_names, can_read,
		console_act_on_matches, console_activities, console_ahead, console_alerts, console_bounded, console_check_act,
		console_compare,
		console_compared, console_count_matches, console_cut, console_diff, console_each, console_event_payload,
		console_events, console_execution, console_executions, console_failed_item, console_failed_jobs, console_fits,
		console_grid, console_held, console_holds, console_jobs, console_layout, console_limit, console_listed,
		console_machine, console_machines, console_matches, console_may_release, console_night, console_one,
		console_operations,
		console_others, console_payload, console_plan, console_plan_calendar, console_plan_schedule, console_progress,
		console_rights, console_schedule, console_schedule_rows, console_schedules, console_searches,
		console_set_alias, console_set_calendar, console_set_schedule, console_start, console_state,
		console_test_state, console_timeline, console_tonight, console_tried, console_validate, crc32, definition_text,
		health, history, history_event_page, history_event_payload, history_event_types,
		history_events, is_on_page, job_name, job_relations, jobs, jobs_ahead, longest_running, machine_rights,
		map_run_arn, may_create, newest, put_version, remove_definition, spans, start_scheduled,
		task_slots, tasks_from, took_ms, waiting_on, workers}';
	made record;
	given record;
BEGIN
	FOR made IN
		SELECT p.oid::regprocedure AS routine, p.proowner AS owner,
			coalesce(p.proacl, acldefault('f', p.proowner)) AS acl,
			CASE p.pronamespace WHEN '_sfflow'::regnamespace THEN p.proname = ANY (public)
				ELSE p.proname <> ALL (administrative) END AS is_public
		FROM pg_proc AS p
		JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
		WHERE e.extname = 'sfflow'
	LOOP
		FOR given IN SELECT DISTINCT a.grantee FROM aclexplode(made.acl) AS a WHERE a.grantee <> made.owner LOOP
			EXECUTE format('REVOKE ALL ON ROUTINE %s FROM %s', made.routine,
				CASE given.grantee WHEN 0 THEN 'PUBLIC' ELSE given.grantee::regrole::text END);
		END LOOP;
		IF made.is_public THEN
			EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO PUBLIC', made.routine);
		END IF;
	END LOOP;
END $rights$;

-- Every role may name what is in the private schema, since pg_cron runs a function of it as the owner of
-- a schedule. No table is granted, and each function that PUBLIC may execute checks its caller.
GRANT USAGE ON SCHEMA _sfflow TO PUBLIC;
