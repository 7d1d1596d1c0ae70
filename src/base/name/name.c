/*
 * name.c
 *		Names of state machines, executions, activities and schedules.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/varlena.h"

#include "base/error/errors.h"
#include "base/name/name.h"

/* Tell whether a byte may not stand in a name; bytes of other scripts may. */
static bool
is_forbidden(unsigned char c)
{
	return c <= ' ' || c == 0x7f || strchr("<>{}[]?*\"#%\\^|~$&,;:/`", c) != NULL;
}

/* Tell whether a name may be used. */
bool
sf_name_is_valid(const char *name)
{
	int			length = pg_mbstrlen(name);

	if (length == 0 || length > SF_NAME_MAX)
		return false;
	for (const char *p = name; *p != '\0'; p += pg_mblen(p))
		if (is_forbidden((unsigned char) *p))
			return false;
	return true;
}

/*
 * Check a name by the rule of Step Functions; ereports ERRCODE_SF_INVALID_NAME
 * naming what ("execution name") and the first character that is not allowed.
 */
void
sf_name_check(const char *name, const char *what)
{
	int			length = pg_mbstrlen(name);

	if (length == 0 || length > SF_NAME_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_NAME),
				 errmsg("%s must have 1 to %d characters, not %d",
						what, SF_NAME_MAX, length)));
	for (const char *p = name; *p != '\0'; p += pg_mblen(p))
	{
		if (!is_forbidden((unsigned char) *p))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_NAME),
				 errmsg("%s \"%s\" contains a character that is not allowed",
						what, name),
				 errdetail("Character %d is %s.",
						   pg_mbstrlen_with_len(name, p - name) + 1,
						   (unsigned char) *p <= ' ' || *p == 0x7f ?
						   "white space or a control character" :
						   psprintf("\"%c\"", *p)),
				 errhint("White space, control characters and < > { } [ ] ? * \" # %% \\ ^ | ~ $ & , ; : / ` are not allowed.")));
	}
}

/* --- the syntax of public names when no layer has registered one --- */

/* Print an object's id as its public name. */
static char *
print_id(SfNameKind kind, const char *id)
{
	return pstrdup(id);
}

/* Take every text for an id. */
static const char *
parse_id(SfNameKind kind, const char *text)
{
	return text;
}

SfNameSyntax sf_name_syntax = {print_id, parse_id};

/*
 * Find the existing name that a wrong name was probably meant to be.
 *
 * A name is near when at most three of its characters differ, and at most a third
 * of the written ones; or when only the case of letters differs.
 */

/* Characters that may differ */
#define MAX_DISTANCE	3

/* Longer names are not compared (varstr_levenshtein refuses them) */
#define MAX_LENGTH		255

/* Begin a search for the name nearest to one that does not exist. */
SfClosest
sf_closest_begin(const char *wanted)
{
	int			length = (int) strlen(wanted);
	SfClosest	closest = {wanted, NULL, Min(MAX_DISTANCE, (length + 1) / 3) + 1};

	if (length > MAX_LENGTH)
		closest.distance = 0;
	return closest;
}

/* Return the edit distance of a name from the wanted one, at most limit + 1. */
static int
distance_of(const SfClosest *closest, const char *name, int limit)
{
	int			length = (int) strlen(name);

	if (limit < 0 || length == 0 || length > MAX_LENGTH)
		return limit + 1;
	if (pg_strcasecmp(closest->wanted, name) == 0)
		return 0;
	return varstr_levenshtein_less_equal(closest->wanted,
										 (int) strlen(closest->wanted),
										 name, length, 1, 1, 1, limit, true);
}

/* Would a name be nearer than the nearest one so far? */
bool
sf_closest_is_better(const SfClosest *closest, const char *name)
{
	int			limit = closest->distance - 1;

	return distance_of(closest, name, limit) <= limit;
}

/* Offer a name, which has to live as long as the search. */
void
sf_closest_offer(SfClosest *closest, const char *name)
{
	sf_closest_offer_as(closest, name, name);
}

/* Offer a name that is shown in another form: with its schema. */
void
sf_closest_offer_as(SfClosest *closest, const char *name, const char *shown)
{
	int			limit = closest->distance - 1;
	int			distance = distance_of(closest, name, limit);

	if (distance > limit)
		return;
	closest->name = shown;
	closest->distance = distance;
}

/*
 * Ask for the nearest name: ` Did you mean "…"?`, or "" when no name is near.
 */
const char *
sf_closest_question(const SfClosest *closest)
{
	return closest->name == NULL ? "" :
		psprintf(" Did you mean \"%s\"?", closest->name);
}

/*
 * Give errhint() with the question after the nearest name, or else with
 * another hint (may be NULL).
 */
int
sf_closest_errhint(const SfClosest *closest, const char *otherwise)
{
	if (closest->name != NULL)
		return errhint("Did you mean \"%s\"?", closest->name);
	return otherwise == NULL ? 0 : errhint("%s", otherwise);
}

/* --- arguments that are one of some words --- */

/* Find which of some words an argument is, or raise SF012 with all of them. */
int
sf_argument_word(const char *argument, const char *text, const char *const *words, int nwords)
{
	StringInfoData all;

	for (int i = 0; i < nwords; i++)
		if (strcmp(text, words[i]) == 0)
			return i;
	initStringInfo(&all);
	for (int i = 0; i < nwords; i++)
		appendStringInfo(&all, "%s%s", i == 0 ? "" : ", ", words[i]);
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("argument %s must not be \"%s\"", argument, text),
			 errhint(nwords == 1 ? "It is %s." : "It is one of %s.", all.data)));
}
