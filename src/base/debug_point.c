/*
 * debug_point.c
 *		What happens at a debug point that is switched on.
 */
#include "postgres.h"

#include <signal.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lock.h"

#include "base/debug_point.h"

char	   *sf_setting_debug_point = NULL;

/* Wait while somebody holds the advisory lock of this name. */
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

/* Raise an error. */
static void
raise_at(const char *name, int level, int sqlstate)
{
	ereport(level, (errcode(sqlstate), errmsg("debug point \"%s\"", name)));
}

/* Carry out one action. */
static void
act(const char *name, const char *action, size_t length)
{
	if (length == 5 && strncmp(action, "error", 5) == 0)
		raise_at(name, ERROR, ERRCODE_INTERNAL_ERROR);
	if (length == 11 && strncmp(action, "error=", 6) == 0)
		raise_at(name, ERROR, MAKE_SQLSTATE(action[6], action[7], action[8], action[9], action[10]));
	if (length == 5 && strncmp(action, "fatal", 5) == 0)
		raise_at(name, FATAL, ERRCODE_INTERNAL_ERROR);
	if (length == 5 && strncmp(action, "crash", 5) == 0)
		kill(MyProcPid, SIGKILL);
	if (length >= 5 && strncmp(action, "sleep", 5) == 0)
	{
		long		ms = length > 6 && action[5] == '=' ? atol(action + 6) : 1000;

		for (; ms > 0; ms -= 10)
		{
			CHECK_FOR_INTERRUPTS();
			pg_usleep(10 * 1000L);
		}
	}
	if (length == 4 && strncmp(action, "wait", 4) == 0)
		wait_for_lock(name);
}

/* Do what sfflow.debug_point says about this point, if anything. */
void
sf_debug_point_reached(const char *name)
{
	size_t		name_length = strlen(name);
	const char *entry = sf_setting_debug_point;

	while (entry && *entry)
	{
		size_t		length;

		entry += strspn(entry, " ,");
		length = strcspn(entry, " ,");
		if (length > name_length + 1 && entry[name_length] == ':' &&
			strncmp(entry, name, name_length) == 0)
		{
			act(name, entry + name_length + 1, length - name_length - 1);
			return;
		}
		entry += length;
	}
}
