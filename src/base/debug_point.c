/*
 * debug_point.c
 *		Carry out what sfflow.debug_point asks for at a debug point.
 */
#include "postgres.h"

#include <signal.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lock.h"

#include "base/debug_point.h"

char	   *sf_setting_debug_point = NULL;

/* Wait while another session holds the advisory lock of this name. */
static void
wait_for_lock(const char *name)
{
	uint64		key = DatumGetUInt64(hash_any_extended((const unsigned char *) name,
													   (int) strlen(name), 0));
	LOCKTAG		tag;

	/* as pg_advisory_lock(bigint) makes it */
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (key >> 32), (uint32) key, 1);
	(void) LockAcquire(&tag, ShareLock, false, false);
	LockRelease(&tag, ShareLock, false);
}

/* Raise an error, with the SQLSTATE that follows "=". */
static void
raise_at(const char *name, int level, const char *action, size_t length)
{
	const char *equals = memchr(action, '=', length);
	const char *state = equals && action + length - equals == 6 ? equals + 1 : "XX000";

	ereport(level,
			(errcode(MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4])),
			 errmsg("debug point \"%s\"", name)));
}

/* Tell whether an action is of a kind: "kind" or "kind=value". */
static bool
is_action(const char *action, size_t length, const char *kind)
{
	size_t		n = strlen(kind);

	return length >= n && strncmp(action, kind, n) == 0 &&
		(length == n || action[n] == '=');
}

/* Carry out one action. */
static void
act(const char *name, const char *action, size_t length)
{
	if (is_action(action, length, "error"))
		raise_at(name, ERROR, action, length);
	if (is_action(action, length, "fatal"))
		raise_at(name, FATAL, action, length);
	if (is_action(action, length, "crash"))
		kill(MyProcPid, SIGKILL);
	if (is_action(action, length, "sleep"))
	{
		long		ms = length > 6 ? atol(action + 6) : 1000;

		for (; ms > 0; ms -= 10)
		{
			CHECK_FOR_INTERRUPTS();
			pg_usleep(10 * 1000L);
		}
	}
	if (is_action(action, length, "wait"))
		wait_for_lock(name);
}

/* Find what sfflow.debug_point says about a point; NULL: nothing (more). */
static const char *
find_action(const char *name, const char *entry, size_t *length)
{
	size_t		name_length = strlen(name);

	while (entry && *entry)
	{
		entry += strspn(entry, " ,");
		*length = strcspn(entry, " ,");
		if (*length > name_length + 1 && entry[name_length] == ':' &&
			strncmp(entry, name, name_length) == 0)
		{
			*length -= name_length + 1;
			return entry + name_length + 1;
		}
		entry += *length;
	}
	return NULL;
}

/* Do what sfflow.debug_point says about this point, if anything. */
void
sf_debug_point_reached(const char *name)
{
	size_t		length = 0;
	const char *action = sf_setting_debug_point;

	while ((action = find_action(name, action, &length)) != NULL)
	{
		act(name, action, length);
		action += length;
	}
}

/* Tell whether sfflow.debug_point asks for the mistake of a name. */
bool
sf_debug_point_mutates(const char *name)
{
	size_t		length = 0;
	const char *action = sf_setting_debug_point;

	while ((action = find_action(name, action, &length)) != NULL)
	{
		if (is_action(action, length, "mutate"))
			return true;
		action += length;
	}
	return false;
}
