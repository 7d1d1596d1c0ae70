/*
 * feature_alerts.h
 *		Alerts that a feature opens, and how the feature of rules learns of alerts and other changes.
 */
#ifndef SF_STORE_FEATURE_ALERTS_H
#define SF_STORE_FEATURE_ALERTS_H

#include "store/alert/notice.h"

/* What the alerts are of that an operator acknowledges */
typedef enum SfAlertsOf
{
	SF_ALERTS_OF_TARGET,
	SF_ALERTS_OF_EXECUTION,
	SF_ALERTS_OF_MACHINE		/* all of its executions, and its own */
} SfAlertsOf;

/* Alerts that an operator acknowledges */
typedef struct SfAcknowledge
{
	SfAlertsOf	of;
	union
	{
		const char *target;		/* as find_target gives it */
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

/* Alerts of a feature that may be acknowledged */
typedef struct SfFeatureAlerts
{
	const char *const *kinds;	/* up to NULL */

	/* Find the target of an alert, if it is one of the feature's, or raise; returns its full name. */
	const char *(*find_target) (const char *text);

	/* Acknowledge alerts, and tell of it; returns how many there were. */
	int64		(*acknowledge) (const SfAcknowledge *what);
} SfFeatureAlerts;

/* Who learns of changes: one feature */
typedef struct SfFeatureNotices
{
	/* Does it want to know of changes of a kind, of an execution or (NULL) of anything?  Then it is told. */
	bool		(*wants) (SfChangeKind kind, const SfExecution *execution);

	/* There is something to know of what may have no execution. */
	void		(*on_notice) (const SfNotice *notice);

	/*
	 * The statuses of an execution and of its jobs have changed: a List of SfChange.  Rows are written; the caller
	 * commits.
	 */
	void		(*on_changes) (const SfExecution *execution, const List *changes);
} SfFeatureNotices;

#endif							/* SF_STORE_FEATURE_ALERTS_H */
