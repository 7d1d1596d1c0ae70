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

/* What becomes of the process for a database */
typedef enum NodePhase
{
	NODE_RUNS,
	NODE_PAUSES,				/* before it is started again */
	NODE_HAS_LEFT
} NodePhase;

/* A database, and the process that works for it */
typedef struct Node
{
	const char *conninfo;		/* NULL: the database of the other options */
	NodePhase	phase;
	union
	{
		pid_t		pid;		/* in NODE_RUNS */
		time_t		again_at;	/* in NODE_PAUSES: when it is started again */
	};
} Node;

static Node *nodes;
static int	n_nodes;
static bool leaving;
static int	status;				/* the worst of those that have left */

/* Have a node's process started again after a while. */
static void
pause_node(Node *node, const char *why)
{
	sfc_log(SFC_LOG_ERROR, why, NULL);
	node->phase = NODE_PAUSES;
	node->again_at = time(NULL) + PAUSE;
}

/* Be the process of a node; does not return. */
static void
become_node(const Node *node, pid_t parent, int (*work) (void), const sigset_t *before)
{
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

/* Start the process of a node. */
static void
start(Node *node, int (*work) (void), const sigset_t *before)
{
	pid_t		parent = getpid();
	pid_t		pid = fork();

	if (pid == 0)
		become_node(node, parent, work, before);
	if (pid < 0)
	{
		pause_node(node, "cannot start a process for a node");
		return;
	}
	node->phase = NODE_RUNS;
	node->pid = pid;
}

/* Note that the process of a node has ended: it has left, or is started again. */
static void
note_end(Node *node, int how)
{
	if (leaving || (sfw_config.once && WIFEXITED(how)))
	{
		node->phase = NODE_HAS_LEFT;
		status = Max(status, WIFEXITED(how) ? WEXITSTATUS(how) : 1);
	}
	else
		pause_node(node, "the process of a node has ended, and is started again");
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
			if (nodes[i].phase == NODE_RUNS && nodes[i].pid == pid)
			{
				note_end(&nodes[i], how);
				break;
			}
		}
	}
}

/* Hand a signal on, and start no process any more. */
static void
tell_all(int signo)
{
	leaving = true;
	for (int i = 0; i < n_nodes; i++)
	{
		if (nodes[i].phase == NODE_RUNS)
			kill(nodes[i].pid, signo);
		else
			nodes[i].phase = NODE_HAS_LEFT;
	}
}

/* Tell whether a process runs, or is to be started again. */
static bool
is_working(void)
{
	for (int i = 0; i < n_nodes; i++)
	{
		if (nodes[i].phase != NODE_HAS_LEFT)
			return true;
	}
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
		{
			if (nodes[i].phase == NODE_PAUSES && nodes[i].again_at <= time(NULL))
				start(&nodes[i], work, &before);
		}
	}
	return status;
}
