/*
 * long_waits.h
 *		Roles whose requests wait for long.
 */
#ifndef SFG_LONG_WAITS_H
#define SFG_LONG_WAITS_H

typedef struct SfgWaiting SfgWaiting;

extern SfgWaiting *sfg_waiting_begin(const char *role);
extern void sfg_waiting_end(SfgWaiting *waiting);

#endif							/* SFG_LONG_WAITS_H */
