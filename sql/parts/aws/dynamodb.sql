-- What sf_aws_install makes for DynamoDB: items in tables, and functions with the shapes of its API.

-- Runs with the rights of its caller, to whom all that it makes belongs.
CREATE FUNCTION _sfflow.aws_install_dynamodb()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $install$
BEGIN
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
END $install$;
