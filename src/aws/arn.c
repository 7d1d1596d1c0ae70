/*
 * arn.c
 *		Build Amazon resource names and find the ids in them.
 */
#include "postgres.h"

#include "asl/program.h"
#include "aws/aws.h"
#include "aws/services.h"
#include "aws/shapes.h"
#include "base/settings.h"

/* Build the ARN of an object of a service. */
char *
sf_arn_of_service(const char *service, const char *rest)
{
	return psprintf("arn:aws:%s:%s:%s:%s", service, sf_setting_region, sf_setting_account_id, rest);
}

/* What stands in an ARN before the id, by SfNameKind: the service, and the type */
static const struct
{
	const char *service;
	const char *type;
}			kinds[] = {
	[SF_NAME_EXECUTION] = {"states", "execution:"},
	[SF_NAME_STATE_MACHINE] = {"states", "stateMachine:"},
	[SF_NAME_ACTIVITY] = {"states", "activity:"},
	[SF_NAME_MAP_RUN] = {"states", "mapRun:"},
	[SF_NAME_ROLE] = {"iam", "role/"},
	[SF_NAME_SCHEDULE] = {"scheduler", "schedule/default/"}
};

/* Build an object's ARN in the current memory context. */
static char *
print_arn(SfNameKind kind, const char *id)
{
	if (kind == SF_NAME_ROLE)	/* IAM has no regions */
		return psprintf("arn:aws:iam::%s:role/%s", sf_setting_account_id, id);
	return psprintf("arn:aws:%s:%s:%s:%s%s", kinds[kind].service, sf_setting_region,
					sf_setting_account_id, kinds[kind].type, id);
}

/*
 * Find the id in an ARN of the right kind, of any partition, region and
 * account; all other text is returned unchanged.
 *		execution:		"…:execution:m:n"		→ "m:n"
 *		state machine:	"…:stateMachine:m"		→ "m"
 *						"…:stateMachine:m:a"	→ "m/a" (alias)
 *						"…:stateMachine:m:3"	→ "m/#3" (the third publication; "m/3" is version 3)
 *		activity:		"…:activity:a"			→ "a"
 */
static const char *
parse_arn(SfNameKind kind, const char *text)
{
	const char *type = kinds[kind].type;
	const char *service = sf_resource_arn_part(text, 2);
	const char *rest = sf_resource_arn_part(text, 5);
	size_t		len = strlen(type);
	const char *qualifier;

	if (rest == NULL || strncmp(service, "states:", 7) != 0 ||
		strncmp(rest, type, len) != 0 || rest[len] == '\0')
		return text;
	if (kind != SF_NAME_STATE_MACHINE)
		return rest + len;
	qualifier = strchr(rest + len, ':');
	if (qualifier == NULL)
		return rest + len;
	return psprintf("%.*s/%s%s", (int) (qualifier - rest - len), rest + len,
					qualifier[1] != '\0' && strspn(qualifier + 1, "0123456789") == strlen(qualifier + 1) ? "#" : "",
					qualifier + 1);
}

/* --- what this layer registers in the layers below --- */

/* Register the syntax of ARNs and the shapes of the APIs; from _PG_init. */
void
sf_aws_init(void)
{
	sf_name_syntax = (SfNameSyntax)
	{
		.print = print_arn,
		.parse = parse_arn
	};
	sf_service = (SfService)
	{
		.resolve = sf_lambda_resolve,
		.is_named_by_request = sf_lambda_is_invoke,
		.other_names = sf_lambda_other_names,
		.shape_outcome = sf_lambda_shape_outcome,
		.shape_result = sf_lambda_shape_result,
		.check_result = sf_response_check,
		.is_known = sf_shape_is_known,
		.describe_source = sf_s3_describe_source,
		.read_listed = sf_s3_read_listed,
		.write_files = sf_s3_write_files
	};
}
