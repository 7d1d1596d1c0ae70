/*
 * operations.h
 *		Every operation of the API, as data: its name, the function that answers it,
 *		and the members of its requests; ! marks those that must be there, and what
 *		follows = is the line of members.h that describes a member, if not its name.
 */
#ifndef SF_AWS_API_OPERATIONS_H
#define SF_AWS_API_OPERATIONS_H

#include "aws_api/request/call.h"

#define SF_OPERATION_LIST(X) \
	X("CreateStateMachine", create_machine, \
	  "name! definition! roleArn! type loggingConfiguration tags tracingConfiguration" \
	  " publish versionDescription encryptionConfiguration") \
	X("DescribeStateMachine", describe_machine, "stateMachineArn! includedData") \
	X("ListStateMachines", list_machines, "maxResults nextToken") \
	X("UpdateStateMachine", update_machine, \
	  "stateMachineArn! definition roleArn loggingConfiguration tracingConfiguration" \
	  " publish versionDescription encryptionConfiguration") \
	X("DeleteStateMachine", delete_machine, "stateMachineArn!") \
	X("StartExecution", start, "stateMachineArn! name input traceHeader") \
	X("DescribeExecution", describe_execution, "executionArn! includedData") \
	X("ListExecutions", list_executions, \
	  "stateMachineArn mapRunArn statusFilter redriveFilter maxResults nextToken=listToken") \
	X("StopExecution", stop, "executionArn! error cause") \
	X("GetExecutionHistory", list_events, \
	  "executionArn! maxResults reverseOrder nextToken includeExecutionData") \
	X("SendTaskSuccess", send_success, "taskToken! output!") \
	X("SendTaskFailure", send_failure, "taskToken! error cause") \
	X("SendTaskHeartbeat", send_heartbeat, "taskToken!") \
	X("CreateActivity", create_activity, "name! tags encryptionConfiguration") \
	X("DescribeActivity", describe_activity, "activityArn!") \
	X("ListActivities", list_activities, "maxResults nextToken") \
	X("DeleteActivity", delete_activity, "activityArn!") \
	X("GetActivityTask", take_task, "activityArn! workerName") \
	X("ValidateStateMachineDefinition", validate, "definition! type severity maxResults=maxDiagnostics") \
	X("ListStateMachineVersions", list_versions, "stateMachineArn! nextToken maxResults") \
	X("ListTagsForResource", list_tags, "resourceArn!") \
	X("TagResource", tag, "resourceArn! tags!") \
	X("UntagResource", untag, "resourceArn! tagKeys!") \
	X("RedriveExecution", redrive, "executionArn! clientToken") \
	X("DescribeMapRun", describe_map_run, "mapRunArn!") \
	X("ListMapRuns", list_map_runs, "executionArn! maxResults nextToken") \
	X("UpdateMapRun", update_map_run, \
	  "mapRunArn! maxConcurrency toleratedFailurePercentage toleratedFailureCount") \
	X("TestState", test_state, \
	  "definition! roleArn input inspectionLevel revealSecrets variables stateName mock" \
	  " context stateConfiguration") \
	X("PublishStateMachineVersion", publish, "stateMachineArn! revisionId description") \
	X("DeleteStateMachineVersion", delete_version, "stateMachineVersionArn!") \
	X("CreateStateMachineAlias", create_alias, "description name=aliasName! routingConfiguration!") \
	X("DescribeStateMachineAlias", describe_alias, "stateMachineAliasArn!") \
	X("ListStateMachineAliases", list_aliases, "stateMachineArn! nextToken maxResults") \
	X("UpdateStateMachineAlias", update_alias, \
	  "stateMachineAliasArn! description routingConfiguration") \
	X("DeleteStateMachineAlias", delete_alias, "stateMachineAliasArn!") \
	X("DescribeStateMachineForExecution", describe_machine_of, "executionArn! includedData") \
	X("StartSyncExecution", start_sync, "stateMachineArn! name input traceHeader includedData")

#define SF_OPERATION_DECLARE(action, function, members) \
	extern void sf_operation_##function(SfCall *call);
SF_OPERATION_LIST(SF_OPERATION_DECLARE)

#endif							/* SF_AWS_API_OPERATIONS_H */
