/*
 * feature_values.h
 *		What features are given at the moments of feature.h, and answer.
 */
#ifndef SF_STORE_FEATURE_VALUES_H
#define SF_STORE_FEATURE_VALUES_H

#include "store/execution/execution.h"

/* What is to be said of a run without an execution: symbol, the word of sf_night */
#define SF_PLANNED_LIST(X) \
	X(DUE, "DUE")				/* it is to come */ \
	X(QUEUED, "QUEUED")			/* it waits for an earlier run */ \
	X(SKIPPED, "SKIPPED")		/* an earlier run was under way */ \
	X(MISSED, "MISSED")			/* nothing has started it at its time */ \
	X(FAILED, "FAILED")			/* its start has failed */ \
	X(INACTIVE, "INACTIVE")		/* none is to come: what plans them is switched off … */ \
	X(FAILING, "FAILING")		/* … or cannot work */

#define SF_PLANNED_ENUM(sym, word) SF_PLANNED_##sym,
typedef enum SfPlanned
{
	SF_PLANNED_LIST(SF_PLANNED_ENUM)
} SfPlanned;

/* A run of a machine that is planned, or was, and has no execution */
typedef struct SfPlannedRun
{
	TimestampTz at;				/* DT_NOEND: there is none to come */
	const char *target;			/* what plans it */
	const char *machine;		/* its name, or "name/version" */
	SfPlanned	status;
	const char *problem;		/* NULL: none */
	bool		comes;			/* it is still to come */
} SfPlannedRun;

/* An execution that has been migrated to another version */
typedef struct SfMigration
{
	const SfExecution *execution;
	const Jsonb *renames;		/* of states, see history_event.h; never NULL */
	/* the name that a job in iterations of Maps has in the other version; NULL: it is not there */
	char	   *(*job_there) (const struct SfMigration *migration, const char *name);
	const void *context;		/* for job_there */
} SfMigration;

/* An execution that stands in a line, whose executions of one home key go from one node to another together */
typedef struct SfTie
{
	int64		line;			/* a number that holds within one answer */
	int64		execution_no;
	bool		is_busy;		/* another session changes the line */
} SfTie;

/* Takes a row of sf_health. */
typedef void (*SfHealthPut) (void *arg, const char *item, bool ok, const char *detail);

#endif							/* SF_STORE_FEATURE_VALUES_H */
