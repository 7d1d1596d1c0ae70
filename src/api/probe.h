/*
 * probe.h
 *		Tell whether the resources of a definition could run now in a machine of
 *		the caller.
 */
#ifndef SF_API_PROBE_H
#define SF_API_PROBE_H

#include "asl/program.h"

extern const char *sf_probe_missing(const SfResource *resource, const char *function);
extern char *sf_probe_resource(const SfResource *resource, const char *function,
							   bool for_items);

#endif							/* SF_API_PROBE_H */
