/*
 * closest.h
 *		Find the existing name that a wrong name was probably meant to be.
 */
#ifndef SF_BASE_CLOSEST_H
#define SF_BASE_CLOSEST_H

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

#endif							/* SF_BASE_CLOSEST_H */
