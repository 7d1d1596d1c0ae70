/*
 * one_of.h
 *		Is a number of an enum in a list of some?
 */
#ifndef SF_BASE_ONE_OF_H
#define SF_BASE_ONE_OF_H

/* Is a number one of these? */
static inline bool
sf_is_one_of(int number, const int *these, int count)
{
	for (int i = 0; i < count; i++)
		if (these[i] == number)
			return true;
	return false;
}

#define SF_IS_ONE_OF(number, ...) \
	sf_is_one_of(number, (const int[]) {__VA_ARGS__}, (int) (sizeof((const int[]) {__VA_ARGS__}) / sizeof(int)))

#endif							/* SF_BASE_ONE_OF_H */
