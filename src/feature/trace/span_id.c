/*
 * span_id.c
 *		Ids of spans: the first eight bytes of a SHA-256 of what a span is of.
 *
 * A visit to a state is known by the name of the state, the iterations of Maps around it, the time at which it was
 * entered, and the number of redrives before; an attempt at its task by the number of retries, too.  A branch at
 * work knows all of that, and so does the history afterwards.  So a child execution, a command of sfworker or a
 * query of a task has its parent's id before there is a span, and a run that is exported twice has the same spans.
 * The other data are the same for all spans of an execution: the trace, and what tells the execution from others,
 * also from those of the same name that were purged.
 */
#include "postgres.h"

#include "base/encoding.h"
#include "feature/trace/tracing.h"

/* Append a number, the highest byte first. */
static void
append_number(StringInfo buf, uint64 number)
{
	for (int shift = 56; shift >= 0; shift -= 8)
		appendStringInfoCharMacro(buf, (char) (number >> shift));
}

/* The hexadecimal SHA-256 of bytes. */
static char *
digest(const StringInfoData *buf)
{
	return sf_digest_hex("SHA-256", strlen("SHA-256"), buf->data, buf->len);
}

/* What the spans of a run of an execution have in common. */
SfSpanSeed
sf_span_seed(const char *trace_id, int64 execution_no, TimestampTz requested_at, const char *execution_id, int run)
{
	SfSpanSeed	seed = {.run = run};
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, trace_id);
	append_number(&buf, (uint64) execution_no);
	append_number(&buf, (uint64) requested_at);
	appendStringInfoString(&buf, execution_id);
	strlcpy(seed.digest, digest(&buf), sizeof(seed.digest));
	pfree(buf.data);
	return seed;
}

/*
 * Make the id of a span, SF_SPAN_ID_DIGITS digits and a null byte: name and iterations of a state, or of the state
 * that is around a branch; at: when that was entered, or when a run began; number: of the attempt (0: the first) or
 * of the branch.
 */
void
sf_span_id(const SfSpanSeed *seed, SfSpanKind kind, const char *name, const int *iterations, int niterations,
		   TimestampTz at, int number, char *id)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, seed->digest);
	appendStringInfoChar(&buf, (char) kind);
	append_number(&buf, (uint64) (kind == SF_SPAN_RUN ? 0 : seed->run));
	append_number(&buf, (uint64) niterations);
	for (int i = 0; i < niterations; i++)
		append_number(&buf, (uint64) iterations[i]);
	append_number(&buf, (uint64) at);
	append_number(&buf, (uint64) number);
	appendStringInfoString(&buf, name);
	strlcpy(id, digest(&buf), SF_SPAN_ID_DIGITS + 1);
	/* zeros alone would be no id */
	if (strcmp(id, SF_NO_SPAN) == 0)
		id[SF_SPAN_ID_DIGITS - 1] = '1';
	pfree(buf.data);
}

/*
 * The context that what a branch does in a state passes on, as sf_tracing_print() writes it: the trace of its
 * execution, and the span of the attempt at its task; of what a worker of an activity does for it; or of a state
 * that has no task.
 */
char *
sf_span_context(const SfExecution *execution, const SfBranch *branch, const SfState *state, bool by_worker)
{
	SfTraceContext context;
	SfSpanSeed	seed;
	SfSpanKind	kind = SF_SPAN_STATE;

	if (!sf_tracing_parse_kept(execution->trace, &context))
		return NULL;
	if (state->type == SF_STATE_TASK)
		kind = by_worker && sf_state_task(state)->resource.kind == SF_RESOURCE_ACTIVITY ? SF_SPAN_WORK : SF_SPAN_TASK;
	seed = sf_span_seed(context.trace_id, execution->execution_no, execution->requested_at, execution->execution_id,
						execution->redrive_count);
	sf_span_id(&seed, kind, state->name, branch->iterations, branch->niterations, branch->entered_at,
			   kind == SF_SPAN_STATE ? 0 : branch->attempt, context.span_id);
	return sf_tracing_print(&context);
}
