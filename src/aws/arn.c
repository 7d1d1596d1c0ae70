/*
 * arn.c
 *		Build Amazon resource names and find the ids in them.
 */
#include "postgres.h"

#include "asl/program.h"
#include "aws/arn.h"
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
char *
sf_arn_print(SfNameKind kind, const char *id)
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
 *						"…:stateMachine:m:3"	→ "m/3" (version or alias)
 *		activity:		"…:activity:a"			→ "a"
 */
const char *
sf_arn_parse(SfNameKind kind, const char *text)
{
	const char *type = kinds[kind].type;
	const char *service = sf_resource_arn_part(text, 2);
	const char *rest = sf_resource_arn_part(text, 5);
	size_t		len = strlen(type);
	char	   *id;

	if (rest == NULL || strncmp(service, "states:", 7) != 0 ||
		strncmp(rest, type, len) != 0 || rest[len] == '\0')
		return text;
	if (kind != SF_NAME_STATE_MACHINE)
		return rest + len;
	id = pstrdup(rest + len);
	if (strchr(id, ':') != NULL)
		*strchr(id, ':') = '/';
	return id;
}
