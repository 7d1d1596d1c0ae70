#!/usr/bin/env node
// Do one task of Step Functions' AWS integrations with the AWS SDK for JavaScript, version 3:
//     sfworker -a aws:program --program aws-task.mjs --pass-env 'AWS_*'
// The request is on standard input, the Resource in SFFLOW_RESOURCE; the answer, or {"Error", "Cause"}, goes to standard output.
import { readFileSync } from 'node:fs';

// Services that the SDK calls otherwise than a Resource does.
const packages = { events: 'eventbridge', cloudwatchlogs: 'cloudwatch-logs', elasticmapreduce: 'emr', bedrockruntime: 'bedrock-runtime' };
// Services whose API begins members in lower case, and members that are maps of names of the caller's.
const lower = new Set(['batch', 'ecs', 'eks', 'codebuild', 'bedrockruntime']);
const maps = new Set(['parameters', 'tags', 'labels']);
// .sync: how to ask for the job that a request and its answer name, where the job is in the answer, and its status.
const jobs = {
  'athena:startQueryExecution': ['GetQueryExecution', (q, a) => ({ QueryExecutionId: a.QueryExecutionId }), r => r, j => j.QueryExecution.Status.State],
  'batch:submitJob': ['DescribeJobs', (q, a) => ({ Jobs: [a.JobId] }), r => r.Jobs[0], j => j.Status],
  'ecs:runTask': ['DescribeTasks', (q, a) => ({ Cluster: q.Cluster, Tasks: [a.Tasks[0].TaskArn] }), r => r.Tasks[0],
    j => j.LastStatus !== 'STOPPED' ? '' : j.Containers.some(c => c.ExitCode) ? 'FAILED' : 'SUCCEEDED'],
  'glue:startJobRun': ['GetJobRun', (q, a) => ({ JobName: q.JobName, RunId: a.JobRunId }), r => r.JobRun, j => j.JobRunState],
};
const ended = new Set(['SUCCEEDED', 'FAILED', 'CANCELLED', 'STOPPED', 'TIMEOUT', 'ERROR', 'EXPIRED']);

// Spell members as the API does (jobName), or as Step Functions does (JobName).
function spell(value, change) {
  if (Array.isArray(value)) return value.map(v => spell(v, change));
  if (!value || value.constructor !== Object) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [change(k[0]) + k.slice(1), maps.has(k.toLowerCase()) ? v : spell(v, change)]));
}

const [, service, action, , pattern] = /^arn:aws:states:::(?:aws-sdk:)?([^:]+):(\w+)(\.(\w+))?/.exec(process.env.SFFLOW_RESOURCE);
const prefix = service[0].toUpperCase() + service.slice(1);
const request = JSON.parse(readFileSync(0, 'utf8'));

// Call an operation by its name in the API.
async function call(sdk, client, operation, input) {
  const { $metadata, Body, ...answer } = await client.send(new sdk[`${operation}Command`](lower.has(service) ? spell(input, c => c.toLowerCase()) : input));
  if (Body) answer.Body = await Body.transformToString();
  return lower.has(service) ? spell(answer, c => c.toUpperCase()) : answer;
}

try {
  const sdk = await import(`@aws-sdk/client-${packages[service] ?? service}`);
  const client = new (Object.entries(sdk).find(([name]) => /^[A-Z]\w*Client$/.test(name))[1])({});
  let answer = await call(sdk, client, action[0].toUpperCase() + action.slice(1), request);
  if (pattern === 'sync') {
    const [ask, input, find, status] = jobs[`${service}:${action}`];
    let job = find(await call(sdk, client, ask, input(request, answer)));
    while (!ended.has(status(job))) {
      await new Promise(done => setTimeout(done, 1000 * (process.env.AWS_TASK_POLL ?? 15)));
      job = find(await call(sdk, client, ask, input(request, answer)));
    }
    if (status(job) !== 'SUCCEEDED') throw { name: 'States.TaskFailed', message: JSON.stringify(job) };
    answer = job;
  }
  console.log(JSON.stringify(answer));
} catch (e) {
  const name = e.name.startsWith('States.') ? e.name : `${prefix}.${e.name.replace(/(Exception)?$/, 'Exception')}`;
  console.log(JSON.stringify({ Error: name, Cause: e.message }));
  process.exitCode = 1;
}
