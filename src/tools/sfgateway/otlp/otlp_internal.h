/*
 * otlp_internal.h
 *		What the files of the export in OTLP share.
 */
#ifndef SFG_OTLP_INTERNAL_H
#define SFG_OTLP_INTERNAL_H

#include <libpq-fe.h>

#include "tools/client/json_text.h"

/* --- otlp_message.c: requests and answers of the OpenTelemetry protocol, as JSON and as protobuf --- */

/* What a collector says in the body of its answer */
typedef struct SfgOtlpSaid
{
	int64_t		rejected;		/* spans that it did not take */
	char	   *message;		/* or NULL */
} SfgOtlpSaid;

#define SFG_OTLP_JSON		"application/json"
#define SFG_OTLP_PROTOBUF	"application/x-protobuf"

extern void sfg_otlp_encode(PQExpBuffer protobuf, SfcJson request);
extern SfgOtlpSaid sfg_otlp_read_success(const char *body, size_t len, const char *type);
extern SfgOtlpSaid sfg_otlp_read_refusal(const char *body, size_t len, const char *type);

/* --- json_scan.c: JSON that is known to be valid, read once from its beginning to its end --- */

/* What is not read yet */
typedef struct SfgScan
{
	const char *at;
	const char *end;
} SfgScan;

extern SfgScan sfg_scan_begin(const char *text, size_t len);
extern char sfg_scan_peek(SfgScan *scan);
extern bool sfg_scan_enter(SfgScan *scan, char bracket);
extern bool sfg_scan_next(SfgScan *scan, SfcJson *key);
extern SfcJson sfg_scan_value(SfgScan *scan);

/* --- otlp_batch.c: spans that were taken from the database, and the requests that they become --- */

/* A request for a collector; executions are counted from the first one that was taken */
typedef struct SfgOtlpRequest
{
	PQExpBufferData json;		/* OTLP/JSON; to be released */
	int			spans;
	int			executions;		/* that have spans in it */
	int			first;			/* execution that it is about */
	int			ended;			/* those before have all their spans in this request or in earlier ones */
} SfgOtlpRequest;

extern size_t sfg_otlp_batch_load(const PGresult *result);
extern int	sfg_otlp_batch_count(void);
extern int64_t sfg_otlp_batch_oldest(void);
extern bool sfg_otlp_batch_next(SfgOtlpRequest *request, const char *database);
extern bool sfg_otlp_batch_divide(const SfgOtlpRequest *request, bool too_large);
extern void sfg_otlp_batch_skip(SfgOtlpRequest *request);
extern char *sfg_otlp_batch_numbers(const SfgOtlpRequest *request);
extern void sfg_otlp_batch_drop(void);

/* --- otlp_post.c: sending spans to a collector over HTTP --- */

/* What to do after an answer */
typedef enum SfgOtlpVerdict
{
	SFG_OTLP_TAKEN,
	SFG_OTLP_LATER,				/* send it again */
	SFG_OTLP_REFUSED,			/* the collector does not take what the request holds */
	SFG_OTLP_TOO_LARGE			/* nor a request of this size */
} SfgOtlpVerdict;

typedef struct SfgOtlpAnswer
{
	SfgOtlpVerdict verdict;
	bool		needs_operator; /* an operator has to do something: the request is not allowed, or nothing serves it */
	const char *reason;			/* why it was not taken, or what the collector says besides; or NULL */
	int64_t		rejected;		/* spans of a request that was taken */
	int64_t		retry_after;	/* milliseconds that the collector asks for; 0: it does not */
} SfgOtlpAnswer;

extern bool sfg_otlp_check(char **problem);
extern bool sfg_otlp_check_header(const char *header);
extern void sfg_otlp_post_load(const char *json, size_t len);
extern void sfg_otlp_post_send(void (*done) (const SfgOtlpAnswer *answer));
extern void sfg_otlp_post_drop(void);

#endif							/* SFG_OTLP_INTERNAL_H */
