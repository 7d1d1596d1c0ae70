/*
 * activities.c
 *		Activities, and the answers to their tasks and to task tokens.
 */
#include "postgres.h"

#include "api/execution/executions.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "aws_api/operations.h"
#include "aws_api/request/call.h"
#include "store/state_machine/aws_resource.h"

/* --- activities --- */

/* Find the activity in a request, on which the caller needs the right WORK. */
static SfActivity *
read_activity(SfCall *call)
{
	return sf_arg_activity(sf_request_id(call, "activityArn", SF_NAME_ACTIVITY), SF_RIGHT_WORK);
}

/* Add what every answer about an activity has. */
static void
answer_activity(SfCall *call, const SfActivity *activity)
{
	sf_answer_arn(call, "activityArn", SF_NAME_ACTIVITY, activity->name);
	sf_answer_time(call, "creationDate", sf_aws_resource_activity_created(activity->activity_no));
}

/* What stands for an encryptionConfiguration that was not given */
#define OWNED_KEY	"{\"type\": \"AWS_OWNED_KEY\"}"

/* Refuse an activity that is there with another encryption. */
static void
check_same(SfCall *call, Jsonb *encryption)
{
	const char *name = call->subject;
	Jsonb	   *there = sf_aws_resource_encryption(SF_OBJECT_ACTIVITY, name);

	if (there == NULL)
		there = sf_json_from_cstring(OWNED_KEY);
	if (encryption == NULL)
		encryption = sf_json_from_cstring(OWNED_KEY);
	if (!sf_json_is_equal(there, encryption))
		sf_refusal_raise(SF_REFUSAL_ACTIVITY_ALREADY_EXISTS, "%s", sf_public_name(SF_NAME_ACTIVITY, name));
}

/* CreateActivity: again it changes nothing, not even the tags. */
void
sf_operation_create_activity(SfCall *call)
{
	char	   *name = sf_request_text(call, "name");
	Jsonb	   *encryption = sf_request_document(call, "encryptionConfiguration");
	Jsonb	   *tags = sf_tags_read(call, NULL);
	bool		is_new;

	sf_configuration_check_encryption(encryption);
	call->subject = name;
	is_new = sf_activity_read(name) == NULL;
	(void) sf_arg_call(sfflow_sf_create_activity, SF_ARGS(SF_TEXT(name), SF_NULL(INTERVALOID), SF_NULL(INT4OID)));
	/* Only now: a caller without the rights must not learn that it is there. */
	if (!is_new)
		check_same(call, encryption);
	if (is_new && (tags != NULL || encryption != NULL))
		sf_aws_resource_write(SF_OBJECT_ACTIVITY, name, tags == NULL ? sf_json_empty_object() : tags, encryption);
	answer_activity(call, sf_activity_read(name));
}

/* DescribeActivity. */
void
sf_operation_describe_activity(SfCall *call)
{
	SfActivity *activity = read_activity(call);
	Jsonb	   *encryption = sf_aws_resource_encryption(SF_OBJECT_ACTIVITY, activity->name);

	answer_activity(call, activity);
	sf_json_add_string(&call->answer, "name", activity->name);
	sf_json_add(&call->answer, "encryptionConfiguration",
				encryption != NULL ? encryption : sf_json_from_cstring(OWNED_KEY));
}

/* ListActivities: in the order of their names. */
void
sf_operation_list_activities(SfCall *call)
{
	List	   *names = sf_address_page(call, SF_OBJECT_ACTIVITY, SF_RIGHT_WORK);

	sf_json_open_array(&call->answer, "activities");
	foreach_ptr(const char, name, names)
	{
		SfActivity *activity = sf_activity_read(name);

		if (activity == NULL)
			continue;			/* dropped meanwhile */
		sf_json_open_object(&call->answer, NULL);
		answer_activity(call, activity);
		sf_json_add_string(&call->answer, "name", activity->name);
		sf_json_close_object(&call->answer);
	}
	sf_json_close_array(&call->answer);
}

/* DeleteActivity: one that is not there is deleted already; one with open tasks is an error. */
void
sf_operation_delete_activity(SfCall *call)
{
	const char *name = sf_request_id(call, "activityArn", SF_NAME_ACTIVITY);
	SfActivity *activity = sf_activity_read(name);

	if (activity != NULL &&
		sf_privilege_check(SF_OBJECT_ACTIVITY, name, activity->owner, SF_RIGHT_ANY))
		(void) sf_arg_call(sfflow_sf_drop_activity, SF_ARGS(SF_TEXT(name)));
}

/* GetActivityTask: at once; {} when there is no task.  sfgateway waits for one. */
void
sf_operation_take_task(SfCall *call)
{
	SfActivity *activity = read_activity(call);
	List	   *tasks = sf_object_claim_tasks(activity, sf_request_text(call, "workerName"), 1);

	foreach_ptr(const SfTask, task, tasks)
	{
		sf_json_add_string(&call->answer, "taskToken", sf_task_token(task));
		sf_answer_payload(call, "input", task->input);
	}
}

/* --- answers --- */

/* SendTaskSuccess. */
void
sf_operation_send_success(SfCall *call)
{
	Jsonb	   *output = sf_request_payload(call, "output", SF_REFUSAL_INVALID_OUTPUT);
	char	   *token = sf_request_text(call, "taskToken");

	(void) sf_arg_call(sfflow_sf_send_task_success, SF_ARGS(SF_TEXT(token), SF_JSONB(output)));
}

/* SendTaskFailure. */
void
sf_operation_send_failure(SfCall *call)
{
	char	   *token = sf_request_text(call, "taskToken");
	char	   *error = sf_request_text(call, "error");
	char	   *cause = sf_request_text(call, "cause");

	(void) sf_arg_call(sfflow_sf_send_task_failure,
							SF_ARGS(SF_TEXT(token), SF_TEXT(error), SF_TEXT(cause)));
}

/* SendTaskHeartbeat. */
void
sf_operation_send_heartbeat(SfCall *call)
{
	char	   *token = sf_request_text(call, "taskToken");

	(void) sf_arg_call(sfflow_sf_send_task_heartbeat, SF_ARGS(SF_TEXT(token)));
}
