/*
 * presence.c
 *		Whether a server is there: what the one connection tells that listens.
 *
 *		THERE --> LOST --> SILENT
 *		  ^        |          |
 *		  +--------+----------+	the connection is made again
 *
 * It is asked CHECK milliseconds after the last answer, and soon after a call has begun: a host that goes without a
 * word ends no connection, and a session that only listens would never know.  The owner decides what follows when it
 * has not answered in time.  A connection that is lost and made again at once is no news: an operator has ended it.
 * When it cannot be made again, the server is silent.
 */
#include "postgres_fe.h"

#include <time.h>

#include "tools/sfgateway/database/database.h"

/* Milliseconds between questions whether a server is there */
#define CHECK		10000

static void ask(void *arg);

/* Note that a server has answered, and ask again later. */
static void
note_answer(SfgPresence *presence, int64_t pause)
{
	presence->answered_at = time(NULL);
	sfc_timer_set(&presence->timer, pause, ask, presence);
}

/* A server has said that it is there, or nothing (NULL). */
static void
told(const PGresult *result, void *arg)
{
	SfgPresence *presence = arg;

	presence->asked = false;
	if (result == NULL || presence->status == SFG_PRESENCE_UNWATCHED)
		return;
	note_answer(presence, presence->is_busy != NULL && presence->is_busy(presence->arg) ? 2 * presence->within : CHECK);
}

/* A server has not said whether it is there. */
static void
too_late(void *arg)
{
	SfgPresence *presence = arg;

	presence->late(presence->arg, "it has not answered in time");
}

/* Ask a server whether it is there. */
static void
ask(void *arg)
{
	SfgPresence *presence = arg;

	if (presence->status == SFG_PRESENCE_SILENT || presence->asked)
		return;
	presence->asked = true;
	sfc_timer_set(&presence->timer, presence->within, too_late, presence);
	sfg_pool_call_first(presence->pool, "SELECT 1", told, presence);
}

/* Ask soon whether a server is there: a call begins. */
void
sfg_presence_ask_soon(SfgPresence *presence)
{
	int64_t		at = sfc_now() + presence->within;

	if (!presence->asked && (!presence->timer.armed || presence->timer.at > at))
		sfc_timer_set(&presence->timer, presence->within, ask, presence);
}

/* Begin to watch a server, whose connection is still to be made. */
void
sfg_presence_begin(SfgPresence *presence)
{
	presence->status = SFG_PRESENCE_THERE;
	presence->answered_at = time(NULL); /* what is said of one that never does */
}

/* The connection is there. */
void
sfg_presence_made(SfgPresence *presence)
{
	presence->status = SFG_PRESENCE_THERE;
	note_answer(presence, CHECK);
}

/* The connection is lost, or was not made: gives what that says of the server. */
SfgPresenceStatus
sfg_presence_after_loss(const SfgPresence *presence)
{
	return presence->status == SFG_PRESENCE_THERE ? SFG_PRESENCE_LOST : SFG_PRESENCE_SILENT;
}

/* Watch a server no more. */
void
sfg_presence_end(SfgPresence *presence)
{
	presence->status = SFG_PRESENCE_UNWATCHED;
	sfc_timer_clear(&presence->timer);
}
