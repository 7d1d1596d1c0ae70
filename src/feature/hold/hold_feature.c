/*
 * hold_feature.c
 *		What holds and marks ask and tell at the moments of the engine.
 */
#include "postgres.h"

#include "feature/hold/hold.h"
#include "feature/hold/mark.h"
#include "report/report.h"
#include "run/gate/gate.h"
#include "store/role/owner.h"
#include "store/role/privilege.h"

static const SfFeatureTable tables[] = {
	{"hold",.of_execution = SF_ROWS_GO_ALONG,.of_machine = true,.cached = true,.by_role = "hold_owner"},
	{"mark",.of_execution = SF_ROWS_GO_ALONG,.cached = true},
	{NULL}
};

/* Take an operator's mark of the job that a branch is about to begin, and make the stimulus of it; false: no mark. */
static bool
take_mark(const SfDraft *draft, const SfBranch *branch, SfStimulus *stimulus)
{
	const SfState *state = &draft->program->states[branch->state];
	SfMark		mark;

	if (!sf_mark_may_be() || state->type != SF_STATE_TASK ||
		!sf_mark_take(branch->key.execution_no,
					  sf_job_name(draft->program, branch->state, branch->iterations,
								  branch->niterations), &mark))
		return false;
	memset(stimulus, 0, sizeof(*stimulus));
	stimulus->kind = SF_STIMULUS_MARKED;
	stimulus->marked.kind = mark.outcome == SF_MARK_OUTCOME_FAILURE ? SF_MARKED_ERROR :
		mark.output != NULL ? SF_MARKED_OUTPUT : SF_MARKED_PASS;
	stimulus->marked.output = mark.output;
	stimulus->marked.details = mark.details;
	stimulus->marked.error = sf_error_make("Sfflow.Marked", sf_json_get_cstring(mark.details, "reason"));
	return true;
}

/* Forget the marks of an execution that has succeeded: no redrive follows. */
static void
ended(const SfExecution *execution, bool began_here)
{
	if (execution->status == SF_STATUS_SUCCEEDED)
		sf_mark_delete_of(execution->execution_no);
}

/* Forget the marks of an execution that is restarted. */
static void
begun_anew(const SfExecution *execution, SfAnew how)
{
	if (how == SF_ANEW_RESTARTED)
		sf_mark_delete_of(execution->execution_no);
}

/* Give the jobs that an operator has marked, and that no branch has come to yet, their new names. */
static void
rename_marks(const SfMigration *migration)
{
	int64		execution_no = migration->execution->execution_no;
	List	   *marks = sf_mark_list(execution_no);

	if (marks == NIL)
		return;
	sf_mark_delete_of(execution_no);
	foreach_ptr(SfMark, mark, marks)
	{
		const char *there = migration->job_there(migration, mark->job_id);
		const char *name = there == NULL ? mark->job_id : there;
		SfJsonBuilder json;

		sf_json_begin_object(&json);
		sf_json_add_string(&json, "job", name);
		mark->details = sf_json_merge(mark->details, sf_json_end(&json));
		sf_mark_put(execution_no, name, mark);
	}
}

/* Have marks and holds follow an execution to another version. */
static void
states_renamed(const SfMigration *migration)
{
	sf_table_cache_accept_changes();
	rename_marks(migration);
	sf_hold_rename_states(migration->execution->machine_no, migration->execution->execution_no, migration->renames);
}

/* List what waits for the end of holds of roles that have no rights of the machine's owner. */
static List *
parked_of_others(void)
{
	static SfPlan plan = SF_PLAN(SF_PARKED_OF_OTHERS("hold", "hold", "hold_no"));

	return sf_park_list_by(&plan);
}

/* Is an activity, a schedule, an event or a worklist held? */
static bool
is_held(SfObjectKind kind, const char *name)
{
	return sf_hold_is_of_name(kind) && sf_hold_of(kind, name) != NULL;
}

/* End the holds of an object that is dropped. */
static void
object_dropped(SfObjectKind kind, const char *name)
{
	if (!sf_hold_is_of_name(kind))
		return;
	foreach_ptr(const int64, hold_no, sf_hold_list(kind, name))
		(void) sf_hold_release(*hold_no);
}

static const SfFeatureGate gate = {
	.waiting_word = "held",
	.admit = sf_hold_admit,
	.still_parks = sf_hold_still_parks,
	.parked_of_others = parked_of_others,
};

static const SfFeatureHolds holds = {
	.take_mark = take_mark,
	.is_held = is_held,
	.on_scheduled = sf_hold_scheduled,
};

const SfFeature sf_hold_feature = {
	.name = "hold",
	.tables = tables,
	.gate = &gate,
	.holds = &holds,
	.on_ended = ended,
	.on_begun_anew = begun_anew,
	.on_states_renamed = states_renamed,
	.retains = sf_hold_is_beginning,
	.on_object_dropped = object_dropped,
	.on_owner_changed = sf_hold_pass_on,
};
