/*
 * item_reader.c
 *		ItemReader: have the resource read, and its content taken apart.
 *
 * A resource that yields rows (sql:query, a function that returns a set) gives
 * one item a row, stored while they come, so that memory does not grow with
 * them.  One that yields a value gives a content, text or JSON, from which
 * InputType makes items.  A manifest of one of two kinds (ManifestType), and a
 * list with LOAD_AND_FLATTEN, name further contents.
 *
 * All of it happens in the transaction that records how many items there are:
 * who is killed while reading reads again from the start.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "run/map_run.h"
#include "json/csv.h"

#define GET_OBJECT "arn:aws:states:::s3:getObject"

static const char not_iterable[] = "Attempting to map over non-iterable node.";

typedef struct Reader
{
	SfRowSink	sink;			/* first: rows of the resource come here */
	const SfMapRun *map_run;
	const SfTaskCall *call;
	const Jsonb *config;		/* ReaderConfig, or NULL */
	const char *input_type;		/* JSON where it is not given */
	SfItemWriter *writer;
	int			count;			/* items so far */
	int			before;			/* items when the resource was called */
	int			limit;
	bool		streamed;		/* the resource gave rows */
	bool		keyed;
	const char *source;			/* what the content is of, for people */
	SfError		error;
} Reader;

/* --- items --- */

/* Add an item; false when there are enough. */
static bool
add_item(Reader *reader, const Jsonb *item)
{
	if (reader->count >= reader->limit)
		return false;
	sf_map_items_add(reader->writer, item);
	reader->count++;
	return reader->count < reader->limit;
}

/* Begin to add items. */
static void
open_items(Reader *reader)
{
	reader->writer = sf_map_items_open(reader->map_run->execution_no,
									   reader->map_run->map_run_no,
									   reader->count);
}

/* Sink: rows come, maybe once more after a try that was rolled back. */
static void
begin_rows(SfRowSink *sink)
{
	Reader	   *reader = (Reader *) sink;

	reader->streamed = true;
	reader->count = reader->before;
	open_items(reader);
}

/* Sink: a row. */
static bool
take_row(SfRowSink *sink, Jsonb *row)
{
	return add_item((Reader *) sink, row);
}

/* Sink: that was all. */
static void
end_rows(SfRowSink *sink)
{
	sf_map_items_close(((Reader *) sink)->writer);
}

/* Report what is wrong with a content, and of what. */
static bool
refuse(Reader *reader, const char *cause)
{
	return sf_error_set(&reader->error, SF_ERR_ITEM_READER_FAILED, "%s %s",
						cause, reader->source);
}

/* --- contents --- */

/* A member of ReaderConfig. */
static const char *
option(const Reader *reader, const char *name, const char *otherwise)
{
	const char *value = reader->config == NULL ? NULL :
		sf_json_get_cstring(reader->config, name);

	return value != NULL ? value : otherwise;
}

/* Follow a JSON pointer ("/a/0/b"); false where it leads nowhere. */
static bool
follow_pointer(JsonbValue *value, const char *pointer)
{
	while (*pointer == '/')
	{
		size_t		len = strcspn(++pointer, "/");
		JsonbValue	next;
		char	   *end;
		char	   *name = pnstrdup(pointer, len);
		long		index = strtol(name, &end, 10);

		if (sf_json_is_object(value))
		{
			if (!sf_json_member(value, name, (int) len, &next))
				return false;
		}
		else if (!sf_json_is_array(value) || end == name || *end != '\0' ||
				 !sf_json_element(value, index, &next))
			return false;
		*value = next;
		pointer += len;
	}
	return *pointer == '\0';
}

/* Add the elements of an array. */
static void
add_elements(Reader *reader, const JsonbValue *array)
{
	JsonbIterator *it = JsonbIteratorInit(array->val.binary.data);
	JsonbIteratorToken token;
	JsonbValue	value;
	bool		more = true;

	(void) JsonbIteratorNext(&it, &value, true);
	while (more && (token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		Jsonb	   *item;

		if (token != WJB_ELEM)
			continue;
		item = sf_json_make(&value);
		more = add_item(reader, item);
		pfree(item);
	}
}

/* Add the members of an object as {"Key": …, "Value": …}. */
static void
add_members(Reader *reader, const JsonbValue *object)
{
	int			n = sf_json_count(object);
	SfJsonMember *members = palloc(sizeof(SfJsonMember) * Max(n, 1));

	reader->keyed = true;
	n = sf_json_list_members(object, members);
	for (int i = 0; i < n; i++)
	{
		SfJsonBuilder b;

		sf_json_begin_object(&b);
		sf_json_add_value(&b, "Key", &members[i].key);
		sf_json_add_value(&b, "Value", &members[i].value);
		if (!add_item(reader, sf_json_finish(&b)))
			break;
	}
}

/* Take a JSON value apart. */
static bool
read_json_value(Reader *reader, const Jsonb *content)
{
	JsonbValue	root;

	sf_json_root(content, &root);
	if (!follow_pointer(&root, option(reader, "ItemsPointer", "")))
		return refuse(reader, not_iterable);
	if (sf_json_is_array(&root))
		add_elements(reader, &root);
	else if (sf_json_is_object(&root))
		add_members(reader, &root);
	else
		return refuse(reader, not_iterable);
	return true;
}

/* Take JSON text apart. */
static bool
read_json(Reader *reader, const char *text, int len)
{
	Jsonb	   *content;

	if (!sf_json_parse(text, len, &content))
		return refuse(reader, "The content is not valid JSON.");
	return read_json_value(reader, content);
}

/* Take lines apart, each a JSON value. */
static bool
read_json_lines(Reader *reader, const char *text, int len)
{
	const char *end = text + len;

	for (int line = 1; text < end; line++)
	{
		const char *stop = memchr(text, '\n', end - text);
		int			n = (int) ((stop != NULL ? stop : end) - text);
		Jsonb	   *item;
		bool		more = true;

		CHECK_FOR_INTERRUPTS();
		if ((int) strspn(text, " \t\r") < n)
		{
			if (!sf_json_parse(text, n, &item))
				return refuse(reader, psprintf("Line %d of the content is not valid JSON.", line));
			more = add_item(reader, item);
			pfree(item);
		}
		if (!more)
			break;
		text += n + 1;
	}
	return true;
}

/* The character that separates values. */
static char
delimiter(const Reader *reader)
{
	static const struct
	{
		const char *name;
		char		c;
	}			delimiters[] = {
		{"COMMA", ','}, {"PIPE", '|'}, {"SEMICOLON", ';'}, {"SPACE", ' '},
		{"TAB", '\t'}
	};
	const char *name = option(reader, "CSVDelimiter", "COMMA");

	for (size_t i = 0; i < lengthof(delimiters); i++)
		if (strcmp(name, delimiters[i].name) == 0)
			return delimiters[i].c;
	return ',';
}

/* The headers that ReaderConfig gives; NIL: the first row has them. */
static List *
given_headers(const Reader *reader)
{
	Jsonb	   *array = reader->config == NULL ? NULL :
		sf_json_get(reader->config, "CSVHeaders");
	List	   *headers = NIL;
	JsonbValue	root;
	JsonbValue	value;

	if (array == NULL ||
		strcmp(option(reader, "CSVHeaderLocation", "FIRST_ROW"), "GIVEN") != 0)
		return NIL;
	sf_json_root(array, &root);
	for (int i = 0; sf_json_element(&root, i, &value); i++)
		if (value.type == jbvString)
			headers = lappend(headers, pnstrdup(value.val.string.val,
												value.val.string.len));
	return headers;
}

/* Order two headers. */
static int
compare_headers(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/* Do two headers have the same name? */
static bool
has_duplicates(List *headers)
{
	List	   *sorted = list_copy(headers);
	const char *last = NULL;
	ListCell   *lc;

	list_sort(sorted, compare_headers);
	foreach(lc, sorted)
	{
		if (last != NULL && strcmp(last, lfirst(lc)) == 0)
			return true;
		last = lfirst(lc);
	}
	return false;
}

/* A row as an object: surplus fields are dropped, missing ones are "". */
static Jsonb *
csv_item(List *headers, List *fields)
{
	SfJsonBuilder b;
	ListCell   *lc;
	int			i = 0;

	sf_json_begin_object(&b);
	foreach(lc, headers)
	{
		sf_json_add_string(&b, lfirst(lc), i < list_length(fields) ?
						   list_nth(fields, i) : "");
		i++;
	}
	return sf_json_finish(&b);
}

/* Take comma-separated values apart; headers NIL: the first row has them. */
static bool
read_csv(Reader *reader, const char *text, int len, List *headers)
{
	SfCsv		csv = {text, text + len, delimiter(reader)};
	MemoryContext row = AllocSetContextCreate(CurrentMemoryContext,
											  "sfflow CSV row",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	List	   *fields;
	bool		more = true;

	if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
		csv.pos += 3;
	if (headers == NIL && !sf_csv_next(&csv, &headers))
		return true;
	if (has_duplicates(headers))
		return refuse(reader, "CSV headers cannot contain duplicates.");
	old = MemoryContextSwitchTo(row);
	while (more && sf_csv_next(&csv, &fields))
	{
		more = add_item(reader, csv_item(headers, fields));
		MemoryContextReset(row);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(row);
	return true;
}

/* Take a text apart as a type says. */
static bool
read_text(Reader *reader, const char *type, const char *text, int len,
		  List *headers)
{
	if (strcmp(type, "JSON") == 0)
		return read_json(reader, text, len);
	if (strcmp(type, "JSONL") == 0)
		return read_json_lines(reader, text, len);
	if (strcmp(type, "CSV") == 0)
		return read_csv(reader, text, len, headers);
	return refuse(reader, psprintf("InputType %s is not supported.", type));
}

/* Take the content of one object apart; what is JSON already is not text. */
static bool
read_content(Reader *reader, const char *type, const Jsonb *content,
			 List *headers)
{
	JsonbValue	root;
	bool		ok;

	sf_json_root(content, &root);
	open_items(reader);
	ok = root.type == jbvString ?
		read_text(reader, type, root.val.string.val, root.val.string.len, headers) :
		read_json_value(reader, content);
	sf_map_items_close(reader->writer);
	return ok;
}

/* --- calls --- */

/* Name what a call reads: the object that it asks for, else the resource. */
static const char *
name_source(const SfResource *resource, const Jsonb *payload)
{
	const char *bucket = sf_json_get_cstring(payload, "Bucket");
	const char *key = sf_json_get_cstring(payload, "Key");

	if (key == NULL)
		return psprintf("Resource: '%s'.", resource->text);
	return psprintf("Object: '%s%s%s'.", bucket ? bucket : "", bucket ? "/" : "", key);
}

/* Call a resource; *content gets its value, NULL when it gave rows. */
static bool
call_resource(Reader *reader, const SfResource *resource, Jsonb *payload,
			  Jsonb **content)
{
	SfTaskCall	call = *reader->call;
	SfTaskOutcome outcome;

	call.resource = resource;
	call.payload = payload;
	call.sink = &reader->sink;
	reader->source = name_source(resource, payload);
	reader->streamed = false;
	reader->before = reader->count;
	memset(&outcome, 0, sizeof(outcome));
	sf_task_driver.run(&call, &outcome);
	*content = NULL;
	if (!outcome.ok)
	{
		reader->error = outcome.error;
		return false;
	}
	if (!reader->streamed)
		*content = outcome.output != NULL ? outcome.output : sf_json_null();
	return true;
}

/* Read another object of a bucket. */
static bool
read_object(Reader *reader, const SfResource *resource, const char *type,
			const char *bucket, const JsonbValue *key, List *headers)
{
	Jsonb	   *content;
	SfJsonBuilder b;

	CHECK_FOR_INTERRUPTS();
	sf_json_begin_object(&b);
	sf_json_add_string(&b, "Bucket", bucket);
	sf_json_add_value(&b, "Key", key);
	if (!call_resource(reader, resource, sf_json_finish(&b), &content))
		return false;
	return content == NULL || read_content(reader, type, content, headers);
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

/* The JSON that a content is, if it is one: text that holds it, or itself. */
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
read_manifest(Reader *reader, const Jsonb *content)
{
	Jsonb	   *manifest;
	const char *bucket;
	List	   *headers;
	JsonbValue	root,
				files,
				file,
				key;

	if (!parse_content(content, &root))
		return refuse(reader, "The manifest is not valid JSON.");
	manifest = sf_json_make(&root);
	if (!sf_json_member(&root, "files", 5, &files) || !sf_json_is_array(&files))
		return refuse(reader, "The manifest has no list \"files\".");
	bucket = sf_json_get_cstring(manifest, "destinationBucket");
	if (bucket != NULL && strrchr(bucket, ':') != NULL)
		bucket = strrchr(bucket, ':') + 1;
	if (bucket == NULL)
		bucket = sf_json_get_cstring(reader->call->payload, "Bucket");
	headers = schema_headers(sf_json_get_cstring(manifest, "fileSchema"));
	for (int i = 0; sf_json_element(&files, i, &file); i++)
	{
		if (!sf_json_member(&file, "key", 3, &key))
			return refuse(reader, "A file of the manifest has no \"key\".");
		if (!read_object(reader, reader->call->resource, "CSV", bucket, &key, headers))
			return false;
	}
	return true;
}

/* Read the object that a line "s3://bucket/key" names. */
static bool
read_named_object(Reader *reader, const char *line, int len)
{
	const char *slash = len > 5 ? memchr(line + 5, '/', len - 5) : NULL;
	JsonbValue	key;

	if (slash == NULL || strncmp(line, "s3://", 5) != 0)
		return refuse(reader, psprintf("The manifest has \"%.*s\", which names no object.",
									   Min(pg_mbcliplen(line, len, 200), 200), line));
	key.type = jbvString;
	key.val.string.val = unconstify(char *, slash + 1);
	key.val.string.len = (int) (line + len - slash - 1);
	return read_object(reader, reader->call->resource, reader->input_type,
					   pnstrdup(line + 5, slash - line - 5), &key,
					   given_headers(reader));
}

/* Read the files that the manifest of an Athena query names, one a line. */
static bool
read_data_manifest(Reader *reader, const Jsonb *content)
{
	JsonbValue	root;
	const char *line;
	const char *end;

	sf_json_root(content, &root);
	if (root.type != jbvString)
		return refuse(reader, "The manifest is not text.");
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

/* The list of objects that listObjectsV2 gives: an array, or its Contents. */
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

/* Read what a list of objects names. */
static bool
load_and_flatten(Reader *reader, const Jsonb *content)
{
	const char *bucket = sf_json_get_cstring(reader->call->payload, "Bucket");
	SfResource	written,
				resource;
	JsonbValue	list,
				object,
				key;

	sf_resource_parse(GET_OBJECT, &written);
	if (!sf_task_driver.resolve(&written, reader->call->owner, &resource))
		return refuse(reader, "The resource '" GET_OBJECT
					  "' is not mapped to anything that sfflow can run.");
	if (!listed_objects(content, &list))
		return refuse(reader, not_iterable);
	for (int i = 0; sf_json_element(&list, i, &object); i++)
	{
		if (!sf_json_member(&object, "Key", 3, &key))
			return refuse(reader, "An object of the list has no \"Key\".");
		if (!read_object(reader, &resource, reader->input_type, bucket, &key,
						 given_headers(reader)))
			return false;
	}
	return true;
}

/* Read the objects of a list. */
static bool
read_list(Reader *reader, const Jsonb *content)
{
	JsonbValue	list;

	if (!listed_objects(content, &list))
		return refuse(reader, not_iterable);
	open_items(reader);
	add_elements(reader, &list);
	sf_map_items_close(reader->writer);
	return true;
}

/* Does the reader list the objects of a bucket? */
static bool
lists_objects(const SfState *state)
{
	const SfResource *reader = sf_state_distributed(state)->item_reader;

	return strcmp(reader->service, "s3") == 0 &&
		strncmp(reader->action, "listObjects", 11) == 0;
}

/* Read everything. */
static bool
read_all(Reader *reader, const SfState *state)
{
	Jsonb	   *content;
	const char *manifest;

	if (!call_resource(reader, reader->call->resource, reader->call->payload,
					   &content))
		return false;
	if (content == NULL)
		return true;
	if (strcmp(option(reader, "Transformation", "NONE"), "LOAD_AND_FLATTEN") == 0)
		return load_and_flatten(reader, content);
	if (lists_objects(state))
		return read_list(reader, content);
	manifest = option(reader, "ManifestType", "");
	if (strcmp(manifest, "ATHENA_DATA") == 0)
		return read_data_manifest(reader, content);
	if (strcmp(manifest, "S3_INVENTORY") == 0 ||
		strcmp(reader->input_type, "MANIFEST") == 0)
		return read_manifest(reader, content);
	return read_content(reader, reader->input_type, content, given_headers(reader));
}

/* Read items into the run. */
void
sf_item_reader_run(const SfMapRun *map_run, const SfState *state,
				   const SfTaskCall *call, SfTaskOutcome *out)
{
	Reader		reader = {.sink = {begin_rows, take_row, end_rows}};

	reader.map_run = map_run;
	reader.call = call;
	reader.config = sf_state_distributed(state)->reader_config;
	reader.input_type = option(&reader, "InputType", "JSON");
	reader.limit = map_run->max_items > 0 ? map_run->max_items : PG_INT32_MAX;
	memset(out, 0, sizeof(*out));
	out->ok = read_all(&reader, state);
	if (out->ok)
	{
		sf_map_run_note_items(map_run, reader.count, reader.keyed);
		out->output = sf_json_int(reader.count);
		return;
	}
	/* what was read until then goes with the caller's subtransaction */
	out->error = reader.error;
}
