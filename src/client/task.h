/*
 * task.h
 *		The life of a task in this worker.
 */
#ifndef SFW_TASK_H
#define SFW_TASK_H

#include "json.h"
#include "loop.h"

typedef struct SfwTask SfwTask;

/*
 * How a kind of task is run.  start begins; the kind then says once, and later
 * than start, with one of the functions below, how it went, also when it was
 * stopped.  After that the task is gone.
 */
typedef struct SfwKind
{
	const char *name;
	const char *error_prefix;	/* of its error names: "Shell" */
	void		(*start) (SfwTask *task);
	void		(*stop) (SfwTask *task, bool hard);
	bool		(*dry_run) (SfwJson payload, SfwBuf *report);
} SfwKind;

typedef enum SfwStop
{
	SFW_NOT_STOPPED,
	SFW_STOP_TIMEOUT,			/* TimeoutSeconds of the payload */
	SFW_STOP_REFUSED,			/* nobody waits for the answer any more */
	SFW_STOP_LEAVING			/* the worker leaves */
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
	void	   *job;			/* the kind's own */

	int64_t		heartbeat;		/* milliseconds between two, 0: none are asked for */
	bool		heartbeat_due;
	SfwTimer	heartbeat_timer;
	SfwTimer	timeout_timer;	/* TimeoutSeconds of the payload */
	SfwTimer	deadline_timer;	/* from then on the token is worth nothing */
	SfwTimer	kill_timer;
	SfwStop		stopped;
	bool		over;			/* nothing of it runs any more */

	bool		success;
	char	   *output;			/* success: JSON */
	char	   *error;			/* failure */
	char	   *cause;
	bool		alone;			/* answered by a statement of its own */
	bool		asked;			/* an answer is under way, or was with a lost connection */
	int			refusals;		/* answers that failed for another reason than the token */

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

/* How it went.  output, error and cause are handed over. */
extern void sfw_task_succeeded(SfwTask *task, char *output);
extern void sfw_task_failed(SfwTask *task, char *error, char *cause);

/* The same from within start. */
extern void sfw_task_fail_soon(SfwTask *task, char *error, char *cause);
extern void sfw_task_reject(SfwTask *task, char *cause);

extern void sfw_task_log(const SfwTask *task, int level, const char *message,
						 const char *key, const char *value);

#endif							/* SFW_TASK_H */
