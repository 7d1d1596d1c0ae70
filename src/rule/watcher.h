/*
 * watcher.h
 *		The rules that may see changes of a machine, a schedule or an activity, as this
 *		session keeps them.
 */
#ifndef SF_RULE_WATCHER_H
#define SF_RULE_WATCHER_H

#include "rule/observe.h"
#include "rule/pattern.h"

/* A rule as this session has compiled it */
typedef struct SfWatch
{
	int64		rule_no;
	Oid			owner;
	const Jsonb *source;		/* while it is compiled */
	SfPattern  *pattern;
	bool		wants_payload;	/* its pattern looks at input or output */
	int			kinds;			/* of changes that may match, as bits */
} SfWatch;

/* The rules of one role */
typedef struct SfWatcher
{
	Oid			owner;
	int64		version;		/* of the rules that were read; 0: none were */
	uint64		checked;		/* the version was that of the table after so many changes */
	MemoryContext context;		/* of the rules */
	List	   *watches;		/* SfWatch */
	int			kinds;			/* of all of them */
} SfWatcher;

extern bool sf_watch_any(void);
extern bool sf_watch_any_wants_alerts(void);
extern bool sf_watch_tell_time_alerts(void);
extern List *sf_watch_of_execution(const SfExecution *execution, int *kinds);
extern List *sf_watch_of_notice(const SfNotice *n);

#endif							/* SF_RULE_WATCHER_H */
