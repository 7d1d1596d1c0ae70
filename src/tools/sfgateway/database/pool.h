/*
 * pool.h
 *		Connections that take calls from a queue.
 */
#ifndef SFG_POOL_H
#define SFG_POOL_H

#include "lib/ilist.h"

#include "tools/client/db.h"
#include "tools/client/hosts.h"

#define SFG_CALL_VALUES 4

/* Statements that a connection keeps prepared: more than the program has */
#define SFG_MOST_PREPARED 16

/* A statement that waits in the queue or is under way */
typedef struct SfgCall
{
	char	   *statement;		/* with @ for sfflow's schema */
	int			n;
	char	   *values[SFG_CALL_VALUES];
	SfcDbDone	done;			/* NULL: the sender has left */
	bool		(*wanted) (void *arg);	/* asked before it is sent; or NULL */
	void	   *arg;
	struct SfgPool *pool;		/* while it waits */
	int64_t		until;			/* when it gives up waiting for a connection */
	dlist_node	node;			/* in the queue */
} SfgCall;

/* A connection of a pool */
typedef struct SfgConnection
{
	SfcDb		db;
	struct SfgPool *pool;
	SfcHosts   *hosts;			/* while they are looked up */
	SfgCall    *call;			/* under way, or NULL */
	SfcTimer	deadline;		/* of this call */
	char	   *prepared[SFG_MOST_PREPARED];	/* statements; the index is the name */
	int			n_prepared;
} SfgConnection;

/* Set it to zero, and then its first part, before its first use. */
typedef struct SfgPool
{
	const char *dsn;
	const char *user;			/* NULL: that of the dsn */
	char	   *password;		/* wiped when it has been used */
	int64_t		statement_timeout;
	int64_t		connect_timeout;	/* milliseconds; 0: that of the settings */
	int64_t		longest_delay;	/* milliseconds between attempts to connect; 0: half a minute */
	int64_t		patience;		/* milliseconds that a call waits for a connection */
	int			most_queued;
	bool		by_role;		/* the first value of a call is its role, whose calls leave a connection to others */
	const char *listen;			/* a LISTEN statement, or NULL */
	void		(*notified) (struct SfcDb *db, const PGnotify *notify);
	void		(*connected) (struct SfgPool *pool);	/* or NULL */
	void		(*lost) (struct SfgPool *pool); /* do not connect again, but call this; or NULL */
	void		(*failing) (struct SfgPool *pool);	/* a connection is lost or not made, and is tried again; or NULL */
	void	   *arg;			/* of the owner */

	SfgConnection *connections;
	int			n_connections;
	int			n_queued;
	dlist_head	queue;
	SfcTimer	timer;			/* for calls that wait too long */
	SfcTimer	dispatch;		/* after this turn of the loop */
} SfgPool;

extern void sfg_pool_prepare(SfgPool *pool, int n);
extern void sfg_pool_start(SfgPool *pool, int n);
extern void sfg_pool_reconnect(SfgPool *pool, char *password);
extern void sfg_pool_hurry(SfgPool *pool);
extern void sfg_pool_give_up(SfgPool *pool, const char *why);
extern bool sfg_pool_is_down(const SfgPool *pool);
extern bool sfg_pool_is_connected(const SfgPool *pool);
extern bool sfg_pool_is_idle(const SfgPool *pool);
extern SfgCall *sfg_pool_call(SfgPool *pool, const char *statement, int n, const char *const *values,
							  SfcDbDone done, void *arg);
extern void sfg_pool_call_first(SfgPool *pool, const char *statement, SfcDbDone done, void *arg);
extern void sfg_call_forget(SfgCall *call);
extern void sfg_pool_stop(SfgPool *pool);
extern void sfg_pool_free(SfgPool *pool);

#endif							/* SFG_POOL_H */
