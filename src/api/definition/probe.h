/*
 * probe.h
 *		Whether the resources of a definition could run now in a machine of the caller.
 */
#ifndef SF_API_PROBE_H
#define SF_API_PROBE_H

#include "asl/program.h"

extern const char *sf_probe_missing(const SfResource *resource, const char *function);
/* How definitions are checked where nothing else is asked for */
extern const SfValidation sf_probe_usual;

#endif							/* SF_API_PROBE_H */
