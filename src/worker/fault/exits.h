/*
 * exits.h
 *		A worker that ends in the middle of a turn.
 */
#ifndef SF_WORKER_EXITS_H
#define SF_WORKER_EXITS_H

/*
 * Watch the process: first the signals, before it connects; then its end, after
 * it has connected, so that the transaction is still there then.
 */
extern void sf_exits_watch_signals(void);
extern void sf_exits_watch_end(void);

#endif							/* SF_WORKER_EXITS_H */
