/*
 * config.h
 *		The settings of the worker, from options and from a file.
 */
#ifndef SFW_CONFIG_H
#define SFW_CONFIG_H

#include "postgres_fe.h"

#include "fe_utils/simple_list.h"

/* An activity to serve, and how its payloads are read */
typedef struct SfwServed
{
	char	   *name;
	const struct SfwKind *kind;
} SfwServed;

/*
 * A section of the file: [database NAME], where SQL tasks may run, or
 * [connection NAME], credentials for requests that name it and go to its hosts
 */
typedef struct SfwSection
{
	char		kind[16];
	char	   *name;
	char	   *conninfo;		/* of a database */
	char	   *role;			/* of a database, or NULL */
	SimpleStringList hosts;		/* of a connection */
	SimpleStringList headers;	/* of a connection */
	char	   *username;		/* of a connection, or NULL */
	char	   *password;
	char	   *oauth_url;		/* of a connection: where tokens are; NULL: it needs none */
	char	   *oauth_client;
	char	   *oauth_secret;
	bool		oauth_in_body;	/* send them as parameters and not in a header */
	SimpleStringList parameters;	/* more of the request for a token: name=value */
	struct SfwSection *next;
} SfwSection;

typedef struct SfwConfig
{
	SfwServed  *served;
	int			n_served;
	int			concurrency;
	char	   *name;			/* of this worker */
	char	   *schema;			/* of sfflow's functions; NULL: ask the catalogue */
	char	   *dbname;
	char	   *host;
	char	   *port;
	char	   *user;
	int64_t		poll_interval;	/* milliseconds, as all times here */
	int64_t		kill_after;
	int64_t		http_timeout;
	int64_t		connect_timeout;
	size_t		max_output;		/* bytes */
	size_t		max_stderr;
	int			max_redirects;
	int			http_retries;	/* of a request that is answered with 429 or 5xx */
	char	   *ca_file;
	char	   *directory;		/* where commands start */
	char	   *program;		/* does the tasks of kind program */
	char	   *archive;		/* where executions are archived: a folder, or s3://bucket/prefix */
	int			archive_executions;	/* that a file of it has at most */
	SimpleStringList nodes;		/* databases to work for beside that of dbname */
	SimpleStringList pass_env;
	int			once;			/* true or false, as getopt_long sets it */
	int			list;
	int			dry_run;
	char	   *location;		/* with dry_run: where a redirect would lead */
	SfwSection *sections;		/* the last one first */
} SfwConfig;

/* Settings that only have to be stored: letter of the option or 0, key, type, field, smallest value */
#define SFW_SETTING_LIST(X) \
	X('c', "concurrency", COUNT, concurrency, 1) \
	X(0, "name", TEXT, name, 0) \
	X(0, "schema", TEXT, schema, 0) \
	X('d', "dbname", TEXT, dbname, 0) \
	X('h', "host", TEXT, host, 0) \
	X('p', "port", TEXT, port, 0) \
	X('U', "username", TEXT, user, 0) \
	X(0, "poll-interval", TIME, poll_interval, 100) \
	X(0, "kill-after", TIME, kill_after, 0) \
	X(0, "http-timeout", TIME, http_timeout, 1) \
	X(0, "connect-timeout", TIME, connect_timeout, 1) \
	X(0, "max-output", SIZE, max_output, 64) \
	X(0, "max-stderr", SIZE, max_stderr, 64) \
	X(0, "max-redirects", COUNT, max_redirects, 0) \
	X(0, "http-retries", COUNT, http_retries, 0) \
	X(0, "ca-file", TEXT, ca_file, 0) \
	X(0, "directory", TEXT, directory, 0) \
	X(0, "program", TEXT, program, 0) \
	X(0, "archive", TEXT, archive, 0) \
	X(0, "archive-executions", COUNT, archive_executions, 1) \
	X(0, "location", TEXT, location, 0)

extern SfwConfig sfw_config;

extern bool sfw_config_set(const char *key, const char *value, char **problem);
extern bool sfw_config_read(const char *path, char **problem);
extern bool sfw_config_check(char **problem);
extern const SfwSection *sfw_config_section(const SfwSection *list, const char *kind, const char *name);

#endif							/* SFW_CONFIG_H */
