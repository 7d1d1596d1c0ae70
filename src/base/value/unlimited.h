/*
 * unlimited.h
 *		What a greatest number is where there is none.
 */
#ifndef SF_BASE_UNLIMITED_H
#define SF_BASE_UNLIMITED_H

/* Where it may stand how many there may be of something: any number, as in MaxConcurrency and MaxItems */
#define SF_UNLIMITED	0

#endif							/* SF_BASE_UNLIMITED_H */
