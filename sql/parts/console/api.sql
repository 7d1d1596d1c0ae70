-- sf_console_api and sf_console_session themselves: the actions by their names.

-- The gateway asks with each request, and ends a session whose answer has changed.
CREATE FUNCTION @extschema@.sf_console_session() RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_console_session'
LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.sf_console_session() IS
	'a text that changes when the role that has logged in is altered; null when it could not log in anew';

CREATE FUNCTION @extschema@.sf_console_actions() RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY['acknowledge', 'acknowledge_all', 'act_on_matches', 'assign_task', 'claim_task', 'complete_task',
	'create_rule', 'discard', 'drop_alias', 'drop_calendar', 'drop_limit', 'drop_rule', 'fail_task', 'hold', 'mark',
	'plan', 'plan_alias', 'plan_calendar', 'plan_limit', 'plan_schedule', 'redeliver', 'redrive', 'release',
	'release_task', 'set_alias', 'set_calendar', 'set_labels', 'set_limit', 'set_schedule', 'start', 'stop',
	'test_state', 'unschedule'];
COMMENT ON FUNCTION @extschema@.sf_console_actions() IS
	'the actions of sf_console_api that write; all others work in a read-only transaction';

CREATE FUNCTION @extschema@.sf_console_api(action text, request jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	answer jsonb;
BEGIN
	IF jsonb_typeof(request) IS DISTINCT FROM 'object' THEN
		RAISE EXCEPTION 'the request must be an object' USING ERRCODE = 'SF012';
	END IF;
	CASE action
		WHEN 'tonight' THEN answer := _sfflow.console_tonight(request);
		WHEN 'night' THEN answer := _sfflow.console_night(request);
		WHEN 'executions' THEN answer := _sfflow.console_executions(request);
		WHEN 'count_matches' THEN answer := _sfflow.console_count_matches(request);
		WHEN 'act_on_matches' THEN answer := _sfflow.console_act_on_matches(request);
		WHEN 'execution' THEN answer := _sfflow.console_execution(request);
		WHEN 'jobs' THEN answer := _sfflow.console_jobs(request);
		WHEN 'timeline' THEN answer := _sfflow.console_timeline(request);
		WHEN 'compare' THEN answer := _sfflow.console_compare(request);
		WHEN 'grid' THEN answer := _sfflow.console_grid(request);
		WHEN 'state' THEN answer := _sfflow.console_state(request);
		WHEN 'events' THEN answer := _sfflow.console_events(request);
		WHEN 'payload' THEN answer := _sfflow.console_payload(request);
		WHEN 'machines' THEN answer := _sfflow.console_machines(request);
		WHEN 'machine' THEN answer := _sfflow.console_machine(request);
		WHEN 'layout' THEN answer := _sfflow.console_layout(request);
		WHEN 'diff' THEN answer := _sfflow.console_diff(request);
		WHEN 'validate' THEN answer := _sfflow.console_validate(request);
		WHEN 'schedules' THEN answer := _sfflow.console_schedules(request);
		WHEN 'schedule' THEN answer := _sfflow.console_schedule(request);
		WHEN 'activities' THEN answer := _sfflow.console_activities(request);
		WHEN 'alerts' THEN answer := _sfflow.console_alerts(request);
		WHEN 'operations' THEN answer := _sfflow.console_operations(request);
		WHEN 'test_state' THEN answer := _sfflow.console_test_state(request);
		WHEN 'start' THEN answer := _sfflow.console_start(request);
		WHEN 'set_schedule' THEN answer := _sfflow.console_set_schedule(request);
		WHEN 'set_calendar' THEN answer := _sfflow.console_set_calendar(request);
		WHEN 'set_alias' THEN answer := _sfflow.console_set_alias(request);
		WHEN 'plan', 'plan_schedule', 'plan_calendar', 'plan_alias' THEN answer := _sfflow.console_tried(action, request);
		WHEN 'redrive', 'stop', 'hold', 'release', 'mark', 'set_labels', 'acknowledge', 'acknowledge_all', 'unschedule',
			'drop_alias', 'drop_calendar', 'drop_limit', 'drop_rule', 'redeliver', 'discard' THEN
			answer := _sfflow.console_each(action, request);
--@slot console_answers
		-- pages of features that this build lacks
		WHEN 'inbox' THEN answer := '{"rows": [], "next": null, "counts": [], "held": [], "readable": []}';
		WHEN 'rules' THEN answer := '{"rows": [], "deliveries": [], "may_create": false}';
		ELSE
			RAISE EXCEPTION 'there is no action "%" of the console', left(action, 100) USING ERRCODE = 'SF012';
	END CASE;
--@slot console_merged
	RETURN coalesce(answer, 'null');
END
$$;
COMMENT ON FUNCTION @extschema@.sf_console_api(text, jsonb) IS
	'what the console asks for and does, with the rights of the caller; answers are bounded';

CREATE FUNCTION _sfflow.console(action text, request jsonb) RETURNS jsonb
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN @extschema@.sf_console_api($1, $2);

-- For sfgateway, on nodes where it has no connection of the role's own.
CREATE FUNCTION @extschema@.sf_console_api_as(role name, action text, request jsonb, writes boolean DEFAULT false)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_console_api_as'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_console_api_as(name, text, jsonb, boolean) IS
	'sf_console_api with the rights of a role that the session user is a member of; unless writes, it can only read';

--@slot agents
