/*
 * sql_task_internal.h
 *		The parts of a SQL task, for the files of this folder.
 */
#ifndef SF_SQL_TASK_SQL_TASK_INTERNAL_H
#define SF_SQL_TASK_SQL_TASK_INTERNAL_H

#include <signal.h>

#include "access/tupdesc.h"
#include "fmgr.h"
#include "nodes/params.h"
#include "tcop/dest.h"

#include "base/role/role.h"
#include "base/time/clock.h"
#include "json/json.h"
#include "run/task/task_runner.h"
#include "sql_task/identity/guest.h"

/* --- function.c, query.c: as the owner, inside SPI; result in SPI's memory --- */

extern Jsonb *sf_function_call(const SfTaskCall *call);
extern Jsonb *sf_sql_query_run(const SfTaskCall *call);

/* The statement with which function.c calls any function, for error contexts. */
#define SF_CALL_STATEMENT	"SELECT pg_catalog.to_jsonb($1)"
#define SF_CALL_PLAIN		"SELECT $1"

/* --- arguments.c: members of a JSON object as values of SQL types --- */

typedef struct SfConverter
{
	TupleDesc	desc;			/* a column for each member that is wanted */
	FmgrInfo	flinfo;			/* jsonb_to_record */
	MemoryContext cache;		/* what flinfo remembers about the types */
	bool		lasting;		/* … which cannot go stale */
	bool		running;
} SfConverter;

extern void sf_converter_init(SfConverter *converter, MemoryContext context,
							  int n, const char *const *names, const Oid *types);
extern ParamListInfo sf_converter_run(SfConverter *converter, Jsonb *object);

/* --- result.c: rows as JSON, while they come --- */

typedef struct SfResult
{
	DestReceiver receiver;		/* first: it is what the executor sees */
	const char *resource;		/* for the error that it is too large */
	MemoryContext context;		/* of the result */
	MemoryContext row_context;	/* of the row at hand */
	TupleDesc	desc;			/* of the rows */
	FmgrInfo	to_jsonb;
	bool		single;			/* one row: value, else elements of builder */
	bool		is_void;		/* the first column is nothing */
	SfRowSink  *sink;			/* rows go there; else NULL */
	bool		whole_rows;		/* objects; else the first column, a jsonb */
	SfJsonBuilder builder;
	Jsonb	   *value;
	Size		size;			/* bytes as text so far */
	uint64		count;
} SfResult;

extern void sf_sql_result_init(SfResult *result, const char *resource, SfRowSink *sink);
extern void sf_sql_result_end(SfResult *result);

/* --- resource_mapping.c --- */

extern bool sf_resource_mapping_resolve(const SfResource *resource, Oid owner, SfResource *out);

/* --- timer.c: a task's time limit --- */

typedef struct SfTimer
{
	SfTick		began;
	SfTick		deadline;		/* NEVER: none */
	int64		default_ms;		/* it is sfflow.default_task_timeout's; 0: it is not */
	volatile sig_atomic_t fired;	/* time is up, and we have cancelled */
	struct SfTimer *outer;		/* of the task that started this one */
} SfTimer;

extern void sf_timer_set(SfTimer *timer, int64 timeout_ms);
extern void sf_timer_set_default(SfTimer *timer, int64 timeout_ms);
extern bool sf_timer_is_over(const SfTimer *timer);
extern void sf_timer_start(SfTimer *timer);
extern void sf_timer_stop(SfTimer *timer);
extern void sf_timer_check(const SfTimer *timer);
extern void sf_timer_withdraw_cancel(const SfTimer *timer);

/* --- identity.c --- */

typedef struct SfIdentity
{
	SfRoleSwitch outer;			/* to go back to */
	int			guc_nest_level;
	uint64		changes;		/* of objects, before the task */
	SfGuest		guest;
} SfIdentity;

extern void sf_identity_assume_owner(Oid owner);
extern void sf_identity_forget_other(Oid owner);
extern void sf_identity_enter(SfIdentity *identity, Oid owner);
extern void sf_identity_leave(const SfIdentity *identity);
extern bool sf_identity_is_in_session(void);
extern int	sf_identity_depth(void);
extern void sf_identity_abandon(int outer_depth);
extern bool sf_identity_is_task(void);

/* --- fatal_settings.c --- */

extern void sf_fatal_settings_init(bool (*task_runs) (void));
extern void sf_fatal_settings_pin(bool pin);

/* --- constraints.c --- */

extern void sf_constraints_check(void);
extern void sf_constraints_reset(void);
extern void sf_constraints_end_task(void);

#endif							/* SF_SQL_TASK_SQL_TASK_INTERNAL_H */
