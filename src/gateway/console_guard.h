/*
 * console_guard.h
 *		Requests of the console's own pages, and no others.
 */
#ifndef SFG_CONSOLE_GUARD_H
#define SFG_CONSOLE_GUARD_H

#include "client/json_text.h"
#include "gateway/console_session.h"

extern bool sfg_console_is_own(SfgRequest *request);
extern bool sfg_console_is_https(void);
extern const char *sfg_console_cookie(void);
extern SfgConsoleSession *sfg_console_session_of(const SfgRequest *request);
extern SfgConsoleSession *sfg_console_guard(SfgRequest *request);
extern bool sfg_console_revive(SfgRequest *request, SfgConsoleSession *session);
extern void sfg_console_answer_down(SfgRequest *request, const SfgConsoleSession *session);
extern bool sfg_console_body(SfgRequest *request, SfwJson *body);

#endif							/* SFG_CONSOLE_GUARD_H */
