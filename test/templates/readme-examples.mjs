// Synthesise the examples in the README files of aws-cdk-lib: one template each, into a folder.
//
//     npm install aws-cdk-lib constructs typescript@5      (anywhere)
//     node readme-examples.mjs NODE_MODULES FOLDER
//
// An example is a piece of TypeScript that runs inside a stack. What it declares without a value gets one here. States that
// it puts into no machine get one each. Examples that do not run by themselves are left out and counted.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const [modules, folder] = process.argv.slice(2);
if (!folder) {
	console.error('usage: readme-examples.mjs NODE_MODULES FOLDER');
	process.exit(2);
}
const require = createRequire(path.resolve(modules, 'x.js'));
const ts = require('typescript');
const cdk = require('aws-cdk-lib');
const { Construct } = require('constructs');
const load = name => require(`aws-cdk-lib/${name}`);
const scope = {
	cdk, ...cdk, Construct,
	sfn: load('aws-stepfunctions'), stepfunctions: load('aws-stepfunctions'), tasks: load('aws-stepfunctions-tasks'),
	lambda: load('aws-lambda'), dynamodb: load('aws-dynamodb'), s3: load('aws-s3'), sqs: load('aws-sqs'), sns: load('aws-sns'),
	iam: load('aws-iam'), events: load('aws-events'), targets: load('aws-events-targets'), kms: load('aws-kms'),
	logs: load('aws-logs'), ec2: load('aws-ec2'), ecs: load('aws-ecs'), eks: load('aws-eks'), emr: load('aws-emr'),
	batch: load('aws-batch'), glue: load('aws-glue'), bedrock: load('aws-bedrock'), codebuild: load('aws-codebuild'),
	apigateway: load('aws-apigateway'), apigatewayv2: load('aws-apigatewayv2'), scheduler: load('aws-scheduler'),
	schedulerTargets: load('aws-scheduler-targets'), cloudwatch: load('aws-cloudwatch'), secretsmanager: load('aws-secretsmanager'),
	sagemaker: load('aws-sagemaker'), ssm: load('aws-ssm'), assets: load('aws-s3-assets'), ecr: load('aws-ecr-assets'),
};
const { sfn, lambda, s3, sqs, dynamodb, kms, iam, ec2, events } = scope;

// Make a value for a constant that an example declares without one.
function declared(stack, name, type) {
	const code = { runtime: lambda.Runtime.NODEJS_20_X, handler: 'index.handler', code: lambda.Code.fromInline('exports.handler = async e => e;') };
	const id = `Declared-${name}`;
	switch (type.replace(/^\w+\./, '').replace(/^I(?=[A-Z])/, '')) {
		case 'Function': return new lambda.Function(stack, id, code);
		case 'Bucket': return new s3.Bucket(stack, id);
		case 'Queue': return new sqs.Queue(stack, id);
		case 'Table': return new dynamodb.Table(stack, id, { partitionKey: { name: 'id', type: dynamodb.AttributeType.STRING } });
		case 'Key': return new kms.Key(stack, id);
		case 'Role': return new iam.Role(stack, id, { assumedBy: new iam.ServicePrincipal('states.amazonaws.com') });
		case 'Vpc': return new ec2.Vpc(stack, id, { maxAzs: 2 });
		case 'Chainable': case 'Task': return new sfn.Pass(stack, id);
		case 'StateMachine': return new sfn.StateMachine(stack, id, { definitionBody: sfn.DefinitionBody.fromChainable(new sfn.Pass(stack, `${id}Pass`)) });
		case 'Connection': return new events.Connection(stack, id, { authorization: events.Authorization.apiKey('key', cdk.SecretValue.unsafePlainText('x')) });
		case 'RestApi': { const api = new scope.apigateway.RestApi(stack, id); api.root.addMethod('ANY'); return api; }
		case 'CfnScheduleGroup': return new scope.scheduler.CfnScheduleGroup(stack, id);
		case 'JobQueue': return scope.batch.JobQueue.fromJobQueueArn(stack, id, 'arn:aws:batch:eu-west-1:123456789012:job-queue/queue');
		case 'EcsJobDefinition': return { jobDefinitionArn: 'arn:aws:batch:eu-west-1:123456789012:job-definition/job:1' };
		default: throw new Error(`no value for ${type}`);
	}
}

// Run one example in a stack of its own, and give its template.
function synthesise(source) {
	const app = new cdk.App({ outdir: fs.mkdtempSync(path.join(os.tmpdir(), 'cdk-')), analyticsReporting: false });
	const stack = new cdk.Stack(app, 'Example', { synthesizer: new cdk.DefaultStackSynthesizer({ generateBootstrapVersionRule: false }) });
	const body = source.replace(/^import .*$/gm, '').replace(/^declare const (\w+): ([\w.]+);/gm, "const $1 = declared(this, '$1', '$2');");
	const js = ts.transpileModule(body, { compilerOptions: { target: 'ES2022', module: 'None' } }).outputText.replace(/^"use strict";\n|^export \{\};\n/gm, '');
	const names = Object.keys(scope).filter(name => /^[A-Za-z_]\w*$/.test(name) && !new RegExp(`(?:const|class|let|function) ${name}\\b`).test(js));
	new Function('declared', ...names, js).apply(stack, [declared, ...names.map(name => scope[name])]);
	const all = stack.node.findAll();
	if (!all.some(node => node instanceof sfn.StateMachine)) {
		let n = 0;
		for (const state of all.filter(node => node instanceof sfn.State)) {
			try {
				new sfn.StateMachine(stack, `Machine${n++}`, { definitionBody: sfn.DefinitionBody.fromChainable(state) });
			} catch { /* it is in another machine already */ }
		}
		if (n === 0) throw new Error('no machine');
	}
	return app.synth().getStackArtifact(stack.artifactId).template;
}

fs.mkdirSync(folder, { recursive: true });
let made = 0, failed = 0;
for (const name of ['aws-stepfunctions', 'aws-stepfunctions-tasks', 'aws-scheduler', 'aws-scheduler-targets', 'aws-events', 'aws-events-targets']) {
	const text = fs.readFileSync(path.join(modules, 'aws-cdk-lib', name, 'README.md'), 'utf8');
	let n = 0;
	for (const [, source] of text.matchAll(/^```ts[^\n]*\n(.*?)^```/gms)) {
		n++;
		if (!/sfn|stepfunctions|tasks\./.test(source)) continue;
		try {
			fs.writeFileSync(path.join(folder, `${name}-${String(n).padStart(3, '0')}.json`), JSON.stringify(synthesise(source), null, 1));
			made++;
		} catch (error) {
			failed++;
			if (process.env.VERBOSE) console.error(`${name} ${n}: ${error.message.split('\n')[0]}`);
		}
	}
}
console.log(`${made} templates, ${failed} examples that do not run by themselves`);
