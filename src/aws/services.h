/*
 * services.h
 *		The APIs of AWS services that shape what a task is given and returns.
 *
 * The functions are those of SfService (run/service.h) with the same names.
 */
#ifndef SF_AWS_SERVICES_H
#define SF_AWS_SERVICES_H

#include "run/service.h"

/* lambda.c; is_invoke is SfService's is_named_by_request */
extern bool sf_lambda_is_invoke(const SfResource *resource);
extern bool sf_lambda_resolve(const SfResource *resource, Oid owner,
							  SfResource *target, Jsonb **payload,
							  SfError *error);
extern List *sf_lambda_other_names(const SfResource *resource);
extern void sf_lambda_shape_outcome(const SfResource *resource,
									SfTaskOutcome *outcome);
extern Jsonb *sf_lambda_shape_result(const SfResource *resource, Jsonb *result);

/* response_shapes.c */
extern const char *sf_response_check(const SfResource *resource,
									 const Jsonb *result, bool all_members);

#endif							/* SF_AWS_SERVICES_H */
