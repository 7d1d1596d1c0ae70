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
--@with event
		ELSIF target LIKE 'event:%' THEN
			PERFORM @extschema@.sf_emit(substr(target, 7), message->>'key', nullif(message->'payload', 'null'),
				coalesce(message->>'id', id));
--@end
		ELSIF target LIKE 'activity:%' THEN
			PERFORM @extschema@.sf_start('aws-activity-' || substr(target, 10), message, name);
		ELSE
			PERFORM @extschema@.sf_start(target, message, name);
		END IF;
	END $f$;

	-- ------------------------------------------------------------ DynamoDB

	CREATE TABLE sfflow_aws.dynamodb_table (
		name text PRIMARY KEY,
		partition_key text NOT NULL,
		sort_key text
	);

	-- Items by the text of their keys; see key_text().
	CREATE TABLE sfflow_aws.dynamodb_item (
		table_name text,
		partition text COLLATE "C",
		sort text COLLATE "C",
		item jsonb NOT NULL,
		PRIMARY KEY (table_name, partition, sort)
	);

	-- Make a table whose items are told apart by one attribute, or two.
	CREATE FUNCTION sfflow_aws.create_table(name text, partition_key text, sort_key text DEFAULT NULL)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		INSERT INTO sfflow_aws.dynamodb_table VALUES (name, partition_key, sort_key)
	$f$;

	CREATE FUNCTION sfflow_aws.drop_table(name text)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		DELETE FROM sfflow_aws.dynamodb_item WHERE table_name = name;
		DELETE FROM sfflow_aws.dynamodb_table AS t WHERE t.name = drop_table.name;
	$f$;

	-- Fail as DynamoDB does; what is wrong with a request has another name than in the service itself.
	CREATE FUNCTION sfflow_aws.dynamodb_fail(code text, message text, sdk boolean) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF sdk THEN
			PERFORM sfflow_aws.fail_sdk('DynamoDb',
				CASE code WHEN 'ValidationException' THEN 'DynamoDbException' ELSE code END, message);
		ELSE
			PERFORM sfflow_aws.fail('DynamoDB.' || CASE code WHEN 'ValidationException' THEN 'AmazonDynamoDBException'
				ELSE code END,
				message, 'AmazonDynamoDBv2', code);
		END IF;
	END $f$;

	-- The table of a request, by name or ARN. The request must have that, and a member that the operation needs, if it
	-- needs one.
	CREATE FUNCTION sfflow_aws.dynamodb_table_of(payload jsonb, needed text,
		sdk boolean) RETURNS sfflow_aws.dynamodb_table LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		found_table sfflow_aws.dynamodb_table;
		problem text := sfflow_aws.validation_errors(
			sfflow_aws.member_problem('tableName',
				to_jsonb(regexp_replace(payload->>'TableName', '^arn:.*:table/', '')), 1, 1024, '[a-zA-Z0-9_.-]+'),
			sfflow_aws.member_problem(lower(needed), CASE WHEN needed IS NULL THEN 'true' ELSE payload->needed END),
			sfflow_aws.size_problem('indexName', payload->'IndexName', 3, 255, '[a-zA-Z0-9_.-]+'),
			sfflow_aws.number_problem('limit', payload->'Limit', 1),
			sfflow_aws.word_problem('select', payload->'Select', 'SPECIFIC_ATTRIBUTES', 'COUNT', 'ALL_ATTRIBUTES',
				'ALL_PROJECTED_ATTRIBUTES'),
			sfflow_aws.word_problem('returnValues', payload->'ReturnValues', 'ALL_NEW', 'UPDATED_OLD', 'ALL_OLD',
				'NONE', 'UPDATED_NEW'));
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException', problem, sdk);
		END IF;
		SELECT * INTO found_table FROM sfflow_aws.dynamodb_table
			WHERE name = regexp_replace(payload->>'TableName', '^arn:.*:table/', '');
		IF NOT FOUND THEN
			PERFORM sfflow_aws.dynamodb_fail('ResourceNotFoundException', 'Requested resource not found', sdk);
		END IF;
		RETURN found_table;
	END $f$;

	-- A key attribute as text, the same for numbers that are equal.
	CREATE FUNCTION sfflow_aws.key_text(value jsonb) RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT CASE WHEN value ? 'N' THEN 'N:' || trim_scale((value->>'N')::numeric)
			WHEN value ? 'S' THEN 'S:' || (value->>'S') WHEN value ? 'B' THEN 'B:' || (value->>'B') END
	$f$;

	-- A sort key that is a number, as such; 0 for all others.
	CREATE FUNCTION sfflow_aws.key_number(key text) RETURNS numeric LANGUAGE sql IMMUTABLE
	RETURN CASE WHEN key LIKE 'N:%' THEN substr(key, 3)::numeric ELSE 0 END;

	-- The attributes of an item that are its key.
	CREATE FUNCTION sfflow_aws.key_of(t sfflow_aws.dynamodb_table, item jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_object_agg(attribute, item->attribute) FROM unnest(ARRAY[t.partition_key, t.sort_key]) AS attribute
			WHERE attribute IS NOT NULL
	$f$;

	-- Check the key of a request, or the key attributes of an item.
	CREATE FUNCTION sfflow_aws.check_key(t sfflow_aws.dynamodb_table, given jsonb, whole_item boolean,
		sdk boolean) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		attribute text;
	BEGIN
		IF jsonb_typeof(given) <> 'object' OR EXISTS (
			SELECT FROM jsonb_each(CASE jsonb_typeof(given) WHEN 'object' THEN given ELSE '{}' END) AS a (name, content)
			WHERE CASE jsonb_typeof(content) WHEN 'object' THEN
				(SELECT count(*) = 1 AND bool_and(k IN ('S', 'N', 'B', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'BS'))
					FROM jsonb_object_keys(content) AS k)
				ELSE false END IS NOT TRUE)
		THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException',
				'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes', sdk);
		END IF;
		FOREACH attribute IN ARRAY array_remove(ARRAY[t.partition_key, t.sort_key], NULL) LOOP
			IF given->attribute IN ('{"S": ""}', '{"B": ""}') THEN
				PERFORM sfflow_aws.dynamodb_fail('ValidationException', format(
					'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s',
					CASE WHEN given->attribute ? 'S' THEN 'string' ELSE 'binary' END, attribute), sdk);
			ELSIF sfflow_aws.key_text(given->attribute) IS NOT NULL THEN
				CONTINUE;
			END IF;
			PERFORM sfflow_aws.dynamodb_fail('ValidationException', CASE WHEN whole_item
				THEN 'One or more parameter values were invalid: Missing the key ' || attribute || ' in the item'
				ELSE 'The provided key element does not match the schema' END, sdk);
		END LOOP;
		IF NOT whole_item AND sfflow_aws.key_of(t, given) <> given THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException',
				'The provided key element does not match the schema', sdk);
		END IF;
	EXCEPTION WHEN data_exception THEN
		PERFORM sfflow_aws.dynamodb_fail('ValidationException',
			'A value provided cannot be converted into a number', sdk);
	END $f$;

	-- Fail unless an item satisfies the request's ConditionExpression.
	CREATE FUNCTION sfflow_aws.check_condition(payload jsonb, item jsonb, sdk boolean) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		ok boolean := true;
		problem text;
	BEGIN
		IF payload->>'ConditionExpression' IS NULL THEN
			RETURN;
		END IF;
		BEGIN
			ok := @extschema@.sf_dynamodb_condition(payload->>'ConditionExpression', coalesce(item, '{}'),
				payload->'ExpressionAttributeNames', payload->'ExpressionAttributeValues');
		EXCEPTION WHEN SQLSTATE 'SF014' OR data_exception THEN
			problem := SQLERRM;
		END;
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException', problem, sdk);
		ELSIF NOT ok THEN
			PERFORM sfflow_aws.dynamodb_fail('ConditionalCheckFailedException', 'The conditional request failed', sdk);
		END IF;
	END $f$;

	-- The item with the attributes that the request wants.
	CREATE FUNCTION sfflow_aws.project(payload jsonb, item jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT CASE WHEN payload->>'ProjectionExpression' IS NULL THEN item
			ELSE @extschema@.sf_dynamodb_project(payload->>'ProjectionExpression', item,
				payload->'ExpressionAttributeNames') END
	$f$;

	CREATE FUNCTION sfflow_aws.get_item(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		t sfflow_aws.dynamodb_table := sfflow_aws.dynamodb_table_of(payload, 'Key', sdk);
		key jsonb := payload->'Key';
		found_item jsonb;
		problem text;
	BEGIN
		PERFORM sfflow_aws.check_key(t, key, false, sdk);
		SELECT item INTO found_item FROM sfflow_aws.dynamodb_item
		WHERE table_name = t.name AND partition = sfflow_aws.key_text(key->t.partition_key)
			AND sort = coalesce(sfflow_aws.key_text(key->t.sort_key), '');
		IF NOT FOUND THEN
			RETURN '{}';
		END IF;
		BEGIN
			RETURN jsonb_build_object('Item', sfflow_aws.project(payload, found_item));
		EXCEPTION WHEN SQLSTATE 'SF014' THEN
			problem := SQLERRM;
		END;
		PERFORM sfflow_aws.dynamodb_fail('ValidationException', problem, sdk);
	END $f$;

	-- Put an item in the place of what was there, if anything; false: another session was faster.
	CREATE FUNCTION sfflow_aws.store_item(t sfflow_aws.dynamodb_table, new_item jsonb, old_item jsonb) RETURNS boolean
		LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF old_item IS NULL THEN
			INSERT INTO sfflow_aws.dynamodb_item
			VALUES (t.name, sfflow_aws.key_text(new_item->t.partition_key),
				coalesce(sfflow_aws.key_text(new_item->t.sort_key), ''), new_item)
			ON CONFLICT DO NOTHING;
		ELSE
			UPDATE sfflow_aws.dynamodb_item SET item = new_item
			WHERE table_name = t.name AND partition = sfflow_aws.key_text(new_item->t.partition_key)
				AND sort = coalesce(sfflow_aws.key_text(new_item->t.sort_key), '');
		END IF;
		RETURN FOUND;
	END $f$;

	-- The item of a key, locked; NULL when there is none.
	CREATE FUNCTION sfflow_aws.lock_item(t sfflow_aws.dynamodb_table, key jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT item FROM sfflow_aws.dynamodb_item
		WHERE table_name = t.name AND partition = sfflow_aws.key_text(key->t.partition_key)
			AND sort = coalesce(sfflow_aws.key_text(key->t.sort_key), '')
		FOR UPDATE
	$f$;

	CREATE FUNCTION sfflow_aws.put_item(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		t sfflow_aws.dynamodb_table := sfflow_aws.dynamodb_table_of(payload, 'Item', sdk);
		old_item jsonb;
	BEGIN
		IF payload->>'ReturnValues' NOT IN ('ALL_OLD', 'NONE') THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException', 'ReturnValues can only be ALL_OLD or NONE', sdk);
		END IF;
		PERFORM sfflow_aws.check_key(t, payload->'Item', true, sdk);
		LOOP
			old_item := sfflow_aws.lock_item(t, payload->'Item');
			PERFORM sfflow_aws.check_condition(payload, old_item, sdk);
			EXIT WHEN sfflow_aws.store_item(t, payload->'Item', old_item);
		END LOOP;
		IF payload->>'ReturnValues' = 'ALL_OLD' AND old_item IS NOT NULL THEN
			RETURN jsonb_build_object('Attributes', old_item);
		END IF;
		RETURN '{}';
	END $f$;

	CREATE FUNCTION sfflow_aws.delete_item(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		t sfflow_aws.dynamodb_table := sfflow_aws.dynamodb_table_of(payload, 'Key', sdk);
		key jsonb := payload->'Key';
		old_item jsonb;
	BEGIN
		IF payload->>'ReturnValues' NOT IN ('ALL_OLD', 'NONE') THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException', 'ReturnValues can only be ALL_OLD or NONE', sdk);
		END IF;
		PERFORM sfflow_aws.check_key(t, key, false, sdk);
		old_item := sfflow_aws.lock_item(t, key);
		PERFORM sfflow_aws.check_condition(payload, old_item, sdk);
		DELETE FROM sfflow_aws.dynamodb_item
		WHERE table_name = t.name AND partition = sfflow_aws.key_text(key->t.partition_key)
			AND sort = coalesce(sfflow_aws.key_text(key->t.sort_key), '');
		IF payload->>'ReturnValues' = 'ALL_OLD' AND old_item IS NOT NULL THEN
			RETURN jsonb_build_object('Attributes', old_item);
		END IF;
		RETURN '{}';
	END $f$;

	-- An item after the request's UpdateExpression, and the attributes that it touched.
	CREATE FUNCTION sfflow_aws.updated(t sfflow_aws.dynamodb_table, payload jsonb, old_item jsonb,
		sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		result jsonb := jsonb_build_object('Item', coalesce(old_item, payload->'Key'), 'Attributes', '[]'::jsonb);
		problem text;
		attribute text;
	BEGIN
		IF payload->>'UpdateExpression' IS NULL THEN
			RETURN result;
		END IF;
		BEGIN
			result := @extschema@.sf_dynamodb_update(payload->>'UpdateExpression', result->'Item',
				payload->'ExpressionAttributeNames', payload->'ExpressionAttributeValues');
		EXCEPTION WHEN SQLSTATE 'SF014' OR data_exception THEN
			problem := SQLERRM;
		END;
		SELECT a INTO attribute FROM jsonb_array_elements_text(result->'Attributes') AS a
			WHERE a IN (t.partition_key, t.sort_key);
		IF attribute IS NOT NULL THEN
			problem := format('One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key', attribute);
		END IF;
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.dynamodb_fail('ValidationException', problem, sdk);
		END IF;
		RETURN result;
	END $f$;

	-- Some attributes of an item, those that it has.
	CREATE FUNCTION sfflow_aws.pick(item jsonb, attributes jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_object_agg(a, item->a) FROM jsonb_array_elements_text(attributes) AS a WHERE item ? a
	$f$;

	CREATE FUNCTION sfflow_aws.update_item(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		t sfflow_aws.dynamodb_table := sfflow_aws.dynamodb_table_of(payload, 'Key', sdk);
		old_item jsonb;
		result jsonb;
		returned jsonb;
	BEGIN
		PERFORM sfflow_aws.check_key(t, payload->'Key', false, sdk);
		LOOP
			old_item := sfflow_aws.lock_item(t, payload->'Key');
			PERFORM sfflow_aws.check_condition(payload, old_item, sdk);
			result := sfflow_aws.updated(t, payload, old_item, sdk);
			EXIT WHEN sfflow_aws.store_item(t, result->'Item', old_item);
		END LOOP;
		returned := CASE payload->>'ReturnValues'
			WHEN 'ALL_OLD' THEN old_item
			WHEN 'ALL_NEW' THEN result->'Item'
			WHEN 'UPDATED_OLD' THEN sfflow_aws.pick(old_item, result->'Attributes')
			WHEN 'UPDATED_NEW' THEN sfflow_aws.pick(result->'Item', result->'Attributes') END;
		RETURN CASE WHEN returned IS NULL THEN '{}' ELSE jsonb_build_object('Attributes', returned) END;
	END $f$;

	-- The value of the partition key that a query's key condition asks for; the sort key may be compared, too.
	CREATE FUNCTION sfflow_aws.query_partition(t sfflow_aws.dynamodb_table, payload jsonb) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		key jsonb := @extschema@.sf_dynamodb_key(payload->>'KeyConditionExpression',
			payload->'ExpressionAttributeNames', payload->'ExpressionAttributeValues');
		other text;
	BEGIN
		IF NOT key->'Equal' ? t.partition_key THEN
			RAISE EXCEPTION 'Query condition missed key schema element: %', t.partition_key USING ERRCODE = 'SF014';
		END IF;
		SELECT a INTO other FROM (SELECT jsonb_object_keys(key->'Equal') UNION ALL
			SELECT jsonb_array_elements_text(key->'Others')) AS v (a)
		WHERE a <> t.partition_key AND a IS DISTINCT FROM t.sort_key;
		IF FOUND THEN
			RAISE EXCEPTION 'Query key condition not supported' USING ERRCODE = 'SF014';
		END IF;
		RETURN sfflow_aws.key_text(key->'Equal'->t.partition_key);
	END $f$;

	-- The items of a query, or (without a partition) of a scan, up to Limit of them, from ExclusiveStartKey on.
	CREATE FUNCTION sfflow_aws.find_items(t sfflow_aws.dynamodb_table, payload jsonb,
		wanted_partition text) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		forward boolean := wanted_partition IS NULL OR coalesce((payload->>'ScanIndexForward')::boolean, true);
		start_key jsonb := nullif(payload->'ExclusiveStartKey', 'null');
		start_partition text := sfflow_aws.key_text(start_key->t.partition_key);
		start_sort text := coalesce(sfflow_aws.key_text(start_key->t.sort_key), '');
		start_number numeric := sfflow_aws.key_number(start_sort);
		last_key jsonb := start_key;
		scanned integer := 0;
		items jsonb[] := '{}';
		matches integer := 0;
		candidate record;
		result jsonb := '{}';
		names jsonb := payload->'ExpressionAttributeNames';
		vals jsonb := payload->'ExpressionAttributeValues';
	BEGIN
		FOR candidate IN
			SELECT i.item
			FROM sfflow_aws.dynamodb_item AS i, LATERAL sfflow_aws.key_number(i.sort) AS number
			WHERE i.table_name = t.name AND (wanted_partition IS NULL OR i.partition = wanted_partition)
				AND (start_key IS NULL OR CASE WHEN forward
					THEN (i.partition, number, i.sort) > (start_partition, start_number, start_sort)
					ELSE (number, i.sort) < (start_number, start_sort) END)
			ORDER BY i.partition, CASE WHEN forward THEN number END, CASE WHEN forward THEN i.sort END, number DESC,
				i.sort DESC
		LOOP
			CONTINUE WHEN wanted_partition IS NOT NULL
				AND NOT @extschema@.sf_dynamodb_condition(payload->>'KeyConditionExpression', candidate.item, names,
					vals, 'KeyConditionExpression');
			IF scanned >= (payload->>'Limit')::integer THEN
				result := jsonb_build_object('LastEvaluatedKey', last_key);
				EXIT;
			END IF;
			scanned := scanned + 1;
			last_key := sfflow_aws.key_of(t, candidate.item);
			CONTINUE WHEN payload->>'FilterExpression' IS NOT NULL
				AND NOT @extschema@.sf_dynamodb_condition(payload->>'FilterExpression', candidate.item, names, vals,
					'FilterExpression');
			matches := matches + 1;
			IF payload->>'Select' IS DISTINCT FROM 'COUNT' THEN
				items := items || sfflow_aws.project(payload, candidate.item);
			END IF;
		END LOOP;
		result := result || jsonb_build_object('Count', matches, 'ScannedCount', scanned);
		IF payload->>'Select' IS DISTINCT FROM 'COUNT' THEN
			result := result || jsonb_build_object('Items', to_jsonb(items));
		END IF;
		RETURN result;
	END $f$;

	-- A query or a scan.
	CREATE FUNCTION sfflow_aws.query(payload jsonb, scan boolean, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		t sfflow_aws.dynamodb_table := sfflow_aws.dynamodb_table_of(payload, NULL, sdk);
		problem text;
	BEGIN
		IF payload->>'IndexName' IS NOT NULL THEN
			problem := 'The table does not have the specified index: ' || (payload->>'IndexName');
		ELSIF NOT scan AND payload->>'KeyConditionExpression' IS NULL THEN
			problem := 'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.';
		ELSE
			BEGIN
				RETURN sfflow_aws.find_items(t, payload,
					CASE WHEN NOT scan THEN sfflow_aws.query_partition(t, payload) END);
			EXCEPTION WHEN SQLSTATE 'SF014' OR data_exception THEN
				problem := SQLERRM;
			END;
		END IF;
		PERFORM sfflow_aws.dynamodb_fail('ValidationException', problem, sdk);
	END $f$;

	-- What the Resources are mapped to: the optimized integrations and those of the SDK.
	CREATE FUNCTION sfflow_aws.dynamodb_get_item(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.get_item(payload, false) || sfflow_aws.metadata();
	CREATE FUNCTION sfflow_aws.dynamodb_put_item(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.put_item(payload, false) || sfflow_aws.metadata();
	CREATE FUNCTION sfflow_aws.dynamodb_update_item(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.update_item(payload, false) || sfflow_aws.metadata();
	CREATE FUNCTION sfflow_aws.dynamodb_delete_item(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.delete_item(payload, false) || sfflow_aws.metadata();
	CREATE FUNCTION sfflow_aws.sdk_dynamodb_get_item(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.get_item(payload, true);
	CREATE FUNCTION sfflow_aws.sdk_dynamodb_put_item(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.put_item(payload, true);
	CREATE FUNCTION sfflow_aws.sdk_dynamodb_update_item(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.update_item(payload, true);
	CREATE FUNCTION sfflow_aws.sdk_dynamodb_delete_item(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.delete_item(payload, true);
	CREATE FUNCTION sfflow_aws.sdk_dynamodb_query(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.query(payload, false, true);
	CREATE FUNCTION sfflow_aws.sdk_dynamodb_scan(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.query(payload, true, true);

--@with rule
	-- ------------------------------------------------------------ EventBridge

	CREATE TABLE sfflow_aws.event_rule (
		name text PRIMARY KEY,
		bus text,					-- NULL: any
		pattern jsonb NOT NULL,
		target text NOT NULL,
		input jsonb					-- a template of what the target gets; NULL: the event
	);

	-- Send the events that match a pattern to a target; the same name again changes the rule. A pattern that is not
	-- valid is refused, and so is a template.
	CREATE FUNCTION sfflow_aws.put_rule(name text, pattern jsonb, target text, bus text DEFAULT NULL,
		input jsonb DEFAULT NULL)
	RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM @extschema@.sf_test_event_pattern(pattern, '{}'), _sfflow.check_rule_input(target, input);
		INSERT INTO sfflow_aws.event_rule VALUES (name, bus, pattern, sfflow_aws.check_target(target), input)
		ON CONFLICT ON CONSTRAINT event_rule_pkey DO UPDATE SET bus = EXCLUDED.bus, pattern = EXCLUDED.pattern,
			target = EXCLUDED.target, input = EXCLUDED.input;
	END $f$;

	CREATE FUNCTION sfflow_aws.delete_rule(name text)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		DELETE FROM sfflow_aws.event_rule AS r WHERE r.name = delete_rule.name
	$f$;

	-- What is wrong with an entry, or NULL.
	CREATE FUNCTION sfflow_aws.entry_problem(entry jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		field text;
	BEGIN
		FOREACH field IN ARRAY ARRAY['Source', 'DetailType', 'Detail'] LOOP
			IF coalesce(entry->>field, '') = '' THEN
				RETURN jsonb_build_object('ErrorCode', 'InvalidArgument',
					'ErrorMessage', format('Parameter %1$s is not valid. Reason: %1$s is a required argument.', field));
			END IF;
		END LOOP;
		IF (CASE jsonb_typeof(entry->'Detail') WHEN 'object' THEN 'object' WHEN 'string'
			THEN jsonb_typeof((entry->>'Detail')::jsonb) END) = 'object' THEN
			RETURN NULL;
		END IF;
		RETURN '{"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}';
	EXCEPTION WHEN invalid_text_representation THEN
		RETURN '{"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}';
	END $f$;

	-- Put one event on its bus; returns its id.
	CREATE FUNCTION sfflow_aws.put_event(entry jsonb) RETURNS uuid LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		event_id uuid := gen_random_uuid();
		event jsonb := jsonb_build_object('version', '0', 'id', event_id, 'detail-type', entry->'DetailType', 'source',
			entry->'Source',
			'account', current_setting('sfflow.account_id'), 'time',
				to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'region',
				current_setting('sfflow.region'),
			'resources', coalesce(entry->'Resources', '[]'),
			'detail', CASE jsonb_typeof(entry->'Detail') WHEN 'string' THEN (entry->>'Detail')::jsonb
				ELSE entry->'Detail' END);
		rule sfflow_aws.event_rule;
	BEGIN
		FOR rule IN
			SELECT r.* FROM sfflow_aws.event_rule AS r
			WHERE (r.bus IS NULL OR r.bus = regexp_replace(coalesce(entry->>'EventBusName', 'default'),
				'^arn:.*:event-bus/', ''))
				AND @extschema@.sf_test_event_pattern(r.pattern, event)
			ORDER BY r.name
		LOOP
			PERFORM sfflow_aws.deliver(rule.target,
				CASE WHEN rule.input IS NULL THEN event ELSE _sfflow.rule_input(rule.input, event) END, NULL,
				event_id::text);
		END LOOP;
		RETURN event_id;
	END $f$;

	-- All entries, or none: a failure rolls back what the others started.
	CREATE FUNCTION sfflow_aws.events_put_events(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		entry jsonb;
		problem jsonb;
		refusal text;
		entries jsonb := '[]';
		failed integer := 0;
	BEGIN
		refusal := sfflow_aws.validation_errors(VARIADIC ARRAY[sfflow_aws.member_problem('entries', payload->'Entries',
			1, 10)] || ARRAY(
			SELECT sfflow_aws.size_problem(format('entries.%s.member.eventBusName', n), e->'EventBusName', 1, 1600,
				'(arn:aws[\w-]*:events:[a-z]+-[a-z]+-[\w-]+:[0-9]{12}:event-bus\/)?[\/\.\-_A-Za-z0-9]+')
			FROM jsonb_array_elements(CASE jsonb_typeof(payload->'Entries') WHEN 'array' THEN payload->'Entries'
				ELSE '[]' END) WITH ORDINALITY AS a (e, n)));
		IF refusal IS NULL AND octet_length((payload->'Entries')::text) > 262144 THEN
			refusal := 'Total size of the entries in the request is over the limit.';
		END IF;
		IF refusal IS NOT NULL THEN
			PERFORM sfflow_aws.fail('EventBridge.AmazonEventBridgeException', refusal, 'AmazonEventBridge',
				'ValidationException');
		END IF;
		FOR entry IN SELECT * FROM jsonb_array_elements(payload->'Entries') LOOP
			problem := sfflow_aws.entry_problem(entry);
			failed := failed + (problem IS NOT NULL)::integer;
			entries := entries || coalesce(problem, jsonb_build_object('EventId', sfflow_aws.put_event(entry)));
		END LOOP;
		IF failed > 0 THEN
			PERFORM @extschema@.sf_raise('EventBridge.FailedEntry',
				jsonb_build_object('Entries', entries, 'FailedEntryCount', failed)::text);
		END IF;
		RETURN jsonb_build_object('Entries', entries, 'FailedEntryCount', 0);
	END $f$;

--@end
	-- ------------------------------------------------------------ SQS, SNS

	-- Queues have one target, topics any number.
	CREATE TABLE sfflow_aws.channel (
		kind text CHECK (kind IN ('queue', 'topic')),
		name text,
		targets text[] NOT NULL,
		PRIMARY KEY (kind, name)
	);

	CREATE FUNCTION sfflow_aws.create_queue(name text, target text)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		INSERT INTO sfflow_aws.channel VALUES ('queue', name, ARRAY[sfflow_aws.check_target(target)])
	$f$;

	CREATE FUNCTION sfflow_aws.create_topic(name text, VARIADIC targets text[] DEFAULT '{}')
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		INSERT INTO sfflow_aws.channel
		SELECT 'topic', create_topic.name, coalesce(array_agg(sfflow_aws.check_target(target)), '{}')
			FROM unnest(targets) AS target
	$f$;

	-- Send a message to all targets of a channel; false: there is no such channel.
	CREATE FUNCTION sfflow_aws.send(channel_kind text, channel_name text, message jsonb) RETURNS boolean
		LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		channel_targets text[];
		target text;
	BEGIN
		SELECT c.targets INTO channel_targets FROM sfflow_aws.channel AS c WHERE c.kind = channel_kind
			AND c.name = channel_name;
		IF NOT FOUND THEN
			RETURN false;
		END IF;
		FOREACH target IN ARRAY channel_targets LOOP
			PERFORM sfflow_aws.deliver(target, message);
		END LOOP;
		RETURN true;
	END $f$;

	-- What a FIFO queue or topic adds to its response.
	CREATE FUNCTION sfflow_aws.sequence_number(channel_name text) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT CASE WHEN channel_name LIKE '%.fifo'
			THEN jsonb_build_object('SequenceNumber',
				lpad((extract(epoch FROM clock_timestamp()) * 1000000)::bigint::text, 20, '0')) ELSE '{}' END
	$f$;

	-- What is wrong with the attributes of a message; NULL: nothing.
	CREATE FUNCTION sfflow_aws.attribute_problem(attributes jsonb) RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT format('The message attribute ''%s'' ', name) || CASE
			WHEN coalesce(type, '') = '' THEN 'must contain non-empty message attribute type.'
			WHEN type !~ '^(?:Binary|Number|String)'
				THEN 'has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.'
			ELSE format('must contain non-empty message attribute value for message attribute type ''%s''.', type) END
		FROM jsonb_each(CASE jsonb_typeof(attributes) WHEN 'object' THEN attributes ELSE '{}' END) AS a (name,
			attribute), LATERAL (SELECT attribute->>'DataType' AS type) AS t
		WHERE coalesce(type, '') !~ '^(?:Binary|Number|String)'
			OR coalesce(attribute->>CASE WHEN type ^@ 'Binary' THEN 'BinaryValue' ELSE 'StringValue' END, '') = ''
		ORDER BY name COLLATE "C" LIMIT 1
	$f$;

	-- A piece of what the digest of attributes is made of: its length, then itself.
	CREATE FUNCTION sfflow_aws.with_length(piece bytea) RETURNS bytea LANGUAGE sql IMMUTABLE
	RETURN int4send(length(piece)) || piece;

	-- The digest of the attributes of a message, as the service makes it; {} if there are none.
	CREATE FUNCTION sfflow_aws.attribute_digest(attributes jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT CASE WHEN count(*) = 0 THEN '{}' ELSE jsonb_build_object('MD5OfMessageAttributes', md5(string_agg(
			sfflow_aws.with_length(convert_to(name, 'UTF8')) || sfflow_aws.with_length(convert_to(type, 'UTF8'))
				|| CASE WHEN type ^@ 'Binary'
				THEN '\x02' || sfflow_aws.with_length(decode(attribute->>'BinaryValue', 'base64'))
				ELSE '\x01' || sfflow_aws.with_length(convert_to(attribute->>'StringValue', 'UTF8')) END, ''
					ORDER BY name COLLATE "C"))) END
		FROM jsonb_each(CASE jsonb_typeof(attributes) WHEN 'object' THEN attributes ELSE '{}' END) AS a (name,
			attribute), LATERAL (SELECT attribute->>'DataType' AS type) AS t
	$f$;

	-- Refuse a message that SQS would refuse before it looks for the queue.
	CREATE FUNCTION sfflow_aws.check_message(payload jsonb) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		is_fifo boolean := coalesce(payload->>'QueueUrl' LIKE '%.fifo', false);
		missing text := (SELECT member FROM unnest(ARRAY['QueueUrl', 'MessageBody'] || CASE WHEN is_fifo
			THEN ARRAY['MessageGroupId'] END) WITH ORDINALITY AS m (member, n)
			WHERE coalesce(payload->>member, '') = '' ORDER BY n LIMIT 1);
		delay numeric := CASE jsonb_typeof(payload->'DelaySeconds') WHEN 'number' THEN payload->'DelaySeconds' END;
		body text := payload->>'MessageBody';
		wrong_id text := (SELECT member FROM unnest(ARRAY['MessageGroupId', 'MessageDeduplicationId']) AS member
			WHERE payload->>member !~ '^[[:alnum:][:punct:]]{1,128}$' LIMIT 1);
		problem text := CASE
			WHEN missing IS NOT NULL THEN 'The request must contain the parameter ' || missing || '.'
			WHEN octet_length(body) > 1048576
				THEN 'One or more parameters are invalid. Reason: Message must be shorter than 1048576 bytes.'
			WHEN body ~ '[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]'
				THEN format('Invalid binary character ''#x%s'' was found in the message body, the set of allowed characters is #x9 | #xA | #xD | [#x20 to #xD7FF] | [#xE000 to #xFFFD] | [#x10000 to #x10FFFF]',
				upper(to_hex(ascii(substring(body FROM '[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]')))))
			WHEN wrong_id IS NOT NULL THEN format('Value %s for parameter %s is invalid. Reason: %s can only include alphanumeric and punctuation characters. 1 to 128 in length.', payload->>wrong_id, wrong_id, wrong_id)
			WHEN (is_fifo AND delay > 0) OR (NOT is_fifo AND payload->>'MessageDeduplicationId' IS NOT NULL)
				THEN format('Value %s for parameter %s is invalid. Reason: The request include parameter that is not valid for this queue type.',
					CASE WHEN is_fifo THEN delay::text ELSE payload->>'MessageDeduplicationId' END,
						CASE WHEN is_fifo THEN 'DelaySeconds' ELSE 'MessageDeduplicationId' END)
			WHEN delay NOT BETWEEN 0 AND 900
				THEN format('Value %s for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.', delay)
			WHEN (SELECT count(*) FROM jsonb_object_keys(CASE jsonb_typeof(payload->'MessageAttributes') WHEN 'object'
				THEN payload->'MessageAttributes' ELSE '{}' END)) > 10
				THEN format('Number of message attributes [%s] exceeds the allowed maximum [10].',
					(SELECT count(*) FROM jsonb_object_keys(payload->'MessageAttributes')))
			ELSE sfflow_aws.attribute_problem(payload->'MessageAttributes') END;
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail('SQS.AmazonSQSException', problem, 'AmazonSQS', CASE
				WHEN missing IS NOT NULL THEN 'MissingParameter' WHEN problem ^@ 'Invalid binary'
					THEN 'InvalidMessageContents' ELSE 'InvalidParameterValue' END);
		END IF;
	END $f$;

	CREATE FUNCTION sfflow_aws.sqs_send_message(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		body jsonb := payload->'MessageBody';
	BEGIN
		PERFORM sfflow_aws.check_message(payload);
		IF payload->>'QueueUrl' ~ '^https?://[^/]*/?$' THEN
			PERFORM @extschema@.sf_raise('SQS.SdkClientException',
				format('Unable to execute HTTP request: %s: Name or service not known',
					substring(payload->>'QueueUrl' FROM '//([^/:]*)')));
		ELSIF NOT sfflow_aws.send('queue', regexp_replace(payload->>'QueueUrl', '^.*[/:]', ''), body) THEN
			PERFORM sfflow_aws.fail('SQS.QueueDoesNotExistException', 'The specified queue does not exist.',
				'AmazonSQS', 'AWS.SimpleQueueService.NonExistentQueue');
		END IF;
		RETURN jsonb_build_object('MessageId', gen_random_uuid(),
			'MD5OfMessageBody', md5(CASE jsonb_typeof(body) WHEN 'string' THEN body #>> '{}' ELSE body::text END))
			|| sfflow_aws.attribute_digest(payload->'MessageAttributes')
				|| sfflow_aws.sequence_number(payload->>'QueueUrl') || sfflow_aws.metadata();
	END $f$;

	-- What is wrong with a message that has another text for each protocol; NULL: nothing.
	CREATE FUNCTION sfflow_aws.structure_problem(message text) RETURNS text LANGUAGE plpgsql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		RETURN CASE WHEN jsonb_typeof(message::jsonb) <> 'object'
			THEN 'Message Structure - JSON message body failed to parse'
			WHEN jsonb_typeof(message::jsonb->'default') IS DISTINCT FROM 'string'
				THEN 'Message Structure - No default entry in JSON message body' END;
	EXCEPTION WHEN data_exception THEN
		RETURN 'Message Structure - JSON message body failed to parse';
	END $f$;

	CREATE FUNCTION sfflow_aws.sns_publish(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		topic text := coalesce(payload->>'TopicArn', payload->>'TargetArn');
		attribute text := sfflow_aws.attribute_problem(payload->'MessageAttributes');
		structure text := payload->>'MessageStructure';
		problem text := CASE
			WHEN coalesce(topic, '') = '' AND payload->>'PhoneNumber' IS NULL
				THEN 'TopicArn or TargetArn Reason: no value for required parameter'
			WHEN coalesce(payload->>'Message', '') = '' THEN 'Empty message'
			WHEN octet_length(payload->>'Message') > 262144 THEN 'Message too long'
			WHEN structure <> 'json' THEN 'MessageStructure'
			WHEN structure = 'json' THEN sfflow_aws.structure_problem(payload->>'Message')
			WHEN payload->>'Subject' = '' OR length(payload->>'Subject') > 100 OR payload->>'Subject' ~ '[[:cntrl:]]'
				THEN 'Subject'
			WHEN topic LIKE '%.fifo' AND coalesce(payload->>'MessageGroupId', '') = ''
				THEN 'The MessageGroupId parameter is required for FIFO topics' END;
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail('SNS.InvalidParameterException', 'Invalid parameter: ' || problem, 'AmazonSNS',
				'InvalidParameter');
		ELSIF attribute IS NOT NULL THEN
			PERFORM sfflow_aws.fail('SNS.InvalidParameterValueException', attribute, 'AmazonSNS',
				'ParameterValueInvalid');
		ELSIF NOT sfflow_aws.send('topic', regexp_replace(coalesce(topic, ''), '^.*:', ''), payload->'Message') THEN
			PERFORM sfflow_aws.fail('SNS.NotFoundException', 'Topic does not exist', 'AmazonSNS', 'NotFound', 404);
		END IF;
		RETURN jsonb_build_object('MessageId', gen_random_uuid()) || sfflow_aws.sequence_number(topic)
			|| sfflow_aws.metadata();
	END $f$;

	-- ------------------------------------------------------------ Step Functions

	-- Fail with what is wrong with a token.
	CREATE FUNCTION sfflow_aws.token_fail(state text, message text) RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT sfflow_aws.fail_sdk('Sfn',
			CASE state WHEN 'SF019' THEN 'InvalidTokenException' ELSE 'TaskTimedOutException' END,
			CASE state WHEN 'SF021' THEN 'Task Timed Out: ''Provided task does not exist anymore''' ELSE message END)
	$f$;

	-- Refuse the answer to a task that the service would refuse before it looks for the token.
	CREATE FUNCTION sfflow_aws.check_answer(payload jsonb, needs_output boolean DEFAULT false) RETURNS void
		LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		problem text := sfflow_aws.validation_errors(
			sfflow_aws.member_problem('taskToken', payload->'TaskToken', 1, 2048),
			CASE WHEN needs_output AND coalesce(jsonb_typeof(payload->'Output'), 'null') = 'null'
				THEN sfflow_aws.member_problem('output', NULL) END,
			sfflow_aws.size_problem('error', payload->'Error', 0, 256),
				sfflow_aws.size_problem('cause', payload->'Cause', 0, 32768));
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail_sdk('Sfn', 'SfnException', problem);
		END IF;
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_sfn_send_task_success(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		output jsonb := payload->'Output';
	BEGIN
		PERFORM sfflow_aws.check_answer(payload, true);
		BEGIN
			IF jsonb_typeof(output) = 'string' THEN
				output := output #>> '{}';
			END IF;
		EXCEPTION WHEN invalid_text_representation THEN
			output := NULL;
		END;
		BEGIN
			PERFORM @extschema@.sf_send_task_success(payload->>'TaskToken', coalesce(output, '{}'));
		EXCEPTION WHEN SQLSTATE 'SF019' OR SQLSTATE 'SF020' OR SQLSTATE 'SF021' THEN
			PERFORM sfflow_aws.token_fail(SQLSTATE, SQLERRM);
		END;
		IF output IS NULL THEN
			PERFORM sfflow_aws.fail_sdk('Sfn', 'InvalidOutputException',
				'Invalid Output: ''Output must be a valid JSON text''');
		END IF;
		RETURN '{}';
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_sfn_send_task_failure(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.check_answer(payload);
		PERFORM @extschema@.sf_send_task_failure(payload->>'TaskToken', payload->>'Error', payload->>'Cause');
		RETURN '{}';
	EXCEPTION WHEN SQLSTATE 'SF019' OR SQLSTATE 'SF020' OR SQLSTATE 'SF021' THEN
		PERFORM sfflow_aws.token_fail(SQLSTATE, SQLERRM);
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_sfn_send_task_heartbeat(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.check_answer(payload);
		PERFORM @extschema@.sf_send_task_heartbeat(payload->>'TaskToken');
		RETURN '{}';
	EXCEPTION WHEN SQLSTATE 'SF019' OR SQLSTATE 'SF020' OR SQLSTATE 'SF021' THEN
		PERFORM sfflow_aws.token_fail(SQLSTATE, SQLERRM);
	END $f$;

	-- ------------------------------------------------------------ Systems Manager

	-- Which activity's workers run the commands of an instance.
	CREATE TABLE sfflow_aws.instance (
		instance_id text PRIMARY KEY,
		activity text NOT NULL
	);

	CREATE FUNCTION sfflow_aws.put_instance(instance_id text, activity text)
	RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.activity_machine(activity);
		INSERT INTO sfflow_aws.instance VALUES (instance_id, activity)
		ON CONFLICT ON CONSTRAINT instance_pkey DO UPDATE SET activity = EXCLUDED.activity;
	END $f$;

	-- The execution in which a command runs on an instance; NULL: there is no such instance.
	CREATE FUNCTION sfflow_aws.command_execution(command text, instance text) RETURNS text LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT format('aws-activity-%s:%s.%s', activity, command, instance) FROM sfflow_aws.instance AS i
			WHERE i.instance_id = instance
	$f$;

	-- What sfworker is given for a command.
	CREATE FUNCTION sfflow_aws.shell_task(parameters jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_strip_nulls(jsonb_build_object(
			'Command', jsonb_build_array('/bin/sh', '-c',
				(SELECT string_agg(line, E'\n' ORDER BY n)
				FROM jsonb_array_elements_text(parameters->'commands') WITH ORDINALITY AS c (line, n))),
			'Directory', nullif(parameters->'workingDirectory'->>0, ''),
			'TimeoutSeconds', (parameters->'executionTimeout'->>0)::integer))
	$f$;

	CREATE FUNCTION sfflow_aws.sdk_ssm_send_command(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		command_id uuid := gen_random_uuid();
		instance text;
		execution text;
		problem text := sfflow_aws.validation_errors(
			sfflow_aws.member_problem('documentName', payload->'DocumentName', NULL, NULL,
				'^[a-zA-Z0-9_\-.:/]{3,128}$'),
			sfflow_aws.size_problem('instanceIds', payload->'InstanceIds', 0, 50),
				sfflow_aws.size_problem('comment', payload->'Comment', 0, 100),
			sfflow_aws.number_problem('timeoutSeconds', payload->'TimeoutSeconds', 30, 2592000));
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail_sdk('Ssm', 'SsmException', problem);
		END IF;
		IF payload->>'DocumentName' IS DISTINCT FROM 'AWS-RunShellScript' THEN
			PERFORM sfflow_aws.fail_sdk('Ssm', 'InvalidDocumentException',
				'Document ' || coalesce(payload->>'DocumentName', 'null') || ' does not exist');
		END IF;
		FOR instance IN SELECT * FROM jsonb_array_elements_text(payload->'InstanceIds') LOOP
			execution := sfflow_aws.command_execution(command_id::text, instance);
			IF execution IS NULL THEN
				PERFORM sfflow_aws.fail_sdk('Ssm', 'InvalidInstanceIdException',
					'Instances not in a valid state for account');
			END IF;
			PERFORM @extschema@.sf_start(split_part(execution, ':', 1), sfflow_aws.shell_task(payload->'Parameters'),
				split_part(execution, ':', 2));
		END LOOP;
		RETURN jsonb_build_object('Command',
			jsonb_build_object('CommandId', command_id, 'DocumentName', payload->'DocumentName',
			'InstanceIds', payload->'InstanceIds', 'Parameters', payload->'Parameters', 'RequestedDateTime',
				to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
			'Status', 'Pending', 'StatusDetails', 'Pending', 'TargetCount', jsonb_array_length(payload->'InstanceIds'),
				'CompletedCount', 0, 'ErrorCount', 0));
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_ssm_get_command_invocation(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		execution record;
		status text;
		problem text := sfflow_aws.validation_errors(
			sfflow_aws.member_problem('commandId', payload->'CommandId', 36, 36),
				sfflow_aws.member_problem('instanceId', payload->'InstanceId'));
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail_sdk('Ssm', 'SsmException', problem);
		END IF;
		SELECT e.status, e.output, e.error, e.cause INTO execution FROM @extschema@.sf_executions AS e
		WHERE e.execution_id = sfflow_aws.command_execution(payload->>'CommandId', payload->>'InstanceId');
		IF NOT FOUND THEN
			PERFORM sfflow_aws.fail_sdk('Ssm', 'InvocationDoesNotExistException', 'null');
		END IF;
		status := CASE WHEN execution.error = 'States.Timeout' OR execution.status = 'TIMED_OUT' THEN 'TimedOut'
			WHEN execution.status = 'RUNNING' THEN 'InProgress' WHEN execution.status = 'SUCCEEDED' THEN 'Success'
			WHEN execution.status = 'ABORTED' THEN 'Cancelled' ELSE 'Failed' END;
		RETURN jsonb_build_object('CommandId', payload->'CommandId', 'InstanceId', payload->'InstanceId',
			'DocumentName', 'AWS-RunShellScript',
			'Status', status, 'StatusDetails', status,
			'ResponseCode', CASE status WHEN 'Success' THEN 0 WHEN 'Failed'
				THEN coalesce(substring(execution.error FROM '^Shell\.ExitCode\.(\d+)$')::integer, 1) ELSE -1 END,
			'StandardOutputContent', left(coalesce(execution.output->>'stdout', execution.output::text, ''), 24000),
			'StandardErrorContent', left(coalesce(execution.cause, ''), 24000));
	END $f$;

	PERFORM _sfflow.aws_install_s3();
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
