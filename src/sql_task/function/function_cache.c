/*
 * function_cache.c
 *		What a session knows of functions that are tasks, and the plans that call them.
 *
 * What is known of a function is valid as long as its row in pg_proc is the same.  There
 * is one plan for each set of arguments that a call has given.  Both are kept in the order
 * of their last use, and the ones used longest ago go when there are too many: a
 * worker lives long, and its owners make and drop functions.  Nothing goes while the
 * function runs.  A lookup holds all functions of one name, so room is made between
 * tasks only.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "lib/ilist.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "sql_task/function/function.h"

/* Functions and plans that a session keeps */
#define MAX_FUNCTIONS	512
#define MAX_CALLS		512

/* Functions by OID, and all in the order of their last use, as are the plans */
static HTAB *functions = NULL;
static dlist_head recent = DLIST_STATIC_INIT(recent);
static dlist_head recent_calls = DLIST_STATIC_INIT(recent_calls);
static int	nfunctions = 0;
static int	ncalls = 0;

/* Tell whether a parameter takes JSON. */
static bool
is_json(const SfParameter *parameter)
{
	return parameter->type == JSONBOID || parameter->type == JSONOID;
}

/* Read the input parameters of a function. */
static void
read_parameters(SfFunction *function, HeapTuple tuple)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
	Oid		   *types;
	char	  **names;
	char	   *modes;
	int			n = get_func_arg_info(tuple, &types, &names, &modes);
	int			inputs = 0;

	function->parameters = palloc0(sizeof(SfParameter) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		SfParameter  *parameter = &function->parameters[inputs];

		if (modes != NULL && (modes[i] == PROARGMODE_OUT || modes[i] == PROARGMODE_TABLE))
			continue;
		parameter->name = names != NULL && names[i][0] != '\0' ? names[i] : NULL;
		parameter->type = types[i];
		parameter->has_default = inputs >= form->pronargs - form->pronargdefaults;
		inputs++;
	}
	function->nparameters = inputs;
	if (inputs == 1 && is_json(&function->parameters[0]))
		function->takes = SF_TAKES_PAYLOAD;
	else if (inputs == 2 && is_json(&function->parameters[0]) &&
			 sf_parameter_is_named(&function->parameters[0], "payload") &&
			 function->parameters[1].type == TEXTOID &&
			 sf_parameter_is_named(&function->parameters[1], "resource"))
		function->takes = SF_TAKES_RESOURCE;
	else
		function->takes = SF_TAKES_MEMBERS;
}

/* Print a function with its parameters. */
static char *
print_signature(const SfFunction *function)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "%s(", function->name);
	for (int i = 0; i < function->nparameters; i++)
	{
		const SfParameter *parameter = &function->parameters[i];

		appendStringInfoString(&buf, i > 0 ? ", " : "");
		if (parameter->name != NULL)
			appendStringInfo(&buf, "%s ", quote_identifier(parameter->name));
		appendStringInfoString(&buf, format_type_be(parameter->type));
		if (parameter->has_default)
			appendStringInfoString(&buf, " DEFAULT");
	}
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

/*
 * Read a function from its row in pg_proc.  After an error nothing is known of it, and
 * what was read goes away with the current memory context.
 */
static void
read_function(SfFunction *function, HeapTuple tuple)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "sfflow function",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext oldcontext = MemoryContextSwitchTo(context);

	function->xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);
	function->tid = tuple->t_self;
	function->name = quote_qualified_identifier(get_namespace_name(form->pronamespace),
												NameStr(form->proname));
	function->kind = form->prokind;
	function->result_type = form->prorettype;
	function->returns_set = form->proretset;
	function->variadic = OidIsValid(form->provariadic);
	read_parameters(function, tuple);
	function->signature = print_signature(function);
	MemoryContextSwitchTo(oldcontext);
	MemoryContextSetParent(context, TopMemoryContext);
	function->context = context;
}

/* Drop a plan. */
static void
drop_call(SfFunctionCall *call)
{
	dlist_delete(&call->of_function);
	dlist_delete(&call->recent);
	ncalls--;
	SPI_freeplan(call->plan);
	MemoryContextDelete(call->context);
}

/* Forget what is known of a function. */
static void
forget_function(SfFunction *function)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &function->calls)
		drop_call(dlist_container(SfFunctionCall, of_function, iter.cur));
	if (function->context != NULL)
		MemoryContextDelete(function->context);
	function->context = NULL;
}

/* Find the entry of a function, or make an empty one. */
static SfFunction *
get_entry(Oid oid)
{
	SfFunction *function;
	bool		found;

	if (functions == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(Oid),.entrysize = sizeof(SfFunction)};

		functions = hash_create("sfflow functions", 64, &ctl, HASH_ELEM | HASH_BLOBS);
	}
	function = hash_search(functions, &oid, HASH_ENTER, &found);
	if (found)
	{
		dlist_move_head(&recent, &function->recent);
		return function;
	}
	function->context = NULL;
	function->running = 0;
	dlist_init(&function->calls);
	dlist_push_head(&recent, &function->recent);
	nfunctions++;
	return function;
}

/* Look a function up by OID; what is known of it is as its row says now. */
SfFunction *
sf_function_get(Oid oid)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(oid));
	SfFunction *function;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", oid);
	function = get_entry(oid);
	if (function->context != NULL && function->running == 0 &&
		(function->xmin != HeapTupleHeaderGetRawXmin(tuple->t_data) ||
		 !ItemPointerEquals(&function->tid, &tuple->t_self)))
		forget_function(function);
	if (function->context == NULL)
		read_function(function, tuple);
	ReleaseSysCache(tuple);
	return function;
}

/* Find the plan of a function for a set of arguments; NULL: there is none. */
SfFunctionCall *
sf_function_find_call(SfFunction *function, const SfArgumentSet *given)
{
	dlist_iter	iter;

	dlist_foreach(iter, &function->calls)
	{
		SfFunctionCall *call = dlist_container(SfFunctionCall, of_function, iter.cur);

		if (memcmp(&call->given, given, sizeof(*given)) != 0)
			continue;
		dlist_move_head(&function->calls, &call->of_function);
		dlist_move_head(&recent_calls, &call->recent);
		return call;
	}
	return NULL;
}

/* Keep a plan that is complete, and its memory. */
void
sf_function_cache_call(SfFunctionCall *call)
{
	if (SPI_keepplan(call->plan) != 0)
		elog(ERROR, "SPI_keepplan failed");
	MemoryContextSetParent(call->context, TopMemoryContext);
	dlist_push_head(&call->function->calls, &call->of_function);
	dlist_push_head(&recent_calls, &call->recent);
	ncalls++;
}

/* Find the entry that was used next after another one of a list; NULL: there is none. */
static dlist_node *
used_later(dlist_head *list, dlist_node *node)
{
	return dlist_has_prev(list, node) ? dlist_prev_node(list, node) : NULL;
}

/* Drop the functions and plans that were used longest ago, if there are too many; none of a function that runs. */
void
sf_function_make_room(void)
{
	dlist_node *node = ncalls > MAX_CALLS ? dlist_tail_node(&recent_calls) : NULL;

	while (node != NULL && ncalls > MAX_CALLS)
	{
		SfFunctionCall *call = dlist_container(SfFunctionCall, recent, node);

		node = used_later(&recent_calls, node);
		if (call->function->running == 0)
			drop_call(call);
	}
	node = nfunctions > MAX_FUNCTIONS ? dlist_tail_node(&recent) : NULL;
	while (node != NULL && nfunctions > MAX_FUNCTIONS)
	{
		SfFunction *function = dlist_container(SfFunction, recent, node);

		node = used_later(&recent, node);
		if (function->running > 0)
			continue;
		forget_function(function);
		dlist_delete(&function->recent);
		nfunctions--;
		(void) hash_search(functions, &function->oid, HASH_REMOVE, NULL);
	}
}
