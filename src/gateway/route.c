/*
 * route.c
 *		What is served at which path.
 */
#include "postgres_fe.h"

#include "gateway/assets.h"
#include "gateway/aws_call.h"
#include "gateway/changes.h"
#include "gateway/console_call.h"
#include "gateway/probes_page.h"
#include "gateway/route.h"
#include "gateway/sign_in.h"

static const SfgRoute routes[] = {
	{"GET", "/healthz", sfg_healthz, .quiet = true, .always = true},
	{"GET", "/readyz", sfg_readyz, .quiet = true, .always = true},
	{"GET", "/metrics", sfg_metrics, .quiet = true},
	{"POST", "/", sfg_aws, .large = true, .check = sfg_aws_check, .for_programs = true},
	{"POST", "/console/login", sfg_console_login, .large = false},
	{"POST", "/console/logout", sfg_console_logout, .large = false},
	{"GET", "/console/session", sfg_console_who, .quiet = true},
	{"POST", "/console/poll", sfg_console_poll, .quiet = true},
	{"POST", "/console/api/", sfg_console_api, .large = true, .check = sfg_console_check},
};

static const SfgRoute asset = {"GET", "/", sfg_asset, .quiet = true};

/* Tell whether a path is that of a route. */
static bool
is_path(const SfgRoute *route, const char *path)
{
	size_t		len = strlen(route->path);

	if (len > 1 && route->path[len - 1] == '/')
		return strncmp(path, route->path, len) == 0;
	return strcmp(path, route->path) == 0;
}

/* Tell whether a route has a method. */
static bool
has_method(const SfgRoute *route, const char *method)
{
	return strcmp(route->method, method) == 0 ||
		(strcmp(route->method, "GET") == 0 && strcmp(method, "HEAD") == 0);
}

/*
 * Find what to do for a path; NULL: nothing, and *allowed is a method that the
 * path has, or NULL.  For health, only what is always served.
 */
const SfgRoute *
sfg_route_find(const char *method, const char *path, bool health, const char **allowed)
{
	*allowed = NULL;
	for (size_t i = 0; i < lengthof(routes); i++)
	{
		if (!is_path(&routes[i], path) || (health && !routes[i].always))
			continue;
		if (has_method(&routes[i], method))
			return &routes[i];
		*allowed = routes[i].method;
	}
	if (!health && sfg_asset_exists(path))
	{
		if (has_method(&asset, method))
			return &asset;
		*allowed = *allowed != NULL ? "GET, POST" : "GET";
	}
	return NULL;
}
