/*
 * gateway.c
 *		sfgateway: turns HTTP into SQL, for the console, for clients of AWS Step
 *		Functions and for Prometheus.
 *
 * README.md in this folder says what each file does.
 */
#include "postgres_fe.h"

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>

#include "tools/client/log.h"
#include "tools/client/loop.h"
#include "tools/client/secrets.h"
#include "tools/sfgateway/aws_api/aws_api.h"
#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/http/http_request.h"
#include "tools/sfgateway/http/listener.h"
#include "tools/sfgateway/otlp/otlp.h"

/* What getopt_long gives for long options that are no settings */
enum
{
	OPT_CONFIG = 1000,
	OPT_HELP,
	OPT_VERSION
};

static const struct option options[] = {
#define SETTING_OPTION(key, type, field, least, most, argument, help) {key, required_argument, NULL, 0},
	SFG_SETTING_LIST(SETTING_OPTION)
	{"origin", required_argument, NULL, 0},
	{"otlp-header", required_argument, NULL, 0},
	{"log-level", required_argument, NULL, 0},
	{"log-format", required_argument, NULL, 0},
	{"config", required_argument, NULL, OPT_CONFIG},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0}
};

static int	signals_seen;
static bool done;
static SfcTimer drain_timer;
static char log_buffer[64 * 1024];

/* Exit because of a wrong command line; problem is NULL if it was printed. */
static void
refuse(const char *problem)
{
	if (problem != NULL)
		fprintf(stderr, "sfgateway: %s\n", problem);
	fputs("Try \"sfgateway --help\" for more information.\n", stderr);
	exit(2);
}

/* Print the options. */
static void
print_help(void)
{
	puts("sfgateway serves sfflow's console, the API of AWS Step Functions and metrics over HTTP.\n"
		 "\n"
		 "Usage:\n"
		 "  sfgateway --dsn CONNINFO [OPTION]...\n");
#define SETTING_HELP(key, type, field, least, most, argument, help) \
	printf("  --%s=%s\n        %s\n", key, argument, help);
	SFG_SETTING_LIST(SETTING_HELP)
	puts("  --origin=URL\n        of the console in a browser, when a proxy gives it another name; may be repeated\n"
		 "  --otlp-header=NAME: VALUE\n        of requests to the collector; may be repeated; belongs into the file, if it is secret\n"
		 "  --config=FILE\n        settings and access keys (options win)\n"
		 "  --log-format=FORMAT\n        json or text (json)\n"
		 "  --log-level=LEVEL\n        debug, info, warning or error (info)\n"
		 "  --help, --version");
}

/* Overwrite an argument that may be secret: all users can read the command line. */
static void
hide(const char *key, char *argument)
{
	if (strcmp(key, "dsn") == 0 || strcmp(key, "metrics-dsn") == 0 || strcmp(key, "otlp-dsn") == 0)
		sfc_secrets_hide_conninfo(argument);
	else if (strcmp(key, "metrics-token") == 0 || strcmp(key, "otlp-header") == 0)
		memset(argument, '*', strlen(argument));
}

/* Go through the options once: read the file that they name, or store the settings. */
static void
read_options_once(int argc, char **argv, bool file)
{
	int			c;
	int			index = 0;
	char	   *problem = NULL;

	optind = 1;
	opterr = !file;
	while ((c = getopt_long(argc, argv, "", options, &index)) != -1)
	{
		if (file)
		{
			if (c == OPT_CONFIG && !sfg_config_read(optarg, &problem))
				refuse(problem);
			continue;
		}
		if (c == '?')
			refuse(NULL);
		if (c == OPT_HELP)
			print_help();
		if (c == OPT_VERSION)
			printf("sfgateway (sfflow) " SFW_VERSION " with libmicrohttpd %s\n", MHD_get_version());
		if (c == OPT_HELP || c == OPT_VERSION)
			exit(0);
		if (c == 0 && !sfg_config_set(options[index].name, optarg, &problem))
			refuse(problem);
		if (c == 0)
			hide(options[index].name, optarg);
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
		refuse("too many arguments");
	if (!sfg_config_check(&problem) || !sfg_dsn_check(sfg_config.dsn, &problem) ||
		(sfg_config.metrics_dsn != NULL && !sfg_dsn_check(sfg_config.metrics_dsn, &problem)) ||
		(sfg_config.otlp_dsn != NULL && !sfg_dsn_check(sfg_config.otlp_dsn, &problem)))
		refuse(problem);
}

/* The time for what is under way is over. */
static void
drain_is_over(void *arg)
{
	sfc_log(SFC_LOG_WARNING, "leaving, requests under way are given up", NULL);
	done = true;
}

/* Handle a signal to exit: the first drains, the second ends at once. */
static void
on_exit_signal(void)
{
	if (++signals_seen > 1)
	{
		done = true;
		return;
	}
	sfc_log(SFC_LOG_INFO, "leaving when requests under way are answered", NULL);
	sfg_not_ready();
	sfg_listeners_drain();
	sfg_changes_drain();
	sfg_activity_drain();
	sfg_otlp_drain();
	sfc_timer_set(&drain_timer, sfg_config.drain_timeout, drain_is_over, NULL);
}

/* Serve until it is time to exit. */
int
main(int argc, char **argv)
{
	char	   *problem = NULL;

	sfc_secrets_hide();
	/* A closed standard stream must not become a connection. */
	for (int fd = 0; fd <= 2; fd++)
	{
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) < 0)
			return 1;
	}
	sfc_log_set_format("json");
	read_options(argc, argv);
	sfc_loop_init();
	sfc_loop_on_signal(SIGTERM, on_exit_signal);
	sfc_loop_on_signal(SIGINT, on_exit_signal);
	sfc_loop_on_signal(SIGHUP, sfg_listeners_renew);
	if (!sfg_listeners_start(&problem))
	{
		sfc_log(SFC_LOG_ERROR, problem, NULL);
		return 1;
	}
	sfc_log(SFC_LOG_INFO, "sfgateway " SFW_VERSION, NULL);
	sfg_console_sessions_start();
	sfg_database_start();
	sfg_otlp_start();
	/* The lines of a turn of the loop are one write, not one for each request. */
	setvbuf(stderr, log_buffer, _IOFBF, sizeof(log_buffer));
	while (!done && !(signals_seen > 0 && sfg_listeners_are_idle() && sfg_otlp_is_idle()))
	{
		fflush(stderr);
		sfc_loop_turn();
		sfg_listeners_resume();
	}
	sfg_listeners_stop();
	sfg_console_sessions_stop();
	sfg_otlp_stop();
	sfg_database_stop();
	sfc_log(SFC_LOG_INFO, "left", NULL);
	return 0;
}
