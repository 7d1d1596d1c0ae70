/*
 * function.h
 *		A function that can be a task: what is known of it, and how to call it.
 */
#ifndef SF_SQL_TASK_FUNCTION_H
#define SF_SQL_TASK_FUNCTION_H

#include "executor/spi.h"
#include "lib/ilist.h"
#include "storage/itemptr.h"

#include "base/name/name.h"
#include "sql_task/sql_task_internal.h"

/* The arguments that a call gives, by their index among the inputs */
typedef struct SfArgumentSet
{
	uint64		words[(FUNC_MAX_ARGS + 63) / 64];
} SfArgumentSet;

typedef struct SfParameter
{
	const char *name;			/* NULL: has none */
	Oid			type;
	bool		has_default;
} SfParameter;

struct SfFunction;

/* A function with the plan that calls it with a set of arguments */
typedef struct SfFunctionCall
{
	dlist_node	of_function;	/* in the function's calls */
	dlist_node	recent;			/* in those of all functions, the one used last first */
	MemoryContext context;		/* holds all of it but the plan */
	struct SfFunction *function;
	SfArgumentSet given;
	SPIPlanPtr	plan;
	SfConverter converter;		/* unused for a whole payload */
	int			ngiven;
	int		   *indexes;		/* of the given arguments among the inputs */
} SfFunctionCall;

/* How a function takes the payload of its task */
typedef enum SfTakes
{
	SF_TAKES_MEMBERS,			/* each member is a parameter, by name */
	SF_TAKES_PAYLOAD,			/* as a whole: its one parameter is of type json or jsonb */
	SF_TAKES_RESOURCE			/* (payload jsonb, resource text): in place of another resource, with the name of that
								 * one; by itself, as MEMBERS */
} SfTakes;

/* What is known of a function, from its row in pg_proc */
typedef struct SfFunction
{
	Oid			oid;			/* hash key */
	dlist_node	recent;			/* the one used last first */
	dlist_head	calls;			/* SfFunctionCall */
	int			running;		/* calls that go on: nothing is forgotten */
	MemoryContext context;		/* holds all below; NULL: not read yet */
	TransactionId xmin;			/* of the row that was read … */
	ItemPointerData tid;		/* … and where it was */
	char	   *name;			/* qualified and quoted, for messages */
	char	   *signature;		/* "shop.load(day date, size integer DEFAULT)" */
	char		kind;
	Oid			result_type;
	bool		returns_set;
	bool		variadic;
	SfTakes takes;
	int			nparameters;
	SfParameter *parameters;
} SfFunction;

/* What a name is to the current user */
typedef enum SfFunctionAccess
{
	SF_FUNCTION_CALLABLE,
	SF_FUNCTION_FORBIDDEN,		/* there is one, but without EXECUTE */
	SF_FUNCTION_MISSING			/* or in a schema without USAGE */
} SfFunctionAccess;

extern SfFunctionAccess sf_function_access(const char *name, SfClosest *closest);
extern SfFunction *sf_function_resolve(const SfResource *resource, const Jsonb *payload,
									   Oid owner, SfArgumentSet *given);

extern SfFunction *sf_function_get(Oid oid);
extern SfFunctionCall *sf_function_find_call(SfFunction *function, const SfArgumentSet *given);
extern void sf_function_cache_call(SfFunctionCall *call);
extern void sf_function_make_room(void);

/* Tell whether a parameter has some name. */
static inline bool
sf_parameter_is_named(const SfParameter *parameter, const char *name)
{
	return parameter->name != NULL && strcmp(parameter->name, name) == 0;
}

/* Whether parameter n of the inputs is given. */
static inline bool
sf_function_is_given(const SfArgumentSet *given, int n)
{
	return (given->words[n / 64] & (UINT64CONST(1) << (n % 64))) != 0;
}

#endif							/* SF_SQL_TASK_FUNCTION_H */
