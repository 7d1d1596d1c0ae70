/*
 * machine.h
 *		State machines and their versions.
 */
#ifndef SF_STORE_MACHINE_H
#define SF_STORE_MACHINE_H

#include "db/row.h"
#include "store/role/object_kind.h"

/* Where the number of a machine may stand: there is none */
#define SF_NO_MACHINE		0

/* Where the number of a machine may stand that a search is for: it is for all */
#define SF_ALL_MACHINES		(-1)

/* Where the number of a version may stand: none is named, so it is the current one, or that which there was before */
#define SF_NO_VERSION		0

/* What an execution's history keeps (machine option "history") */
typedef enum SfHistoryLevel
{
	SF_HISTORY_LEVEL_ALL,
	SF_HISTORY_LEVEL_TASKS,
	SF_HISTORY_LEVEL_NONE
} SfHistoryLevel;

/* Priorities of executions are from -this to this (machine option "priority") */
#define SF_MAX_PRIORITY		1000

/* Columns of _sfflow.state_machine; see sql/parts/store/machine.sql. */
#define SF_STATE_MACHINE_COLUMNS(X) \
	X(int, machine_no, INT4, NOT_NULL) \
	X(char *, name, TEXT, NOT_NULL) \
	X(Oid, owner, REGROLE, NOT_NULL) \
	X(int, current_version, INT4, NOT_NULL) \
	X(TimestampTz, created_at, TIMESTAMPTZ, NOT_NULL)

/* ... and of _sfflow.state_machine_version */
#define SF_STATE_MACHINE_VERSION_COLUMNS(X) \
	X(int, machine_no, INT4, NOT_NULL) \
	X(int, version, INT4, NOT_NULL) \
	X(char *, definition, JSON, NOT_NULL) \
	X(char *, execution_id_path, TEXT, NULLABLE) \
	X(Jsonb *, options, JSONB, NOT_NULL) \
	X(TimestampTz, created_at, TIMESTAMPTZ, NOT_NULL)

/* The option with what the AWS API keeps of a version: roleArn, type and so on */
#define SF_OPTION_AWS "aws"

/* A machine with one of its versions */
typedef struct SfMachine
{
	SF_STATE_MACHINE_COLUMNS(SF_FIELD)
	int			version;
	char	   *definition;		/* text as it was given; NULL: not asked for */
	char	   *execution_id_path;	/* or NULL */
	Jsonb	   *options;
} SfMachine;

/*
 * A machine by name, in a version (SF_NO_VERSION: the current one), full: with its definition;
 * NULL when there is none.
 */
extern SfMachine *sf_machine_read(const char *name, int version, bool full);
extern Oid	sf_machine_owner(const char *name);

/*
 * A machine by name in its current version, without the definition; NULL when there is
 * none.  The backend caches it: for what asks at each call.
 */
extern SfMachine *sf_machine_current(const char *name);

/* What of a machine only sf_alter_owner changes */
typedef struct SfMachineIdentity
{
	const char *name;
	Oid			owner;
} SfMachineIdentity;

/*
 * Read it by the machine's number; the backend caches it: valid until the next call of this
 * function or of sf_machine_current().  NULL: no such machine.
 */
extern const SfMachineIdentity *sf_machine_identity(int machine_no);

extern bool sf_machine_exists(int machine_no);

extern void sf_machine_lock_waits(int machine_no);
extern bool sf_machine_share_waits(int machine_no, Oid owner);

/* A version by its key, for the program cache; NULL when it is gone. */
extern SfMachine *sf_machine_read_version(int machine_no, int version);

extern bool sf_machine_insert(SfMachine *machine);

extern void sf_machine_lock(int machine_no);
extern SfMachine *sf_machine_lock_current(const SfMachine *machine, bool full);

/*
 * Until the end of the transaction, keep other sessions from dropping a machine
 * or, with exclusive, from starting executions of it.  Waits for a session that
 * holds the conflicting lock.  It is not a row lock: then every start would write
 * to the machine's row.
 */
extern void sf_machine_lock_starts(int machine_no, bool exclusive);
extern bool sf_machine_try_lock_purge(int machine_no);
extern void sf_machine_unlock_purge(int machine_no);

extern void sf_machine_add_version(SfMachine *machine);

extern void sf_machine_delete(int machine_no);

extern int64 sf_machine_count_running(int machine_no);
extern int64 sf_machine_count_ended(int machine_no);

/* --- machine_alias.c: names for versions of a state machine --- */

/* Columns of _sfflow.machine_alias; see sql/parts/store/machine.sql. */
#define SF_MACHINE_ALIAS_COLUMNS(X) \
	X(int, machine_no, INT4, NOT_NULL) \
	X(char *, alias, TEXT, NOT_NULL) \
	X(Jsonb *, routes, JSONB, NOT_NULL) \
	X(TimestampTz, set_at, TIMESTAMPTZ, NOT_NULL) \
	X(TimestampTz, created_at, TIMESTAMPTZ, NOT_NULL) \
	X(char *, description, TEXT, NULLABLE)

typedef struct SfMachineAlias
{
	SF_MACHINE_ALIAS_COLUMNS(SF_FIELD)
} SfMachineAlias;

/* Versions that an alias names, at most */
#define SF_ALIAS_MAX_ROUTES	10

/* A version, and the percentage of the starts that it gets */
typedef struct SfRoute
{
	int			version;
	int			percent;
} SfRoute;

extern SfMachineAlias *sf_alias_find(int machine_no, const char *alias);
extern List *sf_alias_list(int machine_no, const char *behind, int version, int max_rows);
extern void sf_alias_describe(int machine_no, const char *alias, const char *description);
extern int	sf_alias_routes(const SfMachineAlias *alias, SfRoute *routes);
extern bool sf_alias_is_number(const char *qualifier);
extern bool sf_alias_is_publication(const char *qualifier);
extern char *sf_alias_stored(const char *qualifier, const SfRoute *routes);
extern int	sf_alias_resolve(int machine_no, const char *qualifier, SfRoute *routes);
extern int	sf_alias_choose(const SfRoute *routes, int n);
extern List *sf_alias_names(int machine_no);
extern void sf_alias_write(int machine_no, const char *alias, const Jsonb *routes);
extern bool sf_alias_delete(int machine_no, const char *alias);

#endif							/* SF_STORE_MACHINE_H */
