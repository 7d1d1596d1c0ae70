/*
 * execution_list.h
 *		Pages of executions, newest first.
 */
#ifndef SF_STORE_EXECUTION_LIST_H
#define SF_STORE_EXECUTION_LIST_H

#include "db/index_walk.h"
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

/* Labels that executions have, all of them; the feature that has labels finds executions by one */
typedef struct SfLabelled
{
	const Jsonb *labels;		/* as texts by name; NULL: any, or none.  Else: */
	const char *name;			/* of the one that the fewest executions have, */
	const char *value;
	int64		rows;			/* how many have it, as far as SF_LIST_PROBE, */
	SfPlan	   *plan;			/* what lists those that have it (SF_LIST_OF_MACHINES), */
	const SfIndex *index;		/* ... and finds their positions: name, value, machine, and the position */
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
extern List *sf_execution_list(const SfListQuery *query);
extern List *sf_execution_list_night(const int *machines, int nmachines,
									 TimestampTz since, TimestampTz until);

/* --- parts of queries for a list --- */

/* Rows that are worth reading to learn whether a query has few */
#define SF_LIST_PROBE		10000
#define SF_LIST_PROBE_TEXT	"10000"

/*
 * The arguments of all queries: $1 numbers of machines, $2 status, $3 error, $4 first
 * time, $5 and $6 key of the row before, $7 limit, $8 prefix of the name, $9 number of the
 * parent, $10 error as open_execution has it, $11 largest name,
 * $12 in an hour, $13 number of a Map run, $14 version or alias, $15 whether it was redriven,
 * $16 without children of Map runs, $17 labels, $18 and $19 name and value of one of them;
 * $20 the place of what is parked; those of executions with labels: $21 their numbers.
 */
#define SF_LIST_COLUMNS \
	"e.execution_id, e.status, e.error, e.requested_at, e.started_at, e.stopped_at," \
	" e.execution_no, e.machine_no, e.version, e.idle_us"
#define SF_LIST_IN_TIME(t) \
	t ".requested_at >= $4 AND " t ".requested_at <= $5" \
	" AND (" t ".requested_at < $5 OR " t ".execution_no < $6)"
#define SF_LIST_MATCHES \
	"($2 IS NULL OR e.status = $2)" \
	" AND ($3 IS NULL OR e.error = $3)" \
	" AND ($13 IS NULL OR e.map_run_no = $13)" \
	" AND ($14 IS NULL OR e.qualifier = $14" \
	"  OR (e.qualifier IS NOT NULL AND e.version::pg_catalog.text = $14))" \
	" AND ($15 IS NULL OR (e.redrive_count > 0) = $15)" \
	" AND (NOT $16 OR e.map_run_no IS NULL)" \
	" AND ($17 IS NULL OR e.labels @> $17)" \
	" AND ($8 IS NULL OR pg_catalog.starts_with(pg_catalog.substr(e.execution_id," \
	"  pg_catalog.strpos(e.execution_id, ':') + 1), $8))"
#define SF_LIST_NEWEST(t) \
	" ORDER BY " t ".requested_at DESC, " t ".execution_no DESC LIMIT $7"
/* The newest in the order of an index, which does not have the number: what needs no sort is not read in full. */
#define SF_LIST_FROM_NEWEST(from, time, more) \
	" (SELECT " SF_LIST_COLUMNS " FROM " from " WHERE " more SF_LIST_IN_TIME(time) " AND " SF_LIST_MATCHES \
	" ORDER BY " time ".requested_at DESC FETCH FIRST ($7) ROWS WITH TIES) e" SF_LIST_NEWEST("e")
#define SF_LIST_OF_MACHINES(from, time, more) \
	"SELECT " SF_LIST_COLUMNS " FROM pg_catalog.unnest($1) AS m(no) CROSS JOIN LATERAL" \
	SF_LIST_FROM_NEWEST(from, time, time ".machine_no = m.no AND " more)

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
