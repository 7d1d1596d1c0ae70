/*
 * crowd.h
 *		Who has the connections, and which of them ends when they become few.
 */
#ifndef SFG_CROWD_H
#define SFG_CROWD_H

#include "postgres_fe.h"

#include <sys/socket.h>

struct SfgPeer;
struct SfgCrowdGroup;

/* Of a connection: whom it counts for */
typedef struct SfgCrowdStanding
{
	struct SfgCrowdGroup *address;	/* where it comes from */
	struct SfgCrowdGroup *role; /* as which its client has signed in; NULL: a stranger */
	bool		ends;			/* it was told to end */
} SfgCrowdStanding;

extern bool sfg_crowd_admits(const struct sockaddr *address);
extern void sfg_crowd_join(struct SfgPeer *peer, const struct sockaddr *address);
extern void sfg_crowd_sign_in(struct SfgPeer *peer, const char *role);
extern void sfg_crowd_leave(struct SfgPeer *peer);
extern bool sfg_crowd_add_answer(struct SfgPeer *peer, size_t bytes);
extern void sfg_crowd_drop_answer(struct SfgPeer *peer, size_t bytes);
extern struct SfgPeer *sfg_crowd_choose(const struct SfgPeer *newest);

/* --- roles whose requests wait for long --- */

typedef struct SfgWaiting SfgWaiting;

extern SfgWaiting *sfg_waiting_begin(const char *role);
extern void sfg_waiting_end(SfgWaiting *waiting);

#endif							/* SFG_CROWD_H */
