/*
 * claimed_task.h
 *		The life of a task that this worker has claimed.
 */
#ifndef SFW_CLAIMED_TASK_H
#define SFW_CLAIMED_TASK_H

#include <libpq-fe.h>

#include "lib/ilist.h"

#include "tools/client/json_text.h"
#include "tools/client/log.h"
#include "tools/client/loop.h"

typedef struct SfwTask SfwTask;

/*
 * How a kind of task is run.  After start the kind reports the outcome once, by
 * one of the functions below, also of a task that was stopped.  The task exists
 * until the end of the event loop's turn.
 */
typedef struct SfwKind
{
	const char *name;
	const char *error_prefix;	/* of its error names: "Shell" */
	bool		foreign_payload;	/* its members mean nothing to the worker */
	void		(*start) (SfwTask *task);
	void		(*stop) (SfwTask *task, bool hard);
	bool		(*dry_run) (SfcJson payload, PQExpBuffer report);
} SfwKind;

/* Where a task is in its life */
typedef enum SfwPhase
{
	SFW_PHASE_RUNS,				/* its kind works on it, perhaps to its end because it was stopped */
	SFW_PHASE_OVER,				/* its outcome was reported in this turn of the event loop */
	SFW_PHASE_READY,			/* its answer is sent as soon as that can be */
	SFW_PHASE_SENT,				/* its answer is in the statement under way */
	SFW_PHASE_HELD				/* its answer has failed, and is sent again after a while */
} SfwPhase;

typedef enum SfwStop
{
	SFW_STOP_NONE,
	SFW_STOP_TIMEOUT,			/* TimeoutSeconds of the payload */
	SFW_STOP_REFUSED,			/* the database refuses any answer */
	SFW_STOP_LEAVING			/* the worker exits */
} SfwStop;

/* What is answered: nothing before SFW_PHASE_OVER */
typedef struct SfwOutcome
{
	bool		succeeded;
	union
	{
		char	   *output;		/* JSON, if it has succeeded */
		struct
		{
			char	   *error;
			char	   *cause;
		}			failure;	/* NULL before there is an outcome */
	};
} SfwOutcome;

struct SfwTask
{
	const SfwKind *kind;
	SfwPhase	phase;
	char	   *token;
	char	   *input;
	SfcJson		payload;		/* of input */
	char	   *execution_id;
	char	   *state;
	char	   *attempt;
	char	   *resource;
	char	   *traceparent;	/* of the trace that the task is part of; or NULL */
	char	   *tracestate;		/* or NULL */
	int64_t		began;
	void	   *job;			/* private to the kind */

	int64_t		heartbeat;		/* milliseconds between two, 0: none are asked for */
	int64_t		heartbeat_due;	/* since when one is to be sent, as of sfc_now(); 0: none is */
	bool		locked;			/* its last heartbeat has waited for a lock in vain */
	SfcTimer	heartbeat_timer;	/* until the task is answered */
	SfcTimer	timeout_timer;	/* while it runs: TimeoutSeconds of the payload */
	SfcTimer	deadline_timer; /* while it runs: after it the database refuses any answer */
	SfcTimer	kill_timer;		/* while it runs and was stopped */
	SfwStop		stopped;
	SfcTimer	end_timer;		/* in SFW_PHASE_OVER */

	SfwOutcome	outcome;
	bool		alone;			/* answered by a statement of its own */
	bool		answer_lost;	/* an answer was sent, and the connection lost before its result */
	int			n_replaced;		/* characters of the failure that the database's encoding lacks */
	int64_t		retry_delay;	/* milliseconds of the last wait in SFW_PHASE_HELD, 0: there was none */
	SfcTimer	retry_timer;	/* in SFW_PHASE_HELD */

	dlist_node	node;			/* of sfw_tasks */
	dlist_node	answer_node;	/* in SFW_PHASE_READY, of the answers to be sent */
};

/* What a claim selects from sf_get_activity_task, in this order; then traceparent and tracestate */
#define SFW_CLAIM_COLUMNS "task_token, input, execution_id, state, attempt, " SFW_CLAIM_TIMES ", resource"
#define SFW_CLAIM_TIMES \
	"extract(epoch FROM heartbeat)::pg_catalog.float8," \
	" extract(epoch FROM deadline OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp())::pg_catalog.float8"
#define SFW_N_CLAIM_COLUMNS 10

/* Bytes of an output: the most that sfflow.max_payload_bytes can be.  What max-output counts can be longer as JSON. */
#define SFW_OUTPUT_MAX (256 * 1024 * 1024)

extern const SfwKind sfw_kind_shell;
extern const SfwKind sfw_kind_http;
extern const SfwKind sfw_kind_sql;
extern const SfwKind sfw_kind_program;
extern const SfwKind sfw_kind_archive;	/* which has no tasks: archive.c */

extern dlist_head sfw_tasks;	/* all that are not answered yet, the oldest first */

extern const SfwKind *sfw_kind_find(const char *name);

extern void sfw_task_begin(const SfwKind *kind, const PGresult *claim, int row, const char *unreadable);
extern void sfw_task_beat_after(SfwTask *task, int64_t delay);
extern void sfw_task_stop(SfwTask *task, SfwStop reason);
extern void sfw_task_set_failure(SfwTask *task, char *cause, const char *error);
extern void sfw_task_free(SfwTask *task);

/* Report the outcome.  output and cause are handed over; error is a printf format. */
extern void sfw_task_succeeded(SfwTask *task, char *output);
extern void sfw_task_failed(SfwTask *task, char *cause, const char *error,...) pg_attribute_printf(3, 4);
extern void sfw_task_reject(SfwTask *task, char *cause);

extern void sfw_task_log(const SfwTask *task, SfcLevel level, const char *message,
						 const char *key, const char *value);

#endif							/* SFW_CLAIMED_TASK_H */
