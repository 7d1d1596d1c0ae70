/*
 * arn.c
 *		Build Amazon resource names and find the ids in them.
 */
#include "postgres.h"

#include "base/arn.h"

/* Build the ARN of an execution from its id ("machine:name"). */
char *
sf_arn_execution(const char *execution_id)
{
	return psprintf(SF_ARN_STATES "execution:%s", execution_id);
}

/* Build the ARN of a state machine. */
char *
sf_arn_state_machine(const char *name)
{
	return psprintf(SF_ARN_STATES "stateMachine:%s", name);
}

/* Build the ARN of an activity. */
char *
sf_arn_activity(const char *name)
{
	return psprintf(SF_ARN_STATES "activity:%s", name);
}

/* Build the ARN that stands for a database role. */
char *
sf_arn_role(const char *role)
{
	return psprintf(SF_ARN_ROLE "%s", role);
}

/* Build the ARN of a schedule, as EventBridge Scheduler names its own. */
char *
sf_arn_schedule(const char *name)
{
	return psprintf(SF_ARN_SCHEDULE "%s", name);
}

/*
 * Return what follows "arn:<partition>:states:<region>:<account>:<kind>:" in
 * text, or NULL when text is no such ARN.
 */
static const char *
states_arn_rest(const char *text, const char *kind)
{
	const char *p = text;
	size_t		len = strlen(kind);
	int			field;

	if (strncmp(p, "arn:", 4) != 0)
		return NULL;
	for (field = 1; field < 5; field++)
	{
		p = strchr(p, ':');
		if (p == NULL)
			return NULL;
		p++;
		if (field == 2 && strncmp(p, "states:", 7) != 0)
			return NULL;
	}
	p = strchr(p, ':');
	if (p == NULL)
		return NULL;
	p++;
	if (strncmp(p, kind, len) != 0 || p[len] != ':' || p[len + 1] == '\0')
		return NULL;
	return p + len + 1;
}

/* Find the id of an execution in its ARN; other text is returned unchanged. */
const char *
sf_arn_to_execution_id(const char *text)
{
	const char *rest = states_arn_rest(text, "execution");

	return rest != NULL ? rest : text;
}

/* Find a state machine's name, with "/version" if given, in its ARN. */
const char *
sf_arn_to_state_machine(const char *text)
{
	const char *rest = states_arn_rest(text, "stateMachine");
	char	   *name;
	char	   *colon;

	if (rest == NULL)
		return text;
	name = pstrdup(rest);
	colon = strchr(name, ':');
	if (colon != NULL)
		*colon = '/';
	return name;
}

/* Find the name of an activity in its ARN. */
const char *
sf_arn_to_activity(const char *text)
{
	const char *rest = states_arn_rest(text, "activity");

	return rest != NULL ? rest : text;
}
