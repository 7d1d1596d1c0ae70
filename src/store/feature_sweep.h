/*
 * feature_sweep.h
 *		Sweeps of features: each deals with what time has brought, rows of the feature that are due.
 */
#ifndef SF_STORE_FEATURE_SWEEP_H
#define SF_STORE_FEATURE_SWEEP_H

#include "datatype/timestamp.h"

/* What a sweep has left */
typedef struct SfSweepResult
{
	bool		more;			/* for another sweep, in another transaction */
	TimestampTz next;			/* when to sweep again at the latest; DT_NOEND: not known */
	bool		waits;			/* sweep again when executions have ended, too */
} SfSweepResult;

typedef struct SfFeatureSweep
{
	const char *name;			/* "schedules", for pg_stat_activity */

	/* Sweep, in a transaction of its own, in which no branch is locked. */
	SfSweepResult (*run) (TimestampTz now);

	/*
	 * Asked in each scan for everything due, in its transaction; a sweep has one of the two.  When to sweep; DT_NOEND:
	 * not now.  Or, of one that comes with each scan: is there anything to sweep?
	 */
	TimestampTz (*next_time) (void);
	bool		(*has_work) (void);

	/* Asked after each turn of a worker, outside of a transaction; may be NULL. */
	bool		(*is_wanted) (void);

	int			pause_ms;		/* between two sweeps of which the first has left more; 0: it goes on at once */
	int			every_ms;		/* a database is swept no more often, unless there is more; 0: whenever it is asked */
	bool		when_told;		/* a transaction may tell a worker to sweep, once it has committed: sf_hooks.sweep_soon */
	bool		locks_counters; /* it locks what others wait for: it comes last, and not in a transaction block */
} SfFeatureSweep;

/* Features that sweep, at most */
#define SF_MAX_SWEEPS	16

#endif							/* SF_STORE_FEATURE_SWEEP_H */
