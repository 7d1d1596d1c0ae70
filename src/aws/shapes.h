/*
 * shapes.h
 *		The operations of AWS services, and the shapes of their responses.
 */
#ifndef SF_AWS_SHAPES_H
#define SF_AWS_SHAPES_H

#include "asl/program.h"

/* An operation as the model of its service defines it */
typedef struct SfOperationShape
{
	bool		service_known;
	const char *text;			/* of its response, in the language of response_shapes.c; NULL: unknown */
	const char *patterns;		/* the integration patterns that it supports, up to a blank: "rst" */
	const char *const *shared;	/* shapes that shapes refer to, by number */
	int			nshared;
} SfOperationShape;

extern SfOperationShape sf_shape_find(const SfResource *resource);
extern char *sf_shape_is_known(const SfResource *resource, bool for_items, bool all);

#endif							/* SF_AWS_SHAPES_H */
