/*
 * start.c
 *		sf_start(): one name, one run (3.1 of the design).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "api/sql_arguments.h"
#include "api/objects.h"
#include "base/closest.h"
#include "base/errors.h"
#include "base/name.h"
#include "base/uuid.h"
#include "run/apply.h"
#include "run/lifecycle.h"
#include "expr/expr.h"
#include "store/instance.h"
#include "store/quota.h"

/* What to do when the execution is there already */
typedef enum IfExists
{
	IF_EXISTS_RESUME,
	IF_EXISTS_ERROR,
	IF_EXISTS_SKIP,
	IF_EXISTS_RESTART
} IfExists;

static const char *const if_exists_names[] = {
	[IF_EXISTS_RESUME] = "resume",
	[IF_EXISTS_ERROR] = "error",
	[IF_EXISTS_SKIP] = "skip",
	[IF_EXISTS_RESTART] = "restart",
};

PG_FUNCTION_INFO_V1(sfflow_sf_start);

/* Read the argument if_exists. */
static IfExists
parse_if_exists(const char *text)
{
	SfClosest	closest;

	for (size_t i = 0; i < lengthof(if_exists_names); i++)
		if (strcmp(text, if_exists_names[i]) == 0)
			return (IfExists) i;
	closest = sf_closest_begin(text);
	for (size_t i = 0; i < lengthof(if_exists_names); i++)
		sf_closest_offer(&closest, if_exists_names[i]);
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("argument if_exists must not be \"%s\"", text),
			 sf_closest_errhint(&closest, "It is one of resume, error, skip, restart.")));
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
tell_exists(const SfExecution *execution, bool differs)
{
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

/* Redrive what has not succeeded, as if_exists => 'resume' asks. */
static const char *
resume_ended(SfExecution *execution, bool differs)
{
	char	   *from;

	if (differs)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INPUT_DIFFERS),
				 errmsg("execution \"%s\" is %s with another input",
						execution->execution_id,
						sf_status_name(execution->status)),
				 errdetail("To resume it would use the input that it was started with."),
				 errhint("Use sf_redrive() to go on with the old input, or if_exists => 'restart' to run from the start with the new one.")));
	sf_quota_require(execution->owner, execution->machine_no, execution->machine_name);
	(void) sf_lifecycle_redrive(execution, NULL, NULL, &from);
	sf_control_redrive_notice(execution, from);
	return "redriven";
}

/* Apply if_exists to an execution that is there; what to record of it. */
static const char *
handle_existing(SfExecution *execution, const SfMachine *machine, Jsonb *input,
				IfExists if_exists, bool differs)
{
	bool		running = execution->status == SF_STATUS_RUNNING;

	switch (if_exists)
	{
		case IF_EXISTS_RESUME:
			if (!running && execution->status != SF_STATUS_SUCCEEDED)
				return resume_ended(execution, differs);
			tell_exists(execution, differs);
			return running ? "running" : "succeeded";
		case IF_EXISTS_ERROR:
			if (running && !differs)
				return "running";
			ereport(ERROR,
					(errcode(ERRCODE_SF_EXECUTION_ALREADY_EXISTS),
					 errmsg("Execution Already Exists: '%s'",
							execution->execution_id),
					 errdetail("It is %s%s.", sf_status_name(execution->status),
							   differs ? " with another input" : "")));
		case IF_EXISTS_SKIP:
			tell_exists(execution, false);
			return "skipped";
		case IF_EXISTS_RESTART:
			if (running)
				ereport(ERROR,
						(errcode(ERRCODE_SF_EXECUTION_RUNNING),
						 errmsg("execution \"%s\" is RUNNING and cannot be restarted",
								execution->execution_id),
						 errhint("Stop it first with sf_stop().")));
			sf_quota_require(machine->owner, machine->machine_no, machine->name);
			sf_lifecycle_restart(execution, machine, input);
			return "restarted";
	}
	pg_unreachable();
}

/* Handle a start whose execution exists already. */
static void
start_existing(const char *execution_id, const SfMachine *machine, Jsonb *input,
			   IfExists if_exists)
{
	SfExecution *execution = sf_execution_find(execution_id, SF_LOCK_NONE);
	const char *outcome;
	bool		differs;

	if (execution != NULL && execution->status != SF_STATUS_RUNNING)
		execution = sf_execution_find(execution_id, SF_LOCK_WAIT);
	if (execution == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("execution \"%s\" was started or purged at the same time",
						execution_id),
				 errhint("Try again.")));
	differs = !sf_json_equal(execution->input, input);
	outcome = handle_existing(execution, machine, input, if_exists, differs);
	sf_apply_request(execution, outcome, differs);
}

/* sf_start(state_machine, input, name, if_exists): the execution id. */
Datum
sfflow_sf_start(PG_FUNCTION_ARGS)
{
	SfMachine  *machine = sf_arg_machine(sf_arg_text(fcinfo, 0, "state_machine"),
											SF_PRIVILEGE_START);
	Jsonb	   *input = sf_arg_jsonb(fcinfo, 1, "input");
	char	   *name = sf_arg_text_or_null(fcinfo, 2);
	IfExists	if_exists = parse_if_exists(sf_arg_text(fcinfo, 3, "if_exists"));
	SfExecution execution = {0};
	SfQuotaKind quota;
	bool		is_new;

	sf_instance_refuse_upgrade("sf_start()");
	sf_arg_check_size(input, "input");
	if (name == NULL)
		name = machine->execution_id_path ? name_from_input(machine, input) :
			sf_uuid_v7();
	sf_name_check(name, "execution name");

	execution.machine_no = machine->machine_no;
	execution.version = machine->version;
	execution.owner = machine->owner;
	execution.execution_id = psprintf("%s:%s", machine->name, name);
	execution.input = input;
	quota = sf_quota_take(execution.owner);
	if (quota != SF_QUOTA_NONE)
		/* a name that is taken starts nothing, and is answered all the same */
		is_new = sf_execution_find(execution.execution_id, SF_LOCK_NONE) == NULL;
	else
		is_new = sf_lifecycle_begin(&execution);
	if (is_new && quota != SF_QUOTA_NONE)
		sf_quota_raise(quota, execution.owner, machine->machine_no, machine->name);
	if (!is_new)
	{
		if (quota == SF_QUOTA_NONE)
			sf_quota_give_back(execution.owner);
		start_existing(execution.execution_id, machine, input, if_exists);
	}
	PG_RETURN_TEXT_P(cstring_to_text(execution.execution_id));
}
