-- What sf_aws_install makes for S3: buckets and objects in tables, and functions with the shapes of its API.

-- The checksum that S3 makes of an object: CRC-32, as in zlib, the highest byte first.
CREATE FUNCTION _sfflow.crc32(content bytea)
RETURNS bytea
AS 'MODULE_PATHNAME', 'sfflow_crc32'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- Runs with the rights of its caller, to whom all that it makes belongs.
CREATE FUNCTION _sfflow.aws_install_s3()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $install$
BEGIN
	CREATE TABLE sfflow_aws.s3_bucket (
		name text COLLATE "C" PRIMARY KEY CHECK (name ~ '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$'),
		owner regrole NOT NULL DEFAULT quote_ident(current_user)::regrole,
		created_at timestamptz NOT NULL DEFAULT now()
	);
	COMMENT ON TABLE sfflow_aws.s3_bucket IS 'buckets; names and owners are visible to all, what is in them is not';

	-- Which roles may read a bucket besides its owner, and which may write, too; grantee 0: every role.
	CREATE TABLE sfflow_aws.s3_grant (
		bucket text COLLATE "C" REFERENCES sfflow_aws.s3_bucket ON DELETE CASCADE,
		grantee regrole,
		may_write boolean NOT NULL,
		PRIMARY KEY (bucket, grantee)
	);
	COMMENT ON TABLE sfflow_aws.s3_grant IS 'roles that may use another role''s bucket; "-" is every role';

	CREATE TABLE sfflow_aws.s3_object (
		bucket text COLLATE "C" REFERENCES sfflow_aws.s3_bucket,
		key text COLLATE "C",
		size bigint NOT NULL,
		etag text NOT NULL,
		content_type text NOT NULL,
		metadata jsonb NOT NULL,
		last_modified timestamptz NOT NULL,
		PRIMARY KEY (bucket, key)
	);
	COMMENT ON TABLE sfflow_aws.s3_object IS 'objects of buckets, without their contents';

	-- A chunk has at most 262,144 bytes; start is the place of its first byte in the content.
	CREATE TABLE sfflow_aws.s3_chunk (
		bucket text COLLATE "C",
		key text COLLATE "C",
		start bigint,
		data bytea NOT NULL CHECK (length(data) BETWEEN 1 AND 262144),
		PRIMARY KEY (bucket, key, start),
		FOREIGN KEY (bucket, key) REFERENCES sfflow_aws.s3_object ON DELETE CASCADE
	);
	COMMENT ON TABLE sfflow_aws.s3_chunk IS 'contents of objects, in pieces';

	CREATE TRIGGER keep_roles_at_insert AFTER INSERT ON sfflow_aws.s3_bucket REFERENCING NEW TABLE AS new_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('owner');
	CREATE TRIGGER keep_roles_at_update AFTER UPDATE
		ON sfflow_aws.s3_bucket REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('owner');
	CREATE TRIGGER keep_roles_at_delete AFTER DELETE ON sfflow_aws.s3_bucket REFERENCING OLD TABLE AS old_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('owner');
	CREATE TRIGGER keep_roles_at_insert AFTER INSERT ON sfflow_aws.s3_grant REFERENCING NEW TABLE AS new_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('grantee');
	CREATE TRIGGER keep_roles_at_update AFTER UPDATE
		ON sfflow_aws.s3_grant REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('grantee');
	CREATE TRIGGER keep_roles_at_delete AFTER DELETE ON sfflow_aws.s3_grant REFERENCING OLD TABLE AS old_rows
		FOR EACH STATEMENT EXECUTE FUNCTION sfflow_aws.keep_roles('grantee');

	-- ------------------------------------------------------------ who may do what

	-- The buckets whose objects the current role may read, or write.
	CREATE FUNCTION sfflow_aws.s3_open_buckets(to_write boolean) RETURNS SETOF text LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT b.name FROM sfflow_aws.s3_bucket AS b
		WHERE pg_has_role(b.owner, 'USAGE')
			OR EXISTS (SELECT FROM sfflow_aws.s3_grant AS g
				WHERE g.bucket = b.name AND (g.may_write OR NOT to_write)
					AND CASE WHEN g.grantee = 0 THEN true ELSE pg_has_role(g.grantee, 'USAGE') END)
	$f$;

	ALTER TABLE sfflow_aws.s3_bucket ENABLE ROW LEVEL SECURITY;
	CREATE POLICY see ON sfflow_aws.s3_bucket FOR SELECT USING (true);
	CREATE POLICY own ON sfflow_aws.s3_bucket USING (pg_has_role(owner, 'USAGE'));
	ALTER TABLE sfflow_aws.s3_grant ENABLE ROW LEVEL SECURITY;
	CREATE POLICY see ON sfflow_aws.s3_grant FOR SELECT USING (true);
	CREATE POLICY own ON sfflow_aws.s3_grant
		USING (bucket = ANY (ARRAY(SELECT b.name FROM sfflow_aws.s3_bucket AS b WHERE pg_has_role(b.owner, 'USAGE'))));
	ALTER TABLE sfflow_aws.s3_object ENABLE ROW LEVEL SECURITY;
	CREATE POLICY read ON sfflow_aws.s3_object FOR
		SELECT USING (bucket = ANY (ARRAY(SELECT sfflow_aws.s3_open_buckets(false))));
	CREATE POLICY write ON sfflow_aws.s3_object USING (bucket = ANY (ARRAY(SELECT sfflow_aws.s3_open_buckets(true))));
	ALTER TABLE sfflow_aws.s3_chunk ENABLE ROW LEVEL SECURITY;
	CREATE POLICY read ON sfflow_aws.s3_chunk FOR
		SELECT USING (bucket = ANY (ARRAY(SELECT sfflow_aws.s3_open_buckets(false))));
	CREATE POLICY write ON sfflow_aws.s3_chunk USING (bucket = ANY (ARRAY(SELECT sfflow_aws.s3_open_buckets(true))));
	-- The policies decide about rows; a role needs USAGE on the schema, which its owner grants.
	GRANT SELECT, INSERT, UPDATE, DELETE ON sfflow_aws.s3_bucket, sfflow_aws.s3_grant, sfflow_aws.s3_object,
		sfflow_aws.s3_chunk TO PUBLIC;

	-- ------------------------------------------------------------ errors and checks

	-- Fail as S3 does; an error that the SDK has no exception for is S3Exception.
	CREATE FUNCTION sfflow_aws.s3_fail(code text, message text, status integer) RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT @extschema@.sf_raise('S3.' || CASE WHEN code IN ('NoSuchKey', 'NoSuchBucket', 'BucketAlreadyExists')
			THEN code || 'Exception' ELSE 'S3Exception' END,
			format('%s (Service: S3, Status Code: %s, Request ID: %s, Extended Request ID: %s) (SDK Attempt Count: 1)',
				message, status,
				upper(left(encode(id, 'hex'), 16)), translate(encode(id, 'base64'), E'\n', '')))
		FROM sha384(convert_to(gen_random_uuid()::text, 'UTF8')) AS id
	$f$;

	-- A member of a request that is text; NULL: it is not there.
	CREATE FUNCTION sfflow_aws.s3_field(payload jsonb, field text, required boolean DEFAULT false) RETURNS text
		LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		kind text := jsonb_typeof(payload->field);
	BEGIN
		IF required AND coalesce(kind, 'null') = 'null' THEN
			PERFORM @extschema@.sf_raise('States.Runtime',
				format('The field ''%s'' is required but was missing', field));
		ELSIF kind NOT IN ('string', 'null') THEN
			PERFORM @extschema@.sf_raise('States.Runtime',
				format('The value for the field ''%s'' must be a STRING', field));
		END IF;
		RETURN payload->>field;
	END $f$;

	-- A member of a request that is a whole number within bounds, or a default.
	CREATE FUNCTION sfflow_aws.s3_number(payload jsonb, field text, otherwise integer) RETURNS integer LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF coalesce(jsonb_typeof(payload->field), 'null') = 'null' THEN
			RETURN otherwise;
		ELSIF jsonb_typeof(payload->field) <> 'number' OR (payload->>field)::numeric % 1 <> 0 THEN
			PERFORM @extschema@.sf_raise('States.Runtime',
				format('The value for the field ''%s'' must be an INTEGER', field));
		ELSIF (payload->>field)::numeric NOT BETWEEN 0 AND 2147483647 THEN
			PERFORM sfflow_aws.s3_fail('InvalidArgument',
				format('Argument %s must be an integer between 0 and 2147483647', lower(field)), 400);
		END IF;
		RETURN (payload->>field)::integer;
	END $f$;

	-- Refuse a key that no object can have.
	CREATE FUNCTION sfflow_aws.s3_check_key(key text) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF octet_length(key) > 1024 THEN
			PERFORM sfflow_aws.s3_fail('KeyTooLongError', 'Your key is too long', 400);
		END IF;
	END $f$;

	-- Check that a bucket is there, and open for the current role.
	CREATE FUNCTION sfflow_aws.s3_check_bucket(bucket text, to_write boolean) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		-- buckets of before 2018 have such names, so one that is not there is just that
		IF bucket !~ '^[A-Za-z0-9._-]{3,255}$' THEN
			PERFORM sfflow_aws.s3_fail('InvalidBucketName', 'The specified bucket is not valid.', 400);
		ELSIF bucket NOT IN (SELECT b.name FROM sfflow_aws.s3_bucket AS b) THEN
			PERFORM sfflow_aws.s3_fail('NoSuchBucket', 'The specified bucket does not exist', 404);
		ELSIF bucket NOT IN (SELECT sfflow_aws.s3_open_buckets(to_write)) THEN
			PERFORM sfflow_aws.s3_fail('AccessDenied', 'Access Denied', 403);
		END IF;
	END $f$;

	-- The bucket of a request, by name or ARN.
	CREATE FUNCTION sfflow_aws.s3_bucket_of(payload jsonb, to_write boolean) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		bucket text := regexp_replace(sfflow_aws.s3_field(payload, 'Bucket', true), '^arn:[^:]*:s3:::', '');
	BEGIN
		PERFORM sfflow_aws.s3_check_bucket(bucket, to_write);
		RETURN bucket;
	END $f$;

	-- Refuse what a request cannot have here, because to ignore it would change its meaning.
	CREATE FUNCTION sfflow_aws.s3_refuse(payload jsonb, VARIADIC fields text[]) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		IF EXISTS (SELECT FROM unnest(fields) AS f WHERE coalesce(jsonb_typeof(payload->f), 'null') <> 'null') THEN
			PERFORM sfflow_aws.s3_fail('NotImplemented',
				'A header you provided implies functionality that is not implemented', 501);
		END IF;
	END $f$;

	-- The metadata of a request: an object of strings of at most 2 kB.
	CREATE FUNCTION sfflow_aws.s3_metadata(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		metadata jsonb := coalesce(nullif(payload->'Metadata', 'null'), '{}');
	BEGIN
		IF jsonb_typeof(metadata) <> 'object'
			OR EXISTS (SELECT FROM jsonb_each(metadata) AS m WHERE jsonb_typeof(m.value) <> 'string') THEN
			PERFORM @extschema@.sf_raise('States.Runtime',
				'The value for the field ''Metadata'' must be a MAP of STRINGs');
		ELSIF (SELECT sum(octet_length(m.key) + octet_length(m.value)) FROM jsonb_each_text(metadata) AS m) > 2048 THEN
			PERFORM sfflow_aws.s3_fail('MetadataTooLarge',
				'Your metadata headers exceed the maximum allowed metadata size', 400);
		END IF;
		RETURN (SELECT coalesce(jsonb_object_agg(lower(m.key), m.value), '{}') FROM jsonb_each(metadata) AS m);
	END $f$;

	-- A time as the SDK writes it.
	CREATE FUNCTION sfflow_aws.s3_time(at timestamptz) RETURNS text LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
	$f$;

	-- ------------------------------------------------------------ objects

	-- Put bytes behind what an object has of its content.
	CREATE FUNCTION sfflow_aws.s3_add_chunks(bucket text, key text, start bigint, content bytea) RETURNS void
		LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		INSERT INTO sfflow_aws.s3_chunk
		SELECT $1, $2, $3 + n, substr(content, n + 1, 262144) FROM generate_series(0, length(content) - 1, 262144) AS n
	$f$;

	-- Put an object in the place of what has its key. NULL: there is one, and only a new one was wanted.
	CREATE FUNCTION sfflow_aws.s3_store(bucket text, key text, content bytea, content_type text, metadata jsonb,
		only_new boolean)
	RETURNS sfflow_aws.s3_object LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		stored sfflow_aws.s3_object;
	BEGIN
		IF key = '' THEN
			PERFORM @extschema@.sf_raise('States.Runtime', 'The field ''Key'' is required but was missing');
		ELSIF octet_length(key) > 1024 THEN
			PERFORM sfflow_aws.s3_fail('KeyTooLongError', 'Your key is too long', 400);
		END IF;
		INSERT INTO sfflow_aws.s3_object
		VALUES (bucket, key, length(content), md5(content), coalesce(content_type, 'application/octet-stream'),
			metadata, now())
		ON CONFLICT ON CONSTRAINT s3_object_pkey DO UPDATE SET size = EXCLUDED.size, etag = EXCLUDED.etag,
			content_type = EXCLUDED.content_type, metadata = EXCLUDED.metadata, last_modified = EXCLUDED.last_modified
		WHERE NOT only_new
		RETURNING * INTO stored;
		IF FOUND THEN
			DELETE FROM sfflow_aws.s3_chunk AS c WHERE c.bucket = s3_store.bucket AND c.key = s3_store.key;
			PERFORM sfflow_aws.s3_add_chunks(bucket, key, 0, content);
		END IF;
		RETURN stored;
	END $f$;

	-- The bytes of an object from first to last, counted from 0.
	CREATE FUNCTION sfflow_aws.s3_bytes(bucket text, key text, first bigint, last bigint) RETURNS bytea
		LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT coalesce(substr(string_agg(c.data, ''::bytea ORDER BY c.start), (first - min(c.start))::integer + 1,
			(last - first + 1)::integer), '')
		FROM sfflow_aws.s3_chunk AS c
		WHERE c.bucket = $1 AND c.key = $2 AND c.start > first - 262144 AND c.start <= last
	$f$;

	-- Bytes as text.
	CREATE FUNCTION sfflow_aws.s3_as_text(content bytea, key text) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		BEGIN
			RETURN convert_from(content, 'UTF8');
		EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
			NULL;
		END;
		PERFORM @extschema@.sf_raise('S3.SdkClientException', format('The content of "%s" is not text in UTF-8', key));
	END $f$;

	-- The object of a request; for a HEAD request no error has a text.
	CREATE FUNCTION sfflow_aws.s3_find(payload jsonb, head boolean DEFAULT false) RETURNS sfflow_aws.s3_object
		LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		wanted_key text := sfflow_aws.s3_field(payload, 'Key', true);
		wanted_bucket text := sfflow_aws.s3_bucket_of(payload, false);
		found_object sfflow_aws.s3_object;
	BEGIN
		PERFORM sfflow_aws.s3_check_key(wanted_key);
		PERFORM sfflow_aws.s3_refuse(payload, 'VersionId', 'PartNumber', 'IfMatch', 'IfNoneMatch', 'IfModifiedSince',
			'IfUnmodifiedSince');
		SELECT * INTO found_object FROM sfflow_aws.s3_object AS o WHERE o.bucket = wanted_bucket AND o.key = wanted_key;
		IF NOT FOUND THEN
			PERFORM sfflow_aws.s3_fail('NoSuchKey',
				CASE WHEN head THEN 'null' ELSE 'The specified key does not exist.' END, 404);
		END IF;
		RETURN found_object;
	END $f$;

	-- Fail if bytes are too many to become text in a result.
	CREATE FUNCTION sfflow_aws.s3_check_size(key text, bytes bigint) RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT @extschema@.sf_raise('States.DataLimitExceeded',
			format('The object "%s" has %s bytes; sfflow.max_payload_bytes allows %s.',
			key, bytes, allowed))
		FROM (SELECT setting::bigint AS allowed FROM pg_settings WHERE name = 'sfflow.max_payload_bytes') AS s
		WHERE bytes > allowed
	$f$;

	-- Which bytes a request wants: "bytes=5-9", "bytes=5-" or "bytes=-5".
	CREATE FUNCTION sfflow_aws.s3_range(payload jsonb, size bigint, OUT first bigint, OUT last bigint,
		OUT partial boolean) LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		bounds text[] := regexp_match(sfflow_aws.s3_field(payload, 'Range'), '^bytes=(\d{0,18})-(\d{0,18})$');
	BEGIN
		first := 0;
		last := size - 1;
		partial := bounds IS NOT NULL AND bounds <> '{"",""}';
		IF NOT partial THEN
			RETURN;
		ELSIF bounds[1] = '' THEN
			first := greatest(size - bounds[2]::bigint, 0);
		ELSE
			first := bounds[1]::bigint;
			last := least(last, nullif(bounds[2], '')::bigint);
		END IF;
		IF first >= size OR last < first THEN
			PERFORM sfflow_aws.s3_fail('InvalidRange', 'The requested range is not satisfiable', 416);
		END IF;
	END $f$;

	-- What getObject and headObject tell of an object.
	CREATE FUNCTION sfflow_aws.s3_description(object sfflow_aws.s3_object) RETURNS jsonb LANGUAGE sql STABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_build_object('AcceptRanges', 'bytes', 'ContentLength', object.size, 'ContentType',
			object.content_type,
			'ETag', '"' || object.etag || '"', 'LastModified', sfflow_aws.s3_time(object.last_modified), 'Metadata',
				object.metadata,
			'ServerSideEncryption', 'AES256')
	$f$;

	-- ------------------------------------------------------------ the API

	CREATE FUNCTION sfflow_aws.sdk_s3_get_object(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		object sfflow_aws.s3_object := sfflow_aws.s3_find(payload);
		part record := sfflow_aws.s3_range(payload, object.size);
		bytes bigint := part.last - part.first + 1;
	BEGIN
		PERFORM sfflow_aws.s3_check_size(object.key, bytes);
		RETURN sfflow_aws.s3_description(object)
			|| jsonb_build_object('ContentLength', bytes,
				'Body', sfflow_aws.s3_as_text(sfflow_aws.s3_bytes(object.bucket, object.key, part.first, part.last),
					object.key))
			|| CASE WHEN part.partial THEN jsonb_build_object('ContentRange',
				format('bytes %s-%s/%s', part.first, part.last, object.size)) ELSE '{}' END;
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_s3_head_object(payload jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT sfflow_aws.s3_description(sfflow_aws.s3_find(payload, true))
	$f$;

	-- A Body that is not a string is stored as JSON.
	-- Store a text as the content of a request's object.
	CREATE FUNCTION sfflow_aws.s3_put(payload jsonb, content text) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		key text := sfflow_aws.s3_field(payload, 'Key', true);
		bucket text := sfflow_aws.s3_bucket_of(payload, true);
		bytes bytea := convert_to(coalesce(content, ''), 'UTF8');
		only_new boolean := coalesce(sfflow_aws.s3_field(payload, 'IfNoneMatch') = '*', false);
		stored sfflow_aws.s3_object;
	BEGIN
		PERFORM sfflow_aws.s3_refuse(payload - CASE WHEN only_new THEN 'IfNoneMatch' ELSE '' END, 'IfMatch',
			'IfNoneMatch');
		stored := sfflow_aws.s3_store(bucket, key, bytes, sfflow_aws.s3_field(payload, 'ContentType'),
			sfflow_aws.s3_metadata(payload), only_new);
		IF stored.key IS NULL THEN
			PERFORM sfflow_aws.s3_fail('PreconditionFailed',
				'At least one of the pre-conditions you specified did not hold', 412);
		END IF;
		RETURN jsonb_build_object('ETag', '"' || stored.etag || '"', 'ServerSideEncryption', 'AES256',
			'ChecksumCRC32', encode(_sfflow.crc32(bytes), 'base64'), 'ChecksumType', 'FULL_OBJECT');
	END $f$;

	-- The SDK's integration sends a Body as the JSON text that it is in the request: a string in quotes.
	CREATE FUNCTION sfflow_aws.sdk_s3_put_object(payload jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT sfflow_aws.s3_put(payload, CASE coalesce(jsonb_typeof(body), 'null') WHEN 'null' THEN NULL
			WHEN 'string' THEN body::text ELSE @extschema@.sf_intrinsic('States.JsonToString($)', body) #>> '{}' END)
		FROM (SELECT payload->'Body' AS body) AS p
	$f$;

	-- A ResultWriter has the content of a file.
	CREATE FUNCTION sfflow_aws.s3_put_object(payload jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT sfflow_aws.s3_put(payload, payload->>'Body')
	$f$;

	CREATE FUNCTION sfflow_aws.sdk_s3_delete_object(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		wanted_key text := sfflow_aws.s3_field(payload, 'Key', true);
		wanted_bucket text := sfflow_aws.s3_bucket_of(payload, true);
	BEGIN
		PERFORM sfflow_aws.s3_check_key(wanted_key);
		PERFORM sfflow_aws.s3_refuse(payload, 'VersionId', 'IfMatch');
		DELETE FROM sfflow_aws.s3_object AS o WHERE o.bucket = wanted_bucket AND o.key = wanted_key;
		RETURN '{}';
	END $f$;

	-- A text without its %XX.
	CREATE FUNCTION sfflow_aws.s3_decode(encoded text) RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT convert_from(string_agg(CASE WHEN part[1] IS NULL THEN convert_to(part[2], 'UTF8')
			ELSE decode(replace(part[1], '%', ''), 'hex') END,
			''::bytea ORDER BY n), 'UTF8')
		FROM regexp_matches(encoded, '((?:%[0-9A-Fa-f]{2})+)|([^%]+|%)', 'g') WITH ORDINALITY AS m (part, n)
	$f$;

	CREATE FUNCTION sfflow_aws.sdk_s3_copy_object(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		source text[] := regexp_match(sfflow_aws.s3_field(payload, 'CopySource', true), '^/?([^/]+)/([^?]+)$');
		new_key text := sfflow_aws.s3_field(payload, 'Key', true);
		new_bucket text := sfflow_aws.s3_bucket_of(payload, true);
		replaces boolean := coalesce(sfflow_aws.s3_field(payload, 'MetadataDirective') = 'REPLACE', false);
		found_object sfflow_aws.s3_object;
	BEGIN
		IF source IS NULL THEN
			PERFORM sfflow_aws.s3_fail('InvalidArgument',
				'Copy Source must mention the source bucket and key: sourcebucket/sourcekey', 400);
		END IF;
		PERFORM sfflow_aws.s3_refuse(payload, 'CopySourceIfMatch', 'CopySourceIfNoneMatch', 'CopySourceIfModifiedSince',
			'CopySourceIfUnmodifiedSince');
		found_object := sfflow_aws.s3_find(jsonb_build_object('Bucket', source[1], 'Key',
			sfflow_aws.s3_decode(source[2])));
		IF (found_object.bucket, found_object.key) = (new_bucket, new_key) AND NOT replaces THEN
			PERFORM sfflow_aws.s3_fail('InvalidRequest',
				'This copy request is illegal because it is trying to copy an object to itself without changing the object''s metadata, storage class, website redirect location or encryption attributes.', 400);
		END IF;
		found_object := sfflow_aws.s3_store(new_bucket, new_key,
			sfflow_aws.s3_bytes(found_object.bucket, found_object.key, 0, found_object.size - 1),
			CASE WHEN replaces THEN sfflow_aws.s3_field(payload, 'ContentType') ELSE found_object.content_type END,
			CASE WHEN replaces THEN sfflow_aws.s3_metadata(payload) ELSE found_object.metadata END, false);
		RETURN jsonb_build_object('CopyObjectResult',
			jsonb_build_object('ETag', '"' || found_object.etag || '"', 'LastModified',
			sfflow_aws.s3_time(found_object.last_modified)),
			'ServerSideEncryption', 'AES256');
	END $f$;

	-- A text that sorts behind all that begin with a prefix, for the index; NULL: there is none that is surely a
	-- character.
	CREATE FUNCTION sfflow_aws.s3_behind(prefix text) RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT left(short, -1) || chr(ascii(right(short, 1)) + 1)
			FROM (SELECT regexp_replace(prefix, '[^\x01-\x7d]+$', '') AS short) AS s WHERE short <> ''
	$f$;

	-- Objects in the order of their keys. With a delimiter, keys that have it behind the prefix are one entry per
	-- beginning.
	CREATE FUNCTION sfflow_aws.s3_list(bucket text, prefix text, delimiter text, after text, most integer)
	RETURNS TABLE (entry text, is_prefix boolean, object sfflow_aws.s3_object) LANGUAGE plpgsql STABLE ROWS 100
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		behind text := sfflow_aws.s3_behind(prefix);
	BEGIN
		IF delimiter IS NULL OR delimiter = '' THEN
			RETURN QUERY SELECT o.key, false, o FROM sfflow_aws.s3_object AS o
				WHERE o.bucket = s3_list.bucket AND o.key >= prefix AND (behind IS NULL OR o.key < behind)
					AND starts_with(o.key, prefix) AND o.key > after
				ORDER BY o.key LIMIT most;
			RETURN;
		END IF;
		RETURN QUERY SELECT DISTINCT ON (e.name) e.name, e.place > 0, CASE WHEN e.place = 0 THEN o END
			FROM sfflow_aws.s3_object AS o,
				LATERAL (SELECT position(delimiter IN substr(o.key, length(prefix) + 1))) AS p (place),
				LATERAL (SELECT p.place,
					CASE WHEN p.place > 0 THEN left(o.key, length(prefix) + p.place + length(delimiter) - 1) ELSE o.key
					END COLLATE "C") AS e (place, name)
			WHERE o.bucket = s3_list.bucket AND o.key >= prefix AND (behind IS NULL OR o.key < behind)
				AND starts_with(o.key, prefix) AND e.name > after
			ORDER BY e.name LIMIT most;
	END $f$;

	-- A page of at most 1,000 entries. The token is the last entry of the page before.
	CREATE FUNCTION sfflow_aws.sdk_s3_list_objects_v2(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		bucket text := sfflow_aws.s3_bucket_of(payload, false);
		prefix text := coalesce(sfflow_aws.s3_field(payload, 'Prefix'), '');
		delimiter text := sfflow_aws.s3_field(payload, 'Delimiter');
		token text := sfflow_aws.s3_field(payload, 'ContinuationToken');
		asked integer := sfflow_aws.s3_number(payload, 'MaxKeys', 1000);
		most integer := least(asked, 1000);
		after text := coalesce(sfflow_aws.s3_field(payload, 'StartAfter'), '');
		listed record;
	BEGIN
		IF token IS NOT NULL THEN
			BEGIN
				after := convert_from(decode(token, 'base64'), 'UTF8');
			EXCEPTION WHEN data_exception THEN
				after := NULL;
			END;
			IF after IS NULL THEN
				PERFORM sfflow_aws.s3_fail('InvalidArgument', 'The continuation token provided is incorrect', 400);
			END IF;
		END IF;
		SELECT count(*) AS entries, (array_agg(l.entry ORDER BY n DESC) FILTER (WHERE n <= most))[1] AS last,
			jsonb_agg(jsonb_build_object('Key', l.entry, 'ETag', '"' || (l.object).etag || '"', 'LastModified',
				sfflow_aws.s3_time((l.object).last_modified),
				'Size', (l.object).size, 'StorageClass', 'STANDARD') ORDER BY n) FILTER (WHERE NOT l.is_prefix
					AND n <= most) AS objects,
			jsonb_agg(jsonb_build_object('Prefix', l.entry) ORDER BY n) FILTER (WHERE l.is_prefix
				AND n <= most) AS prefixes
		INTO listed
		FROM sfflow_aws.s3_list(bucket, prefix, delimiter, after, most + 1) WITH ORDINALITY AS l (entry, is_prefix,
			object, n);
		RETURN jsonb_strip_nulls(jsonb_build_object('Contents', listed.objects, 'CommonPrefixes', listed.prefixes,
			'Name', bucket, 'Prefix', prefix,
			'Delimiter', delimiter, 'StartAfter', sfflow_aws.s3_field(payload, 'StartAfter'), 'MaxKeys', asked,
				'KeyCount', least(listed.entries, most),
			'ContinuationToken', token, 'IsTruncated', listed.entries > most AND most > 0,
			'NextContinuationToken', CASE WHEN listed.entries > most AND most > 0
				THEN translate(encode(convert_to(listed.last, 'UTF8'), 'base64'), E'\n', '') END));
	END $f$;

	-- The same for the older operation, whose pages begin behind a Marker; the next one is told only where entries are
	-- grouped.
	CREATE FUNCTION sfflow_aws.sdk_s3_list_objects(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		marker text := coalesce(sfflow_aws.s3_field(payload, 'Marker'), '');
		page jsonb := sfflow_aws.sdk_s3_list_objects_v2(payload - 'ContinuationToken'
			|| jsonb_build_object('StartAfter', marker));
		token text := page->>'NextContinuationToken';
	BEGIN
		RETURN jsonb_strip_nulls(page - '{StartAfter,KeyCount,NextContinuationToken}'::text[]
			|| jsonb_build_object('Marker', marker,
			'NextMarker', CASE WHEN page ? 'Delimiter' THEN convert_from(decode(token, 'base64'), 'UTF8') END));
	END $f$;

	-- ------------------------------------------------------------ the items and results of a Distributed Map

	-- The content that an ItemReader reads.
	CREATE FUNCTION sfflow_aws.s3_get_object(payload jsonb) RETURNS text LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		object sfflow_aws.s3_object := sfflow_aws.s3_find(payload);
	BEGIN
		PERFORM sfflow_aws.s3_check_size(object.key, object.size);
		RETURN sfflow_aws.s3_as_text(sfflow_aws.s3_bytes(object.bucket, object.key, 0, object.size - 1), object.key);
	END $f$;

	-- All objects with a prefix, as an ItemReader lists them.
	CREATE FUNCTION sfflow_aws.s3_list_objects_v2(payload jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT coalesce(jsonb_agg(jsonb_build_object('Key', l.entry, 'Etag', '"' || (l.object).etag || '"', 'Size',
			(l.object).size,
			'LastModified', extract(epoch FROM (l.object).last_modified)::bigint, 'StorageClass', 'STANDARD')
				ORDER BY n), '[]')
		FROM sfflow_aws.s3_list(sfflow_aws.s3_bucket_of(payload, false),
			coalesce(sfflow_aws.s3_field(payload, 'Prefix'), ''), NULL, '', NULL)
			WITH ORDINALITY AS l (entry, is_prefix, object, n)
	$f$;

	-- ------------------------------------------------------------ buckets and objects for SQL

	-- Make a bucket of the current role.
	CREATE FUNCTION sfflow_aws.create_bucket(name text) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		INSERT INTO sfflow_aws.s3_bucket VALUES (name) ON CONFLICT DO NOTHING;
		IF NOT FOUND THEN
			PERFORM sfflow_aws.s3_fail('BucketAlreadyExists', 'The requested bucket name is not available.', 409);
		END IF;
	EXCEPTION WHEN check_violation THEN
		PERFORM sfflow_aws.s3_fail('InvalidBucketName', 'The specified bucket is not valid.', 400);
	END $f$;

	-- Drop a bucket of the current role, with all that is in it if that is wanted.
	CREATE FUNCTION sfflow_aws.drop_bucket(name text, with_objects boolean DEFAULT false) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.s3_check_bucket(name, true);
		IF with_objects THEN
			DELETE FROM sfflow_aws.s3_object AS o WHERE o.bucket = name;
		END IF;
		DELETE FROM sfflow_aws.s3_bucket AS b WHERE b.name = drop_bucket.name;
		IF NOT FOUND THEN
			PERFORM sfflow_aws.s3_fail('AccessDenied', 'Access Denied', 403);
		END IF;
	EXCEPTION WHEN foreign_key_violation THEN
		PERFORM sfflow_aws.s3_fail('BucketNotEmpty', 'The bucket you tried to delete is not empty', 409);
	END $f$;

	-- Let a role, or 'public', read a bucket of the current role, or write, too.
	CREATE FUNCTION sfflow_aws.grant_bucket(bucket text, grantee name, may_write boolean DEFAULT false) RETURNS void
		LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		INSERT INTO sfflow_aws.s3_grant VALUES (bucket,
			CASE grantee WHEN 'public' THEN 0::oid ELSE quote_ident(grantee)::regrole END, may_write)
		ON CONFLICT ON CONSTRAINT s3_grant_pkey DO UPDATE SET may_write = EXCLUDED.may_write
	$f$;

	CREATE FUNCTION sfflow_aws.revoke_bucket(bucket text, grantee name) RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		DELETE FROM sfflow_aws.s3_grant AS g
		WHERE g.bucket = revoke_bucket.bucket
			AND g.grantee = CASE revoke_bucket.grantee WHEN 'public' THEN 0::oid
				ELSE quote_ident(revoke_bucket.grantee)::regrole END
	$f$;

	-- Store an object of any bytes.
	CREATE FUNCTION sfflow_aws.put_object(bucket text, key text, content bytea,
		content_type text DEFAULT NULL) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.s3_check_bucket(bucket, true);
		PERFORM sfflow_aws.s3_store(bucket, key, content, content_type, '{}', false);
	END $f$;

	-- Put bytes behind the content of an object, or begin a new one: for contents that are too large for one call.
	CREATE FUNCTION sfflow_aws.append_object(bucket text, key text, content bytea,
		content_type text DEFAULT NULL) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		old_size bigint;
	BEGIN
		PERFORM sfflow_aws.s3_check_bucket(bucket, true);
		SELECT o.size INTO old_size FROM sfflow_aws.s3_object AS o
		WHERE o.bucket = append_object.bucket AND o.key = append_object.key FOR UPDATE;
		IF NOT FOUND THEN
			IF (sfflow_aws.s3_store(bucket, key, content, content_type, '{}', true)).key IS NOT NULL THEN
				RETURN;
			END IF;
			-- another session has stored it meanwhile
			SELECT o.size INTO old_size FROM sfflow_aws.s3_object AS o
			WHERE o.bucket = append_object.bucket AND o.key = append_object.key FOR UPDATE;
		END IF;
		PERFORM sfflow_aws.s3_add_chunks(bucket, key, old_size, content);
		UPDATE sfflow_aws.s3_object AS o
		SET size = old_size + length(content),
			etag = md5(o.etag || md5(content)) || '-' || coalesce(nullif(split_part(o.etag, '-', 2), '')::integer,
			1) + 1, last_modified = now()
		WHERE o.bucket = append_object.bucket AND o.key = append_object.key;
	END $f$;

	-- The content of an object of at most 1 GB.
	CREATE FUNCTION sfflow_aws.get_object(bucket text, key text) RETURNS bytea LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		object sfflow_aws.s3_object := sfflow_aws.s3_find(jsonb_build_object('Bucket', bucket, 'Key', key));
	BEGIN
		RETURN sfflow_aws.s3_bytes(object.bucket, object.key, 0, object.size - 1);
	END $f$;

	-- The lines of an object of any size that are not blank, each a JSON value: items for an ItemReader, read chunk by
	-- chunk.
	CREATE FUNCTION sfflow_aws.object_lines(bucket text, key text) RETURNS SETOF jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		object sfflow_aws.s3_object := sfflow_aws.s3_find(jsonb_build_object('Bucket', bucket, 'Key', key));
		kept bytea := '';
		piece bytea;
		used integer;
	BEGIN
		FOR piece IN
			SELECT c.data FROM sfflow_aws.s3_chunk AS c WHERE c.bucket = object.bucket AND c.key = object.key
				ORDER BY c.start
		LOOP
			used := length(piece);
			WHILE used > 0 AND get_byte(piece, used - 1) <> 10 LOOP
				used := used - 1;
			END LOOP;
			IF used = 0 THEN
				kept := kept || piece;
				CONTINUE;
			END IF;
			RETURN QUERY SELECT line::jsonb
				FROM string_to_table(sfflow_aws.s3_as_text(kept || substr(piece, 1, used), key), E'\n') AS line
					WHERE line !~ '^\s*$';
			kept := substr(piece, used + 1);
		END LOOP;
		RETURN QUERY SELECT line::jsonb FROM sfflow_aws.s3_as_text(kept, key) AS line WHERE line !~ '^\s*$';
	END $f$;
END $install$;
