/*
 * control_functions.c
 *		sf_stop(), sf_redrive(), and the redrive of the AWS API.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "api/execution/executions.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "quota/quota.h"
#include "run/execution/lifecycle.h"
#include "run/execution/redrive_items.h"
#include "run/slice/dispatch.h"
#include "store/audit/audit.h"

/* What a redrive is asked for */
typedef struct Asked
{
	const char *from_state;		/* or NULL */
	Jsonb	   *input;			/* or NULL */
	int			version;		/* SF_NO_VERSION: the one that it has */
	const char *client_token;	/* of the AWS API; or NULL */
} Asked;

/* {"key": value}, or NULL without a value: the details of an action. */
static Jsonb *
one_detail(const char *key, const char *value)
{
	SfJsonBuilder json;

	if (value == NULL)
		return NULL;
	sf_json_begin_object(&json);
	sf_json_add_string(&json, key, value);
	return sf_json_end(&json);
}

/* sf_stop(execution_id, error, cause): the status after. */
SF_SQL_FUNCTION(sfflow_sf_stop)
{
	SfExecution *execution = sf_arg_execution(sf_arg_text(fcinfo, 0, "execution_id"),
											  SF_LOCK_WAIT, SF_RIGHT_OPERATE);

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

/* Raise the error for an item execution that can only go on with its parent. */
static void
refuse_item(const SfExecution *execution, const SfExecution *parent)
{
	bool		parent_ended = parent != NULL && parent->status != SF_STATUS_RUNNING &&
		parent->status != SF_STATUS_SUCCEEDED;

	ereport(ERROR,
			(errcode(ERRCODE_SF_EXECUTION_NOT_REDRIVABLE),
			 errmsg("execution \"%s\" is a child of a Distributed Map and cannot be redriven by itself",
					execution->execution_id),
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

/* What sf_audit has of a redrive; NULL: nothing was asked for. */
static Jsonb *
redrive_details(const SfExecution *redriven, const Asked *asked)
{
	SfJsonBuilder json;

	if (asked->from_state == NULL && asked->version == SF_NO_VERSION && asked->client_token == NULL)
		return NULL;
	sf_json_begin_object(&json);
	sf_json_add_string(&json, "from_state", asked->from_state);
	if (asked->version != SF_NO_VERSION)
		sf_json_add_int(&json, "version", asked->version);
	sf_json_add_string(&json, "client_token", asked->client_token);
	if (asked->client_token != NULL && redriven->last_redriven_at != DT_NOBEGIN)
		sf_json_add_string(&json, "redriven_at", sf_timestamp_print(redriven->last_redriven_at));
	return sf_json_end(&json);
}

/* Note a redrive in sf_audit. */
static void
note_redrive(const SfExecution *redriven, const Asked *asked)
{
	sf_audit_note_execution(redriven, "redrive", NULL, redrive_details(redriven, asked));
}

/* A redrive of item executions whose failures a run has tolerated, which is counted as a start */
typedef struct ToleratedRedrive
{
	SfExecution *parent;		/* has succeeded */
	int64		item_execution_no;	/* 0: all of them */
	char	   *from;			/* set: the name of their state */
	int			n;				/* set: how many go on */
} ToleratedRedrive;

/* Have them go on. */
static void
go_on_tolerated(void *arg)
{
	ToleratedRedrive *r = arg;

	r->n = sf_redrive_tolerated(r->parent, r->item_execution_no, &r->from);
}

/* Redrive them within the quotas of their owner; none is no start. */
static void
redrive_tolerated_counted(ToleratedRedrive *r)
{
	const SfExecution *parent = r->parent;

	if (sf_map_run_tolerant(parent->execution_no) == NIL)
		return;
	sf_quota_require(parent->owner, parent->machine_no, parent->machine_name);
	sf_quota_begin(parent->owner, 1, go_on_tolerated, r);
	if (r->n == 0)
		sf_quota_give_back(parent->owner);
}

/* Redrive one item execution whose failure was tolerated. */
static int
redrive_item(const SfExecution *execution, const Asked *asked)
{
	/*
	 * The parent first: locks are taken in the order of numbers.  It is written
	 * back, so it is read with its documents.
	 */
	SfExecution *parent = sf_execution_read(execution->parent_execution_no,
											SF_LOCK_WAIT, true);
	ToleratedRedrive r = {.parent = parent,.item_execution_no = execution->execution_no};

	sf_lifecycle_check_redrivable(execution);
	if (parent != NULL && parent->status == SF_STATUS_SUCCEEDED)
		redrive_tolerated_counted(&r);
	if (r.n == 0)
		refuse_item(execution, parent);
	execution = sf_execution_read(execution->execution_no, SF_LOCK_NONE, false);
	note_redrive(execution, asked);
	ereport(NOTICE,
			(errmsg("execution \"%s\" is redriven; \"%s\", which succeeded without it, keeps its output",
					execution->execution_id, parent->execution_id)));
	return execution->redrive_count;
}

/* Redrive the tolerated failures of an execution that has succeeded, if any. */
static bool
redrive_tolerated(SfExecution *execution, const Asked *asked)
{
	ToleratedRedrive r = {.parent = execution};

	if (execution->status != SF_STATUS_SUCCEEDED)
		return false;
	redrive_tolerated_counted(&r);
	if (r.n == 0)
		return false;
	note_redrive(execution, asked);
	ereport(NOTICE,
			(errmsg(r.n == 1 ?
					"%d child execution of state %s is redriven" :
					"%d child executions of state %s are redriven", r.n, r.from),
			 errdetail("Execution \"%s\" keeps its status and its output.",
					   execution->execution_id)));
	return true;
}

/* A redrive that is counted as a start */
typedef struct Redrive
{
	SfExecution *execution;
	const Asked *asked;
	SfRedrivenFrom *from;		/* set */
} Redrive;

/* Go on, in the version that is asked for: what did not succeed runs in it; with from_state nothing else is kept. */
static void
go_on(void *arg)
{
	const Redrive *r = arg;
	const Asked *asked = r->asked;

	if (asked->version != SF_NO_VERSION)
		(void) sf_migrate_execution(r->execution, asked->version, NULL, asked->from_state != NULL);
	(void) sf_lifecycle_redrive(r->execution, asked->from_state, asked->input, r->from);
}

/* Redrive an execution, whose row is locked and which can go on, within the quotas of its owner. */
static void
redrive_counted(SfExecution *execution, const Asked *asked, SfRedrivenFrom *from)
{
	sf_quota_require(execution->owner, execution->machine_no, execution->machine_name);
	sf_quota_begin(execution->owner, 1, go_on, &(Redrive) {execution, asked, from});
}

/* Redrive an ended execution as it was, for a start that finds it. */
void
sf_control_resume(SfExecution *execution, SfRedrivenFrom *from)
{
	redrive_counted(execution, &(Asked) {.version = SF_NO_VERSION}, from);
}

/* Redrive an execution by its id; returns the redrive count. */
static int
redrive(const char *id, const Asked *asked)
{
	bool		as_it_was = asked->from_state == NULL && asked->input == NULL && asked->version == SF_NO_VERSION;
	SfRight needed = as_it_was ? SF_RIGHT_REDRIVE : SF_RIGHT_OPERATE;
	SfExecution *execution = sf_arg_execution(id, SF_LOCK_NONE, needed);
	SfRedrivenFrom from;

	if (asked->input != NULL)
		sf_arg_check_size(asked->input, "input");
	if (sf_execution_is_of_item(execution))
	{
		if (!as_it_was)
			refuse_item(execution, NULL);
		return redrive_item(execution, asked);
	}
	execution = sf_arg_execution(id, SF_LOCK_WAIT, needed);
	if (as_it_was && redrive_tolerated(execution, asked))
		return execution->redrive_count;
	sf_lifecycle_check_redrivable(execution);
	redrive_counted(execution, asked, &from);
	note_redrive(execution, asked);
	sf_control_redrive_notice(execution, &from);
	return execution->redrive_count;
}

/* sf_redrive(execution_id, from_state, input, version): the redrive count. */
SF_SQL_FUNCTION(sfflow_sf_redrive)
{
	char	   *id = sf_arg_text(fcinfo, 0, "execution_id");
	Asked		asked = {
		.from_state = sf_arg_text_or_null(fcinfo, 1),
		.input = sf_arg_jsonb_or_null(fcinfo, 2),
		.version = sf_arg_version(fcinfo, 3)
	};

	PG_RETURN_INT32(redrive(id, &asked));
}

/*
 * Keep other sessions from redriving an execution.  An item execution is
 * redriven with a lock on its parent, which comes first in the order of locks.
 */
static SfExecution *
lock_redrives(const char *id)
{
	SfExecution *execution = sf_arg_execution(id, SF_LOCK_NONE, SF_RIGHT_REDRIVE);

	if (!sf_execution_is_of_item(execution))
		return sf_arg_execution(id, SF_LOCK_WAIT, SF_RIGHT_REDRIVE);
	(void) sf_execution_read(execution->parent_execution_no, SF_LOCK_WAIT, false);
	return execution;
}

/*
 * Redrive an execution as it was, unless a call with this client token (or NULL) has
 * done so; returns when it was redriven.
 */
TimestampTz
sf_control_redrive_once(const char *id, const char *client_token)
{
	Asked		asked = {.client_token = client_token};
	TimestampTz redriven_at;

	if (client_token != NULL &&
		sf_audit_find_redrive(lock_redrives(id)->execution_no, client_token, &redriven_at))
		return redriven_at;
	(void) redrive(id, &asked);
	return sf_execution_find(id, SF_LOCK_NONE)->last_redriven_at;
}
