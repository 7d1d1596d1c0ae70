/*
 * item_reader.c
 *		ItemReader: read the items of a Distributed Map from its resource.
 *
 * A resource that returns rows (sql:query, a function that returns a set) gives
 * one item per row.  Each row is stored as it arrives, so that memory does not
 * grow with their number.  A resource that returns one value gives a content,
 * text or JSON, from which InputType makes items.  Some contents are lists of
 * files with the items: sf_service.read_listed reads those.
 *
 * Items are read in the transaction that records their number.  A worker that
 * is killed while it reads leaves nothing, and reading starts again.
 *
 * A resource that is an activity has a client read: what is a file of
 * Parquet, or is compressed.  It is given the whole ItemReader, sends items with
 * sf_send_task_items as it reads them, and answers with their number; or, when
 * they are few, with the items.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "json/csv.h"
#include "run/apply/apply.h"
#include "run/distributed_map/item_reader.h"
#include "run/task/service.h"

/* --- items --- */

/* Keep an item in memory, for longer than the content is taken apart. */
static void
buffer_item(SfItemReader *reader, const Jsonb *item)
{
	MemoryContext old = MemoryContextSwitchTo(reader->context);

	reader->kept = lappend(reader->kept, DatumGetJsonbPCopy(PointerGetDatum(item)));
	MemoryContextSwitchTo(old);
}

/* Add an item; false when there are enough. */
static bool
add_item(SfItemReader *reader, const Jsonb *item)
{
	if (reader->count >= reader->limit)
		return false;
	if (reader->map_run == NULL)
		buffer_item(reader, item);
	else
		sf_apply_item(reader->writer, item);
	reader->count++;
	return reader->count < reader->limit;
}

/* Begin to add items. */
static void
open_items(SfItemReader *reader)
{
	if (reader->map_run != NULL)
		reader->writer = sf_apply_items_open(reader->map_run, reader->count);
}

/* That was all for now. */
static void
close_items(SfItemReader *reader)
{
	if (reader->map_run != NULL)
		sf_apply_items_close(reader->writer);
}

/* Sink: rows come, maybe once more after a try that was rolled back. */
static void
begin_rows(SfRowSink *sink)
{
	SfItemReader *reader = (SfItemReader *) sink;

	reader->streamed = true;
	reader->count = reader->before;
	open_items(reader);
}

/* Sink: a row. */
static bool
store_row(SfRowSink *sink, Jsonb *row)
{
	return add_item((SfItemReader *) sink, row);
}

/* Sink: that was all. */
static void
end_rows(SfRowSink *sink)
{
	close_items((SfItemReader *) sink);
}

/* Report what is wrong, wherever the content comes from. */
static bool
refuse_all(SfItemReader *reader, const char *cause)
{
	return sf_error_set(&reader->error, SF_ERR_ITEM_READER_FAILED, "%s", cause);
}

/* Report what is wrong with the content, and which content it is. */
bool
sf_item_reader_refuse(SfItemReader *reader, const char *cause)
{
	return sf_error_set(&reader->error, SF_ERR_ITEM_READER_FAILED, "%s %s",
						cause, reader->source);
}

/* Report that the content is no list; returns false. */
bool
sf_item_reader_refuse_scalar(SfItemReader *reader)
{
	return sf_item_reader_refuse(reader, "Attempting to map over non-iterable node.");
}

/* --- contents --- */

/* Return a member of ReaderConfig, or a default. */
const char *
sf_item_reader_option(const SfItemReader *reader, const char *name,
					  const char *otherwise)
{
	const char *value = reader->config == NULL ? NULL :
		sf_json_get_cstring(reader->config, name);

	return value != NULL ? value : otherwise;
}

/*
 * Read a part of a JSON pointer, in which ~1 stands for a slash and ~0 for a tilde; NULL:
 * another character follows a tilde.
 */
static char *
read_pointer_part(const char *from, size_t len)
{
	char	   *name = palloc(len + 1);
	char	   *to = name;

	for (const char *p = from; p < from + len; p++)
	{
		if (*p != '~')
			*to++ = *p;
		else if (++p < from + len && (*p == '0' || *p == '1'))
			*to++ = *p == '0' ? '~' : '/';
		else
			return NULL;
	}
	*to = '\0';
	return name;
}

/* Find an element by a part of a JSON pointer: digits, without a zero in front. */
static bool
find_element(const JsonbValue *array, const char *name, JsonbValue *element)
{
	size_t		len = strlen(name);

	return len > 0 && len <= 9 && strspn(name, "0123456789") == len &&
		(len == 1 || *name != '0') && sf_json_element(array, atoi(name), element);
}

/* Follow a JSON pointer (RFC 6901: "/a/0/b"); false where it leads nowhere. */
static bool
follow_pointer(JsonbValue *value, const char *pointer)
{
	while (*pointer == '/')
	{
		size_t		len = strcspn(++pointer, "/");
		char	   *name = read_pointer_part(pointer, len);
		JsonbValue	next;

		if (name == NULL ||
			!(sf_json_is_object(value) ? sf_json_member(value, name, strlen(name), &next) :
			  find_element(value, name, &next)))
			return false;
		*value = next;
		pointer += len;
	}
	return *pointer == '\0';
}

/* Add the elements of an array. */
static void
add_elements(SfItemReader *reader, const JsonbValue *array)
{
	JsonbIterator *it = sf_json_elements(array);
	JsonbValue	value;
	bool		more = true;

	while (more && sf_json_next(&it, &value))
	{
		Jsonb	   *item = sf_json_make(&value);

		more = add_item(reader, item);
		pfree(item);
	}
}

/* Add the members of an object as {"Key": …, "Value": …}. */
static void
add_members(SfItemReader *reader, const JsonbValue *object)
{
	int			n = sf_json_count(object);
	SfJsonMember *members = palloc(sizeof(SfJsonMember) * Max(n, 1));

	reader->keyed = true;
	n = sf_json_list_members(object, members);
	for (int i = 0; i < n; i++)
	{
		SfJsonBuilder json;

		sf_json_begin_object(&json);
		sf_json_add_value(&json, "Key", &members[i].key);
		sf_json_add_value(&json, "Value", &members[i].value);
		if (!add_item(reader, sf_json_end(&json)))
			break;
	}
}

/* Take a JSON value apart. */
static bool
read_json_value(SfItemReader *reader, const Jsonb *content)
{
	JsonbValue	root;

	sf_json_root(content, &root);
	if (!follow_pointer(&root, sf_item_reader_option(reader, "ItemsPointer", "")))
		return sf_item_reader_refuse_scalar(reader);
	reader->pointed = sf_json_make(&root);
	if (sf_json_is_array(&root))
		add_elements(reader, &root);
	else if (sf_json_is_object(&root))
		add_members(reader, &root);
	else
		return sf_item_reader_refuse_scalar(reader);
	return true;
}

/* Take JSON text apart. */
static bool
read_json(SfItemReader *reader, const char *text, int len)
{
	Jsonb	   *content;

	if (!sf_json_parse(text, len, &content))
		return sf_item_reader_refuse(reader, "The content is not valid JSON.");
	return read_json_value(reader, content);
}

/* Tell whether a text has nothing but white space. */
static bool
is_blank(const char *text, int len)
{
	for (int i = 0; i < len; i++)
		if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
			return false;
	return true;
}

/* Take lines apart, each a JSON value. */
static bool
read_json_lines(SfItemReader *reader, const char *text, int len)
{
	const char *end = text + len;

	for (int line = 1; text < end; line++)
	{
		const char *stop = memchr(text, '\n', end - text);
		int			n = (int) ((stop != NULL ? stop : end) - text);
		Jsonb	   *item;
		bool		more = true;

		CHECK_FOR_INTERRUPTS();
		if (!is_blank(text, n))
		{
			if (!sf_json_parse(text, n, &item))
				return sf_item_reader_refuse(reader, psprintf("Line %d of the content is not valid JSON.", line));
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
delimiter(const SfItemReader *reader)
{
	static const struct
	{
		const char *name;
		char		c;
	}			delimiters[] = {
		{"COMMA", ','}, {"PIPE", '|'}, {"SEMICOLON", ';'}, {"SPACE", ' '},
		{"TAB", '\t'}
	};
	const char *name = sf_item_reader_option(reader, "CSVDelimiter", "COMMA");

	for (size_t i = 0; i < lengthof(delimiters); i++)
		if (strcmp(name, delimiters[i].name) == 0)
			return delimiters[i].c;
	return ',';
}

/* Tell whether ReaderConfig is to give the headers. */
static bool
headers_are_given(const SfItemReader *reader)
{
	return strcmp(sf_item_reader_option(reader, "CSVHeaderLocation", "FIRST_ROW"), "GIVEN") == 0;
}

/* Return the headers that ReaderConfig gives; NIL: the first row has them. */
List *
sf_item_reader_headers(const SfItemReader *reader)
{
	Jsonb	   *array = reader->config == NULL ? NULL :
		sf_json_get(reader->config, "CSVHeaders");
	List	   *headers = NIL;
	JsonbValue	root;
	JsonbValue	value;

	if (array == NULL || !headers_are_given(reader))
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
	SfJsonBuilder json;
	ListCell   *lc;
	int			i = 0;

	sf_json_begin_object(&json);
	foreach(lc, headers)
	{
		sf_json_add_string(&json, lfirst(lc), i < list_length(fields) ?
						   list_nth(fields, i) : "");
		i++;
	}
	return sf_json_end(&json);
}

/* Take comma-separated values apart; headers NIL: the first row has them. */
static bool
read_csv(SfItemReader *reader, const char *text, int len, List *headers)
{
	SfCsv		csv = {text, text + len, delimiter(reader), false};
	MemoryContext row = AllocSetContextCreate(CurrentMemoryContext,
											  "sfflow CSV row",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	List	   *fields;
	bool		given = headers != NIL;
	bool		more = true;
	int			nrows = 0;

	if (headers == NIL && headers_are_given(reader))
		return refuse_all(reader, "CSV headers cannot be empty.");
	if (headers == NIL && !sf_csv_next(&csv, &headers))
		return true;
	if (csv.is_unclosed)
		return sf_item_reader_refuse(reader, "The header row of the content has a quoted field that does not end.");
	if (has_duplicates(headers))
		return (given ? refuse_all : sf_item_reader_refuse) (reader, "CSV headers cannot contain duplicates.");
	old = MemoryContextSwitchTo(row);
	while (more && sf_csv_next(&csv, &fields) && !csv.is_unclosed)
	{
		nrows++;
		more = add_item(reader, csv_item(headers, fields));
		MemoryContextReset(row);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(row);
	if (csv.is_unclosed)
		return sf_item_reader_refuse(reader, psprintf("Row %d of the content has a quoted field that does not end.",
													  nrows + 1));
	return true;
}

/* Take a text apart as a type says. */
static bool
read_text(SfItemReader *reader, const char *type, const char *text, int len,
		  List *headers)
{
	/* a byte order mark says nothing about UTF-8, but programs write it */
	if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
	{
		text += 3;
		len -= 3;
	}
	if (strcmp(type, "JSON") == 0)
		return read_json(reader, text, len);
	if (strcmp(type, "JSONL") == 0)
		return read_json_lines(reader, text, len);
	if (strcmp(type, "CSV") == 0)
		return read_csv(reader, text, len, headers);
	if (reader->resource->kind != SF_RESOURCE_MAPPED)
		return sf_item_reader_refuse(reader, psprintf("InputType %s is not read from one value.", type));
	return sf_item_reader_refuse(reader, psprintf("InputType %s is read by a program outside: map '%s' to its activity.",
												  type, reader->resource->typed));
}

/* Take the content of one object apart; what is JSON already is not text. */
static bool
read_content(SfItemReader *reader, const char *type, const Jsonb *content,
			 List *headers)
{
	JsonbValue	root;
	bool		ok;

	sf_json_root(content, &root);
	open_items(reader);
	ok = root.type == jbvString ?
		read_text(reader, type, root.val.string.val, root.val.string.len, headers) :
		read_json_value(reader, content);
	close_items(reader);
	return ok;
}

/* --- calls --- */

/* Call a resource; *content gets its value, NULL when it gave rows. */
static bool
call_resource(SfItemReader *reader, const SfResource *resource, Jsonb *payload,
			  Jsonb **content)
{
	SfTaskCall	call = *reader->call;
	SfTaskOutcome outcome;

	call.resource = resource;
	call.payload = payload;
	call.sink = &reader->sink;
	reader->source = sf_service.describe_source(resource, payload);
	reader->streamed = false;
	reader->before = reader->count;
	memset(&outcome, 0, sizeof(outcome));
	sf_task_runner.run(&call, &outcome);
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

/* Add the elements of an array that a service found in the content. */
bool
sf_item_reader_add_array(SfItemReader *reader, const JsonbValue *array)
{
	open_items(reader);
	add_elements(reader, array);
	close_items(reader);
	return true;
}

/*
 * Call a resource and add the items in its content, which has the InputType
 * type.  False: reader->error.
 */
bool
sf_item_reader_load(SfItemReader *reader, const SfResource *resource,
					const char *type, Jsonb *payload, List *headers)
{
	Jsonb	   *content;

	CHECK_FOR_INTERRUPTS();
	if (!call_resource(reader, resource, payload, &content))
		return false;
	return content == NULL || read_content(reader, type, content, headers);
}

/* Read everything. */
static bool
read_all(SfItemReader *reader, const SfState *state)
{
	Jsonb	   *content;
	bool		ok;

	if (!call_resource(reader, reader->call->resource, reader->call->payload,
					   &content))
		return false;
	if (content == NULL)
		return true;
	if (sf_service.read_listed(reader, state, content, &ok))
		return ok;
	return read_content(reader, reader->input_type, content,
						sf_item_reader_headers(reader));
}

/* Read items into the run; the outcome's output is their number. */
void
sf_item_reader_run(const SfMapRun *map_run, const SfState *state,
				   const SfTaskCall *call, SfTaskOutcome *out)
{
	SfItemReader reader = {.sink = {begin_rows, store_row, end_rows}};

	reader.map_run = map_run;
	reader.call = call;
	reader.resource = sf_state_distributed(state)->item_reader;
	reader.config = sf_state_map(state)->distributed->reader_config;
	reader.input_type = sf_item_reader_option(&reader, "InputType", "JSON");
	reader.limit = map_run->max_items != SF_UNLIMITED ? map_run->max_items : PG_INT32_MAX;
	memset(out, 0, sizeof(*out));
	out->ok = read_all(&reader, state);
	if (out->ok)
	{
		sf_apply_items_read(map_run, reader.count, reader.keyed);
		out->output = sf_json_int(reader.count);
		return;
	}
	/* what was read until then goes with the caller's subtransaction */
	out->error = reader.error;
}

/*
 * Take the items out of a content that is given, as found in the source: text,
 * or what the text means where it is JSON.  Files that it lists are not read:
 * the content is that of one of them, which is CSV for a manifest.
 */
bool
sf_item_reader_parse(const SfState *state, const Jsonb *payload, const Jsonb *content,
					 int max_items, SfItemsGiven *items, SfError *error)
{
	SfItemReader reader = {.context = CurrentMemoryContext};
	bool		ok;

	reader.config = sf_state_map(state)->distributed->reader_config;
	reader.input_type = sf_item_reader_option(&reader, "InputType", "JSON");
	reader.limit = max_items != SF_UNLIMITED ? max_items : PG_INT32_MAX;
	reader.resource = sf_state_distributed(state)->item_reader;
	reader.source = sf_service.describe_source(reader.resource, payload);
	if (strcmp(reader.input_type, "MANIFEST") == 0)
		reader.input_type = "CSV";
	if (strcmp(sf_item_reader_option(&reader, "Transformation", "NONE"), "NONE") != 0 ||
		sf_item_reader_option(&reader, "ManifestType", NULL) != NULL ||
		!sf_service.read_listed(&reader, state, content, &ok))
		ok = read_content(&reader, reader.input_type, content, sf_item_reader_headers(&reader));
	items->items = reader.kept;
	items->keyed = reader.keyed;
	items->pointed = sf_item_reader_option(&reader, "ItemsPointer", NULL) == NULL ? NULL : reader.pointed;
	*error = reader.error;
	return ok;
}

/* --- a client that reads --- */

/* Copy what ReaderConfig says, with the number of MaxItems in place of how it is found. */
static void
add_config(SfJsonBuilder *json, const Jsonb *config, int max_items)
{
	int			n = 0;
	JsonbValue	root;
	SfJsonMember *members = NULL;

	if (config != NULL)
	{
		sf_json_root(config, &root);
		members = sf_json_members(&root, &n);
	}
	sf_json_open_object(json, "ReaderConfig");
	for (int i = 0; i < n; i++)
	{
		char	   *name = pnstrdup(members[i].key.val.string.val, members[i].key.val.string.len);

		if (strncmp(name, "MaxItems", 8) != 0)
			sf_json_add_value(json, name, &members[i].value);
	}
	if (max_items != SF_UNLIMITED)
		sf_json_add_int(json, "MaxItems", max_items);
	sf_json_close_object(json);
}

/* Make what a program is given to read: {"Resource": …, "Parameters": …, "ReaderConfig": …}. */
Jsonb *
sf_item_reader_request(const SfBranch *branch, const SfState *state, Jsonb *payload)
{
	const SfDistributedMap *map = sf_state_distributed(state);
	const SfMapRun *map_run = sf_apply_map_run_of(branch);
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "Resource", map->item_reader->text);
	sf_json_add(&json, "Parameters", payload);
	add_config(&json, map->reader_config, map_run->max_items);
	return sf_json_end(&json);
}

/*
 * Read the answer of a program that reads: a list of items, or how many it has sent.
 * *answer becomes their number.  False with *error: it is neither, or they are not there.
 */
bool
sf_item_reader_read_answer(const SfBranch *branch, Jsonb **answer, SfError *error)
{
	const SfMapRun *map_run = sf_apply_map_run_of(branch);
	JsonbValue	root;
	int64		number;

	sf_json_root(*answer, &root);
	if (sf_json_is_array(&root))
	{
		*answer = sf_json_int(sf_apply_items_put(map_run, *answer, 0));
		return true;
	}
	if (!sf_json_to_int64(&root, &number))
		return sf_error_set(error, SF_ERR_ITEM_READER_FAILED,
							"The program that reads the items answered neither with a list of them nor with how many it has sent.");
	if (number != map_run->total)
		return sf_error_set(error, SF_ERR_ITEM_READER_FAILED,
							"The program that reads the items answered that they are " INT64_FORMAT ", and has sent %d.",
							number, map_run->total);
	return true;
}
