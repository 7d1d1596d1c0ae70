-- Tasks outside of the database, activities and tokens; sf_raise for those inside.

-- From inside a SQL task: fail it with this ASL error name.
CREATE FUNCTION @extschema@.sf_raise(error text, cause text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_raise'
LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_raise(text, text) IS
	'fail the SQL task that runs with this error name and cause';

CREATE FUNCTION @extschema@.sf_create_activity(name text, lease interval DEFAULT NULL,
	max_receive_count integer DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_create_activity'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_create_activity(text, interval, integer) IS
	'makes a queue that programs outside the database poll';

CREATE FUNCTION @extschema@.sf_drop_activity(name text)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_activity'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_drop_activity(text) IS 'deletes an activity that has no open tasks';

CREATE FUNCTION @extschema@.sf_get_activity_task(
	activity text,
	worker_name text DEFAULT NULL,
	max_tasks integer DEFAULT 1,
	OUT task_token text,
	OUT input jsonb,
	OUT execution_id text,
	OUT state text,
	OUT attempt integer,
	OUT heartbeat interval,
	OUT deadline timestamptz,
	OUT scheduled_at timestamptz,
	OUT resource text,
	OUT definition_resource text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_get_activity_task'
LANGUAGE C VOLATILE ROWS 1;
COMMENT ON FUNCTION @extschema@.sf_get_activity_task(text, text, integer) IS
	'takes tasks of an activity, oldest first; no rows when there are none';

-- The same with the context of the trace that the work is part of; for programs that ask for it.
CREATE FUNCTION @extschema@.sf_get_activity_task(
	activity text,
	worker_name text,
	max_tasks integer,
	with_trace boolean,
	OUT task_token text,
	OUT input jsonb,
	OUT execution_id text,
	OUT state text,
	OUT attempt integer,
	OUT heartbeat interval,
	OUT deadline timestamptz,
	OUT scheduled_at timestamptz,
	OUT resource text,
	OUT definition_resource text,
	OUT traceparent text,
	OUT tracestate text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_get_activity_task_traced'
LANGUAGE C VOLATILE ROWS 1;
COMMENT ON FUNCTION @extschema@.sf_get_activity_task(text, text, integer, boolean) IS
	'takes tasks of an activity, oldest first, each with the trace that it is part of';

CREATE FUNCTION @extschema@.sf_send_task_success(task_token text, output jsonb DEFAULT '{}')
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_send_task_success'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_send_task_success(text, jsonb) IS 'answers a task: it succeeded';

CREATE FUNCTION @extschema@.sf_send_task_failure(task_token text, error text DEFAULT NULL, cause text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_send_task_failure'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_send_task_failure(text, text, text) IS 'answers a task: it failed';

CREATE FUNCTION @extschema@.sf_send_task_items(task_token text, items jsonb, first integer DEFAULT 0)
RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_sf_send_task_items'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_send_task_items(text, jsonb, integer) IS
	'gives a Map items, in place of those from index first on; false: it wants no more';

CREATE FUNCTION @extschema@.sf_send_task_heartbeat(task_token text)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_send_task_heartbeat'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_send_task_heartbeat(text) IS 'says that a task is still being worked on';
