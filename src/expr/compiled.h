/*
 * compiled.h
 *		The contents of SfExpr, for the files of this folder.
 */
#ifndef SF_EXPR_COMPILED_H
#define SF_EXPR_COMPILED_H

#include "expr/intrinsic.h"
#include "expr/path.h"

struct SfExpr
{
	const char *text;
	SfPath	   *path;			/* either this … */
	SfIntrinsic *call;			/* … or this */
	int			context_use;	/* SF_CONTEXT_… */
};

extern SfPathStatus sf_compiled_eval(const SfExpr *expr, SfEnv *env,
									 JsonbValue *result, SfError *err);

#endif							/* SF_EXPR_COMPILED_H */
