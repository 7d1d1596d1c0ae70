/*
 * limits.h
 *		Limits of an evaluation that are not settings.
 */
#ifndef SF_JSONATA_LIMITS_H
#define SF_JSONATA_LIMITS_H

/* Megabytes that the values of one evaluation may take */
#define SF_JN_MAX_MEMORY_MB 1024

/* Bytes of a string that an expression makes */
#define SF_JN_MAX_STRING (64 * 1024 * 1024)

/* Levels of nested arrays and objects that are printed or compared */
#define SF_JN_MAX_NESTING 6000

#endif							/* SF_JSONATA_LIMITS_H */
