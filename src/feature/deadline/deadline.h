/*
 * deadline.h
 *		When something is to have started or ended (rows of _sfflow.deadline), what was late (rows of
 *		_sfflow.lateness), and the watch over both.
 *
 * sf_lateness_… are functions of the rows of _sfflow.lateness, sf_deadline_… all others.
 */
#ifndef SF_FEATURE_DEADLINE_H
#define SF_FEATURE_DEADLINE_H

#include "feature/schedule/schedule.h"
#include "store/feature.h"
#include "store/state_machine/machine.h"

/* What a deadline is of; the numbers are stored */
#define SF_DEADLINE_KIND_LIST(X) \
	X(SCHEDULE, 0) \
	X(MACHINE, 1) \
	X(JOB, 2)

#define SF_DEADLINE_KIND_ENUM(sym, number) SF_DEADLINE_KIND_##sym = number,
typedef enum SfDeadlineKind
{
	SF_DEADLINE_KIND_LIST(SF_DEADLINE_KIND_ENUM)
} SfDeadlineKind;

/* The column walk_late_no of a deadline of which no execution was late so far, null there */
#define SF_NOTHING_LATE		0

/* Columns of _sfflow.deadline; see sql/parts/feature/deadline.sql. */
#define SF_DEADLINE_COLUMNS(X) \
	X(char *, target, TEXT, NOT_NULL) \
	X(char *, schedule, TEXT, NULLABLE) \
	X(int, machine_no, INT4, NULL_IS(SF_NO_MACHINE)) \
	X(char *, job, TEXT, NULLABLE) \
	X(int, start_minute, INT4, NULL_IS(SF_NO_MINUTE)) \
	X(int, end_minute, INT4, NULL_IS(SF_NO_MINUTE)) \
	X(char *, timezone, TEXT, NOT_NULL) \
	X(char *, calendar, TEXT, NULLABLE) \
	X(TimestampTz, checked_until, TIMESTAMPTZ, NOT_NULL) \
	X(TimestampTz, next_at, TIMESTAMPTZ, NOT_NULL) \
	X(int, walk_step, INT4, NULL_IS(SF_NO_WALK)) \
	X(TimestampTz, walk_now, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, walk_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(int64, walk_late_no, INT8, NULL_IS(SF_NOTHING_LATE)) \
	X(bool, walk_found, BOOL, NULL_IS(false)) \
	X(TimestampTz, set_at, TIMESTAMPTZ, NOT_NULL) \
	X(char *, set_by, TEXT, NOT_NULL) \
	X(SfDeadlineKind, kind, INT2, NOT_NULL)

typedef struct SfDeadline
{
	SF_DEADLINE_COLUMNS(SF_FIELD)
} SfDeadline;

/* The columns start_minute and end_minute of a deadline that is not of the start or of the end */
#define SF_NO_MINUTE		(-1)

/*
 * A walk is a sweep of a deadline that takes several transactions: walk_now is the time of the sweep, walk_step the
 * step that goes on.  Steps are counted from 0: the moments of the start that have come, those of the end, the end that
 * comes next, and what is late already.  They are the same in each part of a walk, since walk_now is.  SF_NO_WALK: no
 * walk goes on, and the other columns walk_… are null.
 */
#define SF_NO_WALK			(-1)

/* Has a sweep left a walk of a deadline that the next one goes on with? */
static inline bool
sf_deadline_is_walking(const SfDeadline *deadline)
{
	return deadline->walk_step != SF_NO_WALK;
}

/* What is to have happened by a moment: symbol, the word that is stored */
#define SF_DUE_BY_LIST(X) \
	X(START, "start") \
	X(END, "end")

#define SF_DUE_BY_ENUM(sym, word) SF_DUE_BY_##sym,
typedef enum SfDueBy
{
	SF_DUE_BY_LIST(SF_DUE_BY_ENUM)
} SfDueBy;

/* What is raised: symbol, the word that is stored, and is the kind of its alert */
#define SF_FINDING_LIST(X) \
	X(LATE, "late") \
	X(WILL_BE_LATE, "will_be_late") \
	X(NEVER_STARTED, "never_started")

#define SF_FINDING_ENUM(sym, word) SF_FINDING_##sym,
typedef enum SfFinding
{
	SF_FINDING_LIST(SF_FINDING_ENUM)
} SfFinding;

/* The column execution_no of a lateness of which nothing has started, null there */
#define SF_NOTHING_STARTED	0

/* Columns of _sfflow.lateness; see sql/parts/feature/deadline.sql. */
#define SF_LATENESS_COLUMNS(X) \
	X(char *, target, TEXT, NOT_NULL) \
	X(TimestampTz, deadline_at, TIMESTAMPTZ, NOT_NULL) \
	X(SfDueBy, due_by, WORD, WORDS(due_by_words)) \
	X(SfFinding, finding, WORD, WORDS(finding_words)) \
	X(TimestampTz, base_at, TIMESTAMPTZ, NOT_NULL) \
	X(int64, execution_no, INT8, NULL_IS(SF_NOTHING_STARTED)) \
	X(TimestampTz, expected_at, TIMESTAMPTZ, NULL_IS(DT_NOEND)) \
	X(TimestampTz, raised_at, TIMESTAMPTZ, NOT_NULL) \
	X(TimestampTz, cleared_at, TIMESTAMPTZ, NULL_IS(DT_NOEND)) \
	X(TimestampTz, acknowledged_at, TIMESTAMPTZ, NULL_IS(DT_NOEND)) \
	X(char *, acknowledged_by_name, TEXT, NULLABLE) \
	X(char *, comment, TEXT, NULLABLE)

typedef struct SfLateness
{
	SF_LATENESS_COLUMNS(SF_FIELD)
} SfLateness;

/* Some executions of a night, in the order of their requests, or such jobs */
typedef struct SfDeadlinePage
{
	List	   *items;			/* SfDeadlineItem */
	TimestampTz last_at;		/* the next page begins after this request; DT_NOEND: there is none */
	bool		found;			/* there are any, also such as are not among the items */
} SfDeadlinePage;

/* --- deadlines --- */

extern SfDeadline *sf_deadline_read(const char *target, SfLock lock);
extern void sf_deadline_write(const SfDeadline *deadline);
extern bool sf_deadline_delete(const char *target);
extern void sf_deadline_delete_of_machine(int machine_no);
extern TimestampTz sf_deadline_next(void);
extern List *sf_deadline_due(TimestampTz now, int max_rows);
extern void sf_deadline_recheck(SfObjectKind kind, const char *name);
extern bool sf_deadline_uses_calendar(const char *name);
extern void sf_deadline_set_checked(const SfDeadline *deadline, TimestampTz until, TimestampTz next_at);
extern void sf_deadline_set_walk(const SfDeadline *deadline);

/* --- what was late --- */

extern const char *sf_lateness_due_name(SfDueBy due_by);
extern const char *sf_lateness_finding_name(SfFinding finding);
extern bool sf_lateness_insert(const SfLateness *lateness);
extern bool sf_lateness_is_raised(const char *target, TimestampTz base_at, SfFinding finding);
extern List *sf_lateness_uncleared(const char *target, TimestampTz cleared_at);
extern bool sf_lateness_clear(const SfLateness *lateness, TimestampTz at);
extern List *sf_lateness_acknowledge(const SfAcknowledge *what);

/* --- what is to be in time --- */

extern List *sf_deadline_page(int machine_no, TimestampTz after, TimestampTz until, TimestampTz done_by,
							  SfDeadlinePage *page);
extern char *sf_deadline_run(const char *schedule, TimestampTz scheduled_for);

/* --- what a deadline is about: executions of one night, or a job in them --- */

/* A target as it is now */
typedef struct SfDeadlineTarget
{
	const SfDeadline *deadline;
	SfSchedule *schedule;		/* NULL: it is of a machine */
	SfMachine  *machine;
	List	   *usual;			/* SfUsualJob */
} SfDeadlineTarget;

/* An execution of a night, or the job in it */
typedef struct SfDeadlineItem
{
	SfExecution *execution;
	TimestampTz begun_at;		/* DT_NOEND: not yet */
	TimestampTz done_at;		/* DT_NOEND: not yet */
} SfDeadlineItem;

extern bool sf_deadline_find_target(const SfDeadline *deadline, SfDeadlineTarget *target);
extern SfDeadlinePage sf_deadline_items(const SfDeadlineTarget *target, TimestampTz base_at, TimestampTz after,
										 TimestampTz until, TimestampTz done_by);
extern TimestampTz sf_deadline_expect(const SfDeadlineTarget *target, const SfDeadlineItem *item, TimestampTz now);
extern TimestampTz sf_deadline_expect_new(const SfDeadlineTarget *target, TimestampTz begin);

/* --- the watch --- */

extern TimestampTz sf_deadline_watch(TimestampTz now);

/* --- what rules are told, and operators acknowledge --- */

extern void sf_deadline_notice(const SfDeadline *deadline, const SfLateness *lateness, bool is_over, TimestampTz at);
extern void sf_deadline_notice_alert(const SfLateness *lateness, const char *status, TimestampTz at);
extern const char *sf_deadline_alert_target(const char *text);
extern int64 sf_deadline_acknowledge(const SfAcknowledge *what);

#endif							/* SF_FEATURE_DEADLINE_H */
