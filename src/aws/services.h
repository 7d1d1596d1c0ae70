/*
 * services.h
 *		The APIs of AWS services that shape what a task is given and returns.
 *
 * The functions are those of SfService (run/task/service.h) with the same names.
 */
#ifndef SF_AWS_SERVICES_H
#define SF_AWS_SERVICES_H

#include "base/name/name.h"
#include "run/distributed_map/item_reader.h"
#include "run/distributed_map/result_writer.h"
#include "run/task/service.h"

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
extern SfMockProblem sf_response_check(const SfResource *resource,
									   const Jsonb *result, bool all_members);

/* --- distributed Map with S3: lists of objects to read, result files to write --- */

/* The functions of SfService with these names (run/task/service.h) */
extern char *sf_s3_describe_source(const SfResource *resource, const Jsonb *payload);
extern bool sf_s3_read_listed(SfItemReader *reader, const SfState *state,
							  const Jsonb *content, bool *ok);
extern Jsonb *sf_s3_write_files(SfResultWriter *writer);

/*
 * Amazon resource names, the public names of sfflow's objects.
 *
 * Definitions written for Step Functions see ARNs ($$.Execution.Id) and take
 * them apart, so these have the service's form, with the region and the account
 * of the settings sfflow.region and sfflow.account_id:
 * arn:aws:states:us-east-1:000000000000:execution:nightly:20250205
 * arn:aws:states:us-east-1:000000000000:stateMachine:nightly
 * arn:aws:states:us-east-1:000000000000:activity:shell
 * arn:aws:states:us-east-1:000000000000:mapRun:nightly/label:uuid
 * arn:aws:iam::000000000000:role/batch_owner
 * arn:aws:scheduler:us-east-1:000000000000:schedule/default/evening
 */

extern char *sf_arn_of_service(const char *service, const char *rest);

#endif							/* SF_AWS_SERVICES_H */
