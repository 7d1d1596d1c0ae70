/*
 * heartbeat.h
 *		Heartbeats of tasks.
 */
#ifndef SFW_HEARTBEAT_H
#define SFW_HEARTBEAT_H

extern bool sfw_heartbeat_send(void);

#endif							/* SFW_HEARTBEAT_H */
