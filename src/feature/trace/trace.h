/*
 * trace.h
 *		Traces of OpenTelemetry: the trace that an execution is part of, and the spans of its legs.
 *
 * The row of an execution that is part of a trace says so, in the column trace; a leg of it that has ended and is
 * sampled has a row in _sfflow.trace_export until its spans are delivered.  The ids of spans are digests of what
 * the engine and the history both know (span_id.c), so a task tells its span to what it calls long before the span
 * is made.
 */
#ifndef SF_FEATURE_TRACE_H
#define SF_FEATURE_TRACE_H

#include "asl/program.h"
#include "store/branch/branch.h"
#include "store/execution/execution.h"
#include "store/execution/execution_head.h"

/* --- trace_context.c: the context of a trace as others write it --- */

#define SF_TRACE_ID_DIGITS	32
#define SF_SPAN_ID_DIGITS	16
#define SF_NO_SPAN	"0000000000000000"

/* The flag of a traceparent that says that the trace is recorded */
#define SF_TRACE_SAMPLED	0x01

typedef struct SfTraceContext
{
	char		trace_id[SF_TRACE_ID_DIGITS + 1];	/* lower-case hexadecimal digits */
	char		span_id[SF_SPAN_ID_DIGITS + 1]; /* of the span that is the parent of others; SF_NO_SPAN: none */
	int			flags;
	bool		decided;		/* flags say whether the trace is sampled */
	const char *state;			/* tracestate; NULL: none */
} SfTraceContext;

extern bool sf_trace_parse(const char *text, SfTraceContext *context);
extern bool sf_trace_parse_stored(const char *text, SfTraceContext *context);
extern bool sf_trace_parse_amazon(const char *text, SfTraceContext *context);
extern bool sf_trace_parse_comment(const char *query, SfTraceContext *context);
extern char *sf_trace_print(const SfTraceContext *context);

/* --- trace_option.c: which executions are part of a trace --- */

extern void *sf_trace_compile(const Jsonb *options, const SfProgram *program);
extern void sf_trace_prepare(SfExecution *execution, const void *compiled);

/* --- span_id.c: ids of spans --- */

/* What the ids of an execution's spans have in common */
typedef struct SfSpanSeed
{
	uint64		hash;
	int			redrive_count;	/* of the leg: redrives before it */
} SfSpanSeed;

typedef enum SfSpanKind
{
	SF_SPAN_LEG = 'R',			/* of an execution, from its begin or a redrive to its end */
	SF_SPAN_STATE = 'S',		/* a visit to a state */
	SF_SPAN_BRANCH = 'B',		/* a branch of a Parallel state, an iteration of a Map */
	SF_SPAN_TASK = 'T',			/* an attempt at the task of a state */
	SF_SPAN_WORK = 'W'			/* what a worker of an activity does for it */
} SfSpanKind;

extern SfSpanSeed sf_span_seed(const char *trace_id, int64 execution_no, TimestampTz requested_at,
							   const char *execution_id, int redrive_count);
extern void sf_span_id(const SfSpanSeed *seed, SfSpanKind kind, const char *name, const int *iterations,
					   int niterations, TimestampTz at, int number, char *id);
extern char *sf_span_context(const SfExecution *execution, const SfBranch *branch, const SfState *state,
							 bool by_worker);

/* --- leg_spans.c: the spans of a leg --- */

/* A leg of an execution, from its begin or a redrive to its end, that has ended: a row of _sfflow.trace_export */
typedef struct SfTracedLeg
{
	int64		export_no;
	int64		execution_no;
	int			version;
	int			redrive_count;
	int			last_event_id;
	SfStatus	status;
	TimestampTz requested_at;
	TimestampTz started_at;		/* of the first leg; DT_NOBEGIN: it has never begun */
	TimestampTz redriven_at;	/* DT_NOBEGIN: it is the first leg */
	TimestampTz ended_at;
	char	   *execution_id;
	char	   *trace;
	char	   *error;			/* or NULL */
	bool		has_parent;
	bool		is_item_execution;	/* of a Distributed Map */
	SfExecutionHead head;		/* of its execution, but for the state of the Map */
} SfTracedLeg;

extern Jsonb *sf_leg_spans(const SfTracedLeg *leg, int *count);

/* --- trace_export.c: legs that are to be exported --- */

/* What becomes of a leg that is to be exported: symbol, the number in _sfflow.trace_export */
#define SF_TRACE_EXPORT_LIST(X) \
	X(DUE, 0)	/* no exporter has taken it */ \
	X(TAKEN, 1)	/* until its lease is over: then it is taken again */ \
	X(REJECTED, 2)	/* it is not taken any more */

#define SF_TRACE_EXPORT_ENUM(sym, number) SF_TRACE_EXPORT_##sym = number,
typedef enum SfTraceExportStatus
{
	SF_TRACE_EXPORT_LIST(SF_TRACE_EXPORT_ENUM)
} SfTraceExportStatus;

extern void sf_trace_export_insert(const SfExecution *execution);
extern void sf_trace_export_health(void (*put) (void *arg, const char *item, bool ok, const char *detail), void *arg);

#endif							/* SF_FEATURE_TRACE_H */
