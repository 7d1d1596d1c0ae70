// Write the templates under cdk/, which t/import/267_templates.pl imports: programs of CDK, each synthesised.
//
//     npm install aws-cdk-lib constructs        (anywhere)
//     node cdk-programs.mjs NODE_MODULES cdk
//
// No test runs this. The programs are sfflow's own, and the templates are what aws-cdk-lib 2.276.0 made of them.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const [modules, folder] = process.argv.slice(2);
if (!folder) {
	console.error('usage: cdk-programs.mjs NODE_MODULES FOLDER');
	process.exit(2);
}
const require = createRequire(path.resolve(modules, 'x.js'));
const cdk = require('aws-cdk-lib');
const load = name => require(`aws-cdk-lib/${name}`);
const [sfn, tasks, lambda, s3, sqs, sns, dynamodb, events, targets, scheduler, schedulerTargets, ecs, sam, iam, apigateway] =
	['aws-stepfunctions', 'aws-stepfunctions-tasks', 'aws-lambda', 'aws-s3', 'aws-sqs', 'aws-sns', 'aws-dynamodb', 'aws-events', 'aws-events-targets',
		'aws-scheduler', 'aws-scheduler-targets', 'aws-ecs', 'aws-sam', 'aws-iam', 'aws-apigateway'].map(load);
const { Fn, Duration } = cdk;

const pass = (s, id = 'Done') => new sfn.Pass(s, id);
const fn = (s, id, props = {}) => new lambda.Function(s, id, { runtime: lambda.Runtime.NODEJS_20_X, handler: 'index.handler', code: lambda.Code.fromInline('exports.handler = async e => e;'), ...props });
const invoke = (s, id, f, props = {}) => new tasks.LambdaInvoke(s, id, { lambdaFunction: f, ...props });
const machine = (s, id, chain, props = {}) => new sfn.StateMachine(s, id, { definitionBody: sfn.DefinitionBody.fromChainable(chain), ...props });
const raw = (s, id, props) => new sfn.CfnStateMachine(s, id, { roleArn: 'arn:aws:iam::123456789012:role/states', ...props });
const simple = resource => JSON.stringify({ StartAt: 'A', States: { A: { Type: 'Task', Resource: resource, End: true } } });

const programs = {
	'lambda-chain': s => machine(s, 'Order', invoke(s, 'Reserve', fn(s, 'ReserveFn'), { outputPath: '$.Payload' })
		.next(invoke(s, 'Charge', fn(s, 'ChargeFn', { functionName: 'charge-card' }), { retryOnServiceExceptions: false }))),
	'lambda-direct': s => machine(s, 'Direct', new sfn.CustomState(s, 'Call', { stateJson: { Type: 'Task', Resource: fn(s, 'LoadFn').functionArn } })),
	'lambda-alias': s => { const alias = new lambda.Alias(s, 'Live', { aliasName: 'live', version: fn(s, 'Quote').currentVersion }); machine(s, 'Quotes', invoke(s, 'Ask', alias)); },
	'parent-and-child': s => {
		const child = machine(s, 'Child', pass(s), { stateMachineName: 'child' });
		machine(s, 'Parent', new tasks.StepFunctionsStartExecution(s, 'Run', { stateMachine: child, integrationPattern: sfn.IntegrationPattern.RUN_JOB }));
	},
	'three-machines': s => { for (const id of ['First', 'Second', 'Third']) machine(s, id, pass(s, `${id}Pass`)); },
	'choice-wait-fail': s => machine(s, 'Poll', new sfn.Wait(s, 'Pause', { time: sfn.WaitTime.duration(Duration.seconds(5)) })
		.next(new sfn.Choice(s, 'Ready?').when(sfn.Condition.stringEquals('$.status', 'READY'), new sfn.Succeed(s, 'Yes')).otherwise(new sfn.Fail(s, 'No', { error: 'NotReady' }))), { timeout: Duration.minutes(5) }),
	'parallel-catch': s => {
		const both = new sfn.Parallel(s, 'Both').branch(invoke(s, 'Left', fn(s, 'LeftFn'))).branch(invoke(s, 'Right', fn(s, 'RightFn')));
		machine(s, 'Fork', both.addCatch(new sfn.Fail(s, 'Broken')).next(pass(s)));
	},
	'inline-map': s => machine(s, 'Each', new sfn.Map(s, 'Items', { itemsPath: '$.items', maxConcurrency: 3 }).itemProcessor(invoke(s, 'One', fn(s, 'OneFn')))),
	'distributed-map': s => {
		const bucket = new s3.Bucket(s, 'Data');
		machine(s, 'Bulk', new sfn.DistributedMap(s, 'Rows', {
			itemReader: new sfn.S3CsvItemReader({ bucket, key: 'rows.csv', csvHeaders: sfn.CsvHeaders.useFirstRow() }),
			resultWriterV2: new sfn.ResultWriterV2({ bucket, prefix: 'done' }) }).itemProcessor(pass(s)));
	},
	'dynamodb': s => {
		const table = new dynamodb.Table(s, 'Jobs', { partitionKey: { name: 'id', type: dynamodb.AttributeType.STRING } });
		machine(s, 'Keep', new tasks.DynamoPutItem(s, 'Put', { table, item: { id: tasks.DynamoAttributeValue.fromString(sfn.JsonPath.stringAt('$.id')) } })
			.next(new tasks.DynamoGetItem(s, 'Get', { table, key: { id: tasks.DynamoAttributeValue.fromString('1') } })));
	},
	'sns-sqs': s => machine(s, 'Tell', new tasks.SnsPublish(s, 'Publish', { topic: new sns.Topic(s, 'News'), message: sfn.TaskInput.fromText('hello') })
		.next(new tasks.SqsSendMessage(s, 'Send', { queue: new sqs.Queue(s, 'Inbox'), messageBody: sfn.TaskInput.fromJsonPathAt('$') }))),
	'task-token': s => machine(s, 'Approve', new tasks.SqsSendMessage(s, 'Ask', { queue: new sqs.Queue(s, 'Approvals', { queueName: 'approvals' }),
		integrationPattern: sfn.IntegrationPattern.WAIT_FOR_TASK_TOKEN, messageBody: sfn.TaskInput.fromObject({ token: sfn.JsonPath.taskToken }) })),
	'activity': s => machine(s, 'Manual', new tasks.StepFunctionsInvokeActivity(s, 'ByHand', { activity: new sfn.Activity(s, 'Hands', { activityName: 'hands' }) })),
	'jsonata': s => machine(s, 'Sum', sfn.Pass.jsonata(s, 'Add', { outputs: '{% $sum($states.input.n) %}' }), { queryLanguage: sfn.QueryLanguage.JSONATA }),
	'express': s => machine(s, 'Quick', pass(s), { stateMachineType: sfn.StateMachineType.EXPRESS, stateMachineName: 'quick' }),
	'glue-athena': s => machine(s, 'Lake', new tasks.GlueStartJobRun(s, 'Job', { glueJobName: 'clean', integrationPattern: sfn.IntegrationPattern.RUN_JOB })
		.next(new tasks.AthenaStartQueryExecution(s, 'Query', { queryString: 'SELECT 1', integrationPattern: sfn.IntegrationPattern.RUN_JOB }))),
	'http': s => {
		const connection = new events.Connection(s, 'Login', { authorization: events.Authorization.apiKey('x-key', cdk.SecretValue.ssmSecure('key')) });
		machine(s, 'Ask', new tasks.HttpInvoke(s, 'Get', { apiRoot: 'https://api.example.com', apiEndpoint: sfn.TaskInput.fromText('orders'), connection, method: sfn.TaskInput.fromText('GET') }));
	},
	'sdk-call': s => machine(s, 'Sdk', new tasks.CallAwsService(s, 'Delete', { service: 's3', action: 'deleteObject', iamResources: ['*'], parameters: { Bucket: 'b', Key: sfn.JsonPath.stringAt('$.key') } })),
	'string-substitutions': s => new sfn.StateMachine(s, 'Subst', {
		definitionBody: sfn.DefinitionBody.fromString('{"StartAt": "A", "TimeoutSeconds": ${Limit}, "States": {"A": {"Type": "Task", "Resource": "${Fn}", "Parameters": {"stage": "on ${Stage}"}, "End": true}}}'),
		definitionSubstitutions: { Limit: '60', Fn: fn(s, 'WorkFn').functionArn, Stage: 'test' } }),
	'parameters': s => {
		const stage = new cdk.CfnParameter(s, 'Stage', { default: 'test' });
		const seconds = new cdk.CfnParameter(s, 'Seconds', { type: 'Number', default: 30 });
		raw(s, 'Timed', { stateMachineName: Fn.join('-', ['timed', stage.valueAsString]),
			definition: { StartAt: 'A', TimeoutSeconds: seconds.valueAsNumber, States: { A: { Type: 'Pass', Result: { stage: stage.valueAsString }, End: true } } } });
	},
	'required-parameter': s => {
		new cdk.CfnParameter(s, 'Name');
		raw(s, 'Asks', { definitionString: Fn.sub(simple('arn:aws:lambda:${AWS::Region}:${AWS::AccountId}:function:${Name}')) });
	},
	'conditions': s => {
		const stage = new cdk.CfnParameter(s, 'Stage', { default: 'test' });
		const isProd = new cdk.CfnCondition(s, 'IsProd', { expression: Fn.conditionEquals(stage.valueAsString, 'prod') });
		const isLoud = new cdk.CfnCondition(s, 'IsLoud', { expression: Fn.conditionOr(isProd, Fn.conditionNot(Fn.conditionEquals(Fn.ref('AWS::Region'), 'us-east-1'))) });
		raw(s, 'Both', { definition: { StartAt: 'A', States: { A: { Type: 'Pass', Comment: Fn.conditionIf(isLoud.logicalId, 'loud', cdk.Aws.NO_VALUE), Result: Fn.conditionIf(isProd.logicalId, { size: 10 }, { size: 1 }), End: true } } } });
		raw(s, 'ProdOnly', { definitionString: simple('arn:aws:states:::glue:startJobRun') }).cfnOptions.condition = isProd;
	},
	'mappings': s => {
		const limits = new cdk.CfnMapping(s, 'Limits', { mapping: { 'us-east-1': { seconds: 60 }, 'eu-west-1': { seconds: 120 } } });
		raw(s, 'Mapped', { definition: { StartAt: 'A', TimeoutSeconds: limits.findInMap(cdk.Aws.REGION, 'seconds'), States: { A: { Type: 'Succeed' } } } });
	},
	'select-split': s => { const f = fn(s, 'PartsFn'); raw(s, 'Parts', { definition: { StartAt: 'A', States: { A: { Type: 'Pass', Result: {
		name: Fn.select(6, Fn.split(':', f.functionArn)), zone: Fn.select(1, Fn.getAzs()), code: Fn.base64('a'), joined: Fn.join(',', Fn.split('-', cdk.Aws.REGION)) }, End: true } } } }); },
	'import-value': s => raw(s, 'Imports', { definitionString: Fn.join('', ['{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"', Fn.importValue('shared-worker'), '","End":true}}}']) }),
	'definition-file': s => new sfn.StateMachine(s, 'Filed', { definitionBody: sfn.DefinitionBody.fromFile(path.join(os.tmpdir(), 'cdk-programs.asl.json')) }),
	'alias-and-version': s => {
		const m = machine(s, 'Released', pass(s), { stateMachineName: 'released' });
		const version = new sfn.CfnStateMachineVersion(s, 'One', { stateMachineArn: m.stateMachineArn });
		new sfn.CfnStateMachineAlias(s, 'Prod', { name: 'prod', routingConfiguration: [{ stateMachineVersionArn: version.ref, weight: 100 }] });
	},
	'rule-times': s => {
		const m = machine(s, 'Nightly', pass(s));
		const target = new targets.SfnStateMachine(m, { input: events.RuleTargetInput.fromObject({ day: 'today' }) });
		new events.Rule(s, 'Every5', { schedule: events.Schedule.rate(Duration.minutes(5)), targets: [target] });
		new events.Rule(s, 'Every90', { schedule: events.Schedule.rate(Duration.minutes(90)), targets: [target] });
		new events.Rule(s, 'AtTwo', { schedule: events.Schedule.cron({ minute: '0', hour: '2', weekDay: 'MON-FRI' }), targets: [new targets.SfnStateMachine(m)] });
		new events.Rule(s, 'Off', { schedule: events.Schedule.rate(Duration.hours(1)), enabled: false, targets: [target] });
		new events.Rule(s, 'Odd', { schedule: events.Schedule.expression('cron(0 6 15W * ? *)'), targets: [target] });
	},
	'rule-events': s => {
		const m = machine(s, 'Heal', pass(s), { stateMachineName: 'heal' });
		new events.Rule(s, 'Failures', { eventPattern: { source: ['aws.states'], detailType: ['Step Functions Execution Status Change'], detail: { status: ['FAILED'] } }, targets: [new targets.SfnStateMachine(m)] });
		const bus = new events.EventBus(s, 'Shop', { eventBusName: 'shop' });
		new events.Rule(s, 'Orders', { eventBus: bus, eventPattern: { source: ['shop.orders'] }, targets: [new targets.SfnStateMachine(m, { input: events.RuleTargetInput.fromEventPath('$.detail') }), new targets.LambdaFunction(fn(s, 'AlsoFn'))] });
	},
	'scheduler': s => {
		const target = new schedulerTargets.StepFunctionsStartExecution(machine(s, 'Report', pass(s)), { input: scheduler.ScheduleTargetInput.fromObject({ kind: 'weekly', at: scheduler.ContextAttribute.scheduledTime }) });
		const make = (id, schedule, props = {}) => new scheduler.Schedule(s, id, { schedule, target, ...props });
		make('Weekly', scheduler.ScheduleExpression.cron({ minute: '30', hour: '8', weekDay: '2', timeZone: cdk.TimeZone.EUROPE_BERLIN }), { scheduleName: 'weekly' });
		make('LastFriday', scheduler.ScheduleExpression.cron({ minute: '0', hour: '20', weekDay: '6L' }));
		make('LastDay', scheduler.ScheduleExpression.cron({ minute: '0', hour: '1', day: 'L' }));
		make('ThisYear', scheduler.ScheduleExpression.cron({ minute: '0/15', hour: '9-17', weekDay: 'MON-FRI', year: '2027', timeZone: cdk.TimeZone.AMERICA_NEW_YORK }));
		make('Once', scheduler.ScheduleExpression.at(new Date(Date.UTC(2027, 2, 1, 10, 15)), cdk.TimeZone.EUROPE_BERLIN));
		make('Third', scheduler.ScheduleExpression.rate(Duration.days(3)), { enabled: false });
		make('Between', scheduler.ScheduleExpression.rate(Duration.hours(6)), { start: new Date(Date.UTC(2027, 0, 1)), end: new Date(Date.UTC(2027, 11, 31)) });
	},
	'sam': s => {
		s.templateOptions.transforms = ['AWS::Serverless-2016-10-31'];
		new sam.CfnStateMachine(s, 'Booking', { name: 'booking', definition: { StartAt: 'A', States: { A: { Type: 'Task', Resource: '${Worker}', End: true } } },
			definitionSubstitutions: { Worker: 'arn:aws:lambda:us-east-1:123456789012:function:worker' },
			events: { Daily: { type: 'Schedule', properties: { schedule: 'cron(15 10 * * ? *)', input: '{"a": 1}' } },
				Order: { type: 'EventBridgeRule', properties: { pattern: { source: ['shop'] }, eventBusName: 'shop' } },
				Web: { type: 'Api', properties: { path: '/book', method: 'post' } } } });
	},
	'ecs': s => {
		const cluster = new ecs.CfnCluster(s, 'Cluster', { clusterName: 'batch' });
		const task = new ecs.CfnTaskDefinition(s, 'Task', { family: 'nightly' });
		raw(s, 'Contained', { definition: { StartAt: 'Run', States: { Run: { Type: 'Task', Resource: 'arn:aws:states:::ecs:runTask.sync', Parameters: { Cluster: cluster.attrArn, TaskDefinition: task.ref }, End: true } } } });
	},
	'api': s => {
		const api = new apigateway.RestApi(s, 'Front');
		api.root.addMethod('GET');
		machine(s, 'CallsApi', new tasks.CallApiGatewayRestApiEndpoint(s, 'Call', { api, stageName: 'prod', method: tasks.HttpMethod.GET }));
	},
	'fixed-environment': s => machine(s, 'Fixed', invoke(s, 'Go', fn(s, 'GoFn'))),
};

fs.writeFileSync(path.join(os.tmpdir(), 'cdk-programs.asl.json'), simple('arn:aws:lambda:us-east-1:123456789012:function:f'));
fs.mkdirSync(folder, { recursive: true });
for (const [name, program] of Object.entries(programs)) {
	const app = new cdk.App({ outdir: fs.mkdtempSync(path.join(os.tmpdir(), 'cdk-')), analyticsReporting: false });
	const stack = new cdk.Stack(app, 'Stack', { synthesizer: new cdk.DefaultStackSynthesizer({ generateBootstrapVersionRule: false }),
		...(name === 'fixed-environment' ? { env: { account: '123456789012', region: 'eu-west-1' } } : {}) });
	program(stack);
	fs.writeFileSync(path.join(folder, `${name}.json`), JSON.stringify(app.synth().getStackArtifact(stack.artifactId).template, null, 1) + '\n');
}
console.log(`${Object.keys(programs).length} templates`);
