/*
 * hosts.c
 *		Parameters of connections, and the hosts that they name.
 *
 * Where a connection string, the environment or a file of services has names of hosts, these are looked up before libpq
 * begins to connect (lookup.c).  It gets the name and an address of each: it checks certificates and finds passwords by
 * the name, and connects to the address.  A name with several addresses stands there once with each, since libpq tries
 * all hosts of a list.  Addresses, and sockets in the file system, are left to libpq.
 *
 * When half of the time is over, the hosts that are known are enough, so that a name of a list that is not found leaves
 * time to connect to the others.  libpq tries the next host of a list when one refuses, but waits for one that does not
 * answer until the owner gives up; so the owner says with which the next attempt is to begin.
 *
 * What libpq itself asks of other services still keeps the caller: a file of services that names an LDAP server, and
 * Kerberos if the process has a ticket.
 */
#include "postgres_fe.h"

#include <netdb.h>

#include "pqexpbuffer.h"

#include "tools/client/hosts.h"
#include "tools/client/json_text.h"

/* Add a parameter; a value of NULL means nothing to libpq. */
void
sfc_parameters_add(SfcParameters *parameters, const char *key, const char *value)
{
	if (parameters->n == SFC_MOST_PARAMETERS)
		return;
	parameters->keys[parameters->n] = key;
	parameters->values[parameters->n++] = value;
}

/* Find an option by its keyword. */
const char *
sfc_option_of(const PQconninfoOption *options, const char *key)
{
	while (options->keyword != NULL && strcmp(options->keyword, key) != 0)
		options++;
	return options->val;
}

/* A host */
typedef struct Host
{
	SfcHosts   *of;
	char	   *name;			/* as the parameters have it */
	char	   *port;
	PQExpBufferData addresses;	/* between commas; of one that is not looked up what they say, which may be "" */
	int			n_addresses;
	SfcLookup	lookup;
} Host;

/* The hosts that parameters name, of which some are looked up */
struct SfcHosts
{
	Host	   *hosts;
	int			n;
	int			n_waiting;		/* lookups that are under way */
	int			turn;			/* which address libpq is to try first */
	SfcTimer	timer;			/* from its end on some hosts are enough */
	char	   *problem;		/* of the last one that found nothing; or NULL */
	SfcHostsFound found;
	void	   *arg;
	/* when all are known, lists as libpq takes them */
	PQExpBufferData names;
	PQExpBufferData addresses;
	PQExpBufferData ports;
};

/*
 * What libpq makes of parameters with the environment and the file of services.  It says so of a connection, which is
 * begun here with a parameter by which it ends before a host is looked for.
 */
static PQconninfoOption *
complete(const SfcParameters *parameters)
{
	SfcParameters more = *parameters;
	PQconninfoOption *all;
	PGconn	   *conn;

	/* with a password it looks for none */
	sfc_parameters_add(&more, "password", "-");
	sfc_parameters_add(&more, "target_session_attrs", "nothing");
	conn = PQconnectStartParams(more.keys, more.values, more.expands);
	all = PQconninfo(conn);
	PQfinish(conn);
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

/* Append an address of a host to the lists for libpq; element counts the addresses of all hosts. */
static void
put_address(SfcHosts *hosts, int before, int element)
{
	Host	   *host = hosts->hosts;
	char	   *address;

	for (; element >= host->n_addresses; host++)
		element -= host->n_addresses;
	address = copy_element(sfc_buffer_data(&host->addresses), element);
	append_element(&hosts->addresses, before, address);
	append_element(&hosts->names, before, host->name);
	append_element(&hosts->ports, before, host->port);
	free(address);
}

/* Make the lists for libpq of what is known of all hosts; gives the number of their elements. */
static int
make_lists(SfcHosts *hosts)
{
	int			n = 0;

	for (int i = 0; i < hosts->n; i++)
		n += hosts->hosts[i].n_addresses;
	for (int i = 0; i < n; i++)
		put_address(hosts, i, (hosts->turn + i) % n);
	return n;
}

/* Tell the owner what is known, and wait for no more. */
static void
go_on(SfcHosts *hosts)
{
	sfc_timer_clear(&hosts->timer);
	for (int i = 0; i < hosts->n; i++)
		sfc_lookup_forget(&hosts->hosts[i].lookup);
	hosts->found(hosts->arg, make_lists(hosts) > 0 ? NULL : hosts->problem);
}

/* A name was looked up; found is NULL if it has no address. */
static void
looked_up(void *arg, const struct addrinfo *found, const char *problem)
{
	Host	   *host = arg;
	SfcHosts   *hosts = host->of;

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
	hosts->n_waiting--;
	if (hosts->n_waiting == 0 || (!hosts->timer.armed && host->n_addresses > 0))
		go_on(hosts);
}

/* Half of the time is over: go on if a host is known. */
static void
half_over(void *arg)
{
	SfcHosts   *hosts = arg;

	for (int i = 0; i < hosts->n; i++)
	{
		if (hosts->hosts[i].n_addresses > 0)
		{
			go_on(hosts);
			return;
		}
	}
}

/* Forget hosts, which may be looked up still; NULL: there are none. */
void
sfc_hosts_free(SfcHosts *hosts)
{
	if (hosts == NULL)
		return;
	sfc_timer_clear(&hosts->timer);
	for (int i = 0; i < hosts->n; i++)
	{
		sfc_lookup_forget(&hosts->hosts[i].lookup);
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

/* Make the hosts of lists of parameters; address is NULL if there is none. */
static SfcHosts *
make_hosts(const char *name, const char *address, const char *port)
{
	SfcHosts   *hosts = pg_malloc0(sizeof(SfcHosts));

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
 * Look up the names of hosts of parameters, for some milliseconds at most, to try another address first in each turn;
 * found is called later, unless the hosts are freed before.  NULL: libpq needs no help.
 */
SfcHosts *
sfc_hosts_find(const SfcParameters *parameters, int turn, int64_t patience, SfcHostsFound found, void *arg)
{
	PQconninfoOption *options = complete(parameters);
	const char *name = options != NULL ? sfc_option_of(options, "host") : NULL;
	const char *address = options != NULL ? sfc_option_of(options, "hostaddr") : NULL;
	const char *port = options != NULL ? sfc_option_of(options, "port") : NULL;
	SfcHosts   *hosts = NULL;

	if (port == NULL)
		port = "";
	if (name != NULL && (address == NULL || fits(address, count_elements(name))) &&
		(fits(port, 1) || fits(port, count_elements(name))))
		hosts = make_hosts(name, address, port);
	PQconninfoFree(options);
	if (hosts == NULL || (hosts->n_waiting == 0 && (turn == 0 || hosts->n == 1)))
	{
		sfc_hosts_free(hosts);
		return NULL;
	}
	sfc_timer_set(&hosts->timer, hosts->n_waiting > 0 ? patience / 2 : 0, half_over, hosts);
	hosts->turn = turn;
	hosts->found = found;
	hosts->arg = arg;
	for (int i = 0; i < hosts->n; i++)
		if (hosts->hosts[i].n_addresses == 0)
			sfc_lookup_begin(&hosts->hosts[i].lookup, hosts->hosts[i].name, patience, looked_up, &hosts->hosts[i]);
	return hosts;
}

/* Begin to connect, to the hosts that were looked up, or without any (NULL) as the parameters say. */
PGconn *
sfc_hosts_connect(SfcHosts *hosts, SfcParameters *parameters)
{
	if (hosts != NULL)
	{
		sfc_parameters_add(parameters, "host", sfc_buffer_data(&hosts->names));
		sfc_parameters_add(parameters, "hostaddr", sfc_buffer_data(&hosts->addresses));
		sfc_parameters_add(parameters, "port", sfc_buffer_data(&hosts->ports));
	}
	return PQconnectStartParams(parameters->keys, parameters->values, parameters->expands);
}
