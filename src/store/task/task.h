/*
 * task.h
 *		Rows of _sfflow.activity and _sfflow.task: work that clients
 *		do.
 */
#ifndef SF_STORE_TASK_H
#define SF_STORE_TASK_H

#include "store/branch/branch.h"

/* Columns that queries over _sfflow.activity return */
#define SF_ACTIVITY_FIELDS(X) \
	X(int, activity_no, INT4, NOT_NULL) \
	X(Oid, owner, REGROLE, NOT_NULL) \
	X(char *, name, TEXT, NOT_NULL) \
	X(int64, lease_ms, INT8, NULL_IS(SF_NO_TIMEOUT)) \
	X(int, max_receive_count, INT4, NULL_IS(SF_UNLIMITED)) \
	X(bool, polled, BOOL, NULL_IS(false))	/* a worker was seen in the last day */

typedef struct SfActivity
{
	SF_ACTIVITY_FIELDS(SF_FIELD)
} SfActivity;

/* Status of a task, as stored: symbol, number */
#define SF_TASK_STATUS_LIST(X) \
	X(QUEUED, 0)		/* waits for a worker */ \
	X(TAKEN, 1)			/* by a worker */ \
	X(TOKEN, 2)			/* waits for an answer by its token alone */ \
	X(ANSWERED, 3) \
	X(DEAD, 4)			/* taken too often */

#define SF_TASK_STATUS_ENUM(sym, number) SF_TASK_STATUS_##sym = number,
typedef enum SfTaskStatus
{
	SF_TASK_STATUS_LIST(SF_TASK_STATUS_ENUM)
} SfTaskStatus;

#define SF_TASK_SECRET_BYTES	24

/* The random part of a token */
typedef struct SfTaskSecret
{
	unsigned char bytes[SF_TASK_SECRET_BYTES];
} SfTaskSecret;

/* activity_no: a token alone */
#define SF_NO_ACTIVITY	0

/* Columns of _sfflow.task; see sql/parts/store/task.sql. */
#define SF_TASK_COLUMNS(X) \
	X(int64, execution_no, INT8, NOT_NULL) \
	X(int64, branch_no, INT8, NOT_NULL) \
	X(int, activity_no, INT4, NULL_IS(SF_NO_ACTIVITY)) \
	X(SfTaskStatus, status, INT2, NOT_NULL) \
	X(int, generation, INT4, NOT_NULL) \
	X(int, state, INT4, NOT_NULL) \
	X(int, attempt, INT4, NOT_NULL) \
	X(int, receives, INT4, NOT_NULL) \
	X(TimestampTz, scheduled_at, TIMESTAMPTZ, NOT_NULL) \
	X(TimestampTz, started_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN))	/* not yet */ \
	X(TimestampTz, heartbeat_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN))	/* none yet */ \
	X(TimestampTz, lease_until, TIMESTAMPTZ, NULL_IS(DT_NOEND))	/* no lease */ \
	X(int64, timeout_ms, INT8, NULL_IS(SF_NO_TIMEOUT)) \
	X(int64, heartbeat_ms, INT8, NULL_IS(SF_NO_TIMEOUT)) \
	X(SfTaskSecret, secret, BYTEA, NOT_NULL) \
	X(char *, worker, TEXT, NULLABLE) \
	X(char *, resource, TEXT, NULLABLE)	/* as asked for; none: the state's Resource */ \
	X(Jsonb *, input, JSONB, NULLABLE) \
	X(Jsonb *, submitted, JSONB, NULLABLE)	/* what the request returned */

/* A task; key is its first two columns. */
typedef struct SfTask
{
	union
	{
		SfBranchKey key;
		struct
		{
			SF_TASK_COLUMNS(SF_FIELD)
		};
	};
	bool		used_up;		/* not stored: its lease ran out for the last time */
} SfTask;

/* An activity by name or number; NULL when there is none. */
extern SfActivity *sf_activity_read(const char *name);
extern SfActivity *sf_activity_read_no(int activity_no);

extern bool sf_activity_insert(const char *name, Oid owner, Datum lease,
							   bool no_lease, int max_receive_count);
extern void sf_activity_delete(int activity_no);
extern int64 sf_activity_count_tasks(int activity_no);
extern bool sf_activity_keep(const SfActivity *activity);
extern bool sf_task_is_there(SfBranchKey key);
extern void sf_activity_note_poll(int activity_no, const char *worker);
extern void sf_activity_notify(const SfActivity *activity);
extern SfTask *sf_task_make(const SfBranch *branch);
extern void sf_task_write(const SfTask *task);
extern SfTask *sf_task_read(SfBranchKey key, SfLock lock);

/* Update what changes of a task: status, receives, times, worker, submitted. */
extern void sf_task_update(const SfTask *task);
extern void sf_task_delete(SfBranchKey key);
extern void sf_task_delete_of(int64 execution_no, const List *numbers);

extern List *sf_task_claim(const SfActivity *activity, const char *worker,
						   int max_tasks);
extern TimestampTz sf_task_timer(const SfTask *task);

/* --- tokens: key, generation, secret and receives, as base64 --- */

extern char *sf_task_token(const SfTask *task);
extern bool sf_task_token_parse(const char *token, SfTask *task);

#endif							/* SF_STORE_TASK_H */
