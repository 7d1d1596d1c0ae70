/*
 * sign_in_limit.h
 *		How often one may try to sign in.
 */
#ifndef SFG_SIGN_IN_LIMIT_H
#define SFG_SIGN_IN_LIMIT_H

#include <stdbool.h>

extern bool sfg_sign_in_try(const char *role, const char *address);
extern void sfg_sign_in_succeeded(const char *role, const char *address);

#endif							/* SFG_SIGN_IN_LIMIT_H */
