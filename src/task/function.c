/*
 * function.c
 *		sql:schema.function: find the function that fits a payload, and call it.
 *
 * The name is looked up at each call with the owner's rights, as in SQL text:
 * folded to lower case unless quoted, and through the owner's search_path when
 * it has no schema.  Of several functions of that name the one is taken that
 * accepts exactly the keys of the payload with the fewest defaults; two that
 * fit equally well are an error.
 *
 * A call is a saved SPI plan of "SELECT to_jsonb($1)", where a parser hook puts
 * the call of that very function in the place of $1: nothing is quoted, nothing
 * resolved twice, defaults are the planner's business.  There is one plan for
 * each function and set of arguments given, valid as long as the function's
 * row in pg_proc is the same.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "base/compat.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "json/json.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_node.h"
#include "task/sqltask.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

/* The arguments that a call gives, by their place among the inputs */
typedef struct ArgumentSet
{
	uint64		words[(FUNC_MAX_ARGS + 63) / 64];
} ArgumentSet;

typedef struct Parameter
{
	const char *name;			/* NULL: has none */
	Oid			type;
	bool		has_default;
} Parameter;

struct Function;

/* A function with the plan that calls it with a set of arguments */
typedef struct Call
{
	struct Call *next;
	struct Function *function;
	ArgumentSet given;
	SPIPlanPtr	plan;
	SfConverter converter;		/* unused for a whole payload */
	int			ngiven;
	int		   *places;			/* of the given arguments among the inputs */
} Call;

/* What is known of a function, from its row in pg_proc */
typedef struct Function
{
	Oid			oid;			/* hash key */
	MemoryContext context;		/* holds all below; NULL: not read yet */
	TransactionId xmin;			/* of the row that was read … */
	ItemPointerData tid;		/* … and where it was */
	char	   *name;			/* qualified and quoted, for messages */
	char	   *signature;		/* "shop.load(day date, size integer DEFAULT)" */
	char		kind;
	Oid			result_type;
	bool		returns_set;
	bool		variadic;
	bool		whole_payload;	/* one parameter, of type json or jsonb */
	int			nparameters;
	Parameter  *parameters;
	Call	   *calls;
	int			running;
} Function;

static HTAB *functions = NULL;

/* --- what is known of functions --- */

/* Read the input parameters of a function. */
static void
read_parameters(Function *function, HeapTuple tuple)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
	Oid		   *types;
	char	  **names;
	char	   *modes;
	int			n = get_func_arg_info(tuple, &types, &names, &modes);
	int			inputs = 0;

	function->parameters = palloc0(sizeof(Parameter) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		Parameter  *parameter = &function->parameters[inputs];

		if (modes != NULL && (modes[i] == PROARGMODE_OUT || modes[i] == PROARGMODE_TABLE))
			continue;
		parameter->name = names != NULL && names[i][0] != '\0' ? names[i] : NULL;
		parameter->type = types[i];
		parameter->has_default = inputs >= form->pronargs - form->pronargdefaults;
		inputs++;
	}
	function->nparameters = inputs;
	function->whole_payload = inputs == 1 &&
		(function->parameters[0].type == JSONBOID || function->parameters[0].type == JSONOID);
}

/* Print a function with its parameters. */
static char *
print_signature(const Function *function)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "%s(", function->name);
	for (int i = 0; i < function->nparameters; i++)
	{
		const Parameter *parameter = &function->parameters[i];

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

/* Read a function from its row in pg_proc. */
static void
read_function(Function *function, HeapTuple tuple)
{
	Form_pg_proc form = (Form_pg_proc) GETSTRUCT(tuple);
	MemoryContext oldcontext;

	function->context = AllocSetContextCreate(TopMemoryContext, "sfflow function",
											  ALLOCSET_SMALL_SIZES);
	oldcontext = MemoryContextSwitchTo(function->context);
	function->xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);
	function->tid = tuple->t_self;
	function->name = quote_qualified_identifier(get_namespace_name(form->pronamespace),
												NameStr(form->proname));
	function->kind = form->prokind;
	function->result_type = form->prorettype;
	function->returns_set = form->proretset;
	function->variadic = OidIsValid(form->provariadic);
	function->calls = NULL;
	read_parameters(function, tuple);
	function->signature = print_signature(function);
	MemoryContextSwitchTo(oldcontext);
}

/* Forget what is known of a function. */
static void
forget_function(Function *function)
{
	for (Call *call = function->calls; call != NULL; call = call->next)
		if (call->plan != NULL)
			SPI_freeplan(call->plan);
	function->calls = NULL;
	MemoryContextDelete(function->context);
	function->context = NULL;
}

/* Look a function up by OID; what is known of it is as its row says now. */
static Function *
get_function(Oid oid)
{
	HeapTuple	tuple;
	Function   *function;
	bool		found;

	if (functions == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(Function)};

		functions = hash_create("sfflow functions", 64, &ctl, HASH_ELEM | HASH_BLOBS);
	}
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(oid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", oid);
	function = hash_search(functions, &oid, HASH_ENTER, &found);
	if (!found)
	{
		function->context = NULL;
		function->calls = NULL;
		function->running = 0;
	}
	else if (function->context != NULL && function->running == 0 &&
			 (function->xmin != HeapTupleHeaderGetRawXmin(tuple->t_data) ||
			  !ItemPointerEquals(&function->tid, &tuple->t_self)))
		forget_function(function);
	if (function->context == NULL)
		read_function(function, tuple);
	ReleaseSysCache(tuple);
	return function;
}

/* --- which function --- */

/* Tell whether a function has a parameter of some name. */
static bool
has_parameter(const Function *function, const char *name)
{
	for (int i = 0; i < function->nparameters; i++)
		if (function->parameters[i].name != NULL &&
			strcmp(function->parameters[i].name, name) == 0)
			return true;
	return false;
}

/*
 * Find which parameters a payload gives.  Returns the number of defaults that
 * the call would use, or -1 when the payload does not fit.
 */
static int
match_payload(const Function *function, const JsonbValue *payload, ArgumentSet *given)
{
	int			ngiven = 0;

	memset(given, 0, sizeof(*given));
	if (function->kind != PROKIND_FUNCTION)
		return -1;
	if (function->whole_payload)
		return 0;
	if (!sf_json_is_object(payload))
		return -1;
	for (int i = 0; i < function->nparameters; i++)
	{
		const Parameter *parameter = &function->parameters[i];
		JsonbValue	value;

		if (parameter->name != NULL &&
			sf_json_member(payload, parameter->name, strlen(parameter->name), &value))
		{
			given->words[i / 64] |= UINT64CONST(1) << (i % 64);
			ngiven++;
		}
		else if (!parameter->has_default)
			return -1;
	}
	return ngiven == sf_json_count(payload) ? function->nparameters - ngiven : -1;
}

/* The first key of an object that is no parameter of the function, or NULL. */
static char *
unknown_key(const Function *function, const Jsonb *payload)
{
	JsonbIterator *it = JsonbIteratorInit((JsonbContainer *) &payload->root);
	JsonbValue	value;
	JsonbIteratorToken token;

	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		char	   *key;

		if (token != WJB_KEY)
			continue;
		key = pnstrdup(value.val.string.val, value.val.string.len);
		if (!has_parameter(function, key))
			return key;
	}
	return NULL;
}

/* Raise the error that a payload fits a function's parameters not. */
static void
refuse_payload(const Function *function, const Jsonb *payload)
{
	JsonbValue	root;
	char	   *key;

	sf_json_root(payload, &root);
	if (!sf_json_is_object(&root))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("payload of a call of function %s must be an object, not %s",
						function->name, sf_json_type_name(&root)),
				 errdetail("Its members are the arguments of %s.", function->signature)));
	for (int i = 0; i < function->nparameters; i++)
		if (function->parameters[i].name == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_PARAMETER),
					 errmsg("parameter %d of function %s has no name", i + 1, function->name),
					 errdetail("Arguments are passed by name."),
					 errhint("Name the function's parameters, or let it take the payload as one json or jsonb.")));
	key = unknown_key(function, payload);
	if (key != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_PARAMETER),
				 errmsg("function %s has no parameter \"%s\"", function->name, key),
				 errdetail("It is %s.", function->signature),
				 errhint("Choose the arguments with \"Parameters\" (JSONPath) or \"Arguments\" (JSONata) of the state; {} passes none.")));
	for (int i = 0; i < function->nparameters; i++)
	{
		const Parameter *parameter = &function->parameters[i];
		JsonbValue	value;

		if (!parameter->has_default &&
			!sf_json_member(&root, parameter->name, strlen(parameter->name), &value))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_PARAMETER),
					 errmsg("payload lacks \"%s\", which function %s needs",
							parameter->name, function->name),
					 errdetail("It is %s.", function->signature)));
	}
	elog(ERROR, "payload does not fit function %s", function->name);
}

/* Raise an error when a function cannot be a task. */
static void
check_callable(const Function *function, Oid owner)
{
	if (function->kind == PROKIND_PROCEDURE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s is a procedure", function->name),
				 errdetail("A task runs in the transaction that records it, where a procedure cannot commit."),
				 errhint("Write a function, or let a program outside call the procedure as the worker of an activity.")));
	if (function->kind != PROKIND_FUNCTION)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s is no plain function", function->name)));
	if (sf_function_aclcheck(function->oid, owner, ACL_EXECUTE) != ACLCHECK_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function %s", function->name),
				 errdetail("The owner of the state machine, \"%s\", lacks EXECUTE on it.",
						   GetUserNameFromId(owner, false))));
	for (int i = 0; i < function->nparameters; i++)
		if (get_typtype(function->parameters[i].type) == TYPTYPE_PSEUDO)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("parameter %d of function %s is of type %s",
							i + 1, function->name,
							format_type_be(function->parameters[i].type)),
					 errdetail("The type of an argument cannot be inferred from JSON."),
					 errhint("Wrap it in a function whose parameters have definite types.")));
	if (get_typtype(function->result_type) == TYPTYPE_PSEUDO &&
		function->result_type != VOIDOID && function->result_type != RECORDOID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function %s returns %s, which is no value", function->name,
						format_type_be(function->result_type))));
}

/* Raise the error that two functions fit a payload. */
static void
refuse_ambiguity(const Function *a, const Function *b)
{
	ereport(ERROR,
			(errcode(ERRCODE_AMBIGUOUS_FUNCTION),
			 errmsg("function %s is not unique", a->name),
			 errdetail("The payload fits %s and %s.", a->signature, b->signature),
			 errhint("Give one of them another name.")));
}

/* Raise the error that none of several functions fits. */
static void
refuse_all(FuncCandidateList candidates)
{
	StringInfoData buf;
	const char *name = NULL;

	initStringInfo(&buf);
	for (; candidates != NULL; candidates = candidates->next)
	{
		Function   *function = get_function(candidates->oid);

		appendStringInfo(&buf, "%s%s", name != NULL ? ", " : "", function->signature);
		name = function->name;
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION),
			 errmsg("payload fits no function %s", name),
			 errdetail("There are %s.", buf.data)));
}

/* Find the function to call and the arguments that the payload gives. */
static Function *
resolve(const char *text, const Jsonb *payload, Oid owner, ArgumentSet *given)
{
	FuncCandidateList candidates;
	Function   *best = NULL;
	Function   *rival = NULL;
	int			best_defaults = 0;
	JsonbValue	root;

	candidates = FuncnameGetCandidates(sf_qualified_name_list(text), -1, NIL,
									   false, false, false, true);
	if (candidates == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function %s does not exist", text),
				 errdetail("It was looked up with the rights and the search_path of \"%s\".",
						   GetUserNameFromId(owner, false)),
				 errhint("Write it as schema.function, as in SQL.")));
	sf_json_root(payload, &root);
	for (FuncCandidateList c = candidates; c != NULL; c = c->next)
	{
		Function   *function = get_function(c->oid);
		ArgumentSet set;
		int			defaults = match_payload(function, &root, &set);

		if (defaults < 0 || (best != NULL && defaults > best_defaults))
			continue;
		rival = best != NULL && defaults == best_defaults ? best : NULL;
		best = function;
		best_defaults = defaults;
		*given = set;
	}
	if (rival != NULL)
		refuse_ambiguity(rival, best);
	if (best == NULL && candidates->next != NULL)
		refuse_all(candidates);
	if (best == NULL)
		best = get_function(candidates->oid);
	check_callable(best, owner);
	if (candidates->next == NULL && match_payload(best, &root, given) < 0)
		refuse_payload(best, payload);
	return best;
}

/* --- the call --- */

/* Make the expression of a parameter of the plan. */
static Param *
make_param(int number, Oid type)
{
	Param	   *param = makeNode(Param);

	param->paramkind = PARAM_EXTERN;
	param->paramid = number;
	param->paramtype = type;
	param->paramtypmod = -1;
	param->paramcollid = get_typcollation(type);
	param->location = -1;
	return param;
}

/* Parser hook: what stands in the place of $1 is the call of the function. */
static Node *
put_call(ParseState *pstate, ParamRef *pref)
{
	Call	   *call = (Call *) pstate->p_ref_hook_state;
	Function   *function = call->function;
	List	   *args = NIL;
	FuncExpr   *expr;

	for (int i = 0; i < call->ngiven; i++)
	{
		const Parameter *parameter = &function->parameters[call->places[i]];
		NamedArgExpr *arg;

		if (function->whole_payload)
		{
			args = list_make1(make_param(1, parameter->type));
			break;
		}
		arg = makeNode(NamedArgExpr);
		arg->arg = (Expr *) make_param(i + 1, parameter->type);
		arg->name = pstrdup(parameter->name);
		arg->argnumber = call->places[i];
		arg->location = -1;
		args = lappend(args, arg);
	}
	expr = makeFuncExpr(function->oid, function->result_type, args,
						InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	expr->funcretset = function->returns_set;
	expr->funcvariadic = function->variadic;
	if (function->returns_set)
		pstate->p_hasTargetSRFs = true;
	return (Node *) expr;
}

/* Parser setup: have $1 replaced. */
static void
setup_parser(ParseState *pstate, void *arg)
{
	pstate->p_paramref_hook = put_call;
	pstate->p_ref_hook_state = arg;
}

/* Note which parameters are given, and how their members become values. */
static void
init_arguments(Call *call)
{
	Function   *function = call->function;
	const char *names[FUNC_MAX_ARGS];
	Oid			types[FUNC_MAX_ARGS];

	call->places = palloc(sizeof(int) * Max(function->nparameters, 1));
	for (int i = 0; i < function->nparameters; i++)
	{
		if (!function->whole_payload &&
			(call->given.words[i / 64] & (UINT64CONST(1) << (i % 64))) == 0)
			continue;
		names[call->ngiven] = function->parameters[i].name;
		types[call->ngiven] = function->parameters[i].type;
		call->places[call->ngiven++] = i;
	}
	if (!function->whole_payload)
		sf_converter_init(&call->converter, function->context, call->ngiven, names, types);
}

/* Plan the call of a function with a set of arguments, or find the plan. */
static Call *
get_call(Function *function, const ArgumentSet *given)
{
	Call	   *call;
	MemoryContext oldcontext;
	bool		plain;

	for (call = function->calls; call != NULL; call = call->next)
		if (memcmp(&call->given, given, sizeof(*given)) == 0)
			return call;

	oldcontext = MemoryContextSwitchTo(function->context);
	call = palloc0(sizeof(Call));
	call->function = function;
	call->given = *given;
	init_arguments(call);
	MemoryContextSwitchTo(oldcontext);

	plain = function->result_type == VOIDOID || function->result_type == JSONBOID;
	call->plan = SPI_prepare_params(plain ? SF_CALL_PLAIN : SF_CALL_STATEMENT,
									setup_parser, call, CURSOR_OPT_GENERIC_PLAN);
	if (call->plan == NULL)
		elog(ERROR, "SPI_prepare_params failed: %s", SPI_result_code_string(SPI_result));
	if (SPI_keepplan(call->plan) != 0)
		elog(ERROR, "SPI_keepplan failed");
	call->next = function->calls;
	function->calls = call;
	return call;
}

/* The payload as the only argument, of type json or jsonb. */
static ParamListInfo
whole_payload(const Function *function, Jsonb *payload)
{
	ParamListInfo params = makeParamList(1);
	Oid			type = function->parameters[0].type;

	params->params[0].value = type == JSONBOID ? JsonbPGetDatum(payload) :
		PointerGetDatum(cstring_to_text(sf_json_to_cstring(payload)));
	params->params[0].isnull = false;
	params->params[0].pflags = PARAM_FLAG_CONST;
	params->params[0].ptype = type;
	return params;
}

/* Turn the rows of the result into JSON: one value, or an array of a set. */
static Jsonb *
collect_result(const Function *function)
{
	SfJsonBuilder b;

	if (!function->returns_set)
	{
		bool		isnull;
		Datum		value;

		if (SPI_processed != 1)
			elog(ERROR, "function %s gave " UINT64_FORMAT " rows", function->name,
				 SPI_processed);
		value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull);
		return isnull || function->result_type == VOIDOID ? sf_json_null() :
			DatumGetJsonbP(value);
	}
	sf_json_begin_array(&b);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool		isnull;
		Datum		value = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc,
										  1, &isnull);

		if (isnull || function->result_type == VOIDOID)
			sf_json_add_null(&b, NULL);
		else
			sf_json_add(&b, NULL, DatumGetJsonbP(value));
	}
	return sf_json_finish(&b);
}

/* Run the plan of a call. */
static void
execute(Call *call, ParamListInfo params)
{
	SPIExecuteOptions options;
	int			rc;

	memset(&options, 0, sizeof(options));
	options.params = params;
	options.must_return_tuples = true;
	call->function->running++;
	PG_TRY();
	{
		rc = SPI_execute_plan_extended(call->plan, &options);
	}
	PG_FINALLY();
	{
		call->function->running--;
	}
	PG_END_TRY();
	if (rc != SPI_OK_SELECT)
		elog(ERROR, "calling function %s: %s", call->function->name,
			 SPI_result_code_string(rc));
}

/* Error context: which payload could not be turned into arguments. */
static void
converting(void *arg)
{
	errcontext("arguments of %s", ((Function *) arg)->signature);
}

/*
 * Call the function that a task names with the task's payload.  The current
 * user is the owner, SPI is connected; the result is in SPI's memory.
 */
Jsonb *
sf_function_call(const SfTaskCall *task)
{
	ArgumentSet given;
	Function   *function = resolve(task->resource->name, task->payload, task->owner, &given);
	Call	   *call = get_call(function, &given);
	ParamListInfo params;

	if (function->whole_payload)
		params = whole_payload(function, task->payload);
	else
	{
		ErrorContextCallback callback = {.previous = error_context_stack,
			.callback = converting, .arg = function};

		error_context_stack = &callback;
		params = sf_converter_run(&call->converter, task->payload);
		error_context_stack = callback.previous;
	}
	execute(call, params);
	return collect_result(function);
}
