/*
 * jsonata.h
 *		The JSONata language as the other layers see it.
 */
#ifndef SF_JSONATA_JSONATA_H
#define SF_JSONATA_JSONATA_H

#include "json/environment.h"

typedef struct SfJsonata SfJsonata;

/*
 * Compile an expression (without its {% %}) in the current memory context.
 * NULL with err->cause (the parser's message without its code), err->code,
 * err->position (UTF-16 units) and, where the diagnostic is not
 * INVALID_JSONATA_EXPRESSION, err->name (its code).
 */
extern SfJsonata *sf_jsonata_compile(const char *text, int len, SfError *err);

/* Tell whether an expression looks at $states.context. */
extern bool sf_jsonata_uses_context(const SfJsonata *expr);

/* Called for each reference that a state machine does not support. */
typedef void (*SfJsonataReport) (void *arg, const char *message);

/*
 * Report references to the input ("phone", $$), which state machines do not
 * have, and fields of $states that do not exist here; each once, in written
 * order.  in_catcher: $states.errorOutput is in scope.
 */
extern void sf_jsonata_check(const SfJsonata *expr, bool in_catcher,
							 SfJsonataReport report, void *arg);

/*
 * Evaluate.  SF_EVAL_NOT_FOUND: undefined.  SF_EVAL_ERROR: err->code (T1006,
 * or NULL) and err->cause (its message); a result that is no JSON value has
 * no code and the cause "returned an unsupported result type."
 */
extern SfEvalStatus sf_jsonata_eval(const SfJsonata *expr, SfEnv *env,
									Jsonb **result, SfError *err);

/* What went wrong in sf_jsonata_query(): position in UTF-16 units, or -1. */
typedef struct SfJsonataFailure
{
	const char *code;
	const char *message;
	const char *token;			/* NULL: none */
	int			position;
	bool		limit;			/* depth, time or memory ran out */
	const char *hint;			/* what can be done about that, or NULL */
} SfJsonataFailure;

/* Compile an expression for sf_jsonata_query(); NULL with *failure. */
extern SfJsonata *sf_jsonata_prepare(const char *text, int len,
									 SfJsonataFailure *failure);

/*
 * Evaluate an expression over JSON text, as the language by itself has it:
 * input and bindings (an object) may be NULL.  False with *failure; else
 * *result is JSON text (a text datum), or NULL for undefined.
 */
extern bool sf_jsonata_query(const SfJsonata *expr, const text *input,
							 const text *bindings, text **result,
							 SfJsonataFailure *failure);

#endif							/* SF_JSONATA_JSONATA_H */
