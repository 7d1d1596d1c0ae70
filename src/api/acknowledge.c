/*
 * acknowledge.c
 *		sf_acknowledge(), sf_acknowledge_all(): alerts that an operator knows of.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/timestamp.h"

#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/closest.h"
#include "base/errors.h"
#include "store/alert.h"

PG_FUNCTION_INFO_V1(sfflow_sf_acknowledge);
PG_FUNCTION_INFO_V1(sfflow_sf_acknowledge_all);

/* Kinds of alerts that name an execution */
static const char *const kinds[] = {
	"failed", "timed_out", "failed_again", "slow_task", "dead_letter", "overdue",
};

/* Raise an error for a kind that no alert of an execution has. */
static void
check_kind(const char *kind)
{
	SfClosest	closest = sf_closest_begin(kind);

	for (size_t i = 0; i < lengthof(kinds); i++)
	{
		if (strcmp(kinds[i], kind) == 0)
			return;
		sf_closest_offer(&closest, kinds[i]);
	}
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("argument kind must not be \"%s\"", kind),
			 sf_closest_errhint(&closest, "It is the kind of an alert that names an execution: failed, timed_out, failed_again, slow_task, dead_letter or overdue.")));
}

/* sf_acknowledge(execution_id, kind, comment): how many alerts there were. */
Datum
sfflow_sf_acknowledge(PG_FUNCTION_ARGS)
{
	SfExecution *execution = sf_arg_execution(sf_arg_text(fcinfo, 0, "execution_id"),
											  SF_LOCK_NONE, SF_PRIVILEGE_OPERATE);
	char	   *kind = sf_arg_text_or_null(fcinfo, 1);

	if (kind != NULL)
		check_kind(kind);
	PG_RETURN_INT32((int32) sf_alert_acknowledge(execution->execution_no, kind,
												   sf_arg_text_or_null(fcinfo, 2)));
}

/* sf_acknowledge_all(state_machine, until, comment): how many alerts there were. */
Datum
sfflow_sf_acknowledge_all(PG_FUNCTION_ARGS)
{
	SfMachine  *machine = sf_arg_machine(sf_arg_text(fcinfo, 0, "state_machine"),
										 SF_PRIVILEGE_OPERATE);
	TimestampTz until = PG_ARGISNULL(1) ? GetCurrentTimestamp() : PG_GETARG_TIMESTAMPTZ(1);

	PG_RETURN_INT64(sf_alert_acknowledge_all(machine->machine_no, until,
											   sf_arg_text_or_null(fcinfo, 2)));
}
