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

/* A worker's turn begins: nothing noted yet; alone: nobody else works. */
extern void sf_poison_turn_begin(int slot, Oid database, bool alone);

/* The turn has come to a branch. */
extern void sf_poison_turn_note(int slot, SfBranchKey key);

/*
 * The turn is over without a crash (committed or rolled back).  run: the branches
 * were, so that those which nobody waits for are no suspects any more; not so
 * when a task was only announced, or the process was asked to end.
 */
extern void sf_poison_turn_end(int slot, bool run);

/*
 * The process of a turn ends by itself.  With the key of the step that it was in
 * this branch has done it, else the only one that the turn has come to; with more
 * of them it is not known which one, and each runs alone from then on.  Nobody
 * waits for them.  False: the turn has come to no branch.  *suspect: the (first)
 * one that was noted.
 */
extern bool sf_poison_turn_exit(int slot, const SfBranchKey *key, SfSuspect *suspect);

/* Find what is known of a branch; false: it is no suspect. */
extern bool sf_poison_find(Oid database, SfBranchKey key, SfSuspect *suspect);

/* Find a suspect of a database (InvalidOid: of any), not released. */
extern bool sf_poison_next_suspect(Oid database, SfSuspect *suspect);

/* Suspects that wait. */
extern int	sf_poison_count_suspects(void);

/* The suspect has run without a crash, or is beyond judging. */
extern void sf_poison_clear_suspect(Oid database, SfBranchKey key);

/* Forget the suspects of a database that cannot run them. */
extern void sf_poison_clear_database(Oid database);

/* Nobody waits for the suspects any longer: what they run is not alone now. */
extern void sf_poison_release_suspects(void);

#endif							/* SF_WORKER_POISON_H */
