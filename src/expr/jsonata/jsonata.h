/*
 * jsonata.h
 *		JSONata as the rest of the expression layer sees it.
 */
#ifndef SF_EXPR_JSONATA_JSONATA_H
#define SF_EXPR_JSONATA_JSONATA_H

#include "expr/expr.h"

typedef struct SfJsonata SfJsonata;

/*
 * Compile an expression (without its {% %}).  NULL with err->cause (the
 * parser's message without its code) and, where the diagnostic is not
 * INVALID_JSONATA_EXPRESSION, err->name (its code).
 */
extern SfJsonata *sf_jsonata_compile(const char *text, int len, SfError *err);

/*
 * Evaluate.  SF_EVAL_NOT_FOUND: undefined.  SF_EVAL_ERROR: err->code (T1006,
 * or NULL) and err->cause (its message); a result that is no JSON value has
 * no code and the cause "returned an unsupported result type."
 */
extern SfEvalStatus sf_jsonata_eval(const SfJsonata *expr, SfEnv *env,
									Jsonb **result, SfError *err);

#endif							/* SF_EXPR_JSONATA_JSONATA_H */
