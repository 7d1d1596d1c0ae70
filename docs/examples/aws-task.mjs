#!/usr/bin/env node
// Do one task of Step Functions' AWS integrations with the AWS SDK for JavaScript, version 3:
//     sfworker -a aws:program --program aws-task.mjs --pass-env 'AWS_*'
// The request is on standard input, the Resource in SFFLOW_RESOURCE; the answer, or {"Error", "Cause"}, goes to standard output.
import { readFileSync } from 'node:fs';

// Services that the SDK calls otherwise than a Resource does.
const packages = { events: 'eventbridge', cloudwatchlogs: 'cloudwatch-logs', elasticmapreduce: 'emr', bedrockruntime: 'bedrock-runtime' };
// Services whose API begins members in lower case, and members that are maps of names of the caller's.
const lower = new Set(['batch', 'ecs', 'eks', 'codebuild', 'bedrock', 'bedrockruntime', 'emr-serverless']);
const maps = new Set(['parameters', 'tags', 'labels']);
// .sync: how to ask for the job that a request and its answer name, where the job is in the answer, and its status; then the
// statuses that are good, unless they are those of good.
const jobs = {
  'athena:startQueryExecution': ['GetQueryExecution', (q, a) => ({ QueryExecutionId: a.QueryExecutionId }), r => r, j => j.QueryExecution.Status.State],
  'batch:submitJob': ['DescribeJobs', (q, a) => ({ Jobs: [a.JobId] }), r => r.Jobs[0], j => j.Status],
  'ecs:runTask': ['DescribeTasks', (q, a) => ({ Cluster: q.Cluster, Tasks: [a.Tasks[0].TaskArn] }), r => r.Tasks[0],
    j => j.LastStatus !== 'STOPPED' ? '' : j.Containers.some(c => c.ExitCode) ? 'FAILED' : 'SUCCEEDED'],
  'glue:startJobRun': ['GetJobRun', (q, a) => ({ JobName: q.JobName, RunId: a.JobRunId }), r => r.JobRun, j => j.JobRunState],
  'bedrock:createModelCustomizationJob': ['GetModelCustomizationJob', (q, a) => ({ JobIdentifier: a.JobArn }), r => r, j => j.Status],
  'codebuild:startBuild': ['BatchGetBuilds', (q, a) => ({ Ids: [a.Build.Id] }), r => r.Builds[0], j => j.BuildStatus],
  'emr-serverless:startJobRun': ['GetJobRun', (q, a) => ({ ApplicationId: q.ApplicationId, JobRunId: a.JobRunId }), r => r.JobRun, j => j.State],
};
for (const [action, good] of Object.entries({ create: ['CREATED'], start: ['STARTED'], stop: ['STOPPED', 'CREATED'], delete: ['TERMINATED'] }))
  jobs[`emr-serverless:${action}Application`] = ['GetApplication', (q, a) => ({ ApplicationId: a.ApplicationId ?? q.ApplicationId }), r => r.Application, j => j.State, good];
for (const [thing, names] of Object.entries({ Cluster: ['Name'], Nodegroup: ['ClusterName', 'NodegroupName'], FargateProfile: ['ClusterName', 'FargateProfileName'] }))
  for (const action of ['create', 'delete'])
    jobs[`eks:${action}${thing}`] = [`Describe${thing}`, q => Object.fromEntries(names.map(name => [name, q[name]])), r => r, j => j[thing].Status, action === 'create' ? ['ACTIVE'] : []];
for (const thing of ['TrainingJob', 'TransformJob', 'ProcessingJob'])
  jobs[`sagemaker:create${thing}`] = [`Describe${thing}`, q => ({ [`${thing}Name`]: q[`${thing}Name`] }), r => r, j => j[`${thing}Status`]];
for (const [action, good] of Object.entries({ create: ['WAITING'], terminate: ['TERMINATED', 'TERMINATED_WITH_ERRORS'] }))
  jobs[`elasticmapreduce:${action}Cluster`] = ['DescribeCluster', (q, a) => ({ ClusterId: a.ClusterId ?? q.ClusterId }), r => r, j => j.Cluster.Status.State, good];
jobs['elasticmapreduce:addStep'] = ['DescribeStep', (q, a) => ({ ClusterId: q.ClusterId, StepId: a.StepId }), r => r, j => j.Step.Status.State];
const good = ['SUCCEEDED', 'SUCCESS', 'COMPLETED'];
const bad = ['FAILED', 'FAULT', 'CANCELLED', 'STOPPED', 'TIMEOUT', 'TIMED_OUT', 'ERROR', 'EXPIRED', 'TERMINATED', 'CREATE_FAILED', 'DELETE_FAILED',
  'TERMINATED_WITH_ERRORS', 'INTERRUPTED'];

// The actions of elasticmapreduce are no operations of EMR's API: the operation, its request, and what of its answer is theirs.
const emr = {
  createCluster: ['RunJobFlow', q => q, a => ({ ClusterId: a.JobFlowId })],
  setClusterTerminationProtection: ['SetTerminationProtection', q => ({ JobFlowIds: [q.ClusterId], TerminationProtected: q.TerminationProtected }), () => ({})],
  terminateCluster: ['TerminateJobFlows', q => ({ JobFlowIds: [q.ClusterId] }), () => ({})],
  addStep: ['AddJobFlowSteps', q => ({ JobFlowId: q.ClusterId, Steps: [q.Step], ExecutionRoleArn: q.ExecutionRoleArn }), a => ({ StepId: a.StepIds[0] })],
  cancelStep: ['CancelSteps', q => ({ ClusterId: q.ClusterId, StepIds: [q.StepId] }), a => ({ CancelStepsInfo: a.CancelStepsInfoList[0] })],
  modifyInstanceFleetByName: ['ModifyInstanceFleet', (q, id) => ({ ClusterId: q.ClusterId, InstanceFleet: { ...q.InstanceFleet, InstanceFleetId: id } }), () => ({}), 'InstanceFleet'],
  modifyInstanceGroupByName: ['ModifyInstanceGroups', (q, id) => ({ ClusterId: q.ClusterId, InstanceGroups: [{ ...q.InstanceGroup, InstanceGroupId: id }] }), () => ({}), 'InstanceGroup'],
};

// Spell members as the API does (jobName), or as Step Functions does (JobName).
function spell(value, change) {
  if (Array.isArray(value)) return value.map(v => spell(v, change));
  if (!value || value.constructor !== Object) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [change(k[0]) + k.slice(1), maps.has(k.toLowerCase()) ? v : spell(v, change)]));
}

const [, service, action, , pattern] = /^arn:aws:states:::(?:aws-sdk:)?([^:]+):(\w+)(\.(\w+))?/.exec(process.env.SFFLOW_RESOURCE);
const prefix = { 'emr-serverless': 'EmrServerless', eks: 'EKS', ecs: 'ECS', sagemaker: 'SageMaker', codebuild: 'CodeBuild', elasticmapreduce: 'ElasticMapReduce' }[service] ?? service[0].toUpperCase() + service.slice(1);
const request = JSON.parse(readFileSync(0, 'utf8'));

// Call an operation by its name in the API.
async function call(sdk, client, operation, input) {
  const { $metadata, ...given } = await client.send(new sdk[`${operation}Command`](lower.has(service) ? spell(input, c => c.toLowerCase()) : input));
  const answer = lower.has(service) ? spell(given, c => c.toUpperCase()) : given;
  if (answer.Body?.transformToString) answer.Body = await answer.Body.transformToString();
  return answer;
}

// Do what the Resource says, and give its answer.
async function act(sdk, client, request) {
  if (service === 'eks' && ['call', 'runJob'].includes(action)) throw { name: 'States.TaskFailed', message: `eks:${action} is done by aws-task.py.` };
  if (service !== 'elasticmapreduce') return call(sdk, client, action[0].toUpperCase() + action.slice(1), request);
  const [operation, make, take, kind] = emr[action];
  let id;
  if (kind !== undefined) {
    const found = await call(sdk, client, `List${kind}s`, { ClusterId: request.ClusterId });
    id = found[`${kind}s`].find(one => one.Name === request[`${kind}Name`])?.Id;
    if (id === undefined) throw { name: 'InvalidRequestException', message: `${kind} ${request[`${kind}Name`]} does not exist.` };
  }
  return take(await call(sdk, client, operation, make(request, id)));
}

// Wait for the job of a request, and give its description; what is to be deleted is gone when the service knows it no more.
async function wait(sdk, client, request, answer) {
  const [ask, input, find, status, fine = good] = jobs[`${service}:${action}`];
  for (let job = answer; ;) {
    try {
      job = find(await call(sdk, client, ask, input(request, answer)));
    } catch (e) {
      if (action.startsWith('delete') && e.name === 'ResourceNotFoundException') return job;
      throw e;
    }
    if (fine.includes(status(job).toUpperCase())) return service === 'elasticmapreduce' ? { ...answer, ...job } : job;
    if (bad.includes(status(job).toUpperCase())) throw { name: 'States.TaskFailed', message: JSON.stringify(job) };
    await new Promise(done => setTimeout(done, 1000 * (process.env.AWS_TASK_POLL ?? 15)));
  }
}

try {
  const runtime = service === 'bedrock' && action === 'invokeModel' ? 'bedrock-runtime' : undefined;
  if (runtime && typeof request.Body !== 'string') request.Body = JSON.stringify(request.Body);
  const sdk = await import(`@aws-sdk/client-${runtime ?? packages[service] ?? service}`);
  const client = new (Object.entries(sdk).find(([name]) => /^[A-Z]\w*Client$/.test(name))[1])({});
  let answer = await act(sdk, client, request);
  if (pattern === 'sync') answer = await wait(sdk, client, request, answer);
  if (runtime && answer.ContentType?.startsWith('application/json')) answer.Body = JSON.parse(answer.Body);
  console.log(JSON.stringify(answer));
} catch (e) {
  const name = e.name.startsWith('States.') ? e.name : `${prefix}.${e.name.replace(/(Exception)?$/, 'Exception')}`;
  console.log(JSON.stringify({ Error: name, Cause: e.message }));
  process.exitCode = 1;
}
