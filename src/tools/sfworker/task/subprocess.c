/*
 * subprocess.c
 *		Processes that the worker has started.
 *
 * The exit of a child is noticed first and the child reaped later.  As long as
 * it is a zombie no other process gets its pid, so that signals to its process
 * group cannot hit another one.
 */
#include "postgres_fe.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/client/loop.h"
#include "tools/sfworker/task/subprocess.h"

typedef struct Child
{
	pid_t		pid;
	void		(*exited) (void *arg);	/* NULL: was called */
	void	   *arg;
	struct Child *next;
} Child;

static Child *children;

/* Call the functions for the children that have ended. */
static void
find_exited(void)
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

			/* The function may reap or start a child: begin again. */
			child->exited = NULL;
			exited(child->arg);
			child = children;
			continue;
		}
		child = child->next;
	}
}

/* Have SIGCHLD handled. */
void
sfw_subprocess_init(void)
{
	sfc_loop_on_signal(SIGCHLD, find_exited);
}

/*
 * Fork a child that handles signals as a new program does, and that the kernel
 * kills when the worker dies, so that no command outlives it.  Other threads
 * may exist (libcurl resolves names in them), so the child may call only what
 * is safe in a signal handler.
 */
pid_t
sfw_subprocess_fork(void)
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

/* Have a function called when a child has ended; the function must have the child reaped. */
void
sfw_subprocess_watch(pid_t pid, void (*exited) (void *arg), void *arg)
{
	Child	   *child = pg_malloc0(sizeof(Child));

	*child = (Child) {pid, exited, arg, children};
	children = child;
}

/* Reap a child that has ended; gives its status as wait() does. */
int
sfw_subprocess_reap(pid_t pid)
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
