/*
 * otlp.c
 *		The exporter of traces to a collector of OpenTelemetry.
 *
 *		IDLE ──► TAKING ──► SENDING ◄──► WAITING
 *		  ▲        ▲           │
 *		  │        │           ▼
 *		  └────────┴─────── CONFIRMING
 *
 * sf_take_spans() gives the spans of executions and a lease on them, and commits: no
 * transaction is open while the collector is asked.  The spans are sent in requests of
 * some size (otlp_batch.c, otlp_post.c).  When a request that has the last span of an execution was
 * taken, sf_confirm_spans() says so (CONFIRMING), again and again until the database takes it: nothing is
 * exported meanwhile.  What was not confirmed is due again when the lease has ended, here or in
 * another gateway.  So spans that the collector has taken are sent again, with the ids that they
 * had, after a crash between its answer and the confirmation; by another gateway, when the
 * database takes no confirmation for as long as the lease; and when it got only a part of an
 * execution before the lease ended.
 *
 * A request that fails is sent again, after the time that the collector asks for, or 1, 2, 4 ...
 * 30 seconds, of which a random part less.  When the lease would end before it is answered,
 * it is dropped and the spans stay in the database.  Until the collector takes something
 * again, one execution at a time is tried.  So a collector that is not there costs two or three
 * requests and one short transaction a minute, and no memory.
 *
 * An execution whose spans the collector refuses for what they are is given back with the
 * collector's reason (sf_reject_spans).
 */
#include "postgres_fe.h"

#include <time.h>

#include "tools/client/log.h"
#include "tools/client/transfer.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/otlp/otlp.h"
#include "tools/sfgateway/otlp/otlp_internal.h"

/* Milliseconds of a lease, at least */
#define SHORTEST_LEASE 60000

/* Milliseconds before a request is sent again: the first time, and at most */
#define FIRST_DELAY	1000
#define LAST_DELAY	30000

/* Milliseconds after a call to the database that has failed */
#define CALL_RETRY	10000

/* Executions that are taken at first: how large they are is not known yet */
#define FIRST_COUNT	10

/* Requests' worth of spans that are taken at once */
#define MOST_REQUESTS 8

typedef enum ExportStatus
{
	IDLE,						/* until the timer */
	TAKING,
	SENDING,
	WAITING,					/* until the timer, to send again */
	CONFIRMING					/* a call tells the database, or the timer has it made again */
} ExportStatus;

/* What is counted for /metrics */
typedef struct Counters
{
	uint64		executions;
	uint64		spans;
	uint64		rejected;		/* spans that the collector did not take of requests that it took */
	uint64		refused;		/* executions that it did not take */
	uint64		requests;
	uint64		failures;		/* requests that were not taken */
} Counters;

static SfgPool pool = {.most_queued = 1, .patience = 5000};
static ExportStatus status;
static bool on;
static bool draining;
static SfcTimer timer;
static SfgOtlpRequest request;
static char *refusal;			/* why its execution is given back; NULL: it was taken */
static int	count = FIRST_COUNT;	/* of executions that are taken at once */
static int	asked;				/* of the last call */
static int64_t lease_end;
static int64_t delay;			/* before the last try; 0: the last request was taken */
static bool take_failed;
static char *told;				/* the reason that the log has last */
static Counters counters;
static int64_t oldest;			/* end of the execution that waits longest, as far as is known; 0: none */

static void claim_spans(void *arg);
static void send_request(void *arg);
static void confirm(void *arg);
static void next_request(void);

/* Do nothing for some time, and then take spans. */
static void
rest(int64_t milliseconds)
{
	sfg_otlp_batch_drop();
	status = IDLE;
	if (!draining)
		sfc_timer_set(&timer, milliseconds, claim_spans, NULL);
}

/* Milliseconds for which executions are taken. */
static int64_t
lease(void)
{
	return Max(SHORTEST_LEASE, 4 * sfg_config.otlp_timeout);
}

/* Write a problem to the log, unless it is what the log has last. */
static void
log_problem(SfcLevel level, const char *what, const char *reason)
{
	if (told != NULL && strcmp(told, reason) == 0)
		level = SFC_LOG_DEBUG;
	free(told);
	told = pg_strdup(reason);
	sfc_log(level, what, "reason", reason, NULL);
}

/* ---------------------------------------------------------------- taking */

/* Take fewer executions next time if these were much, more if they were little. */
static void
adapt(size_t bytes)
{
	if (bytes > MOST_REQUESTS * sfg_config.otlp_batch_bytes)
		count = Max(count / 2, 1);
	else if (bytes < MOST_REQUESTS / 4 * sfg_config.otlp_batch_bytes)
		count = Min(count * 2, sfg_config.otlp_batch);
}

/* Spans were claimed, or there are none. */
static void
spans_claimed(const PGresult *result, void *arg)
{
	if (result == NULL || PQresultStatus(result) != PGRES_TUPLES_OK)
	{
		char	   *reason = result != NULL ? sfc_message(PQresultErrorMessage(result)) : NULL;

		if (reason != NULL)
			log_problem(SFC_LOG_ERROR, "spans cannot be taken from the database", reason);
		take_failed = take_failed || reason != NULL;
		free(reason);
		rest(CALL_RETRY);
		return;
	}
	if (take_failed)
		sfc_log(SFC_LOG_INFO, "spans can be taken again", NULL);
	take_failed = false;
	if (draining || PQntuples(result) == 0)
	{
		if (delay == 0)
			oldest = 0;
		rest(sfg_config.otlp_interval);
		return;
	}
	adapt(sfg_otlp_batch_load(result));
	if (delay == 0 || oldest == 0)
		oldest = sfg_otlp_batch_oldest();
	next_request();
}

/* Claim spans: those of one execution while the collector does not take any. */
static void
claim_spans(void *arg)
{
	char		number[16];
	char		lease_text[32];
	const char *values[2] = {number, lease_text};

	asked = delay == 0 ? count : 1;
	snprintf(number, sizeof(number), "%d", asked);
	snprintf(lease_text, sizeof(lease_text), "%lld ms", (long long) lease());
	lease_end = sfc_now() + lease();
	status = TAKING;
	if (sfg_pool_call(&pool, "SELECT s.export_no, s.spans FROM @.sf_take_spans($1::pg_catalog.int4, $2::pg_catalog.interval) AS s",
					  2, values, spans_claimed, NULL) == NULL)
		rest(CALL_RETRY);
}

/* ---------------------------------------------------------------- telling the database */

/* The request is done: go on with the next one. */
static void
confirmed(void)
{
	free(refusal);
	refusal = NULL;
	if (draining)
		rest(0);
	else
		next_request();
}

/* The database knows what has become of the request. */
static void
outcome_stored(const PGresult *result, void *arg)
{
	bool		good = result != NULL && PQresultStatus(result) == PGRES_TUPLES_OK;

	if (result != NULL && !good)
	{
		char	   *reason = sfc_message(PQresultErrorMessage(result));

		log_problem(SFC_LOG_ERROR, "the database does not take that spans were exported", reason);
		free(reason);
	}
	/*
	 * Spans that were exported would be exported again: try until it is told.  It may never take
	 * the words of a refusal.
	 */
	if (result == NULL || (!good && refusal == NULL))
	{
		sfc_timer_set(&timer, result == NULL ? FIRST_DELAY : CALL_RETRY, confirm, NULL);
		return;
	}
	confirmed();
}

/* Tell the database which executions were exported, or which one the collector refuses. */
static void
confirm(void *arg)
{
	char	   *numbers = sfg_otlp_batch_numbers(&request);
	const char *values[2] = {numbers, refusal};
	bool		sent;

	status = CONFIRMING;
	if (numbers == NULL)
	{
		confirmed();
		return;
	}
	if (refusal != NULL)
		sent = sfg_pool_call(&pool, "SELECT @.sf_reject_spans($1::pg_catalog.int8[], $2::pg_catalog.text)",
							 2, values, outcome_stored, NULL) != NULL;
	else
		sent = sfg_pool_call(&pool, "SELECT @.sf_confirm_spans($1::pg_catalog.int8[])",
							 1, values, outcome_stored, NULL) != NULL;
	if (!sent)
		sfc_timer_set(&timer, FIRST_DELAY, confirm, NULL);
	free(numbers);
}

/* ---------------------------------------------------------------- sending */

/* The collector has taken a request. */
static void
note_taken(const SfgOtlpAnswer *answer)
{
	char		rejected[24];

	if (delay != 0)
		sfc_log(SFC_LOG_INFO, "spans are exported again", NULL);
	delay = 0;
	oldest = sfg_otlp_batch_oldest();
	counters.executions += (uint64) (request.ended - request.first);
	counters.rejected += (uint64) Min(answer->rejected, request.spans);
	counters.spans += (uint64) (request.spans - Min(answer->rejected, request.spans));
	if (answer->rejected == 0 && answer->reason == NULL)
	{
		free(told);
		told = NULL;
		return;
	}
	snprintf(rejected, sizeof(rejected), "%lld", (long long) answer->rejected);
	sfc_log(SFC_LOG_WARNING, answer->rejected > 0 ? "the collector did not take all spans of a request" :
			"the collector took the spans of a request, and warns", "rejected", rejected, "reason", answer->reason, NULL);
}

/* The collector does not take what a request holds: divide it, or give its execution back. */
static void
refused(const SfgOtlpAnswer *answer)
{
	if (sfg_otlp_batch_divide(&request, answer->verdict == SFG_OTLP_TOO_LARGE))
	{
		sfc_log(SFC_LOG_DEBUG, "a request is divided", "reason", answer->reason, NULL);
		next_request();
		return;
	}
	sfc_log(SFC_LOG_ERROR, "the collector refuses the spans of an execution", "reason", answer->reason, NULL);
	sfg_otlp_batch_skip(&request);
	counters.refused++;
	refusal = pg_strdup(answer->reason);
	confirm(NULL);
}

/* A request has failed: send it again after a while, or leave its spans in the database. */
static void
try_later(const SfgOtlpAnswer *answer)
{
	int64_t		wait;

	log_problem(answer->needs_operator ? SFC_LOG_ERROR : SFC_LOG_WARNING, "spans cannot be exported", answer->reason);
	delay = delay == 0 ? FIRST_DELAY : Min(delay * 2, LAST_DELAY);
	wait = answer->retry_after > 0 ? answer->retry_after + random() % FIRST_DELAY : delay - random() % (delay / 2);
	if (draining)
		rest(0);
	else if (sfc_now() + wait + sfg_config.otlp_timeout > lease_end)
	{
		sfg_otlp_post_drop();
		rest(wait);
	}
	else
	{
		status = WAITING;
		sfc_timer_set(&timer, wait, send_request, NULL);
	}
}

/* A request was answered, or has failed. */
static void
answered(const SfgOtlpAnswer *answer)
{
	if (answer->verdict != SFG_OTLP_TAKEN)
		counters.failures++;
	switch (answer->verdict)
	{
		case SFG_OTLP_TAKEN:
			note_taken(answer);
			confirm(NULL);
			break;
		case SFG_OTLP_LATER:
			try_later(answer);
			break;
		case SFG_OTLP_REFUSED:
		case SFG_OTLP_TOO_LARGE:
			delay = 0;
			refused(answer);
			break;
	}
}

/* Send the request that was made last. */
static void
send_request(void *arg)
{
	status = SENDING;
	counters.requests++;
	sfg_otlp_post_send(answered);
}

/* The name of the database, once there is a connection to it. */
static const char *
database_name(void)
{
	return pool.connections[0].db.session.conn != NULL ? PQdb(pool.connections[0].db.session.conn) : NULL;
}

/* Make the next request of what was taken, or take more. */
static void
next_request(void)
{
	int			n = sfg_otlp_batch_count();

	if (sfc_now() + sfg_config.otlp_timeout > lease_end || !sfg_otlp_batch_next(&request, database_name()))
	{
		/* When fewer were there than asked for, no more are due. */
		rest(n < asked ? sfg_config.otlp_interval : 0);
		return;
	}
	if (request.spans > 0)
		sfg_otlp_post_load(request.json.data, request.json.len);
	termPQExpBuffer(&request.json);
	if (request.spans > 0)
		send_request(NULL);
	else
		confirm(NULL);
}

/* ---------------------------------------------------------------- life */

/* A connection to the database is there: what waits for it does so no longer. */
static void
connected(SfgPool *of)
{
	if (status == IDLE && timer.armed)
		rest(0);
}

/* Begin to export, if the settings name a collector. */
void
sfg_otlp_start(void)
{
	on = sfg_config.otlp != NULL;
	if (!on)
		return;
	sfc_transfer_init();
	count = Min(FIRST_COUNT, sfg_config.otlp_batch);
	pool.dsn = sfg_config.otlp_dsn != NULL ? sfg_config.otlp_dsn : sfg_config.dsn;
	pool.statement_timeout = sfg_config.statement_timeout;
	pool.connected = connected;
	sfg_pool_start(&pool, 1);
	rest(0);
}

/* Take no more spans: the request that is under way is the last. */
void
sfg_otlp_drain(void)
{
	draining = true;
	if (status == IDLE || status == WAITING)
	{
		sfc_timer_clear(&timer);
		rest(0);
	}
}

/* Tell whether no request is under way, and the database knows of all. */
bool
sfg_otlp_is_idle(void)
{
	return status == IDLE;
}

/* Stop at once. */
void
sfg_otlp_stop(void)
{
	if (!on)
		return;
	draining = true;
	sfg_otlp_post_drop();
	sfg_pool_stop(&pool);
	sfc_timer_clear(&timer);
	sfg_otlp_batch_drop();
	free(refusal);
	free(told);
	refusal = told = NULL;
}

/* Append one metric. */
static void
put_metric(PQExpBuffer metrics, const char *name, const char *type, const char *help, double value)
{
	appendPQExpBuffer(metrics, "# HELP sfgateway_otlp_%s %s\n# TYPE sfgateway_otlp_%s %s\nsfgateway_otlp_%s %.17g\n",
					  name, help, name, type, name, value);
}

/* Append what /metrics tells of the exporter, if there is one. */
void
sfg_otlp_put_metrics(PQExpBuffer metrics)
{
	double		lag = oldest > 0 ? (double) time(NULL) - (double) oldest / 1e9 : 0;

	if (!on)
		return;
	put_metric(metrics, "executions_exported_total", "counter",
			   "Executions whose spans the collector has taken.", (double) counters.executions);
	put_metric(metrics, "spans_exported_total", "counter",
			   "Spans that the collector has taken.", (double) counters.spans);
	put_metric(metrics, "spans_rejected_total", "counter",
			   "Spans that the collector did not take of requests that it took.", (double) counters.rejected);
	put_metric(metrics, "executions_refused_total", "counter",
			   "Executions whose spans the collector refused.", (double) counters.refused);
	put_metric(metrics, "requests_total", "counter",
			   "Requests to the collector.", (double) counters.requests);
	put_metric(metrics, "requests_failed_total", "counter",
			   "Requests that the collector did not take.", (double) counters.failures);
	put_metric(metrics, "lag_seconds", "gauge",
			   "Time since the oldest execution ended that is being exported, 0 when none is.", Max(lag, 0));
}
