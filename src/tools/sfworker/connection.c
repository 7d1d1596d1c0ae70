/*
 * connection.c
 *		Where the worker connects to.
 */
#include "postgres_fe.h"

#include "tools/client/session.h"
#include "tools/sfworker/config.h"
#include "tools/sfworker/connection.h"

/*
 * The parameters of a connection: with own to the database with the workflows, as the options say; else as conninfo
 * says.
 */
static SfcParameters
parameters_of(const char *conninfo, bool own)
{
	SfcParameters parameters = {.expands = true};

	/* Parameters before dbname can be overridden by it, those after it cannot. */
#define ADD(key, value) sfc_parameters_add(&parameters, key, value);
	SFC_HOST_TIMEOUTS(ADD)
	ADD("connect_timeout", "10")
	ADD("fallback_application_name", "sfworker")
	ADD("dbname", conninfo)
	ADD("client_encoding", "UTF8")
	if (own)
	{
		ADD("host", sfw_config.host)
		ADD("port", sfw_config.port)
		ADD("user", sfw_config.user)
	}
	return parameters;
}

/* Look up the names of the hosts to connect to, as sfc_hosts_find() does. */
SfcHosts *
sfw_find_hosts(const char *conninfo, bool own, int turn, SfcHostsFound found, void *arg)
{
	SfcParameters parameters = parameters_of(conninfo, own);

	return sfc_hosts_find(&parameters, turn, sfw_config.connect_timeout, found, arg);
}

/* Begin to connect, to hosts that were looked up unless they are NULL. */
PGconn *
sfw_begin_connecting(const char *conninfo, bool own, SfcHosts *hosts)
{
	SfcParameters parameters = parameters_of(conninfo, own);

	return sfc_hosts_connect(hosts, &parameters);
}

/* Connect to the database with the workflows, in a program that has nothing else to do meanwhile. */
PGconn *
sfw_connect_now(void)
{
	SfcParameters parameters = parameters_of(sfw_config.dbname, true);

	return PQconnectdbParams(parameters.keys, parameters.values, parameters.expands);
}
