/*
 * subprocess.h
 *		Processes that the worker has started.
 */
#ifndef SFW_SUBPROCESS_H
#define SFW_SUBPROCESS_H

#include <sys/types.h>

extern void sfw_subprocess_init(void);
extern pid_t sfw_subprocess_fork(void);
extern void sfw_subprocess_watch(pid_t pid, void (*exited) (void *arg), void *arg);
extern int	sfw_subprocess_reap(pid_t pid);

#endif							/* SFW_SUBPROCESS_H */
