/*
 * http_payload.h
 *		The request that the payload of an HTTP task asks for, and the connection that it names.
 */
#ifndef SFW_HTTP_PAYLOAD_H
#define SFW_HTTP_PAYLOAD_H

#include "config.h"
#include "fetch.h"
#include "json_text.h"

extern char *sfw_http_read(SfwJson payload, SfwFetch *fetch);
extern const SfwSection *sfw_http_connection(SfwJson payload, SfwFetch *fetch);

#endif							/* SFW_HTTP_PAYLOAD_H */
