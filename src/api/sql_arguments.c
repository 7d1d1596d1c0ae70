/*
 * sql_arguments.c
 *		Arguments that several SQL-callable functions take.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/role/role.h"
#include "base/settings.h"
#include "base/time/interval.h"
#include "base/version/compat.h"
#include "store/state_machine/machine.h"

/* Rows of a page, unless said otherwise, and at most */
#define PAGE_SIZE		100
#define MAX_PAGE_SIZE	1000

/* Raise the error for an argument that may not be null. */
static void
null_argument(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("argument %s must not be null", name)));
}

/* Fetch a text argument as a C string; NULL raises 22004 naming the argument. */
char *
sf_arg_text(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		null_argument(name);
	return text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/* Fetch a text argument that may be null. */
char *
sf_arg_text_or_null(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/* Fetch the number of a version; 0 if it is NULL. */
int
sf_arg_version(FunctionCallInfo fcinfo, int n)
{
	if (PG_ARGISNULL(n))
		return SF_NO_VERSION;
	if (PG_GETARG_INT32(n) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument version must be 1 or more, not %d", PG_GETARG_INT32(n))));
	return PG_GETARG_INT32(n);
}

/* Fetch a jsonb argument, detoasted; NULL raises 22004 naming the argument. */
Jsonb *
sf_arg_jsonb(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		null_argument(name);
	return PG_GETARG_JSONB_P(n);
}

/* Fetch a jsonb argument that may be null. */
Jsonb *
sf_arg_jsonb_or_null(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : PG_GETARG_JSONB_P(n);
}

/*
 * Find what the call site has compiled from a text argument; without a result
 * unless the call before had the same text.
 */
SfCompiled *
sf_arg_compiled(FunctionCallInfo fcinfo, int n)
{
	text	   *source = PG_GETARG_TEXT_PP(n);
	Size		size = VARSIZE_ANY_EXHDR(source);
	SfCompiled *compiled = fcinfo->flinfo->fn_extra;

	if (compiled == NULL)
	{
		compiled = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(SfCompiled));
		compiled->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt,
												  "sfflow expression of a call",
												  ALLOCSET_SMALL_SIZES);
		fcinfo->flinfo->fn_extra = compiled;
	}
	if (compiled->result == NULL || VARSIZE_ANY_EXHDR(compiled->source) != size ||
		memcmp(VARDATA_ANY(compiled->source), VARDATA_ANY(source), size) != 0)
	{
		compiled->result = NULL;
		MemoryContextReset(compiled->context);
		compiled->source = MemoryContextAlloc(compiled->context, size + VARHDRSZ);
		SET_VARSIZE(compiled->source, size + VARHDRSZ);
		memcpy(VARDATA(compiled->source), VARDATA_ANY(source), size);
	}
	return compiled;
}

/*
 * Fetch an interval argument in milliseconds, with 30 days per month and 365.25 days
 * per year; SF012 when it is negative or longer than 1000 years (as an infinite
 * one is), or its months, days or time alone are.  NULL raises 22004 naming the argument.
 * After this the interval itself may be added to a time, or subtracted from it.
 */
int64
sf_arg_duration_ms(FunctionCallInfo fcinfo, int n, const char *name)
{
	SfIntervalLength length;
	double		us;

	if (PG_ARGISNULL(n))
		null_argument(name);
	length = sf_interval_measure(PG_GETARG_INTERVAL_P(n), &us);
	if (length == SF_INTERVAL_NEGATIVE)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument %s must not be negative", name)));
	if (length != SF_INTERVAL_FITS)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument %s must be at most %d years", name,
						SF_MAX_DURATION_YEARS),
				 length == SF_INTERVAL_MIXED ?
				 errdetail("Its months, its days and its time must be so each, in either direction.") : 0));
	return ((int64) us + 500) / 1000;
}

/* Fetch an integer argument; SF012 when it is less than least.  NULL is if_null. */
int
sf_arg_count(FunctionCallInfo fcinfo, int n, const char *name, int least,
			 int if_null)
{
	if (PG_ARGISNULL(n))
		return if_null;
	if (PG_GETARG_INT32(n) < least)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 least == 0 ? errmsg("argument %s must not be negative", name) :
				 errmsg("argument %s must be at least %d", name, least)));
	return PG_GETARG_INT32(n);
}

/* Read an argument page_size: how many rows a page is to have. */
int
sf_arg_page_size(FunctionCallInfo fcinfo, int n)
{
	int			size = sf_arg_count(fcinfo, n, "page_size", 1, PAGE_SIZE);

	if (size > MAX_PAGE_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument page_size must be at most %d", MAX_PAGE_SIZE)));
	return size;
}

/* Raise SF011 when a document is larger than a payload may be. */
void
sf_arg_check_size(const Jsonb *document, const char *name)
{
	Size		size;

	if (VARSIZE(document) < (Size) sf_setting_max_payload_bytes / 8)
		return;
	size = sf_json_text_size(document);
	if (size > (Size) sf_setting_max_payload_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_SF_PAYLOAD_TOO_LARGE),
				 errmsg("%s is too large", name),
				 errdetail("It has %zu bytes as JSON text; sfflow.max_payload_bytes is %d.",
						   size, sf_setting_max_payload_bytes),
				 errhint("Keep large data in a table and pass its key.")));
}

/*
 * Fetch the argument role, as which a call is to be answered, and check that it may be, as SET ROLE
 * would.  The session user must be allowed to become it.  Where PostgreSQL refuses SET ROLE, as in a
 * SQL task, that user is not the one who calls: there it is refused here, too.  A call is not
 * answered as a role that could not log in itself.
 */
Oid
sf_arg_session_role(FunctionCallInfo fcinfo, int n, const char *function)
{
	const char *name;
	Oid			role;

	if (PG_ARGISNULL(n))
		null_argument("role");
	name = NameStr(*PG_GETARG_NAME(n));
	role = get_role_oid(name, true);
	if (sf_role_is_bound())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("%s() cannot be called within a security-definer function or a task", function)));
	if (!OidIsValid(role) || !SF_CAN_SET_ROLE(GetSessionUserId(), role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to answer as role \"%s\"", name),
				 errdetail("The role does not exist, or session user \"%s\" is not a member of it.",
						   GetUserNameFromId(GetSessionUserId(), false))));
	if (!sf_role_may_log_in(role))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION),
				 errmsg("role \"%s\" cannot log in", name),
				 errdetail("The role has NOLOGIN, its VALID UNTIL has passed, or it has no CONNECT on the database.")));
	return role;
}

/* Read an array of iterations; one that is null or has nulls is empty. */
int *
sf_arg_iterations(FunctionCallInfo fcinfo, int n, int *niterations)
{
	ArrayType  *array;

	*niterations = 0;
	if (PG_ARGISNULL(n))
		return NULL;
	array = PG_GETARG_ARRAYTYPE_P(n);
	if (array_contains_nulls(array))
		return NULL;
	*niterations = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	return (int *) ARR_DATA_PTR(array);
}
