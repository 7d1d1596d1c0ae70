/*
 * jsonata.h
 *		The JSONata language as the other layers see it.
 */
#ifndef SF_JSONATA_JSONATA_H
#define SF_JSONATA_JSONATA_H

#include "json/environment.h"

typedef struct SfJsonata SfJsonata;

extern SfJsonata *sf_jsonata_compile(const char *text, int len, SfError *error);
extern int	sf_jsonata_context_use(const SfJsonata *expr);

/* Called for each reference that a state machine does not support. */
typedef void (*SfJsonataReport) (void *arg, const char *message);

extern void sf_jsonata_check(const SfJsonata *expr, bool in_catcher,
							 SfJsonataReport report, void *arg);
extern SfEvalStatus sf_jsonata_eval(const SfJsonata *expr, SfEnv *env,
									Jsonb **result, SfError *error);

/* What went wrong in sf_jsonata_query(): position in UTF-16 units, or SF_NO_POSITION. */
typedef struct SfJsonataFailure
{
	const char *code;
	const char *message;
	const char *token;			/* NULL: none */
	int			position;
	bool		ran_out;		/* depth, time or memory ran out */
	const char *hint;			/* what the user can do, or NULL */
} SfJsonataFailure;

extern SfJsonata *sf_jsonata_prepare(const char *text, int len,
									 SfJsonataFailure *failure);
extern bool sf_jsonata_query(const SfJsonata *expr, const text *input,
							 const text *bindings, text **result,
							 SfJsonataFailure *failure);

#endif							/* SF_JSONATA_JSONATA_H */
