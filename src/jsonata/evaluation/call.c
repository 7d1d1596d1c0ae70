/*
 * call.c
 *		Calls: lambdas, natives, partial application, chaining.
 *
 * If a lambda's body ends in a call, the lambda returns a thunk, which is a
 * lambda that holds the call.  The loop in sf_jn_apply() runs thunks until one
 * returns a value, so that tail recursion needs no stack.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "jsonata/evaluation/eval.h"
#include "jsonata/regex/regex.h"

/* Make a closure of a lambda. */
SfJnValue *
sf_jn_eval_lambda(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *value = sf_jn_function_value(&ev->arena, SF_JN_FUNCTION_LAMBDA);
	SfJnFunction *function = value->u.function;
	SfJnName   *params = sf_jn_alloc(&ev->arena, (node->items.n + 1) * sizeof(SfJnName));

	for (int i = 0; i < node->items.n; i++)
		params[i] = node->items.at[i]->name;
	function->params = params;
	function->nparams = node->items.n;
	function->node = node->rhs;
	function->env = env;
	function->input = input;
	function->signature = node->signature;
	function->thunk = node->thunk;
	return value;
}

/* Tell how many arguments a function takes. */
int
sf_jn_arity(const SfJnValue *function)
{
	const SfJnFunction *f = function->u.function;

	switch (f->kind)
	{
		case SF_JN_FUNCTION_NATIVE:
			return f->native->arity;
		case SF_JN_FUNCTION_REGEX:
			return 2;
		case SF_JN_FUNCTION_NEXT:
			return 0;
		case SF_JN_FUNCTION_TRANSFORM:
		case SF_JN_FUNCTION_COMPOSE:
			return 1;
		case SF_JN_FUNCTION_LAMBDA:
		case SF_JN_FUNCTION_PARTIAL:
			break;
	}
	return f->nparams;
}

/* Call a native with room for the arguments that were not given. */
static SfJnValue *
call_native(SfJnEval *ev, const SfJnNative *native, SfJnValue **args, int nargs,
			SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *padded[SF_JN_MAX_ARGS];
	SfJnValue  *outer_focus = ev->focus;
	SfJnFrame  *outer_env = ev->focus_env;
	SfJnValue  *result;
	int			i;

	if (nargs < SF_JN_MAX_ARGS)
	{
		memset(padded, 0, sizeof(padded));
		if (nargs > 0)
			memcpy(padded, args, nargs * sizeof(SfJnValue *));
		args = padded;
	}
	for (i = 0; i < native->given && args[i] != NULL; i++)
		;
	ev->focus = input;
	ev->focus_env = env;
	result = i < native->given ? NULL : native->function(ev, args, nargs);
	ev->focus = outer_focus;
	ev->focus_env = outer_env;
	return result;
}

/* Evaluate the body of a lambda with its parameters bound. */
static SfJnValue *
call_lambda(SfJnEval *ev, const SfJnFunction *function, SfJnValue **args, int nargs)
{
	SfJnFrame  *frame = sf_jn_frame(ev, function->env);

	for (int i = 0; i < function->nparams; i++)
	{
		sf_jn_check(ev);
		sf_jn_bind(ev, frame, &function->params[i], i < nargs ? args[i] : NULL);
	}
	return sf_jn_eval(ev, function->node, function->input, frame);
}

/* Call a native that was partially applied: fill the holes in order. */
static SfJnValue *
call_partial(SfJnEval *ev, const SfJnFunction *function, SfJnValue **args, int nargs,
			 SfJnValue *input, SfJnFrame *env)
{
	SfJnValue **all = sf_jn_alloc(&ev->arena, (function->nbound + 1) * sizeof(SfJnValue *));
	int			n = 0;			/* up to the last that was given, undefined or not */
	int			used = 0;

	for (int i = 0; i < function->nbound; i++)
	{
		bool		given = !function->hole[i] || used < nargs;

		all[i] = !given ? NULL : function->hole[i] ? args[used] : function->bound[i];
		used += function->hole[i];
		if (given)
			n = i + 1;
	}
	n = sf_jn_signature_validate(ev, function->signature, all, n, input, &all);
	return call_native(ev, function->native, all, n, input, env);
}

/* Check the arguments and call, without running thunks. */
static SfJnValue *
apply_once(SfJnEval *ev, SfJnValue *function, SfJnValue **args, int nargs,
		   SfJnValue *input, SfJnFrame *env)
{
	const SfJnFunction *f;
	const SfJnSignature *signature;
	SfJnValue  *value;

	if (!SF_JN_IS_FUNCTION(function))
		sf_jn_fail(ev, SF_JN_ERROR_T1006);
	f = function->u.function;
	signature = f->kind == SF_JN_FUNCTION_PARTIAL ? NULL : f->signature;
	if (signature != NULL)
		nargs = sf_jn_signature_validate(ev, signature, args, nargs, input, &args);

	switch (f->kind)
	{
		case SF_JN_FUNCTION_NATIVE:
			return call_native(ev, f->native, args, nargs, input, env);
		case SF_JN_FUNCTION_LAMBDA:
			return call_lambda(ev, f, args, nargs);
		case SF_JN_FUNCTION_PARTIAL:
			return call_partial(ev, f, args, nargs, input, env);
		case SF_JN_FUNCTION_REGEX:
		case SF_JN_FUNCTION_NEXT:
			return sf_jn_regex_apply(ev, f, args, nargs);
		case SF_JN_FUNCTION_TRANSFORM:
			return sf_jn_apply_transform(ev, f, nargs > 0 ? args[0] : NULL);
		case SF_JN_FUNCTION_COMPOSE:
			value = sf_jn_apply(ev, f->first, args, Min(nargs, 1), input, env);
			return sf_jn_apply(ev, f->second, &value, 1, input, env);
	}
	return NULL;
}

/* Call a function and run the tail calls that it returns. */
SfJnValue *
sf_jn_apply(SfJnEval *ev, SfJnValue *function, SfJnValue **args, int nargs,
			SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *result;

	if (stack_is_too_deep())
		sf_jn_fail(ev, SF_JN_ERROR_U1001);
	result = apply_once(ev, function, args, nargs, input, env);
	while (SF_JN_IS_FUNCTION(result) && result->u.function->thunk)
	{
		const SfJnFunction *thunk = result->u.function;
		const SfJnNode *call = thunk->node;
		SfJnValue  *next = sf_jn_eval(ev, call->lhs, thunk->input, thunk->env);
		SfJnValue **next_args = sf_jn_alloc(&ev->arena,
											(call->items.n + 1) * sizeof(SfJnValue *));

		sf_jn_check(ev);
		for (int i = 0; i < call->items.n; i++)
			next_args[i] = sf_jn_eval(ev, call->items.at[i], thunk->input, thunk->env);
		if (ev->call != NULL && call->lhs->type == SF_JN_NODE_VARIABLE)
		{
			ev->call->token = call->lhs->name.str;
			ev->call->token_len = call->lhs->name.len;
		}
		result = apply_once(ev, next, next_args, call->items.n, thunk->input, thunk->env);
	}
	return result;
}

/* Call a function of a higher-order one with as many arguments as it takes. */
SfJnValue *
sf_jn_call_back(SfJnEval *ev, SfJnValue *function, SfJnValue *a, SfJnValue *b,
				SfJnValue *c)
{
	SfJnValue  *args[3] = {a, b, c};
	int			arity = sf_jn_arity(function);

	sf_jn_check(ev);
	return sf_jn_apply(ev, function, args, arity < 2 ? 1 : Min(arity, 3), NULL,
					   ev->focus_env);
}

/* Tell the token by which errors name a procedure. */
static void
name_call(const SfJnNode *procedure, SfJnCall *call)
{
	const SfJnNode *node = procedure;

	if (node->type == SF_JN_NODE_PATH)
		node = node->items.at[0];
	switch (node->type)
	{
		case SF_JN_NODE_NAME:
		case SF_JN_NODE_VARIABLE:
		case SF_JN_NODE_STRING:
		case SF_JN_NODE_WILDCARD:
		case SF_JN_NODE_DESCENDANT:
			call->token = node->name.str;
			call->token_len = node->name.len;
			break;
		case SF_JN_NODE_FUNCTION:
		case SF_JN_NODE_PARTIAL:
			call->token = "(";
			call->token_len = 1;
			break;
		default:
			call->token = NULL;
			call->token_len = 0;
			break;
	}
}

/* Throw an error when a procedure is a name without $ and $name exists. */
static void
check_forgotten_dollar(SfJnEval *ev, const SfJnNode *node, SfJnErrorCode code,
					   SfJnFrame *env)
{
	const SfJnNode *first;

	if (node->lhs->type != SF_JN_NODE_PATH)
		return;
	first = node->lhs->items.at[0];
	if (first->name.str != NULL && sf_jn_lookup(ev, env, &first->name) != NULL)
		sf_jn_fail_at(ev, node->position, code, .token = first->name.str,
					  .token_len = first->name.len);
}

/*
 * Call a function that errors name by its expression, procedure, and position at
 * a position.
 */
static SfJnValue *
apply_named(SfJnEval *ev, const SfJnNode *procedure, int position,
			SfJnValue *function, SfJnValue **args, int nargs,
			SfJnValue *input, SfJnFrame *env)
{
	SfJnCall	call;
	SfJnCall   *outer_call = ev->call;
	SfJnCall   *outermost = ev->outermost;
	SfJnValue  *result;

	name_call(procedure, &call);
	call.position = position;
	ev->call = &call;
	if (outermost == NULL)
		ev->outermost = &call;
	result = sf_jn_apply(ev, function, args, nargs, input, env);
	ev->call = outer_call;
	ev->outermost = outermost;
	return result;
}

/* Evaluate a call; piped is the argument that ~> puts first, or NULL. */
SfJnValue *
sf_jn_eval_call(SfJnEval *ev, const SfJnNode *node, SfJnValue *input,
				SfJnFrame *env, SfJnValue **piped)
{
	SfJnValue  *procedure = sf_jn_eval(ev, node->lhs, input, env);
	SfJnValue  *few[SF_JN_MAX_ARGS];
	SfJnValue **args = few;
	int			nargs = 0;

	if (procedure == NULL)
		check_forgotten_dollar(ev, node, SF_JN_ERROR_T1005, env);
	if (node->items.n + 1 > SF_JN_MAX_ARGS)
		args = sf_jn_alloc(&ev->arena, (node->items.n + 1) * sizeof(SfJnValue *));
	if (piped != NULL)
		args[nargs++] = *piped;
	for (int i = 0; i < node->items.n; i++)
		args[nargs++] = sf_jn_eval(ev, node->items.at[i], input, env);
	return apply_named(ev, node->lhs, node->position, procedure, args, nargs,
					   input, env);
}

/* Bind some arguments of a lambda. */
static SfJnValue *
bind_lambda(SfJnEval *ev, const SfJnFunction *function, SfJnValue **args,
			const SfJnNodeList *items)
{
	SfJnValue  *value = sf_jn_function_value(&ev->arena, SF_JN_FUNCTION_LAMBDA);
	SfJnFunction *g = value->u.function;
	SfJnName   *params = sf_jn_alloc(&ev->arena, (function->nparams + 1) * sizeof(SfJnName));

	g->env = sf_jn_frame(ev, function->env);
	g->input = function->input;
	g->node = function->node;
	g->params = params;
	for (int i = 0; i < function->nparams; i++)
	{
		sf_jn_check(ev);
		if (i < items->n && items->at[i]->type == SF_JN_NODE_PLACEHOLDER)
			params[g->nparams++] = function->params[i];
		else
			sf_jn_bind(ev, g->env, &function->params[i], i < items->n ? args[i] : NULL);
	}
	return value;
}

/*
 * Bind some arguments of a function in C, or more of those that a partial
 * application left open.
 */
static SfJnValue *
bind_native(SfJnEval *ev, const SfJnFunction *function, SfJnValue **args,
			const SfJnNodeList *items)
{
	bool		is_partial = function->kind == SF_JN_FUNCTION_PARTIAL;
	int			n = is_partial ? function->nbound : Max(function->native->arity, items->n);
	SfJnValue  *value = sf_jn_function_value(&ev->arena, SF_JN_FUNCTION_PARTIAL);
	SfJnFunction *g = value->u.function;
	int			used = 0;

	g->native = function->native;
	g->signature = function->signature;
	g->nbound = n;
	g->bound = sf_jn_alloc(&ev->arena, (n + 1) * sizeof(SfJnValue *));
	g->hole = sf_jn_alloc(&ev->arena, n + 1);
	for (int i = 0; i < n; i++)
	{
		g->hole[i] = false;
		if (is_partial && !function->hole[i])
		{
			g->bound[i] = function->bound[i];
			continue;
		}
		g->hole[i] = used < items->n && items->at[used]->type == SF_JN_NODE_PLACEHOLDER;
		g->bound[i] = used < items->n && !g->hole[i] ? args[used] : NULL;
		g->nparams += g->hole[i];
		used++;
	}
	return value;
}

/* Evaluate a partial application. */
SfJnValue *
sf_jn_eval_partial(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SfJnValue **args = sf_jn_alloc(&ev->arena, node->items.n * sizeof(SfJnValue *));
	SfJnValue  *procedure;
	const SfJnFunction *function;

	for (int i = 0; i < node->items.n; i++)
		args[i] = node->items.at[i]->type == SF_JN_NODE_PLACEHOLDER ? NULL :
			sf_jn_eval(ev, node->items.at[i], input, env);

	procedure = sf_jn_eval(ev, node->lhs, input, env);
	if (procedure == NULL)
		check_forgotten_dollar(ev, node, SF_JN_ERROR_T1007, env);
	if (!SF_JN_IS_FUNCTION(procedure))
	{
		SfJnCall	call;

		name_call(node->lhs, &call);
		sf_jn_fail_at(ev, node->position, SF_JN_ERROR_T1008, .token = call.token,
					  .token_len = call.token_len);
	}
	function = procedure->u.function;
	if (function->kind == SF_JN_FUNCTION_LAMBDA)
		return bind_lambda(ev, function, args, &node->items);
	if (function->kind == SF_JN_FUNCTION_NATIVE || function->kind == SF_JN_FUNCTION_PARTIAL)
		return bind_native(ev, function, args, &node->items);
	return procedure;			/* functions of one argument: nothing to bind */
}

/* Evaluate left ~> right. */
SfJnValue *
sf_jn_eval_apply(SfJnEval *ev, const SfJnNode *node, SfJnValue *input, SfJnFrame *env)
{
	SfJnValue  *left = sf_jn_eval(ev, node->lhs, input, env);
	SfJnValue  *right;
	SfJnValue  *result;

	if (node->rhs->type == SF_JN_NODE_FUNCTION)
	{
		result = sf_jn_eval_call(ev, node->rhs, input, env, &left);
		if (SF_JN_IS_SEQUENCE(result) && node->rhs->keep_array)
			result->flags |= SF_JN_KEEP;
		return result;
	}
	right = sf_jn_eval(ev, node->rhs, input, env);
	if (!SF_JN_IS_FUNCTION(right))
		sf_jn_fail_at(ev, node->position, SF_JN_ERROR_T2006, .value = right);
	if (SF_JN_IS_FUNCTION(left))
	{
		result = sf_jn_function_value(&ev->arena, SF_JN_FUNCTION_COMPOSE);
		result->u.function->first = left;
		result->u.function->second = right;
		return result;
	}
	return apply_named(ev, node->rhs, node->rhs->position, right, &left, 1, NULL, env);
}
