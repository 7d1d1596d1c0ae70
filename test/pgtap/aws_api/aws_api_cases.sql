-- sf_aws_api as a table: requests in their order, with what the service answers. @ stands for the beginning of ARNs of
-- Step Functions, # for that of roles' ARNs, "<pass>" for the definition of one Pass state; "time" for a time, "token"
-- for a token of a page, "uuid" for a UUID.
BEGIN;
SELECT plan(156);
SET client_min_messages = error;
SET LOCAL sfflow.max_payload_bytes = 262144;

-- A text with those signs written out.
CREATE FUNCTION pg_temp.in_full(signs text) RETURNS text LANGUAGE sql AS $$
	SELECT replace(replace(replace(signs, '@', 'arn:aws:states:us-east-1:000000000000:'), '#',
			'arn:aws:iam::000000000000:role/'),
		'<pass>', '{\"StartAt\":\"P\",\"States\":{\"P\":{\"Type\":\"Pass\",\"End\":true}}}')
$$;

-- An answer as above, or the name of the error with its message.
CREATE FUNCTION pg_temp.outcome(action text, request text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
	name text;
BEGIN
	BEGIN
		answer := sf_aws_api(action, pg_temp.in_full(request)::jsonb)::text;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS name = CONSTRAINT_NAME;
		answer := concat_ws(': ', coalesce(nullif(name, ''), sqlstate), sqlerrm);
	END;
	answer := replace(answer, 'arn:aws:states:us-east-1:000000000000:', '@');
	answer := regexp_replace(answer, '\m\d{10}\.\d{3}\M', '"time"', 'g');
	answer := regexp_replace(answer, '"nextToken": "[^"]+"', '"nextToken": "token"', 'g');
	RETURN regexp_replace(answer, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'uuid', 'g');
END $$;

-- Compare an outcome with what is expected: JSON by meaning.
CREATE FUNCTION pg_temp.judge(action text, request text, expected text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	got text := pg_temp.outcome(action, request);
	about text := action || ' ' || left(request, 150);
BEGIN
	IF got LIKE '{%' AND expected LIKE '{%' THEN
		RETURN is(got::jsonb, replace(pg_temp.in_full(expected), 'arn:aws:states:us-east-1:000000000000:', '@')::jsonb,
			about);
	END IF;
	RETURN is(got, expected, about);
END $$;

-- --- state machines

SELECT pg_temp.judge(action, request, expected) FROM (VALUES
('CreateStateMachine', '{"name": "m", "roleArn": "#r", "definition": "<pass>"}',
	'{"stateMachineArn": "@stateMachine:m", "creationDate": "time"}'),
('CreateStateMachine', '{"name": "m", "roleArn": "#other", "definition": "<pass>", "tags": [{"key": "k",
	"value": "v"}]}',
	'{"stateMachineArn": "@stateMachine:m", "creationDate": "time"}'),
('CreateStateMachine', '{"name": "m", "roleArn": "#r",
	"definition": "{\"StartAt\": \"P\",\"States\":{\"P\":{\"Type\":\"Pass\",\"End\":true}}}"}',
	'StateMachineAlreadyExists: State Machine Already Exists: ''@stateMachine:m'''),
('CreateStateMachine', '{"name": "m", "roleArn": "#r", "definition": "<pass>",
	"tracingConfiguration": {"enabled": true}}',
	'StateMachineAlreadyExists: State Machine Already Exists: ''@stateMachine:m'''),
('CreateStateMachine', '{"name": "m", "roleArn": "#r", "definition": "<pass>", "publish": true}',
	'StateMachineAlreadyExists: State Machine Already Exists: ''@stateMachine:m'''),
('CreateStateMachine', '{"name": "m/x", "roleArn": "#r", "definition": "<pass>"}',
	'InvalidName: Invalid Name: ''m/x'''),
('CreateStateMachine', '{"name": "n", "roleArn": "r", "definition": "<pass>"}',
	'InvalidArn: Invalid Role Arn: ''r'''),
('CreateStateMachine', '{"name": "n", "roleArn": "arn:aws-cn:iam::000000000000:role/path/r", "definition": "not json"}',
	'InvalidDefinition: Invalid State Machine Definition: ''INVALID_JSON_DESCRIPTION: Unrecognized token ''not'': was '
	'expecting (JSON String, Number, Array, Object or token ''null'', ''true'' or ''false'')
 at [Source: (String)"not json"; line: 1, column: 4] at [Source: (String)"not json"; line: 1, column: 4]'''),
('CreateStateMachine', '{"name": "n", "roleArn": "#r", "definition": "{}", "loggingConfiguration": {"level": "LOUD"}}',
	'ValidationException: 1 validation error detected: Value ''LOUD'' at ''loggingConfiguration.level'' failed to '
	'satisfy constraint: Member must satisfy enum value set: [ALL, ERROR, FATAL, OFF]'),
('CreateStateMachine', '{"name": "n", "roleArn": "#r", "definition": "{}", "loggingConfiguration": {"level": "ALL",
	"destinations": []}}',
	'InvalidLoggingConfiguration: Invalid Logging Configuration: Must specify exactly one Log Destination.'),
('CreateStateMachine', '{"name": "n", "roleArn": "#r", "definition": "{}", "encryptionConfiguration": {}}',
	'ValidationException: 1 validation error detected: Value null at ''encryptionConfiguration.type'' failed to '
	'satisfy constraint: Member must not be null'),
('CreateStateMachine', '{"name": "n", "roleArn": "#r", "definition": "{}",
	"encryptionConfiguration": {"type": "CUSTOMER_MANAGED_KMS_KEY"}}',
	'InvalidEncryptionConfiguration: Invalid Encryption Configuration: ''kmsKeyId must be specified for '
	'CUSTOMER_MANAGED_KMS_KEY'''),
('CreateStateMachine', '{"name": "n", "roleArn": "#r", "definition": "{}", "versionDescription": "d"}',
	'ValidationException: Version description can only be set when publish is true'),
('DescribeStateMachine', '{"stateMachineArn": "@stateMachine:m"}',
	'{"stateMachineArn": "@stateMachine:m", "name": "m", "status": "ACTIVE", "type": "STANDARD", "creationDate": "time",
		"roleArn": "#r",
		"definition": "<pass>", "loggingConfiguration": {"level": "OFF", "includeExecutionData": false},
		"tracingConfiguration": {"enabled": false}, "encryptionConfiguration": {"type": "AWS_OWNED_KEY"}}'),
('DescribeStateMachine', '{"stateMachineArn": "@stateMachine:m:7"}',
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''@stateMachine:m:7'''),
('DescribeStateMachine', '{"stateMachineArn": "@stateMachine:m:99999999999"}',
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''@stateMachine:m:99999999999'''),
('DescribeStateMachine', '{"stateMachineArn": "@activity:m"}',
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: activity'''),
('DescribeStateMachine', '{"stateMachineArn": "@mapRun:m/l:uuid"}',
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: mapRun'''),
('DescribeStateMachine', '{"stateMachineArn": "@stateMachine:"}',
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: stateMachine'''),
('DescribeStateMachine', '{"stateMachineArn": "arn:aws:states"}',
	'InvalidArn: Invalid Arn: ''Invalid ARN: arn:aws:states'''),
('DescribeStateMachine', '{"stateMachineArn": "m"}', 'InvalidArn: Invalid Arn: ''Invalid ARN prefix: m'''),
('DescribeStateMachine', '{"stateMachineArn": "arn:aws-cn:states:cn-north-1:123456789012:stateMachine:none"}',
	'StateMachineDoesNotExist: State Machine Does Not '
	'Exist: ''arn:aws-cn:states:cn-north-1:123456789012:stateMachine:none'''),
('UpdateStateMachine', '{"stateMachineArn": "@stateMachine:m", "publish": true}',
	'MissingRequiredParameter: Either the definition, the role ARN, the LoggingConfiguration, or the '
	'TracingConfiguration must be specified'),
('UpdateStateMachine', '{"stateMachineArn": "@stateMachine:none", "roleArn": "#r"}',
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''@stateMachine:none'''),
('UpdateStateMachine', '{"stateMachineArn": "@stateMachine:m", "tracingConfiguration": {"enabled": true},
	"versionDescription": "d"}', 'ValidationException: Version description can only be set when publish is true'),
('UpdateStateMachine', '{"stateMachineArn": "@stateMachine:m", "tracingConfiguration": {"enabled": true}}',
	'{"updateDate": "time", "revisionId": "2"}'),
('UpdateStateMachine', '{"stateMachineArn": "@stateMachine:m", "tracingConfiguration": {"enabled": true}}',
	'{"updateDate": "time", "revisionId": "2"}'),
('PublishStateMachineVersion', '{"stateMachineArn": "@stateMachine:m", "revisionId": "INITIAL"}',
	'ConflictException: Failed to publish the State Machine version for revision INITIAL. The current State Machine '
	'revision is 2.'),
('PublishStateMachineVersion', '{"stateMachineArn": "@stateMachine:m", "revisionId": "2", "description": "two"}',
	'{"stateMachineVersionArn": "@stateMachine:m:1", "creationDate": "time"}'),
('PublishStateMachineVersion', '{"stateMachineArn": "@stateMachine:m:1"}',
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: version'''),
('PublishStateMachineVersion', '{"stateMachineArn": "@stateMachine:none"}',
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''@stateMachine:none'''),
('ListStateMachineVersions', '{"stateMachineArn": "@stateMachine:m", "maxResults": 0}',
	'{"stateMachineVersions": [{"stateMachineVersionArn": "@stateMachine:m:1", "creationDate": "time"}]}'),
('ListStateMachineVersions', '{"stateMachineArn": "@stateMachine:m", "nextToken": "AAAA"}',
	'InvalidToken: Invalid Token: ''Invalid token'''),
('DeleteStateMachineVersion', '{"stateMachineVersionArn": "@stateMachine:m"}',
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: stateMachine'''),
('DeleteStateMachineVersion', '{"stateMachineVersionArn": "@stateMachine:m:77"}', '{}'),
('DeleteStateMachineVersion', '{"stateMachineVersionArn": "@stateMachine:none:1"}', '{}'),
('ListStateMachines', '{"maxResults": 1001}',
	'ValidationException: 1 validation error detected: Value ''1001'' at ''maxResults'' failed to satisfy constraint: '
	'Member must have value less than or equal to 1000'),
('ListStateMachines', '{"maxResults": -1}',
	'ValidationException: 1 validation error detected: Value ''-1'' at ''maxResults'' failed to satisfy constraint: '
	'Member must have value greater than or equal to 0'),
('ListStateMachines', '{"nextToken": ""}',
	'ValidationException: 1 validation error detected: Value '''' at ''nextToken'' failed to satisfy constraint: '
	'Member must have length greater than or equal to 1'),
('ListStateMachines', '{"nextToken": "no base64!"}', 'InvalidToken: Invalid Token: ''Invalid token'''),
('ListStateMachines', '{"maxResults": 1}', '{"stateMachines": [{"name": "m", "type": "STANDARD", "creationDate": "time",
	"stateMachineArn": "@stateMachine:m"}]}'))
v(action, request, expected);

-- --- aliases

SELECT pg_temp.judge(action, request, expected) FROM (VALUES
('CreateStateMachineAlias', '{"name": "PROD", "routingConfiguration": [{"stateMachineVersionArn": "@stateMachine:m:1",
	"weight": 100}]}',
	'{"stateMachineAliasArn": "@stateMachine:m:PROD", "creationDate": "time"}'),
('CreateStateMachineAlias', '{"name": "PROD", "routingConfiguration": [{"stateMachineVersionArn": "@stateMachine:m:1",
	"weight": 100}]}',
	'{"stateMachineAliasArn": "@stateMachine:m:PROD", "creationDate": "time"}'),
('CreateStateMachineAlias', '{"name": "PROD", "description": "d",
	"routingConfiguration": [{"stateMachineVersionArn": "@stateMachine:m:1", "weight": 100}]}',
	'ConflictException: Failed to create alias because an alias with the same name and a different routing '
	'configuration already exists.'),
('CreateStateMachineAlias', '{"name": "", "routingConfiguration": []}',
	'ValidationException: 3 validation errors detected: Value '''' at ''name'' failed to satisfy constraint: Member '
	'must satisfy regular expression pattern: ^(?=.*[a-zA-Z_\-\.])[a-zA-Z0-9_\-\.]+$; Value '''' at ''name'' failed to '
	'satisfy constraint: Member must have length greater than or equal to 1; Value ''[]'' at ''routingConfiguration'' '
	'failed to satisfy constraint: Member must have length greater than or equal to 1'),
('CreateStateMachineAlias', '{"name": "A", "routingConfiguration": [{"stateMachineVersionArn": "@stateMachine:m:1",
	"weight": 101}]}',
	'ValidationException: 1 validation error detected: Value ''101'' at ''routingConfiguration.1.member.weight'' '
	'failed to satisfy constraint: Member must have value less than or equal to 100'),
('CreateStateMachineAlias', '{"name": "A", "routingConfiguration": [{"stateMachineVersionArn": "@stateMachine:m:1",
	"weight": 99}]}',
	'ValidationException: Sum of routing configuration weights must equal 100. Received: [99]'),
('CreateStateMachineAlias', '{"name": "A", "routingConfiguration": [{"stateMachineVersionArn": "@stateMachine:m:1"}]}',
	'ValidationException: 1 validation error detected: Value null at ''routingConfiguration.1.member.weight'' failed '
	'to satisfy constraint: Member must not be null'),
('CreateStateMachineAlias', '{"name": "A", "routingConfiguration": [{"stateMachineVersionArn": "a", "weight": 50},
	{"stateMachineVersionArn": "b", "weight": 25}, {"stateMachineVersionArn": "c", "weight": 25}]}',
	'ValidationException: 1 validation error detected: Value ''[RoutingConfigurationListItem(stateMachineVersionArn=a, '
	'weight=50), RoutingConfigurationListItem(stateMachineVersionArn=b, weight=25), '
	'RoutingConfigurationListItem(stateMachineVersionArn=c, weight=25)]'' at ''routingConfiguration'' failed to '
	'satisfy constraint: Member must have length less than or equal to 2'),
('CreateStateMachineAlias', '{"name": "A", "routingConfiguration": ["m"]}',
	'SerializationException: Unexpected field type'),
('CreateStateMachineAlias', '{"name": "A", "routingConfiguration": [{"stateMachineVersionArn": "@stateMachine:none:1",
	"weight": 100}]}',
	'ResourceNotFound: Request references a resource that does not exist.'),
('DescribeStateMachineAlias', '{"stateMachineAliasArn": "@stateMachine:m:PROD"}',
	'{"stateMachineAliasArn": "@stateMachine:m:PROD", "name": "PROD", "creationDate": "time", "updateDate": "time",
		"routingConfiguration": [{"stateMachineVersionArn": "@stateMachine:m:1", "weight": 100}]}'),
('DescribeStateMachineAlias', '{"stateMachineAliasArn": "@stateMachine:m:TEST"}',
	'ResourceNotFound: Request references a resource that does not exist.'),
('DescribeStateMachineAlias', '{"stateMachineAliasArn": "@stateMachine:none:TEST"}',
	'ResourceNotFound: Request references a resource that does not exist.'),
('DescribeStateMachineAlias', '{"stateMachineAliasArn": "@stateMachine:m:1"}',
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: version'''),
('ListStateMachineAliases', '{"stateMachineArn": "@stateMachine:m:1", "maxResults": 1}',
	'{"stateMachineAliases": [{"stateMachineAliasArn": "@stateMachine:m:PROD", "creationDate": "time"}]}'),
('DeleteStateMachine', '{"stateMachineArn": "@stateMachine:m:1"}',
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: version'''),
('DeleteStateMachine', '{"stateMachineArn": "@stateMachine:m:PROD"}',
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: alias'''),
('DeleteStateMachine', '{"stateMachineArn": "@stateMachine:none"}', '{}'),
('ListStateMachineAliases', '{"stateMachineArn": "@stateMachine:none"}',
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''@stateMachine:none'''),
('UpdateStateMachineAlias', '{"stateMachineAliasArn": "@stateMachine:m:TEST", "description": "d"}',
	'ResourceNotFound: Request references a resource that does not exist.'),
('UpdateStateMachineAlias', '{"stateMachineAliasArn": "@stateMachine:m:PROD", "description": "d"}',
	'{"updateDate": "time"}'),
('DeleteStateMachineVersion', '{"stateMachineVersionArn": "@stateMachine:m:1"}',
	'ConflictException: Version to be deleted must not be referenced by an alias. Current list of aliases referencing '
	'this version: [PROD]'),
('DeleteStateMachineAlias', '{"stateMachineAliasArn": "@stateMachine:m:TEST"}', '{}'))
v(action, request, expected);

-- --- executions

SELECT pg_temp.judge(action, request, expected) FROM (VALUES
('StartExecution', '{"stateMachineArn": "@stateMachine:m", "name": "a", "input": "{\"x\": 1}"}',
	'{"executionArn": "@execution:m:a", "startDate": "time"}'),
('StartExecution', '{"stateMachineArn": "@stateMachine:m", "name": "a", "input": "{\"x\":1}", "traceHeader": "Root=1"}',
	'{"executionArn": "@execution:m:a", "startDate": "time"}'),
('StartExecution', '{"stateMachineArn": "@stateMachine:m", "name": "a", "input": "{\"x\": 2}"}',
	'ExecutionAlreadyExists: Execution Already Exists: ''@execution:m:a'''),
('StartExecution', '{"stateMachineArn": "@stateMachine:m", "name": "a?"}', 'InvalidName: Invalid Name: ''a?'''),
('StartExecution', '{"stateMachineArn": "@stateMachine:m", "traceHeader": "é"}',
	'ValidationException: 1 validation error detected: Value ''é'' at ''traceHeader'' failed to satisfy constraint: '
	'Member must satisfy regular expression pattern: \p{ASCII}*'),
('StartExecution', '{"stateMachineArn": "@stateMachine:m:PROD", "name": "p"}', '{"executionArn": "@execution:m:p",
	"startDate": "time"}'),
('StartExecution', '{"stateMachineArn": "@stateMachine:m:1", "name": "v"}', '{"executionArn": "@execution:m:v",
	"startDate": "time"}'),
('StartExecution', '{"stateMachineArn": "@stateMachine:m:TEST"}',
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''@stateMachine:m:TEST'''),
('StartExecution', '{"stateMachineArn": "@execution:m:a"}',
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: execution'''),
('DescribeExecution', '{"executionArn": "@execution:m:p", "includedData": "METADATA_ONLY"}',
	'{"executionArn": "@execution:m:p", "stateMachineArn": "@stateMachine:m",
		"stateMachineVersionArn": "@stateMachine:m:1", "stateMachineAliasArn": "@stateMachine:m:PROD", "name": "p",
		"status": "RUNNING",
		"startDate": "time", "redriveCount": 0, "redriveStatus": "NOT_REDRIVABLE",
			"redriveStatusReason": "Execution is RUNNING and cannot be redriven"}'),
('DescribeExecution', '{"executionArn": "@execution:m:none"}',
	'ExecutionDoesNotExist: Execution Does Not Exist: ''@execution:m:none'''),
('DescribeExecution', '{"executionArn": "@execution:none:a"}',
	'ExecutionDoesNotExist: Execution Does Not Exist: ''@execution:none:a'''),
('DescribeExecution', '{"executionArn": "@express:m:a:b"}',
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: express'''),
('DescribeExecution', '{"executionArn": "@execution:m:a", "includedData": "ALL"}',
	'ValidationException: 1 validation error detected: Value ''ALL'' at ''includedData'' failed to satisfy constraint: '
	'Member must satisfy enum value set: [ALL_DATA, METADATA_ONLY]'),
('ListExecutions', '{"stateMachineArn": "@stateMachine:m:1"}',
	'{"executions": [{"executionArn": "@execution:m:v", "stateMachineArn": "@stateMachine:m",
		"stateMachineVersionArn": "@stateMachine:m:1", "name": "v", "status": "RUNNING", "startDate": "time",
		"redriveCount": 0},
		{"executionArn": "@execution:m:p", "stateMachineArn": "@stateMachine:m",
			"stateMachineVersionArn": "@stateMachine:m:1", "stateMachineAliasArn": "@stateMachine:m:PROD", "name": "p",
			"status": "RUNNING", "startDate": "time", "redriveCount": 0}]}'),
('ListExecutions', '{"stateMachineArn": "@stateMachine:m", "maxResults": 1}',
	'{"nextToken": "token", "executions": [{"executionArn": "@execution:m:v", "stateMachineArn": "@stateMachine:m",
		"stateMachineVersionArn": "@stateMachine:m:1", "name": "v", "status": "RUNNING", "startDate": "time",
		"redriveCount": 0}]}'),
('ListExecutions', '{"stateMachineArn": "@stateMachine:none"}',
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''@stateMachine:none'''),
('ListExecutions', '{"stateMachineArn": "@stateMachine:m", "mapRunArn": "@mapRun:m/l:u"}',
	'ValidationException: Must specify exactly one of stateMachineArn or mapRunArn'),
('ListExecutions', '{"mapRunArn": "@mapRun:m/l:u"}', 'ResourceNotFound: Resource not found: ''@mapRun:m/l:u'''),
('ListExecutions', '{"mapRunArn": "@execution:m:a"}',
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: execution'''),
('ListMapRuns', '{"executionArn": "@execution:m:a"}', '{"mapRuns": []}'),
('UpdateMapRun', '{"mapRunArn": "@mapRun:m/l:u", "maxConcurrency": 1}',
	'ResourceNotFound: Resource not found: ''@mapRun:m/l:u'''),
('GetExecutionHistory', '{"executionArn": "@execution:m:none"}',
	'ExecutionDoesNotExist: Execution Does Not Exist: ''@execution:m:none'''),
('StopExecution', '{"executionArn": "@execution:m:a", "error": "E", "cause": "C"}', '{"stopDate": "time"}'),
('StopExecution', '{"executionArn": "@execution:m:a", "error": "other"}', '{"stopDate": "time"}'),
('DescribeExecution', '{"executionArn": "@execution:m:a"}',
	'{"executionArn": "@execution:m:a", "stateMachineArn": "@stateMachine:m", "name": "a", "status": "ABORTED",
		"startDate": "time", "stopDate": "time", "input": "{\"x\":1}", "inputDetails": {"included": true},
		"error": "E", "cause": "C", "redriveCount": 0, "redriveStatus": "REDRIVABLE"}'),
('RedriveExecution', '{"executionArn": "@execution:m:p"}',
	'ExecutionNotRedrivable: Execution is RUNNING and cannot be redriven'),
('RedriveExecution', '{"executionArn": "@execution:m:a", "clientToken": "a b"}',
	'ValidationException: 1 validation error detected: Value ''a b'' at ''clientToken'' failed to satisfy constraint: '
	'Member must satisfy regular expression pattern: [!-~]+'),
('RedriveExecution', '{"executionArn": "@execution:m:a"}', '{"redriveDate": "time"}'),
('GetExecutionHistory', '{"executionArn": "@execution:m:a", "reverseOrder": true, "maxResults": 1}',
	'{"nextToken": "token", "events": [{"id": 3, "previousEventId": 2, "timestamp": "time", "type": "ExecutionRedriven",
		"executionRedrivenEventDetails": {"redriveCount": 1}}]}'),
('DescribeStateMachineForExecution', '{"executionArn": "@execution:m:none"}',
	'ExecutionDoesNotExist: Execution Does Not Exist: ''@execution:m:none'''),
('StartSyncExecution', '{"stateMachineArn": "@stateMachine:m"}',
	'StateMachineTypeNotSupported: This operation is not supported by this type of state machine'))
v(action, request, expected);

-- --- activities, tasks, tags

SELECT pg_temp.judge(action, request, expected) FROM (VALUES
('CreateActivity', '{"name": "act", "tags": [{"key": "a", "value": ""}]}', '{"activityArn": "@activity:act",
	"creationDate": "time"}'),
('CreateActivity', '{"name": "act"}', '{"activityArn": "@activity:act", "creationDate": "time"}'),
('CreateActivity', '{"name": "act", "encryptionConfiguration": {"type": "CUSTOMER_MANAGED_KMS_KEY", "kmsKeyId": "k"}}',
	'ActivityAlreadyExists: Activity Already Exists: ''@activity:act'''),
('DescribeActivity', '{"activityArn": "@activity:act"}', '{"activityArn": "@activity:act", "name": "act",
	"creationDate": "time", "encryptionConfiguration": {"type": "AWS_OWNED_KEY"}}'),
('DescribeActivity', '{"activityArn": "@activity:none"}',
	'ActivityDoesNotExist: Activity Does Not Exist: ''@activity:none'''),
('DescribeActivity', '{"activityArn": "@stateMachine:m"}',
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: stateMachine'''),
('ListActivities', '{"nextToken": "AAAA"}', 'InvalidToken: Invalid Token: ''Invalid token'''),
('GetActivityTask', '{"activityArn": "@activity:act", "workerName": ""}',
	'ValidationException: 1 validation error detected: Value '''' at ''workerName'' failed to satisfy constraint: '
	'Member must have length greater than or equal to 1'),
('GetActivityTask', '{"activityArn": "@activity:act", "workerName": "w"}', '{}'),
('SendTaskSuccess', '{"taskToken": "nonsense", "output": "{}"}', 'InvalidToken: Invalid Token: ''Invalid token'''),
('SendTaskSuccess', '{"taskToken": "nonsense", "output": "nonsense"}',
	'InvalidOutput: Invalid Output: ''Unrecognized token ''nonsense'': was expecting (JSON String, Number, Array, '
	'Object or token ''null'', ''true'' or ''false'')'''),
('SendTaskSuccess', '{"taskToken": ""}',
	'ValidationException: 2 validation errors detected: Value at ''taskToken'' failed to satisfy constraint: Member '
	'must have length greater than or equal to 1; Value at ''output'' failed to satisfy constraint: Member must not be '
	'null'),
('SendTaskFailure', '{"taskToken": "nonsense"}', 'InvalidToken: Invalid Token: ''Invalid token'''),
('SendTaskHeartbeat', '{"taskToken": "nonsense"}', 'InvalidToken: Invalid Token: ''Invalid token'''),
('TagResource', '{"resourceArn": "@stateMachine:m", "tags": [{"key": "b", "value": "1"}, {"key": "b", "value": "2"}]}',
	'{}'),
('ListTagsForResource', '{"resourceArn": "@stateMachine:m"}', '{"tags": [{"key": "b", "value": "2"}]}'),
('TagResource', '{"resourceArn": "@stateMachine:m", "tags": [{"key": "", "value": "1"}]}',
	'ValidationException: 1 validation error detected: Value '''' at ''tags.1.member.key'' failed to satisfy '
	'constraint: Member must have length greater than or equal to 1'),
('TagResource', '{"resourceArn": "@stateMachine:none", "tags": []}',
	'ResourceNotFound: Resource not found: ''@stateMachine:none'''),
('TagResource', '{"resourceArn": "@execution:m:a", "tags": []}',
	'InvalidArn: Invalid Arn: ''Resource type not valid in this context: execution'''),
('UntagResource', '{"resourceArn": "@stateMachine:m", "tagKeys": [""]}',
	'ValidationException: 1 validation error detected: Value ''[]'' at ''tagKeys'' failed to satisfy constraint: '
	'Member must satisfy constraint: [Member must have length less than or equal to 128, Member must have length '
	'greater than or equal to 1]'),
('UntagResource', '{"resourceArn": "@stateMachine:m", "tagKeys": [1]}',
	'SerializationException: NUMBER_VALUE can not be converted to a String'),
('UntagResource', '{"resourceArn": "@stateMachine:m", "tagKeys": ["b", "c"]}', '{}'),
('ListTagsForResource', '{"resourceArn": "@activity:act"}', '{"tags": [{"key": "a", "value": ""}]}'),
('DeleteActivity', '{"activityArn": "@activity:none"}', '{}'),
('DeleteActivity', '{"activityArn": "act"}', 'InvalidArn: Invalid Arn: ''Invalid ARN prefix: act'''))
v(action, request, expected);
SELECT pg_temp.judge('TagResource', jsonb_build_object('resourceArn', '@stateMachine:m', 'tags',
		(SELECT jsonb_agg(jsonb_build_object('key', 'k' || n, 'value', '')) FROM generate_series(1, tags) n))::text,
	expected)
FROM (VALUES (50, '{}'), (51, 'TooManyTags: A resource may have at most 50 tags.')) v(tags, expected);

-- --- what is only tried

SELECT pg_temp.judge(action, request, expected) FROM (VALUES
('ValidateStateMachineDefinition', '{"definition": "{}"}', '{"result": "FAIL", "truncated": false,
	"diagnostics": [{"severity": "ERROR", "code": "SCHEMA_VALIDATION_FAILED",
	"message": "These fields are required: [States, StartAt]", "location": "/"}]}'),
('ValidateStateMachineDefinition',
	'{"definition": "{\"StartAt\":\"A\",\"States\":{\"B\":{\"Type\":\"Pass\",\"End\":true},\"C\":{\"Type\":\"Pass\",'
	'\"End\":true}}}", "maxResults": 1}',
	'{"result": "FAIL", "truncated": true, "diagnostics": [{"severity": "ERROR", "code": "MISSING_TRANSITION_TARGET",
		"message": "Missing ''Next'' target: A", "location": "/StartAt"}]}'),
('ValidateStateMachineDefinition', '{"definition": "{}", "maxResults": 101}',
	'ValidationException: 1 validation error detected: Value ''101'' at ''maxResults'' failed to satisfy constraint: '
	'Member must have value less than or equal to 100'),
('TestState', '{"definition": "{\"Type\":\"Pass\",\"Next\":\"N\"}", "input": "{\"a\": [1]}"}', '{"status": "SUCCEEDED",
	"nextState": "N", "output": "{\"a\":[1]}"}'),
('TestState', '{"definition": "{\"Type\":\"Fail\",\"Error\":\"E\",\"Cause\":\"C\"}"}', '{"status": "FAILED",
	"error": "E", "cause": "C"}'),
('TestState', '{"definition": "{\"Type\":\"Pass\",\"End\":true}", "input": "{"}',
	'InvalidExecutionInput: Invalid State Machine Execution Input: ''Invalid JSON.'''),
('TestState', '{"definition": "{\"Type\":\"Pass\",\"End\":true}", "mock": {"fieldValidationMode": "SOMETIMES"}}',
	'ValidationException: 1 validation error detected: Value ''SOMETIMES'' at ''mock.fieldValidationMode'' failed to '
	'satisfy constraint: Member must satisfy enum value set: [STRICT, PRESENT, NONE]'),
('TestState', '{"definition": "{\"Type\":\"Pass\",\"End\":true}", "stateName": ""}',
	'ValidationException: 1 validation error detected: Value at ''stateName'' failed to satisfy constraint: Member '
	'must have length greater than or equal to 1'),
('TestState', '{"definition": "{\"Type\":\"Pass\",\"End\":true}", "roleArn": "r"}',
	'InvalidArn: Invalid Role Arn: ''r'''),
('TestState', '{"definition": "{\"Type\":\"Nap\"}"}',
	'InvalidDefinition: Invalid State Machine Definition: ''SCHEMA_VALIDATION_FAILED: Value should be one of the '
	'following: [Task, Pass, Choice, Wait, Succeed, Fail, Parallel, Map] at /States/StateName/Type'''))
v(action, request, expected);

-- --- hostile requests

SELECT pg_temp.judge(action, request, expected) FROM (VALUES
('', '{}', 'UnknownOperationException: The API has no operation .'),
('listStateMachines', '{}', 'UnknownOperationException: The API has no operation listStateMachines.'),
('ListStateMachines', '"text"', 'SerializationException: The request must be a JSON object'),
('ListStateMachines', 'null', 'SerializationException: The request must be a JSON object'),
('ListStateMachines', '{"maxResults": {"a": 1}}',
	'SerializationException: Start of structure or map found where not expected.'),
('ListStateMachines', '{"maxResults": [1]}', 'SerializationException: Start of list found where not expected'),
('ListStateMachines', '{"maxResults": true}', 'SerializationException: TRUE_VALUE can not be converted to an Integer'),
('ListStateMachines', '{"maxResults": 1.5}', 'SerializationException: NUMBER_VALUE can not be converted to an Integer'),
('ListStateMachines', '{"maxResults": null, "nextToken": null, "unknown": {"deep": [1, {"a": null}]},
	"MAXRESULTS": "x"}',
	'{"stateMachines": [{"name": "m", "type": "STANDARD", "creationDate": "time",
		"stateMachineArn": "@stateMachine:m"}]}'),
('ListStateMachines', '{"maxResults": 5000, "maxResults": 1}', '{"stateMachines": [{"name": "m", "type": "STANDARD",
	"creationDate": "time", "stateMachineArn": "@stateMachine:m"}]}'),
('StartExecution', '{}', 'ValidationException: 1 validation error detected: Value null at ''stateMachineArn'' failed '
	'to satisfy constraint: Member must not be null'),
('StartExecution', '{"stateMachineArn": "@stateMachine:m", "input": "\"\\u0000\""}',
	'InvalidExecutionInput: Invalid State Machine Execution Input: ''Invalid JSON.'''),
('StartExecution', '{"stateMachineArn": "@stateMachine:m", "input": "{\"a\":1,\"a\":2}", "name": "twice"}',
	'{"executionArn": "@execution:m:twice", "startDate": "time"}'),
('StartExecution', '{"stateMachineArn": "@stateMachine:m''; DROP TABLE x; --"}',
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''@stateMachine:m''; DROP TABLE x; --'''),
('StartExecution', '{"stateMachineArn": "@stateMachine:m:PROD:2"}',
	'StateMachineDoesNotExist: State Machine Does Not Exist: ''@stateMachine:m:PROD:2'''),
('StartExecution', '{"stateMachineArn": "@stateMachine:m/2"}',
	'ValidationException: The API does not support labeled ARNs: @stateMachine:m/2'),
('CreateActivity', '{"name": "a b"}', 'InvalidName: Invalid Name: ''a b'''))
v(action, request, expected);
SELECT pg_temp.judge('StartExecution', jsonb_build_object('stateMachineArn', '@stateMachine:m', 'name', 'deep' || depth,
		'input', repeat('[', depth) || repeat(']', depth))::text, expected)
FROM (VALUES (1000, '{"executionArn": "@execution:m:deep1000", "startDate": "time"}'),
	(100000, '54001: stack depth limit exceeded')) v(depth, expected);

-- An error does not grow with the request.
SELECT pg_temp.judge('TagResource', format('{"resourceArn": "@stateMachine:m", "tags": [{}%s]}', repeat(', {}', 99999)),
	'ValidationException: 10 validation errors detected: '
	|| (SELECT string_agg(format('Value null at ''tags.%s.member.%s'' failed to satisfy constraint: Member must not be '
				'null', n, member), '; ' ORDER BY n, member)
		FROM generate_series(1, 5) n, unnest('{key,value}'::text[]) member));
SELECT pg_temp.judge('DescribeActivity', jsonb_build_object('activityArn', repeat('é', 100000))::text,
	format('ValidationException: 1 validation error detected: Value ''%s...'' at ''activityArn'' failed to satisfy '
		'constraint: Member must have length less than or equal to 256', repeat('é', 4000)));
SELECT pg_temp.judge('UntagResource', jsonb_build_object('resourceArn', '@stateMachine:m', 'tagKeys',
		(SELECT jsonb_agg('aa'::text) FROM generate_series(1, 100000)) || '[""]'::jsonb)::text,
	format('ValidationException: 1 validation error detected: Value ''[%s...'' at ''tagKeys'' failed to satisfy '
		'constraint: Member must satisfy constraint: [Member must have length less than or equal to 128, Member must '
		'have length greater than or equal to 1]', left(repeat('aa, ', 1000), 3999)));
SELECT pg_temp.judge('CreateStateMachineAlias', '{"name": "A", "routingConfiguration": [{}, {}, {}]}',
	'ValidationException: 1 validation error detected: '
	'Value ''[RoutingConfigurationListItem(stateMachineVersionArn=null, weight=null), '
	'RoutingConfigurationListItem(stateMachineVersionArn=null, weight=null), '
	'RoutingConfigurationListItem(stateMachineVersionArn=null, weight=null)]'' at ''routingConfiguration'' failed to '
	'satisfy constraint: Member must have length less than or equal to 2');

SELECT * FROM finish();
ROLLBACK;
