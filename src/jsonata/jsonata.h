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
 * have, and to fields of $states that do not exist in this scope.  Each is
 * reported once, in the order of the text.  in_catcher: $states.errorOutput is in
 * scope.
 */
extern void sf_jsonata_check(const SfJsonata *expr, bool in_catcher,
							 SfJsonataReport report, void *arg);

/*
 * Evaluate.  SF_EVAL_NOT_FOUND: the result is undefined.  SF_EVAL_ERROR: err has
 * code (T1006, or NULL) and cause (the message).  A result that is no JSON value
 * is an error without code: "returned an unsupported result type."
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
	const char *hint;			/* what the user can do, or NULL */
} SfJsonataFailure;

/* Compile an expression for sf_jsonata_query(); NULL with *failure. */
extern SfJsonata *sf_jsonata_prepare(const char *text, int len,
									 SfJsonataFailure *failure);

/*
 * Evaluate an expression over JSON text, outside of a state machine.  input and
 * bindings (an object) may be NULL.  False with *failure; else *result is JSON
 * text (a text datum), or NULL when the result is undefined.
 */
extern bool sf_jsonata_query(const SfJsonata *expr, const text *input,
							 const text *bindings, text **result,
							 SfJsonataFailure *failure);

#endif							/* SF_JSONATA_JSONATA_H */
