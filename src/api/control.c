/*
 * control.c
 *		sf_stop(), sf_redrive().
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "api/sql_arguments.h"
#include "api/objects.h"
#include "base/errors.h"
#include "run/lifecycle.h"
#include "run/migrate.h"
#include "run/slice.h"
#include "store/audit.h"
#include "store/quota.h"

PG_FUNCTION_INFO_V1(sfflow_sf_stop);
PG_FUNCTION_INFO_V1(sfflow_sf_redrive);

/* {"key": value}, or NULL without a value: the details of an action. */
static Jsonb *
one_detail(const char *key, const char *value)
{
	SfJsonBuilder b;

	if (value == NULL)
		return NULL;
	sf_json_begin_object(&b);
	sf_json_add_string(&b, key, value);
	return sf_json_finish(&b);
}

/* sf_stop(execution_id, error, cause): the status after. */
Datum
sfflow_sf_stop(PG_FUNCTION_ARGS)
{
	SfExecution *execution = sf_arg_execution(sf_arg_text(fcinfo, 0, "execution_id"),
											  SF_LOCK_WAIT, SF_PRIVILEGE_OPERATE);

	sf_dispatch_refuse_own_stop(execution);
	if (execution->status == SF_STATUS_RUNNING)
	{
		char	   *error = sf_arg_text_or_null(fcinfo, 1);
		char	   *cause = sf_arg_text_or_null(fcinfo, 2);

		sf_lifecycle_stop(execution, error, cause);
		sf_audit_note_execution(execution, "stop", cause, one_detail("error", error));
	}
	PG_RETURN_TEXT_P(cstring_to_text(sf_status_name(execution->status)));
}

/* Raise the error for a child that can only go on with its parent. */
static void
refuse_child(const SfExecution *child, const SfExecution *parent)
{
	bool		parent_ended = parent != NULL && parent->status != SF_STATUS_RUNNING &&
		parent->status != SF_STATUS_SUCCEEDED;

	ereport(ERROR,
			(errcode(ERRCODE_SF_EXECUTION_NOT_REDRIVABLE),
			 errmsg("execution \"%s\" is a child of a Distributed Map and cannot be redriven by itself",
					child->execution_id),
			 parent_ended ?
			 errhint("Redrive its parent, \"%s\": that runs again what has failed.",
					 parent->execution_id) :
			 errdetail("It can be when its run and its parent have succeeded without it.")));
}

/*
 * Raise the notice about the states from which a redrive continues.  A Fail state
 * that has been reached by a Catch, at the end of a compensation, only fails again.
 */
void
sf_control_redrive_notice(const SfExecution *execution, const SfRedrivenFrom *from)
{
	ereport(NOTICE,
			(errmsg("execution \"%s\" is redriven from %s %s",
					execution->execution_id, from->nstates > 1 ? "states" : "state",
					from->states),
			 from->only_fails ?
			 errdetail("This repeats only the Fail state, which fails again.") : 0,
			 from->only_fails ?
			 errhint("Argument from_state of sf_redrive() goes back to an earlier state.") : 0));
}

/* Redrive one child of a Distributed Map whose failure was tolerated. */
static int
redrive_child(const SfExecution *child)
{
	/*
	 * The parent first: locks are taken in the order of numbers.  It is written
	 * back, so it is read with its documents.
	 */
	SfExecution *parent = sf_execution_read(child->parent_execution_no,
											SF_LOCK_WAIT, true);
	char	   *from;

	if (child->status == SF_STATUS_RUNNING || child->status == SF_STATUS_SUCCEEDED)
		return sf_lifecycle_redrive(unconstify(SfExecution *, child), NULL, NULL, NULL);
	if (parent == NULL || parent->status != SF_STATUS_SUCCEEDED ||
		sf_redrive_tolerated(parent, child->execution_no, &from) == 0)
		refuse_child(child, parent);
	child = sf_execution_read(child->execution_no, SF_LOCK_NONE, false);
	sf_audit_note_execution(child, "redrive", NULL, NULL);
	ereport(NOTICE,
			(errmsg("execution \"%s\" is redriven; \"%s\", which succeeded without it, keeps its output",
					child->execution_id, parent->execution_id)));
	return child->redrive_count;
}

/* Redrive the tolerated failures of an execution that has succeeded, if any. */
static bool
redrive_tolerated(SfExecution *execution)
{
	char	   *from;
	int			n;

	if (execution->status != SF_STATUS_SUCCEEDED)
		return false;
	n = sf_redrive_tolerated(execution, 0, &from);
	if (n == 0)
		return false;
	sf_audit_note_execution(execution, "redrive", NULL, NULL);
	ereport(NOTICE,
			(errmsg(n == 1 ?
					"%d child execution of state %s is redriven" :
					"%d child executions of state %s are redriven", n, from),
			 errdetail("Execution \"%s\" keeps its status and its output.",
					   execution->execution_id)));
	return true;
}

/* What sf_audit has of a redrive; NULL: nothing was asked for. */
static Jsonb *
redrive_details(const char *from_state, int version)
{
	SfJsonBuilder b;

	if (from_state == NULL && version == 0)
		return NULL;
	sf_json_begin_object(&b);
	if (from_state != NULL)
		sf_json_add_string(&b, "from_state", from_state);
	if (version != 0)
		sf_json_add_int(&b, "version", version);
	return sf_json_finish(&b);
}

/* Have what did not succeed run in another version; with from_state nothing else is kept. */
static void
change_version(SfExecution *execution, int version, const char *from_state)
{
	if (execution->status == SF_STATUS_RUNNING || execution->status == SF_STATUS_SUCCEEDED)
		return;					/* the redrive says so */
	(void) sf_migrate_execution(execution, version, NULL, from_state != NULL);
}

/* sf_redrive(execution_id, from_state, input, version): the redrive count. */
Datum
sfflow_sf_redrive(PG_FUNCTION_ARGS)
{
	char	   *id = sf_arg_text(fcinfo, 0, "execution_id");
	char	   *from_state = sf_arg_text_or_null(fcinfo, 1);
	Jsonb	   *input = sf_arg_jsonb_or_null(fcinfo, 2);
	int			version = sf_arg_version(fcinfo, 3);
	bool		as_it_was = from_state == NULL && input == NULL && version == 0;
	SfPrivilege needed = as_it_was ? SF_PRIVILEGE_REDRIVE : SF_PRIVILEGE_OPERATE;
	SfExecution *execution = sf_arg_execution(id, SF_LOCK_NONE, needed);
	int			count;
	SfRedrivenFrom from;

	if (input != NULL)
		sf_arg_check_size(input, "input");
	if (execution->map_run_no != 0)
	{
		if (!as_it_was)
			refuse_child(execution, NULL);
		PG_RETURN_INT32(redrive_child(execution));
	}
	execution = sf_arg_execution(id, SF_LOCK_WAIT, needed);
	if (as_it_was && redrive_tolerated(execution))
		PG_RETURN_INT32(execution->redrive_count);
	sf_quota_require(execution->owner, execution->machine_no, execution->machine_name);
	if (version != 0)
		change_version(execution, version, from_state);
	count = sf_lifecycle_redrive(execution, from_state, input, &from);
	sf_audit_note_execution(execution, "redrive", NULL, redrive_details(from_state, version));
	sf_control_redrive_notice(execution, &from);
	PG_RETURN_INT32(count);
}
