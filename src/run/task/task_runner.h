/*
 * task_runner.h
 *		How the engine has a task carried out, without knowing how.
 *
 * The engine stands above the task layer; that layer registers itself here.
 */
#ifndef SF_RUN_TASK_RUNNER_H
#define SF_RUN_TASK_RUNNER_H

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

/* What the task layer does for the engine; sf_sql_task_init() fills it in */
typedef struct SfTaskRunner
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
} SfTaskRunner;

extern SfTaskRunner sf_task_runner;

#endif							/* SF_RUN_TASK_RUNNER_H */
