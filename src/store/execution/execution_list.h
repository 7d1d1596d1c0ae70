/*
 * execution_list.h
 *		Pages of executions, newest first.
 */
#ifndef SF_STORE_EXECUTION_LIST_H
#define SF_STORE_EXECUTION_LIST_H

#include "db/row.h"
#include "store/branch/branch.h"
#include "store/execution/status.h"

/* A position in a list: executions after it were requested before it. */
typedef struct SfListPosition
{
	TimestampTz requested_at;
	int64		execution_no;
} SfListPosition;

/* Which executions a list has, by whether they were redriven */
typedef enum SfListRedriven
{
	SF_LIST_ANY,
	SF_LIST_REDRIVEN,
	SF_LIST_NOT_REDRIVEN
} SfListRedriven;

/* Labels that executions have, all of them */
typedef struct SfLabelled
{
	const Jsonb *labels;		/* as texts by name; NULL: any, or none */
	const char *name;			/* of the one that the fewest executions have, */
	const char *value;
	int64		rows;			/* ... and how many have it, as far as they were counted */
} SfLabelled;

/* Which executions a list has */
typedef struct SfListQuery
{
	const int  *machines;		/* numbers; other machines are left out */
	int			nmachines;
	bool		has_status;		/* that of executions; else of any status */
	SfStatus	status;			/* ... this one */
	const char *error;			/* NULL: any, or none */
	const char *prefix;			/* of the name; NULL: any */
	int64		parent_execution_no;	/* SF_NO_PARENT: any, or none */
	int64		map_run_no;		/* executions of one of its Map runs; SF_NO_MAP_RUN: any */
	bool		without_items;	/* without executions of Map runs */
	const char *qualifier;		/* started by this alias, or as this version or by an alias of it; NULL: any */
	SfListRedriven redriven;
	SfLabelled	labelled;
	TimestampTz from;			/* requested then, or later */
	SfListPosition before;
	int			max_rows;
} SfListQuery;

/* What a list tells of an execution; idle_us: between its ends and its redrives */
#define SF_LISTED_FIELDS(X) \
	X(char *, execution_id, TEXT, NOT_NULL) \
	X(SfStatus, status, INT2, NOT_NULL) \
	X(char *, error, TEXT, NULLABLE) \
	X(TimestampTz, requested_at, TIMESTAMPTZ, NOT_NULL) \
	X(TimestampTz, started_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, stopped_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(int64, execution_no, INT8, NOT_NULL) \
	X(int, machine_no, INT4, NOT_NULL) \
	X(int, version, INT4, NOT_NULL) \
	X(int64, idle_us, INT8, NULL_IS(0))

typedef struct SfListedExecution
{
	SF_LISTED_FIELDS(SF_FIELD)
} SfListedExecution;

#define SF_LISTED_MACHINE_FIELDS(X) \
	X(int, machine_no, INT4, NOT_NULL) \
	X(char *, name, TEXT, NOT_NULL) \
	X(Oid, owner, REGROLE, NOT_NULL)

typedef struct SfListedMachine
{
	SF_LISTED_MACHINE_FIELDS(SF_FIELD)
} SfListedMachine;

extern List *sf_execution_list_machines(int only, Oid owner);
extern int	sf_execution_list_machine(const char *name);
extern int	sf_execution_list_plans_begin(void);
extern void sf_execution_list_plans_end(int nest);
extern int64 sf_execution_list_count_label(const char *name, const char *value);
extern List *sf_execution_list(const SfListQuery *query);
extern List *sf_execution_list_night(const int *machines, int nmachines,
									 TimestampTz since, TimestampTz until);

/* --- running_list.c: the longest running executions of each machine, and how many run --- */

/*
 * An execution that runs; its times are without that between ends and redrives, running is how
 * many of its machine do, SF_RUNNING_MAX at most
 */
#define SF_RUNNING_FIELDS(X) \
	X(char *, execution_id, TEXT, NOT_NULL) \
	X(TimestampTz, requested_at, TIMESTAMPTZ, NOT_NULL) \
	X(TimestampTz, started_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(int64, running, INT8, NOT_NULL)

typedef struct SfRunningExecution
{
	SF_RUNNING_FIELDS(SF_FIELD)
} SfRunningExecution;

/* Running executions of a machine are counted up to this */
#define SF_RUNNING_MAX	1000

extern List *sf_running_list(const int *machines, int nmachines, int most);
extern int	sf_running_starts(int machine_no, TimestampTz since, TimestampTz until, int most);

#endif							/* SF_STORE_EXECUTION_LIST_H */
