/*
 * queue.h
 *		What the worker sends to the database: claims, answers, heartbeats.
 */
#ifndef SFW_QUEUE_H
#define SFW_QUEUE_H

#include "tools/client/db.h"
#include "tools/sfworker/task/claimed_task.h"

extern SfcDb sfw_workflows;

extern void sfw_queue_start(void);
extern void sfw_queue_pump(void);
extern void sfw_queue_answer(SfwTask *task);
extern void sfw_queue_give_up(SfwTask *task, const char *reason);
extern void sfw_queue_drain(void);
extern bool sfw_queue_is_empty(void);
extern bool sfw_queue_has_doubtful(void);
extern bool sfw_queue_is_exhausted(void);
extern bool sfw_queue_has_failed(void);

#endif							/* SFW_QUEUE_H */
