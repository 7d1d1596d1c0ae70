/*
 * list_functions.c
 *		sf_list_executions(): a page of executions, newest first.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"

#include "api/columns.h"
#include "api/execution/labelled.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "store/execution/execution_list.h"

/* Arguments, in order */
enum
{
	ARG_STATE_MACHINE, ARG_STATUS, ARG_ERROR, ARG_NAME_PREFIX, ARG_OWNER, ARG_PARENT,
	ARG_AFTER, ARG_BEFORE, ARG_PAGE_SIZE, ARG_KEY, ARG_WITHOUT_ITEMS
};

/* Read the argument status into a query; null: any. */
static void
read_status(const char *text, SfListQuery *query)
{
#define STATUS_NAME(sym, number) #sym,
#define STATUS(sym, number) SF_STATUS_##sym,
	static const char *const names[] = {SF_STATUS_LIST(STATUS_NAME)};
	static const SfStatus statuses[] = {SF_STATUS_LIST(STATUS)};

	query->has_status = text != NULL;
	if (query->has_status)
		query->status = statuses[sf_argument_word("status", text, names, lengthof(names))];
}

/* The page_key of a row, from which the next page goes on. */
static char *
form_key(const SfListedExecution *listed)
{
	return psprintf(INT64_FORMAT "." INT64_FORMAT, listed->requested_at, listed->execution_no);
}

/* Read the argument after_key. */
static SfListPosition
parse_key(const char *text)
{
	SfListPosition key;
	int			end = 0;

	if (sscanf(text, INT64_FORMAT "." INT64_FORMAT "%n", &key.requested_at, &key.execution_no,
			   &end) != 2 || text[end] != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument after_key must not be \"%s\"", text),
				 errhint("It is the page_key of the last row of the page before.")));
	return key;
}

/* Where the page begins: behind the key, and before the given time. */
static SfListPosition
parse_begin(FunctionCallInfo fcinfo)
{
	SfListPosition before = {DT_NOEND, 0};
	const char *text = sf_arg_text_or_null(fcinfo, ARG_KEY);
	SfListPosition key;

	if (!PG_ARGISNULL(ARG_BEFORE))
		before.requested_at = PG_GETARG_TIMESTAMPTZ(ARG_BEFORE);
	if (text == NULL)
		return before;
	key = parse_key(text);
	return key.requested_at < before.requested_at ? key : before;
}

/* The number of the machine that is asked for, or SF_ALL_MACHINES. */
static int
parse_machine(FunctionCallInfo fcinfo)
{
	const char *text = sf_arg_text_or_null(fcinfo, ARG_STATE_MACHINE);

	return text == NULL ? SF_ALL_MACHINES : sf_arg_machine(text, SF_RIGHT_READ)->machine_no;
}

/* The number of the parent that is asked for, or SF_NO_PARENT. */
static int64
parse_parent(FunctionCallInfo fcinfo)
{
	const char *text = sf_arg_text_or_null(fcinfo, ARG_PARENT);

	return text == NULL ? SF_NO_PARENT :
		sf_arg_execution(text, SF_LOCK_NONE, SF_RIGHT_READ)->execution_no;
}

/* Choose the machines whose executions the caller may read. */
static void
choose_machines(FunctionCallInfo fcinfo, SfListQuery *query)
{
	const char *owner = sf_arg_text_or_null(fcinfo, ARG_OWNER);

	query->machines = sf_object_machines(parse_machine(fcinfo),
										 owner == NULL ? InvalidOid : get_role_oid(owner, false),
										 SF_RIGHT_READ, &query->nmachines);
}

/* Put one execution into the result. */
static void
put_execution(FunctionCallInfo fcinfo, const SfListedExecution *listed)
{
	const char *colon = strchr(listed->execution_id, ':');
	SfColumns	row = {0};

	sf_columns_text(&row, listed->execution_id);
	sf_columns_text(&row, pnstrdup(listed->execution_id, colon - listed->execution_id));
	sf_columns_text(&row, colon + 1);
	sf_columns_text(&row, sf_status_name(listed->status));
	sf_columns_text(&row, listed->error);
	sf_columns_time(&row, listed->requested_at);
	sf_columns_time(&row, listed->started_at);
	sf_columns_time(&row, listed->stopped_at);
	sf_columns_text(&row, form_key(listed));
	sf_columns_put(fcinfo, &row);
}

/* Put the page that the arguments of sf_list_executions ask for into the result: of executions with labels. */
void
sf_labelled_list(FunctionCallInfo fcinfo, const SfLabelled *labelled)
{
	SfListQuery query = {
		.error = sf_arg_text_or_null(fcinfo, ARG_ERROR),
		.prefix = sf_arg_text_or_null(fcinfo, ARG_NAME_PREFIX),
		.parent_execution_no = parse_parent(fcinfo),
		.from = PG_ARGISNULL(ARG_AFTER) ? DT_NOBEGIN : PG_GETARG_TIMESTAMPTZ(ARG_AFTER),
		.before = parse_begin(fcinfo),
		.max_rows = sf_arg_page_size(fcinfo, ARG_PAGE_SIZE),
		.without_items = !PG_ARGISNULL(ARG_WITHOUT_ITEMS) && PG_GETARG_BOOL(ARG_WITHOUT_ITEMS),
		.labelled = *labelled
	};
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	read_status(sf_arg_text_or_null(fcinfo, ARG_STATUS), &query);
	choose_machines(fcinfo, &query);
	foreach(lc, sf_execution_list(&query))
		put_execution(fcinfo, lfirst(lc));
}

/*
 * sf_list_executions(state_machine, status, error, name_prefix, owner,
 * parent_execution_id, requested_after, requested_before, page_size, after_key,
 * without_items): the newest executions that the caller may read, by requested_at.
 */
SF_SQL_FUNCTION(sfflow_sf_list_executions)
{
	sf_labelled_list(fcinfo, &(SfLabelled) {0});
	return (Datum) 0;
}
