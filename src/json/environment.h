/*
 * environment.h
 *		The environment of an evaluation and its possible results, for both query
 *		languages.
 */
#ifndef SF_JSON_ENVIRONMENT_H
#define SF_JSON_ENVIRONMENT_H

#include "base/error/errors.h"
#include "base/time/time_limit.h"
#include "json/json.h"

typedef enum SfEvalStatus
{
	SF_EVAL_OK,					/* *result is set */
	SF_EVAL_NOT_FOUND,			/* a definite path that leads nowhere; error (may
								 * be NULL) is States.Runtime with the
								 * service's reason as its cause: "No results
								 * for path: $['a']" or "Missing property in
								 * path $['no']".  The caller puts "Invalid
								 * path '$.a' : " before it */
	SF_EVAL_ERROR				/* error is set: name and cause as the service has
								 * them */
} SfEvalStatus;

/*
 * What an expression looks at of the context object, as a set.  The parts that are
 * costly have a bit of their own.
 */
#define SF_CONTEXT_ANY		0x01	/* something of it */
#define SF_CONTEXT_INPUT	0x02	/* Execution.Input */
#define SF_CONTEXT_ITEM		0x04	/* Map.Item */
#define SF_CONTEXT_TOKEN	0x08	/* Task.Token, which has to be made */
#define SF_CONTEXT_JOBS		0x10	/* Jobs, which have to be read */
#define SF_CONTEXT_ALL		0x1f

extern int	sf_env_context_use(const char *first, int first_len,
							   const char *second, int second_len);

/*
 * The values that an expression can use.  The context object is costly to build
 * and seldom used, so it may be given as a callback, called at most once.
 */
typedef struct SfEnv
{
	Jsonb	   *input;			/* $ (JSONPath), $states.input (JSONata) */
	Jsonb	   *context;		/* $$, $states.context; NULL: ask make_context */
	Jsonb	   *(*make_context) (void *arg);	/* may be NULL: no context here */
	void	   *context_arg;
	Jsonb	   *variables;		/* object of $name; NULL: none */
	Jsonb	   *result;			/* $states.result; NULL: not in scope */
	Jsonb	   *error_output;	/* $states.errorOutput; NULL: not in scope */
	Size		made;			/* bytes that the current evaluation has made */
	SfTimeLimit limit;			/* of the time of the current evaluation */
} SfEnv;

/*
 * Begin an evaluation: that of a template, or of an expression by itself.  It has made
 * nothing yet, and may take as long as sfflow.evaluation_timeout says.
 */
extern void sf_env_begin(SfEnv *env);

/*
 * Count some pieces of work, each about as much as to compare two short values; true when the time of the evaluation
 * is up.  Loops end then, and what they give is not looked at: the caller of the evaluation reports
 * that with sf_env_refuse_late().
 */
static inline bool
sf_env_is_late(SfEnv *env, uint32 work)
{
	return sf_time_limit_spend(&env->limit, work);
}

extern uint32 sf_env_work_of(const JsonbValue *value);
extern bool sf_env_refuse_late(const SfEnv *env, SfError *error);

/* An evaluation may make this many times sfflow.max_payload_bytes in all */
#define SF_EVALUATION_PAYLOADS	8

/*
 * Count bytes that an evaluation makes; false with States.DataLimitExceeded if
 * they exceed the limit.  A value that fits a payload never does: jsonb takes at
 * most SF_EVALUATION_PAYLOADS times the bytes of its text.
 */
extern bool sf_env_make(SfEnv *env, Size bytes, SfError *error);
extern Size sf_env_may_make(const SfEnv *env);	/* bytes left */

extern bool sf_env_make_value(SfEnv *env, const JsonbValue *value, SfError *error);
extern Jsonb *sf_env_context(SfEnv *env);

#endif							/* SF_JSON_ENVIRONMENT_H */
