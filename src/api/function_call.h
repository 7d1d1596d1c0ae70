/*
 * function_call.h
 *		SQL-callable functions of this layer that C code calls, too.
 */
#ifndef SF_API_FUNCTION_CALL_H
#define SF_API_FUNCTION_CALL_H

#include "fmgr.h"
#include "store/table.h"

extern PGDLLEXPORT Datum sfflow_sf_create_activity(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sfflow_sf_drop_activity(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sfflow_sf_drop_alias(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sfflow_sf_run(PG_FUNCTION_ARGS);
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
sf_function_call(PGFunction function, const SfArg *args, int nargs)
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

#endif							/* SF_API_FUNCTION_CALL_H */
