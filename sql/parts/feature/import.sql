-- Definitions from elsewhere: templates, YAML, tables of jobs, and what they still need.

--@into functions
CREATE FUNCTION @extschema@.sf_import(definition text, substitutions jsonb DEFAULT '{}', name text DEFAULT NULL)
RETURNS integer
AS 'MODULE_PATHNAME', 'sfflow_sf_import'
LANGUAGE C VOLATILE;
COMMENT ON FUNCTION @extschema@.sf_import(text, jsonb, text) IS
	'creates or replaces state machines from a definition with ${Name} placeholders, or from a template; returns the version';

CREATE FUNCTION @extschema@.sf_from_yaml(yaml text)
RETURNS json
AS 'MODULE_PATHNAME', 'sfflow_sf_from_yaml'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_from_yaml(text) IS
	'a document of YAML, such as a definition or a template, in JSON';

-- The query runs with the rights of the caller, and writes nothing.
CREATE FUNCTION @extschema@.sf_import_jobs(
	relations text,
	defaults jsonb DEFAULT '{}',
	net text DEFAULT 'Net',
	activity text DEFAULT 'shell')
RETURNS json
AS 'MODULE_PATHNAME', 'sfflow_sf_import_jobs'
LANGUAGE C STABLE;
COMMENT ON FUNCTION @extschema@.sf_import_jobs(text, jsonb, text, text) IS
	'the definition of a machine that is a net of jobs, from a table or query of jobs and their predecessors';

-- What sf_aws_install makes a function for, and that function; NULL: a nested execution.
CREATE FUNCTION _sfflow.aws_resources(OUT resource text, OUT handler text)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT 'arn:aws:states:::' || integration, handler FROM (VALUES
		('dynamodb:getItem', 'dynamodb_get_item'),
		('dynamodb:putItem', 'dynamodb_put_item'),
		('dynamodb:updateItem', 'dynamodb_update_item'),
		('dynamodb:deleteItem', 'dynamodb_delete_item'),
		('aws-sdk:dynamodb:getItem', 'sdk_dynamodb_get_item'),
		('aws-sdk:dynamodb:putItem', 'sdk_dynamodb_put_item'),
		('aws-sdk:dynamodb:updateItem', 'sdk_dynamodb_update_item'),
		('aws-sdk:dynamodb:deleteItem', 'sdk_dynamodb_delete_item'),
		('aws-sdk:dynamodb:query', 'sdk_dynamodb_query'),
		('aws-sdk:dynamodb:scan', 'sdk_dynamodb_scan'),
		('s3:getObject', 's3_get_object'),
		('s3:listObjectsV2', 's3_list_objects_v2'),
		('s3:putObject', 's3_put_object'),
		('aws-sdk:s3:getObject', 'sdk_s3_get_object'),
		('aws-sdk:s3:putObject', 'sdk_s3_put_object'),
		('aws-sdk:s3:headObject', 'sdk_s3_head_object'),
		('aws-sdk:s3:listObjectsV2', 'sdk_s3_list_objects_v2'),
		('aws-sdk:s3:listObjects', 'sdk_s3_list_objects'),
		('aws-sdk:s3:copyObject', 'sdk_s3_copy_object'),
		('aws-sdk:s3:deleteObject', 'sdk_s3_delete_object'),
		('athena:startQueryExecution', 'athena_start_query_execution'),
		('athena:startQueryExecution.sync', 'athena_start_query_execution_sync'),
		('athena:stopQueryExecution', 'athena_stop_query_execution'),
		('athena:getQueryExecution', 'athena_get_query_execution'),
		('athena:getQueryResults', 'athena_get_query_results'),
		('aws-sdk:athena:startQueryExecution', 'sdk_athena_start_query_execution'),
		('aws-sdk:athena:stopQueryExecution', 'sdk_athena_stop_query_execution'),
		('aws-sdk:athena:getQueryExecution', 'sdk_athena_get_query_execution'),
		('aws-sdk:athena:getQueryResults', 'sdk_athena_get_query_results'),
		('events:putEvents', 'events_put_events'),
		('sqs:sendMessage', 'sqs_send_message'),
		('sns:publish', 'sns_publish'),
		('aws-sdk:sfn:sendTaskSuccess', 'sdk_sfn_send_task_success'),
		('aws-sdk:sfn:sendTaskFailure', 'sdk_sfn_send_task_failure'),
		('aws-sdk:sfn:sendTaskHeartbeat', 'sdk_sfn_send_task_heartbeat'),
		('aws-sdk:sfn:startExecution', NULL),
		('aws-sdk:ssm:sendCommand', 'sdk_ssm_send_command'),
		('aws-sdk:ssm:getCommandInvocation', 'sdk_ssm_get_command_invocation')) AS v (integration, handler)
$$;

-- One row per occurrence of a resource, or of a Lambda function, that nothing maps; then, of a template, one per
-- definition that is elsewhere, and per activity, alias, schedule and rule, with its kind, its name and a statement.
CREATE FUNCTION _sfflow.missing_resources(
	definition text,
	substitutions jsonb,
	OUT resource text,
	OUT for_items boolean,
	OUT location text,
	OUT kind text,
	OUT name text,
	OUT proposal text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_missing_resources'
LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 10;

-- The statement that would map a resource. A function is proposed under the last part of the resource's name, in lower
-- case, without the eight digits that CDK appends to it. A placeholder in the middle of a name can be any text.
CREATE FUNCTION _sfflow.propose_mapping(resource text, for_items boolean)
RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE
		WHEN placeholder IS NOT NULL THEN
			format('SELECT sf_import(definition, %L);', jsonb_build_object(placeholder, 'sql:' || function))
		WHEN EXISTS (SELECT FROM _sfflow.aws_resources() AS a WHERE a.resource = $1) THEN 'SELECT sf_aws_install();'
		WHEN $1 LIKE '%#PARQUET' THEN format('SELECT sf_map_resource(%L, %L);', pattern, 'activity:items')
		WHEN $1 LIKE 'arn:aws:states:::%' AND NOT $2 THEN
			format('SELECT sf_map_resource(%L, %L);', pattern,
				CASE $1 WHEN 'arn:aws:states:::http:invoke' THEN 'activity:http' ELSE 'activity:aws' END)
		ELSE format('SELECT sf_map_resource(%L, %L);', coalesce(lambda, pattern), 'sql:' || function) END
	FROM (SELECT substring($1 FROM '^\$\{([A-Za-z0-9_.:-]+)\}$') AS placeholder,
			regexp_replace($1, '\$\{[A-Za-z0-9_.:-]+\}', '*', 'g') AS pattern,
			substring($1 FROM ':function:([A-Za-z0-9_-]+)(?::|$)') AS lambda) AS named,
		LATERAL (SELECT coalesce(lambda, nullif(regexp_replace(placeholder, '(Lambda|Function)*(Arn)?$', ''), ''),
				substring(pattern FROM '^arn:.*[:/](.+)$'), split_part(pattern, ':', 1)) AS last_part) AS l,
		LATERAL (SELECT regexp_replace(regexp_replace(last_part, '([a-z])[0-9A-F]{8}$', '\1'), '([a-z0-9])([A-Z])',
			'\1_\2', 'g') AS spaced) AS s,
		LATERAL (SELECT trim(regexp_replace(lower(spaced), '[^a-z0-9]+', '_', 'g'), '_') AS words) AS w,
		LATERAL (SELECT CASE WHEN words ~ '^[a-z]' THEN words ELSE 'task_' || words END AS function) AS f
$$;

-- Whether what a template has beside its machines is there already.
CREATE FUNCTION _sfflow.template_part_exists(kind text, name text)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT CASE $1
		WHEN 'activity' THEN EXISTS (SELECT FROM @extschema@.sf_activities AS a WHERE a.activity = $2)
		WHEN 'alias' THEN EXISTS (SELECT FROM @extschema@.sf_aliases AS a WHERE a.state_machine || '/' || a.alias = $2)
		WHEN 'schedule' THEN EXISTS (SELECT FROM @extschema@.sf_schedules AS s WHERE s.schedule_name = $2)
--@slot import.parts
		ELSE false END
$$;

CREATE FUNCTION @extschema@.sf_missing_resources(
	definition text,
	substitutions jsonb DEFAULT '{}',
	OUT resource text,
	OUT uses bigint,
	OUT locations text[],
	OUT proposal text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 10
SET search_path = pg_catalog, pg_temp
AS $$
	SELECT m.resource, count(*), array_agg(m.location ORDER BY m.n),
		coalesce(m.proposal, _sfflow.propose_mapping(m.resource, bool_or(m.for_items)))
	FROM _sfflow.missing_resources($1, $2) WITH ORDINALITY AS m (resource, for_items, location, kind, name, proposal, n)
	WHERE m.name IS NULL OR NOT _sfflow.template_part_exists(m.kind, m.name)
	GROUP BY m.resource, m.proposal
	ORDER BY min(m.n)
$$;
COMMENT ON FUNCTION @extschema@.sf_missing_resources(text, jsonb) IS
	'what a definition or a template needs and nothing has yet: how often, where, and a statement for each';
--@into public_functions
		aws_resources, missing_resources, propose_mapping, template_part_exists,
