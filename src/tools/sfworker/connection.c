/*
 * connection.c
 *		Where the worker connects to.
 */
#include "postgres_fe.h"

#include "tools/client/session.h"
#include "tools/sfworker/config.h"
#include "tools/sfworker/connection.h"

/*
 * Begin to connect, or with wait connect.  With own, connect
 * to the database with the workflows, as the options say; else as conninfo says.
 */
PGconn *
sfw_connect(const char *conninfo, bool own, bool wait)
{
	/* Parameters before dbname can be overridden by it, those after it cannot. */
#define KEY(key, value) key,
#define VALUE(key, value) value,
	const char *const keys[] = {SFC_HOST_TIMEOUTS(KEY)
	"connect_timeout", "fallback_application_name", "dbname", "client_encoding", "host", "port", "user", NULL};
	const char *values[lengthof(keys)] = {SFC_HOST_TIMEOUTS(VALUE) "10", "sfworker", conninfo, "UTF8"};

	/* libpq ignores parameters whose value is NULL. */
	if (own)
	{
		values[8] = sfw_config.host;
		values[9] = sfw_config.port;
		values[10] = sfw_config.user;
	}
	return wait ? PQconnectdbParams(keys, values, 1) : PQconnectStartParams(keys, values, 1);
}
