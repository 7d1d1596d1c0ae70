/*
 * task.h
 *		Rows of _sfflow.activity and _sfflow.task, and what they make of the
 *		branches that wait for them.
 */
#ifndef SF_STORE_TASK_H
#define SF_STORE_TASK_H

#include "store/branch.h"

typedef struct SfActivity
{
	int			activity_no;
	Oid			owner;
	char	   *name;
	int64		lease_ms;		/* 0: none */
	int			max_receive_count;	/* 0: no limit */
	bool		polled;			/* a worker was seen in the last day */
} SfActivity;

/* Status of a task, as stored */
typedef enum SfTaskStatus
{
	SF_TASK_QUEUED = 0,
	SF_TASK_TAKEN = 1,
	SF_TASK_TOKEN = 2,
	SF_TASK_ANSWERED = 3,
	SF_TASK_DEAD = 4
} SfTaskStatus;

#define SF_TASK_SECRET_BYTES	24

typedef struct SfTask
{
	SfBranchKey key;
	int			activity_no;	/* 0: a token alone */
	SfTaskStatus status;
	int			generation;
	int			state;
	int			attempt;
	int			receives;
	TimestampTz scheduled_at;
	TimestampTz started_at;		/* DT_NOBEGIN: not yet */
	TimestampTz heartbeat_at;	/* DT_NOBEGIN: none yet */
	TimestampTz lease_until;	/* DT_NOEND: none */
	int64		timeout_ms;		/* 0: none */
	int64		heartbeat_ms;	/* 0: none */
	unsigned char secret[SF_TASK_SECRET_BYTES];
	char	   *worker;
	Jsonb	   *input;
	Jsonb	   *submitted;		/* what the request returned, not yet in history */
	bool		used_up;		/* not stored: its lease ran out for the last time */
} SfTask;

/* An activity by name or number; NULL when there is none. */
extern SfActivity *sf_activity_read(const char *name);
extern SfActivity *sf_activity_read_no(int activity_no);

/* Insert an activity; false when the name is taken. */
extern bool sf_activity_insert(const char *name, Oid owner, Datum lease,
							   bool no_lease, int max_receive_count);

/* Delete an activity with its queue. */
extern void sf_activity_delete(int activity_no);

/* Tasks of an activity that can still be answered. */
extern int64 sf_activity_count_tasks(int activity_no);

/* Remember that somebody polls; at most once a second. */
extern void sf_activity_note_poll(int activity_no, const char *worker);

/* Ring sf_activity, unless nobody was ever seen polling. */
extern void sf_activity_notify(const SfActivity *activity);

/* Insert a task, in place of an earlier one of the same branch. */
extern void sf_task_write(const SfTask *task);

/* A task by its branch; NULL when there is none. */
extern SfTask *sf_task_read(SfBranchKey key, SfLock lock);

/* Update what changes of a task: status, receives, times, worker, submitted. */
extern void sf_task_update(const SfTask *task);
extern void sf_task_delete(SfBranchKey key);

/*
 * Take queued tasks of an activity, oldest first, none that another session
 * has in its hands; a List of SfTask, with their branches' timers set.
 */
extern List *sf_task_take(const SfActivity *activity, const char *worker,
						  int max_tasks);

/* Put an answer into a branch: phase ANSWERED, due now. */
extern void sf_branch_answer(SfBranchKey key, bool ok, const Jsonb *result,
							 const char *error, const char *cause);

/* When the branch of a task is due because nobody answered; DT_NOEND: never. */
extern TimestampTz sf_task_timer(const SfTask *task);

/* Set when a branch is due. */
extern void sf_branch_set_due(SfBranchKey key, TimestampTz due);

/* --- tokens: key, generation and secret, as base64 --- */

extern char *sf_task_token(const SfTask *task);

/* Take a token apart; false when it is none. */
extern bool sf_task_token_parse(const char *token, SfTask *task);

#endif							/* SF_STORE_TASK_H */
