/*
 * expr.h
 *		The expression languages for the other layers: paths, intrinsic functions,
 *		payload templates, JSONata.  Compile once, evaluate often.
 *
 * Compiled forms are immutable and live in the memory context that was
 * current at compilation.  Results live in the context current at evaluation
 * and never point into the environment's documents.  The one exception: a
 * constant template hands out its own document each time, which lives as long
 * as the template and must not be changed or freed.
 */
#ifndef SF_EXPR_EXPR_H
#define SF_EXPR_EXPR_H

#include "base/error/errors.h"
#include "json/environment.h"

typedef enum SfQueryLanguage
{
	SF_QL_JSONPATH,
	SF_QL_JSONATA
} SfQueryLanguage;

/* --- paths and intrinsic functions (JSONPath mode) --- */

typedef struct SfExpr SfExpr;

/* What the text of an expression may be */
#define SF_EXPR_PATH		0x01	/* $…, $$…, $name… */
#define SF_EXPR_INTRINSIC	0x02	/* States.Xxx(…) */
#define SF_EXPR_REFERENCE	0x04	/* a path that names at most one node */
#define SF_EXPR_INPUT		0x08	/* with one of the two: $… only, neither $$…
									 * nor $name… (ResultPath) */
#define SF_EXPR_TEXT		0x10	/* with INTRINSIC: one that gives a string */
#define SF_EXPR_ANY			(SF_EXPR_PATH | SF_EXPR_INTRINSIC)

extern SfExpr *sf_expr_compile(const char *text, int allowed, SfError *error);
extern const char *sf_expr_text(const SfExpr *expr);
extern int	sf_expr_context_use(const SfExpr *expr);
extern const char *sf_expr_misused_literal(const SfExpr *expr);
extern SfEvalStatus sf_expr_eval(const SfExpr *expr, SfEnv *env,
								 Jsonb **result, SfError *error);
extern SfEvalStatus sf_expr_eval_value(const SfExpr *expr, SfEnv *env,
									   JsonbValue *result, SfError *error);
extern bool sf_expr_set(const SfExpr *path, const Jsonb *document,
						const Jsonb *value, Jsonb **result, SfError *error);

/* --- payload templates --- */

typedef struct SfTemplate SfTemplate;

extern int	sf_template_context_use(const SfTemplate *tmpl);

/* Called for each diagnostic of a template; location is relative: "/a/b[0]". */
typedef void (*SfTemplateReport) (void *arg, const char *code,
								  const char *location, const char *message);

extern SfTemplate *sf_template_compile(const Jsonb *value,
									   SfQueryLanguage language,
									   SfTemplateReport report, void *arg);
extern void sf_template_check(const Jsonb *value, SfQueryLanguage language,
							  bool in_catcher, SfTemplateReport report,
							  void *arg);
extern bool sf_template_eval(const SfTemplate *tmpl, SfEnv *env,
							 const char *field, Jsonb **result, SfError *error);

/* --- input_value.c: A value that an option of a state machine takes from the input of an execution --- */

typedef struct SfInputValue SfInputValue;

extern SfInputValue *sf_input_value_compile(const JsonbValue *text, bool is_jsonata, const char **problem);
extern bool sf_input_value_find(const SfInputValue *source, Jsonb *input, Jsonb **value, SfError *error);

#endif							/* SF_EXPR_EXPR_H */
