/*
 * alert_functions.c
 *		sf_acknowledge(), sf_acknowledge_all(): alerts that an operator knows of.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "store/alert/alert.h"
#include "store/feature.h"
#include "store/role/privilege.h"

/* Append words, up to NULL, to an array of n. */
static void
append_words(const char ***words, int *n, const char *const *more)
{
	for (; *more != NULL; more++)
	{
		*words = repalloc(*words, sizeof(char *) * (*n + 1));
		(*words)[(*n)++] = *more;
	}
}

/* Raise an error for a kind that no alert has which may be acknowledged. */
static void
check_kind(const char *kind)
{
	static const char *const of_executions[] = {SF_EXECUTION_ALERT_LIST(SF_EXECUTION_ALERT_WORD) NULL};
	const char **words = palloc(sizeof(char *));
	int			n = 0;

	append_words(&words, &n, of_executions);
	SF_FEATURES(alerts, feature)
		append_words(&words, &n, feature->alerts->kinds);
	(void) sf_argument_word("kind", kind, words, n);
}

/* Does a text name an execution, and no target of a feature? */
static bool
names_execution(const char *text)
{
	if (strncmp(text, "arn:", 4) == 0)
		return strstr(text, ":stateMachine:") == NULL;
	return strchr(text, ':') != NULL &&
		((strncmp(text, "schedule:", 9) != 0 && strncmp(text, "event:", 6) != 0) || sf_execution_find(text, SF_LOCK_NONE) != NULL);
}

/*
 * Find a target of which features raise alerts, and whose alerts the caller may acknowledge; NULL: no feature has
 * it.
 */
static const char *
find_target(const char *text)
{
	const char *target = NULL;

	SF_FEATURES(alerts, feature)
		if (target == NULL)
			target = feature->alerts->find_target(text);
	return target;
}

/*
 * Tell features which alerts of executions were acknowledged, and have them acknowledge theirs; returns how many
 * there were.
 */
static int64
acknowledge_in_features(List *acknowledged, const SfAcknowledge *what)
{
	int64		n = list_length(acknowledged);

	if (acknowledged != NIL && sf_feature_wants_notice(SF_CHANGE_ALERT, NULL))
		foreach_ptr(const SfAcknowledged, a, acknowledged)
			sf_notice_alert(sf_execution_read(a->execution_no, SF_LOCK_NONE, false), a->kind,
							SF_ALERT_ACKNOWLEDGED, a->since, what->comment);
	SF_FEATURES(alerts, feature)
		n += feature->alerts->acknowledge(what);
	return n;
}

/* sf_acknowledge(execution_id, kind, comment): how many alerts there were. */
SF_SQL_FUNCTION(sfflow_sf_acknowledge)
{
	const char *text = sf_arg_text(fcinfo, 0, "execution_id");
	SfAcknowledge what = {
		.kind = sf_arg_text_or_null(fcinfo, 1),
		.until = DT_NOEND,
		.comment = sf_arg_text_or_null(fcinfo, 2)
	};
	const char *target = names_execution(text) ? NULL : find_target(text);
	SfExecution *execution;
	List	   *acknowledged = NIL;

	if (target != NULL)
	{
		what.of = SF_ALERTS_OF_TARGET;
		what.target = target;
	}
	else
	{
		execution = sf_arg_execution(text, SF_LOCK_NONE, SF_RIGHT_OPERATE);
		sf_object_keep_execution(execution);
		what.of = SF_ALERTS_OF_EXECUTION;
		what.execution_no = execution->execution_no;
	}
	if (what.kind != NULL)
		check_kind(what.kind);
	if (what.of == SF_ALERTS_OF_EXECUTION)
		acknowledged = sf_alert_acknowledge(what.execution_no, what.kind, what.comment);
	PG_RETURN_INT32((int32) acknowledge_in_features(acknowledged, &what));
}

/* sf_acknowledge_all(state_machine, until, comment): how many alerts there were. */
SF_SQL_FUNCTION(sfflow_sf_acknowledge_all)
{
	SfMachine  *machine = sf_arg_machine(sf_arg_text(fcinfo, 0, "state_machine"),
										 SF_RIGHT_OPERATE);
	SfAcknowledge what = {
		.of = SF_ALERTS_OF_MACHINE,
		.machine_no = machine->machine_no,
		.until = PG_ARGISNULL(1) ? GetCurrentTimestamp() : PG_GETARG_TIMESTAMPTZ(1),
		.comment = sf_arg_text_or_null(fcinfo, 2)
	};

	List	   *kept = NIL;

	foreach_ptr(const int64, execution_no, sf_alert_list_executions(machine->machine_no, what.until))
		if (sf_object_keep_number(*execution_no))
			kept = lappend(kept, (void *) execution_no);
	PG_RETURN_INT64(acknowledge_in_features(sf_alert_acknowledge_all(kept, what.until, what.comment), &what));
}
