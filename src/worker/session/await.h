/*
 * await.h
 *		What sessions do for workers, and sleeping until an execution may have ended.
 */
#ifndef SF_WORKER_AWAIT_H
#define SF_WORKER_AWAIT_H

#include "utils/timestamp.h"

/*
 * Sleep until an execution may have ended: true says look again, false that
 * the time is over.  The first call only begins to listen and returns true at
 * once, so that nothing is missed between a look and a sleep:
 *
 *		while (!ended(execution_no) && sf_await_ended(execution_no, until))
 *			;
 *		sf_await_done();
 *
 * Every second it says "look again", because without the library preloaded no end
 * is announced.  After an error sf_await_done() need not be called.
 */
extern bool sf_await_ended(int64 execution_no, TimestampTz until);
extern void sf_await_done(void);
extern void sf_await_forget(void);
extern int64 sf_await_change(int64 seen, TimestampTz until);

/* --- wake.c: telling workers at commit what has become due, cancelled or ended --- */

extern void sf_wake_init(void);
extern int	sf_wake_take_concurrent_commits(void);
extern void sf_wake_register(void);
extern void sf_wake_scan(void);

/* --- leave.c, prepared.c: commands that want workers out, or that end transactions which were prepared --- */

extern void sf_leave_init(void);
extern void sf_prepared_init(void);

#endif							/* SF_WORKER_AWAIT_H */
