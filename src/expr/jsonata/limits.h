/*
 * limits.h
 *		Bounds of an evaluation that are no settings.
 */
#ifndef SF_EXPR_JSONATA_LIMITS_H
#define SF_EXPR_JSONATA_LIMITS_H

/* Megabytes that the values of one evaluation may take */
#define SF_JN_MAX_MEMORY_MB 1024

#endif							/* SF_EXPR_JSONATA_LIMITS_H */
