/*
 * secrets.c
 *		Keep a program's secrets from other processes, which could read them
 *		out of /proc.
 *
 * sfworker and sfgateway know passwords: PGPASSWORD in the environment, connection
 * strings and headers of the configuration.  The commands of sfworker run as the same
 * user, and /proc shows a process of the same user everything: environment,
 * memory, descriptors.  So the process is made undumpable, which gives those
 * files to root and also prevents core dumps; exec makes a command normal
 * again.  The strings in the environment that the kernel shows are overwritten
 * as well, because a file of /proc that was opened before stays readable.  All
 * users can read the command line at any time, so a connection string with a
 * password is overwritten there.
 *
 * Root can still read everything, and the user's other processes can read the
 * user's files.
 */
#include "postgres_fe.h"

#include <libpq-fe.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tools/client/secrets.h"

/* Move the environment to memory that /proc does not show. */
static void
move_environment(void)
{
	char	  **copy;
	size_t		n = 0;

	while (environ[n] != NULL)
		n++;
	copy = pg_malloc0(sizeof(char *) * (n + 1));
	for (size_t i = 0; i < n; i++)
	{
		copy[i] = pg_strdup(environ[i]);
		memset(environ[i], 0, strlen(environ[i]));
	}
	environ = copy;
}

/* Keep other processes of the same user out of this one; to be called first of all. */
void
sfc_secrets_hide(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	move_environment();
}

/* Tell whether a connection string may have a password: it has one, or cannot be parsed. */
bool
sfc_secrets_in_conninfo(const char *conninfo)
{
	PQconninfoOption *options;
	bool		found = false;

	if (strchr(conninfo, '=') == NULL && strstr(conninfo, "://") == NULL)
		return false;
	options = PQconninfoParse(conninfo, NULL);
	if (options == NULL)
		return true;
	for (PQconninfoOption *option = options; option->keyword != NULL; option++)
	{
		if (strstr(option->keyword, "password") != NULL || strstr(option->keyword, "secret") != NULL)
			found = found || (option->val != NULL && *option->val != '\0');
	}
	PQconninfoFree(options);
	return found;
}

/* Overwrite a connection string of the command line, unless it has no password. */
void
sfc_secrets_hide_conninfo(char *argument)
{
	if (sfc_secrets_in_conninfo(argument))
		memset(argument, '*', strlen(argument));
}
