/*
 * home_functions.c
 *		sf_find_home().
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"

#include "api/sql_arguments.h"
#include "base/version/schema.h"
#include "feature/home/home.h"

/* sf_find_home(key): node, host, port and whether it is this one; a row of nulls and true where there is no cluster. */
SF_SQL_FUNCTION(sfflow_sf_find_home)
{
	SfHome		home = sf_home_find(sf_arg_text(fcinfo, 0, "key"));
	bool		unknown = home.place == SF_HOME_UNKNOWN;
	bool		nulls[4] = {unknown, unknown, unknown, false};
	Datum		values[4] = {0};
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (!unknown)
	{
		values[0] = Int32GetDatum(home.group);
		values[1] = CStringGetTextDatum(home.host);
		values[2] = Int32GetDatum(home.port);
	}
	values[3] = BoolGetDatum(home.place != SF_HOME_ELSEWHERE);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
