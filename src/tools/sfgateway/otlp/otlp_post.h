/*
 * otlp_post.h
 *		Sending spans to a collector over HTTP.
 */
#ifndef SFG_OTLP_POST_H
#define SFG_OTLP_POST_H

#include "tools/client/json_text.h"

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
	bool		settings;		/* an operator has to do something: the request is not allowed, or nothing serves it */
	const char *reason;			/* why it was not taken, or what the collector says besides; or NULL */
	int64_t		rejected;		/* spans of a request that was taken */
	int64_t		retry_after;	/* milliseconds that the collector asks for; 0: it does not */
} SfgOtlpAnswer;

extern bool sfg_otlp_check(char **problem);
extern bool sfg_otlp_check_header(const char *header);
extern void sfg_otlp_post_load(const char *json, size_t len);
extern void sfg_otlp_post_send(void (*done) (const SfgOtlpAnswer *answer));
extern void sfg_otlp_post_drop(void);

#endif							/* SFG_OTLP_POST_H */
