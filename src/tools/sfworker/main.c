/*
 * main.c
 *		sfworker: does the work of workflows that is done outside the database.
 *
 *		main			options; what to do
 *		config			settings
 *		connection		where to connect
 *		several			one worker for several databases
 *		task/			queue, claim_statements, heartbeat: what is sent; claimed_task: the life of a task;
 *						answer: what errors mean; shell, command, sql: kinds of tasks; subprocess: processes
 *		http/			http: tasks that are HTTP requests; fetch, allow: requests, and where they may go
 *		archive/		executions that are archived; archive_folder, archive_s3: where
 *		tools/client/	key_value, loop, session, db, hosts, transfer, json_text, log, secrets
 */
#include "postgres_fe.h"

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <unistd.h>

#include "tools/client/log.h"
#include "tools/client/secrets.h"
#include "tools/sfworker/archive/archive.h"
#include "tools/sfworker/config.h"
#include "tools/sfworker/connection.h"
#include "tools/sfworker/http/fetch.h"
#include "tools/sfworker/task/queue.h"
#include "tools/sfworker/task/subprocess.h"

/* Milliseconds for the last answers after all tasks were told to stop */
#define LAST_ANSWERS 5000

/* What getopt_long gives for long options that are no settings and set no flag */
enum
{
	OPT_CONFIG = 1000,
	OPT_HELP
};

static const struct option options[] = {
	{"activity", required_argument, NULL, 'a'},
#define SETTING_OPTION(letter, key, type, field, least) {key, required_argument, NULL, letter},
	SFW_SETTING_LIST(SETTING_OPTION)
	{"allow", required_argument, NULL, 0},
	{"pass-env", required_argument, NULL, 0},
	{"node", required_argument, NULL, 0},
	{"log-level", required_argument, NULL, 0},
	{"log-format", required_argument, NULL, 0},
	{"config", required_argument, NULL, OPT_CONFIG},
	{"once", no_argument, &sfw_config.once, true},
	{"list", no_argument, &sfw_config.list, true},
	{"dry-run", no_argument, &sfw_config.dry_run, true},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0}
};

static const char *const help =
	"sfworker runs shell commands, HTTP requests and SQL statements for sfflow's workflows.\n"
	"\n"
	"Usage:\n"
	"  sfworker --activity NAME[:KIND] [OPTION]...\n"
	"\n"
	"What to do:\n"
	"  -a, --activity=NAME[:KIND]  take tasks of this activity; KIND is shell, http, sql, program or\n"
	"                              archive, and may be left out where it is the name; may be repeated\n"
	"  -c, --concurrency=N         tasks at the same time (1)\n"
	"      --once                  leave when no task is left\n"
	"      --list                  show the activities of the database and leave\n"
	"      --dry-run               read a payload from standard input, say what would be done\n"
	"                              (for http: resolve and decide, send nothing), and leave\n"
	"      --location=URL          with --dry-run: as if the answer were a redirect to URL\n"
	"      --config=FILE           settings, databases and connections (options win)\n"
	"      --name=NAME             of this worker, in sf_activities (host:pid)\n"
	"\n"
	"Connection:\n"
	"  -d, --dbname=DBNAME         database, or a connection string\n"
	"  -h, --host=HOST             server, or directory of its socket\n"
	"  -p, --port=PORT             port\n"
	"  -U, --username=NAME         role\n"
	"      --node=CONNINFO         one more database, with a process of its own; may be repeated\n"
	"      --schema=NAME           of the extension (found by itself)\n"
	"      --poll-interval=TIME    look for tasks without a notification (10s)\n"
	"      --connect-timeout=TIME  for connections of all kinds (10s)\n"
	"\n"
	"Tasks:\n"
	"      --allow=HOST[:PORT]     a request may go to this host (\"*.example.com\") or range\n"
	"                              (\"10.0.0.0/8\"); may be repeated; see sfworker(1)\n"
	"      --http-timeout=TIME     for a request, redirects included (60s)\n"
	"      --max-redirects=N       that are followed (5)\n"
	"      --http-retries=N        after an answer with 429 or 5xx (0)\n"
	"      --ca-file=FILE          certificates to trust instead of the system's\n"
	"      --directory=DIR         where commands start\n"
	"      --program=FILE          does tasks of kind program: payload in, output or error out\n"
	"      --pass-env=NAME         a variable that commands see; may be repeated (\"AWS_*\")\n"
	"      --kill-after=TIME       between TERM and KILL (10s)\n"
	"      --max-output=SIZE       of what a task gives (1MB)\n"
	"      --max-stderr=SIZE       of standard error's tail (8192)\n"
	"\n"
	"Archive:\n"
	"      --archive=TARGET        write executions that are old enough to be deleted into a folder, or\n"
	"                              into s3://BUCKET/PREFIX (AWS_ACCESS_KEY_ID and so on)\n"
	"      --archive-executions=N  of a file, at most (5000)\n"
	"\n"
	"Log, on standard error:\n"
	"      --log-format=FORMAT     text or json\n"
	"      --log-level=LEVEL       debug, info, warning or error\n"
	"\n"
	"      --help, --version";

/* How the worker leaves */
typedef enum Leaving
{
	STAYS,
	DRAINS,						/* it takes no more tasks */
	STOPS,						/* the tasks that run were told to end */
	EXITS						/* at once */
} Leaving;

static Leaving leaving;
static SfcTimer exit_timer;

/* Exit because of a wrong command line; problem is NULL if it was printed. */
static void
refuse(const char *problem)
{
	if (problem != NULL)
		fprintf(stderr, "sfworker: %s\n", problem);
	fputs("Try \"sfworker --help\" for more information.\n", stderr);
	exit(2);
}

/* Store the setting of an option, which is given as getopt_long does. */
static void
read_setting(int c, int index)
{
	char	   *problem = NULL;

	/* A short option stands for the long one with its letter. */
	if (c != 0)
	{
		for (index = 0; options[index].val != c;)
			index++;
	}
	if (options[index].flag != NULL)
		return;
	if (!sfw_config_set(options[index].name, optarg, &problem))
		refuse(problem);
	if (strcmp(options[index].name, "dbname") == 0 || strcmp(options[index].name, "node") == 0)
		sfc_secrets_hide_conninfo(optarg);
}

/* Go through the options once: read the file that they name, or store the other settings. */
static void
read_options_once(int argc, char **argv, bool file)
{
	int			c;
	int			index = 0;
	char	   *problem = NULL;

	optind = 1;
	opterr = !file;
	while ((c = getopt_long(argc, argv, "a:c:d:h:p:U:V", options, &index)) != -1)
	{
		if (c == OPT_CONFIG && file && !sfw_config_read(optarg, &problem))
			refuse(problem);
		if (c == OPT_CONFIG || file)
			continue;
		if (c == '?')
			refuse(NULL);
		if (c == OPT_HELP || c == 'V')
		{
			puts(c == 'V' ? "sfworker (sfflow) " SFW_VERSION : help);
			exit(0);
		}
		read_setting(c, index);
	}
}

/* Read the command line; the file that it names comes first, so that options override it. */
static void
read_options(int argc, char **argv)
{
	char	   *problem = NULL;

	read_options_once(argc, argv, true);
	read_options_once(argc, argv, false);
	if (optind < argc)
	{
		if (sfw_config.dbname != NULL || optind + 1 < argc)
			refuse("too many arguments");
		sfw_config.dbname = pg_strdup(argv[optind]);
		sfc_secrets_hide_conninfo(argv[optind]);
	}
	if (!sfw_config_check(&problem))
		refuse(problem);
}

/* Show the activities; gives the exit status. */
static int
list(void)
{
	static const char *const statement =
		"SELECT pg_catalog.format('SELECT activity, owner, queued, oldest_queued_at, in_flight,"
		" last_polled_at, last_worker FROM %I.sf_activities ORDER BY activity', n.nspname)"
		" FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n"
		" ON n.oid OPERATOR(pg_catalog.=) e.extnamespace"
		" WHERE e.extname OPERATOR(pg_catalog.=) 'sfflow'";
	PGconn	   *conn = sfw_connect_now();
	PGresult   *result;
	PQprintOpt	print = {0};
	int			status = 1;

	if (PQstatus(conn) != CONNECTION_OK)
	{
		fprintf(stderr, "sfworker: %s", PQerrorMessage(conn));
		PQfinish(conn);
		return 1;
	}
	result = PQexec(conn, statement);
	if (PQntuples(result) == 1)
	{
		PGresult   *found = result;

		result = PQexec(conn, PQgetvalue(found, 0, 0));
		PQclear(found);
		status = PQresultStatus(result) == PGRES_TUPLES_OK ? 0 : 1;
	}
	else if (PQresultStatus(result) == PGRES_TUPLES_OK)
		fputs("sfworker: extension sfflow is not installed in this database\n", stderr);
	if (status != 0 && PQresultStatus(result) != PGRES_TUPLES_OK)
		fprintf(stderr, "sfworker: %s", PQerrorMessage(conn));
	print.header = print.align = 1;
	print.fieldSep = "  ";
	if (status == 0)
		PQprint(stdout, result, &print);
	PQclear(result);
	PQfinish(conn);
	return status;
}

/* Read a payload from standard input and say what would be done; gives the exit status, 3 when it is refused. */
static int
dry_run(void)
{
	PQExpBufferData input;
	PQExpBufferData report;
	SfcJson		payload;
	char		data[65536];
	ssize_t		n;
	bool		good;

	if (sfw_config.n_served != 1)
		refuse("--dry-run needs one activity");
	initPQExpBuffer(&input);
	initPQExpBuffer(&report);
	while ((n = read(STDIN_FILENO, data, sizeof(data))) > 0)
		appendBinaryPQExpBuffer(&input, data, (size_t) n);
	if (!sfc_json_parse(sfc_buffer_data(&input), input.len, &payload) || sfc_json_type(payload) != '{')
	{
		fputs("sfworker: the payload on standard input must be a JSON object\n", stderr);
		return 2;
	}
	sfc_json_open(&report, '{');
	good = sfw_config.served[0].kind->dry_run(payload, &report);
	appendPQExpBuffer(&report, ",\"decision\":\"%s\"}", good ? "allowed" : "refused");
	puts(sfc_buffer_data(&report));
	termPQExpBuffer(&report);
	termPQExpBuffer(&input);
	return good ? 0 : 3;
}

/* The time for the last answers is over. */
static void
exit_now(void *arg)
{
	leaving = EXITS;
}

/* Take no more tasks. */
static void
drain(void)
{
	leaving = DRAINS;
	sfc_log(SFC_LOG_INFO, "leaving when what runs has ended", NULL);
	sfw_queue_drain();
}

/* Have all tasks end that run. */
static void
stop_tasks(void)
{
	dlist_mutable_iter iter;

	leaving = STOPS;
	sfc_log(SFC_LOG_WARNING, "leaving, what runs is stopped", NULL);
	sfc_timer_set(&exit_timer, sfw_config.kill_after + LAST_ANSWERS, exit_now, NULL);
	dlist_foreach_modify(iter, &sfw_tasks)
		sfw_task_stop(dlist_container(SfwTask, node, iter.cur), SFW_STOP_LEAVING);
}

/* Handle a signal to exit: the first drains, the second stops the tasks that run. */
static void
on_exit_signal(void)
{
	if (leaving == STAYS)
		drain();
	else if (leaving == DRAINS)
		stop_tasks();
	else if (leaving == STOPS)
		exit_now(NULL);
}

/* Tell whether it is time to exit. */
static bool
is_done(void)
{
	switch (leaving)
	{
		case STAYS:
			return sfw_config.once &&
				(sfw_queue_is_exhausted() || (sfw_workflows.failed && sfw_queue_is_empty()));
		case DRAINS:
		case STOPS:
			return sfw_queue_is_empty();
		case EXITS:
			break;
	}
	return true;
}

/* Tell whether the worker runs commands. */
static bool
serves_commands(void)
{
	for (int i = 0; i < sfw_config.n_served; i++)
	{
		if (sfw_config.served[i].kind == &sfw_kind_shell ||
			sfw_config.served[i].kind == &sfw_kind_program)
			return true;
	}
	return false;
}

/* Work until it is time to exit; gives the exit status. */
static int
run(void)
{
	bool		lost;

	sfc_loop_init();
	sfw_subprocess_init();
	sfc_transfer_init();
	sfc_loop_on_signal(SIGTERM, on_exit_signal);
	sfc_loop_on_signal(SIGINT, on_exit_signal);
	sfc_loop_on_signal(SIGHUP, on_exit_signal);
	sfc_log(SFC_LOG_INFO, "sfworker " SFW_VERSION, "name", sfw_config.name, NULL);
	if (geteuid() == 0 && serves_commands())
		sfc_log(SFC_LOG_WARNING, "commands run as root, and can read every secret of this worker", NULL);
	sfw_queue_start();
	while (!is_done())
		sfc_loop_turn();
	lost = !dlist_is_empty(&sfw_tasks) || sfw_queue_has_doubtful();
	if (lost)
		sfc_log(SFC_LOG_ERROR, "some tasks were left without an answer", NULL);
	sfc_log(SFC_LOG_INFO, "left", NULL);
	if (sfw_config.once && (sfw_workflows.failed || sfw_queue_has_failed()))
		return 1;
	sfc_db_stop(&sfw_workflows);
	return lost ? 1 : 0;
}

/* Do what the command line says. */
int
main(int argc, char **argv)
{
	sfc_secrets_hide();
	/* A closed standard stream must not become a connection or a pipe. */
	for (int fd = 0; fd <= 2; fd++)
	{
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) < 0)
			return 1;
	}
	read_options(argc, argv);
	if (sfw_config.list)
		return list();
	if (sfw_config.dry_run)
		return dry_run();
	if (sfw_config.archive != NULL)
		return sfw_archive();
	return sfw_several_run(run);
}
