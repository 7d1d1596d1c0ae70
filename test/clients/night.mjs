// What Debian's older clients lack, by AWS' SDK for JavaScript: validation, TestState, versions, aliases; and the repaired
// night's redrive.
//
//	night.mjs ENDPOINT EXECUTION_ARN
//
// Prints a line of TAP per check.
import {
	SFNClient, CreateStateMachineCommand, CreateStateMachineAliasCommand, DescribeExecutionCommand, GetExecutionHistoryCommand,
	ListStateMachineVersionsCommand, PublishStateMachineVersionCommand, RedriveExecutionCommand, StartExecutionCommand, StartSyncExecutionCommand,
	TestStateCommand, UpdateStateMachineCommand, ValidateStateMachineDefinitionCommand,
} from '@aws-sdk/client-sfn';
import { plan, same } from './tap.mjs';

const [endpoint, execution] = process.argv.slice(2);
const client = new SFNClient({ endpoint, disableHostPrefix: true });
const role = 'arn:aws:iam::123456789012:role/nightly';

async function ended(executionArn) {
	for (const until = Date.now() + 120000; Date.now() < until;) {
		const now = await client.send(new DescribeExecutionCommand({ executionArn }));
		if (now.status !== 'RUNNING') return now;
		await new Promise((resolve) => setTimeout(resolve, 200));
	}
	return {};
}

const pass = (value) => JSON.stringify({ StartAt: 'P', States: { P: { Type: 'Pass', Result: { value }, End: true } } });

// The repaired night.
same((await client.send(new RedriveExecutionCommand({ executionArn: execution }))).redriveDate instanceof Date, true, 'RedriveExecution');
const night = await ended(execution);
same([night.status, night.redriveCount], ['SUCCEEDED', 1], 'the night succeeds');
const history = await client.send(new GetExecutionHistoryCommand({ executionArn: execution, maxResults: 1000 }));
const entered = history.events.filter((e) => e.type === 'TaskStateEntered').map((e) => e.stateEnteredEventDetails.name);
same(entered.sort(), ['JOB-001', 'JOB-002', 'JOB-003', 'JOB-004', 'JOB-005', 'JOB-005', 'JOB-006'], 'only what had not succeeded ran again');
try {
	await client.send(new RedriveExecutionCommand({ executionArn: execution }));
	same('no error', 'ExecutionNotRedrivable', 'not once more');
} catch (e) {
	same(e.name, 'ExecutionNotRedrivable', 'not once more');
}

// What the newer API has.
const valid = await client.send(new ValidateStateMachineDefinitionCommand({ definition: pass(1) }));
same([valid.result, valid.diagnostics], ['OK', []], 'ValidateStateMachineDefinition');
const invalid = await client.send(new ValidateStateMachineDefinitionCommand({ definition: '{"StartAt": "X", "States": {}}' }));
same([invalid.result, invalid.diagnostics.length > 0], ['FAIL', true], 'and of one that is wrong');
const tried = await client.send(new TestStateCommand({ definition: JSON.stringify({ Type: 'Pass', Result: { a: 1 }, Next: 'B' }), roleArn: role, input: '{}' }));
same([tried.status, JSON.parse(tried.output), tried.nextState], ['SUCCEEDED', { a: 1 }, 'B'], 'TestState');
const made = await client.send(new CreateStateMachineCommand({ name: 'versions', definition: pass(1), roleArn: role }));
const one = await client.send(new PublishStateMachineVersionCommand({ stateMachineArn: made.stateMachineArn, description: 'the first' }));
await client.send(new UpdateStateMachineCommand({ stateMachineArn: made.stateMachineArn, definition: pass(2) }));
const two = await client.send(new PublishStateMachineVersionCommand({ stateMachineArn: made.stateMachineArn }));
const versions = await client.send(new ListStateMachineVersionsCommand({ stateMachineArn: made.stateMachineArn }));
same(versions.stateMachineVersions.map((v) => v.stateMachineVersionArn), [two.stateMachineVersionArn, one.stateMachineVersionArn], 'versions');
const alias = await client.send(new CreateStateMachineAliasCommand({
	name: 'prod', routingConfiguration: [{ stateMachineVersionArn: one.stateMachineVersionArn, weight: 100 }] }));
const byAlias = await client.send(new StartExecutionCommand({ stateMachineArn: alias.stateMachineAliasArn, input: '{}' }));
same(JSON.parse((await ended(byAlias.executionArn)).output), { value: 1 }, 'an alias starts its version');
const latest = await client.send(new StartExecutionCommand({ stateMachineArn: made.stateMachineArn, input: '{}' }));
same(JSON.parse((await ended(latest.executionArn)).output), { value: 2 }, 'the machine starts its last revision');
const express = await client.send(new CreateStateMachineCommand({ name: 'express', type: 'EXPRESS', definition: pass(3), roleArn: role }));
const sync = await client.send(new StartSyncExecutionCommand({ stateMachineArn: express.stateMachineArn, input: '{}' }));
same([sync.status, JSON.parse(sync.output)], ['SUCCEEDED', { value: 3 }], 'StartSyncExecution');
plan();
