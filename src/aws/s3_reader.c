/*
 * s3_reader.c
 *		Read the objects of S3 that a manifest or a list of objects names.
 *
 * ReaderConfig's ManifestType says which manifest the first content is: that of
 * an S3 Inventory, JSON with a list of CSV files, or that of an Athena query,
 * text with one "s3://bucket/key" per line.  A list of objects is the answer of
 * listObjectsV2.  Its entries are the items; with LOAD_AND_FLATTEN the contents
 * of the objects are.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "aws/services.h"
#include "run/task/service.h"

#define GET_OBJECT "arn:aws:states:::s3:getObject"

/* Name the object that a payload asks for, else the resource. */
char *
sf_s3_describe_source(const SfResource *resource, const Jsonb *payload)
{
	const char *bucket = sf_json_get_cstring(payload, "Bucket");
	const char *key = sf_json_get_cstring(payload, "Key");

	if (key == NULL)
		return psprintf("Resource: '%s'.", resource->text);
	return psprintf("Object: '%s%s%s'.", bucket ? bucket : "", bucket ? "/" : "", key);
}

/* Read another object of a bucket. */
static bool
read_object(SfItemReader *reader, const SfResource *resource, const char *type,
			const char *bucket, const JsonbValue *key, List *headers)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "Bucket", bucket);
	sf_json_add_value(&json, "Key", key);
	return sf_item_reader_load(reader, resource, type, sf_json_end(&json), headers);
}

/* Split "Bucket, Key, Size" into headers. */
static List *
schema_headers(const char *schema)
{
	List	   *headers = NIL;

	while (schema != NULL && *schema != '\0')
	{
		size_t		len;

		schema += strspn(schema, " ,");
		len = strcspn(schema, ",");
		if (len > 0)
			headers = lappend(headers, pnstrdup(schema, len));
		schema += len;
	}
	return headers;
}

/* Parse a content that is JSON, or text with JSON in it; false: it is neither. */
static bool
parse_content(const Jsonb *content, JsonbValue *root)
{
	Jsonb	   *parsed;

	sf_json_root(content, root);
	if (root->type != jbvString)
		return true;
	if (!sf_json_parse(root->val.string.val, root->val.string.len, &parsed))
		return false;
	sf_json_root(parsed, root);
	return true;
}

/* Read the files that an S3 Inventory manifest names. */
static bool
read_manifest(SfItemReader *reader, const Jsonb *content)
{
	Jsonb	   *manifest;
	const char *bucket;
	List	   *headers;
	JsonbValue	root,
				files,
				file,
				key;

	if (!parse_content(content, &root))
		return sf_item_reader_refuse(reader, "The manifest is not valid JSON.");
	manifest = sf_json_make(&root);
	if (!sf_json_member(&root, "files", 5, &files) || !sf_json_is_array(&files))
		return sf_item_reader_refuse(reader, "The manifest has no list \"files\".");
	bucket = sf_json_get_cstring(manifest, "destinationBucket");
	if (bucket != NULL && strrchr(bucket, ':') != NULL)
		bucket = strrchr(bucket, ':') + 1;
	if (bucket == NULL)
		bucket = sf_json_get_cstring(reader->call->payload, "Bucket");
	headers = schema_headers(sf_json_get_cstring(manifest, "fileSchema"));
	for (int i = 0; sf_json_element(&files, i, &file); i++)
	{
		if (!sf_json_member(&file, "key", 3, &key))
			return sf_item_reader_refuse(reader, "A file of the manifest has no \"key\".");
		if (!read_object(reader, reader->call->resource, "CSV", bucket, &key, headers))
			return false;
	}
	return true;
}

/* Read the object that a line "s3://bucket/key" names. */
static bool
read_named_object(SfItemReader *reader, const char *line, int len)
{
	const char *slash = len > 5 ? memchr(line + 5, '/', len - 5) : NULL;
	JsonbValue	key;

	if (slash == NULL || strncmp(line, "s3://", 5) != 0)
		return sf_item_reader_refuse(reader, psprintf("The manifest has \"%.*s\", which names no object.",
									   Min(pg_mbcliplen(line, len, 200), 200), line));
	sf_json_value_string(&key, slash + 1, (int) (line + len - slash - 1));
	return read_object(reader, reader->call->resource, reader->input_type,
					   pnstrdup(line + 5, slash - line - 5), &key,
					   sf_item_reader_headers(reader));
}

/* Read the files that the manifest of an Athena query names, one per line. */
static bool
read_data_manifest(SfItemReader *reader, const Jsonb *content)
{
	JsonbValue	root;
	const char *line;
	const char *end;

	sf_json_root(content, &root);
	if (root.type != jbvString)
		return sf_item_reader_refuse(reader, "The manifest is not text.");
	line = root.val.string.val;
	end = line + root.val.string.len;
	while (line < end && reader->count < reader->limit)
	{
		const char *stop = memchr(line, '\n', end - line);
		int			len = (int) ((stop != NULL ? stop : end) - line);
		int			used = len;

		while (used > 0 && strchr(" \t\r", line[used - 1]) != NULL)
			used--;
		if (used > 0 && !read_named_object(reader, line, used))
			return false;
		line += len + 1;
	}
	return true;
}

/* Find the list of objects in a content: an array, or its member Contents. */
static bool
listed_objects(const Jsonb *content, JsonbValue *list)
{
	JsonbValue	root;

	if (!parse_content(content, &root))
		return false;
	*list = root;
	return sf_json_is_array(&root) ||
		(sf_json_member(&root, "Contents", 8, list) && sf_json_is_array(list));
}

/* Read the objects of a list, each a content. */
static bool
load_and_flatten(SfItemReader *reader, const Jsonb *content)
{
	const char *bucket = sf_json_get_cstring(reader->call->payload, "Bucket");
	SfResource	written,
				resource;
	JsonbValue	list,
				object,
				key;

	sf_resource_parse(GET_OBJECT, &written);
	if (!sf_service_find(&written, reader->call->owner, &resource, NULL, NULL))
		return sf_item_reader_refuse(reader, "The resource '" GET_OBJECT
									 "' is not mapped to anything that sfflow can run.");
	if (!listed_objects(content, &list))
		return sf_item_reader_refuse_scalar(reader);
	for (int i = 0; sf_json_element(&list, i, &object); i++)
	{
		if (!sf_json_member(&object, "Key", 3, &key))
			return sf_item_reader_refuse(reader, "An object of the list has no \"Key\".");
		if (!read_object(reader, &resource, reader->input_type, bucket, &key,
						 sf_item_reader_headers(reader)))
			return false;
	}
	return true;
}

/* Add the entries of a list of objects. */
static bool
read_list(SfItemReader *reader, const Jsonb *content)
{
	JsonbValue	list;

	if (!listed_objects(content, &list))
		return sf_item_reader_refuse_scalar(reader);
	return sf_item_reader_add_array(reader, &list);
}

/* Tell whether the reader lists the objects of a bucket. */
static bool
lists_objects(const SfState *state)
{
	const SfResource *reader = sf_state_map(state)->distributed->item_reader;

	return strcmp(reader->service, "s3") == 0 &&
		strncmp(reader->action, "listObjects", 11) == 0;
}

/* Read what the first content lists, if it is a list. */
bool
sf_s3_read_listed(SfItemReader *reader, const SfState *state,
				  const Jsonb *content, bool *ok)
{
	const char *manifest = sf_item_reader_option(reader, "ManifestType", "");

	if (strcmp(sf_item_reader_option(reader, "Transformation", "NONE"),
			   "LOAD_AND_FLATTEN") == 0)
		*ok = load_and_flatten(reader, content);
	else if (lists_objects(state))
		*ok = read_list(reader, content);
	else if (strcmp(manifest, "ATHENA_DATA") == 0)
		*ok = read_data_manifest(reader, content);
	else if (strcmp(manifest, "S3_INVENTORY") == 0 ||
			 strcmp(reader->input_type, "MANIFEST") == 0)
		*ok = read_manifest(reader, content);
	else
		return false;
	return true;
}
