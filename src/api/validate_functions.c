/*
 * validate_functions.c
 *		sf_validate(): all that is wrong with a definition, one row each.
 */
#include "postgres.h"

#include "api/probe.h"
#include "api/columns.h"

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
	List	   *diagnostics;

	InitMaterializedSRF(fcinfo, 0);
	diagnostics = sf_asl_validate(VARDATA_ANY(definition),
								  VARSIZE_ANY_EXHDR(definition), sf_probe_resource);
	foreach_ptr(const SfDiagnostic, d, diagnostics)
	{
		SfColumns row = {0};

		sf_columns_text(&row, sf_severity_name(d->severity));
		sf_columns_text(&row, d->code);
		sf_columns_text(&row, d->location);
		sf_columns_text(&row, d->message);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}
