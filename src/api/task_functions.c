/*
 * task_functions.c
 *		sf_raise(): how a SQL task fails with an error name of its choice.
 */
#include "postgres.h"

#include "api/sql_arguments.h"
#include "base/errors.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

/* Limits of Step Functions, in characters */
#define SF_ERROR_NAME_MAX	256
#define SF_CAUSE_MAX		32768

PG_FUNCTION_INFO_V1(sfflow_sf_raise);

/*
 * sf_raise(error, cause): raise an error that the runner of the task turns
 * into this ASL error.  To everybody else (EXCEPTION in PL/pgSQL, psql) it is
 * an error with SQLSTATE SF022, the name as its message and the cause as its
 * detail; a RAISE that is made like that means the same.
 */
Datum
sfflow_sf_raise(PG_FUNCTION_ARGS)
{
	char	   *name = PG_ARGISNULL(0) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *cause = sf_arg_text_or_null(fcinfo, 1);

	if (pg_mbstrlen(name) > SF_ERROR_NAME_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_NAME),
				 errmsg("error name has more than %d characters", SF_ERROR_NAME_MAX),
				 errdetail("It begins \"%.*s\".", pg_mbcharcliplen(name, strlen(name), 60), name)));
	if (cause != NULL)
		cause[pg_mbcharcliplen(cause, strlen(cause), SF_CAUSE_MAX)] = '\0';
	ereport(ERROR,
			(errcode(ERRCODE_SF_TASK_RAISED),
			 name[0] != '\0' ? errmsg_internal("%s", name) :
			 errmsg("task failed without an error name"),
			 cause != NULL ? errdetail_internal("%s", cause) : 0,
			 err_generic_string(PG_DIAG_DATATYPE_NAME, name)));
	PG_RETURN_VOID();
}
