/*
 * route.c
 *		What is served at which path.
 */
#include "postgres_fe.h"

#include "tools/sfgateway/aws_api/aws_api.h"
#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/database/call_error.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/hashing.h"
#include "tools/sfgateway/http/listener.h"
#include "tools/sfgateway/mcp/mcp.h"
#include "tools/sfgateway/nodes/gateway_nodes.h"
#include "tools/sfgateway/otlp/otlp.h"

static void readyz(SfgRequest *request);

static void metrics(SfgRequest *request);

static void healthz(SfgRequest *request);

static const SfgRoute routes[] = {
	{"GET", "/healthz", healthz, .quiet = true, .always = true},
	{"GET", "/readyz", readyz, .quiet = true, .always = true},
	{"GET", "/metrics", metrics, .quiet = true},
	{"POST", "/", sfg_aws, .large = true, .check = sfg_aws_check, .for_programs = true},
	{"POST", "/mcp", sfg_mcp, .for_programs = true, .setting = &sfg_config.mcp},
	{"POST", "/register", sfg_mcp_register, .for_programs = true, .setting = &sfg_config.mcp},
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
		if (!is_path(&routes[i], path) || (health && !routes[i].always) ||
			(routes[i].setting != NULL && !*routes[i].setting))
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

/*
 * Pages for programs that watch the gateway and the workflows.
 *
 * /healthz	the process answers
 * /readyz		it is connected to the database and takes requests
 * /metrics	what sf_prometheus() says, and what the exporter of traces does, in Prometheus' text format
 */

static bool leaving;

/* Say from now on that the gateway takes no requests. */
void
sfg_not_ready(void)
{
	leaving = true;
}

/* Answer with a line of text. */
static void
answer_line(SfgRequest *request, unsigned status, const char *line)
{
	sfg_answer(request, status, "text/plain; charset=utf-8", line, strlen(line));
	sfg_answer_send(request);
}

/* GET /healthz */
static void
healthz(SfgRequest *request)
{
	answer_line(request, MHD_HTTP_OK, "ok\n");
}

/* GET /readyz */
static void
readyz(SfgRequest *request)
{
	if (leaving)
		answer_line(request, MHD_HTTP_SERVICE_UNAVAILABLE, "leaving\n");
	else if (!sfg_database_is_ready())
		answer_line(request, MHD_HTTP_SERVICE_UNAVAILABLE, "no connection to the database\n");
	else
		answer_line(request, MHD_HTTP_OK, "ok\n");
}

/* The metrics have come. */
static void
metrics_done(const PGresult *result, void *arg)
{
	static const char type[] = "text/plain; version=0.0.4; charset=utf-8";
	PQExpBufferData text;

	if (!sfg_call_has_value(result) || PQgetlength(result, 0, 0) > SFG_LARGEST_ANSWER)
	{
		sfg_call_answer(arg, result, type);
		return;
	}
	initPQExpBuffer(&text);
	appendBinaryPQExpBuffer(&text, PQgetvalue(result, 0, 0), (size_t) PQgetlength(result, 0, 0));
	sfg_otlp_put_metrics(&text);
	sfg_nodes_put_metrics(&text);
	sfg_answer(arg, MHD_HTTP_OK, type, sfc_buffer_data(&text), text.len);
	sfg_answer_send(arg);
	termPQExpBuffer(&text);
}

/* Tell whether a request has the token that the settings ask for. */
static bool
has_token(const SfgRequest *request)
{
	const char *given = sfg_request_header(request, "Authorization");

	if (sfg_config.metrics_token == NULL)
		return true;
	return given != NULL && pg_strncasecmp(given, "Bearer ", 7) == 0 && sfg_is_same(given + 7, sfg_config.metrics_token);
}

/* GET /metrics */
static void
metrics(SfgRequest *request)
{
	if (sfg_config.metrics_dsn == NULL)
		sfg_answer_error(request, MHD_HTTP_NOT_FOUND, "metrics are not configured");
	else if (!has_token(request))
	{
		sfg_answer_error(request, MHD_HTTP_UNAUTHORIZED, "a bearer token is needed");
		sfg_answer_header(request, "WWW-Authenticate", "Bearer");
	}
	else
		sfg_call_make(request, &sfg_metrics_pool, "SELECT @.sf_prometheus()", 0, NULL, metrics_done);
}
