/*
 * jsonata_functions.c
 *		sf_jsonata(): the JSONata language by itself.
 */
#include "postgres.h"

#include "api/sql_arguments.h"
#include "jsonata/jsonata.h"

PG_FUNCTION_INFO_V1(sfflow_sf_jsonata);

/*
 * Raise the error of an expression: the message is that of the reference
 * implementation; the detail has code, position and token.
 */
static void
raise_failure(const SfJsonataFailure *failure)
{
	StringInfoData detail;

	initStringInfo(&detail);
	appendStringInfo(&detail, "Code %s", failure->code);
	if (failure->position >= 0)
		appendStringInfo(&detail, ", position %d", failure->position);
	if (failure->token != NULL)
		appendStringInfo(&detail, ", token \"%s\"", failure->token);
	appendStringInfoChar(&detail, '.');
	ereport(ERROR,
			(errcode(failure->limit ? ERRCODE_SF_EVALUATION_LIMIT :
					 ERRCODE_SF_JSONATA_ERROR),
			 errmsg("%s", failure->message),
			 errdetail_internal("%s", detail.data),
			 failure->hint != NULL ? errhint("%s", failure->hint) : 0));
}

/* Evaluate a JSONata expression over JSON text; NULL where it is undefined. */
Datum
sfflow_sf_jsonata(PG_FUNCTION_ARGS)
{
	SfJsonataFailure failure;
	SfCompiled *compiled;
	text	   *result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	compiled = sf_arg_compiled(fcinfo, 0);
	if (compiled->result == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(compiled->context);

		compiled->result = sf_jsonata_prepare(VARDATA_ANY(compiled->source),
											  (int) VARSIZE_ANY_EXHDR(compiled->source), &failure);
		MemoryContextSwitchTo(old);
		if (compiled->result == NULL)
			raise_failure(&failure);
	}
	if (!sf_jsonata_query(compiled->result,
						  PG_ARGISNULL(1) ? NULL : PG_GETARG_TEXT_PP(1),
						  PG_ARGISNULL(2) ? NULL : PG_GETARG_TEXT_PP(2),
						  &result, &failure))
		raise_failure(&failure);
	if (result == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(result);
}
