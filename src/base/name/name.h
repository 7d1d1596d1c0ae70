/*
 * name.h
 *		Names of state machines, executions, activities and schedules.
 */
#ifndef SF_BASE_NAME_H
#define SF_BASE_NAME_H

/* Longest name, in characters */
#define SF_NAME_MAX		80

extern void sf_name_check(const char *name, const char *what);

/* The same without an error. */
extern bool sf_name_is_valid(const char *name);

/*
 * How executions, machines and other objects are named outside sfflow.
 *
 * The tables hold short ids ("nightly", "nightly:20250205").  The context object
 * ($$.Execution.Id), history, and the results of nested executions show a public
 * name instead, and functions that take an id also take the public name.  The
 * syntax of public names is registered at load by the layer aws/, which makes
 * ARNs of them.  Without a registered syntax the public name is the id.
 */

/* What a public name can be of, with the form of its id */
typedef enum SfNameKind
{
	SF_NAME_EXECUTION,			/* "machine:name" */
	SF_NAME_STATE_MACHINE,		/* "machine", "machine/revision", "machine/alias", "machine/#publication" */
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

/* --- find the existing name that a wrong name was probably meant to be --- */

typedef struct SfClosest
{
	const char *wanted;			/* what was written */
	const char *name;			/* the nearest so far; NULL: none is near */
	int			distance;		/* how many characters of it differ */
} SfClosest;

extern SfClosest sf_closest_begin(const char *wanted);
extern bool sf_closest_is_better(const SfClosest *closest, const char *name);
extern void sf_closest_offer(SfClosest *closest, const char *name);
extern void sf_closest_offer_as(SfClosest *closest, const char *name,
								const char *shown);
extern const char *sf_closest_question(const SfClosest *closest);
extern int	sf_closest_errhint(const SfClosest *closest, const char *otherwise);

/* --- arguments that are one of some words --- */

extern int	sf_argument_word(const char *argument, const char *text, const char *const *words, int nwords);

#endif							/* SF_BASE_NAME_H */
