/*
 * otlp_batch.h
 *		Spans that were taken from the database, and the requests that they become.
 */
#ifndef SFG_OTLP_BATCH_H
#define SFG_OTLP_BATCH_H

#include <libpq-fe.h>

#include "tools/client/json_text.h"

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

#endif							/* SFG_OTLP_BATCH_H */
