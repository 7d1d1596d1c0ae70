/*
 * arn.c
 *		Build Amazon resource names and find the ids in them.
 */
#include "postgres.h"

#include "asl/program.h"
#include "aws/arn.h"

/* What stands before the id in an ARN, by SfNameKind */
static const char *const prefixes[] = {
	[SF_NAME_EXECUTION] = SF_ARN_PREFIX("states") "execution:",
	[SF_NAME_STATE_MACHINE] = SF_ARN_PREFIX("states") "stateMachine:",
	[SF_NAME_ACTIVITY] = SF_ARN_PREFIX("states") "activity:",
	[SF_NAME_MAP_RUN] = SF_ARN_PREFIX("states") "mapRun:",
	[SF_NAME_ROLE] = "arn:aws:iam::" SF_ARN_ACCOUNT ":role/",
	[SF_NAME_SCHEDULE] = SF_ARN_PREFIX("scheduler") "schedule/default/"
};

/* Build an object's ARN in the current memory context. */
char *
sf_arn_print(SfNameKind kind, const char *id)
{
	return psprintf("%s%s", prefixes[kind], id);
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
	const char *type = sf_resource_arn_part(prefixes[kind], 5);
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
