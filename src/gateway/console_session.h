/*
 * console_session.h
 *		Sessions of the console: a role, and its connection to the database.
 */
#ifndef SFG_CONSOLE_SESSION_H
#define SFG_CONSOLE_SESSION_H

#include "gateway/pool.h"
#include "gateway/hashing.h"
#include "gateway/http_request.h"
#include "gateway/sealing.h"

#define SFG_TOKEN_BYTES 32
#define SFG_TOKEN_HEX	(2 * SFG_TOKEN_BYTES + 1)

/* What a page has to show for its session: the gateway keeps only the digests. */
typedef struct SfgConsoleSecrets
{
	char		cookie[SFG_TOKEN_HEX];
	char		csrf[SFG_TOKEN_HEX];
} SfgConsoleSecrets;

typedef struct SfgConsoleSession
{
	char		cookie_digest[SFG_DIGEST_HEX];
	char		csrf_digest[SFG_DIGEST_HEX];
	SfgSealed	password;		/* its key is made of both */
	SfgConsoleSecrets *secrets; /* until the sign-in is answered; then NULL */
	char	   *role;
	char	   *writes;			/* actions that write, with a blank before and after each; NULL: signing in */
	char	   *version;		/* of the role, as sf_console_session() says; NULL: signing in */
	SfgPool		pool;			/* of one connection */
	int64_t		begun_at;
	int64_t		used_at;
	int64_t		lost_at;		/* when the connection was lost */
	int64_t		tried_at;		/* when it was last lost or not made */
	bool		connecting;		/* anew */
	bool		probing;		/* it is not known yet whether the database went with it */
	SfgRequest *sign_in;		/* that is not answered yet, or NULL */
	bool		over;
	SfwTimer	timer;
	dlist_node	node;
} SfgConsoleSession;

/* Called with a session that is signed in, or with NULL. */
typedef void (*SfgSignedIn) (SfgRequest *request, SfgConsoleSession *session);

extern void sfg_console_sign_in(SfgRequest *request, const char *role, char *password, SfgSignedIn done);
extern SfgConsoleSession *sfg_console_session_find(const char *cookie);
extern bool sfg_console_session_has(const SfgConsoleSession *session, const char *csrf);
extern bool sfg_console_session_revive(SfgConsoleSession *session, const char *cookie, const char *csrf);
extern const char *sfg_console_session_trouble(const SfgConsoleSession *session);
extern void sfg_console_session_end(SfgConsoleSession *session, const char *why);
extern bool sfg_console_has_room(const char *role);
extern void sfg_console_sessions_stop(void);

#endif							/* SFG_CONSOLE_SESSION_H */
