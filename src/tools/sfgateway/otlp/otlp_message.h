/*
 * otlp_message.h
 *		Requests and answers of the OpenTelemetry protocol, as JSON and as protobuf.
 */
#ifndef SFG_OTLP_MESSAGE_H
#define SFG_OTLP_MESSAGE_H

#include "tools/client/json_text.h"

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

#endif							/* SFG_OTLP_MESSAGE_H */
