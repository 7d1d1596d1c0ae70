/*
 * activity_poll.h
 *		GetActivityTask: workers that wait for tasks.
 */
#ifndef SFG_ACTIVITY_POLL_H
#define SFG_ACTIVITY_POLL_H

#include "gateway/http_request.h"

extern void sfg_activity_poll(SfgRequest *request, const char *role, const char *key_id);
extern void sfg_activity_notified(const char *activity);
extern void sfg_activity_ask_all(void);
extern void sfg_activity_drain(void);

#endif							/* SFG_ACTIVITY_POLL_H */
