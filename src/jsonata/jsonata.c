/*
 * jsonata.c
 *		Compile expressions, and evaluate them with an environment.
 *
 * A compiled expression owns an arena in the memory context in which it was
 * compiled.  An evaluation owns an arena in a context of its own, which is
 * deleted when the result has been copied out.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "base/settings.h"
#include "jsonata/evaluation/eval.h"
#include "jsonata/jsonata.h"
#include "jsonata/jsonata_program.h"
#include "jsonata/value/jsonata_print.h"

/* What a variable may come from */
typedef struct Bindings
{
	SfEnv	   *env;			/* state machines */
	MemoryContext outer;		/* what the environment keeps lives there */
	const SfJsonata *expr;
	const SfJnValue *object;	/* sf_jsonata */
	SfJnValue  *input;			/* $$ */
} Bindings;

/* Refuse databases whose text is not UTF-8. */
static void
require_utf8(void)
{
	if (GetDatabaseEncoding() != PG_UTF8)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("JSONata needs a database with encoding UTF8"),
				 errdetail("The encoding of this database is %s.",
						   GetDatabaseEncodingName())));
}

/* Describe the error that was thrown, in the current memory context. */
static void
describe_failure(SfJnArena *arena, const SfJnError *error, SfJsonataFailure *failure)
{
	failure->code = sf_jn_error_code_text[error->code];
	failure->message = sf_jn_error_message(arena, error);
	failure->position = error->position;
	failure->token = error->token == NULL ? NULL : pnstrdup(error->token, error->token_len);
	failure->hint = error->code == SF_JN_ERROR_U1001 ?
		"The setting sfflow.evaluation_depth bounds how deeply evaluations nest." :
		error->code == SF_JN_ERROR_U1002 ?
		"The setting sfflow.evaluation_timeout bounds the time of an evaluation." : NULL;
	failure->ran_out = error->code == SF_JN_ERROR_U1001 || error->code == SF_JN_ERROR_U1002 ||
		error->code == SF_JN_ERROR_U1003;
}

/* Compile an expression for sf_jsonata_query(); NULL with *failure. */
SfJsonata *
sf_jsonata_prepare(const char *text, int len, SfJsonataFailure *failure)
{
	SfJsonata  *volatile expr = palloc0(sizeof(SfJsonata));
	SfJnThrow	thrower = {0};
	volatile bool ok = false;

	require_utf8();
	sf_jn_arena_init(&expr->arena, CurrentMemoryContext);
	expr->arena.small = true;
	expr->text = pnstrdup(text, len);
	SF_JN_TRY(&thrower);
	{
		expr->root = sf_jn_parse(&expr->arena, &thrower, expr->text, len);
		ok = true;
	}
	SF_JN_CATCH(&thrower);
	{
		describe_failure(&expr->arena, &thrower.error, failure);
	}
	SF_JN_END(&thrower);
	if (!ok)
		return NULL;
	expr->states_used = sf_jn_states_used(expr->root);
	return expr;
}

/*
 * Compile an expression (without its {% %}) in the current memory context.
 * NULL with error->name (the diagnostic's code), error->cause (the parser's message
 * without its code), error->code and error->position (UTF-16 units).
 */
SfJsonata *
sf_jsonata_compile(const char *text, int len, SfError *error)
{
	SfJsonataFailure failure;
	SfJsonata  *expr = sf_jsonata_prepare(text, len, &failure);

	if (expr == NULL)
	{
		sf_error_set(error, "INVALID_JSONATA_EXPRESSION", "%s", failure.message);
		error->code = failure.code;
		error->position = failure.position;
	}
	return expr;
}

/* Report that a limit was reached from inside the arena. */
static void
on_limit(void *arg, const char *what)
{
	SfJnEval   *ev = arg;
	bool		memory = strcmp(what, "memory") == 0;
	int			limit = memory ? SF_JN_MAX_MEMORY_MB : SF_JN_MAX_STRING / (1024 * 1024);

	/* The way out needs a little more. */
	ev->arena.limit = 0;
	sf_jn_fail(ev, SF_JN_ERROR_U1003, .value =
			   sf_jn_cstring(&ev->arena,
							 psprintf("%s exceeds the limit of %d MB",
									  memory ? "Expression evaluation" : "String", limit)));
}

/* Prepare an evaluation in a memory context of its own, which may take so long. */
static void
begin(SfJnEval *ev, MemoryContext context, SfJnMode mode, SfTimeLimit limit)
{
	memset(ev, 0, sizeof(*ev));
	sf_jn_arena_init(&ev->arena, context);
	ev->mode = mode;
	ev->max_depth = sf_setting_evaluation_depth;
	ev->limit = limit;
	ev->root = sf_jn_frame(ev, NULL);
}

/* Evaluate a program; false when an error was thrown. */
static bool
run(SfJnEval *ev, const SfJnNode *root, SfJnValue *input, SfJnValue **result)
{
	SfJnValue  *volatile value = NULL;
	volatile bool ok = false;

	SF_JN_TRY(&ev->thrower);
	{
		ev->arena.limit = (Size) SF_JN_MAX_MEMORY_MB * 1024 * 1024;
		ev->arena.on_limit = on_limit;
		ev->arena.on_limit_arg = ev;
		value = sf_jn_eval(ev, root, sf_jn_wrap_input(ev, input), ev->root);
		sf_jn_check_nesting(ev, value);
		ok = true;
	}
	SF_JN_CATCH(&ev->thrower);
	{
	}
	SF_JN_END(&ev->thrower);
	*result = value;
	return ok;
}

/* Look a variable up for sf_jsonata: $$ and the bindings. */
static SfJnValue *
lookup_binding(SfJnEval *ev, const SfJnName *name, bool *found)
{
	Bindings   *bindings = ev->lookup_arg;
	SfJnMember *member;

	if (name->len == 1 && name->str[0] == '$')
	{
		*found = true;
		return bindings->input;
	}
	if (bindings->object == NULL)
		return NULL;
	member = sf_jn_find(bindings->object, name->str, name->len, name->hash);
	*found = member != NULL;
	return member == NULL ? NULL : member->value;
}

/*
 * Evaluate an expression over JSON text, outside of a state machine.  input and
 * bindings (an object) may be NULL.  False with *failure; else *result is JSON
 * text (a text datum), or NULL when the result is undefined.
 */
bool
sf_jsonata_query(const SfJsonata *expr, const text *input, const text *bindings,
				 text **result, SfJsonataFailure *failure)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(outer, "sfflow JSONata evaluation",
												  ALLOCSET_DEFAULT_SIZES);
	SfJnEval	ev;
	Bindings	b = {0};
	SfJnValue  *value = NULL;
	bool		ok;

	require_utf8();
	MemoryContextSwitchTo(context);
	begin(&ev, context, SF_JN_IN_QUERY, sf_time_limit_begin(sf_setting_evaluation_timeout_ms));
	if (input != NULL)
		b.input = sf_jn_parse_json(&ev.arena, VARDATA_ANY(input), VARSIZE_ANY_EXHDR(input));
	if (bindings != NULL)
		b.object = sf_jn_parse_json(&ev.arena, VARDATA_ANY(bindings),
									VARSIZE_ANY_EXHDR(bindings));
	if (b.object != NULL && b.object->type != SF_JN_TYPE_OBJECT)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("bindings of a JSONata expression must be a JSON object")));
	ev.lookup = lookup_binding;
	ev.lookup_arg = &b;
	ok = run(&ev, expr->root, b.input, &value);

	*result = NULL;
	if (!ok)
	{
		MemoryContextSwitchTo(outer);
		describe_failure(&ev.arena, &ev.thrower.error, failure);
	}
	else if (value != NULL && value->type != SF_JN_TYPE_FUNCTION)
	{
		StringInfoData buf;

		MemoryContextSwitchTo(outer);
		initStringInfo(&buf);
		appendStringInfoSpaces(&buf, VARHDRSZ);
		sf_jn_print(&buf, sf_jn_unwrap(value), 0);
		SET_VARSIZE(buf.data, buf.len);
		*result = (text *) buf.data;
	}
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(context);
	return ok;
}

/* Convert a document of the environment; NULL stays undefined. */
static SfJnValue *
from_document(SfJnEval *ev, const Jsonb *document)
{
	JsonbValue	root;

	if (document == NULL)
		return NULL;
	sf_json_root(document, &root);
	return sf_jn_from_jsonb(&ev->arena, &root);
}

/* Return the context object, which the environment keeps for later evaluations. */
static Jsonb *
context_object(const Bindings *bindings)
{
	MemoryContext old = MemoryContextSwitchTo(bindings->outer);
	Jsonb	   *context = sf_env_context(bindings->env);

	MemoryContextSwitchTo(old);
	return context;
}

/* Return $states.jobs, a member of the context object; NULL outside of a JobNet. */
static Jsonb *
jobs_object(const Bindings *bindings)
{
	Jsonb	   *context = context_object(bindings);
	JsonbValue	root,
				jobs;

	if (context == NULL)
		return NULL;
	sf_json_root(context, &root);
	if (!sf_json_member(&root, "Jobs", 4, &jobs))
		return NULL;
	return sf_json_make(&jobs);
}

/* Make $states, with the fields that the expression looks at. */
static SfJnValue *
make_states(SfJnEval *ev, Bindings *bindings)
{
	SfJnValue  *states = sf_jn_object(&ev->arena, 5);
	int			used = bindings->expr->states_used;

	if ((used & SF_JN_STATES_CONTEXT) != 0)
		sf_jn_set_c(&ev->arena, states, "context",
					from_document(ev, context_object(bindings)));
	if ((used & SF_JN_STATES_JOBS) == SF_JN_STATES_JOBS && jobs_object(bindings) != NULL)
		sf_jn_set_c(&ev->arena, states, "jobs", from_document(ev, jobs_object(bindings)));
	if ((used & SF_JN_STATES_INPUT) != 0)
		sf_jn_set_c(&ev->arena, states, "input", from_document(ev, bindings->env->input));
	if ((used & SF_JN_STATES_RESULT) != 0 && bindings->env->result != NULL)
		sf_jn_set_c(&ev->arena, states, "result", from_document(ev, bindings->env->result));
	if ((used & SF_JN_STATES_ERROR_OUTPUT) != 0 && bindings->env->error_output != NULL)
		sf_jn_set_c(&ev->arena, states, "errorOutput",
					from_document(ev, bindings->env->error_output));
	return states;
}

/*
 * Look a variable up in a state machine: $states, and the machine's own.
 * What is found is bound in the root scope, so that it is converted once.
 */
static SfJnValue *
lookup_state(SfJnEval *ev, const SfJnName *name, bool *found)
{
	Bindings   *bindings = ev->lookup_arg;
	SfJnValue  *value = NULL;
	JsonbValue	variables;
	JsonbValue	member;

	if (name->len == 6 && memcmp(name->str, "states", 6) == 0)
		value = make_states(ev, bindings);
	else if (bindings->env->variables != NULL)
	{
		sf_json_root(bindings->env->variables, &variables);
		if (!sf_json_member(&variables, name->str, (int) name->len, &member))
			return NULL;
		value = sf_jn_from_jsonb(&ev->arena, &member);
	}
	if (value == NULL)
		return NULL;
	*found = true;
	sf_jn_bind(ev, ev->root, name, value);
	return value;
}

/* Tell whether a result is within the limit of the environment; *error is in context outer. */
static bool
fits(const SfJnValue *value, SfEnv *env, MemoryContext outer, SfError *error)
{
	MemoryContext old;
	Size		size = 0;
	bool		ok;

	sf_jn_measure(value, sf_env_may_make(env), &size);
	old = MemoryContextSwitchTo(outer);
	ok = sf_env_make(env, size, error);
	MemoryContextSwitchTo(old);
	return ok;
}

/*
 * Evaluate in the time that the environment has left (sf_env_begin).
 * SF_EVAL_NOT_FOUND: the result is undefined.  SF_EVAL_ERROR: error has
 * code (T1006, or NULL) and cause (the message).  A result that is no JSON value
 * is an error without code: "returned an unsupported result type."
 */
SfEvalStatus
sf_jsonata_eval(const SfJsonata *expr, SfEnv *env, Jsonb **result, SfError *error)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(outer, "sfflow JSONata evaluation",
												  ALLOCSET_DEFAULT_SIZES);
	SfEvalStatus status = SF_EVAL_OK;
	SfJnEval	ev;
	Bindings	bindings = {0};
	SfJnValue  *value = NULL;

	require_utf8();
	MemoryContextSwitchTo(context);
	begin(&ev, context, SF_JN_IN_STATE, env->limit);
	/* the expressions before it in a template may have used the time up: look at the clock first */
	ev.limit.work = SF_TIME_LIMIT_LOOK;
	bindings.env = env;
	bindings.outer = outer;
	bindings.expr = expr;
	ev.lookup = lookup_state;
	ev.lookup_arg = &bindings;
	*result = NULL;
	if (!run(&ev, expr->root, NULL, &value))
	{
		SfJsonataFailure failure;

		MemoryContextSwitchTo(outer);
		describe_failure(&ev.arena, &ev.thrower.error, &failure);
		sf_error_set(error, SF_ERR_QUERY_EVALUATION_ERROR, "%s", failure.message);
		if (error != NULL)
		{
			/* What is out of bounds has no code in the service's texts. */
			error->code = failure.ran_out ? NULL : failure.code;
			error->position = failure.position;
		}
		status = SF_EVAL_ERROR;
	}
	else if (value == NULL)
		status = SF_EVAL_NOT_FOUND;
	else if (!fits(value, env, outer, error))
		status = SF_EVAL_ERROR;
	else
	{
		bool		unsupported;
		Jsonb	   *document = sf_jn_to_jsonb(value, &unsupported);

		MemoryContextSwitchTo(outer);
		if (unsupported)
		{
			sf_error_set(error, SF_ERR_QUERY_EVALUATION_ERROR,
						 "returned an unsupported result type.");
			status = SF_EVAL_ERROR;
		}
		else
		{
			*result = palloc(VARSIZE(document));
			memcpy(*result, document, VARSIZE(document));
		}
	}
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(context);
	return status;
}
