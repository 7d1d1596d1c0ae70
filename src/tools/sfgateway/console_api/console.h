/*
 * console.h
 *		The console: its sessions, signing in, actions, files, and news of changes.
 */
#ifndef SFG_CONSOLE_H
#define SFG_CONSOLE_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/client/json_text.h"
#include "tools/sfgateway/database/pool.h"
#include "tools/sfgateway/hashing.h"
#include "tools/sfgateway/http/http_request.h"

/* --- sessions: a role, and its connection to the database --- */

#define SFG_TOKEN_BYTES 32
#define SFG_TOKEN_HEX	(2 * SFG_TOKEN_BYTES + 1)

/* What a page has to show for its session: the gateway keeps only the digests. */
typedef struct SfgConsoleSecrets
{
	char		cookie[SFG_TOKEN_HEX];
	char		csrf[SFG_TOKEN_HEX];
} SfgConsoleSecrets;

/*
 * Where a session stands, with the states that may follow.
 *
 *	SIGNING_IN	-> OPEN			its role is known
 *	OPEN		-> LOST			its connection was lost
 *	LOST		-> CONNECTING	a request of its page comes
 *	CONNECTING	-> OPEN			it has a new connection
 *				-> LOST			... or none could be made
 *
 * Each may lead to OVER.  A session that the gateway kept in a file begins as LOST.
 */
typedef enum SfgSessionStatus
{
	SFG_SESSION_SIGNING_IN,
	SFG_SESSION_OPEN,
	SFG_SESSION_LOST,
	SFG_SESSION_CONNECTING,
	SFG_SESSION_OVER
} SfgSessionStatus;

/* The question to the database whether it went with the connection of a session */
typedef enum SfgSessionProbe
{
	SFG_PROBE_NONE,
	SFG_PROBE_SENT,				/* its answer gets the session */
	SFG_PROBE_DUE				/* it is asked again when the timer fires */
} SfgSessionProbe;

typedef struct SfgConsoleSession
{
	SfgSessionStatus status;
	char		cookie_digest[SFG_DIGEST_HEX];
	char		csrf_digest[SFG_DIGEST_HEX];
	SfgSealed	password;		/* its key is made of both */
	SfgConsoleSecrets *secrets; /* until the sign-in is answered; then NULL */
	char	   *role;
	char	   *writes;			/* actions that write, with a blank before and after each; not while SIGNING_IN */
	char	   *version;		/* of the role, as sf_console_session() says; not while SIGNING_IN */
	SfgPool		pool;			/* of one connection */
	int64_t		begun_at;
	int64_t		used_at;
	int64_t		lost_at;		/* when the connection was lost */
	int64_t		tried_at;		/* when it was last lost or not made */
	SfgSessionProbe probe;
	SfcTimer	probe_timer;	/* while that is due */
	SfgRequest *sign_in;		/* that is not answered yet, or NULL */
	SfcTimer	timer;
	dlist_node	node;
} SfgConsoleSession;

/*
 * Called with a session that is signed in, or with NULL.  Then trouble says what is wrong with the database; if it is
 * NULL, too, the database has refused the role or the password.
 */
typedef void (*SfgSignedIn) (SfgRequest *request, SfgConsoleSession *session, const char *trouble);

extern void sfg_console_sign_in(SfgRequest *request, const char *role, char *password, SfgSignedIn done);
extern SfgConsoleSession *sfg_console_session_find(const char *cookie);
extern bool sfg_console_session_has(const SfgConsoleSession *session, const char *csrf);
extern bool sfg_console_session_revive(SfgConsoleSession *session, const char *cookie, const char *csrf);
extern const char *sfg_console_session_trouble(const SfgConsoleSession *session);
extern void sfg_console_session_end(SfgConsoleSession *session, const char *why);
extern bool sfg_console_has_room(const char *role);
extern void sfg_console_sessions_start(void);
extern void sfg_console_sessions_stop(void);

/* --- a file in which they outlast a restart --- */

extern FILE *sfg_session_file_create(void);
extern void sfg_session_file_put(FILE *file, const SfgConsoleSession *session);
extern void sfg_session_file_close(FILE *file);
extern void sfg_session_file_take(void (*take) (SfgConsoleSession *session));

/* --- signing in to the console, and out --- */

extern void sfg_console_login(SfgRequest *request);
extern void sfg_console_logout(SfgRequest *request);
extern void sfg_console_who(SfgRequest *request);

/* --- requests of the console's own pages, and no others --- */

extern bool sfg_console_is_own(SfgRequest *request);
extern bool sfg_console_is_not_foreign(SfgRequest *request);
extern bool sfg_console_is_https(void);
extern const char *sfg_console_cookie(void);
extern SfgConsoleSession *sfg_console_session_of(const SfgRequest *request);
extern SfgConsoleSession *sfg_console_guard(SfgRequest *request);
extern bool sfg_console_revive(SfgRequest *request, SfgConsoleSession *session);
extern void sfg_console_answer_down(SfgRequest *request, const SfgConsoleSession *session);
extern bool sfg_console_body(SfgRequest *request, SfcJson *body);

/* --- actions of the console --- */

/* Before a call whose FROM is r: the setting holds until the transaction ends, and cannot be taken back in it. */
#define SFG_READ_ONLY \
	"WITH r AS MATERIALIZED (SELECT pg_catalog.set_config('transaction_read_only', 'on', true)) "

/* $1 role, $2 action, $3 request, $4 whether it writes: on a node other than the coordinator */
#define SFG_CONSOLE_NODE_CALL \
	"SELECT @.sf_console_api_as($1::pg_catalog.name, $2::pg_catalog.text, $3::pg_catalog.jsonb," \
	" $4::pg_catalog.bool)::pg_catalog.text"

extern bool sfg_console_check(SfgRequest *request);
extern void sfg_console_api(SfgRequest *request);
extern void sfg_console_answer(SfgRequest *request, const PGresult *result);

extern bool sfg_console_is_list(const char *action);
extern void sfg_console_list(SfgRequest *request, const SfgConsoleSession *session);

/* --- the files of the console, which are part of the program --- */

extern bool sfg_asset_exists(const char *path);
extern void sfg_asset(SfgRequest *request);

/* --- telling pages of the console that something has changed --- */

extern void sfg_changes_note(void);
extern void sfg_changes_heard(void);
extern void sfg_console_poll(SfgRequest *request);
extern void sfg_changes_drain(void);

#endif							/* SFG_CONSOLE_H */
