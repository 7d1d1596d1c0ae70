/*
 * http_payload.h
 *		The request that the payload of an HTTP task asks for, and the connection that it names.
 */
#ifndef SFW_HTTP_PAYLOAD_H
#define SFW_HTTP_PAYLOAD_H

#include "tools/client/json_text.h"
#include "tools/sfworker/config.h"
#include "tools/sfworker/http/fetch.h"

extern char *sfw_http_read(SfcJson payload, SfwFetch *fetch);
extern const SfwSection *sfw_http_connection(SfcJson payload, SfwFetch *fetch);

#endif							/* SFW_HTTP_PAYLOAD_H */
