/*
 * credentials.h
 *		What a connection adds to requests: headers, a user name and a password, or a token of OAuth 2.0.
 */
#ifndef SFW_CREDENTIALS_H
#define SFW_CREDENTIALS_H

#include "tools/sfworker/config.h"
#include "tools/sfworker/http/fetch.h"

extern bool sfw_credentials_add(const SfwSection *connection, SfwFetch *fetch);
extern SfwFetch *sfw_credentials_ask(const SfwSection *connection);
extern char *sfw_credentials_take(const SfwSection *connection, const SfwFetch *answer);
extern void sfw_credentials_forget(const SfwSection *connection);

#endif							/* SFW_CREDENTIALS_H */
