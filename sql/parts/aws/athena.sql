-- What sf_aws_install makes for Athena: queries are SQL statements, run as the owner of the machine, with their results
-- in tables.

-- Run one statement as the current role. n: -1 names of columns, 0 their types, from 1 on the rows, -2 how many they
-- are or how many rows were changed.
CREATE FUNCTION _sfflow.athena_rows(statement text, path text, OUT n integer, OUT fields text[])
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_athena_rows'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- Runs with the rights of its caller, to whom all that it makes belongs.
CREATE FUNCTION _sfflow.aws_install_athena()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $install$
BEGIN
	CREATE TABLE sfflow_aws.athena_query (
		query_execution_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
		owner regrole NOT NULL DEFAULT quote_ident(current_user)::regrole,
		statement text NOT NULL,
		request jsonb NOT NULL,
		output_location text,
		error text,					-- NULL: it succeeded
		submitted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
		completed_at timestamptz
	);
	COMMENT ON TABLE sfflow_aws.athena_query IS 'statements that startQueryExecution has run';

	-- Numbered as by _sfflow.athena_rows.
	CREATE TABLE sfflow_aws.athena_row (
		query_execution_id uuid REFERENCES sfflow_aws.athena_query ON DELETE CASCADE,
		n integer,
		fields text[] NOT NULL,
		PRIMARY KEY (query_execution_id, n)
	);
	COMMENT ON TABLE sfflow_aws.athena_row IS 'results of these statements, as text';

	CREATE TRIGGER keep_roles_at_insert AFTER INSERT ON sfflow_aws.athena_query REFERENCING NEW TABLE AS new_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('owner');
	CREATE TRIGGER keep_roles_at_update AFTER UPDATE
		ON sfflow_aws.athena_query REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('owner');
	CREATE TRIGGER keep_roles_at_delete AFTER DELETE ON sfflow_aws.athena_query REFERENCING OLD TABLE AS old_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('owner');

	ALTER TABLE sfflow_aws.athena_query ENABLE ROW LEVEL SECURITY;
	CREATE POLICY own ON sfflow_aws.athena_query USING (pg_has_role(owner, 'USAGE'));
	ALTER TABLE sfflow_aws.athena_row ENABLE ROW LEVEL SECURITY;
	CREATE POLICY own ON sfflow_aws.athena_row
		USING (EXISTS (SELECT FROM sfflow_aws.athena_query AS q
			WHERE q.query_execution_id = athena_row.query_execution_id));
	GRANT SELECT, INSERT, UPDATE, DELETE ON sfflow_aws.athena_query, sfflow_aws.athena_row TO PUBLIC;

	-- Fail as Athena does.
	CREATE FUNCTION sfflow_aws.athena_fail(message text, sdk boolean) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF sdk THEN
			PERFORM sfflow_aws.fail_sdk('Athena', 'InvalidRequestException', message);
		ELSE
			PERFORM sfflow_aws.fail('Athena.InvalidRequestException', message, 'AmazonAthena',
				'InvalidRequestException');
		END IF;
	END $f$;

	-- Refuse a request with a member that the service does not take.
	CREATE FUNCTION sfflow_aws.athena_check(problem text, sdk boolean) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF problem IS NULL THEN
			RETURN;
		ELSIF sdk THEN
			PERFORM sfflow_aws.fail_sdk('Athena', 'AthenaException', problem);
		ELSE
			PERFORM sfflow_aws.fail('Athena.AmazonAthenaException', problem, 'AmazonAthena', 'ValidationException');
		END IF;
	END $f$;

	-- Where the file of a result goes: bucket and beginning of the key; NULL: there is none.
	CREATE FUNCTION sfflow_aws.athena_output(payload jsonb, sdk boolean) RETURNS text[] LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		location text := payload #>> '{ResultConfiguration,OutputLocation}';
		place text[] := regexp_match(location, '^s3://([^/]+)(?:/+(.*?)/*)?$');
	BEGIN
		IF location IS NULL THEN
			RETURN NULL;
		ELSIF place IS NULL THEN
			PERFORM sfflow_aws.athena_fail('outputLocation is not a valid S3 path.', sdk);
		ELSIF place[1] NOT IN (SELECT sfflow_aws.s3_open_buckets(true)) THEN
			PERFORM sfflow_aws.athena_fail('Unable to verify/create output bucket ' || place[1], sdk);
		END IF;
		RETURN ARRAY[place[1], coalesce(nullif(place[2], '') || '/', '')];
	END $f$;

	-- A row of a CSV file, in which every value is quoted.
	CREATE FUNCTION sfflow_aws.athena_csv(fields text[]) RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT string_agg(coalesce('"' || replace(field, '"', '""') || '"', ''), ',' ORDER BY i) || E'\n'
		FROM unnest(fields) WITH ORDINALITY AS f (field, i)
	$f$;

	-- Write the result of a query into a bucket; returns where.
	CREATE FUNCTION sfflow_aws.athena_write(query uuid, place text[]) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		key text := place[2] || query || '.csv';
		part text;
	BEGIN
		PERFORM sfflow_aws.put_object(place[1], key, '', 'text/csv');
		FOR part IN
			SELECT string_agg(sfflow_aws.athena_csv(r.fields), '' ORDER BY r.n) FROM sfflow_aws.athena_row AS r
			WHERE r.query_execution_id = query AND r.n NOT IN (-2, 0) GROUP BY (r.n + 1) / 5000
				ORDER BY (r.n + 1) / 5000
		LOOP
			PERFORM sfflow_aws.append_object(place[1], key, convert_to(part, 'UTF8'));
		END LOOP;
		RETURN format('s3://%s/%s', place[1], key);
	END $f$;

	-- Run a statement as the current role, with a search_path in which the request's Database comes first. A statement
	-- that fails is a query that failed; one that cannot be parsed is none.
	CREATE FUNCTION sfflow_aws.athena_run(payload jsonb, path text, sdk boolean) RETURNS sfflow_aws.athena_query
		LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		execution sfflow_aws.athena_query;
		place text[];
		problem text;
	BEGIN
		execution.statement := sfflow_aws.s3_field(payload, 'QueryString', true);
		PERFORM sfflow_aws.athena_check(sfflow_aws.validation_errors(
			sfflow_aws.member_problem('queryString', payload->'QueryString', 1),
			sfflow_aws.size_problem('clientRequestToken', payload->'ClientRequestToken', 32, 128),
			sfflow_aws.size_problem('workGroup', payload->'WorkGroup', 1, 128, '[a-zA-Z0-9._-]{1,128}'),
			sfflow_aws.size_problem('queryExecutionContext.database', payload #> '{QueryExecutionContext,Database}', 1,
				255)), sdk);
		place := sfflow_aws.athena_output(payload, sdk);
		IF octet_length(execution.statement) > 262144 THEN
			PERFORM sfflow_aws.athena_fail('QueryString is longer than 262144 bytes', sdk);
		ELSIF jsonb_array_length(CASE jsonb_typeof(payload->'ExecutionParameters') WHEN 'array'
			THEN payload->'ExecutionParameters' ELSE '[]' END) > 0 THEN
			PERFORM sfflow_aws.athena_fail('ExecutionParameters are not supported', sdk);
		END IF;
		INSERT INTO sfflow_aws.athena_query (statement, request) VALUES (execution.statement, payload - 'QueryString')
			RETURNING * INTO execution;
		BEGIN
			INSERT INTO sfflow_aws.athena_row
			SELECT execution.query_execution_id, r.n, r.fields
			FROM _sfflow.athena_rows(execution.statement,
				concat_ws(', ', quote_ident(payload #>> '{QueryExecutionContext,Database}'), nullif(path, ''))) AS r;
			IF place IS NOT NULL THEN
				execution.output_location := sfflow_aws.athena_write(execution.query_execution_id, place);
			END IF;
		EXCEPTION
			WHEN serialization_failure OR deadlock_detected THEN
				RAISE;
			WHEN syntax_error THEN
				problem := SQLERRM;
			WHEN OTHERS THEN
				execution.error := SQLERRM;
		END;
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.athena_fail(problem, sdk);
		END IF;
		UPDATE sfflow_aws.athena_query AS q
		SET output_location = execution.output_location, error = execution.error, completed_at = clock_timestamp()
		WHERE q.query_execution_id = execution.query_execution_id RETURNING * INTO execution;
		RETURN execution;
	END $f$;

	-- A time: as milliseconds, or as the SDK writes it.
	CREATE FUNCTION sfflow_aws.athena_time(at timestamptz, sdk boolean) RETURNS jsonb LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT CASE WHEN sdk THEN to_jsonb(to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
			ELSE to_jsonb((extract(epoch FROM at) * 1000)::bigint) END
	$f$;

	-- A query as GetQueryExecution describes it.
	CREATE FUNCTION sfflow_aws.athena_description(execution sfflow_aws.athena_query, sdk boolean) RETURNS jsonb
		LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_build_object('QueryExecution',
			jsonb_build_object('QueryExecutionId', execution.query_execution_id, 'Query', execution.statement,
			'StatementType', CASE
				WHEN execution.statement ~* '^[\s(]*(select|with|insert|update|delete|merge|values|table)\M' THEN 'DML'
				WHEN execution.statement ~* '^\s*(create|alter|drop|comment|grant|revoke|truncate)\M' THEN 'DDL'
					ELSE 'UTILITY' END,
			'QueryExecutionContext', coalesce(execution.request->'QueryExecutionContext', '{}'),
			'ResultConfiguration', jsonb_strip_nulls(jsonb_build_object('OutputLocation', execution.output_location)),
			'Status', jsonb_strip_nulls(jsonb_build_object('State',
				CASE WHEN execution.error IS NULL THEN 'SUCCEEDED' ELSE 'FAILED' END,
				'SubmissionDateTime', sfflow_aws.athena_time(execution.submitted_at, sdk), 'CompletionDateTime',
					sfflow_aws.athena_time(execution.completed_at, sdk),
				'StateChangeReason', execution.error,
				'AthenaError', CASE WHEN execution.error IS NOT NULL
					THEN jsonb_build_object('ErrorCategory', 2, 'Retryable', false, 'ErrorMessage', execution.error)
					END)),
			'Statistics', jsonb_build_object('DataScannedInBytes', 0, 'EngineExecutionTimeInMillis', t.elapsed,
				'TotalExecutionTimeInMillis', t.elapsed,
				'QueryQueueTimeInMillis', 0, 'ServiceProcessingTimeInMillis', 0),
			'WorkGroup', coalesce(execution.request->>'WorkGroup', 'primary')))
		FROM (SELECT (extract(epoch FROM execution.completed_at - execution.submitted_at) * 1000)::bigint)
			AS t (elapsed)
	$f$;

	-- With .sync, a query that fails fails the task.
	CREATE FUNCTION sfflow_aws.athena_run_sync(payload jsonb, path text) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		execution sfflow_aws.athena_query := sfflow_aws.athena_run(payload, path, false);
		description jsonb := sfflow_aws.athena_description(execution, false);
	BEGIN
		IF execution.error IS NOT NULL THEN
			PERFORM @extschema@.sf_raise('States.TaskFailed', (description->'QueryExecution')::text);
		END IF;
		RETURN description;
	END $f$;

	-- The query of a request.
	CREATE FUNCTION sfflow_aws.athena_find(payload jsonb, sdk boolean) RETURNS sfflow_aws.athena_query LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		wanted text := sfflow_aws.s3_field(payload, 'QueryExecutionId', true);
		execution sfflow_aws.athena_query;
	BEGIN
		PERFORM sfflow_aws.athena_check(sfflow_aws.validation_errors(
			sfflow_aws.member_problem('queryExecutionId', payload->'QueryExecutionId', 1, 128, '\S+'),
			sfflow_aws.size_problem('nextToken', payload->'NextToken', 1, 1024)), sdk);
		IF wanted ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
			SELECT * INTO execution FROM sfflow_aws.athena_query AS q WHERE q.query_execution_id = wanted::uuid;
		END IF;
		IF execution.query_execution_id IS NULL THEN
			PERFORM sfflow_aws.athena_fail(format('QueryExecution %s was not found', wanted), sdk);
		END IF;
		RETURN execution;
	END $f$;

	CREATE FUNCTION sfflow_aws.athena_get(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT sfflow_aws.athena_description(sfflow_aws.athena_find(payload, sdk), sdk)
	$f$;

	-- A query has ended when its task has.
	CREATE FUNCTION sfflow_aws.athena_stop(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.athena_find(payload, sdk);
		RETURN '{}';
	END $f$;

	-- A column as Athena describes it.
	CREATE FUNCTION sfflow_aws.athena_column(name text, type text) RETURNS jsonb LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_build_object('CatalogName', 'hive', 'SchemaName', '', 'TableName', '', 'Name', $1, 'Label', $1,
			'Nullable', 'UNKNOWN',
			'Type', t.athena, 'Precision', t.precision, 'Scale', 0, 'CaseSensitive', t.athena IN ('varchar', 'char'))
		FROM (SELECT coalesce(k.athena, CASE WHEN $2 LIKE '%[]' THEN 'array' ELSE 'varchar' END),
			coalesce(k.precision, 2147483647)
			FROM (SELECT) AS one LEFT JOIN (VALUES ('smallint', 'smallint', 5), ('integer', 'integer', 10),
				('bigint', 'bigint', 19), ('real', 'float', 17),
				('double precision', 'double', 17), ('numeric', 'decimal', 38), ('boolean', 'boolean', 0),
					('character', 'char', 2147483647), ('date', 'date', 0),
				('timestamp without time zone', 'timestamp', 3),
					('timestamp with time zone', 'timestamp with time zone', 3),
				('json', 'json', 0), ('jsonb', 'json', 0), ('bytea', 'varbinary', 1073741824)) AS k (own, athena,
					precision) ON k.own = $2) AS t (athena, precision)
	$f$;

	-- A page of at most 1,000 rows, the first of which has the names of the columns. The token is the number of the
	-- next row.
	CREATE FUNCTION sfflow_aws.athena_results(payload jsonb, sdk boolean) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		execution sfflow_aws.athena_query := sfflow_aws.athena_find(payload, sdk);
		most integer := sfflow_aws.s3_number(payload, 'MaxResults', 1000);
		token text := sfflow_aws.s3_field(payload, 'NextToken');
		names text[] := (SELECT fields FROM sfflow_aws.athena_row
			WHERE query_execution_id = execution.query_execution_id AND n = -1);
		types text[] := (SELECT fields FROM sfflow_aws.athena_row
			WHERE query_execution_id = execution.query_execution_id AND n = 0);
		total bigint := (SELECT fields[1] FROM sfflow_aws.athena_row
			WHERE query_execution_id = execution.query_execution_id AND n = -2);
		result jsonb;
	BEGIN
		IF execution.error IS NOT NULL THEN
			PERFORM sfflow_aws.athena_fail('Query did not finish successfully. Final query state: FAILED', sdk);
		ELSIF most NOT BETWEEN 1 AND 1000 THEN
			PERFORM sfflow_aws.athena_fail('MaxResults must be between 1 and 1000', sdk);
		ELSIF token !~ '^\d{1,9}$' THEN
			PERFORM sfflow_aws.athena_fail('Invalid NextToken', sdk);
		END IF;
		-- Row -1 has the place 0, row 1 the place 1.
		SELECT coalesce(jsonb_agg(jsonb_build_object('Data', (
			SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('VarCharValue', f.field))
				ORDER BY f.i), '[]')
			FROM unnest(r.fields) WITH ORDINALITY AS f (field, i))) ORDER BY r.place), '[]') INTO result
		FROM (SELECT greatest(a.n, 0) AS place, a.fields FROM sfflow_aws.athena_row AS a
			WHERE a.query_execution_id = execution.query_execution_id AND a.n NOT IN (-2, 0)
				AND a.n >= CASE coalesce(token, '0') WHEN '0' THEN -1 ELSE token::integer END
				AND a.n < coalesce(token::integer, 0) + most) AS r;
		RETURN jsonb_strip_nulls(jsonb_build_object(
			'ResultSet', jsonb_build_object('Rows', result, 'ResultSetMetadata', jsonb_build_object('ColumnInfo',
				(SELECT coalesce(jsonb_agg(sfflow_aws.athena_column(c.name, c.type) ORDER BY c.i), '[]')
					FROM unnest(names, types) WITH ORDINALITY AS c (name, type, i)))),
			'UpdateCount', CASE WHEN names IS NULL THEN total ELSE 0 END,
			'NextToken', CASE WHEN names IS NOT NULL AND coalesce(token::integer, 0) + most <= total
				THEN (coalesce(token::integer, 0) + most)::text END));
	END $f$;

	-- Forget queries of the current role, and their results; files in buckets stay. Returns how many queries.
	CREATE FUNCTION sfflow_aws.drop_queries(older_than interval) RETURNS bigint LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		WITH dropped AS (DELETE FROM sfflow_aws.athena_query WHERE completed_at < now() - older_than RETURNING 1)
		SELECT count(*) FROM dropped
	$f$;

	-- What the Resources are mapped to. The statement is run with the search_path of the task.
	CREATE FUNCTION sfflow_aws.athena_start_query_execution(payload jsonb) RETURNS jsonb LANGUAGE sql
		RETURN jsonb_build_object('QueryExecutionId',
			(sfflow_aws.athena_run(payload, current_setting('search_path'), false)).query_execution_id);
	CREATE FUNCTION sfflow_aws.athena_start_query_execution_sync(payload jsonb) RETURNS jsonb LANGUAGE sql
		RETURN sfflow_aws.athena_run_sync(payload, current_setting('search_path'));
	CREATE FUNCTION sfflow_aws.athena_stop_query_execution(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.athena_stop(payload, false);
	CREATE FUNCTION sfflow_aws.athena_get_query_execution(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.athena_get(payload, false);
	CREATE FUNCTION sfflow_aws.athena_get_query_results(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.athena_results(payload, false);
	CREATE FUNCTION sfflow_aws.sdk_athena_start_query_execution(payload jsonb) RETURNS jsonb LANGUAGE sql
		RETURN jsonb_build_object('QueryExecutionId',
			(sfflow_aws.athena_run(payload, current_setting('search_path'), true)).query_execution_id);
	CREATE FUNCTION sfflow_aws.sdk_athena_stop_query_execution(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.athena_stop(payload, true);
	CREATE FUNCTION sfflow_aws.sdk_athena_get_query_execution(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.athena_get(payload, true);
	CREATE FUNCTION sfflow_aws.sdk_athena_get_query_results(payload jsonb) RETURNS jsonb
		LANGUAGE sql RETURN sfflow_aws.athena_results(payload, true);
END $install$;
