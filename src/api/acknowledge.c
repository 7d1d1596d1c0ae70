/*
 * acknowledge.c
 *		sf_acknowledge(), sf_acknowledge_all(): alerts that an operator knows of.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/timestamp.h"

#include "api/deadline_functions.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/closest.h"
#include "base/errors.h"
#include "rule/notice.h"
#include "rule/watcher.h"
#include "store/alert.h"
#include "store/deadline.h"

PG_FUNCTION_INFO_V1(sfflow_sf_acknowledge);
PG_FUNCTION_INFO_V1(sfflow_sf_acknowledge_all);

/* Kinds of alerts that name an execution, or the target of a deadline */
static const char *const kinds[] = {
	"failed", "timed_out", "failed_again", "slow_task", "dead_letter", "overdue",
	SF_LATE, SF_WILL_BE_LATE, SF_NEVER_STARTED,
};

/* Raise an error for a kind that no such alert has. */
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
			 sf_closest_errhint(&closest, "It is one of failed, timed_out, failed_again, slow_task, dead_letter, overdue, late, will_be_late, never_started.")));
}

/* Does a text name an execution, and no target of a deadline? */
static bool
names_execution(const char *text)
{
	if (strncmp(text, "arn:", 4) == 0)
		return strstr(text, ":stateMachine:") == NULL;
	return strchr(text, ':') != NULL &&
		(strncmp(text, "schedule:", 9) != 0 || sf_execution_find(text, SF_LOCK_NONE) != NULL);
}

/* Tell rules what was acknowledged: SfAcknowledged of executions, SfLateness; returns how many there are. */
static int64
tell(List *acknowledged, List *late, const char *comment)
{
	if (sf_watch_any_wants_alerts())
	{
		foreach_ptr(const SfAcknowledged, a, acknowledged)
			sf_notice_alert(sf_execution_read(a->execution_no, SF_LOCK_NONE, false), a->kind,
							SF_ALERT_ACKNOWLEDGED, a->since, comment);
		foreach_ptr(const SfLateness, l, late)
			sf_notice_late_alert(l, SF_ALERT_ACKNOWLEDGED, l->acknowledged_at);
	}
	return list_length(acknowledged) + list_length(late);
}

/* sf_acknowledge(execution_id, kind, comment): how many alerts there were. */
Datum
sfflow_sf_acknowledge(PG_FUNCTION_ARGS)
{
	const char *target = sf_arg_text(fcinfo, 0, "execution_id");
	char	   *kind = sf_arg_text_or_null(fcinfo, 1);
	char	   *comment = sf_arg_text_or_null(fcinfo, 2);
	SfExecution *execution = NULL;
	List	   *acknowledged = NIL;
	List	   *late;

	if (names_execution(target))
		execution = sf_arg_execution(target, SF_LOCK_NONE, SF_PRIVILEGE_OPERATE);
	else
		target = sf_deadlines_require(target);
	if (kind != NULL)
		check_kind(kind);
	if (execution != NULL)
		acknowledged = sf_alert_acknowledge(execution->execution_no, kind, comment);
	late = sf_lateness_acknowledge(execution == NULL ? target : NULL,
								   execution == NULL ? 0 : execution->execution_no, 0,
								   kind, DT_NOEND, comment);
	PG_RETURN_INT32((int32) tell(acknowledged, late, comment));
}

/* sf_acknowledge_all(state_machine, until, comment): how many alerts there were. */
Datum
sfflow_sf_acknowledge_all(PG_FUNCTION_ARGS)
{
	SfMachine  *machine = sf_arg_machine(sf_arg_text(fcinfo, 0, "state_machine"),
										 SF_PRIVILEGE_OPERATE);
	TimestampTz until = PG_ARGISNULL(1) ? GetCurrentTimestamp() : PG_GETARG_TIMESTAMPTZ(1);
	char	   *comment = sf_arg_text_or_null(fcinfo, 2);
	List	   *acknowledged;
	List	   *late;

	acknowledged = sf_alert_acknowledge_all(machine->machine_no, until, comment);
	late = sf_lateness_acknowledge(NULL, 0, machine->machine_no, NULL, until, comment);
	PG_RETURN_INT64(tell(acknowledged, late, comment));
}
