/*
 * heartbeat.h
 *		Heartbeats of tasks.
 */
#ifndef SFW_HEARTBEAT_H
#define SFW_HEARTBEAT_H

extern bool sfw_heartbeat_send(void);
extern bool sfw_heartbeat_has_waited(void);

#endif							/* SFW_HEARTBEAT_H */
