/*
 * span_id.c
 *		Ids of spans: a hash, of 64 bits, of what a span is of.
 *
 * A visit to a state is known by the name of the state, the iterations of Maps around it, the time at which it was
 * entered, and the number of redrives before; an attempt at its task by the number of retries, too.  A branch at
 * work knows all of that, and so does the history afterwards.  So an execution that it begins, a command of
 * sfworker or a query of a task has its parent's id before there is a span, and a leg that is exported twice has the
 * same spans.  The other data are the same for all spans of an execution: the trace, and what tells the execution
 * from others, also from those of the same name that were purged.
 *
 * The hash is PostgreSQL's of hash tables: ids have to differ within a trace and need not keep a secret, and every
 * task of a traced execution makes one, for which a SHA-256 is too dear.
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "feature/trace/trace.h"

/* Numbers of which an id is made */
typedef struct IdNumbers
{
	uint64		kind;
	uint64		redrive_count;
	uint64		at;
	uint64		number;
	uint64		iterations;		/* how many follow */
} IdNumbers;

/* Add bytes to a hash. */
static uint64
add_bytes(uint64 hash, const void *bytes, size_t length)
{
	return hash_bytes_extended(bytes, (int) length, hash);
}

/* Add a text to a hash. */
static uint64
add_text(uint64 hash, const char *text)
{
	return add_bytes(hash, text, strlen(text));
}

/* What the spans of a leg of an execution have in common. */
SfSpanSeed
sf_span_seed(const char *trace_id, int64 execution_no, TimestampTz requested_at, const char *execution_id,
			 int redrive_count)
{
	SfSpanSeed	seed = {.redrive_count = redrive_count};
	uint64		numbers[] = {(uint64) execution_no, (uint64) requested_at};

	seed.hash = add_text(add_bytes(add_text(0, trace_id), numbers, sizeof(numbers)), execution_id);
	return seed;
}

/*
 * Make the id of a span, SF_SPAN_ID_DIGITS digits and a null byte: name and iterations of a state, or of the state
 * that is around a branch; at: when that was entered, or when a leg began; number: of the attempt (0: the first) or
 * of the branch.
 */
void
sf_span_id(const SfSpanSeed *seed, SfSpanKind kind, const char *name, const int *iterations, int niterations,
		   TimestampTz at, int number, char *id)
{
	IdNumbers	numbers = {kind, kind == SF_SPAN_LEG ? 0 : seed->redrive_count, (uint64) at, number, niterations};
	uint64		hash = add_bytes(seed->hash, &numbers, sizeof(numbers));

	if (niterations > 0)
		hash = add_bytes(hash, iterations, niterations * sizeof(int));
	hash = add_text(hash, name);
	/* zeros alone would be no id */
	if (hash == 0)
		hash = 1;
	for (int i = SF_SPAN_ID_DIGITS - 1; i >= 0; i--, hash >>= 4)
		id[i] = "0123456789abcdef"[hash & 15];
	id[SF_SPAN_ID_DIGITS] = '\0';
}

/*
 * The context that what a branch does in a state passes on, as sf_trace_print() writes it: the trace of its
 * execution, and the span of the attempt at its task; of what a worker of an activity does for it; or of a state
 * that has no task.
 */
char *
sf_span_context(const SfExecution *execution, const SfBranch *branch, const SfState *state, bool by_worker)
{
	SfTraceContext context;
	SfSpanSeed	seed;
	SfSpanKind	kind = SF_SPAN_STATE;

	if (!sf_trace_parse_stored(execution->trace, &context))
		return NULL;
	if (state->type == SF_STATE_TASK)
		kind = by_worker && sf_state_task(state)->resource.kind == SF_RESOURCE_ACTIVITY ? SF_SPAN_WORK : SF_SPAN_TASK;
	seed = sf_span_seed(context.trace_id, execution->execution_no, execution->requested_at, execution->execution_id,
						execution->redrive_count);
	sf_span_id(&seed, kind, state->name, branch->iterations, branch->niterations, branch->entered_at,
			   kind == SF_SPAN_STATE ? 0 : branch->attempt, context.span_id);
	return sf_trace_print(&context);
}
