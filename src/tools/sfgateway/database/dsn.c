/*
 * dsn.c
 *		Connections to databases, by connection strings.
 *
 * libpq gets keywords and values in arrays and does not expand dbname, so that
 * the text of a user never becomes a parameter.
 *
 * Where a connection string, the environment or a file of services has names of hosts, these are looked up before
 * (lookup.c).  libpq gets the name and an address of each: it checks certificates and finds passwords by the name, and
 * connects to the address.  A name with several addresses stands there once with each, since libpq tries all hosts of a
 * list.  Addresses, and sockets in the file system, are left to libpq.
 */
#include "postgres_fe.h"

#include <netdb.h>

#include "fe_utils/string_utils.h"

#include "tools/client/json_text.h"
#include "tools/client/key_value.h"
#include "tools/client/session.h"
#include "tools/sfgateway/database/database.h"

/* More than libpq has keywords */
#define MOST 64

/* Keywords and values, as libpq takes them */
typedef struct Parameters
{
	const char *keys[MOST + 1];
	const char *values[MOST + 1];
	int			n;
} Parameters;

/* Parse a connection string; the name of a database alone is one, too. */
static PQconninfoOption *
parse(const char *conninfo, char **problem)
{
	char	   *text;
	PQconninfoOption *options;

	if (*conninfo == '\0' || strchr(conninfo, '=') != NULL || strstr(conninfo, "://") != NULL)
		return PQconninfoParse(conninfo, problem);
	text = psprintf("dbname=%s", conninfo);
	options = PQconninfoParse(text, problem);
	free(text);
	return options;
}

/* Tell whether a connection string can be parsed. */
bool
sfg_dsn_check(const char *conninfo, char **problem)
{
	char	   *reason = NULL;
	PQconninfoOption *options = parse(conninfo, &reason);

	if (options == NULL)
		*problem = pg_strdup(reason != NULL ? reason : "out of memory");
	PQconninfoFree(options);
	PQfreemem(reason);
	return options != NULL;
}

/* Add a parameter. */
static void
add(Parameters *parameters, const char *key, const char *value)
{
	if (parameters->n == MOST)
		return;
	parameters->keys[parameters->n] = key;
	parameters->values[parameters->n++] = value;
}

/* Tell whether a parameter says who the gateway is: a session of another role does without it. */
static bool
is_identity(const char *key)
{
	static const char *const identity[] = {"user", "password", "passfile", "sslcert", "sslkey", "sslpassword"};

	return sfc_is_one_of(key, identity, lengthof(identity));
}

/* Append a parameter to a connection string, unless it has none. */
static void
put_parameter(PQExpBuffer conninfo, const char *key, const char *value)
{
	if (value == NULL)
		return;
	appendPQExpBuffer(conninfo, "%s%s=", conninfo->len > 0 ? " " : "", key);
	appendConnStrVal(conninfo, value);
}

/* Find an option by its keyword. */
static const char *
option_of(const PQconninfoOption *options, const char *key)
{
	while (options->keyword != NULL && strcmp(options->keyword, key) != 0)
		options++;
	return options->val;
}

/* Tell whether the gateway connects to nodes as its own connection string says: as whom, and how safely. */
static bool
is_own(const char *key)
{
	static const char *const safety[] = {"ssl", "gss", "krb", "channel_binding"};

	for (size_t i = 0; i < lengthof(safety); i++)
		if (strncmp(key, safety[i], strlen(safety[i])) == 0)
			return true;
	return is_identity(key) && strcmp(key, "password") != 0;
}

/*
 * Make the connection string of a node: where it is, by the address that the coordinator has for it, and as whom, by
 * the gateway's own string.  A password of the own string is not for others: libpq finds those of nodes in its file.
 * NULL: the address is no connection string.
 */
char *
sfg_dsn_of_node(const char *own, const char *address, const char *dbname)
{
	PQconninfoOption *own_options = parse(own, NULL);
	PQconninfoOption *options = PQconninfoParse(address, NULL);
	PQExpBufferData conninfo;

	initPQExpBuffer(&conninfo);
	if (own_options == NULL)
	{
		PQconninfoFree(options);
		options = NULL;
	}
	for (const PQconninfoOption *option = options; option != NULL && option->keyword != NULL; option++)
	{
		const char *key = option->keyword;
		const char *of_own = is_own(key) ? option_of(own_options, key) : NULL;

		if (of_own != NULL)
			put_parameter(&conninfo, key, of_own);
		else if (strcmp(key, "dbname") == 0)
			put_parameter(&conninfo, key, option->val != NULL ? option->val : dbname);
		else if (!is_identity(key) && strcmp(key, "options") != 0 && strcmp(key, "service") != 0)
			put_parameter(&conninfo, key, option->val);
	}
	PQconninfoFree(own_options);
	PQconninfoFree(options);
	if (conninfo.len > 0)
		return sfc_buffer_data(&conninfo);
	termPQExpBuffer(&conninfo);
	return NULL;
}

/* --- names of hosts --- */

/* A host of a connection string */
typedef struct Host
{
	SfgHosts   *of;
	char	   *name;			/* as the string has it */
	char	   *port;
	PQExpBufferData addresses;	/* between commas; of one that is not looked up what the string has, which may be "" */
	int			n_addresses;
	SfgLookup	lookup;
} Host;

/* The hosts of a connection string, of which some are looked up */
struct SfgHosts
{
	Host	   *hosts;
	int			n;
	int			n_waiting;		/* lookups that are under way */
	char	   *problem;		/* of the last one that found nothing; or NULL */
	SfgHostsFound found;
	void	   *arg;
	/* when all are known, lists as libpq takes them */
	PQExpBufferData names;
	PQExpBufferData addresses;
	PQExpBufferData ports;
};

/*
 * What libpq makes of a connection string with the environment and the file of services.  It says so of a connection,
 * which is begun here with a parameter by which it ends before a host is looked for.
 */
static PQconninfoOption *
complete(const char *conninfo)
{
	PQconninfoOption *options = parse(conninfo, NULL);
	PQconninfoOption *all;
	Parameters	parameters = {.n = 0};
	PGconn	   *conn;

	for (PQconninfoOption *option = options; option != NULL && option->keyword != NULL; option++)
		if (option->val != NULL)
			add(&parameters, option->keyword, option->val);
	/* with a password it looks for none */
	add(&parameters, "password", "-");
	add(&parameters, "target_session_attrs", "nothing");
	conn = PQconnectStartParams(parameters.keys, parameters.values, 0);
	all = PQconninfo(conn);
	PQfinish(conn);
	PQconninfoFree(options);
	return all;
}

/* Tell whether a host is a name that is to be looked up: no address, and no socket in the file system. */
static bool
is_name(const char *host)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;

	if (*host == '\0' || *host == '/' || *host == '@')
		return false;
	if (getaddrinfo(host, NULL, &hints, &found) != 0)
		return true;
	freeaddrinfo(found);
	return false;
}

/* The elements of a list that commas separate. */
static int
count_elements(const char *list)
{
	int			n = 1;

	while ((list = strchr(list, ',')) != NULL)
	{
		list++;
		n++;
	}
	return n;
}

/* Copy an element of such a list. */
static char *
copy_element(const char *list, int i)
{
	while (i-- > 0)
		list = strchr(list, ',') + 1;
	return pnstrdup(list, strcspn(list, ","));
}

/* Append an element to such a list. */
static void
append_element(PQExpBuffer list, int before, const char *element)
{
	appendPQExpBuffer(list, "%s%s", before > 0 ? "," : "", element);
}

/* Make the lists for libpq of what is known of all hosts; gives the number of their elements. */
static int
make_lists(SfgHosts *hosts)
{
	int			n = 0;

	for (int i = 0; i < hosts->n; i++)
	{
		Host	   *host = &hosts->hosts[i];

		if (host->n_addresses > 0)
			append_element(&hosts->addresses, n, sfc_buffer_data(&host->addresses));
		for (int j = 0; j < host->n_addresses; j++)
		{
			append_element(&hosts->names, n, host->name);
			append_element(&hosts->ports, n++, host->port);
		}
	}
	return n;
}

/* A name was looked up; found is NULL if it has no address. */
static void
looked_up(void *arg, const struct addrinfo *found, const char *problem)
{
	Host	   *host = arg;
	SfgHosts   *hosts = host->of;

	for (; found != NULL; found = found->ai_next)
	{
		char		address[NI_MAXHOST];

		if (getnameinfo(found->ai_addr, found->ai_addrlen, address, sizeof(address), NULL, 0, NI_NUMERICHOST) == 0)
			append_element(&host->addresses, host->n_addresses++, address);
	}
	if (host->n_addresses == 0)
	{
		free(hosts->problem);
		hosts->problem = psprintf("host \"%s\" has no address: %s", host->name, problem != NULL ? problem : "none is given");
	}
	if (--hosts->n_waiting == 0)
		hosts->found(hosts->arg, make_lists(hosts) > 0 ? NULL : hosts->problem);
}

/* Forget hosts, which may be looked up still; NULL: there are none. */
void
sfg_hosts_free(SfgHosts *hosts)
{
	if (hosts == NULL)
		return;
	for (int i = 0; i < hosts->n; i++)
	{
		sfg_lookup_forget(&hosts->hosts[i].lookup);
		free(hosts->hosts[i].name);
		free(hosts->hosts[i].port);
		termPQExpBuffer(&hosts->hosts[i].addresses);
	}
	free(hosts->hosts);
	free(hosts->problem);
	termPQExpBuffer(&hosts->names);
	termPQExpBuffer(&hosts->addresses);
	termPQExpBuffer(&hosts->ports);
	free(hosts);
}

/* Make the hosts of lists of a connection string; address is NULL if it has none. */
static SfgHosts *
make_hosts(const char *name, const char *address, const char *port)
{
	SfgHosts   *hosts = pg_malloc0(sizeof(SfgHosts));

	hosts->n = count_elements(name);
	hosts->hosts = pg_malloc0(sizeof(Host) * (size_t) hosts->n);
	initPQExpBuffer(&hosts->names);
	initPQExpBuffer(&hosts->addresses);
	initPQExpBuffer(&hosts->ports);
	for (int i = 0; i < hosts->n; i++)
	{
		Host	   *host = &hosts->hosts[i];

		host->of = hosts;
		host->name = copy_element(name, i);
		host->port = copy_element(port, count_elements(port) > 1 ? i : 0);
		initPQExpBuffer(&host->addresses);
		if (address != NULL)
		{
			char	   *own = copy_element(address, i);

			appendPQExpBufferStr(&host->addresses, own);
			free(own);
		}
		if (host->addresses.len > 0 || !is_name(host->name))
			host->n_addresses = 1;
		else
			hosts->n_waiting++;
	}
	return hosts;
}

/* Tell whether a list has as many elements as there are hosts; if not, libpq says so. */
static bool
fits(const char *list, int n)
{
	return count_elements(list) == n;
}

/*
 * Look up the names of hosts of a connection string; found is called later, unless the hosts are freed before.  NULL:
 * there are none.
 */
SfgHosts *
sfg_hosts_find(const char *conninfo, SfgHostsFound found, void *arg)
{
	PQconninfoOption *options = complete(conninfo);
	const char *name = options != NULL ? option_of(options, "host") : NULL;
	const char *address = options != NULL ? option_of(options, "hostaddr") : NULL;
	const char *port = options != NULL ? option_of(options, "port") : NULL;
	SfgHosts   *hosts = NULL;

	if (port == NULL)
		port = "";
	if (name != NULL && (address == NULL || fits(address, count_elements(name))) &&
		(fits(port, 1) || fits(port, count_elements(name))))
		hosts = make_hosts(name, address, port);
	PQconninfoFree(options);
	if (hosts == NULL || hosts->n_waiting == 0)
	{
		sfg_hosts_free(hosts);
		return NULL;
	}
	hosts->found = found;
	hosts->arg = arg;
	for (int i = 0; i < hosts->n; i++)
		if (hosts->hosts[i].n_addresses == 0)
			sfg_lookup_begin(&hosts->hosts[i].lookup, hosts->hosts[i].name, looked_up, &hosts->hosts[i]);
	return hosts;
}

/* --- connections --- */

/* Drop a notice of the server: functions of any role send them, and the gateway's log is its own. */
static void
drop_notice(void *arg, const PGresult *notice)
{
}

/*
 * Begin to connect, to the hosts of the connection string that were looked up, or without any (NULL) as it says; with
 * user NULL as the gateway's own role.
 */
PGconn *
sfg_dsn_connect(const char *conninfo, SfgHosts *hosts, int64_t statement_timeout, const char *user,
				const char *password)
{
	PQconninfoOption *options = parse(conninfo, NULL);
	Parameters	parameters = {.n = 0};
	char	   *settings = psprintf("-c statement_timeout=%lld -c client_connection_check_interval=2000"
									" -c idle_in_transaction_session_timeout=60000", (long long) statement_timeout);
	PGconn	   *conn;

	add(&parameters, "client_encoding", "UTF8");
	add(&parameters, "fallback_application_name", "sfgateway");
	/* what the connection string says of these comes behind, and so takes their place */
#define ADD(key, value) add(&parameters, key, value);
	SFC_HOST_TIMEOUTS(ADD)
	for (PQconninfoOption *option = options; option != NULL && option->keyword != NULL; option++)
	{
		if (option->val == NULL || (user != NULL && is_identity(option->keyword)))
			continue;
		if (strcmp(option->keyword, "options") == 0)
		{
			char	   *both = psprintf("%s %s", option->val, settings);

			free(settings);
			settings = both;
		}
		else if (strcmp(option->keyword, "client_encoding") != 0)
			add(&parameters, option->keyword, option->val);
	}
	add(&parameters, "options", settings);
	if (hosts != NULL)
	{
		add(&parameters, "host", sfc_buffer_data(&hosts->names));
		add(&parameters, "hostaddr", sfc_buffer_data(&hosts->addresses));
		add(&parameters, "port", sfc_buffer_data(&hosts->ports));
	}
	if (user != NULL)
	{
		add(&parameters, "user", user);
		add(&parameters, "password", password);
	}
	conn = PQconnectStartParams(parameters.keys, parameters.values, 0);
	PQsetNoticeReceiver(conn, drop_notice, NULL);
	PQconninfoFree(options);
	free(settings);
	return conn;
}
