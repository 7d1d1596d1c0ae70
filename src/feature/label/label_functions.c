/*
 * label_functions.c
 *		sf_set_labels(), and functions of the executions that have labels.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "api/execution/labelled.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "feature/label/label.h"
#include "run/apply/apply.h"
#include "run/slice/dispatch.h"
#include "store/audit/audit.h"

/* Refuse a task that would change the labels of the execution that it is part of: the slice writes that row. */
static void
refuse_own(const SfExecution *execution)
{
	if (sf_dispatch_is_in_task_of(execution->execution_no))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("a task cannot set the labels of its own execution \"%s\"", execution->execution_id),
				 errhint("Give the labels in the option labels of the state machine.")));
}

/* Tell whether two sets of labels (NULL: none) are the same. */
static bool
same_labels(const Jsonb *a, const Jsonb *b)
{
	return a == NULL || b == NULL ? a == b : sf_json_is_equal(a, b);
}

/* sf_set_labels(execution_id, labels): a value sets a label, null removes it; the others stay. */
SF_SQL_FUNCTION(sfflow_sf_set_labels)
{
	char	   *id = sf_arg_text(fcinfo, 0, "execution_id");
	Jsonb	   *changes = sf_arg_jsonb(fcinfo, 1, "labels");
	SfExecution *execution = sf_arg_execution(id, SF_LOCK_NONE, SF_RIGHT_OPERATE);
	Jsonb	   *before;
	Jsonb	   *after;
	SfError		error;

	/* before the lock, which the worker of a long task waits for */
	refuse_own(execution);
	execution = sf_arg_execution(id, SF_LOCK_WAIT, SF_RIGHT_OPERATE);
	before = execution->labels;
	if (!sf_label_merge(before, changes, &after, &error))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("%s", error.cause)));
	if (same_labels(before, after))
		PG_RETURN_VOID();
	sf_apply_labels(execution, after);
	sf_label_replace_rows(execution, before);
	sf_audit_note_execution(execution, "set_labels", NULL, changes);
	PG_RETURN_VOID();
}

/* The labels that are asked for, the first argument, with the one that the fewest executions have. */
static SfLabelled
read_wanted(FunctionCallInfo fcinfo)
{
	Jsonb	   *labels;
	SfError		error;

	if (!sf_label_merge(NULL, sf_arg_jsonb(fcinfo, 0, "labels"), &labels, &error))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument labels: %s", error.cause)));
	if (labels == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument labels must have a label"),
				 errhint("Leave it out to have executions with any labels.")));
	return sf_label_wanted(labels);
}

/* A call without its first argument, in the memory of to. */
static FunctionCallInfo
without_labels(FunctionCallInfo fcinfo, FunctionCallInfo to)
{
	InitFunctionCallInfoData(*to, fcinfo->flinfo, fcinfo->nargs - 1, fcinfo->fncollation, fcinfo->context,
							 fcinfo->resultinfo);
	Assert(to->nargs <= SF_LABELLED_MAX_ARGS);
	memcpy(to->args, fcinfo->args + 1, sizeof(NullableDatum) * to->nargs);
	return to;
}

/* sf_list_executions(labels, ...): the newest executions that have all of the labels. */
SF_SQL_FUNCTION(sfflow_sf_list_labelled)
{
	LOCAL_FCINFO(call, SF_LABELLED_MAX_ARGS);
	SfLabelled	wanted = read_wanted(fcinfo);

	sf_labelled_list(without_labels(fcinfo, call), &wanted);
	return (Datum) 0;
}

/* sf_redrive_many(labels, ...): those that have all of the labels. */
SF_SQL_FUNCTION(sfflow_sf_redrive_labelled)
{
	LOCAL_FCINFO(call, SF_LABELLED_MAX_ARGS);

	sf_labelled_redrive(without_labels(fcinfo, call), read_wanted(fcinfo).labels);
	return (Datum) 0;
}

/* sf_stop_many(labels, ...): likewise. */
SF_SQL_FUNCTION(sfflow_sf_stop_labelled)
{
	LOCAL_FCINFO(call, SF_LABELLED_MAX_ARGS);

	sf_labelled_stop(without_labels(fcinfo, call), read_wanted(fcinfo).labels);
	return (Datum) 0;
}
