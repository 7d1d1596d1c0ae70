/*
 * driver.h
 *		How the engine has a task carried out, without knowing how.
 *
 * The engine stands above the task layer; that layer registers itself here.
 */
#ifndef SF_RUN_DRIVER_H
#define SF_RUN_DRIVER_H

#include "asl/program.h"
#include "base/hooks.h"

/*
 * Where the rows of a task go, instead of into its output.  begin is called
 * before the first row, and again when the task is tried again; row says
 * whether more are wanted.  A task that gives no rows calls none of them.
 */
typedef struct SfRowSink
{
	void		(*begin) (struct SfRowSink *sink);
	bool		(*row) (struct SfRowSink *sink, Jsonb *row);
	void		(*end) (struct SfRowSink *sink);
} SfRowSink;

/* A task to run now, in this backend */
typedef struct SfTaskCall
{
	SfBranchKey key;
	const char *execution_id;
	const SfState *state;
	const SfResource *resource; /* resolved: SQL_FUNCTION or SQL_QUERY */
	Oid			owner;			/* of the state machine: runs as this role */
	Jsonb	   *payload;		/* effective input (Parameters, Arguments) */
	int			attempt;		/* 0: the first */
	const char *trace;			/* context that it passes on (store/feature.h); NULL: none */
	int64		timeout_ms;		/* or SF_NO_TIMEOUT */
	bool		in_session;		/* called from sf_step, sf_run: not a worker */
	bool		not_first;		/* tasks ran before it in its slice; what they
								 * locked goes when that is rolled back */
	SfRowSink  *sink;			/* NULL: rows are the output */
} SfTaskCall;

typedef struct SfTaskOutcome
{
	bool		ok;
	Jsonb	   *output;			/* ok: the result (void gives null) */
	SfError		error;			/* not ok: name (States.Timeout, condition name,
								 * name given to sf_raise), cause, sqlstate */
	bool		assigned_xid;	/* its subtransaction got a transaction id */
	bool		serialization_failure;	/* 40001, or a deadlock that locks of the
										 * transaction take part in: the caller may
										 * roll back all of it and try again */
	int64		elapsed_us;
} SfTaskOutcome;

/* What has an execution started, or an event emitted, that comes now */
typedef enum SfOriginKind
{
	SF_ORIGIN_SESSION,			/* a statement of the session, or the engine by itself */
	SF_ORIGIN_RULE,				/* the target of a rule */
	SF_ORIGIN_TASK				/* a task that runs in this backend */
} SfOriginKind;

/* RULE */
typedef struct SfRuleOrigin
{
	int			depth;			/* rules that led to it */
	const Jsonb *event;			/* has it start a machine, or give an activity a task; NULL: it calls a function */
} SfRuleOrigin;

/* TASK */
typedef struct SfTaskOrigin
{
	int64		execution_no;
} SfTaskOrigin;

/* One lies in another: a function that is the target of a rule may run an execution with sf_run, and so its tasks. */
typedef struct SfOrigin
{
	SfOriginKind kind;
	const struct SfOrigin *outer;	/* RULE, TASK: what it lies in */
	union
	{
		SfRuleOrigin rule;		/* sf_origin_rule(origin) */
		SfTaskOrigin task;		/* sf_origin_task(origin) */
	};
} SfOrigin;

/* The rule in which something has its origin. */
static inline const SfRuleOrigin *
sf_origin_rule(const SfOrigin *origin)
{
	Assert(origin->kind == SF_ORIGIN_RULE);
	return &origin->rule;
}

/* The task in which something has its origin. */
static inline const SfTaskOrigin *
sf_origin_task(const SfOrigin *origin)
{
	Assert(origin->kind == SF_ORIGIN_TASK);
	return &origin->task;
}

/* The innermost one, never NULL */
extern const SfOrigin *sf_driver_origin;

/* Find the innermost origin of a kind, RULE or TASK; NULL: there is none. */
static inline const SfOrigin *
sf_driver_origin_of(SfOriginKind kind)
{
	const SfOrigin *origin = sf_driver_origin;

	while (origin != NULL && origin->kind != kind)
		origin = origin->outer;
	return origin;
}

/* What the task layer does for the engine; sf_sql_task_init() fills it in */
typedef struct SfTaskDriver
{
	/*
	 * Run a SQL task as the owner in a subtransaction.  If the task raises an error,
	 * *out holds it.  Three errors are raised to the caller instead: a cancel by
	 * sf_stop or by the abort of siblings (as ERRCODE_SF_TASK_ABORTED), any other
	 * query cancel that is not the task's time limit, and a number that a sequence
	 * drew twice.  A FATAL error is not caught.  The output is allocated in
	 * CurrentMemoryContext.
	 */
	void		(*run) (const SfTaskCall *call, SfTaskOutcome *out);

	/*
	 * Take on the owner's identity from now until sf_identity_drop: user id with
	 * SECURITY_LOCAL_USERID_CHANGE, and, when the owner differs from the one
	 * before in this session, a clean session state.  Only in workers.
	 */
	void		(*assume_identity) (Oid owner);

	/* Find the resource that a MAPPED one stands for; false: nothing maps it. */
	bool		(*resolve) (const SfResource *resource, Oid owner, SfResource *out);
} SfTaskDriver;

extern SfTaskDriver sf_driver;

#endif							/* SF_RUN_DRIVER_H */
