/*
 * leg_spans.c
 *		The spans of a leg of an execution, as OTLP has them in JSON.
 *
 * The tree, from the fold of events in report/visits.c:
 *
 *		leg		of the execution, from its begin or a redrive to its end
 *		  state		each visit to a state; its children below
 *			task	each attempt at the task of a Task state
 *			  work	what a worker of an activity does for it
 *			branch	of a Parallel state, or an iteration of a Map
 *			  state	and so on; jobs of a JobNet stand below its state
 *
 * A nested execution, or that of an item, is a leg of its own, below the task or the Map that began it.
 * Spans are made in the order in which they begin, so those above a span come before it, and of a leg that has too
 * many the last ones are left out.
 */
#include "postgres.h"

#include "commands/dbcommands.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "feature/trace/trace.h"
#include "report/report.h"
#include "report/visits.h"
#include "store/execution/execution_head.h"
#include "store/state_machine/program_cache.h"

/* Spans of a leg, at most; a message of OTLP holds some megabytes */
#define MAX_SPANS	5000

/* Links of a span, at most, and nested executions of a leg that are looked at for them */
#define MAX_LINKS	100
#define MAX_NESTED	1000

/* Bytes of a text from outside that a span has at most: names of errors, causes */
#define MAX_TEXT	2000

/* Flags of a span in OTLP, beside those of W3C: whether its parent is remote is known; it is */
#define FLAG_HAS_IS_REMOTE	0x100
#define FLAG_IS_REMOTE	0x200

/* Kinds of spans and codes of a status, as OTLP numbers them */
#define KIND_INTERNAL	1
#define KIND_SERVER		2
#define KIND_CLIENT		3
#define KIND_PRODUCER	4
#define KIND_CONSUMER	5
#define CODE_UNSET		0
#define CODE_ERROR		2

typedef struct Span
{
	SfSpanKind	kind;
	char		id[SF_SPAN_ID_DIGITS + 1];
	char		parent[SF_SPAN_ID_DIGITS + 1];
	const char *name;
	const SfState *state;		/* that it is of, or around the branch that it is of; NULL: a leg */
	SfStateInstanceKey instance;
	const SfVisit *visit;		/* the last attempt of a state, the attempt of a task */
	TimestampTz entered_at;
	TimestampTz from;
	TimestampTz to;
	SfVisitEnd	end;
	int			attempts;		/* STATE: so many */
	int			attempt;		/* TASK, WORK: which; 0: the first */
	int			index;			/* BRANCH: of the branch, or of the iteration */
	List	   *links;			/* ids of spans of nested executions, of this trace */
	int			nlinks;			/* also those beyond MAX_LINKS */
} Span;

/* The latest span of a state or a branch, by its instance; a branch has the number of its scope after the states */
typedef struct Latest
{
	SfStateInstanceKey key;		/* first, for the hash table */
	Span	   *span;
	int			visit;			/* of a state */
	Span	   *around;			/* of a branch */
} Latest;

typedef struct Tree
{
	const SfTracedLeg *leg;
	SfTraceContext context;
	SfSpanSeed	seed;
	const SfProgram *program;
	HTAB	   *latest;			/* NULL: there are no visits */
	Span	   *root;
	List	   *spans;			/* Span, the root first */
	int			dropped;
} Tree;

/* --- the tree --- */

/* When a leg began. */
static TimestampTz
begin_of(const SfTracedLeg *leg)
{
	if (leg->redriven_at != DT_NOBEGIN)
		return leg->redriven_at;
	return leg->started_at != DT_NOBEGIN ? leg->started_at : leg->ended_at;
}

/* Append a span. */
static Span *
append_span(Tree *tree, SfSpanKind kind, const char *parent, const char *name)
{
	Span	   *span = palloc0(sizeof(Span));

	span->kind = kind;
	span->name = name;
	strlcpy(span->parent, parent, sizeof(span->parent));
	tree->spans = lappend(tree->spans, span);
	return span;
}

/* Add a span below another one; NULL: there are too many. */
static Span *
add_span(Tree *tree, SfSpanKind kind, const Span *parent, const char *name)
{
	if (list_length(tree->spans) < MAX_SPANS)
		return append_span(tree, kind, parent->id, name);
	tree->dropped++;
	return NULL;
}

/* Add the span of the leg itself. */
static void
add_root(Tree *tree, const char *machine)
{
	const SfTracedLeg *leg = tree->leg;
	bool		is_first = strcmp(tree->context.span_id, SF_NO_SPAN) == 0;
	Span	   *root = append_span(tree, SF_SPAN_LEG, is_first ? "" : tree->context.span_id, machine);

	root->from = begin_of(leg);
	root->to = leg->ended_at;
	sf_span_id(&tree->seed, SF_SPAN_LEG, "", NULL, 0, root->from, 0, root->id);
	tree->root = root;
}

/* What is known of the latest span of an instance. */
static Latest *
find_latest(Tree *tree, int number, const int *iterations, int niterations)
{
	SfStateInstanceKey key = {number, niterations, (int *) iterations};
	bool		found;
	Latest	   *latest = hash_search(tree->latest, &key, HASH_ENTER, &found);

	if (found)
		return latest;
	if (niterations > 0)
		latest->key.iterations = memcpy(palloc(sizeof(int) * niterations), iterations, sizeof(int) * niterations);
	latest->span = latest->around = NULL;
	latest->visit = 0;
	return latest;
}

/* The span of a branch that a visit is within, which the state around it has; NULL: it was left out. */
static Span *
find_branch(Tree *tree, const SfVisit *visit, const SfScope *scope, Span *around)
{
	const SfState *owner = &tree->program->states[scope->owner_state];
	const SfStateInstanceKey *instance = &visit->instance;
	bool		is_map = owner->type == SF_STATE_MAP;
	Latest	   *latest = find_latest(tree, tree->program->nstates + scope->number, instance->iterations,
									 instance->niterations);
	Span	   *span = latest->span;

	if (latest->around == around)
		return span;
	span = add_span(tree, SF_SPAN_BRANCH, around, psprintf(is_map ? "%s iteration" : "%s branch", owner->name));
	latest->span = span;
	latest->around = around;
	if (span == NULL)
		return NULL;
	span->state = owner;
	span->instance = latest->key;
	span->index = is_map ? instance->iterations[instance->niterations - 1] : scope->branch_index;
	span->entered_at = around->entered_at;
	span->from = visit->from;
	span->to = visit->to;
	sf_span_id(&tree->seed, SF_SPAN_BRANCH, owner->name, instance->iterations, instance->niterations, span->entered_at,
			   scope->branch_index, span->id);
	return span;
}

/* Find the span that is around a visit; NULL: it was left out. */
static Span *
find_around(Tree *tree, const SfVisit *visit)
{
	const SfStateInstanceKey *instance = &visit->instance;
	const SfScope *scope = &tree->program->scopes[tree->program->states[instance->number].scope];
	const SfState *owner = scope->owner_state == SF_NO_STATE ? NULL : &tree->program->states[scope->owner_state];
	int			depth;
	Span	   *around;
	Span	   *branch;

	if (owner == NULL || (owner->type == SF_STATE_MAP && instance->niterations == 0))
		return tree->root;
	depth = instance->niterations - (owner->type == SF_STATE_MAP ? 1 : 0);
	around = find_latest(tree, owner->number, instance->iterations, depth)->span;
	if (around == NULL || owner->type == SF_STATE_JOBNET)
		return around;
	branch = find_branch(tree, visit, scope, around);
	if (branch != NULL)
	{
		branch->to = Max(branch->to, visit->to);
		branch->end = visit->end;
	}
	return branch;
}

/* Name the span of a task: few names for many tasks. */
static const char *
name_task(const SfResource *resource)
{
	switch (resource->kind)
	{
		case SF_RESOURCE_SQL_FUNCTION:
			return psprintf("SELECT %s", resource->name);
		case SF_RESOURCE_ACTIVITY:
			return psprintf("send %s", resource->name);
		default:
			return resource->text;
	}
}

/* Add the span of what a worker does for a task. */
static void
add_work(Tree *tree, const Span *task, const SfVisit *visit)
{
	Span	   *work = add_span(tree, SF_SPAN_WORK, task,
								psprintf("process %s", sf_state_task(task->state)->resource.name));

	if (work == NULL)
		return;
	work->state = task->state;
	work->instance = task->instance;
	work->visit = visit;
	work->attempt = task->attempt;
	work->from = visit->started_at;
	work->to = task->to;
	work->end = task->end;
	sf_span_id(&tree->seed, SF_SPAN_WORK, task->state->name, visit->instance.iterations, visit->instance.niterations,
			   visit->entered_at, task->attempt, work->id);
}

/* Add the span of an attempt at the task of a state. */
static void
add_task(Tree *tree, const Span *state, const SfVisit *visit, int attempt)
{
	const SfResource *resource = &sf_state_task(state->state)->resource;
	Span	   *task = add_span(tree, SF_SPAN_TASK, state, name_task(resource));

	if (task == NULL)
		return;
	task->state = state->state;
	task->instance = state->instance;
	task->visit = visit;
	task->attempt = attempt;
	task->from = visit->scheduled_at;
	task->to = visit->to;
	task->end = visit->end;
	sf_span_id(&tree->seed, SF_SPAN_TASK, state->state->name, visit->instance.iterations, visit->instance.niterations,
			   visit->entered_at, attempt, task->id);
	if (resource->kind == SF_RESOURCE_ACTIVITY && visit->started_at != DT_NOBEGIN)
		add_work(tree, task, visit);
}

/* Count what is left out with a visit whose span is: an attempt at its task, and what a worker did for it. */
static void
drop_task(Tree *tree, const SfState *state, const SfVisit *visit)
{
	if (state->type != SF_STATE_TASK || visit->scheduled_at == DT_NOBEGIN)
		return;
	tree->dropped++;
	if (sf_state_task(state)->resource.kind == SF_RESOURCE_ACTIVITY && visit->started_at != DT_NOBEGIN)
		tree->dropped++;
}

/* Add the span of a visit, or of another attempt to the one that there is. */
static void
add_visit(Tree *tree, const SfVisit *visit)
{
	const SfStateInstanceKey *instance = &visit->instance;
	const SfState *state = &tree->program->states[instance->number];
	Span	   *around = find_around(tree, visit);
	Latest	   *latest = find_latest(tree, instance->number, instance->iterations, instance->niterations);
	bool		is_new = latest->visit != visit->visit;
	Span	   *span = is_new ? NULL : latest->span;

	latest->visit = visit->visit;
	if (is_new && around == NULL)
		tree->dropped++;
	else if (is_new)
		span = add_span(tree, SF_SPAN_STATE, around, state->name);
	latest->span = span;
	if (span == NULL)
	{
		drop_task(tree, state, visit);
		return;
	}
	if (is_new)
	{
		span->state = state;
		span->instance = *instance;
		span->entered_at = visit->entered_at;
		span->from = visit->from;
		sf_span_id(&tree->seed, SF_SPAN_STATE, state->name, instance->iterations, instance->niterations,
				   visit->entered_at, 0, span->id);
	}
	span->visit = visit;
	span->to = visit->to;
	span->end = visit->end;
	if (state->type == SF_STATE_TASK && visit->scheduled_at != DT_NOBEGIN)
		add_task(tree, span, visit, span->attempts);
	span->attempts++;
}

/* --- links --- */

/* Link a nested execution to the span of the task that has begun it. */
static void
link_nested(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_requested_at, COL_execution_id, COL_trace, COL_started_at};
	Tree	   *tree = arg;
	SfTraceContext nested;
	SfSpanSeed	seed;
	char	   *id = palloc(SF_SPAN_ID_DIGITS + 1);
	char	   *trace = sf_row_text(tuple, desc, COL_trace);

	if (!sf_trace_parse_stored(trace, &nested) || strcmp(nested.trace_id, tree->context.trace_id) != 0)
		return;
	seed = sf_span_seed(nested.trace_id, sf_row_number(tuple, desc, COL_execution_no, 0),
						sf_row_number(tuple, desc, COL_requested_at, 0),
						sf_row_text(tuple, desc, COL_execution_id), 0);
	sf_span_id(&seed, SF_SPAN_LEG, "", NULL, 0, sf_row_number(tuple, desc, COL_started_at, 0), 0, id);
	foreach_ptr(Span, span, tree->spans)
	{
		if (strcmp(span->id, nested.span_id) != 0)
			continue;
		if (span->nlinks++ < MAX_LINKS)
			span->links = lappend(span->links, id);
		return;
	}
}

/*
 * Link nested executions that have begun, but for those of Distributed Maps, to the spans of tasks that have begun
 * them.
 */
static void
link_all_nested(Tree *tree)
{
	static SfPlan plan = SF_PLAN(
		"SELECT c.execution_no, c.requested_at, c.execution_id, c.trace, c.started_at FROM _sfflow.execution c"
		" WHERE c.parent_execution_no = $1 AND c.map_run_no IS NULL AND c.trace IS NOT NULL"
		" AND c.started_at IS NOT NULL AND c.requested_at >= $2 AND c.requested_at <= $3"
		" ORDER BY c.execution_no LIMIT $4");
	bool		may_have = false;

	for (int i = 0; i < tree->program->nstates && !may_have; i++)
		may_have = tree->program->states[i].type == SF_STATE_TASK &&
			sf_state_task(&tree->program->states[i])->resource.kind == SF_RESOURCE_START_EXECUTION;
	if (may_have)
		sf_db_read(&plan, link_nested, tree, SF_INT8(tree->leg->execution_no), SF_TIME(tree->root->from),
				   SF_TIME(tree->root->to), SF_INT4(MAX_NESTED));
}

/* --- JSON --- */

/* A text, cut to MAX_TEXT bytes; NULL stays. */
static const char *
cut(const char *text)
{
	return text == NULL || strlen(text) <= MAX_TEXT ? text :
		pnstrdup(text, pg_mbcliplen(text, strlen(text), MAX_TEXT));
}

/* Nanoseconds since 1970, as text. */
static const char *
nanoseconds(TimestampTz at)
{
	return psprintf(INT64_FORMAT "000", at + (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY);
}

/* Add an attribute that is a text; NULL: none. */
static void
put_text(SfJsonBuilder *json, const char *key, const char *value)
{
	if (value == NULL)
		return;
	sf_json_open_object(json, NULL);
	sf_json_add_string(json, "key", key);
	sf_json_open_object(json, "value");
	sf_json_add_string(json, "stringValue", value);
	sf_json_close_object(json);
	sf_json_close_object(json);
}

/* Add one that is an integer, which OTLP writes as text. */
static void
put_integer(SfJsonBuilder *json, const char *key, int64 value)
{
	sf_json_open_object(json, NULL);
	sf_json_add_string(json, "key", key);
	sf_json_open_object(json, "value");
	sf_json_add_string(json, "intValue", psprintf(INT64_FORMAT, value));
	sf_json_close_object(json);
	sf_json_close_object(json);
}

/* Has what a span is of failed? */
static bool
has_failed(const Tree *tree, const Span *span)
{
	if (span->kind == SF_SPAN_LEG)
		return tree->leg->status != SF_STATUS_SUCCEEDED;
	return span->end == SF_VISIT_END_FAILED || span->end == SF_VISIT_END_ABORTED || span->end == SF_VISIT_END_RUNS;
}

/* The name of the error with which it has failed; NULL: it has none. */
static const char *
error_of(const Tree *tree, const Span *span)
{
	if (span->kind == SF_SPAN_LEG)
		return cut(tree->leg->error);
	return span->visit == NULL ? NULL : cut(span->visit->error);
}

/* The value of error.type: the name of the error, or how it has ended. */
static const char *
error_type(const Tree *tree, const Span *span)
{
	const char *error = error_of(tree, span);

	if (error != NULL)
		return error;
	if (span->kind == SF_SPAN_LEG)
		return sf_status_name(tree->leg->status);
	return span->end == SF_VISIT_END_FAILED ? "_OTHER" : "ABORTED";
}

/* Put the attributes of a leg. */
static void
put_leg(SfJsonBuilder *json, const Tree *tree)
{
	const SfTracedLeg *leg = tree->leg;

	put_text(json, "sfflow.execution.id", leg->execution_id);
	put_text(json, "sfflow.state_machine.name", tree->root->name);
	put_integer(json, "sfflow.state_machine.version", leg->version);
	put_text(json, "sfflow.execution.status", sf_status_name(leg->status));
	put_integer(json, "sfflow.execution.redrive_count", leg->redrive_count);
	if (tree->dropped > 0)
		put_integer(json, "sfflow.dropped_spans", tree->dropped);
}

/* Put the attributes of a task, by the conventions for what carries it out. */
static void
put_task(SfJsonBuilder *json, const Span *span)
{
	const SfResource *resource = &sf_state_task(span->state)->resource;

	put_text(json, "sfflow.resource", resource->text);
	put_integer(json, "sfflow.attempt", span->attempt + 1);
	switch (resource->kind)
	{
		case SF_RESOURCE_SQL_FUNCTION:
		case SF_RESOURCE_SQL_QUERY:
			put_text(json, "db.system.name", "postgresql");
			put_text(json, "db.namespace", get_database_name(MyDatabaseId));
			if (resource->kind == SF_RESOURCE_SQL_QUERY)
				break;
			put_text(json, "db.operation.name", "SELECT");
			put_text(json, "db.stored_procedure.name", resource->name);
			break;
		case SF_RESOURCE_ACTIVITY:
			put_text(json, "messaging.system", "sfflow");
			put_text(json, "messaging.destination.name", resource->name);
			put_text(json, "messaging.operation.type", span->kind == SF_SPAN_WORK ? "process" : "send");
			put_text(json, "messaging.operation.name", span->kind == SF_SPAN_WORK ? "process" : "send");
			break;
		case SF_RESOURCE_MAPPED:
			if (strcmp(resource->service, "lambda") != 0)
				break;
			put_text(json, "faas.invoked_name", resource->text);
			put_text(json, "faas.invoked_provider", "aws");
			break;
		default:
			break;
	}
}

/* Put the attributes of a span. */
static void
put_attributes(SfJsonBuilder *json, const Tree *tree, const Span *span)
{
	sf_json_open_array(json, "attributes");
	switch (span->kind)
	{
		case SF_SPAN_LEG:
			put_leg(json, tree);
			break;
		case SF_SPAN_STATE:
			put_text(json, "sfflow.state.name", span->state->name);
			put_text(json, "sfflow.state.type", sf_state_type_name(span->state->type));
			put_text(json, "sfflow.job.id", sf_job_name(tree->program, span->instance.number, span->instance.iterations,
													   span->instance.niterations));
			if (span->attempts > 1)
				put_integer(json, "sfflow.attempts", span->attempts);
			break;
		case SF_SPAN_BRANCH:
			put_text(json, "sfflow.state.name", span->state->name);
			put_integer(json, span->state->type == SF_STATE_MAP ? "sfflow.iteration.index" : "sfflow.branch.index",
						span->index);
			break;
		case SF_SPAN_TASK:
		case SF_SPAN_WORK:
			put_task(json, span);
			break;
	}
	if (has_failed(tree, span))
		put_text(json, "error.type", error_type(tree, span));
	sf_json_close_array(json);
}

/* Put the exception with which a span has failed, if it has one of its own. */
static void
put_exception(SfJsonBuilder *json, const Tree *tree, const Span *span, const char *error, const char *cause)
{
	if (error == NULL || span->kind == SF_SPAN_STATE || span->kind == SF_SPAN_WORK)
		return;
	sf_json_open_array(json, "events");
	sf_json_open_object(json, NULL);
	sf_json_add_string(json, "timeUnixNano", nanoseconds(span->to));
	sf_json_add_string(json, "name", "exception");
	sf_json_open_array(json, "attributes");
	put_text(json, "exception.type", error);
	put_text(json, "exception.message", cause);
	sf_json_close_array(json);
	sf_json_close_object(json);
	sf_json_close_array(json);
}

/* Put a link to a span of this trace, which says what that is to this one. */
static void
put_link(SfJsonBuilder *json, const Tree *tree, const char *span_id, const char *what)
{
	sf_json_open_object(json, NULL);
	sf_json_add_string(json, "traceId", tree->context.trace_id);
	sf_json_add_string(json, "spanId", span_id);
	sf_json_open_array(json, "attributes");
	put_text(json, "sfflow.link", what);
	sf_json_close_array(json);
	sf_json_close_object(json);
}

/* Put the links of a span: of a redrive to the first leg, of a task to the executions that it has begun. */
static void
put_links(SfJsonBuilder *json, const Tree *tree, const Span *span)
{
	bool		redriven = span->kind == SF_SPAN_LEG && tree->leg->redriven_at != DT_NOBEGIN;
	ListCell   *lc;

	if (!redriven && span->links == NIL)
		return;
	sf_json_open_array(json, "links");
	if (redriven)
	{
		char	   *first = palloc(SF_SPAN_ID_DIGITS + 1);

		sf_span_id(&tree->seed, SF_SPAN_LEG, "", NULL, 0, tree->leg->started_at, 0, first);
		put_link(json, tree, first, "redrive_of");
	}
	foreach(lc, span->links)
		put_link(json, tree, lfirst(lc), "child_execution");
	sf_json_close_array(json);
	if (span->nlinks > MAX_LINKS)
		sf_json_add_int(json, "droppedLinksCount", span->nlinks - MAX_LINKS);
}

/* The kind of a span in OTLP. */
static int
kind_of(const Tree *tree, const Span *span)
{
	switch (span->kind)
	{
		case SF_SPAN_LEG:
			return tree->leg->has_parent ? KIND_INTERNAL : KIND_SERVER;
		case SF_SPAN_WORK:
			return KIND_CONSUMER;
		case SF_SPAN_TASK:
			switch (sf_state_task(span->state)->resource.kind)
			{
				case SF_RESOURCE_ACTIVITY:
					return KIND_PRODUCER;
				case SF_RESOURCE_EVENT:
				case SF_RESOURCE_HUMAN:
					return KIND_INTERNAL;
				default:
					return KIND_CLIENT;
			}
		default:
			return KIND_INTERNAL;
	}
}

/* Put one span. */
static void
put_span(SfJsonBuilder *json, const Tree *tree, const Span *span, const char *leg_cause)
{
	TimestampTz from = Min(span->from, tree->leg->ended_at);
	TimestampTz to = Max(Min(span->to, tree->leg->ended_at), from);
	const char *error = error_of(tree, span);
	const char *cause = span->kind == SF_SPAN_LEG ? leg_cause : span->visit == NULL ? NULL : span->visit->cause;
	bool		failed = has_failed(tree, span);
	int			flags = tree->context.flags | FLAG_HAS_IS_REMOTE;
	Span		shown = *span;

	shown.to = to;
	cause = cut(cause);
	sf_json_open_object(json, NULL);
	sf_json_add_string(json, "traceId", tree->context.trace_id);
	sf_json_add_string(json, "spanId", span->id);
	if (*span->parent != '\0')
		sf_json_add_string(json, "parentSpanId", span->parent);
	if (span->kind == SF_SPAN_LEG && *span->parent != '\0')
		flags |= FLAG_IS_REMOTE;
	sf_json_add_string(json, "traceState", tree->context.state);
	sf_json_add_int(json, "flags", flags);
	sf_json_add_string(json, "name", span->name);
	sf_json_add_int(json, "kind", kind_of(tree, span));
	sf_json_add_string(json, "startTimeUnixNano", nanoseconds(from));
	sf_json_add_string(json, "endTimeUnixNano", nanoseconds(to));
	put_attributes(json, tree, span);
	put_exception(json, tree, &shown, error, cause);
	put_links(json, tree, span);
	sf_json_open_object(json, "status");
	sf_json_add_int(json, "code", failed ? CODE_ERROR : CODE_UNSET);
	if (failed)
		sf_json_add_string(json, "message", cause != NULL ? cause : error);
	sf_json_close_object(json);
	sf_json_close_object(json);
}

/* The cause with which a leg has failed: that of its last visit with the leg's error; NULL: the history has none. */
static const char *
find_cause(const SfTracedLeg *leg, const SfVisits *visits)
{
	const char *cause = NULL;

	foreach_ptr(const SfVisit, visit, visits->list)
		if (leg->error != NULL && visit->error != NULL && strcmp(visit->error, leg->error) == 0)
			cause = visit->cause;
	return cause;
}

/*
 * Make the spans of a leg: a JSON array of spans of OTLP.  Where the machine keeps less history, there are fewer of
 * them. count gets how many there are.
 */
Jsonb *
sf_leg_spans(const SfTracedLeg *leg, int *count)
{
	Tree		tree = {.leg = leg};
	SfExecutionHead head = leg->head;
	SfVisits   *visits;
	SfJsonBuilder json;
	const char *cause;

	if (!sf_trace_parse_stored(leg->trace, &tree.context) ||
		(leg->is_item_execution && !sf_head_read(leg->execution_no, &head)))
		elog(ERROR, "execution " INT64_FORMAT " has no trace", leg->execution_no);
	tree.program = sf_program_cache_get(head.machine_no, head.version);
	tree.seed = sf_span_seed(tree.context.trace_id, leg->execution_no, leg->requested_at, leg->execution_id,
							 leg->redrive_count);
	tree.latest = sf_visits_hash("sfflow spans", sizeof(Latest), CurrentMemoryContext);
	add_root(&tree, head.machine);
	visits = sf_visits_scan_until(&head, tree.program, SF_VISITS_SPANS, leg->last_event_id);
	foreach_ptr(const SfVisit, visit, visits->list)
	{
		CHECK_FOR_INTERRUPTS();
		if (visit->first_event > visits->redriven)
			add_visit(&tree, visit);
	}
	link_all_nested(&tree);
	cause = find_cause(leg, visits);
	sf_json_begin_array(&json);
	foreach_ptr(const Span, span, tree.spans)
		put_span(&json, &tree, span, cause);
	*count = list_length(tree.spans);
	return sf_json_end(&json);
}
