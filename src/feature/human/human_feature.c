/*
 * human_feature.c
 *		What tasks of people have in the registry: their tables and names, and what they ask and tell at the moments of
 *		the engine.
 */
#include "postgres.h"

#include "feature/human/human.h"
#include "store/feature.h"
#include "store/role/privilege.h"

static const SfFeatureTable tables[] = {
	{"human_task",.of_execution = SF_ROWS_GO_ALONG},
	/* with its rows go the anchors of roles */
	{"human_task_role",.of_execution = SF_ROWS_OF_FEATURE,.by_role = "human_task_role_role"},
	{"human_task_event",.of_execution = SF_ROWS_GO_ALONG},
	{"human_starter",.of_execution = SF_ROWS_GO_ALONG},
	{"worklist",.cached = true,.by_role = "worklist_owner"},
	{NULL}
};

static const SfFeatureObject objects[] = {
	{
		.prefix = "human:",.kind = SF_OBJECT_WORKLIST,.table = "worklist",.number_column = "worklist_no",.require_own = sf_worklist_require_own,
		.set_owner = sf_worklist_set_owner,.is_granted = true,.noun = "worklist",.view = "sf_worklists",
		.missing_sqlstate = ERRCODE_SF_WORKLIST_DOES_NOT_EXIST
	},
	{NULL}
};

/* Note who begins an execution. */
static void
beginning(const SfExecution *execution, SfBranch *root)
{
	if (sf_worklist_may_be())
		sf_person_note_start(execution);
}

/* Cancel what a branch waited for. */
static void
left_state(SfBranchKey key)
{
	if (sf_worklist_may_be())
		sf_human_cancel(key);
}

/* Forget the roles of the tasks of executions. */
static void
executions_dropped(SfArg numbers)
{
	if (sf_worklist_may_be())
		sf_human_delete_roles(numbers);
}

/* Executions have come from another node: roles of their tasks cannot be dropped here, and time goes on for them. */
static void
arrived(SfArg numbers, int from_node)
{
	sf_human_anchor_roles(numbers);
	sf_human_schedule_sweep();
}

/* Cancel the tasks of an execution that has ended. */
static void
ended(const SfExecution *execution, bool began_here)
{
	if (!began_here && sf_worklist_may_be())
		sf_human_cancel_all(execution->execution_no);
}

/* Have an execution that gets the input of another start forget who has done something in it. */
static void
begun_anew(const SfExecution *execution, SfAnew how)
{
	if (how == SF_ANEW_REWOUND || !sf_worklist_may_be())
		return;
	sf_person_delete_start(execution->execution_no);
	sf_human_delete_notes(execution->execution_no);
	sf_person_note_start(execution);
}

/* Have tasks follow an execution to another version. */
static void
states_renamed(const SfMigration *migration)
{
	if (!sf_worklist_may_be())
		return;
	sf_human_rename_states(migration->execution->execution_no, migration->renames);
	sf_human_rename_notes(migration->execution->execution_no, migration->renames);
}

static const SfFeatureResource resource = {
	.begin_wait = sf_human_begin,
	.write_wait = sf_human_write,
	.problem_of = sf_human_problem_of,
	.kind = SF_RESOURCE_HUMAN,
};

static const SfFeatureSweep sweeps = {
	.name = "tasks of people",
	.run = sf_human_sweep,
	.next_time = sf_human_next_sweep,
};

const SfFeature sf_human_feature = {
	.name = "human",
	.tables = tables,
	.objects = objects,
	.resource = &resource,
	.sweep = &sweeps,
	.on_beginning = beginning,
	.on_left_state = left_state,
	.on_ended = ended,
	.on_begun_anew = begun_anew,
	.on_states_renamed = states_renamed,
	.on_executions_dropped = executions_dropped,
	.on_arrived = arrived,
};
