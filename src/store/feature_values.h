/*
 * feature_values.h
 *		What features are given at the moments of feature.h, and answer.
 */
#ifndef SF_STORE_FEATURE_VALUES_H
#define SF_STORE_FEATURE_VALUES_H

#include "store/branch/park.h"
#include "store/execution/execution.h"

/* What comes of an execution that is to begin */
typedef enum SfBegan
{
	SF_BEGAN_NOT,				/* its id is taken */
	SF_BEGAN_NEW,
	SF_BEGAN_REPLACED,			/* one that waits has its input */
	SF_BEGAN_KEPT				/* one that waits has kept its own */
} SfBegan;

/* How an execution that is there begins anew: each time in one of these ways */
typedef enum SfAnew
{
	SF_ANEW_RESTARTED,			/* it had ended, and has the input of another start */
	SF_ANEW_REPLACED,			/* it had not begun, begins later, and has the input of another start */
	SF_ANEW_REWOUND				/* it had ended, and goes on from a state, as if nothing had come after that */
} SfAnew;

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
	const char *machine;		/* "machine" or "machine/version" */
	SfPlanned	status;
	const char *problem;		/* NULL: none */
	bool		comes;			/* it is still to come */
} SfPlannedRun;

/* What becomes of a branch that is about to begin a step */
typedef enum SfGate
{
	SF_GATE_OPEN,
	SF_GATE_HELD,				/* the branch waits for the end of a hold */
	SF_GATE_LATER,				/* the hold is being released: the branch is due in a moment */
	SF_GATE_WAITS,				/* the branch waits in a queue, or in a line */
	SF_GATE_THROTTLED			/* the state is to fail */
} SfGate;

/* Does a branch go on at a gate, with its step or with a failure? */
static inline bool
sf_gate_lets_pass(SfGate gate)
{
	return gate == SF_GATE_OPEN || gate == SF_GATE_THROTTLED;
}

/* Whether the object that a branch is parked for still applies to it */
typedef enum SfParking
{
	SF_PARKING_OVER,
	SF_PARKING_APPLIES,
	SF_PARKING_GONE				/* the object is there no more */
} SfParking;

/* An execution that has been migrated to another version */
typedef struct SfMigration
{
	const SfExecution *execution;
	const Jsonb *renames;		/* of states, see history_event.h; never NULL */
	/* the name that a job in iterations of Maps has in the other version; NULL: it is not there */
	char	   *(*job_there) (const struct SfMigration *migration, const char *name);
	const void *context;		/* for job_there */
} SfMigration;

/* What a sweep has left */
typedef struct SfSweepResult
{
	bool		more;			/* for another sweep, in another transaction */
	TimestampTz next;			/* when to sweep again at the latest; DT_NOEND: not known */
	bool		waits;			/* sweep again when executions have ended, too */
} SfSweepResult;

/* What the alerts are of that an operator acknowledges */
typedef enum SfAlertsOf
{
	SF_ALERTS_OF_TARGET,
	SF_ALERTS_OF_EXECUTION,
	SF_ALERTS_OF_MACHINE		/* all of its executions, and its own */
} SfAlertsOf;

/* Alerts that an operator acknowledges: sf_acknowledge_target and the like read what they are of */
typedef struct SfAcknowledge
{
	SfAlertsOf	of;
	union
	{
		const char *target;		/* as alert_target gives it */
		int64		execution_no;
		int			machine_no;
	};
	const char *kind;			/* NULL: of all kinds */
	TimestampTz until;			/* since then or before */
	const char *comment;		/* or NULL */
} SfAcknowledge;

/* sf_acknowledge_target(what), sf_acknowledge_execution_no(what) …: what the alerts are of, by what "of" says */
#define SF_ACKNOWLEDGE_PART(OF, part_type, part) \
	static inline part_type \
	sf_acknowledge_##part(const SfAcknowledge *what) \
	{ \
		Assert(what->of == SF_ALERTS_OF_##OF); \
		return what->part; \
	}
SF_ACKNOWLEDGE_PART(TARGET, const char *, target)
SF_ACKNOWLEDGE_PART(EXECUTION, int64, execution_no)
SF_ACKNOWLEDGE_PART(MACHINE, int, machine_no)

/* Takes a row of sf_health. */
typedef void (*SfHealthPut) (void *arg, const char *item, bool ok, const char *detail);

#endif							/* SF_STORE_FEATURE_VALUES_H */
