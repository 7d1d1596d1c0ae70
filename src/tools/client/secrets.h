/*
 * secrets.h
 *		Keep the worker's secrets from other processes.
 */
#ifndef SFW_SECRETS_H
#define SFW_SECRETS_H

extern void sfw_secrets_hide(void);
extern bool sfw_secrets_in_conninfo(const char *conninfo);
extern void sfw_secrets_hide_conninfo(char *argument);

#endif							/* SFW_SECRETS_H */
