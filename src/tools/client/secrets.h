/*
 * secrets.h
 *		Keep a program's secrets from other processes.
 */
#ifndef SFC_SECRETS_H
#define SFC_SECRETS_H

extern void sfc_secrets_hide(void);
extern bool sfc_secrets_in_conninfo(const char *conninfo);
extern void sfc_secrets_hide_conninfo(char *argument);

#endif							/* SFC_SECRETS_H */
