/*
 * debug_point.c
 *		Carry out what sfflow.debug_point asks for at a debug point.
 */
#include "postgres.h"

#include <signal.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lock.h"

#include "base/error/debug_point.h"

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
run_action(const char *name, const char *action, size_t length)
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

/* Find the next action for a point, from *entry on, which moves behind it; NULL: there is none. */
static const char *
next_action(const char **entry, const char *name, size_t *length)
{
	size_t		name_length = strlen(name);

	while (**entry)
	{
		const char *start = *entry + strspn(*entry, " ,");
		size_t		whole = strcspn(start, " ,");

		*entry = start + whole;
		if (whole > name_length + 1 && start[name_length] == ':' &&
			strncmp(start, name, name_length) == 0)
		{
			*length = whole - name_length - 1;
			return start + name_length + 1;
		}
	}
	return NULL;
}

/*
 * Do what sfflow.debug_point says about a point, if anything; for a mutation, only
 * tell whether it asks for the mistake of this name.
 */
bool
sf_debug_point_reached(const char *name, bool mutation)
{
	const char *entry = sf_setting_debug_point;
	const char *action;
	size_t		length;

	while ((action = next_action(&entry, name, &length)) != NULL)
	{
		if (!mutation)
			run_action(name, action, length);
		else if (is_action(action, length, "mutate"))
			return true;
	}
	return false;
}

/* Return the time that sfflow.debug_point gives for a point, else the usual one; milliseconds. */
int
sf_debug_point_ms(const char *name, int usual)
{
	const char *entry = sf_setting_debug_point;
	const char *action;
	size_t		length;

	while ((action = next_action(&entry, name, &length)) != NULL)
	{
		if (is_action(action, length, "ms") && length > 3)
			return atoi(action + 3);
	}
	return usual;
}
