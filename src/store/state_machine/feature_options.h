/*
 * feature_options.h
 *		Options of state machines that a feature compiles.
 */
#ifndef SF_STORE_FEATURE_OPTIONS_H
#define SF_STORE_FEATURE_OPTIONS_H

#include "asl/program.h"

typedef struct SfFeatureOptions
{
	const char *const *names;	/* up to NULL */

	/* The registry sets this to a number of the feature, by which compiled options are found (SF_COMPILED). */
	int		   *number;

	/* Compile what the options of a version say, in the current memory context, or raise; NULL: they say nothing. */
	void	   *(*compile) (const Jsonb *options, const SfProgram *program);
} SfFeatureOptions;

/* What a feature has compiled, of all that was compiled of a version */
#define SF_COMPILED(feature, compiled) ((compiled)[*(feature)->machine_options->number])

/* What a feature keeps of an execution that is to begin, a text or NULL, by the number of its options */
#define SF_OF_START(execution, number) ((execution)->start.of_features[number])

#endif							/* SF_STORE_FEATURE_OPTIONS_H */
