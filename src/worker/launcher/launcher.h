/*
 * launcher.h
 *		The launcher, and its parts for the files of this folder.
 */
#ifndef SF_WORKER_LAUNCHER_H
#define SF_WORKER_LAUNCHER_H

#include "nodes/pg_list.h"

#include "base/version/compat.h"
#include "worker/shared_memory/shared.h"

/* --- launcher.c --- */

extern PGDLLEXPORT void sfflow_launcher_main(Datum arg);
extern void sf_worker_init(void);

/* --- databases.c: the databases of the server, as pg_database lists them --- */

extern List *sf_databases_to_probe(MemoryContext context, bool *complete);
extern bool sf_databases_may_drive(Oid oid);
extern bool sf_databases_may_connect(Oid oid);
extern bool sf_databases_exists(Oid oid);
extern void sf_databases_forget(Oid oid);
extern void sf_databases_clear(Oid oid);

/* --- demand.c: which database gets a process next, and which process makes room --- */

/* A database that is to be given a process */
typedef struct SfDemand
{
	Oid			database;		/* InvalidOid: none wants one */
	SfProcessKind kind;
	bool		first;			/* it has none */
	SfTick		since;
} SfDemand;

extern SfDemand sf_demand_find(SfTick *next);
extern bool sf_demand_keeper_is_idle(void);
extern bool sf_demand_has_room(SfProcessKind kind);
extern bool sf_demand_make_room(const SfDemand *want);
extern void sf_demand_dismiss_helper(Oid database);
extern void sf_demand_offer_tasks(void);

/* --- processes.c: starting workers, and noticing that they have ended --- */

extern void sf_processes_init(void);
extern bool sf_processes_start(Oid database, SfProcessKind kind, bool first, SfErrand errand);
extern bool sf_processes_are_any(void);
extern void sf_processes_put_off(SfDatabase *database);
extern bool sf_processes_ensure_standby(void);
extern void sf_processes_send_keeper(Oid database);
extern SfProcess *sf_processes_reserve(Oid database, SfProcessKind kind, SfErrand errand);
extern SfTick sf_processes_retry_at(void);
extern void sf_processes_reap(void);
extern void sf_processes_clear(void);

/* --- probes.c: having each database probed after a start of the server --- */

extern void sf_probes_begin(MemoryContext context);
extern List *sf_probes_left(void);
extern SfTick sf_probes_next(void);

/* --- overdue.c: checks of turns, keys, time limits, the clock --- */

extern SfTick sf_overdue_check(void);
extern void sf_overdue_check_clock(void);

/* --- alone.c: the launcher's process when it is the only one that can be had --- */

extern void sf_alone_begin(List *databases) pg_attribute_noreturn();
extern void sf_alone_start(void);
extern bool sf_alone_can_launch(void);
extern bool sf_alone_may_drive(void);
extern bool sf_alone_is_to_end(SfTick *until);

#endif							/* SF_WORKER_LAUNCHER_H */
