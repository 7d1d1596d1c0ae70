/*
 * poison.h
 *		The notes that survive a crash: which branches were being advanced, so
 *		that the one which brings the server down can be found.
 */
#ifndef SF_WORKER_POISON_H
#define SF_WORKER_POISON_H

#include "base/hooks.h"

/* A branch that was being advanced when the server crashed, or a worker ended */
typedef struct SfSuspect
{
	Oid			database;
	Oid			owner;
	SfBranchKey key;
	int			seen;			/* crashes in which it took part */
	int			crashes;		/* of these, while it ran alone */
	int			exits;			/* ends of a worker, in a row, while it ran it */
	bool		released;		/* the others do not wait for it */
} SfSuspect;

extern void sf_poison_startup(void);
extern void sf_poison_turn_begin(int process, Oid database, bool alone);
extern void sf_poison_turn_note(int process, SfBranchKey key, Oid owner);
extern void sf_poison_turn_end(int process, bool run);
extern bool sf_poison_turn_exit(int process, const SfBranchKey *key, SfSuspect *suspect);
extern char *sf_poison_cause(Oid database, SfBranchKey key);
extern bool sf_poison_find(Oid database, SfBranchKey key, SfSuspect *suspect);
extern bool sf_poison_next_suspect(Oid database, SfSuspect *suspect);
extern int	sf_poison_count_suspects(void);
extern void sf_poison_judge_suspect(Oid database, SfBranchKey key, bool cleared);
extern bool sf_poison_has_suspects(void);
extern void sf_poison_execution_ended(Oid database, int64 execution_no);
extern int	sf_poison_list_released(Oid database, SfSuspect **suspects);
extern void sf_poison_forget(const SfSuspect *suspect);
extern void sf_poison_clear_database(Oid database);
extern void sf_poison_release_suspects(void);

#endif							/* SF_WORKER_POISON_H */
