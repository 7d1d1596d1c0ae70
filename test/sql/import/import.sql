-- sf_import, sf_missing_resources: definitions as they come from Step Functions, SAM and CDK.
\set VERBOSITY default
SET client_min_messages = error;
-- What was stored, and its version.
CREATE VIEW stored AS SELECT state_machine, version, definition FROM sf_state_machines WHERE is_current
	AND state_machine LIKE 'import%' ORDER BY 1;

-- A value is text in a string; where it is all there is, quoted or not, it stands there as it is.
SELECT sf_import('{
  "StartAt": "${First}", "TimeoutSeconds": ${Limit},
  "States": {
    "${First}": {"Type": "Task", "Resource": "${LoadArn}", "Retry": "${Retry}", "Next": "Say",
      "Parameters": {"table": "${Stage}_orders", "size": "${Limit}", "whole${Limit}": "a${Limit}b${Flag}",
      	"quote": "say \"${Text}\" \\", "n": [${Limit},"${Stage}"]}},
    "Say": {"Type": "Pass", "Parameters": {"kept.$": "States.Format(''${}{}'', $.a)",
    	"shell": "echo ${HOME} $HOME ${a b} $${Stage}"}, "End": true}
  }}', '{"First": "Load", "Limit": 60, "LoadArn": "sql:shop.load", "Retry": [{"ErrorEquals": ["States.ALL"]}],
  	"Stage": "test", "Flag": true,
    "Text": "\"x\\y\"\n${Stage}", "HOME": "${HOME}"}', 'import-a');
TABLE stored;

-- The same again is the same version; another value makes another one.
SELECT sf_import('{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": ${S}, "End": true}}}', '{"S": 1}',
	'import-b');
SELECT sf_import('{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": ${S}, "End": true}}}', '{"S": 1}',
	'import-b');
SELECT sf_import('{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": ${S}, "End": true}}}', '{"S": 2}',
	'import-b');

-- The answer of DescribeStateMachine has the name, and the definition as a string.
SELECT sf_import('{"stateMachineArn": "arn:aws:states:eu-west-1:1:stateMachine:import-c", "name": "import-c",
	"status": "ACTIVE",
  "definition": "{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Pass\", \"Result\": \"${R}\", \"End\": '
  	'true}}}"}', '{"R": "it''s"}');
SELECT sf_import('{"name": "x", "definition": "{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Succeed\"}}}"}',
	name => 'import-d');
SELECT state_machine, version, definition FROM stored WHERE state_machine > 'import-b';

-- An escape is the character that it stands for; behind a backslash that is itself escaped there is none.
SELECT sf_import($${"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": {"\u0024{K}": "\u0024\u007bV\u007D",
	 "part": "a\u0024{\u0056}", "kept": "\\u0024{V} \u00e4 \u0022 \u0024"}, "End": true}}}$$,
	'{"K": "key", "V": [1]}', 'import-g');
SELECT sf_import($${"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": {"\u0024{K}": "\u0024\u007bV\u007D",
	 "part": "a\u0024{\u0056}", "kept": "\\u0024{V} \u00e4 \u0022 \u0024"}, "End": true}}}$$,
	'{"K": "key", "V": 1}', 'import-g');
SELECT
	sf_import($${"name": "import-h",
	 "definition": "{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Pass\", \"Result\": \"\\u0024{V}\", \"End\": true}}}"}$$, '{"V": 2}');
SELECT state_machine, definition FROM stored WHERE state_machine > 'import-f';
SELECT sf_import($${"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": "\u0024{V}", "End": true}}}$$,
	name => 'import-e');

-- Each placeholder without a substitution is named, with its place.
SELECT sf_import('{"StartAt": "A", "States": {"A": {"Type": "Parallel", "MaxConcurrency": ${N},
	"Branches": [{"StartAt": "B",
  "States": {"B": {"Type": "Task", "Resource": "${LoadArn}", "Parameters": {"${Key}": "x${Known}${Other}"},
  	"End": true}}}]}}}', '{"Known": 1}', 'import-e');

-- Of thousands the first ones are.
CREATE FUNCTION pg_temp.refusal(definition text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_import(definition, name => 'import-e');
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	RETURN sqlerrm;
END $$;
SELECT length(message) BETWEEN 4000 AND 4200 AS bounded, left(message, 100) AS begins, message ~ ' at \[\d+\]$' AS ends
FROM pg_temp.refusal((SELECT json_agg('${P' || i || '}')::text FROM generate_series(1, 5000) AS i)) AS message;

-- What else is refused.
SELECT sf_import('{"StartAt": "A", "States": {"A": {"Type": "Pass", "Comment": "a ${L}", "End": true}}}',
	'{"L": [1]}', 'import-e');
SELECT sf_import('{"StartAt": "A", "States": {"A": {"Type": "Pass", "Comment": "a ${L}", "End": true}}}',
	'{"L": null}', 'import-e');
SELECT sf_import('{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}');
SELECT sf_import('{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}', '[]', 'import-e');
SELECT sf_import('{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}', NULL, 'import-e');
SELECT sf_import(NULL, name => 'import-e');
SELECT sf_import(E'StartAt: A\nStates:\n', name => 'import-e');
SELECT sf_import('{"definition": "no JSON", "name": "import-e"}');
SELECT sf_import('{"a": "${', name => 'import-e');
SELECT sf_import('{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "${To}"}}}', '{"To": "B"}', 'import-e');
SELECT sf_import('{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}', name => 'a b');
SELECT count(*) FROM stored WHERE state_machine = 'import-e';

-- Rights are those of sf_create_state_machine.
BEGIN;
\set ON_ERROR_ROLLBACK on
CREATE ROLE import_guest;
SELECT sf_revoke('CREATE', '*', 'public');
SET ROLE import_guest;
SELECT sf_import('{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}', name => 'import-f');
SELECT sf_import('{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}', name => 'import-a');
SELECT count(*) FROM sf_missing_resources('{"States": {}}');
ROLLBACK;
\unset ON_ERROR_ROLLBACK

-- What still needs a mapping: wherever it stands, how often, and what would map it.
\pset format unaligned
\pset fieldsep ' | '
BEGIN;
SELECT sf_map_resource('mapped*', 'sql:shop.load');
SELECT * FROM sf_missing_resources('{
  "StartAt": "A", "TimeoutSeconds": ${Limit}, "States": {
    "A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
    	"Parameters": {"FunctionName": "LoadOrders:PROD", "Resource": "data"}, "Next": "B"},
    "B": {"Type": "Parallel", "Branches": [
      {"StartAt": "C", "States": {"C": {"Type": "Task",
      	"Resource": "arn:aws:lambda:eu-west-1:123456789012:function:load-orders:3", "End": true}}},
      {"StartAt": "D", "States": {"D": {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun.sync",
      	"End": true}}}], "Next": "E"},
    "E": {"Type": "Map", "Next": "F",
      "ItemReader": {"Resource": "arn:aws:states:::s3:getObject"},
      	"ResultWriter": {"Resource": "arn:aws:states:::s3:putObject"},
      "ItemProcessor": {"StartAt": "G", "States": {"G": {"Type": "Task",
      	"Resource": "arn:aws:states:::glue:startJobRun", "End": true}}}},
    "F": {"Type": "Map", "Next": "H", "Iterator": {"StartAt": "I",
    	"States": {"I": {"Type": "Task", "Resource": "${LoadFunctionArn}", "End": true}}}},
    "H": {"Type": "Task", "Resource": "arn:aws:states:::http:invoke", "Next": "J"},
    "J": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:putItem", "Next": "K"},
    "K": {"Type": "Task", "Resource": "o''clock 12", "Next": "L"},
    "L": {"Type": "Task", "Resource": "12", "Next": "M"},
    "M": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
    	"Parameters": {"FunctionName": "${LoadFunctionArn}"}, "Next": "N"},
    "N": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "{% $f %}"},
    	"Next": "O"},
    "O": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName.$": "$.f"},
    	"Next": "P"},
    "P": {"Type": "Task", "Resource": "mapped:1", "Next": "Q"},
    "Q": {"Type": "Task", "Resource": "sql:shop.load", "Next": "R"},
    "R": {"Type": "Task", "Resource": "activity:none", "Next": "S"},
    "S": {"Type": "Task", "Resource": 5, "Next": "T"},
    "T": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2", "Next": "U"},
    "U": {"Type": "Task", "Resource": "arn:aws:lambda:${AWS::Region}:${AWS::AccountId}:function:load", "Next": "V"},
    "V": {"Type": "Task", "Resource": "arn:aws:lambda:${AWS::Region}:1:function:load-${Stage}", "Next": "W"},
    "W": 1
  }}');

-- The proposals do what they say.
CREATE TEMP TABLE proposed AS SELECT p.* FROM sf_missing_resources('{"States": {
	"A": {"Resource": "arn:aws:states:::glue:startJobRun.sync"},
		"B": {"Resource": "arn:aws:lambda:eu-west-1:1:function:load:2"},
	"C": {"Resource": "o''clock"}, "D": {"Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken"},
		"E": {"ItemReader": {"Resource": "arn:aws:states:::s3:listObjects"}},
	"F": {"Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "store:PROD"}}}}') AS p;
SELECT proposal FROM proposed \gexec
SELECT count(*) FROM proposed;
SELECT m.resource FROM proposed AS p, sf_missing_resources(json_build_object('States', json_build_object('A',
	json_build_object('Resource', p.resource)))::text) AS m;

-- Everything that sf_aws_install makes is proposed so.
SELECT count(*) AS installed, array_agg(pattern) AS patterns FROM sfflow_aws.resource \gset
SELECT sf_aws_uninstall();
SELECT proposal, count(*) = :installed AS all FROM unnest(:'patterns'::text[]) AS pattern,
	sf_missing_resources(json_build_object('States', json_build_object('A', json_build_object('Resource',
		pattern)))::text) GROUP BY proposal;
ROLLBACK;
-- Jobs of nets are looked at, too.
SELECT resource, locations FROM sf_missing_resources('{"States": {"N": {"Type": "JobNet",
	"Jobs": {"a": {"Type": "Task", "Resource": "other:a"},
	"b": {"Type": "Parallel", "DependsOn": ["a"],
		"Branches": [{"States": {"c": {"Type": "Task", "Resource": "other:c"}}}]}}}}}');

-- Templates of CloudFormation and SAM are told from definitions. What keeps one from being imported; where a function
-- that takes definitions only says that the definitions lie.
\pset null (null)
CREATE TEMP TABLE template (name text, text text);
INSERT INTO template VALUES
	('cloudformation', '{"AWSTemplateFormatVersion": "2010-09-09", "Parameters": {"Stage": {"Type": "String"}},
		"Resources": {
		"Role": {"Type": "AWS::IAM::Role"},
		"Sub": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"RoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
			"DefinitionString": {"Fn::Sub": ["{\"StartAt\": \"A\", \"States\": '
				'{\"A\": {\"Type\": \"Task\", \"Resource\": \"${F}\", \"End\": true}}}", {"F": {"Ref": "Stage"}}]}}},
		"Joined": {"Type": "AWS::StepFunctions::StateMachine",
			"Properties": {"DefinitionString": {"Fn::Join": ["", ["{", "}"]]}}},
		"Text": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionString": "{}"}},
		"Object": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"Definition": {"StartAt": "A"}}},
		"File": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionS3Location": {"Bucket": "b",
			"Key": "k"}}},
		"None": {"Type": "AWS::StepFunctions::StateMachine"}}}'),
	('sam', '{"Transform": ["AWS::Other", "AWS::Serverless-2016-10-31"], "Resources": {
		"It''s \"one\"": {"Type": "AWS::Serverless::StateMachine", "Properties": {"Definition": {"StartAt": "A"},
			"DefinitionSubstitutions": {"F": "x"}}},
		"Night": {"Type": "AWS::Serverless::StateMachine", "Properties": {"DefinitionUri": "night.asl.json"}}}}'),
	('sam of files', '{"Transform": "AWS::Serverless-2016-10-31", "Resources": {
		"Night": {"Type": "AWS::Serverless::StateMachine", "Properties": {"DefinitionUri": "night.asl.json"}}}}'),
	('no machine', '{"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}}'),
	('odd', '{"Transform": 1, "Resources": {"A": 1, "B": {"Type": "AWS::StepFunctions::StateMachine",
		"Properties": {"Definition": {"Fn::Sub": []}}}}}'),
	('many', (SELECT json_build_object('Resources', json_object_agg('M' || i,
		'{"Type": "AWS::StepFunctions::StateMachine"}'::json))::text FROM generate_series(1, 1000) AS i));
CREATE FUNCTION pg_temp.refused(call text, OUT error text, OUT detail text, OUT hint text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE call;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	error := sqlstate || ' ' || sqlerrm;
END $$;
SELECT name, error, left(detail, 400) AS detail, hint
	FROM template, pg_temp.refused(format('SELECT sf_import(%L, name => ''import-t'')', text)) AS r;
SELECT name, r.* FROM template, pg_temp.refused(format('SELECT sf_import(%L)', text)) AS r WHERE name <> 'many';
SELECT name, r.* FROM template, pg_temp.refused(format('SELECT sf_missing_resources(%L)', text)) AS r
	WHERE error IS NOT NULL;
SELECT name, m.* FROM template, sf_missing_resources(text) AS m WHERE name = 'sam of files';
SELECT name, v.* FROM template, sf_validate(text) AS v WHERE name <> 'many';
SELECT error, detail FROM pg_temp.refused((SELECT format('SELECT sf_create_state_machine(''import-t'', %L)', text)
	FROM template WHERE name = 'sam of files'));
-- A definition that is taken out of a template is one.
SELECT sf_import(text::json #>> '{"Resources","Sub","Properties","DefinitionString","Fn::Sub",0}', '{"F": "sql:now"}',
	'import-t') FROM template WHERE name = 'cloudformation';
SELECT resource FROM template, sf_missing_resources(text::json #>> '{"Resources","Sub","Properties","DefinitionString",
	"Fn::Sub",0}') WHERE name = 'cloudformation';
-- A machine whose parts only look like those of a template is none.
SELECT count(*) FROM sf_validate('{"StartAt": "A", "States": {"A": {"Type": "Succeed"}},
	"Resources": {"A": {"Type": "AWS::SQS::Queue"}}}');
SELECT r.* FROM (VALUES ('{}'), ('{"Resources": {"A": {"Type": "Task"}}}'), ('{"States": []}')) AS t (text),
	pg_temp.refused(format('SELECT count(*) FROM sf_missing_resources(%L)', text)) AS r;
SELECT * FROM sf_missing_resources('[1]');
\set VERBOSITY terse
SELECT * FROM sf_missing_resources('StartAt: A');
SELECT * FROM sf_missing_resources(NULL);
SELECT count(*) FROM sf_missing_resources('{"name": "x",
	"definition": "{\"States\": {\"A\": {\"Resource\": \"arn:other\"}}}"}');
-- Several machines at once, with references between them, in YAML; and a definition that is given for a file.
\set VERBOSITY default
\set yaml 'Transform: AWS::Serverless-2016-10-31\nParameters:\n  Stage: {Type: String, Default: test}\nResources:\n  Parent:\n    Type: AWS::Serverless::StateMachine\n    Properties:\n      Name: !Sub import-parent-${Stage}\n      DefinitionSubstitutions: {Child: !Ref Child, Limit: 60}\n      Definition:\n        StartAt: A\n        TimeoutSeconds: 10\n        States:\n          A: {Type: Task, Resource: "arn:aws:states:::states:startExecution.sync:2", Parameters: {StateMachineArn: "${Child}", Input: {limit: "${Limit} s"}}, End: true}\n  Child:\n    Type: AWS::Serverless::StateMachine\n    Properties: {Name: import-child, Type: EXPRESS, DefinitionUri: child.asl.yaml}\n'
SELECT sf_import(:'yaml');
SELECT sf_import(:'yaml', '{"Child.Definition": "StartAt: A\nStates:\n  A: {Type: Pass, Result: \"${R}\", End: '
	'true}"}');
SELECT sf_import(:'yaml', '{"Child.Definition": "StartAt: A\nStates:\n  A: {Type: Pass, Result: \"${R}\", End: true}",
	"R": [1]}');
SELECT state_machine, version, definition FROM stored WHERE state_machine ~ 'parent|child';
SELECT sf_import(:'yaml', '{"Child": "import-other", "Stage": "prod"}', 'Parent');
SELECT sf_import(:'yaml', '{"Parent.Definition": {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}}',
	'import-parent-test');
SELECT state_machine, version, definition FROM stored WHERE state_machine ~ 'parent';
SELECT sf_import(replace(:'yaml', 'import-child', 'import-parent-test'), '{"Child.Definition": "{}"}');
SELECT sf_import(replace(:'yaml', ', Default: test', ''), '{}', 'Parent');
SELECT sf_import(:'yaml', '{"Child.Definition": "{"}', 'Child');
SELECT sf_aws_api('DescribeStateMachine', '{"stateMachineArn":
	"arn:aws:states:us-east-1:000000000000:stateMachine:import-child"}') ->> 'type' AS type;
-- Of one machine, name is the name that it gets.
SELECT sf_import('{"Resources": {"One": {"Type": "AWS::StepFunctions::StateMachine",
	"Properties": {"DefinitionString": "{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Succeed\"}}}"}},
	"Hands": {"Type": "AWS::StepFunctions::Activity"}}}', name => 'import-one');
-- Line breaks in a template that is another's end no comment of a proposal.
SELECT count(*) AS proposals, bool_and(line LIKE '--%') AS commented FROM sf_missing_resources($${"Resources": {
	"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties":
		{"Definition": {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}}},
	"R": {"Type": "AWS::Events::Rule", "Properties": {"ScheduleExpression": "rate(1 day)", "Targets":
		[{"Arn": "x\nDROP TABLE orders; --"}]}},
	"S": {"Type": "AWS::Scheduler::Schedule", "Properties": {"State": "DISABLED", "ScheduleExpression": "rate(1 day)",
		 "ScheduleExpressionTimezone": "UTC\r\n; DROP TABLE orders; --",
		"Target": {"Arn": {"Ref": "M"}}}}}}$$) AS m, regexp_split_to_table(m.proposal, '[\n\r]') AS line;
-- References that double at each of forty levels.
SELECT sf_import(json_build_object('Mappings', json_build_object('M', json_object_agg('k' || n,
	CASE n WHEN 0 THEN '{"v": ""}'::json ELSE json_build_object('v', json_build_object('Fn::Join', json_build_array('',
		json_build_array(json_build_object('Fn::FindInMap', json_build_array('M', 'k' || n - 1, 'v')),
			json_build_object('Fn::FindInMap', json_build_array('M', 'k' || n - 1, 'v'))))))
	END)), 'Resources', '{"M": {"Type": "AWS::StepFunctions::StateMachine",
		"Properties": {"DefinitionString": {"Fn::FindInMap": ["M", "k40", "v"]}}}}'::json)::text)
	FROM generate_series(0, 40) AS n;
DROP VIEW stored;
SELECT count(sf_drop_state_machine(state_machine)) FROM sf_state_machines WHERE state_machine LIKE 'import%'
	AND is_current;
