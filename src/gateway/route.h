/*
 * route.h
 *		What is served at which path.
 */
#ifndef SFG_ROUTE_H
#define SFG_ROUTE_H

#include "gateway/http_request.h"

extern const SfgRoute *sfg_route_find(const char *method, const char *path, bool health, const char **allowed);

#endif							/* SFG_ROUTE_H */
