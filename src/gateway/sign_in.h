/*
 * sign_in.h
 *		Signing in to the console, and out.
 */
#ifndef SFG_SIGN_IN_H
#define SFG_SIGN_IN_H

#include "gateway/http_request.h"

extern void sfg_console_login(SfgRequest *request);
extern void sfg_console_logout(SfgRequest *request);
extern void sfg_console_who(SfgRequest *request);

#endif							/* SFG_SIGN_IN_H */
