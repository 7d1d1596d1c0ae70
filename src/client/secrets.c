/*
 * secrets.c
 *		What others on this machine must not read out of /proc.
 *
 * The worker knows passwords: PGPASSWORD in its environment, connection
 * strings and headers of its configuration.  Its commands run as the same
 * user, and /proc shows a process of the same user everything: its
 * environment, its memory, its descriptors.  So the process is made
 * undumpable, which gives those files to root and also means no core dump; a
 * command gets back to normal in exec.  The strings in the environment that
 * the kernel shows are overwritten as well, because a file of /proc that was
 * opened before keeps its right to read.  The command line can be read by all
 * users at any time, so passwords in it are overwritten.
 *
 * This protects nothing from root, nor files that the user can read.
 */
#include "secrets.h"

#include <libpq-fe.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "buf.h"

/* Move the environment to where only this process sees it. */
static void
move_environment(void)
{
	char	  **copy;
	size_t		n = 0;

	while (environ[n] != NULL)
		n++;
	copy = sfw_alloc(sizeof(char *) * (n + 1));
	for (size_t i = 0; i < n; i++)
	{
		copy[i] = sfw_strdup(environ[i]);
		memset(environ[i], 0, strlen(environ[i]));
	}
	environ = copy;
}

/* Close this process to others of the same user; to be called first of all. */
void
sfw_secrets_hide(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	move_environment();
}

/* Tell whether a connection string has a password; one that cannot be read may have. */
static bool
has_password(const char *conninfo)
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
sfw_secrets_hide_conninfo(char *argument)
{
	if (has_password(argument))
		memset(argument, '*', strlen(argument));
}
