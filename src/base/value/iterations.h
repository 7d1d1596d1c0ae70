/*
 * iterations.h
 *		Indexes of the iterations of Map states around a state, from the outermost on.
 */
#ifndef SF_BASE_ITERATIONS_H
#define SF_BASE_ITERATIONS_H

/* Are the iterations the same?  An array of none may be NULL, which memcmp does not take. */
static inline bool
sf_same_iterations(const int *a, int na, const int *b, int nb)
{
	return na == nb && (na == 0 || memcmp(a, b, sizeof(int) * na) == 0);
}

#endif							/* SF_BASE_ITERATIONS_H */
