/*
 * start_functions.c
 *		sf_start(): one name, one run (3.1 of the design).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "api/execution/executions.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/value/random.h"
#include "base/version/schema.h"
#include "copy/instance.h"
#include "expr/expr.h"
#include "quota/quota.h"
#include "run/apply/apply.h"
#include "run/execution/lifecycle.h"
#include "store/state_machine/program_cache.h"

static const char *const if_exists_names[] = {SF_IF_EXISTS_LIST(SF_IF_EXISTS_WORD)};

/* Read the argument if_exists. */
SfIfExists
sf_start_if_exists(const char *text)
{
	return (SfIfExists) sf_argument_word("if_exists", text, if_exists_names, lengthof(if_exists_names));
}

/* Read the name at execution_id_path in the input. */
static char *
name_from_input(const SfMachine *machine, Jsonb *input)
{
	const char *path = machine->execution_id_path;
	SfEnv		env = {.input = input};
	SfError		error;
	Jsonb	   *value;
	JsonbValue	root;
	int64		number;
	SfExpr	   *expr = sf_expr_compile(path, SF_EXPR_PATH | SF_EXPR_REFERENCE, &error);

	if (expr == NULL)
		elog(ERROR, "execution_id_path \"%s\" does not compile", path);
	if (sf_expr_eval(expr, &env, &value, &error) != SF_EVAL_OK)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_EXECUTION_INPUT),
				 errmsg("input of state machine \"%s\" has nothing at \"%s\", where the execution's name is taken from",
						machine->name, path),
				 errhint("Give the value in the input, or the argument name.")));

	sf_json_root(value, &root);
	if (root.type == jbvString)
		return pnstrdup(root.val.string.val, root.val.string.len);
	if (root.type == jbvNumeric && sf_json_to_int64(&root, &number))
		return psprintf(INT64_FORMAT, number);
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_EXECUTION_INPUT),
			 errmsg("the execution's name at \"%s\" must be a string or an integer, not %s",
					path, sf_json_excerpt(value))));
}

/* Say that the execution is there and that nothing was done. */
static void
tell_exists(const SfExecution *execution, const SfStart *start, bool differs)
{
	if (!differs && start->quiet)
		return;
	if (differs)
		ereport(WARNING,
				(errcode(ERRCODE_SF_INPUT_DIFFERS),
				 errmsg("execution \"%s\" is %s with another input",
						execution->execution_id,
						sf_status_name(execution->status)),
				 errhint("The input given now is not used.")));
	else
		ereport(NOTICE,
				(errmsg("execution \"%s\" is %s already",
						execution->execution_id,
						sf_status_name(execution->status))));
}

/* Say that another execution waits and has taken the place of one; the outcome. */
static SfStartOutcome
tell_waiting(const SfStart *start, const SfExecution *execution, SfBegan began)
{
	if (!start->quiet)
		ereport(NOTICE,
				(errmsg("execution \"%s\" waits for the same start key", execution->execution_id),
				 errdetail(began == SF_BEGAN_REPLACED ? "It has the new input." : "It keeps its input.")));
	return began == SF_BEGAN_REPLACED ? SF_START_OUTCOME_REPLACED : SF_START_OUTCOME_SKIPPED;
}

/* The execution that is there begins with what is wanted: features have to know of the key of the start. */
static void
reenter_line(const SfExecution *execution, SfExecution *wanted, bool restarts)
{
	const SfFeature *feature = SF_PROVIDER(line);
	const SfCachedProgram *cached = sf_program_cache_find(wanted->machine_no, wanted->version);

	if (feature != NULL)
		feature->line->reenter(execution, wanted, SF_COMPILED(feature, cached->compiled), restarts);
}

/* Redrive what has not succeeded, as if_exists => 'resume' asks. */
static SfStartOutcome
resume_ended(SfExecution *execution, const SfStart *start, bool differs)
{
	SfRedrivenFrom from;

	if (differs)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INPUT_DIFFERS),
				 errmsg("execution \"%s\" is %s with another input",
						execution->execution_id,
						sf_status_name(execution->status)),
				 errdetail("To resume it would use the input that it was started with."),
				 errhint("Use sf_redrive() to go on with the old input, or if_exists => 'restart' to run from the start with the new one.")));
	sf_control_resume(execution, &from);
	if (!start->quiet)
		sf_control_redrive_notice(execution, &from);
	return SF_START_OUTCOME_REDRIVEN;
}

/* An execution that begins anew, with what is wanted */
typedef struct Restart
{
	SfExecution *execution;
	SfExecution *wanted;
} Restart;

/* Begin it anew. */
static void
restart(void *arg)
{
	const Restart *r = arg;

	reenter_line(r->execution, r->wanted, true);
	sf_lifecycle_restart(r->execution, r->wanted);
}

/* Apply if_exists to an execution that is there; what to record of it. */
static SfStartOutcome
handle_existing(SfExecution *execution, const SfStart *start, SfExecution *wanted, bool differs)
{
	const SfMachine *machine = start->machine;
	bool		running = execution->status == SF_STATUS_RUNNING;

	switch (start->if_exists)
	{
		case SF_IF_EXISTS_RESUME:
			if (!running && execution->status != SF_STATUS_SUCCEEDED)
				return resume_ended(execution, start, differs);
			tell_exists(execution, start, differs);
			return running ? SF_START_OUTCOME_RUNNING : SF_START_OUTCOME_SUCCEEDED;
		case SF_IF_EXISTS_ERROR:
			if (running && !differs)
				return SF_START_OUTCOME_RUNNING;
			ereport(ERROR,
					(errcode(ERRCODE_SF_EXECUTION_ALREADY_EXISTS),
					 errmsg("Execution Already Exists: '%s'",
							execution->execution_id),
					 errdetail("It is %s%s.", sf_status_name(execution->status),
							   differs ? " with another input" : "")));
		case SF_IF_EXISTS_SKIP:
			tell_exists(execution, start, false);
			return SF_START_OUTCOME_SKIPPED;
		case SF_IF_EXISTS_RESTART:
			if (running)
				ereport(ERROR,
						(errcode(ERRCODE_SF_EXECUTION_RUNNING),
						 errmsg("execution \"%s\" is RUNNING and cannot be restarted",
								execution->execution_id),
						 errhint("Stop it first with sf_stop().")));
			sf_quota_require(machine->owner, machine->machine_no, machine->name);
			sf_quota_begin(machine->owner, 1, restart, &(Restart) {execution, wanted});
			return SF_START_OUTCOME_RESTARTED;
		case SF_IF_EXISTS_REPLACE:
			if (running && execution->started_at == DT_NOBEGIN)
				reenter_line(execution, wanted, false);
			if (running && sf_lifecycle_replace(execution->execution_no, wanted))
				return SF_START_OUTCOME_REPLACED;
			tell_exists(execution, start, false);
			return SF_START_OUTCOME_SKIPPED;
	}
	pg_unreachable();
}

/* Handle a start whose execution exists already; what came of it. */
static SfStartOutcome
start_existing(const SfStart *start, SfExecution *wanted)
{
	const char *execution_id = wanted->execution_id;
	SfExecution *execution = sf_execution_find(execution_id, SF_LOCK_NONE);
	SfStartOutcome outcome;
	bool		differs;

	if (execution != NULL && execution->status != SF_STATUS_RUNNING)
		execution = sf_execution_find(execution_id, SF_LOCK_WAIT);
	if (execution == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("execution \"%s\" was started or purged at the same time",
						execution_id),
				 errhint("Try again.")));
	differs = !sf_json_is_equal(execution->input, wanted->input);
	outcome = handle_existing(execution, start, wanted, differs);
	sf_apply_request(execution, outcome, differs);
	return outcome;
}

/* Read the versions that the starts are of. */
static void
read_versions(SfStart *start, const SfRoute *routes, int n)
{
	for (int i = 0; i < n; i++)
	{
		start->versions[i] = sf_object_version(start->machine, routes[i].version);
		start->routes[i] = routes[i];
	}
	start->nversions = n == 1 ? 0 : n;
	start->machine = start->versions[0];
}

/* What names a version: the number or the alias after the name of the machine, or the argument; NULL: nothing. */
static const char *
find_qualifier(const char *state_machine, int version)
{
	const char *slash = strchr(sf_public_name_to_id(SF_NAME_STATE_MACHINE, state_machine), '/');

	return slash != NULL ? slash + 1 : version != SF_NO_VERSION ? psprintf("%d", version) : NULL;
}

/* Find the machine (SF_NO_VERSION: as its name says), and check the caller's right to start it. */
SfStart
sf_start_prepare(const char *state_machine, int version, SfIfExists if_exists, bool quiet)
{
	SfStart		start = {.if_exists = if_exists,.quiet = quiet};
	SfRoute		routes[SF_ALIAS_MAX_ROUTES];
	int			n;

	start.machine = sf_arg_machine_routes(state_machine, SF_RIGHT_START, routes, &n);
	if (version != SF_NO_VERSION)
	{
		if (n > 0)
			ereport(ERROR,
					(errcode(ERRCODE_SF_INVALID_OPTION),
					 errmsg("argument version must not be given for \"%s\", which names one",
							state_machine)));
		routes[n++] = (SfRoute) {version, 100};
	}
	if (n > 0)
		read_versions(&start, routes, n);
	start.qualifier = find_qualifier(state_machine, version);
	if (start.qualifier != NULL)
		start.qualifier = sf_alias_stored(start.qualifier, routes);
	sf_instance_refuse_upgrade("sf_start()");
	return start;
}

/* Have the starts of a call begin executions with a priority of their own. */
void
sf_start_set_priority(SfStart *start, int priority)
{
	if (priority < -SF_MAX_PRIORITY || priority > SF_MAX_PRIORITY)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument priority must be from %d to %d", -SF_MAX_PRIORITY, SF_MAX_PRIORITY)));
	start->has_priority = true;
	start->priority = priority;
}

/* Choose the version of one start: of an alias, by its percentages. */
static const SfMachine *
choose_version(const SfStart *start)
{
	if (start->nversions == 0)
		return start->machine;
	return start->versions[sf_alias_choose(start->routes, start->nversions)];
}

/* Give an execution that is to be started the labels of its machine's option. */
static void
label(SfExecution *execution, const SfMachine *machine)
{
	SfError		error;

	if (!sf_lifecycle_label(execution, &error))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_EXECUTION_INPUT),
				 errmsg("%s", error.cause),
				 errhint("Labels come from option labels of state machine \"%s\", and from option labels of the start.",
						 machine->name)));
}

/* The execution that is to be started; name NULL: from the input, or a UUID. */
SfExecution *
sf_start_form(const SfStart *start, Jsonb *input, const char *name)
{
	const SfMachine *machine = choose_version(start);
	SfExecution *execution = sf_execution_make();

	sf_arg_check_size(input, "input");
	if (name == NULL && machine->execution_id_path)
		name = name_from_input(machine, input);
	execution->start.has_new_uuid = name == NULL;
	if (name == NULL)
		name = sf_uuid_v7();
	sf_name_check(name, "execution name");

	execution->machine_no = machine->machine_no;
	execution->version = machine->version;
	execution->qualifier = unconstify(char *, start->qualifier);
	execution->owner = machine->owner;
	execution->execution_id = psprintf("%s:%s", machine->name, name);
	execution->input = input;
	execution->start.has_own_priority = start->has_priority;
	execution->priority = start->priority;
	execution->start.options = start->options;
	label(execution, machine);
	return execution;
}

/* Executions that begin */
typedef struct Beginning
{
	SfExecution *const *executions;
	int			n;
	SfBegan	   *began;			/* set */
} Beginning;

/* Begin them. */
static void
begin_all(void *arg)
{
	const Beginning *b = arg;

	sf_lifecycle_begin_all(b->executions, b->n, b->began);
}

/*
 * Start executions, SF_TABLE_MAX_ROWS at most; outcomes gets what came of each.  One
 * for which a quota has no room starts nothing, and is answered if its name is taken.
 */
void
sf_start_all(const SfStart *start, SfExecution *const *executions, int n, SfStartOutcome *outcomes)
{
	Oid			owner = start->machine->owner;
	SfQuotaKind quota = SF_QUOTA_NONE;
	SfBegan		began[SF_TABLE_MAX_ROWS] = {SF_BEGAN_NOT};
	int			room = 0;

	while (room < n && (quota = sf_quota_take(owner)) == SF_QUOTA_NONE)
		room++;
	if (room > 0)
		sf_quota_begin(owner, room, begin_all, &(Beginning) {executions, room, began});
	for (int i = 0; i < n; i++)
	{
		const char *id = executions[i]->execution_id;

		outcomes[i] = SF_START_OUTCOME_STARTED;
		if (began[i] == SF_BEGAN_NEW)
			continue;
		if (i < room)
			sf_quota_give_back(owner);
		if (began[i] != SF_BEGAN_NOT)
		{
			outcomes[i] = tell_waiting(start, executions[i], began[i]);
			continue;
		}
		if (i >= room && sf_execution_find(id, SF_LOCK_NONE) == NULL)
			sf_quota_raise(quota, owner, start->machine->machine_no, start->machine->name);
		outcomes[i] = start_existing(start, executions[i]);
	}
}

/* sf_start(state_machine, input, name, if_exists, version, priority): the execution id. */
SF_SQL_FUNCTION(sfflow_sf_start)
{
	char	   *machine = sf_arg_text(fcinfo, 0, "state_machine");
	Jsonb	   *input = sf_arg_jsonb(fcinfo, 1, "input");
	char	   *name = sf_arg_text_or_null(fcinfo, 2);
	int			version = sf_arg_version(fcinfo, 4);
	SfStart		start = sf_start_prepare(machine, version, sf_start_if_exists(sf_arg_text(fcinfo, 3, "if_exists")),
										 false);
	SfExecution *execution;
	SfStartOutcome outcome;

	if (!PG_ARGISNULL(5))
		sf_start_set_priority(&start, PG_GETARG_INT32(5));
	execution = sf_start_form(&start, input, name);
	sf_start_all(&start, &execution, 1, &outcome);
	PG_RETURN_TEXT_P(cstring_to_text(execution->execution_id));
}
