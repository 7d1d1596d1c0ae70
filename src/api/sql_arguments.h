/*
 * sql_arguments.h
 *		Arguments that several SQL-callable functions take.
 */
#ifndef SF_API_SQL_ARGUMENTS_H
#define SF_API_SQL_ARGUMENTS_H

#include "fmgr.h"

#include "db/table.h"
#include "json/json.h"

extern int *sf_arg_iterations(FunctionCallInfo fcinfo, int n, int *niterations);
extern char *sf_arg_text(FunctionCallInfo fcinfo, int n, const char *name);
extern char *sf_arg_text_or_null(FunctionCallInfo fcinfo, int n);
extern int	sf_arg_version(FunctionCallInfo fcinfo, int n);
extern Jsonb *sf_arg_jsonb(FunctionCallInfo fcinfo, int n, const char *name);
extern Jsonb *sf_arg_jsonb_or_null(FunctionCallInfo fcinfo, int n);
extern int64 sf_arg_duration_ms(FunctionCallInfo fcinfo, int n, const char *name);
extern int	sf_arg_count(FunctionCallInfo fcinfo, int n, const char *name,
						 int least, int if_null);
extern int	sf_arg_page_size(FunctionCallInfo fcinfo, int n);
extern Oid	sf_arg_session_role(FunctionCallInfo fcinfo, int n, const char *function);

/* What a call site has compiled last, which lives as long as the call site */
typedef struct SfCompiled
{
	MemoryContext context;		/* of source and result */
	text	   *source;
	void	   *result;			/* NULL: the caller is to compile the source */
} SfCompiled;

extern SfCompiled *sf_arg_compiled(FunctionCallInfo fcinfo, int n);
extern void sf_arg_check_size(const Jsonb *document, const char *name);

/* --- SQL-callable functions of this layer that C code calls, too --- */

extern PGDLLEXPORT Datum sfflow_sf_create_activity(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sfflow_sf_drop_activity(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sfflow_sf_drop_alias(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sfflow_sf_send_task_failure(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sfflow_sf_send_task_heartbeat(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sfflow_sf_send_task_success(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sfflow_sf_set_alias(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sfflow_sf_stop(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sfflow_sf_test_state(PG_FUNCTION_ARGS);

/* Most arguments of one of them */
#define SF_FUNCTION_MAX_ARGS	8

/*
 * Call a function that returns one value, with arguments as for a query.  It must not
 * look at how it was called, as a function of a set or of any type does.
 */
static inline NullableDatum
sf_arg_call(PGFunction function, const SfArg *args, int nargs)
{
	LOCAL_FCINFO(fcinfo, SF_FUNCTION_MAX_ARGS);
	NullableDatum result;

	Assert(nargs <= SF_FUNCTION_MAX_ARGS);
	InitFunctionCallInfoData(*fcinfo, NULL, nargs, InvalidOid, NULL, NULL);
	for (int i = 0; i < nargs; i++)
	{
		fcinfo->args[i].value = args[i].value;
		fcinfo->args[i].isnull = args[i].isnull;
	}
	result.value = function(fcinfo);
	result.isnull = fcinfo->isnull;
	return result;
}

#endif							/* SF_API_SQL_ARGUMENTS_H */
