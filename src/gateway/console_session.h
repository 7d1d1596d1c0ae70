/*
 * console_session.h
 *		Sessions of the console: a role, and its connection to the database.
 */
#ifndef SFG_CONSOLE_SESSION_H
#define SFG_CONSOLE_SESSION_H

#include "gateway/pool.h"
#include "gateway/http_request.h"

#define SFG_TOKEN_BYTES 32
#define SFG_TOKEN_HEX	(2 * SFG_TOKEN_BYTES + 1)

typedef struct SfgConsoleSession
{
	char		token[SFG_TOKEN_HEX];	/* the cookie */
	char		csrf[SFG_TOKEN_HEX];
	int64_t		serial;			/* no other session of this process has the same */
	char	   *role;
	char	   *writes;			/* actions that write, with a blank before and after each; NULL: signing in */
	char	   *version;		/* of the role, as sf_console_session() says; NULL: signing in */
	SfgPool		pool;			/* of one connection */
	int64_t		begun_at;
	int64_t		used_at;
	SfgRequest *sign_in;		/* that is not answered yet, or NULL */
	bool		over;
	SfwTimer	timer;
	dlist_node	node;
} SfgConsoleSession;

/* Called with a session that is signed in, or with NULL. */
typedef void (*SfgSignedIn) (SfgRequest *request, SfgConsoleSession *session);

extern void sfg_console_sign_in(SfgRequest *request, const char *role, char *password, SfgSignedIn done);
extern SfgConsoleSession *sfg_console_session_find(const char *token);
extern void sfg_console_session_end(SfgConsoleSession *session, const char *why);
extern int	sfg_console_sessions(void);
extern void sfg_console_sessions_stop(void);

#endif							/* SFG_CONSOLE_SESSION_H */
