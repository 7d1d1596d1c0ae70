/*
 * execution_head.c
 *		The head of an execution, and its events by the states of its version.
 *
 * An execution that was migrated has events of states as other versions number them.
 * A state of an earlier version is the one of its name now, as the migrations since then
 * have changed the name (renames.c).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "store/execution/execution_head.h"
#include "store/history/history_event.h"
#include "store/history/history_event_types.h"
#include "store/role/privilege.h"
#include "store/state_machine/program_cache.h"

/* --- names of earlier versions --- */

/* A migration that has given states other names */
typedef struct Rename
{
	int			event;			/* that tells of it; earlier ones have the former names */
	Jsonb	   *names;			/* {"Old": "New"} */
} Rename;

struct SfHeadNames
{
	const SfExecutionHead *execution;
	const SfProgram *program;	/* of its version */
	MemoryContext context;		/* of all of this */
	List	   *renames;		/* Rename, since the execution began, in order */
	/* the table that was used last */
	int			version;		/* of the event; 0: no table */
	int			next;			/* first rename that comes after it */
	int		   *numbers;		/* now, by those of the version; SF_NO_STATE: it is gone */
	int			nnumbers;
};

/* Take in an event, if it tells of other names, or that the execution begins anew. */
static void
note_event(SfHeadNames *names, const SfHistoryEvent *event)
{
	Jsonb	   *renames = event->type != SF_HISTORY_EVENT_EXECUTION_MIGRATED ? NULL :
		sf_renames_of_migration(event->extra);
	MemoryContext old;
	Rename	   *rename;

	if (event->type == SF_HISTORY_EVENT_EXECUTION_STARTED)
		names->renames = NIL;
	if (renames == NULL)
		return;
	old = MemoryContextSwitchTo(names->context);
	rename = palloc(sizeof(Rename));
	rename->event = event->id;
	rename->names = DatumGetJsonbPCopy(JsonbPGetDatum(renames));
	names->renames = lappend(names->renames, rename);
	MemoryContextSwitchTo(old);
}

/* Find the first migration that comes after an event. */
static int
find_next(const SfHeadNames *names, const SfHistoryEvent *event)
{
	int			n = list_length(names->renames);
	int			next = Min(names->next, n);

	while (next > 0 && ((Rename *) list_nth(names->renames, next - 1))->event > event->id)
		next--;
	while (next < n && ((Rename *) list_nth(names->renames, next))->event <= event->id)
		next++;
	return next;
}

/* Find the number that a state of an earlier version has now. */
static int
number_now(const SfHeadNames *names, const char *name)
{
	for (int i = names->next; i < list_length(names->renames); i++)
		name = sf_renames_after(((Rename *) list_nth(names->renames, i))->names, name);
	return sf_program_find_state(names->program, name);
}

/* Make the table of a version and of the migrations from a position on. */
static void
make_table(SfHeadNames *names, int version, int next)
{
	MemoryContext old = MemoryContextSwitchTo(names->context);
	const SfProgram *before = sf_program_cache_try(names->execution->machine_no, version);

	if (names->numbers != NULL)
		pfree(names->numbers);
	names->version = version;
	names->next = next;
	names->nnumbers = before == NULL ? 0 : before->nstates;
	names->numbers = palloc(sizeof(int) * Max(names->nnumbers, 1));
	for (int i = 0; i < names->nnumbers; i++)
		names->numbers[i] = number_now(names, before->states[i].name);
	MemoryContextSwitchTo(old);
}

/*
 * An event of an earlier version of an execution that was migrated, with the number that
 * its state has now (SF_NO_STATE: it is gone), in translated; any other event as it is.
 */
const SfHistoryEvent *
sf_head_event_now(SfHeadNames *names, const SfHistoryEvent *event, SfHistoryEvent *translated)
{
	int			next;

	if (event->state == SF_NO_STATE)
		return event;
	next = find_next(names, event);
	if (event->version == names->execution->version && next == list_length(names->renames))
		return event;
	if (event->version != names->version || next != names->next)
		make_table(names, event->version, next);
	*translated = *event;
	translated->state = event->state < names->nnumbers ? names->numbers[event->state] : SF_NO_STATE;
	return translated;
}

/* Have no names yet; they live in the current memory context. */
static SfHeadNames *
make_names(const SfExecutionHead *execution, const SfProgram *program)
{
	SfHeadNames *names = palloc0(sizeof(SfHeadNames));

	names->execution = execution;
	names->program = program;
	names->context = CurrentMemoryContext;
	return names;
}

/* Let the events through that tell of other names (SfHistoryEventFilter). */
static bool
is_migration(const SfHistoryEvent *event, void *arg)
{
	if (event->type == SF_HISTORY_EVENT_EXECUTION_STARTED)
		note_event(arg, event);
	return event->type == SF_HISTORY_EVENT_EXECUTION_MIGRATED;
}

/* Take in an event of a migration (SfHistoryEventVisitor). */
static void
visit_migration(const SfHistoryEvent *event, void *arg)
{
	note_event(arg, event);
}

/*
 * Read the names that an execution's states had before it was migrated.  program is that
 * of its version.
 */
SfHeadNames *
sf_head_names_read(const SfExecutionHead *execution, const SfProgram *program)
{
	SfHeadNames *names = make_names(execution, program);

	sf_history_event_scan_some(execution->execution_no, is_migration, visit_migration, names);
	return names;
}

/* --- events --- */

/* A scan of events */
typedef struct HeadScan
{
	SfHeadNames *names;
	bool		collects;		/* the migrations are not known yet */
	SfHistoryEventVisitor visitor;
	void	   *arg;
} HeadScan;

/* Have an event visited, unless it is known already that this has to be done again. */
static void
visit(const SfHistoryEvent *event, void *arg)
{
	HeadScan *scan = arg;
	SfHistoryEvent translated;

	if (scan->collects)
		note_event(scan->names, event);
	if (scan->collects && scan->names->renames != NIL)
		return;
	scan->visitor(sf_head_event_now(scan->names, event, &translated), scan->arg);
}

/*
 * Visit the events of an execution, as sf_history_event_scan does with few documents, with the
 * numbers that their states have in its version.  Few executions are migrated to other
 * names: those that were are read a second time, with all names known, after
 * the caller has forgotten what it was told.
 */
void
sf_head_scan(const SfExecutionHead *execution, const SfProgram *program,
			 SfHeadForget forget, SfHistoryEventVisitor visitor, void *arg)
{
	HeadScan	scan = {make_names(execution, program), true, visitor, arg};

	forget(arg);
	sf_history_event_scan(execution->execution_no, SF_HISTORY_DOCUMENTS_FEW, visit, &scan);
	if (scan.names->renames == NIL)
		return;
	forget(arg);
	scan.collects = false;
	scan.names->version = 0;
	sf_history_event_scan(execution->execution_no, SF_HISTORY_DOCUMENTS_FEW, visit, &scan);
}

/* --- heads --- */

/* What is read of an execution: its head, and its parent */
typedef struct Head
{
	SfExecutionHead *execution;
	int64		parent_execution_no;
	int			parent_version;
} Head;

/* Read the head of an execution. */
static void
read_execution(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_machine_no = 1, COL_version, COL_name, COL_owner, COL_status, COL_error, COL_cause, COL_state,
		COL_parent_execution_no, COL_parent_version};
	Head	   *head = arg;
	SfExecutionHead *out = head->execution;

	out->machine_no = sf_row_number(tuple, desc, COL_machine_no, 0);
	out->version = sf_row_number(tuple, desc, COL_version, 0);
	out->machine = sf_row_text(tuple, desc, COL_name);
	out->owner = sf_row_number(tuple, desc, COL_owner, InvalidOid);
	out->status = sf_row_number(tuple, desc, COL_status, 0);
	out->error = sf_row_text(tuple, desc, COL_error);
	out->cause = sf_row_text(tuple, desc, COL_cause);
	out->map_state = sf_row_number(tuple, desc, COL_state, SF_NO_STATE);
	head->parent_execution_no = sf_row_number(tuple, desc, COL_parent_execution_no, 0);
	head->parent_version = sf_row_number(tuple, desc, COL_parent_version, 0);
}

/*
 * The number that the Distributed Map of an item execution has in the version of that,
 * which it keeps when its parent is migrated.
 */
static int
map_state_of_item(const Head *head)
{
	const SfExecutionHead *item_execution = head->execution;
	SfExecutionHead parent = *item_execution;
	const SfProgram *now = sf_program_cache_try(item_execution->machine_no, head->parent_version);
	const SfProgram *before = sf_program_cache_try(item_execution->machine_no, item_execution->version);
	SfHeadNames *names;

	if (now == NULL || before == NULL)
		return SF_NO_STATE;
	parent.execution_no = head->parent_execution_no;
	parent.version = head->parent_version;
	names = sf_head_names_read(&parent, now);
	for (int next = 0; next <= list_length(names->renames); next++)
	{
		make_table(names, item_execution->version, next);
		for (int i = 0; i < names->nnumbers; i++)
			if (names->numbers[i] == item_execution->map_state && sf_state_is_distributed(&before->states[i]))
				return i;
	}
	return SF_NO_STATE;
}

/* Read the head of an execution; false: there is none. */
bool
sf_head_read(int64 execution_no, SfExecutionHead *out)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.machine_no, e.version, m.name, m.owner, e.status, e.error, e.cause,"
		" r.state, p.execution_no AS parent_execution_no, p.version AS parent_version"
		" FROM _sfflow.execution e"
		" JOIN _sfflow.state_machine m ON m.machine_no = e.machine_no"
		" LEFT JOIN _sfflow.map_run r ON r.execution_no = e.parent_execution_no"
		" AND r.map_run_no = e.map_run_no"
		" LEFT JOIN _sfflow.execution p ON p.execution_no = r.execution_no"
		" WHERE e.execution_no = $1");
	Head		head = {.execution = out};

	out->execution_no = execution_no;
	if (sf_snapshot_read(&plan, read_execution, &head, SF_INT8(execution_no)) == 0)
		return false;
	if (out->map_state != SF_NO_STATE && out->version != head.parent_version)
		out->map_state = map_state_of_item(&head);
	return true;
}

/*
 * Read an execution that the current user may see; false when there is none,
 * or when it may not.
 */
bool
sf_head_read_visible(int64 execution_no, SfExecutionHead *out)
{
	return sf_head_read(execution_no, out) &&
		sf_privilege_check(SF_OBJECT_STATE_MACHINE, out->machine, out->owner,
						   SF_RIGHT_READ);
}
