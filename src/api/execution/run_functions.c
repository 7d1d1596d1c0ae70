/*
 * run_functions.c
 *		sf_step(), sf_run(), sf_run_due(): advancing executions from a session.
 *
 * In a session no worker can abort the transaction and try again, so every slice
 * runs in a subtransaction.  When a slice fails, its branches are run again one by
 * one; a branch that fails alone ends with States.Runtime and the error's text.
 *
 * Rolling a subtransaction back does not wake sessions that wait for the
 * transaction.  So a deadlock over locks of earlier tasks is resolved here only
 * if the procedure can end the transaction; else the other session fails.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "common/pg_prng.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "api/columns.h"
#include "api/execution/executions.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/time/timing.h"
#include "base/version/compat.h"
#include "base/version/schema.h"
#include "copy/instance.h"
#include "db/direct.h"
#include "run/gate/gate.h"
#include "run/slice/dispatch.h"
#include "run/slice/slice.h"
#include "run/task/deliverer.h"
#include "store/branch/due.h"
#include "store/feature.h"

/* Sweeps of a feature in a call, and as many commits, if each leaves more */
#define MAX_LOOKS		1000

/* Errors that end the caller's statement, whatever the execution says */
static bool
is_callers_error(int sqlerrcode)
{
	return sqlerrcode == ERRCODE_QUERY_CANCELED ||
		ERRCODE_TO_CATEGORY(sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION ||
		(sqlerrcode == ERRCODE_T_R_SERIALIZATION_FAILURE &&
		 IsolationUsesXactSnapshot()) ||
		sqlerrcode == ERRCODE_OUT_OF_MEMORY;
}

/* Errors after which the same may go well */
static bool
is_passing(int sqlerrcode)
{
	return sqlerrcode == ERRCODE_T_R_SERIALIZATION_FAILURE ||
		sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED;
}

/* A slice of a session, or the branch that it makes fail */
typedef struct SessionSlice
{
	const SfSliceRequest *request;
	SfSliceResult *result;
	const char *cause;			/* make the branch of the request fail; NULL: run */
} SessionSlice;

/* Run a slice inside the subtransaction. */
static bool
run_in_subtransaction(void *arg)
{
	SessionSlice *slice = arg;

	if (slice->cause != NULL)
		sf_slice_fail_branch(slice->request, slice->cause);
	else
		sf_slice_run(slice->request, slice->result);
	return true;
}

/* Run a slice, or fail a branch, in a subtransaction; NULL or its error. */
static ErrorData *
try_slice(const SfSliceRequest *request, SfSliceResult *result, const char *cause)
{
	SessionSlice slice = {request, result, cause};
	ErrorData  *error = sf_subtransaction_run(run_in_subtransaction, NULL, &slice);

	/* nor is a number that was drawn twice the branch's fault */
	if (error != NULL && (is_callers_error(error->sqlerrcode) || sf_table_has_collided()))
		ReThrowError(error);
	return error;
}

/* A slice was rolled back: have other transactions that wait for its locks go on. */
static void
release_locks(const SfSliceRequest *request)
{
	if (sf_slice_session(request)->releases_locks_on_rollback)
		SPI_commit();
}

/* Add the counts of a slice to those of the slices before it. */
static void
add_result(SfSliceResult *result, const SfSliceResult *more)
{
	int			transitions = result->transitions + more->transitions;

	if (more->end != SF_SLICE_END_IDLE)
		*result = *more;
	result->transitions = transitions;
}

/* A branch that a session runs by itself */
typedef struct LoneBranch
{
	SfSliceRequest request;
	SfSliceResult result;
	ErrorData  *error;			/* of the last try; NULL: it went well */
} LoneBranch;

/* Try a branch by itself; true: it met others, and may go well next time. */
static bool
try_alone(void *arg, bool last)
{
	LoneBranch *alone = arg;

	alone->request.last_try = last;
	memset(&alone->result, 0, sizeof(alone->result));
	alone->error = try_slice(&alone->request, &alone->result, NULL);
	if (alone->error == NULL)
		return false;
	release_locks(&alone->request);
	return is_passing(alone->error->sqlerrcode);
}

/* Run one branch by itself; when it raises an error of its own, make it fail. */
static void
run_alone(const SfSliceRequest *request, SfBranchKey key, SfSliceResult *result)
{
	LoneBranch	alone = {.request = *request};
	ErrorData  *error;

	alone.request.mode = SF_SLICE_MODE_SESSION_BRANCH;
	alone.request.take.branch = key;
	sf_tries_run(try_alone, &alone);
	if (alone.error == NULL)
	{
		add_result(result, &alone.result);
		return;
	}
	error = try_slice(&alone.request, &alone.result, alone.error->message);
	if (error != NULL)
		ReThrowError(error);
	result->end = SF_SLICE_END_WORKED;
	result->transitions++;
}

/* Run a slice; when it fails, what run/slice/slice.h says. */
static void
session_slice(const SfSliceRequest *request, SfSliceResult *result)
{
	SfBranchKey keys[64];
	ErrorData  *error;
	int			n;

	sf_table_forget_collision();
	error = try_slice(request, result, NULL);
	if (error == NULL)
		return;
	n = sf_claim_touched(keys, lengthof(keys));
	if (n == 0)
		ReThrowError(error);
	release_locks(request);
	memset(result, 0, sizeof(*result));
	for (int i = 0; i < n; i++)
		run_alone(request, keys[i], result);
}

/*
 * Find an execution that the caller may advance.  This works in a copy, too,
 * since the caller names the execution; a warning says that the original may
 * run it as well.
 */
static SfExecution *
advanceable(const char *id, const char *function)
{
	SfExecution *execution;

	sf_dispatch_refuse_in_task(function);
	execution = sf_arg_execution(id, SF_LOCK_NONE, SF_RIGHT_OWNER);
	sf_instance_refuse_upgrade(psprintf("%s()", function));
	if (!RecoveryInProgress() && !sf_instance_takes_work())
		sf_instance_tell(WARNING, sf_instance_status(),
						 psprintf("execution \"%s\" is advanced in a database that is not driven",
								  execution->execution_id));
	return execution;
}

/* Status of an execution now; NULL: it was deleted. */
static const char *
status_now(int64 execution_no)
{
	SfExecution *execution = sf_execution_read(execution_no, SF_LOCK_NONE, false);

	return execution == NULL ? NULL : sf_status_name(execution->status);
}

/* Have features find what an execution waits for; true: something has come. */
static bool
find_awaited(int64 execution_no)
{
	bool		found = false;

	SF_FEATURES(resource, feature)
		if (feature->resource->find_awaited != NULL)
			found |= feature->resource->find_awaited(execution_no);
	return found;
}

/* sf_step(execution_id): one transition, as a row; none when nothing is due. */
SF_SQL_FUNCTION(sfflow_sf_step)
{
	SfExecution *execution = advanceable(sf_arg_text(fcinfo, 0, "execution_id"), "sf_step");
	SfSliceRequest request = {0};
	SfSliceResult result = {0};

	InitMaterializedSRF(fcinfo, 0);
	request.mode = SF_SLICE_MODE_EXECUTION;
	request.length = SF_SLICE_LENGTH_ONE_BRANCH;
	request.session.execution_no = execution->execution_no;
	request.session.max_transitions = 1;
	session_slice(&request, &result);
	if (result.end == SF_SLICE_END_IDLE && find_awaited(execution->execution_no))
		session_slice(&request, &result);
	if (result.end != SF_SLICE_END_IDLE)
	{
		SfColumns row = {0};
		const SfLastTransition *last = sf_slice_last_transition(&result);

		sf_columns_text(&row, last->branch);
		sf_columns_text(&row, last->state);
		sf_columns_text(&row, last->transition);
		sf_columns_text(&row, last->next_state);
		sf_columns_text(&row, status_now(execution->execution_no));
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/* Steps that an execution may be advanced by: any number */
#define ANY_STEPS	PG_INT32_MAX

/* Advance an execution until nothing is due, by so many steps at most, or by ANY_STEPS; its status then. */
static const char *
run_execution(const SfExecution *execution, SfSliceRequest request, int max_steps)
{
	int64		no = execution->execution_no;
	int			left = max_steps;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "sf_run",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const char *status;

	request.mode = SF_SLICE_MODE_EXECUTION;
	request.slice_ms = SF_SESSION_SLICE_MS;
	request.session.execution_no = no;
	while (left > 0)
	{
		SfSliceResult result = {0};

		CHECK_FOR_INTERRUPTS();
		request.session.max_transitions = left == ANY_STEPS ? SF_UNLIMITED : left;
		session_slice(&request, &result);
		if (result.end == SF_SLICE_END_IDLE && !find_awaited(no))
			break;
		if (left != ANY_STEPS && result.end != SF_SLICE_END_IDLE)
			left = Max(left - Max(result.transitions, 1), 0);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old);
	status = status_now(no);
	if (status == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_DOES_NOT_EXIST),
				 errmsg("execution \"%s\" does not exist any more", execution->execution_id),
				 errdetail("It was deleted while sf_run() advanced it.")));
	return status;
}

/* sf_run(execution_id, skip_waits, max_steps): the status when nothing is due. */
SF_SQL_FUNCTION(sfflow_sf_run)
{
	SfExecution *execution = advanceable(sf_arg_text(fcinfo, 0, "execution_id"), "sf_run");
	int			max_steps = sf_arg_count(fcinfo, 2, "max_steps", 0, ANY_STEPS);
	SfSliceRequest request = {.session.skip_waits = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1)};

	PG_RETURN_TEXT_P(cstring_to_text(run_execution(execution, request, max_steps)));
}

/* Advance an execution until nothing is due, within the call that has started it. */
void
sf_start_run(const char *execution_id)
{
	SfSliceRequest request = {.session.synchronous = true};

	(void) run_execution(advanceable(execution_id, "sf_run"), request, ANY_STEPS);
}

/*
 * Raise an error if driving was switched off while a slice searched for due
 * work: the rows that it found may have been loaded by another program.
 */
static void
check_still_driven(void)
{
	SfInstanceStatus status = sf_instance_status();

	if (status != SF_INSTANCE_DRIVEN && status != SF_INSTANCE_DISABLED)
		ereport(ERROR,
				(errcode(ERRCODE_SF_NOT_DRIVEN),
				 errmsg("sf_run_due() stops: the database is not driven any more"),
				 errdetail("%s.", sf_instance_explain(status))));
}

/* Run due work of an owner, at most max_steps steps; return the number of steps. */
static int
run_due_of(Oid owner, int max_steps, bool nonatomic)
{
	SfSliceRequest request = {0};
	int			left = max_steps;

	request.mode = SF_SLICE_MODE_OWNER;
	request.slice_ms = SF_SESSION_SLICE_MS;
	request.session.only_owner = owner;
	request.session.releases_locks_on_rollback = nonatomic;
	while (left > 0)
	{
		SfSliceResult result = {0};

		CHECK_FOR_INTERRUPTS();
		request.session.max_transitions = left;
		session_slice(&request, &result);
		if (result.end == SF_SLICE_END_IDLE)
			break;
		check_still_driven();
		left -= Min(Max(result.transitions, 1), left);
		if (nonatomic)
			SPI_commit();
	}
	return max_steps - left;
}

/*
 * Run due work, at most max_steps steps, of which each owner has a share; return
 * the number of steps.  If there are fewer steps than owners, chance decides.
 */
static int
run_due(int max_steps, bool nonatomic)
{
	SfOwnerTurns all = {0};
	List	   *owners = sf_branch_owners(&all, INT_MAX);
	int			n = list_length(owners);
	int			first = n == 0 ? 0 :
		(int) (pg_prng_double(&pg_global_prng_state) * n);
	int			left = max_steps;

	for (int i = 0; i < n && left > 0; i++)
		left -= run_due_of(list_nth_oid(owners, (first + i) % n),
						   Max(left / (n - i), 1), nonatomic);
	list_free(owners);
	return max_steps - left;
}

/* Tell whether this database is driven; a warning says so when it is not. */
static bool
may_run_due(void)
{
	SfInstanceStatus status = sf_instance_status();

	if (status != SF_INSTANCE_DRIVEN && status != SF_INSTANCE_NEW)
		sf_instance_tell(WARNING, status, "sf_run_due() runs nothing: the database is not driven");
	return status == SF_INSTANCE_DRIVEN;
}

/*
 * Have the features sweep: those that lock counters, after the work, or all others.  What
 * another session sweeps remains.
 */
static void
sweep_all(bool locks_counters, bool nonatomic)
{
	SF_FEATURES(sweep, feature)
	{
		SfSweepResult left = {.more = feature->sweep->locks_counters == locks_counters};

		for (int i = 0; i < MAX_LOOKS && left.more; i++)
		{
			CHECK_FOR_INTERRUPTS();
			left = feature->sweep->run(GetCurrentTimestamp());
			if (nonatomic)
				SPI_commit();
			/* a transaction block would keep the counters locked until it ends */
			else if (locks_counters)
				break;
		}
	}
}

/* Make the deliveries of rules that are due; returns how many went well. */
static int64
deliver_due(bool nonatomic)
{
	const SfFeature *feature = SF_PROVIDER(deliverer);
	SfDeliveries batch = {.in_session = true};
	bool		more;

	if (feature == NULL)
		return 0;
	batch.context = AllocSetContextCreate(CurrentMemoryContext, "sfflow deliveries",
										  ALLOCSET_DEFAULT_SIZES);

	for (int again = 0; again <= 1; again++)
	{
		batch.again = again == 1;
		while (feature->deliverer->claim(&batch))
		{
			if (nonatomic)
				SPI_commit();
			do
			{
				more = feature->deliverer->run(&batch);
				if (nonatomic)
					SPI_commit();
			} while (more);
			MemoryContextReset(batch.context);
		}
	}
	return batch.delivered;
}

/* For tests, which make a function of it: the same in a transaction block, also where the database is not driven. */
SF_SQL_FUNCTION(sfflow_debug_deliver)
{
	PG_RETURN_INT64(deliver_due(false));
}

/*
 * sf_run_due(max_steps): advance whatever is due, committing slice by slice;
 * nothing where the background workers would advance nothing.
 */
SF_SQL_FUNCTION(sfflow_sf_run_due)
{
	bool		nonatomic = fcinfo->context && IsA(fcinfo->context, CallContext) &&
		!castNode(CallContext, fcinfo->context)->atomic;
	int			left = sf_arg_count(fcinfo, 0, "max_steps", 0, PG_INT32_MAX);
	int			taken = 1;

	sf_privilege_require_administrator("sf_run_due");
	sf_dispatch_refuse_in_task("sf_run_due");
	sf_instance_refuse_upgrade("sf_run_due()");
	if (!may_run_due())
		PG_RETURN_VOID();
	if (SPI_connect_ext(nonatomic ? SPI_OPT_NONATOMIC : 0) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	do
	{
		(void) sf_gate_tend();
		while (left > 0 && taken > 0)
		{
			sweep_all(false, nonatomic);
			taken = run_due(left, nonatomic);
			left -= taken;
		}
		/* a target may have started something */
		taken = deliver_due(nonatomic) > 0 ? 1 : 0;
	} while (left > 0 && taken > 0);
	if (nonatomic || SF_DEBUG_MUTATION("fold-in-block"))
		sweep_all(true, nonatomic);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	PG_RETURN_VOID();
}
