/*
 * poison.h
 *		The notes that survive a crash: which branches were being advanced, so
 *		that the one which brings the server down can be found (4.6).
 */
#ifndef SF_WORKER_POISON_H
#define SF_WORKER_POISON_H

#include "base/hooks.h"

/* A branch that was being advanced when the server crashed, or a worker ended */
typedef struct SfSuspect
{
	Oid			database;
	SfBranchKey key;
	int			seen;			/* crashes in which it took part */
	int			crashes;		/* of these, while it ran alone */
	int			exits;			/* ends of a worker, in a row, while it ran it */
	bool		released;		/* the others do not wait for it */
} SfSuspect;

/* Open the file and turn the notes of a crash into suspects; in the postmaster. */
extern void sf_poison_startup(void);

/* A worker's turn begins, without a note; alone: no other worker runs. */
extern void sf_poison_turn_begin(int slot, Oid database, bool alone);

/* The turn has come to a branch. */
extern void sf_poison_turn_note(int slot, SfBranchKey key);

/*
 * The turn is over without a crash (committed or rolled back).  run: its branches
 * were run, which clears the released ones among them; false when a task was only
 * announced, or the process was asked to end.
 */
extern void sf_poison_turn_end(int slot, bool run);

/*
 * The process of a turn ends by itself.  The branch that caused it is that of the
 * step that it was in (key), else the only one of the turn; if there are several,
 * each is suspected and runs alone from then on.  They are released suspects.
 * False: the turn has come to no branch.  *suspect: the (first) one that was noted.
 */
extern bool sf_poison_turn_exit(int slot, const SfBranchKey *key, SfSuspect *suspect);

/* Find what is known of a branch; false: it is no suspect. */
extern bool sf_poison_find(Oid database, SfBranchKey key, SfSuspect *suspect);

/* Find a suspect of a database (InvalidOid: of any), not released. */
extern bool sf_poison_next_suspect(Oid database, SfSuspect *suspect);

/* Count the suspects that are not released. */
extern int	sf_poison_count_suspects(void);

/* The suspect has run without a crash, or is beyond judging. */
extern void sf_poison_clear_suspect(Oid database, SfBranchKey key);

/* Forget the suspects of a database that cannot run them. */
extern void sf_poison_clear_database(Oid database);

/* Release all suspects: the others go on while they run. */
extern void sf_poison_release_suspects(void);

#endif							/* SF_WORKER_POISON_H */
