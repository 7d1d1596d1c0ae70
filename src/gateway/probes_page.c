/*
 * probes_page.c
 *		Pages for programs that watch the gateway and the workflows.
 *
 *		/healthz	the process answers
 *		/readyz		it is connected to the database and takes requests
 *		/metrics	what sf_prometheus() says, in Prometheus' text format
 */
#include "postgres_fe.h"

#include "gateway/call_error.h"
#include "gateway/database.h"
#include "gateway/gateway_config.h"
#include "gateway/hashing.h"
#include "gateway/probes_page.h"

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
void
sfg_healthz(SfgRequest *request)
{
	answer_line(request, MHD_HTTP_OK, "ok\n");
}

/* GET /readyz */
void
sfg_readyz(SfgRequest *request)
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
	sfg_answer_value(arg, result, "text/plain; version=0.0.4; charset=utf-8");
}

/* Tell whether a request has the token that the settings ask for. */
static bool
has_token(const SfgRequest *request)
{
	const char *given = sfg_request_header(request, "Authorization");

	if (sfg_config.metrics_token == NULL)
		return true;
	return given != NULL && pg_strncasecmp(given, "Bearer ", 7) == 0 && sfg_same(given + 7, sfg_config.metrics_token);
}

/* GET /metrics */
void
sfg_metrics(SfgRequest *request)
{
	if (sfg_config.metrics_dsn == NULL)
		sfg_answer_error(request, MHD_HTTP_NOT_FOUND, "metrics are not configured");
	else if (!has_token(request))
	{
		sfg_answer_error(request, MHD_HTTP_UNAUTHORIZED, "a bearer token is needed");
		sfg_answer_header(request, "WWW-Authenticate", "Bearer");
	}
	else
		sfg_request_call(request, &sfg_metrics_pool, "SELECT @.sf_prometheus()", 0, NULL, metrics_done);
}
