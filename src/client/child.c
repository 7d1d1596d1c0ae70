/*
 * child.c
 *		Processes that the worker has started.
 *
 * A child that has ended is looked at first and reaped later: as long as it is
 * a zombie nobody else gets its number, so that its process group can be
 * killed without hitting a stranger.
 */
#include "child.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "loop.h"

typedef struct Child
{
	pid_t		pid;
	void		(*exited) (void *arg);	/* NULL: told already */
	void	   *arg;
	struct Child *next;
} Child;

static Child *children;

/* Tell those whose children have ended. */
static void
look(void)
{
	Child	   *child = children;

	while (child != NULL)
	{
		siginfo_t	info = {0};

		if (child->exited != NULL &&
			waitid(P_PID, (id_t) child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
			info.si_pid == child->pid)
		{
			void		(*exited) (void *arg) = child->exited;

			/* It may reap, or start another: begin again. */
			child->exited = NULL;
			exited(child->arg);
			child = children;
			continue;
		}
		child = child->next;
	}
}

/* Begin to look after children. */
void
sfw_child_init(void)
{
	sfw_loop_on_signal(SIGCHLD, look);
}

/*
 * Fork a child that handles signals as a new program does, and that dies with
 * the worker: one that is killed must not leave jobs behind that nobody knows.
 * Other threads may exist (libcurl resolves names in them), so the child may
 * call only what is safe in a signal handler.
 */
pid_t
sfw_child_fork(void)
{
	sigset_t	all;
	sigset_t	before;
	pid_t		parent = getpid();
	pid_t		pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
	{
		for (int signo = 1; signo < NSIG; signo++)
			signal(signo, SIG_DFL);
		sigemptyset(&before);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(127);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* Have a function called when a child has ended; it must see to its being reaped. */
void
sfw_child_watch(pid_t pid, void (*exited) (void *arg), void *arg)
{
	Child	   *child = sfw_alloc(sizeof(Child));

	*child = (Child) {pid, exited, arg, children};
	children = child;
}

/* Reap a child that has ended; gives its status as wait() does. */
int
sfw_child_reap(pid_t pid)
{
	Child	  **link = &children;
	int			status = 0;

	while (*link != NULL && (*link)->pid != pid)
		link = &(*link)->next;
	if (*link != NULL)
	{
		Child	   *child = *link;

		*link = child->next;
		free(child);
	}
	waitpid(pid, &status, 0);
	return status;
}
