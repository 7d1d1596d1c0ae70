/*
 * child.h
 *		Processes that the worker has started.
 */
#ifndef SFW_CHILD_H
#define SFW_CHILD_H

#include <sys/types.h>

extern void sfw_child_init(void);
extern pid_t sfw_child_fork(void);
extern void sfw_child_watch(pid_t pid, void (*exited) (void *arg), void *arg);
extern int	sfw_child_reap(pid_t pid);

#endif							/* SFW_CHILD_H */
