/*
 * function.c
 *		sql:schema.function: find the function that fits a payload.
 *
 * The name is looked up at each call with the owner's rights, as in SQL text:
 * folded to lower case unless quoted, and through the owner's search_path when
 * it has no schema.  Of several functions of that name the one is taken that
 * accepts exactly the keys of the payload with the fewest defaults; two that
 * fit equally well are an error.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"

#include "base/version/compat.h"
#include "json/json.h"
#include "sql_task/function/function.h"

/* Tell whether a function has a parameter of some name. */
static bool
has_parameter(const SfFunction *function, const char *name)
{
	for (int i = 0; i < function->nparameters; i++)
		if (sf_parameter_is_named(&function->parameters[i], name))
			return true;
	return false;
}

/*
 * Find which parameters a payload gives; mapped: the function runs in place of
 * another resource, whose name it may take.  Of functions with one name the one
 * with the least distance is called: 0 for one that takes that name, else one more
 * than the number of defaults that the call would use.  False: the payload does not fit.
 */
static bool
match_payload(const SfFunction *function, const JsonbValue *payload, bool mapped,
			  SfArgumentSet *given, int *distance)
{
	int			ngiven = 0;

	memset(given, 0, sizeof(*given));
	*distance = 1;
	if (function->kind != PROKIND_FUNCTION)
		return false;
	if (function->takes == SF_TAKES_PAYLOAD)
		return true;
	if (mapped && function->takes == SF_TAKES_RESOURCE)
	{
		given->words[0] = 3;	/* both parameters */
		*distance = 0;
		return true;
	}
	if (!sf_json_is_object(payload))
		return false;
	for (int i = 0; i < function->nparameters; i++)
	{
		const SfParameter *parameter = &function->parameters[i];
		JsonbValue	value;

		if (parameter->name != NULL &&
			sf_json_member(payload, parameter->name, strlen(parameter->name), &value))
		{
			given->words[i / 64] |= UINT64CONST(1) << (i % 64);
			ngiven++;
		}
		else if (!parameter->has_default)
			return false;
	}
	*distance = 1 + function->nparameters - ngiven;
	return ngiven == sf_json_count(payload);
}

/* The first key of an object that is no parameter of the function, or NULL. */
static char *
unknown_key(const SfFunction *function, const Jsonb *payload)
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
refuse_payload(const SfFunction *function, const Jsonb *payload)
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
		const SfParameter *parameter = &function->parameters[i];
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
check_callable(const SfFunction *function, Oid owner)
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
refuse_ambiguity(const SfFunction *a, const SfFunction *b)
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
		SfFunction   *function = sf_function_get(candidates->oid);

		appendStringInfo(&buf, "%s%s", name != NULL ? ", " : "", function->signature);
		name = function->name;
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION),
			 errmsg("payload fits no function %s", name),
			 errdetail("There are %s.", buf.data)));
}

/*
 * Find the function that a resource names and a payload fits, with the rights of
 * the current user (the owner), and which parameters the payload gives.  Raises
 * errors that say what does not fit.
 */
SfFunction *
sf_function_resolve(const SfResource *resource, const Jsonb *payload, Oid owner,
					SfArgumentSet *given)
{
	const char *text = resource->name;
	bool		mapped = resource->requested != NULL;
	FuncCandidateList candidates;
	SfFunction   *best = NULL;
	SfFunction   *rival = NULL;
	int			least_distance = 0;
	JsonbValue	root;

	candidates = FuncnameGetCandidates(sf_qualified_name_list(text), -1, NIL,
									   false, false, false, true SF_CANDIDATES_EXTRA_ARG);
	if (candidates == NULL)
	{
		SfClosest	closest;

		(void) sf_function_access(text, &closest);
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function %s does not exist", text),
				 errdetail("It was looked up with the rights and the search_path of \"%s\".",
						   GetUserNameFromId(owner, false)),
				 sf_closest_errhint(&closest, "Write it as schema.function, as in SQL.")));
	}
	sf_json_root(payload, &root);
	for (FuncCandidateList c = candidates; c != NULL; c = c->next)
	{
		SfFunction   *function = sf_function_get(c->oid);
		SfArgumentSet set;
		int			distance;

		if (!match_payload(function, &root, mapped, &set, &distance) ||
			(best != NULL && distance > least_distance))
			continue;
		rival = best != NULL && distance == least_distance ? best : NULL;
		best = function;
		least_distance = distance;
		*given = set;
	}
	if (rival != NULL)
		refuse_ambiguity(rival, best);
	if (best == NULL && candidates->next != NULL)
		refuse_all(candidates);
	if (best == NULL)
		best = sf_function_get(candidates->oid);
	check_callable(best, owner);
	if (candidates->next == NULL && !match_payload(best, &root, mapped, given, &least_distance))
		refuse_payload(best, payload);
	return best;
}
