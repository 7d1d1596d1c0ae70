/*
 * closest.h
 *		Of the names that there are, the one that was probably meant.
 */
#ifndef SF_BASE_CLOSEST_H
#define SF_BASE_CLOSEST_H

typedef struct SfClosest
{
	const char *wanted;			/* what was written */
	const char *name;			/* the nearest so far; NULL: none is near */
	int			distance;		/* how many characters of it differ */
} SfClosest;

/* Begin a search for the name nearest to one that does not exist. */
extern SfClosest sf_closest_begin(const char *wanted);

/* Would a name be nearer than the nearest one so far? */
extern bool sf_closest_is_better(const SfClosest *closest, const char *name);

/* Offer a name, which has to live as long as the search. */
extern void sf_closest_offer(SfClosest *closest, const char *name);

/* The same for one that is shown otherwise: with its schema. */
extern void sf_closest_offer_as(SfClosest *closest, const char *name,
								const char *shown);

/* ` Did you mean "…"?`, or "" when no name is near. */
extern const char *sf_closest_question(const SfClosest *closest);

/* errhint() with that question, or else with another hint (may be NULL). */
extern int	sf_closest_errhint(const SfClosest *closest, const char *otherwise);

#endif							/* SF_BASE_CLOSEST_H */
