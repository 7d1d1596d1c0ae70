/*
 * audit_functions.c
 *		sf_list_audit(): a page of what operators did, newest first.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "api/columns.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "store/audit/audit.h"
#include "store/feature.h"
#include "store/role/privilege.h"

/* Arguments, in order */
enum
{
	ARG_TARGET, ARG_ACTION, ARG_ROLE, ARG_AFTER, ARG_BEFORE, ARG_PAGE_SIZE, ARG_KEY
};

/*
 * Find the object of a target that is asked for.  A machine stands for all that was done to it
 * and to its executions, anything else for itself.
 */
static void
parse_target(const char *text, SfAuditQuery *query)
{
	static const SfFeatureObject activities = {.prefix = "activity:",.kind = SF_OBJECT_ACTIVITY};
	const SfFeatureObject *object;
	const char *colon;

	if (text == NULL)
		return;
	object = strncmp(text, activities.prefix, strlen(activities.prefix)) == 0 ? &activities : sf_feature_object_of(text);
	if (object != NULL)
	{
		query->kind = object->kind;
		query->object = sf_feature_object_name(object, text);
		return;
	}
	colon = strchr(text, ':');
	query->kind = SF_OBJECT_STATE_MACHINE;
	query->object = colon == NULL ? text : pnstrdup(text, colon - text);
	query->target = colon == NULL ? NULL : text;
	if (strcmp(text, "*") == 0)
		query->kind = SF_OBJECT_ALL;
}

/* The time before which the page begins: that of the last row of the page before, or the argument before. */
static TimestampTz
parse_begin(FunctionCallInfo fcinfo)
{
	TimestampTz before = PG_ARGISNULL(ARG_BEFORE) ? DT_NOEND : PG_GETARG_TIMESTAMPTZ(ARG_BEFORE);
	const char *text = sf_arg_text_or_null(fcinfo, ARG_KEY);
	TimestampTz key;
	int			end = 0;

	if (text == NULL)
		return before;
	if (sscanf(text, INT64_FORMAT "%n", &key, &end) != 1 || text[end] != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument after_key must not be \"%s\"", text),
				 errhint("It is the page_key of the last row of the page before.")));
	return Min(key, before);
}

/* Put one action into the result. */
static void
put_action(FunctionCallInfo fcinfo, const SfAuditRow *audited)
{
	SfColumns	row = {0};

	sf_columns_time(&row, audited->at);
	sf_columns_text(&row, audited->action);
	sf_columns_text(&row, audited->target);
	sf_columns_text(&row, audited->execution_id);
	sf_columns_text(&row, audited->role);
	sf_columns_text(&row, audited->session_role);
	sf_columns_text(&row, audited->reason);
	sf_columns_jsonb(&row, audited->details);
	sf_columns_text(&row, psprintf(INT64_FORMAT, audited->at));
	sf_columns_put(fcinfo, &row);
}

/*
 * sf_list_audit(target, action, role, done_after, done_before, page_size, after_key): the
 * newest actions that the caller may see, but for starts.
 */
SF_SQL_FUNCTION(sfflow_sf_list_audit)
{
	SfAuditQuery query = {
		.reader = GetUserId(),
		.action = sf_arg_text_or_null(fcinfo, ARG_ACTION),
		.role = sf_arg_text_or_null(fcinfo, ARG_ROLE),
		.from = PG_ARGISNULL(ARG_AFTER) ? DT_NOBEGIN : PG_GETARG_TIMESTAMPTZ(ARG_AFTER),
		.before = parse_begin(fcinfo),
		.max_rows = sf_arg_page_size(fcinfo, ARG_PAGE_SIZE)
	};

	parse_target(sf_arg_text_or_null(fcinfo, ARG_TARGET), &query);
	InitMaterializedSRF(fcinfo, 0);
	foreach_ptr(const SfAuditRow, row, sf_audit_list(&query))
		put_action(fcinfo, row);
	return (Datum) 0;
}
