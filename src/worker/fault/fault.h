/*
 * fault.h
 *		What goes wrong in a worker, and what is noted of it.
 */
#ifndef SF_WORKER_FAULT_H
#define SF_WORKER_FAULT_H

#include "base/hooks.h"
#include "base/time/clock.h"
#include "worker/shared_memory/shared.h"

/* --- poison.c: which branches were being advanced, so that the one which brings the server down can be found --- */

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

/* --- shortage.c: branches for which there was not enough memory, or something like it --- */

extern int	sf_shortage_note(SfBranchKey key, bool may_be_its_own, int *pause_ms);
extern void sf_shortage_clear(SfBranchKey key);
extern void sf_shortage_note_success(void);

/* --- exits.c: A worker that ends in the middle of a turn --- */

/*
 * Watch the process: first the signals, before it connects; then its end, after
 * it has connected, so that the transaction is still there then.
 */
extern void sf_exits_watch_signals(void);
extern void sf_exits_watch_end(void);

/* --- failures.c: A line in the server's log for each execution that failed --- */

extern char *sf_failures_line(const char *execution_id, const char *state,
							  const char *error, bool timed_out);
extern void sf_failures_log(const char *line);
extern SfTick sf_failures_tell_suppressed(void);

/* --- last_error.c: the last error of a database's workers that no execution shows --- */

extern void sf_last_error_note(int sqlstate, const char *message);
extern void sf_last_error_watch_exit(void);
extern bool sf_last_error_read(SfLastError *out);

#endif							/* SF_WORKER_FAULT_H */
