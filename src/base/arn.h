/*
 * arn.h
 *		Amazon resource names: how ids of sfflow look in the context object and
 *		in history, and back.
 *
 * Definitions written for Step Functions see ARNs ($$.Execution.Id) and take
 * them apart, so these have the service's form, with a constant region and
 * account:
 *		arn:aws:states:us-east-1:000000000000:execution:nightly:20250205
 *		arn:aws:states:us-east-1:000000000000:stateMachine:nightly
 *		arn:aws:states:us-east-1:000000000000:activity:shell
 *		arn:aws:iam::000000000000:role/batch_owner
 */
#ifndef SF_BASE_ARN_H
#define SF_BASE_ARN_H

#define SF_ARN_PARTITION	"aws"
#define SF_ARN_REGION		"us-east-1"
#define SF_ARN_ACCOUNT		"000000000000"
#define SF_ARN_STATES		"arn:" SF_ARN_PARTITION ":states:" SF_ARN_REGION ":" SF_ARN_ACCOUNT ":"
#define SF_ARN_ROLE			"arn:" SF_ARN_PARTITION ":iam::" SF_ARN_ACCOUNT ":role/"
#define SF_ARN_SCHEDULE		"arn:" SF_ARN_PARTITION ":scheduler:" SF_ARN_REGION ":" SF_ARN_ACCOUNT ":schedule/default/"

/* Builders; results live in the current memory context. */
extern char *sf_arn_execution(const char *execution_id);	/* "machine:name" */
extern char *sf_arn_state_machine(const char *name);
extern char *sf_arn_activity(const char *name);
extern char *sf_arn_role(const char *role);
extern char *sf_arn_schedule(const char *name);

/*
 * The id behind what a caller gave: an ARN of the right kind, of any partition,
 * region and account, becomes its id; every other text is returned as it is.
 *		execution:		"…:execution:m:n"		→ "m:n"
 *		state machine:	"…:stateMachine:m"		→ "m"
 *						"…:stateMachine:m:3"	→ "m/3" (version or alias)
 *		activity:		"…:activity:a"			→ "a"
 */
extern const char *sf_arn_to_execution_id(const char *text);
extern const char *sf_arn_to_state_machine(const char *text);
extern const char *sf_arn_to_activity(const char *text);

#endif							/* SF_BASE_ARN_H */
