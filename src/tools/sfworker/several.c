/*
 * several.c
 *		One worker for several databases: a process for each.
 *
 * With --node the program that was called works for none itself.  It starts a process for the database of the other
 * options and one for each node, which are workers as without nodes: a node that is down, or that is slow, keeps
 * none of the others, and a task is answered where it was taken.  The first process hands signals on, starts a
 * process again that has ended without being told to, and leaves when all have left.
 *
 * The others are process groups of their own, so that a terminal's signal reaches each worker once: a second one would
 * stop what runs.
 */
#include "postgres_fe.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/client/log.h"
#include "tools/sfworker/config.h"
#include "tools/sfworker/connection.h"

/* Seconds before a process is started again that has ended by itself */
#define PAUSE	2

/* A database, and the process that works for it */
typedef struct Node
{
	const char *conninfo;		/* NULL: the database of the other options */
	pid_t		pid;			/* 0: it has left */
	time_t		again_at;		/* when it is started again; 0: it runs, or has left */
} Node;

static Node *nodes;
static int	n_nodes;
static bool leaving;
static int	status;				/* the worst of those that have left */

/* Start the process of a node; it does not return in that. */
static void
start(Node *node, int (*work) (void), const sigset_t *before)
{
	pid_t		parent = getpid();

	node->again_at = 0;
	node->pid = fork();
	if (node->pid < 0)
	{
		sfc_log(SFC_LOG_ERROR, "cannot start a process for a node", NULL);
		node->pid = 0;
		node->again_at = time(NULL) + PAUSE;
	}
	if (node->pid != 0)
		return;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	sigprocmask(SIG_SETMASK, before, NULL);
	if (node->conninfo != NULL)
	{
		sfw_config.dbname = pg_strdup(node->conninfo);
		sfw_config.host = sfw_config.port = sfw_config.user = NULL;
	}
	exit(work());
}

/* Note the processes that have ended. */
static void
reap(void)
{
	int			how;
	pid_t		pid;

	while ((pid = waitpid(-1, &how, WNOHANG)) > 0)
	{
		for (int i = 0; i < n_nodes; i++)
		{
			if (nodes[i].pid != pid)
				continue;
			nodes[i].pid = 0;
			if (leaving || (sfw_config.once && WIFEXITED(how)))
				status = Max(status, WIFEXITED(how) ? WEXITSTATUS(how) : 1);
			else
			{
				sfc_log(SFC_LOG_ERROR, "the process of a node has ended, and is started again", NULL);
				nodes[i].again_at = time(NULL) + PAUSE;
			}
		}
	}
}

/* Hand a signal on. */
static void
tell_all(int signo)
{
	leaving = true;
	for (int i = 0; i < n_nodes; i++)
	{
		nodes[i].again_at = 0;
		if (nodes[i].pid != 0)
			kill(nodes[i].pid, signo);
	}
}

/* Tell whether a process runs, or is to be started again. */
static bool
is_working(void)
{
	for (int i = 0; i < n_nodes; i++)
		if (nodes[i].pid != 0 || nodes[i].again_at != 0)
			return true;
	return false;
}

/* Work for the database of the options and for all nodes, until it is time to exit; gives the exit status. */
int
sfw_several_run(int (*work) (void))
{
	sigset_t	mine;
	sigset_t	before;
	const struct timespec tick = {1, 0};

	if (sfw_config.nodes.head == NULL)
		return work();
	for (const SimpleStringListCell *cell = sfw_config.nodes.head; cell != NULL; cell = cell->next)
		n_nodes++;
	nodes = pg_malloc0(sizeof(Node) * (size_t) ++n_nodes);
	n_nodes = 1;
	for (const SimpleStringListCell *cell = sfw_config.nodes.head; cell != NULL; cell = cell->next)
		nodes[n_nodes++].conninfo = cell->val;
	sigemptyset(&mine);
	sigaddset(&mine, SIGTERM);
	sigaddset(&mine, SIGINT);
	sigaddset(&mine, SIGHUP);
	sigaddset(&mine, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mine, &before);
	for (int i = 0; i < n_nodes; i++)
		start(&nodes[i], work, &before);
	while (is_working())
	{
		int			signo = sigtimedwait(&mine, NULL, &tick);

		if (signo > 0 && signo != SIGCHLD)
			tell_all(signo);
		reap();
		for (int i = 0; i < n_nodes; i++)
			if (nodes[i].again_at != 0 && nodes[i].again_at <= time(NULL))
				start(&nodes[i], work, &before);
	}
	return status;
}
