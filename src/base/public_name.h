/*
 * public_name.h
 *		How executions, machines and other objects are named outside sfflow.
 *
 * The tables hold short ids ("nightly", "nightly:20250205").  The context object
 * ($$.Execution.Id), history, and the results of child executions show a public
 * name instead, and functions that take an id also take the public name.  The
 * syntax of public names is registered at load by the layer aws/, which makes
 * ARNs of them.  Without a registered syntax the public name is the id.
 */
#ifndef SF_BASE_PUBLIC_NAME_H
#define SF_BASE_PUBLIC_NAME_H

/* What a public name can be of, with the form of its id */
typedef enum SfNameKind
{
	SF_NAME_EXECUTION,			/* "machine:name" */
	SF_NAME_STATE_MACHINE,		/* "machine", or "machine/version" */
	SF_NAME_ACTIVITY,			/* "activity" */
	SF_NAME_MAP_RUN,			/* "machine/label:uuid" */
	SF_NAME_ROLE,				/* "role" */
	SF_NAME_SCHEDULE			/* "schedule" */
} SfNameKind;

typedef struct SfNameSyntax
{
	/* Build the public name of an object in the current memory context. */
	char	   *(*print) (SfNameKind kind, const char *id);

	/* Find the id in a public name; text that is no such name is returned. */
	const char *(*parse) (SfNameKind kind, const char *text);
} SfNameSyntax;

extern SfNameSyntax sf_name_syntax;

#define sf_public_name(kind, id)			(sf_name_syntax.print(kind, id))
#define sf_public_name_to_id(kind, text)	(sf_name_syntax.parse(kind, text))

#endif							/* SF_BASE_PUBLIC_NAME_H */
