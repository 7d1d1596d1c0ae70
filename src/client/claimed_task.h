/*
 * claimed_task.h
 *		The life of a task that this worker has claimed.
 */
#ifndef SFW_CLAIMED_TASK_H
#define SFW_CLAIMED_TASK_H

#include "json_text.h"
#include "log.h"
#include "loop.h"

/* Bytes of an error name that are kept; Step Functions takes 256 */
#define SFW_ERROR_SIZE 257

typedef struct SfwTask SfwTask;

/*
 * How a kind of task is run.  After start the kind reports the outcome once,
 * also of a task that was stopped: later than start by sfw_task_succeeded or
 * sfw_task_failed, within start by sfw_task_fail_soon or sfw_task_reject.
 * The task must not be used after its outcome was reported.
 */
typedef struct SfwKind
{
	const char *name;
	const char *error_prefix;	/* of its error names: "Shell" */
	void		(*start) (SfwTask *task);
	void		(*stop) (SfwTask *task, bool hard);
	bool		(*dry_run) (SfwJson payload, PQExpBuffer report);
} SfwKind;

typedef enum SfwStop
{
	SFW_NOT_STOPPED,
	SFW_STOP_TIMEOUT,			/* TimeoutSeconds of the payload */
	SFW_STOP_REFUSED,			/* the database refuses any answer */
	SFW_STOP_LEAVING			/* the worker exits */
} SfwStop;

struct SfwTask
{
	const SfwKind *kind;
	char	   *token;
	char	   *input;
	SfwJson		payload;		/* of input */
	char	   *execution_id;
	char	   *state;
	char	   *attempt;
	int64_t		began;
	void	   *job;			/* private to the kind */

	int64_t		heartbeat;		/* milliseconds between two, 0: none are asked for */
	bool		heartbeat_due;
	SfwTimer	heartbeat_timer;
	SfwTimer	timeout_timer;	/* TimeoutSeconds of the payload */
	SfwTimer	deadline_timer;	/* after it the database refuses any answer */
	SfwTimer	kill_timer;
	SfwStop		stopped;
	SfwTimer	outcome_timer;	/* reports the failure that start noted */
	bool		over;			/* nothing of it runs any more */

	bool		success;
	char	   *output;			/* success: JSON */
	char		error[SFW_ERROR_SIZE];	/* failure */
	char	   *cause;
	bool		alone;			/* answered by a statement of its own */
	bool		answer_lost;	/* an answer was sent, and the connection lost before its result */
	int			attempts;		/* answers that failed for another reason than the token */

	SfwTask    *next;
};

/* A row of sf_get_activity_task; strings are copied. */
typedef struct SfwClaim
{
	const char *token;
	const char *input;
	const char *execution_id;
	const char *state;
	const char *attempt;
	double		heartbeat;		/* seconds, 0: none */
	double		time_left;		/* seconds, negative: unlimited */
} SfwClaim;

extern const SfwKind sfw_kind_shell;
extern const SfwKind sfw_kind_http;
extern const SfwKind sfw_kind_sql;

extern SfwTask *sfw_tasks;		/* those that run */
extern int	sfw_tasks_running;

extern const SfwKind *sfw_kind_find(const char *name);

extern void sfw_task_begin(const SfwKind *kind, const SfwClaim *claim);
extern void sfw_task_stop(SfwTask *task, SfwStop why);
extern void sfw_task_free(SfwTask *task);

/* The outcome.  output and cause are handed over; error is a printf format. */
extern void sfw_task_succeeded(SfwTask *task, char *output);
extern void sfw_task_failed(SfwTask *task, char *cause, const char *error,...) pg_attribute_printf(3, 4);
extern void sfw_task_fail_soon(SfwTask *task, char *cause, const char *error,...) pg_attribute_printf(3, 4);
extern void sfw_task_reject(SfwTask *task, char *cause);

extern void sfw_task_log(const SfwTask *task, SfwLevel level, const char *message,
						 const char *key, const char *value);

#endif							/* SFW_CLAIMED_TASK_H */
