/*
 * database.h
 *		The gateway's own connections to the database.
 */
#ifndef SFG_DATABASE_H
#define SFG_DATABASE_H

#include "postgres_fe.h"

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "tools/sfgateway/database/pool.h"

extern SfgPool sfg_api_pool;
extern SfgPool sfg_keys_pool;
extern SfgPool sfg_sync_pool;
extern SfgPool sfg_metrics_pool;
extern SfgPool sfg_watch_pool;

extern void sfg_database_start(void);
extern bool sfg_database_is_ready(void);
extern void sfg_database_stop(void);

/* --- connections to databases, by connection strings --- */

extern bool sfg_dsn_check(const char *conninfo, char **problem);
extern char *sfg_dsn_of_node(const char *own, const char *address, const char *dbname);
extern SfcHosts *sfg_dsn_find_hosts(const char *conninfo, int turn, SfcHostsFound found, void *arg);
extern PGconn *sfg_dsn_connect(const char *conninfo, SfcHosts *hosts, int64_t statement_timeout, const char *user,
							   const char *password);

/* --- whether a server is there --- */

/* Where a server stands (presence.c) */
typedef enum SfgPresenceStatus
{
	SFG_PRESENCE_UNWATCHED,
	SFG_PRESENCE_THERE,					/* as far as is known */
	SFG_PRESENCE_LOST,					/* its connection was lost, and was not tried again */
	SFG_PRESENCE_SILENT
} SfgPresenceStatus;

/* A server that is watched. Set it to zero, and then its first part, before its first use. */
typedef struct SfgPresence
{
	SfgPool    *pool;			/* of the connection that tells */
	int64_t		within;			/* milliseconds that it has for an answer */
	void		(*late) (void *arg, const char *why);	/* it has not answered */
	bool		(*is_busy) (void *arg); /* it has calls to answer: ask it more often; or NULL */
	void	   *arg;			/* of the owner */

	SfgPresenceStatus status;
	bool		asked;			/* a question is under way, or waits in the pool */
	SfcTimer	timer;			/* for the next question, or the end of its time */
	time_t		answered_at;
} SfgPresence;

extern void sfg_presence_begin(SfgPresence *presence);
extern void sfg_presence_made(SfgPresence *presence);
extern SfgPresenceStatus sfg_presence_after_loss(const SfgPresence *presence);
extern void sfg_presence_ask_soon(SfgPresence *presence);
extern void sfg_presence_end(SfgPresence *presence);

/* --- whether the database is there --- */

extern int64_t sfg_availability_lost_at(void);
extern const char *sfg_availability_down_since(void);
extern void sfg_availability_probe(SfcDbDone done, void *arg);

/* --- crowd.c: who has the connections, and which of them ends when they become few --- */

struct SfgClient;
struct SfgCrowdGroup;

/* Of a connection: whom it counts for */
typedef struct SfgCrowdStanding
{
	struct SfgCrowdGroup *address;	/* where it comes from */
	struct SfgCrowdGroup *role; /* as which its client has signed in; NULL: a stranger */
	bool		ends;			/* it was told to end */
} SfgCrowdStanding;

extern bool sfg_crowd_admits(const struct sockaddr *address);
extern void sfg_crowd_join(struct SfgClient *client, const struct sockaddr *address);
extern void sfg_crowd_sign_in(struct SfgClient *client, const char *role);
extern void sfg_crowd_leave(struct SfgClient *client);
extern bool sfg_crowd_add_answer(struct SfgClient *client, size_t bytes);
extern void sfg_crowd_drop_answer(struct SfgClient *client, size_t bytes);
extern struct SfgClient *sfg_crowd_choose(const struct SfgClient *newest);

/* --- roles whose requests wait for long --- */

typedef struct SfgWaiting SfgWaiting;

extern SfgWaiting *sfg_waiting_begin(const char *role);
extern void sfg_waiting_end(SfgWaiting *waiting);

#endif							/* SFG_DATABASE_H */
