-- What sf_aws_install makes for S3 besides the tables: functions with the shapes of its API.

-- Runs with the rights of its caller, to whom all that it makes belongs.
CREATE FUNCTION _sfflow.aws_install_s3_api()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $install$
BEGIN
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
END $install$;
