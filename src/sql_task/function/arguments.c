/*
 * arguments.c
 *		Members of a JSON object as values of SQL types.
 *
 * jsonb_to_record does the work, so a member becomes what it would become
 * there: scalars go through their text, arrays and composites member by
 * member, null is SQL's null.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "nodes/execnodes.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "sql_task/sql_task_internal.h"

/*
 * Tell whether what jsonb_to_record remembers about a type stays true: rows
 * can be altered, and it would not notice.
 */
static bool
is_lasting_type(Oid type)
{
	Oid			element;

	type = getBaseType(type);
	element = get_base_element_type(type);
	if (OidIsValid(element))
		type = getBaseType(element);
	return !type_is_rowtype(type);
}

/*
 * Prepare to turn members of an object into values: n names, and the type
 * that each is to have.  All of it lives in a context.
 */
void
sf_converter_init(SfConverter *converter, MemoryContext context,
				  int n, const char *const *names, const Oid *types)
{
	MemoryContext oldcontext = MemoryContextSwitchTo(context);

	converter->lasting = true;
	converter->desc = CreateTemplateTupleDesc(n);
	for (int i = 0; i < n; i++)
	{
		TupleDescInitEntry(converter->desc, (AttrNumber) (i + 1), names[i],
						   types[i], -1, 0);
		if (!is_lasting_type(types[i]))
			converter->lasting = false;
	}
	converter->cache = AllocSetContextCreate(context, "sfflow argument types",
											 ALLOCSET_SMALL_SIZES);
	fmgr_info_cxt(F_JSONB_TO_RECORD, &converter->flinfo, converter->cache);
	converter->running = false;
	MemoryContextSwitchTo(oldcontext);
}

/* Call jsonb_to_record, which takes the types wanted from the descriptor. */
static HeapTupleHeader
call_to_record(FmgrInfo *flinfo, TupleDesc desc, Jsonb *object)
{
	LOCAL_FCINFO(fcinfo, 1);
	ReturnSetInfo rsinfo;
	Datum		row;

	memset(&rsinfo, 0, sizeof(rsinfo));
	rsinfo.type = T_ReturnSetInfo;
	rsinfo.expectedDesc = desc;
	rsinfo.allowedModes = SFRM_ValuePerCall;
	rsinfo.returnMode = SFRM_ValuePerCall;
	InitFunctionCallInfoData(*fcinfo, flinfo, 1, InvalidOid, NULL, (Node *) &rsinfo);
	fcinfo->args[0].value = JsonbPGetDatum(object);
	fcinfo->args[0].isnull = false;
	row = FunctionCallInvoke(fcinfo);
	if (fcinfo->isnull)
		elog(ERROR, "jsonb_to_record returned null");
	return DatumGetHeapTupleHeader(row);
}

/*
 * The same with what earlier calls found out about the types.  An error may
 * leave that half done: it is forgotten.
 */
static HeapTupleHeader
call_remembering(SfConverter *converter, Jsonb *object)
{
	HeapTupleHeader row;

	converter->running = true;
	PG_TRY();
	{
		row = call_to_record(&converter->flinfo, converter->desc, object);
	}
	PG_CATCH();
	{
		converter->running = false;
		converter->flinfo.fn_extra = NULL;
		MemoryContextReset(converter->cache);
		PG_RE_THROW();
	}
	PG_END_TRY();
	converter->running = false;
	return row;
}

/*
 * Convert the members of an object; the result, in CurrentMemoryContext, has
 * one parameter for each name.
 */
ParamListInfo
sf_converter_run(SfConverter *converter, Jsonb *object)
{
	int			n = converter->desc->natts;
	ParamListInfo params = makeParamList(n);
	HeapTupleHeader row;
	HeapTupleData tuple;
	Datum	   *values;
	bool	   *nulls;

	if (n == 0)
		return params;

	if (converter->lasting && !converter->running)
		row = call_remembering(converter, object);
	else
	{
		FmgrInfo	flinfo;

		fmgr_info(F_JSONB_TO_RECORD, &flinfo);
		row = call_to_record(&flinfo, converter->desc, object);
	}

	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = row;
	values = palloc(n * sizeof(Datum));
	nulls = palloc(n * sizeof(bool));
	heap_deform_tuple(&tuple, converter->desc, values, nulls);
	for (int i = 0; i < n; i++)
	{
		params->params[i].value = values[i];
		params->params[i].isnull = nulls[i];
		params->params[i].pflags = PARAM_FLAG_CONST;
		params->params[i].ptype = TupleDescAttr(converter->desc, i)->atttypid;
	}
	return params;
}
