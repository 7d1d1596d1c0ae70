/*
 * poison.c
 *		The notes that survive a crash.
 *
 * A step that crashes the server would do so again after each restart, and no
 * execution would advance any more.  So each worker notes the branches of its turn
 * in a small file that is mapped into memory, where they stay when the process is
 * killed.  The file need not survive a power cut, so it is not synced.  The
 * postmaster maps it once, and its children inherit the mapping.
 *
 * Notes that are found when shared memory is initialized mean that there was a
 * crash.  Their branches are suspects; most of them are innocent.  Before anything
 * else the launcher has them run alone, one at a time.  Only a crash while the
 * suspect was alone counts against it; after sfflow.max_crashes in a row its branch
 * fails.  A run without a crash clears the suspect.
 *
 * A suspect is alone for a limited time: else a task of an hour would stop all
 * others for an hour after each crash.  The limit is five seconds at first and
 * doubles each time the branch becomes a suspect again, so that a late crash is
 * found, too.  A suspect for which the others do not wait is called released.
 *
 * Children that a slice begins and runs in memory are noted as the branch that began
 * them.  Alone, that branch leaves them to slices to come, each with a row of its own,
 * and stays a released suspect: so whenever it begins children, such as the next jobs of
 * a net, they get rows, and the one that crashes the server is found like any branch.
 *
 * A worker that ends by itself in the middle of a turn is a smaller crash
 * (exits.c): its branches become released suspects, and sf_turn_run() runs them one
 * by one.
 *
 * A suspect is forgotten when its execution ends, at the commit (wake.c): redriven, it
 * begins with no count.  Ends that no commit tells of, because the server crashed then,
 * or because the execution was deleted, are found by the workers' scans for
 * everything due (turn_xact.c).  Where there are no suspects both cost a look at a number.
 *
 * The file is in pg_stat_tmp, which base backups leave out and which nothing
 * empties.  Its space is allocated at once: writing to a hole of a mapped file
 * on a full disk would raise SIGBUS.
 *
 * A note is written by its process only, without a lock: the number of keys is
 * raised after the key is written.  Suspects are guarded by sf_shared_lock.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "storage/fd.h"

#include "base/error/debug_point.h"
#include "base/settings.h"
#include "worker/fault/fault.h"
#include "worker/shared_memory/entries.h"
#include "worker/shared_memory/shared.h"

#define POISON_FILE			"pg_stat_tmp/sfflow.poison"
#define POISON_MAGIC		0x53465034	/* changes with the layout */
#define POISON_MAX_PROCESSES	258
#define POISON_MAX_KEYS		64
#define POISON_MAX_SUSPECTS	1024

typedef struct PoisonNote
{
	Oid			database;
	Oid			owner;			/* of its branches */
	uint32		alone;
	uint32		nkeys;			/* ever noted: the last 64 are there */
	SfBranchKey keys[POISON_MAX_KEYS];
} PoisonNote;

typedef struct PoisonFile
{
	uint32		magic;
	int32		nsuspects;
	SfSuspect	suspects[POISON_MAX_SUSPECTS];
	PoisonNote	notes[POISON_MAX_PROCESSES];
} PoisonFile;

static PoisonFile *poison = NULL;

/* Map the file; NULL (and a line in the log) when that cannot be done. */
static PoisonFile *
map_file(void)
{
	int			fd = BasicOpenFile(POISON_FILE, O_RDWR | O_CREAT | PG_BINARY);
	int			error = 0;
	void	   *address = MAP_FAILED;

	if (fd < 0)
		error = errno;
	else
	{
		error = posix_fallocate(fd, 0, sizeof(PoisonFile));
		if (error == 0)
		{
			address = mmap(NULL, sizeof(PoisonFile), PROT_READ | PROT_WRITE,
						   MAP_SHARED, fd, 0);
			if (address == MAP_FAILED)
				error = errno;
		}
		close(fd);
	}
	if (error == 0)
		return address;
	errno = error;
	ereport(LOG,
			(errcode_for_file_access(),
			 errmsg("could not map file \"%s\": %m", POISON_FILE),
			 errdetail("sfflow goes on without it: a step that crashes the server will not be found.")));
	return NULL;
}

/* Find a suspect's entry. */
static SfSuspect *
find_suspect(Oid database, SfBranchKey key)
{
	for (int i = 0; i < poison->nsuspects; i++)
	{
		SfSuspect  *suspect = &poison->suspects[i];

		if (suspect->database == database && sf_branch_key_equals(suspect->key, key))
			return suspect;
	}
	return NULL;
}

/* Take a suspect off the list. */
static void
remove_suspect(SfSuspect *suspect)
{
	*suspect = poison->suspects[poison->nsuspects - 1];
	poison->nsuspects--;
}

/*
 * Find an entry for one more suspect of an owner: if there is none, that of a released one, of the
 * owner with most of them (entries.c).  NULL: there is none, or the others have no more than he.
 */
static SfSuspect *
free_entry(Oid owner)
{
	Oid			owners[POISON_MAX_SUSPECTS];
	Oid			giver;
	int			n = 0;

	if (poison->nsuspects < POISON_MAX_SUSPECTS)
		return &poison->suspects[poison->nsuspects++];
	for (int i = 0; i < poison->nsuspects; i++)
		if (poison->suspects[i].released)
			owners[n++] = poison->suspects[i].owner;
	if (!sf_entries_find_giver(owners, n, owner, &giver))
		return NULL;
	for (int i = 0; i < poison->nsuspects; i++)
		if (poison->suspects[i].released && poison->suspects[i].owner == giver)
			return &poison->suspects[i];
	return NULL;
}

/* Find a suspect, or make a branch of a note one; NULL: there is no entry. */
static SfSuspect *
add_suspect(const PoisonNote *note, SfBranchKey key)
{
	SfSuspect  *suspect = find_suspect(note->database, key);

	if (suspect)
		return suspect;
	suspect = free_entry(note->owner);
	if (suspect)
	{
		memset(suspect, 0, sizeof(SfSuspect));
		suspect->database = note->database;
		suspect->owner = note->owner;
		suspect->key = key;
	}
	return suspect;
}

/* A branch took part in a crash. */
static void
suspect_branch(const PoisonNote *note, SfBranchKey key)
{
	SfSuspect  *suspect = add_suspect(note, key);

	if (!suspect)
		return;
	suspect->seen++;
	if (note->alone != 0 || SF_DEBUG_MUTATION("crash_count"))
		suspect->crashes++;
	suspect->released = false;
}

/* Open the file and turn the notes of a crash into suspects; in the postmaster. */
void
sf_poison_startup(void)
{
	if (!poison)
		poison = map_file();
	if (!poison)
		return;
	if (poison->magic != POISON_MAGIC || poison->nsuspects < 0 ||
		poison->nsuspects > POISON_MAX_SUSPECTS)
	{
		memset(poison, 0, sizeof(PoisonFile));
		poison->magic = POISON_MAGIC;
	}
	for (int i = 0; i < POISON_MAX_PROCESSES; i++)
	{
		PoisonNote *note = &poison->notes[i];
		int			n = (int) Min(note->nkeys, POISON_MAX_KEYS);

		for (int k = 0; k < n; k++)
			suspect_branch(note, note->keys[k]);
		note->nkeys = 0;
		note->alone = 0;
	}
}

/* A worker's turn begins, without a note; alone: no other worker runs. */
void
sf_poison_turn_begin(int process, Oid database, bool alone)
{
	if (!poison || process >= POISON_MAX_PROCESSES)
		return;
	poison->notes[process].nkeys = 0;
	poison->notes[process].database = database;
	poison->notes[process].alone = alone;
}

/* The turn has come to a branch of an owner, who is that of all its branches. */
void
sf_poison_turn_note(int process, SfBranchKey key, Oid owner)
{
	PoisonNote *note;

	if (!poison || process >= POISON_MAX_PROCESSES)
		return;
	if (SF_DEBUG_MUTATION("note"))
		return;
	note = &poison->notes[process];
	note->owner = owner;
	if (note->nkeys > 0 &&
		sf_branch_key_equals(note->keys[(note->nkeys - 1) % POISON_MAX_KEYS], key))
		return;
	note->keys[note->nkeys % POISON_MAX_KEYS] = key;
	pg_write_barrier();
	note->nkeys++;
}

/*
 * The turn is over without a crash.  run: its branches were run, or made to fail, which
 * clears the released ones among them, and one that ran alone; false when it was rolled
 * back, a task was only announced, children or a step that waits at a gate were left to
 * others, or the process was asked to end.
 */
void
sf_poison_turn_end(int process, bool run)
{
	PoisonNote *note;

	if (!poison || process >= POISON_MAX_PROCESSES)
		return;
	note = &poison->notes[process];
	if (run && poison->nsuspects > 0)
	{
		int			n = (int) Min(note->nkeys, POISON_MAX_KEYS);

		LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
		for (int k = 0; k < n; k++)
		{
			SfSuspect  *suspect = find_suspect(note->database, note->keys[k]);

			if (suspect && (suspect->released || note->alone))
				remove_suspect(suspect);
		}
		LWLockRelease(sf_shared_lock);
	}
	note->nkeys = 0;
	note->alone = 0;
}

/*
 * The process of a turn ends by itself.  The branch that caused it is that of the
 * step that it was in (key), else the only one of the turn; if there are several,
 * each is suspected and runs alone from then on.  They are released suspects.
 * False: the turn has come to no branch.  *suspect: the (first) one that was noted.
 */
bool
sf_poison_turn_exit(int process, const SfBranchKey *key, SfSuspect *suspect)
{
	PoisonNote *note;
	const SfBranchKey *keys;
	int			n;
	bool		found = false;

	if (!poison || process >= POISON_MAX_PROCESSES)
		return false;
	note = &poison->notes[process];
	keys = key && note->nkeys > 0 ? key : note->keys;
	n = key ? Min((int) note->nkeys, 1) : (int) Min(note->nkeys, POISON_MAX_KEYS);

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = 0; i < n; i++)
	{
		SfSuspect  *noted = add_suspect(note, keys[i]);

		if (!noted)
			continue;
		noted->released = true;
		if (n == 1)
			noted->exits++;
		if (!found)
			*suspect = *noted;
		found = true;
	}
	note->nkeys = 0;
	note->alone = 0;
	LWLockRelease(sf_shared_lock);
	return found;
}

/* Find what is known of a branch; false: it is no suspect. */
bool
sf_poison_find(Oid database, SfBranchKey key, SfSuspect *suspect)
{
	SfSuspect  *found;

	if (!poison || poison->nsuspects == 0)
		return false;
	LWLockAcquire(sf_shared_lock, LW_SHARED);
	found = find_suspect(database, key);
	if (found)
		*suspect = *found;
	LWLockRelease(sf_shared_lock);
	return found != NULL;
}

/*
 * The cause with which a branch fails that has ended sfflow.max_crashes workers in a
 * row, or as often the server while it ran alone.  NULL: it may run.
 */
char *
sf_poison_cause(Oid database, SfBranchKey key)
{
	SfSuspect	suspect;

	if (!sf_poison_find(database, key, &suspect))
		return NULL;
	if (suspect.crashes >= sf_setting_max_crashes)
		return psprintf("The server crashed %d times while this step ran alone.",
						suspect.crashes);
	if (suspect.exits >= sf_setting_max_crashes)
		return psprintf("The worker process ended %d times while it ran this step.",
						suspect.exits);
	return NULL;
}

/* Find a suspect of a database (InvalidOid: of any), not released. */
bool
sf_poison_next_suspect(Oid database, SfSuspect *suspect)
{
	bool		found = false;

	if (!poison || poison->nsuspects == 0)
		return false;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = 0; i < poison->nsuspects && !found; i++)
	{
		if (poison->suspects[i].released ||
			(OidIsValid(database) && poison->suspects[i].database != database))
			continue;
		*suspect = poison->suspects[i];
		found = true;
	}
	LWLockRelease(sf_shared_lock);
	return found;
}

/* Count the suspects that are not released. */
int
sf_poison_count_suspects(void)
{
	int			count = 0;

	if (!poison)
		return 0;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = 0; i < poison->nsuspects; i++)
	{
		if (!poison->suspects[i].released)
			count++;
	}
	LWLockRelease(sf_shared_lock);
	return count;
}

/*
 * A suspect has had its time alone.  cleared: it is none any more; else it stays one, for
 * which the others do not wait.
 */
void
sf_poison_judge_suspect(Oid database, SfBranchKey key, bool cleared)
{
	SfSuspect  *suspect;

	if (!poison)
		return;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	suspect = find_suspect(database, key);
	if (suspect && cleared)
		remove_suspect(suspect);
	else if (suspect)
		suspect->released = true;
	LWLockRelease(sf_shared_lock);
}

/* Tell whether there are suspects, as far as is known without the lock. */
bool
sf_poison_has_suspects(void)
{
	return poison && poison->nsuspects > 0;
}

/* Forget the suspects of an execution that has ended; the caller holds sf_shared_lock. */
void
sf_poison_execution_ended(Oid database, int64 execution_no)
{
	Assert(LWLockHeldByMeInMode(sf_shared_lock, LW_EXCLUSIVE));
	for (int i = poison->nsuspects - 1; i >= 0; i--)
	{
		SfSuspect  *suspect = &poison->suspects[i];

		if (suspect->database == database && suspect->key.execution_no == execution_no)
			remove_suspect(suspect);
	}
}

/* List the released suspects of a database, in the current memory context; returns how many there are. */
int
sf_poison_list_released(Oid database, SfSuspect **suspects)
{
	int			n = 0;

	if (!sf_poison_has_suspects())
		return 0;
	*suspects = palloc(sizeof(SfSuspect) * POISON_MAX_SUSPECTS);
	LWLockAcquire(sf_shared_lock, LW_SHARED);
	for (int i = 0; i < poison->nsuspects; i++)
	{
		if (poison->suspects[i].released && poison->suspects[i].database == database)
			(*suspects)[n++] = poison->suspects[i];
	}
	LWLockRelease(sf_shared_lock);
	return n;
}

/* Forget a suspect, if nothing has been noted against it since it was listed. */
void
sf_poison_forget(const SfSuspect *suspect)
{
	SfSuspect  *found;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	found = find_suspect(suspect->database, suspect->key);
	if (found && found->released && found->seen == suspect->seen && found->exits == suspect->exits)
		remove_suspect(found);
	LWLockRelease(sf_shared_lock);
}

/* Forget the suspects of a database that cannot run them. */
void
sf_poison_clear_database(Oid database)
{
	if (!poison)
		return;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = poison->nsuspects - 1; i >= 0; i--)
	{
		if (poison->suspects[i].database == database)
			remove_suspect(&poison->suspects[i]);
	}
	LWLockRelease(sf_shared_lock);
}

/* Release all suspects: the others go on while they run. */
void
sf_poison_release_suspects(void)
{
	if (!poison)
		return;
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	for (int i = 0; i < poison->nsuspects; i++)
		poison->suspects[i].released = true;
	for (int i = 0; i < POISON_MAX_PROCESSES && !SF_DEBUG_MUTATION("release"); i++)
		poison->notes[i].alone = 0;
	LWLockRelease(sf_shared_lock);
}
