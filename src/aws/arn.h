/*
 * arn.h
 *		Amazon resource names, the public names of sfflow's objects.
 *
 * Definitions written for Step Functions see ARNs ($$.Execution.Id) and take
 * them apart, so these have the service's form, with the region and the account
 * of the settings sfflow.region and sfflow.account_id:
 *		arn:aws:states:us-east-1:000000000000:execution:nightly:20250205
 *		arn:aws:states:us-east-1:000000000000:stateMachine:nightly
 *		arn:aws:states:us-east-1:000000000000:activity:shell
 *		arn:aws:states:us-east-1:000000000000:mapRun:nightly/label:uuid
 *		arn:aws:iam::000000000000:role/batch_owner
 *		arn:aws:scheduler:us-east-1:000000000000:schedule/default/evening
 */
#ifndef SF_AWS_ARN_H
#define SF_AWS_ARN_H

#include "base/public_name.h"

extern char *sf_arn_of_service(const char *service, const char *rest);
extern char *sf_arn_print(SfNameKind kind, const char *id);
extern const char *sf_arn_parse(SfNameKind kind, const char *text);

#endif							/* SF_AWS_ARN_H */
