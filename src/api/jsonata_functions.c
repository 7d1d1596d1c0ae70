/*
 * jsonata_functions.c
 *		sf_jsonata(): the JSONata language by itself.
 */
#include "postgres.h"

#include "jsonata/jsonata.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(sfflow_sf_jsonata);

/* The expression that a call site compiled last */
typedef struct CachedJsonata
{
	MemoryContext context;		/* of expr and text */
	SfJsonata  *expr;
	text	   *text;
} CachedJsonata;

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

/* Compile an expression, unless it is the one of the call before. */
static SfJsonata *
compile_cached(FunctionCallInfo fcinfo, text *expression)
{
	CachedJsonata *cache = fcinfo->flinfo->fn_extra;
	MemoryContext old;
	SfJsonataFailure failure;
	Size		size = VARSIZE_ANY_EXHDR(expression);

	if (cache == NULL)
	{
		cache = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(CachedJsonata));
		/* lives as long as the call site */
		cache->context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt,
											   "sfflow JSONata of a call",
											   ALLOCSET_SMALL_SIZES);
		fcinfo->flinfo->fn_extra = cache;
	}
	if (cache->expr != NULL && VARSIZE_ANY_EXHDR(cache->text) == size &&
		memcmp(VARDATA_ANY(cache->text), VARDATA_ANY(expression), size) == 0)
		return cache->expr;

	cache->expr = NULL;
	MemoryContextReset(cache->context);
	old = MemoryContextSwitchTo(cache->context);
	cache->text = cstring_to_text_with_len(VARDATA_ANY(expression), (int) size);
	cache->expr = sf_jsonata_prepare(VARDATA_ANY(cache->text), (int) size, &failure);
	MemoryContextSwitchTo(old);
	if (cache->expr == NULL)
		raise_failure(&failure);
	return cache->expr;
}

/* Evaluate a JSONata expression over JSON text; NULL where it is undefined. */
Datum
sfflow_sf_jsonata(PG_FUNCTION_ARGS)
{
	SfJsonataFailure failure;
	SfJsonata  *expr;
	text	   *result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	expr = compile_cached(fcinfo, PG_GETARG_TEXT_PP(0));
	if (!sf_jsonata_query(expr,
						  PG_ARGISNULL(1) ? NULL : PG_GETARG_TEXT_PP(1),
						  PG_ARGISNULL(2) ? NULL : PG_GETARG_TEXT_PP(2),
						  &result, &failure))
		raise_failure(&failure);
	if (result == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(result);
}
