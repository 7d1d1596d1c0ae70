-- sf_aws_install, sf_aws_uninstall: tables and functions that stand in for AWS services, in schema sfflow_aws.

-- services: those that a program outside does, such as glue. All that it makes is the caller's, and no member of the
-- extension: pg_dump carries it like any other schema.
CREATE FUNCTION @extschema@.sf_aws_install(services text[] DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $install$
DECLARE
	mapping record;
BEGIN
	CREATE SCHEMA sfflow_aws;
	COMMENT ON SCHEMA sfflow_aws IS 'replacements for AWS services that state machines call';

	-- ------------------------------------------------------------ what all of them need

	-- What a service's response has besides its own.
	CREATE FUNCTION sfflow_aws.metadata() RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_build_object(
			'SdkHttpMetadata', jsonb_build_object('AllHttpHeaders', '{}'::jsonb, 'HttpHeaders', '{}'::jsonb,
				'HttpStatusCode', 200),
			'SdkResponseMetadata', jsonb_build_object('RequestId', gen_random_uuid()))
	$f$;

	-- A role that a row names has a right on this type: PostgreSQL knows of no dependency of a regrole in a row, but
	-- refuses DROP ROLE while the role has a right on an object.
	CREATE DOMAIN sfflow_aws.role_in_use AS boolean;
	COMMENT ON DOMAIN sfflow_aws.role_in_use IS
		'roles that rows of tables in this schema name have USAGE on it, so that they cannot be dropped';
	REVOKE ALL ON TYPE sfflow_aws.role_in_use FROM PUBLIC;

	-- Give the right to roles that new rows name, and take it from those that no row names any more. A transaction that
	-- names a role keeps others from taking the right meanwhile; one at a time changes it.
	CREATE FUNCTION sfflow_aws.keep_roles() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		role record;
		source text := CASE TG_OP WHEN 'DELETE' THEN 'SELECT %1$I, false FROM old_rows' WHEN 'INSERT'
			THEN 'SELECT %1$I, true FROM new_rows'
			ELSE 'SELECT %1$I, false FROM old_rows UNION SELECT %1$I, true FROM new_rows' END;
		named boolean;
	BEGIN
		FOR role IN EXECUTE format('SELECT p.oid, p.rolname AS name, bool_or(r.is_new) AS is_new, hashtextextended(''sfflow_aws.role_in_use'', p.oid::bigint) AS lock'
			' FROM (' || source || ') AS r (role, is_new) JOIN pg_roles AS p ON p.oid = r.role GROUP BY p.oid, p.rolname ORDER BY p.oid', TG_ARGV[0]) LOOP
			IF role.is_new THEN
				PERFORM pg_advisory_xact_lock_shared(role.lock);
			END IF;
			FOR turn IN 1 .. 2 LOOP
				named := EXISTS (SELECT FROM sfflow_aws.s3_bucket AS b WHERE b.owner = role.oid)
					OR EXISTS (SELECT FROM sfflow_aws.s3_grant AS g WHERE g.grantee = role.oid)
					OR EXISTS (SELECT FROM sfflow_aws.athena_query AS q WHERE q.owner = role.oid);
				EXIT WHEN named = EXISTS (SELECT FROM pg_type AS t, aclexplode(t.typacl) AS a
					WHERE t.oid = 'sfflow_aws.role_in_use'::regtype AND a.grantee = role.oid);
				IF turn = 1 THEN
					IF NOT named THEN
						PERFORM pg_advisory_xact_lock(role.lock);
					END IF;
					PERFORM pg_advisory_xact_lock(hashtextextended('sfflow_aws.role_in_use', 0));
				ELSIF named THEN
					EXECUTE format('GRANT USAGE ON TYPE sfflow_aws.role_in_use TO %I', role.name);
				ELSE
					EXECUTE format('REVOKE USAGE ON TYPE sfflow_aws.role_in_use FROM %I', role.name);
				END IF;
			END LOOP;
		END LOOP;
		RETURN NULL;
	END $f$;
	REVOKE ALL ON FUNCTION sfflow_aws.keep_roles() FROM PUBLIC;

	-- Fail as an optimized integration does: error and cause have the names that the service gives itself.
	CREATE FUNCTION sfflow_aws.fail(error text, message text, service text, code text, status integer DEFAULT 400)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT @extschema@.sf_raise(error,
			format('%s (Service: %s; Status Code: %s; Error Code: %s; Request ID: %s; Proxy: null)',
			message, service, status, code, gen_random_uuid()))
	$f$;

	-- Fail as an integration of the SDK does.
	CREATE FUNCTION sfflow_aws.fail_sdk(service text, code text, message text, status integer DEFAULT 400)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT @extschema@.sf_raise(service || '.' || code,
			format('%s (Service: %s, Status Code: %s, Request ID: %s) (SDK Attempt Count: 1)',
			message, service, status, gen_random_uuid()))
	$f$;

	-- What is wrong with a member of a request, as a service says it before it looks at anything else; NULL: nothing.
	CREATE FUNCTION sfflow_aws.member_problem(place text, value jsonb, min_size integer DEFAULT NULL,
		max_size integer DEFAULT NULL, pattern text DEFAULT NULL)
	RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT string_agg(format('Value %s at ''%s'' failed to satisfy constraint: Member must %s',
			coalesce('''' || given || '''', 'null'), place, problem), '; ' ORDER BY n)
		FROM (SELECT value #>> '{}' AS given,
				CASE jsonb_typeof(value) WHEN 'array' THEN jsonb_array_length(value) ELSE length(value #>> '{}')
					END AS size) AS g,
			LATERAL (VALUES (1, given IS NULL, 'not be null'),
				(2, size < min_size, 'have length greater than or equal to ' || min_size),
				(3, size > max_size, 'have length less than or equal to ' || max_size),
				(4, given !~ ('^(?:' || pattern || ')$'), 'satisfy regular expression pattern: ' || pattern)) AS p (n,
					broken, problem)
		WHERE broken
	$f$;

	-- The same of a member that may be absent: the words that it may be, or bounds of a number.
	CREATE FUNCTION sfflow_aws.word_problem(place text, value jsonb, VARIADIC words text[]) RETURNS text
		LANGUAGE sql IMMUTABLE
	RETURN CASE WHEN jsonb_typeof(value) = 'string' AND value #>> '{}' <> ALL (words)
		THEN format('Value ''%s'' at ''%s'' failed to satisfy constraint: Member must satisfy enum value set: [%s]',
			value #>> '{}', place, array_to_string(words, ', ')) END;
	CREATE FUNCTION sfflow_aws.number_problem(place text, value jsonb, lowest numeric,
		highest numeric DEFAULT NULL) RETURNS text LANGUAGE sql IMMUTABLE
	RETURN CASE WHEN jsonb_typeof(value) <> 'number' THEN NULL
		WHEN (value #>> '{}')::numeric < lowest
			THEN format('Value ''%s'' at ''%s'' failed to satisfy constraint: Member must have value greater than or equal to %s', value, place, lowest)
		WHEN (value #>> '{}')::numeric > highest
			THEN format('Value ''%s'' at ''%s'' failed to satisfy constraint: Member must have value less than or equal to %s', value, place, highest) END;
	CREATE FUNCTION sfflow_aws.size_problem(place text, value jsonb, min_size integer, max_size integer,
		pattern text DEFAULT NULL) RETURNS text LANGUAGE sql IMMUTABLE
	RETURN CASE WHEN coalesce(jsonb_typeof(value), 'null') <> 'null'
		THEN sfflow_aws.member_problem(place, value, min_size, max_size, pattern) END;

	-- The message of a request with such problems; NULL: it has none.
	CREATE FUNCTION sfflow_aws.validation_errors(VARIADIC problems text[]) RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT format('%s validation error%s detected: %s', n, CASE WHEN n > 1 THEN 's' ELSE '' END, all_problems)
		FROM (SELECT array_to_string(problems, '; ') AS all_problems) AS a,
			LATERAL (SELECT count(*) AS n
				FROM regexp_matches(all_problems, ' failed to satisfy constraint: Member must ', 'g')) AS c
		WHERE n > 0
	$f$;

	-- The machine that puts its input into an activity.
	CREATE FUNCTION sfflow_aws.activity_machine(activity text) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM @extschema@.sf_create_state_machine('aws-activity-' || activity, json_build_object(
			'Comment', 'Puts what is sent to activity ' || activity || ' into its queue.',
			'StartAt', 'Work',
			'States', json_build_object('Work',
				json_build_object('Type', 'Task', 'Resource', 'activity:' || activity, 'End', true))));
		RETURN 'aws-activity-' || activity;
	END $f$;

	-- Check a target, and make what it needs: activity:NAME, event:NAME, notify:CHANNEL, a state machine's name or ARN.
	CREATE FUNCTION sfflow_aws.check_target(target text) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF target LIKE 'activity:_%' THEN
			PERFORM sfflow_aws.activity_machine(substr(target, 10));
		ELSIF target LIKE 'arn:%:activity:%' THEN
			target := 'activity:' || regexp_replace(target, '^.*:', '');
			PERFORM sfflow_aws.activity_machine(substr(target, 10));
		ELSIF target IS NULL OR target = '' THEN
			RAISE EXCEPTION 'target must not be empty'
				USING ERRCODE = 'invalid_parameter_value',
					HINT = 'Give activity:NAME, event:NAME, notify:CHANNEL, or the name of a state machine.';
		END IF;
		RETURN target;
	END $f$;

	-- Send a message to a target: an execution of that name, or an event by key with that id, if it gives none itself.
	CREATE FUNCTION sfflow_aws.deliver(target text, message jsonb, name text DEFAULT NULL, id text DEFAULT NULL)
	RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF target LIKE 'notify:%' THEN
			PERFORM pg_notify(substr(target, 8),
				CASE jsonb_typeof(message) WHEN 'string' THEN message #>> '{}' ELSE message::text END);
--@slot aws_targets
		ELSIF target LIKE 'activity:%' THEN
			PERFORM @extschema@.sf_start('aws-activity-' || substr(target, 10), message, name);
		ELSE
			PERFORM @extschema@.sf_start(target, message, name);
		END IF;
	END $f$;

	PERFORM _sfflow.aws_install_dynamodb();
--@slot aws_installs
	PERFORM _sfflow.aws_install_sqs();
	PERFORM _sfflow.aws_install_sfn();
	PERFORM _sfflow.aws_install_ssm();
	PERFORM _sfflow.aws_install_s3();
	PERFORM _sfflow.aws_install_s3_api();
	PERFORM _sfflow.aws_install_athena();

	-- ------------------------------------------------------------ the resource map

	CREATE TABLE sfflow_aws.resource (pattern text PRIMARY KEY, resource text NOT NULL);
	INSERT INTO sfflow_aws.resource
	SELECT a.resource, coalesce('sql:sfflow_aws.' || a.handler, 'arn:aws:states:::states:startExecution')
		FROM _sfflow.aws_resources() AS a;
	FOR mapping IN SELECT * FROM sfflow_aws.resource LOOP
		PERFORM @extschema@.sf_map_resource(mapping.pattern, mapping.resource);
	END LOOP;

	-- Give services, by their names in a Resource, to an activity, which is made if it is not there: http to "http",
	-- all others to "aws". "aws-sdk" is every service of the SDK that has no other mapping. Functions here that replace
	-- a service do so no more. "parquet" is no service: what an ItemReader reads as Parquet goes to the activity
	-- "items".
	CREATE FUNCTION sfflow_aws.serve_outside(VARIADIC services text[]) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		service text;
		served_by text;
		mapped text;
	BEGIN
		FOREACH service IN ARRAY services LOOP
			IF service IS NULL OR service !~ '^[a-z][a-z0-9-]*$' THEN
				RAISE EXCEPTION 'there is no service "%"', service
					USING ERRCODE = 'invalid_parameter_value', HINT = 'Give names as in a Resource: glue, batch, ecs.';
			END IF;
			served_by := CASE service WHEN 'http' THEN 'http' WHEN 'parquet' THEN 'items' ELSE 'aws' END;
			IF served_by NOT IN (SELECT a.activity FROM @extschema@.sf_activities AS a) THEN
				PERFORM @extschema@.sf_create_activity(served_by, '2 minutes');
			END IF;
			FOR mapped IN
				DELETE FROM sfflow_aws.resource AS r
				WHERE service <> 'aws-sdk'
					AND r.pattern LIKE ANY (ARRAY['arn:aws:states:::' || service || ':%',
					'arn:aws:states:::aws-sdk:' || service || ':%'])
				RETURNING r.pattern
			LOOP
				PERFORM @extschema@.sf_unmap_resource(mapped);
			END LOOP;
			FOREACH mapped IN ARRAY CASE WHEN service IN ('aws-sdk', 'http') THEN ARRAY[service || ':*']
				WHEN service = 'parquet' THEN ARRAY['s3:getObject#PARQUET', 's3:listObjectsV2#PARQUET']
				ELSE ARRAY[service || ':*', 'aws-sdk:' || service || ':*'] END LOOP
				mapped := 'arn:aws:states:::' || mapped;
				INSERT INTO sfflow_aws.resource VALUES (mapped, 'activity:' || served_by) ON CONFLICT DO NOTHING;
				PERFORM @extschema@.sf_map_resource(mapped, 'activity:' || served_by);
			END LOOP;
		END LOOP;
	END $f$;
	PERFORM sfflow_aws.serve_outside(VARIADIC coalesce(services, '{}'));
END $install$;
COMMENT ON FUNCTION @extschema@.sf_aws_install(text[]) IS
	'creates schema sfflow_aws with replacements for AWS services, and maps their resources to it, and other services to an activity';

-- The machines that it made for activities stay: their executions are history. A schema of another
-- role is not read: what it holds under the name of the table could be a view that runs code.
CREATE FUNCTION @extschema@.sf_aws_uninstall()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET client_min_messages = warning
AS $uninstall$
DECLARE
	mapped text;
	owner name := (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'sfflow_aws');
BEGIN
	IF owner <> current_user THEN
		RAISE EXCEPTION 'schema sfflow_aws belongs to "%"', owner
			USING ERRCODE = 'insufficient_privilege', HINT = 'Call sf_aws_uninstall() as that role.';
	END IF;
	FOR mapped IN SELECT pattern FROM sfflow_aws.resource LOOP
		BEGIN
			PERFORM @extschema@.sf_unmap_resource(mapped);
		EXCEPTION WHEN SQLSTATE 'SF017' THEN
			NULL;
		END;
	END LOOP;
	DROP SCHEMA sfflow_aws CASCADE;
END $uninstall$;
COMMENT ON FUNCTION @extschema@.sf_aws_uninstall() IS
	'drops schema sfflow_aws and the mappings to it; its items and rules are lost';

--@slot aws_services
