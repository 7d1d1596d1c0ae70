/*
 * validate_functions.c
 *		sf_validate(): all that is wrong with a definition, one row each.
 */
#include "postgres.h"

#include "api/probe.h"
#include "base/compat.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(sfflow_sf_validate);

/*
 * Return the diagnostics of a definition, in the order of its text; no rows if it
 * is good.  NULL is an invalid definition, as the empty text is.
 */
Datum
sfflow_sf_validate(PG_FUNCTION_ARGS)
{
	text	   *definition = PG_ARGISNULL(0) ? cstring_to_text("")
		: PG_GETARG_TEXT_PP(0);
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	List	   *diagnostics;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	diagnostics = sf_asl_validate(VARDATA_ANY(definition),
								  VARSIZE_ANY_EXHDR(definition), sf_probe_resource);
	foreach(lc, diagnostics)
	{
		const SfDiagnostic *d = lfirst(lc);
		Datum		values[4] = {0};
		bool		nulls[4] = {false};

		values[0] = CStringGetTextDatum(sf_severity_name(d->severity));
		values[1] = CStringGetTextDatum(d->code);
		if (d->location)
			values[2] = CStringGetTextDatum(d->location);
		else
			nulls[2] = true;
		values[3] = CStringGetTextDatum(d->message);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
