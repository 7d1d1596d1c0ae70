/*
 * query.c
 *		sql:query: a statement with arguments, as the owner.
 *
 * The payload is {"Statement": text, "Arguments": [$1, …]}; the result is
 * {"Rows": [object, …], "RowCount": n}, where n counts the rows that the
 * statement returned or changed.  Parameters have the types that the parser
 * infers from the statement.  One statement; utility statements too, as far as
 * PostgreSQL allows them inside a function, but no transaction control.
 *
 * Plans are kept by owner and text, the ones used last.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "lib/ilist.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"

#include "json/json.h"
#include "sql_task/sql_task_internal.h"

/* Plans that a session keeps, and bytes of a text up to which it does */
#define SF_QUERY_PLANS		64
#define SF_QUERY_TEXT_MAX	65536

typedef struct SfQuery
{
	dlist_node	node;			/* in queries, the one used last first */
	MemoryContext context;		/* holds this */
	Oid			owner;
	char	   *text;
	SPIPlanPtr	plan;
	int			nparams;
	SfConverter converter;		/* members "1", "2" … */
	int			running;
} SfQuery;

static dlist_head queries = DLIST_STATIC_INIT(queries);
static int	nqueries = 0;

/* --- the payload --- */

/* Take the statement and the arguments out of the payload. */
static char *
read_payload(const Jsonb *payload, JsonbValue *arguments)
{
	JsonbValue	root;
	JsonbValue	value;
	int			known = 1;
	bool		has_arguments;

	sf_json_root(payload, &root);
	if (!sf_json_member(&root, "Statement", 9, &value) || value.type != jbvString)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("payload of sql:query must be an object with the string \"Statement\"")));
	has_arguments = sf_json_member(&root, "Arguments", 9, arguments);
	if (has_arguments)
	{
		known++;
		if (!sf_json_is_array(arguments))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"Arguments\" of sql:query must be an array, not %s",
							sf_json_type_name(arguments))));
	}
	else
		arguments->type = jbvNull;
	if (sf_json_count(&root) != known)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("payload of sql:query has other members than \"Statement\" and \"Arguments\"")));
	return pnstrdup(value.val.string.val, value.val.string.len);
}

/* The arguments as an object {"1": …, "2": …}, for the converter. */
static Jsonb *
number_arguments(const JsonbValue *arguments)
{
	SfJsonBuilder json;
	int			n = sf_json_count(arguments);

	sf_json_begin_object(&json);
	for (int i = 0; i < n; i++)
	{
		JsonbValue	value;

		if (sf_json_element(arguments, i, &value))
			sf_json_add_value(&json, psprintf("%d", i + 1), &value);
	}
	return sf_json_end(&json);
}

/* --- plans --- */

/* Parse a statement far enough to refuse what cannot be a task. */
static RawStmt *
parse_statement(const char *text)
{
	List	   *parsed = pg_parse_query(text);
	RawStmt    *raw;

	if (list_length(parsed) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("\"Statement\" of sql:query must be one statement, not %d",
						list_length(parsed)),
				 list_length(parsed) > 1 ?
				 errhint("Write a function, and call it with sql:schema.function.") : 0));
	raw = linitial_node(RawStmt, parsed);
	if (IsA(raw->stmt, TransactionStmt))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("sql:query cannot control transactions"),
				 errdetail("A task commits together with the record that it ran.")));
	if (IsA(raw->stmt, CopyStmt) && ((CopyStmt *) raw->stmt)->filename == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("sql:query cannot COPY to or from a client")));
	return raw;
}

/* Let the parser infer the types of a statement's parameters. */
static int
infer_types(RawStmt *raw, const char *text, Oid **types)
{
	int			n = 0;

	*types = NULL;
	(void) pg_analyze_and_rewrite_varparams(raw, text, types, &n, NULL);
	return n;
}

/* Plan a statement into a query that has its context, owner and text. */
static void
plan_query(SfQuery *query)
{
	MemoryContext oldcontext;
	const char **names;
	Oid		   *types;

	query->nparams = infer_types(parse_statement(query->text), query->text, &types);
	query->plan = SPI_prepare(query->text, query->nparams, types);
	if (query->plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));

	oldcontext = MemoryContextSwitchTo(query->context);
	names = palloc(sizeof(char *) * Max(query->nparams, 1));
	for (int i = 0; i < query->nparams; i++)
		names[i] = psprintf("%d", i + 1);
	sf_converter_init(&query->converter, query->context, query->nparams, names, types);
	MemoryContextSwitchTo(oldcontext);
}

/* Drop a plan, unless it is being run. */
static void
forget_query(SfQuery *query)
{
	if (query->running > 0)
		return;
	dlist_delete(&query->node);
	nqueries--;
	SPI_freeplan(query->plan);
	MemoryContextDelete(query->context);
}

/* Drop the plan used least recently when there are too many. */
static void
make_room(void)
{
	if (nqueries >= SF_QUERY_PLANS)
		forget_query(dlist_tail_element(SfQuery, node, &queries));
}

/* Find the plan of a statement, or make it. */
static SfQuery *
get_query(const char *text, Oid owner)
{
	MemoryContext context;
	SfQuery    *query;
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &queries)
	{
		query = dlist_container(SfQuery, node, iter.cur);
		if (query->owner != owner || strcmp(query->text, text) != 0)
			continue;
		/* What a table has become may give parameters other types. */
		if (!SPI_plan_is_valid(query->plan) && query->running == 0)
		{
			forget_query(query);
			break;
		}
		dlist_move_head(&queries, &query->node);
		return query;
	}
	/* Until it is kept it goes away with SPI's memory. */
	context = AllocSetContextCreate(CurrentMemoryContext, "sfflow query",
									ALLOCSET_SMALL_SIZES);
	query = MemoryContextAllocZero(context, sizeof(SfQuery));
	query->context = context;
	query->owner = owner;
	query->text = MemoryContextStrdup(context, text);
	plan_query(query);
	if (strlen(text) > SF_QUERY_TEXT_MAX)
		return query;
	make_room();
	if (SPI_keepplan(query->plan) != 0)
		elog(ERROR, "SPI_keepplan failed");
	MemoryContextSetParent(context, TopMemoryContext);
	dlist_push_head(&queries, &query->node);
	nqueries++;
	return query;
}

/* --- the run --- */

/* Run the plan with the arguments of the payload. */
static Jsonb *
execute(SfQuery *query, const JsonbValue *arguments, const SfTaskCall *task)
{
	SPIExecuteOptions options;
	SfResult	result;
	int			rc;

	sf_sql_result_init(&result, task->resource->text, task->sink);
	result.whole_rows = true;
	memset(&options, 0, sizeof(options));
	options.params = sf_converter_run(&query->converter, number_arguments(arguments));
	options.dest = &result.receiver;

	sf_json_begin_object(&result.builder);
	sf_json_open_array(&result.builder, "Rows");
	rc = SPI_execute_plan_extended(query->plan, &options);
	sf_sql_result_end(&result);
	if (rc < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("sql:query cannot run this statement: %s",
						SPI_result_code_string(rc))));
	sf_json_close_array(&result.builder);
	sf_json_add_int(&result.builder, "RowCount",
					(int64) Max(SPI_processed, result.count));
	return sf_json_end(&result.builder);
}

/* The same, with the plan pinned. */
static Jsonb *
execute_pinned(SfQuery *query, const JsonbValue *arguments, const SfTaskCall *task)
{
	Jsonb	   *volatile result = NULL;

	query->running++;
	PG_TRY();
	{
		result = execute(query, arguments, task);
	}
	PG_FINALLY();
	{
		query->running--;
	}
	PG_END_TRY();
	return result;
}

/*
 * Run the statement of a task.  The current user is the owner, SPI is
 * connected; the result is in SPI's memory.
 */
Jsonb *
sf_sql_query_run(const SfTaskCall *task)
{
	JsonbValue	arguments;
	char	   *text = read_payload(task->payload, &arguments);
	SfQuery    *query = get_query(text, task->owner);
	int			ngiven = Max(sf_json_count(&arguments), 0);

	if (ngiven != query->nparams)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the statement has %d parameters, but \"Arguments\" has %d elements",
						query->nparams, ngiven)));
	return execute_pinned(query, &arguments, task);
}
