/*
 * machine.h
 *		State machines and their versions.
 */
#ifndef SF_STORE_MACHINE_H
#define SF_STORE_MACHINE_H

#include "json/json.h"

/* What an execution's history keeps (machine option "history") */
typedef enum SfHistoryLevel
{
	SF_HISTORY_ALL,
	SF_HISTORY_TASKS,
	SF_HISTORY_NONE
} SfHistoryLevel;

typedef struct SfMachine
{
	int			machine_no;
	int			version;
	int			current_version;
	Oid			owner;
	char	   *name;
	char	   *definition;		/* text as it was given; NULL: not asked for */
	char	   *execution_id_path;	/* or NULL */
	Jsonb	   *options;
} SfMachine;

/*
 * A machine by name (version 0: the current one), full: with its definition;
 * NULL when there is none.
 */
extern SfMachine *sf_machine_read(const char *name, int version, bool full);

/* What only sf_alter_owner changes about a machine */
typedef struct SfMachineIdentity
{
	const char *name;
	Oid			owner;
} SfMachineIdentity;

/* The same for a machine that an execution belongs to; kept by the backend. */
extern const SfMachineIdentity *sf_machine_identity(int machine_no);

/* Whether there is a machine, by number. */
extern bool sf_machine_exists(int machine_no);

/* A version by its key, for the program cache; NULL when it is gone. */
extern SfMachine *sf_machine_read_version(int machine_no, int version);

/*
 * Insert a machine with its first version; false when the name is taken (the
 * session that took it has committed).
 */
extern bool sf_machine_insert(SfMachine *machine);

/* Lock a machine's row against other definitions of it. */
extern void sf_machine_lock(int machine_no);

/*
 * Until the end of the transaction: keep a machine from being dropped, or
 * (exclusive) executions of it from being started; waits for who has the
 * other.  Not a lock of its row, which every start would write to.
 */
extern void sf_machine_lock_starts(int machine_no, bool exclusive);

/* Add a version and make it current. */
extern void sf_machine_add_version(SfMachine *machine);

/* Delete a machine, its versions, and its executions with all they have. */
extern void sf_machine_delete(int machine_no);

/* At commit, ask whoever runs something for executions of a machine to stop. */
extern void sf_machine_cancel_executions(int machine_no);

/* Executions of a machine: running ones, and those that have ended. */
extern void sf_machine_count_executions(int machine_no, int64 *running,
										int64 *ended);

#endif							/* SF_STORE_MACHINE_H */
