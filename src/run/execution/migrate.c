/*
 * migrate.c
 *		Migrate an execution to another version of its machine.
 *
 * Rows name states by their numbers in the program of the execution's version: those
 * of branches, of the tasks of clients, and of Map runs.  A state of one
 * version is the state of the same name in the other one, or of the name that the
 * argument state_map gives for it.  Jobs of a net are found by their names likewise; their
 * numbers may differ.  All rows are migrated in one transaction, or none.
 *
 * No stimulus does that: what has become of a branch stays as it is, and only the numbers that say where it is change.
 * The rows are written as those of any draft.
 */
#include "postgres.h"

#include "nodes/bitmapset.h"
#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "base/name/name.h"
#include "report/report.h"
#include "run/execution/lifecycle.h"
#include "run/gate/gate.h"
#include "run/join/children.h"
#include "store/feature.h"
#include "store/history/history_event.h"
#include "store/state_machine/program_cache.h"

/* States that an error names */
#define NAMED_PROBLEMS	5

/* A migration */
typedef struct Migration
{
	SfExecution *execution;
	const SfProgram *from;
	const SfProgram *to;
	Jsonb	   *renames;		/* {"Old": "New"}, names that differ; NULL: none */
	int			nproblems;
	StringInfoData problems;	/* one a line */
} Migration;

/* Note why a state cannot be migrated. */
static void
note_problem(Migration *migration, const char *problem)
{
	if (migration->nproblems++ >= NAMED_PROBLEMS)
		return;
	appendStringInfo(&migration->problems, "%s%s", migration->problems.len == 0 ? "" : "\n", problem);
}

/* The name that a state, or a job of a net, has in the other version. */
static const char *
name_there(const Migration *migration, const char *name)
{
	return sf_renames_after(migration->renames, name);
}

/* Find a state in the other version; SF_NO_STATE: it is not there. */
static int
find_there(const Migration *migration, int state)
{
	return sf_program_find_state(migration->to, name_there(migration, migration->from->states[state].name));
}

/* Find a job of a net in that net of the other version; SF_NO_JOB: it is not there. */
static int
find_job_there(const Migration *migration, const SfNetJob *job, const SfJobNetState *there)
{
	const char *name = name_there(migration, job->name);

	for (int i = 0; i < there->njobs; i++)
		if (strcmp(there->jobs[i].name, name) == 0)
			return i;
	return SF_NO_JOB;
}

/* Find a scope in the other version; SF_NO_SCOPE: it is not there. */
static int
find_scope_there(const Migration *migration, int scope)
{
	const SfScope *here = &migration->from->scopes[scope];
	int			index = here->branch_index;
	const SfState *owner,
			   *there;
	int			number;

	if (here->owner_state == SF_NO_STATE)
		return 0;
	owner = &migration->from->states[here->owner_state];
	number = find_there(migration, here->owner_state);
	if (number == SF_NO_STATE)
		return SF_NO_SCOPE;
	there = &migration->to->states[number];
	if (owner->type == SF_STATE_JOBNET && there->type == SF_STATE_JOBNET)
		index = find_job_there(migration, &sf_state_net(owner)->jobs[index], sf_state_net(there));
	return index == SF_NO_JOB || index >= there->nscopes ? SF_NO_SCOPE : there->scopes[index];
}

/* Put a branch into a scope of the other version; a job of a net gets its number there. */
static void
set_scope(const Migration *migration, SfBranch *branch, int scope)
{
	const SfScope *there = &migration->to->scopes[scope];

	branch->scope = scope;
	if (there->owner_state != SF_NO_STATE && migration->to->states[there->owner_state].type == SF_STATE_JOBNET)
		branch->branch_index = there->branch_index;
}

/* Tell whether the task of one state can end as that of the other one. */
static bool
is_alike_task(const SfResource *here, const SfResource *there)
{
	return here->kind == there->kind && here->integration == there->integration;
}

/* Tell whether the items of one Distributed Map come, and its results go, as those of the other one. */
static bool
is_alike_distributed(const SfDistributedMap *here, const SfDistributedMap *there)
{
	return (here->item_reader == NULL) == (there->item_reader == NULL) &&
		(here->result_writer == NULL) == (there->result_writer == NULL);
}

/* Tell whether a job waits for the same jobs, and for the same ends of them, as one of the other version. */
static bool
is_alike_job(const Migration *migration, const SfJobNetState *here, const SfNetJob *a,
			 const SfJobNetState *there, const SfNetJob *b)
{
	if (a->nafter != b->nafter)
		return false;
	for (int i = 0; i < a->nafter; i++)
	{
		int			before = find_job_there(migration, &here->jobs[a->after[i].job], there);
		int			k = 0;

		while (k < b->nafter && (b->after[k].job != before || b->after[k].on != a->after[i].on))
			k++;
		if (k == b->nafter)
			return false;
	}
	return true;
}

/* Note what keeps a net that has begun from going on as that of the other version. */
static void
note_net_problems(Migration *migration, const char *name, const SfJobNetState *here, const SfJobNetState *there)
{
	int			version = migration->execution->version;
	Bitmapset  *found = NULL;

	for (int i = 0; i < here->njobs; i++)
	{
		const SfNetJob *job = &here->jobs[i];
		int			other = find_job_there(migration, job, there);

		if (other == SF_NO_JOB)
			note_problem(migration, psprintf("State \"%s\" of version %d has no job \"%s\".", name, version,
											 name_there(migration, job->name)));
		else if (bms_is_member(other, found))
			note_problem(migration, psprintf("Two jobs of state \"%s\" become \"%s\".", name,
											 there->jobs[other].name));
		else if (!is_alike_job(migration, here, job, there, &there->jobs[other]))
			note_problem(migration, psprintf("Job \"%s\" of state \"%s\" waits for other jobs in version %d.",
											 job->name, name, version));
		if (other != SF_NO_JOB)
			found = bms_add_member(found, other);
	}
	for (int i = 0; i < there->njobs; i++)
		if (!bms_is_member(i, found))
			note_problem(migration, psprintf("Job \"%s\" of state \"%s\" is only in version %d.",
											 there->jobs[i].name, name, version));
}

/* Tell whether a branch that has begun its state can go on with it in the other version. */
static bool
is_alike(const SfState *here, const SfState *there)
{
	if (here->type != there->type || sf_state_is_distributed(here) != sf_state_is_distributed(there))
		return false;
	if (here->type == SF_STATE_JOBNET)
		return true;			/* note_net_problems tells more */
	if (here->nscopes != there->nscopes)
		return false;
	if (sf_state_is_distributed(here))
		return is_alike_distributed(sf_state_distributed(here), sf_state_distributed(there));
	return here->type != SF_STATE_TASK ||
		is_alike_task(&sf_state_task(here)->resource, &sf_state_task(there)->resource);
}

/* Migrate a branch that has ended: what matters of it is where it was. */
static void
migrate_ended(Migration *migration, SfBranch *branch)
{
	int			state = find_there(migration, branch->state);
	int			scope = find_scope_there(migration, branch->scope);

	if (scope == SF_NO_SCOPE)
	{
		note_problem(migration, psprintf("The branches of state \"%s\" are not the same in version %d.",
										 migration->from->states[migration->from->scopes[branch->scope].owner_state].name,
										 migration->execution->version));
		return;
	}
	if (state == SF_NO_STATE || migration->to->states[state].scope != scope)
		state = migration->to->scopes[scope].start;
	set_scope(migration, branch, scope);
	branch->state = state;
}

/* Tell whether a branch has begun its state, so that the state has to be of the same kind. */
static bool
has_begun(const SfBranch *branch)
{
	return branch->work.is_parent ||
		(branch->phase != SF_PHASE_ENTER && branch->phase != SF_PHASE_FAILED &&
		 branch->phase != SF_PHASE_ABORTED);
}

/* Migrate a branch that rests at a state, or note why it cannot be migrated. */
static void
migrate_branch(Migration *migration, SfBranch *branch)
{
	const SfState *here = &migration->from->states[branch->state];
	int			number = find_there(migration, branch->state);
	int			version = migration->execution->version;
	const SfState *there;

	if (number == SF_NO_STATE)
	{
		note_problem(migration, psprintf("Version %d has no state \"%s\".", version,
										 name_there(migration, here->name)));
		return;
	}
	there = &migration->to->states[number];
	if (there->scope != find_scope_there(migration, branch->scope))
		note_problem(migration, psprintf("State \"%s\" is nested in another state in version %d.",
										 there->name, version));
	else if (has_begun(branch) && !is_alike(here, there))
		note_problem(migration, psprintf("State \"%s\" has begun, and is of another kind in version %d.",
										 here->name, version));
	else if (has_begun(branch) && here->type == SF_STATE_JOBNET)
		note_net_problems(migration, here->name, sf_state_net(here), sf_state_net(there));
	set_scope(migration, branch, there->scope);
	branch->state = number;
}

/* Lock every branch; raises when one is being run. */
static List *
lock_branches(const SfExecution *execution)
{
	List	   *branches;

	if (!sf_branch_try_all(execution->execution_no, &branches))
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_CHANGED),
				 errmsg("execution \"%s\" has a step that is being run", execution->execution_id),
				 errhint("Try again when it is over: see sf_workers. Or stop the execution, and redrive it when it has been migrated.")));
	return branches;
}

/* Migrate the tasks that clients have, and the Map runs. */
static void
migrate_rows(Migration *migration, List *branches)
{
	foreach_ptr(SfBranch, branch, branches)
	{
		SfTask	   *task = sf_task_read(branch->key, SF_LOCK_WAIT);

		if (task != NULL)
			sf_apply_task_migrated(task, find_there(migration, task->state));
	}
	foreach_ptr(const int64, map_run_no, sf_map_run_numbers(migration->execution->execution_no))
	{
		SfMapRun   *run = sf_map_run_read(migration->execution->execution_no, *map_run_no, SF_LOCK_WAIT);
		int			state = find_there(migration, run->state);

		if (state == SF_NO_STATE || !sf_state_is_distributed(&migration->to->states[state]))
			note_problem(migration, psprintf("State \"%s\" has a Map run and is no Distributed Map in version %d.",
											 migration->from->states[run->state].name,
											 migration->execution->version));
		else
		{
			run->state = state;
			sf_apply_map_run(run);
		}
	}
}

/* The name that a job in iterations of Maps has in the other version; NULL: it is not there. */
static char *
job_there(const SfMigration *migrated, const char *name)
{
	const Migration *migration = migrated->context;

	for (int i = 0; i < migration->from->nstates; i++)
	{
		int			niterations;
		int		   *iterations = sf_job_iterations(migration->from, i, name, &niterations);
		int			there = iterations == NULL ? SF_NO_STATE : find_there(migration, i);

		if (there != SF_NO_STATE)
			return sf_job_name(migration->to, there, iterations, niterations);
	}
	return NULL;
}

/* Is a name that of a job of a net? */
static bool
is_job(const SfProgram *program, const char *name)
{
	for (int i = 0; i < program->nstates; i++)
	{
		const SfState *state = &program->states[i];

		if (state->type != SF_STATE_JOBNET)
			continue;
		for (int k = 0; k < sf_state_net(state)->njobs; k++)
			if (strcmp(sf_state_net(state)->jobs[k].name, name) == 0)
				return true;
	}
	return false;
}

/* Is a name that of a state or of a job of a net? */
static bool
is_named(const SfProgram *program, const char *name)
{
	return sf_program_find_state(program, name) != SF_NO_STATE || is_job(program, name);
}

/* Say which name of a program is nearest to one. */
static int
hint_closest(const SfProgram *program, const char *name)
{
	SfClosest	closest = sf_closest_begin(name);

	for (int i = 0; i < program->nstates; i++)
		sf_closest_offer(&closest, program->states[i].name);
	return sf_closest_errhint(&closest, NULL);
}

/* Refuse names in state_map that are none. */
static void
check_renamed(const Migration *migration, int version, const char *old, const JsonbValue *value)
{
	char	   *new;

	if (value->type != jbvString)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument state_map must give \"%s\" the name of a state", old)));
	if (!is_named(migration->from, old))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument state_map has \"%s\", which is no state or job of the execution's version", old),
				 hint_closest(migration->from, old)));
	new = pnstrdup(value->val.string.val, value->val.string.len);
	if (!is_named(migration->to, new))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument state_map gives \"%s\" the name \"%s\", which is no state or job of version %d",
						old, new, version),
				 hint_closest(migration->to, new)));
}

/* Check the argument state_map, and take the names that differ from it; NULL: none does. */
static Jsonb *
read_state_map(const Migration *migration, int version, const Jsonb *state_map)
{
	JsonbValue	root;
	SfJsonMember *members;
	int			n;
	int			ndifferent = 0;

	sf_json_root(state_map, &root);
	if (!sf_json_is_object(&root))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument state_map must be a JSON object"),
				 errhint("It gives states new names, as in '{\"Load\": \"LoadFiles\"}'.")));
	members = sf_json_members(&root, &n);
	for (int i = 0; i < n; i++)
	{
		check_renamed(migration, version,
					  pnstrdup(members[i].key.val.string.val, members[i].key.val.string.len),
					  &members[i].value);
		if (!sf_json_value_is_equal(&members[i].key, &members[i].value))
			members[ndifferent++] = members[i];
	}
	return ndifferent == 0 ? NULL : sf_json_object_of(members, ndifferent);
}

/* Find the programs of a migration, and check its arguments. */
static Migration
begin_migration(SfExecution *execution, int version, const Jsonb *state_map)
{
	Migration	migration = {.execution = execution};
	const SfMachine *machine = sf_machine_read_version(execution->machine_no, version);

	if (machine == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST),
				 errmsg("state machine \"%s\" has no version %d", execution->machine_name, version)));
	initStringInfo(&migration.problems);
	migration.from = sf_program_cache_get(execution->machine_no, execution->version);
	migration.to = sf_program_cache_get(execution->machine_no, version);
	if (state_map != NULL)
		migration.renames = read_state_map(&migration, version, state_map);
	return migration;
}

/* Refuse an execution that is over, or that a Map run began. */
static void
check_migratable(const SfExecution *execution)
{
	if (execution->status == SF_STATUS_SUCCEEDED)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_NOT_REDRIVABLE),
				 errmsg("execution \"%s\" has SUCCEEDED and cannot be migrated to another version",
						execution->execution_id)));
	if (sf_execution_is_of_item(execution))
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_NOT_REDRIVABLE),
				 errmsg("execution \"%s\" is a child of a Distributed Map and cannot be migrated by itself",
						execution->execution_id),
				 errhint("Migrate its parent: children that begin later are of its new version.")));
}

/* {"fromVersion": n, "toVersion": m, "stateMap": {"Old": "New"}}: the last one only if names differ */
static Jsonb *
make_details(const Migration *migration, int from)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_int(&json, "fromVersion", from);
	sf_json_add_int(&json, "toVersion", migration->execution->version);
	if (migration->renames != NULL)
		sf_json_add(&json, "stateMap", migration->renames);
	return sf_json_end(&json);
}

/* Migrate each branch, or note why it cannot be migrated. */
static void
migrate_branches(Migration *migration, List *branches)
{
	foreach_ptr(SfBranch, child, branches)
	{
		SfBranch   *parent = sf_branch_has_parent(child) ? sf_branch_by_no(branches, child->parent_no) : NULL;

		if (parent != NULL)
			parent->work.is_parent = true;
	}
	foreach_ptr(SfBranch, branch, branches)
	{
		if (sf_phase_is_of_execution(branch->phase))
			continue;			/* a timer of the execution is at no state */
		if (branch->phase == SF_PHASE_DONE)
			migrate_ended(migration, branch);
		else
			migrate_branch(migration, branch);
	}
}

/* Raise when something could not be migrated. */
static void
refuse_problems(Migration *migration, int old)
{
	if (migration->nproblems == 0)
		return;
	if (migration->nproblems > NAMED_PROBLEMS)
		appendStringInfo(&migration->problems, "\nThere are %d more.",
						 migration->nproblems - NAMED_PROBLEMS);
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("execution \"%s\" cannot be migrated from version %d to version %d",
					migration->execution->execution_id, old, migration->execution->version),
			 errdetail("%s", migration->problems.data),
			 errhint("Give states their new names, as in state_map => '{\"Old\": \"New\"}', or choose a version that has them.")));
}

/*
 * Migrate an execution, whose row the caller has locked, to another version; state_map
 * (NULL: none) gives states the names that they have there.  Raises, and changes
 * nothing, when a branch rests at a state that is not there.  rewinds: the caller
 * replaces all branches.  Returns what the event in the history says; NULL: the
 * execution has this version.
 */
Jsonb *
sf_migrate_execution(SfExecution *execution, int version, const Jsonb *state_map, bool rewinds)
{
	Migration	migration;
	SfDraft	   *draft;
	List	   *branches;
	Jsonb	   *details;
	int			old = execution->version;

	check_migratable(execution);
	migration = begin_migration(execution, version, state_map);
	if (version == old)
		return NULL;
	branches = lock_branches(execution);
	sf_transition_execution_migrate(execution, version);
	if (!rewinds)
	{
		branches = sf_dependents_give_rows(migration.from, branches);
		migrate_branches(&migration, branches);
	}
	migrate_rows(&migration, branches);
	refuse_problems(&migration, old);
	if (migration.renames != NULL)
		SF_TELL(on_states_renamed, &(SfMigration) {execution, migration.renames, job_there, &migration});

	SF_TELL(on_migrated, execution, old);

	draft = sf_draft_make_locked(execution);
	if (!rewinds)
		draft->branches = branches;
	if (!rewinds && execution->status == SF_STATUS_RUNNING)
		sf_gate_recheck_branches(draft);
	/* the first event of a history is that it started */
	details = make_details(&migration, old);
	if (execution->started_at != DT_NOBEGIN)
		sf_draft_add_event(draft, SF_HISTORY_EVENT_EXECUTION_MIGRATED, details, GetCurrentTimestamp());
	sf_drafts_write(list_make1(draft));
	return details;
}
