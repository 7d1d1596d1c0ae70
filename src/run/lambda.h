/*
 * lambda.h
 *		Lambda functions: which function stands in, what it is given, and the
 *		shape of what it answers.
 */
#ifndef SF_RUN_LAMBDA_H
#define SF_RUN_LAMBDA_H

#include "run/driver.h"

/* Is a Resource arn:aws:states:::lambda:invoke, with any suffix? */
extern bool sf_lambda_is_invoke(const SfResource *resource);

/*
 * Find what stands in for the function that a request names.  *payload is the
 * request, and becomes what the function is given.  False: *error.
 */
extern bool sf_lambda_resolve(const SfResource *resource, Oid owner,
							  SfResource *target, Jsonb **payload,
							  SfError *error);

/* What an invocation returns: the function's result with all that is around. */
extern Jsonb *sf_lambda_response(const Jsonb *result);

/* Give the outcome of the SQL function that stands in the shape of Lambda's. */
extern void sf_lambda_outcome(const SfResource *resource, SfTaskOutcome *outcome);

#endif							/* SF_RUN_LAMBDA_H */
