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
	char	   *kind;			/* shell, http, sql */
} SfwServed;

/* A section [database NAME]: where SQL tasks may run */
typedef struct SfwDatabase
{
	char	   *name;
	char	   *conninfo;
	char	   *role;			/* or NULL */
	struct SfwDatabase *next;
} SfwDatabase;

/* A section [connection NAME]: headers for requests that name it and go to its hosts */
typedef struct SfwConnection
{
	char	   *name;
	SimpleStringList hosts;
	SimpleStringList headers;
	struct SfwConnection *next;
} SfwConnection;

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
	char	   *ca_file;
	char	   *directory;		/* where commands start */
	SimpleStringList pass_env;
	bool		once;
	bool		list;
	bool		dry_run;
	char	   *location;		/* with dry_run: where a redirect would lead */
	SfwDatabase *databases;
	SfwConnection *connections;
} SfwConfig;

extern SfwConfig sfw_config;

extern bool sfw_config_set(const char *key, const char *value, char **problem);
extern bool sfw_config_read(const char *path, char **problem);
extern bool sfw_config_finish(char **problem);
extern const SfwDatabase *sfw_config_database(const char *name);
extern const SfwConnection *sfw_config_connection(const char *name);

#endif							/* SFW_CONFIG_H */
