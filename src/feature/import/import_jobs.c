/*
 * import_jobs.c
 *		sf_import_jobs(): a table of jobs and their predecessors becomes the definition
 *		of a JobNet.
 *
 * Each row names a job, and in most cases one job that comes before it.  A job of
 * several predecessors has several rows; what else they say of it must be the same.
 * Jobs keep the order in which they are first named.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"

#define FETCH_ROWS	1000		/* of the query, at once */

/* Columns: symbol, name, another name that it may have, whether its values are documents */
#define COLUMN_LIST(X) \
	X(JOB, "job", "job_id", false) \
	X(PREDECESSOR, "predecessor", "pre_job_id", false) \
	X(ON_STATUS, "on_status", NULL, false) \
	X(RESOURCE, "resource", NULL, false) \
	X(FUNCTION, "function", NULL, false) \
	X(COMMAND, "command", NULL, false) \
	X(PARAMETERS, "parameters", NULL, true) \
	X(FIELDS, "fields", NULL, true)

#define COLUMN_ENUM(sym, name, alias, is_document) COLUMN_##sym,
#define COLUMN_ROW(sym, name, alias, is_document) {name, alias, is_document},
enum
{
	COLUMN_LIST(COLUMN_ENUM)
	NCOLUMNS
};

static const struct
{
	const char *name;
	const char *alias;
	bool		is_document;
}			columns[] = {
	COLUMN_LIST(COLUMN_ROW)
};

/* A predecessor of a job */
typedef struct Link
{
	struct Link *next;
	struct Job *job;
	const char *on_status;		/* NULL: success */
} Link;

typedef struct Job
{
	char	   *name;
	int64		row;			/* that names it as a job; 0: none */
	int64		named_by;		/* first row that names it */
	Jsonb	   *values[NCOLUMNS];	/* NULL: no row has one */
	Link	   *first;
	Link	   *last;
} Job;

/* Entry of the table of jobs */
typedef struct NamedJob
{
	const char *name;
	Job		   *job;
} NamedJob;

typedef struct JobImport
{
	MemoryContext context;		/* outlives the query */
	HTAB	   *by_name;
	List	   *jobs;			/* in the order of the rows */
	const char *used[NCOLUMNS]; /* the name that a column has in the query */
	int			numbers[NCOLUMNS];	/* its number there; 0: it is not there */
	int64		row;
} JobImport;

/* --- errors --- */

/* Refuse a value of the current row. */
static void
refuse(const JobImport *import, int column, const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_DEFINITION),
			 errmsg("row " INT64_FORMAT ", column \"%s\": %s", import->row,
					import->used[column], reason)));
}

/* --- the query --- */

/* Tell whether a text is a query, not the name of a table. */
static bool
is_query(const char *text)
{
	static const char *const words[] = {"select", "with", "values", "table"};
	size_t		length;

	text += strspn(text, " \t\r\n\f\v");
	if (*text == '(')
		return true;
	length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789$");
	for (size_t i = 0; i < lengthof(words); i++)
		if (strlen(words[i]) == length && pg_strncasecmp(text, words[i], length) == 0)
			return true;
	return false;
}

/* The query that reads a table, by the name that the caller writes. */
static const char *
table_query(const char *name)
{
	List	   *names = textToQualifiedNameList(cstring_to_text(name));
	Oid			table = RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, false);

	return psprintf("TABLE %s",
					quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
											   get_rel_name(table)));
}

/* Find the columns in the rows of the query. */
static void
find_columns(JobImport *import, TupleDesc desc)
{
	for (int i = 0; i < NCOLUMNS; i++)
	{
		int			number = SPI_fnumber(desc, columns[i].name);

		import->used[i] = columns[i].name;
		if (number <= 0 && columns[i].alias != NULL)
		{
			number = SPI_fnumber(desc, columns[i].alias);
			if (number > 0)
				import->used[i] = columns[i].alias;
		}
		import->numbers[i] = Max(number, 0);
	}
	if (import->numbers[COLUMN_JOB] == 0)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument relations has no column \"job\" or \"job_id\"")));
}

/* Open the query, with the caller's rights and names, and find its columns. */
static Portal
open_relations(JobImport *import, const char *relations)
{
	const char *query = is_query(relations) ? relations : table_query(relations);
	SPIPlanPtr	plan = SPI_prepare(query, 0, NULL);
	Portal		portal;

	if (plan == NULL || !SPI_is_cursor_plan(plan))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument relations must be a table, or one query that returns rows")));
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	find_columns(import, portal->tupDesc);
	return portal;
}

/* --- rows --- */

/* Find a job, or make it. */
static Job *
find_job(JobImport *import, const char *name)
{
	bool		found;
	NamedJob   *entry = hash_search(import->by_name, &name, HASH_FIND, &found);
	Job		   *job;

	if (found)
		return entry->job;
	job = palloc0(sizeof(Job));
	job->name = pstrdup(name);
	job->named_by = import->row;
	entry = hash_search(import->by_name, &job->name, HASH_ENTER, NULL);
	entry->job = job;
	import->jobs = lappend(import->jobs, job);
	return job;
}

/* Read a value of a row: a document, or a text as a string; NULL: null, or no such column. */
static Jsonb *
read_value(JobImport *import, HeapTuple row, TupleDesc desc, int column)
{
	int			number = import->numbers[column];
	Oid			type = number == 0 ? InvalidOid : SPI_gettypeid(desc, number);
	char	   *text = number == 0 ? NULL : SPI_getvalue(row, desc, number);
	Jsonb	   *value;

	if (text == NULL)
		return NULL;
	/* a command may be a list of words */
	if (!columns[column].is_document &&
		(column != COLUMN_COMMAND || (type != JSONBOID && type != JSONOID)))
		return sf_json_string(text);
	if (!sf_json_parse(text, strlen(text), &value))
		refuse(import, column, "it is not JSON");
	if (columns[column].is_document && !JB_ROOT_IS_OBJECT(value))
		refuse(import, column, "it is no JSON object");
	return value;
}

/* Read a text of a row; NULL: null, or no such column. */
static char *
read_text(const JobImport *import, HeapTuple row, TupleDesc desc, int column)
{
	return import->numbers[column] == 0 ? NULL :
		SPI_getvalue(row, desc, import->numbers[column]);
}

/* Refuse an on_status that is no list of ends of a job. */
static void
check_on_status(const JobImport *import, const char *on_status)
{
	List	   *ends;

	if (!SplitIdentifierString(pstrdup(on_status), ',', &ends) || ends == NIL)
		refuse(import, COLUMN_ON_STATUS, "it must be one or more of success, failure, skip and end");
	foreach_ptr(const char, end, ends)
	{
		if (strcmp(end, "success") != 0 && strcmp(end, "failure") != 0 &&
			strcmp(end, "skip") != 0 && strcmp(end, "end") != 0)
			refuse(import, COLUMN_ON_STATUS,
				   psprintf("\"%s\" is none of success, failure, skip and end", end));
	}
}

/* Note that a job waits for another one. */
static void
add_link(JobImport *import, Job *job, const char *predecessor, const char *on_status)
{
	Link	   *link;

	if (on_status != NULL && predecessor == NULL)
		refuse(import, COLUMN_ON_STATUS, "there is no predecessor");
	if (predecessor == NULL)
		return;
	if (on_status != NULL)
		check_on_status(import, on_status);
	for (link = job->first; link != NULL; link = link->next)
		if (strcmp(link->job->name, predecessor) == 0)
		{
			if (strcmp(link->on_status ? link->on_status : "success",
					   on_status ? on_status : "success") != 0)
				refuse(import, COLUMN_ON_STATUS,
					   psprintf("another row has \"%s\" for job \"%s\" after \"%s\"",
								link->on_status ? link->on_status : "success",
								job->name, predecessor));
			return;
		}
	link = palloc0(sizeof(Link));
	link->job = find_job(import, predecessor);
	link->on_status = on_status;
	if (job->first == NULL)
		job->first = link;
	else
		job->last->next = link;
	job->last = link;
}

/* Keep what a row says of its job; rows of one job must not differ. */
static void
keep_value(JobImport *import, Job *job, int column, Jsonb *value)
{
	if (value == NULL)
		return;
	if (job->values[column] != NULL && !sf_json_is_equal(job->values[column], value))
		refuse(import, column, psprintf("row " INT64_FORMAT " has another value for job \"%s\"",
										job->row, job->name));
	job->values[column] = value;
}

/* Read a row. */
static void
read_row(JobImport *import, HeapTuple row, TupleDesc desc)
{
	char	   *name = read_text(import, row, desc, COLUMN_JOB);
	Job		   *job;

	if (name == NULL || name[0] == '\0')
		refuse(import, COLUMN_JOB, "it names no job");
	job = find_job(import, name);
	if (job->row == 0)
		job->row = import->row;
	add_link(import, job, read_text(import, row, desc, COLUMN_PREDECESSOR),
			 read_text(import, row, desc, COLUMN_ON_STATUS));
	for (int i = COLUMN_RESOURCE; i < NCOLUMNS; i++)
		keep_value(import, job, i, read_value(import, row, desc, i));
}

/* Order names, for the table of jobs. */
static int
match_names(const void *a, const void *b, Size size)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Hash a name, for the table of jobs. */
static uint32
hash_name(const void *key, Size size)
{
	const char *name = *(const char *const *) key;

	return hash_bytes((const unsigned char *) name, strlen(name));
}

/* Read all rows of a table or a query. */
static void
read_relations(JobImport *import, const char *relations)
{
	HASHCTL		control = {
		.keysize = sizeof(char *),.entrysize = sizeof(NamedJob),
		.hash = hash_name,.match = match_names,.hcxt = import->context
	};
	uint64		nrows;
	Portal		portal;

	import->by_name = hash_create("sfflow jobs of a table", 256, &control,
								  HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	portal = open_relations(import, relations);
	do
	{
		SPITupleTable *rows;
		MemoryContext old;

		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		rows = SPI_tuptable;
		nrows = rows->numvals;
		old = MemoryContextSwitchTo(import->context);
		for (uint64 i = 0; i < nrows; i++)
		{
			CHECK_FOR_INTERRUPTS();
			import->row++;
			read_row(import, rows->vals[i], rows->tupdesc);
		}
		MemoryContextSwitchTo(old);
		SPI_freetuptable(rows);
	} while (nrows == FETCH_ROWS);
	SPI_cursor_close(portal);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

/* --- the definition --- */

/* Add the jobs that a job waits for. */
static void
add_after(SfJsonBuilder *json, const Job *job)
{
	if (job->first == NULL)
		return;
	sf_json_open_array(json, "After");
	for (const Link *link = job->first; link != NULL; link = link->next)
	{
		List	   *ends;
		ListCell   *lc;

		if (link->on_status == NULL)
		{
			sf_json_add_string(json, NULL, link->job->name);
			continue;
		}
		SplitIdentifierString(pstrdup(link->on_status), ',', &ends);
		sf_json_open_object(json, NULL);
		sf_json_add_string(json, "Job", link->job->name);
		sf_json_open_array(json, "On");
		foreach(lc, ends)
			sf_json_add_string(json, NULL, lfirst(lc));
		sf_json_close_array(json);
		sf_json_close_object(json);
	}
	sf_json_close_array(json);
}

/* The text of a value that is a string. */
static char *
string_of(const Jsonb *value)
{
	JsonbValue	v;

	sf_json_root(value, &v);
	return pnstrdup(v.val.string.val, v.val.string.len);
}

/* The resource that the columns of a job name; NULL: they name none. */
static const char *
job_resource(const Job *job, const char *activity)
{
	int			given = 0;

	for (int i = COLUMN_RESOURCE; i <= COLUMN_COMMAND; i++)
		given += job->values[i] != NULL;
	if (given > 1)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("row " INT64_FORMAT ": job \"%s\" has more than one of resource, function and command",
						job->row, job->name)));
	if (job->values[COLUMN_RESOURCE] != NULL)
		return string_of(job->values[COLUMN_RESOURCE]);
	if (job->values[COLUMN_FUNCTION] != NULL)
		return psprintf("sql:%s", string_of(job->values[COLUMN_FUNCTION]));
	return job->values[COLUMN_COMMAND] != NULL ? psprintf("activity:%s", activity) : NULL;
}

/* Add the payload of a job's task: its parameters, and its command among them. */
static void
add_payload(SfJsonBuilder *json, const Job *job, const Jsonb *base)
{
	const char *language = sf_json_get_cstring(base, "QueryLanguage");
	const char *key = language != NULL && strcmp(language, "JSONata") == 0 ?
		"Arguments" : "Parameters";
	Jsonb	   *payload = job->values[COLUMN_PARAMETERS];

	if (payload == NULL && job->values[COLUMN_COMMAND] == NULL)
		return;
	if (job->values[COLUMN_COMMAND] != NULL)
	{
		SfJsonBuilder command;

		if (payload == NULL)
			payload = sf_json_get(base, key);
		sf_json_begin_object(&command);
		sf_json_add(&command, "Command", job->values[COLUMN_COMMAND]);
		payload = sf_json_merge(payload != NULL && JB_ROOT_IS_OBJECT(payload) ? payload :
								sf_json_empty_object(), sf_json_end(&command));
	}
	sf_json_add(json, key, payload);
}

/* Form a job: its fields, those of defaults that it does not have, and what its columns say. */
static Jsonb *
form_job(const Job *job, const Jsonb *defaults, const char *activity)
{
	const char *resource = job_resource(job, activity);
	Jsonb	   *base = job->values[COLUMN_FIELDS] == NULL ? unconstify(Jsonb *, defaults) :
		sf_json_merge(defaults, job->values[COLUMN_FIELDS]);
	const char *type = sf_json_get_cstring(base, "Type");
	bool		is_task = type != NULL ? strcmp(type, "Task") == 0 :
		sf_json_get(base, "StartAt") == NULL;
	SfJsonBuilder json;

	if (is_task && resource == NULL && sf_json_get(base, "Resource") == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("row " INT64_FORMAT ": job \"%s\" has no resource, function or command",
						job->row != 0 ? job->row : job->named_by, job->name),
				 job->row != 0 ? 0 : errdetail("It is named as a predecessor only."),
				 errhint("Give it one in its row, or a Resource for all in the argument defaults.")));
	sf_json_begin_object(&json);
	if (is_task)
		sf_json_add_string(&json, "Type", "Task");
	if (resource != NULL)
		sf_json_add_string(&json, "Resource", resource);
	add_payload(&json, job, base);
	add_after(&json, job);
	return sf_json_merge(base, sf_json_end(&json));
}

/* Write the definition of a machine of one net; jobs stay in their order. */
static text *
write_definition(const JobImport *import, const char *net, const Jsonb *defaults,
				 const char *activity)
{
	const char *separator = "";
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "{\"StartAt\": ");
	escape_json(&buf, net);
	appendStringInfoString(&buf, ", \"States\": {");
	escape_json(&buf, net);
	appendStringInfoString(&buf, ": {\"Type\": \"JobNet\", \"Jobs\": {");
	foreach_ptr(const Job, job, import->jobs)
	{
		CHECK_FOR_INTERRUPTS();
		appendStringInfo(&buf, "%s\n\t", separator);
		escape_json(&buf, job->name);
		appendStringInfo(&buf, ": %s", sf_json_to_cstring(form_job(job, defaults, activity)));
		separator = ",";
	}
	appendStringInfoString(&buf, "}, \"End\": true}}}");
	return cstring_to_text_with_len(buf.data, buf.len);
}

/*
 * sf_import_jobs(relations, defaults, net, activity): the definition of a machine whose
 * only state is a net of the jobs of a table or a query.
 */
SF_SQL_FUNCTION(sfflow_sf_import_jobs)
{
	char	   *relations = sf_arg_text(fcinfo, 0, "relations");
	Jsonb	   *defaults = sf_arg_jsonb(fcinfo, 1, "defaults");
	char	   *net = sf_arg_text(fcinfo, 2, "net");
	char	   *activity = sf_arg_text(fcinfo, 3, "activity");
	JobImport	import = {.context = CurrentMemoryContext};

	if (!JB_ROOT_IS_OBJECT(defaults))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument defaults must be a JSON object")));
	read_relations(&import, relations);
	if (import.jobs == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("there are no jobs: argument relations has no rows")));
	PG_RETURN_TEXT_P(write_definition(&import, net, defaults, activity));
}
