/*
 * watcher.h
 *		Rules watch changes of statuses: the rules that may see a change, as this session keeps them, the events
 *		that tell of changes, and the deliveries that these make.
 */
#ifndef SF_FEATURE_WATCHER_H
#define SF_FEATURE_WATCHER_H

#include "base/error/errors.h"
#include "feature/rule/pattern.h"
#include "store/alert/notice.h"

/* --- changes and deliveries --- */

/* A chain of rules ends with the delivery of this one */
#define SF_MAX_CHAIN	10

/* The error of a delivery that would make it longer */
extern SfError sf_watcher_chain_error(void);

extern bool sf_watcher_wants(SfChangeKind kind, const SfExecution *execution);
extern void sf_watcher_changes(const SfExecution *execution, const List *changes);
extern void sf_watcher_notice(const SfNotice *notice);
extern void sf_watcher_start(const SfExecution *execution);
extern int	sf_watcher_depth(void);

/* --- events --- */

extern Jsonb *sf_watcher_event(const SfChange *change, const SfExecution *execution,
							  const char *id, bool with_payload);
extern Jsonb *sf_watcher_notice_event(const SfNotice *notice, const char *id);
extern Jsonb *sf_watcher_event_cut(const Jsonb *event);

/* --- rules --- */

/* A rule as this session has compiled it */
typedef struct SfWatchedRule
{
	int64		rule_no;
	Oid			owner;
	const Jsonb *source;		/* while it is compiled */
	SfPattern  *pattern;
	bool		wants_payload;	/* its pattern looks at input or output */
	int			kinds;			/* of changes that may match, as bits */
} SfWatchedRule;

/* The rules of one role */
typedef struct SfWatcher
{
	Oid			owner;
	int64		revision;		/* of the rules that were read, or SF_NO_REVISION */
	uint64		checked;		/* the revision was that of the table after so many changes */
	MemoryContext context;		/* of the rules */
	List	   *watches;		/* SfWatchedRule */
	int			kinds;			/* of all of them */
} SfWatcher;

extern bool sf_watcher_is_any(void);
extern bool sf_watcher_any_wants_alerts(void);
extern bool sf_watcher_tell_time_alerts(void);
extern List *sf_watcher_of_execution(const SfExecution *execution, int *kinds);
extern List *sf_watcher_of_notice(const SfNotice *notice);

#endif							/* SF_FEATURE_WATCHER_H */
