# Services of AWS that a program outside does: sfworker's kind program, and the examples in Python and JavaScript with
# stubs of the SDKs. Nothing leaves this machine.
use strict;
use warnings;
use File::Copy;
use File::Path qw(make_path);
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
chmod 0755, $dir;
my $examples = "$FindBin::Bin/../../../docs/examples";
my $node = new_node('main');
$node->safe_psql('postgres',
	q(SELECT sf_aws_install(services => '{glue,batch,ecs,eks,bedrock,emr-serverless,elasticmapreduce,aws-sdk}')));

# Write a file.
sub put
{
	my ($name, $text, $mode) = @_;
	make_path("$dir/$name" =~ s{/[^/]*$}{}r);
	append_to_file("$dir/$name", $text);
	chmod $mode // 0644, "$dir/$name";
	return "$dir/$name";
}

# Run a task; gives its status, output, error and cause.
my $machines = 0;

sub ask
{
	my ($resource, $request) = @_;
	my $name = 'm' . ++$machines;
	activity_machine($node, $name, resource => "arn:aws:states:::$resource", made => 1);
	return run_task($node, $name, $request);
}

# --- a program: what it is given, and how it ends

my $program = put('program', <<'EOS', 0755);
#!/bin/sh
read -r request
case "$request" in
	*echo*) printf '{"request": %s, "resource": "%s", "state": "%s"}' "$request" "$SFFLOW_RESOURCE" "$SFFLOW_STATE" ;;
	*named*) echo '{"Error": "Glue.EntityNotFoundException", "Cause": "no such job"}'; exit 1 ;;
	*alone*) echo '{"Error": "Glue.Alone"}'; exit 1 ;;
	*good*) echo '{"Error": "of no meaning"}' ;;
	*empty*) echo '{"Error": "", "Cause": "x"}'; echo 'the tail' >&2; exit 3 ;;
	*number*) echo '{"Error": 5}'; echo 'the tail' >&2; exit 4 ;;
	*killed*) echo '{"Error": "Told.Before"}'; kill -9 $$ ;;
esac
EOS
my $worker = start_worker($node, '-a', 'aws:program', '--program', $program);
is(ask('glue:startJobRun', '{"echo": "$(touch x)", "Command": ["rm"], "TimeoutSeconds": "any"}'),
	'SUCCEEDED|{"state": "Work", "request": {"echo": "$(touch x)", "Command": ["rm"], "TimeoutSeconds": "any"}, '
		. '"resource": "arn:aws:states:::glue:startJobRun"}||',
	'the request is the input, of which no member means anything to the worker');
like(ask('batch:submitJob.sync', '{"echo": 1}'), qr/"arn:aws:states:::batch:submitJob.sync"/,
	'the pattern is in SFFLOW_RESOURCE');
is(ask('glue:startJobRun', '{"do": "named"}'), 'FAILED||Glue.EntityNotFoundException|no such job',
	'a program names its error');
is(ask('glue:startJobRun', '{"do": "alone"}'), 'FAILED||Glue.Alone|', '... without a cause');
is(ask('glue:startJobRun', '{"do": "good"}'), 'SUCCEEDED|{"Error": "of no meaning"}||',
	'with status 0 it is the output');
is(ask('glue:startJobRun', '{"do": "empty"}'), "FAILED||Program.ExitCode.3|the tail\n", 'an empty name is none');
is(ask('glue:startJobRun', '{"do": "number"}'), "FAILED||Program.ExitCode.4|the tail\n", 'nor is a number');
like(ask('glue:startJobRun', '{"do": "killed"}'), qr/^FAILED\|\|Program\.Signal\.9\|/,
	'a signal is an error, whatever was said before');
like(ask('glue:startJobRun', '[1]'), qr/^FAILED\|\|Program\.InvalidParameters\|/, 'a request is an object');
stop_worker($worker);
$worker = start_worker($node, '-a', 'aws:program', '--program', "$dir/none");
like(ask('glue:startJobRun', '{}'), qr/^FAILED\|\|Program\.StartFailed\|cannot start /, 'a program that is not there');
stop_worker($worker);

my ($status, $said) = dry_run('{"Command": "x"}', '-a', 'aws:program', '--program', $program);
is($status, 0, 'a dry run');
like($said, qr/"argv":\["\Q$program\E"\],"directory":null,"inputBytes":16/, '... says what would be run');
($status, $said) = dry_run('{}', '-a', 'aws:program');
is($status, 2, 'the kind needs a program');
like($said, qr/activity "aws" needs a program \(--program\)/, '... and says so');

# --- the examples, with SDKs that know a few operations and call nobody

# What both do: batch spells members in lower case, a job runs for two looks at it.
sub check_example
{
	my ($language, @options) = @_;
	my $example = start_worker($node, '-a', 'aws:program', @options);
	is(ask('glue:startJobRun', '{"JobName": "load", "Arguments": {"--day": "5"}}'),
		'SUCCEEDED|{"JobRunId": "jr-load-5"}||', "$language: a request and its answer");
	is(ask('glue:startJobRun.sync', '{"JobName": "load", "Arguments": {"--day": "5"}}'),
		'SUCCEEDED|{"Id": "jr-load-5", "JobRunState": "SUCCEEDED"}||', "$language: .sync waits for the job");
	is(ask('glue:startJobRun.sync', '{"JobName": "bad", "Arguments": {"--day": "5"}}') =~ s/"\s*:\s+/":/gr,
		'FAILED||States.TaskFailed|{"Id":"jr-bad-5", "JobRunState":"FAILED"}' =~ s/, /$language eq 'Python' ? ', ' : ','/er,
			"$language: a job that fails is an error");
	is(ask('aws-sdk:glue:getJob', '{"JobName": "none"}'), 'FAILED||Glue.EntityNotFoundException|Job none not found.',
		"$language: an error of the service");
	is(ask('batch:submitJob',
		'{"JobName": "b", "JobQueue": "q", "JobDefinition": "d", "Parameters": {"Day": "5"}, "ArrayProperties": '
		. '{"Size": 2}}'),
		'SUCCEEDED|{"JobId": "b-q-5-2", "JobName": "b"}||',
			"$language: members are spelt as the API does, names in maps stay");
	is(ask('batch:submitJob.sync',
		'{"JobName": "b", "JobQueue": "q", "JobDefinition": "d", "Parameters": {"Day": "5"}, "ArrayProperties": '
		. '{"Size": 2}}'),
		'SUCCEEDED|{"JobId": "b-q-5-2", "Status": "SUCCEEDED", "Parameters": {"Day": "5"}}||',
			"$language: a job of Batch");
	is(ask('ecs:runTask.sync', '{"Cluster": "c", "TaskDefinition": "good"}'),
		'SUCCEEDED|{"TaskArn": "arn:good", "Containers": [{"ExitCode": 0}], "LastStatus": "STOPPED"}||',
			"$language: a task of ECS");
	like(ask('ecs:runTask.sync', '{"Cluster": "c", "TaskDefinition": "bad"}'),
		qr/^FAILED\|\|States\.TaskFailed\|.*"ExitCode": ?7/, "$language: a container that fails");
	is(ask('eks:createCluster.sync', '{"Name": "c"}'), 'SUCCEEDED|{"Cluster": {"Name": "c", "Status": "ACTIVE"}}||',
		"$language: a cluster of EKS");
	is(ask('eks:createCluster.sync', '{"Name": "bad"}') =~ s/"\s*:\s+/":/gr,
		'FAILED||States.TaskFailed|{"Cluster":{"Name":"bad", "Status":"FAILED"}}' =~ s/, /$language eq 'Python' ? ', ' : ','/er,
		"$language: one that cannot be made");
	is(ask('eks:deleteCluster.sync', '{"Name": "gone"}'),
		'SUCCEEDED|{"Cluster": {"Name": "gone", "Status": "DELETING"}}||', "$language: one that is deleted");
	is(ask('emr-serverless:createApplication.sync', '{"Name": "a"}'),
		'SUCCEEDED|{"State": "CREATED", "ApplicationId": "app"}||', "$language: an application of EMR Serverless");
	is(ask('emr-serverless:startJobRun.sync', '{"ApplicationId": "app"}'),
		'SUCCEEDED|{"State": "SUCCESS", "JobRunId": "run"}||', "$language: a job of it");
	is(ask('bedrock:createModelCustomizationJob.sync', '{"JobName": "j"}'),
		'SUCCEEDED|{"JobArn": "arn:j", "Status": "Completed"}||', "$language: a job of Bedrock");
	is(ask('bedrock:invokeModel', '{"ModelId": "m", "ContentType": "application/json", "Body": {"prompt": "p"}}'),
		'SUCCEEDED|{"Body": {"heard": "{\"prompt\":\"p\"}"}, "ContentType": "application/json"}||',
			"$language: a model of Bedrock");
	is(stop_worker($example), 0, "$language: the worker leaves");
	return;
}

$ENV{PYTHONPATH} = $dir;
$ENV{AWS_TASK_POLL} = '0.05';
put('botocore/__init__.py', '');
put('botocore/exceptions.py', <<'EOS');
class BotoCoreError(Exception):
    pass


class ClientError(Exception):
    def __init__(self, code, message):
        self.response = {"Error": {"Code": code, "Message": message}}
EOS
put('boto3/__init__.py', <<'EOS');
import datetime
import io
import json
from types import SimpleNamespace

from botocore.exceptions import ClientError


def structure(**members):
    return SimpleNamespace(type_name="structure", members=members)


def of(member):
    return SimpleNamespace(type_name="list", member=member)


text = SimpleNamespace(type_name="string")
blob = SimpleNamespace(type_name="blob")
names = SimpleNamespace(type_name="map", value=text)
cluster = structure(name=text, status=text)
job = structure(jobId=text, status=text, parameters=names)
task = structure(taskArn=text, lastStatus=text, containers=of(structure(exitCode=text)))
shapes = {
    "StartJobRun": (structure(JobName=text, Arguments=names), structure(JobRunId=text)),
    "GetJobRun": (structure(JobName=text, RunId=text), structure(JobRun=structure(Id=text, JobRunState=text))),
    "GetJob": (structure(JobName=text), structure()),
    "SubmitJob": (structure(jobName=text, jobQueue=text, jobDefinition=text, parameters=names,
    	arrayProperties=structure(size=text)),
    	structure(jobId=text, jobName=text)),
    "DescribeJobs": (structure(jobs=of(text)), structure(jobs=of(job))),
    "RunTask": (structure(cluster=text, taskDefinition=text), structure(tasks=of(task))),
    "DescribeTasks": (structure(cluster=text, tasks=of(text)), structure(tasks=of(task))),
    "CreateCluster": (structure(name=text), structure(cluster=cluster)),
    "DeleteCluster": (structure(name=text), structure(cluster=cluster)),
    "DescribeCluster": (structure(name=text), structure(cluster=cluster)),
    "CreateApplication": (structure(name=text), structure(applicationId=text)),
    "GetApplication": (structure(applicationId=text), structure(application=structure(applicationId=text, state=text))),
    "CreateModelCustomizationJob": (structure(jobName=text), structure(jobArn=text)),
    "GetModelCustomizationJob": (structure(jobIdentifier=text), structure(jobArn=text, status=text)),
    "InvokeModel": (structure(modelId=text, contentType=text, body=blob), structure(body=blob, contentType=text)),
}
serverless = {
    "StartJobRun": (structure(applicationId=text), structure(jobRunId=text)),
    "GetJobRun": (structure(applicationId=text, jobRunId=text), structure(jobRun=structure(jobRunId=text, state=text))),
}


class Client:
    def __init__(self, shapes):
        self.looks = 0
        self.meta = SimpleNamespace(service_model=SimpleNamespace(
        	operation_model=lambda name: SimpleNamespace(input_shape=shapes[name][0], output_shape=shapes[name][1])))

    def look(self, end):
        self.looks += 1
        return "RUNNING" if self.looks < 2 else end

    def start_job_run(self, JobName, Arguments):
        return {"JobRunId": f"jr-{JobName}-{Arguments['--day']}", "ResponseMetadata": {}}

    def get_job_run(self, JobName, RunId):
        return {"JobRun": {"Id": RunId, "JobRunState": self.look("FAILED" if JobName == "bad" else "SUCCEEDED")}}

    def get_job(self, JobName):
        raise ClientError("EntityNotFoundException", f"Job {JobName} not found.")

    def submit_job(self, jobName, jobQueue, jobDefinition, parameters, arrayProperties):
        return {"jobId": f"{jobName}-{jobQueue}-{parameters['Day']}-{arrayProperties['size']}", "jobName": jobName}

    def describe_jobs(self, jobs):
        return {"jobs": [{"jobId": jobs[0], "status": self.look("SUCCEEDED"), "parameters": {"Day": "5"}}]}

    def run_task(self, cluster, taskDefinition):
        return {"tasks": [{"taskArn": "arn:" + taskDefinition}]}

    def describe_tasks(self, cluster, tasks):
        return {"tasks": [{"taskArn": tasks[0], "lastStatus": self.look("STOPPED"),
        	"containers": [{"exitCode": 7 if "bad" in tasks[0] else 0}]}]}

    def create_cluster(self, name):
        return {"cluster": {"name": name, "status": "CREATING"}}

    def delete_cluster(self, name):
        return {"cluster": {"name": name, "status": "DELETING"}}

    def describe_cluster(self, name):
        if name == "gone" and self.look("") == "":
            raise ClientError("ResourceNotFoundException", "No cluster found for name: gone.")
        return {"cluster": {"name": name,
        	"status": "DELETING" if name == "gone" else self.look("FAILED" if name == "bad" else "ACTIVE")}}

    def create_application(self, name):
        return {"applicationId": "app"}

    def get_application(self, applicationId):
        return {"application": {"applicationId": applicationId, "state": self.look("CREATED")}}

    def create_model_customization_job(self, jobName):
        return {"jobArn": "arn:" + jobName}

    def get_model_customization_job(self, jobIdentifier):
        return {"jobArn": jobIdentifier, "status": self.look("Completed")}

    def invoke_model(self, modelId, contentType, body):
        return {"body": io.BytesIO(json.dumps({"heard": body.replace(" ", "")}).encode()), "contentType": contentType}


class Serverless(Client):
    def start_job_run(self, applicationId):
        return {"jobRunId": "run"}

    def get_job_run(self, applicationId, jobRunId):
        return {"jobRun": {"jobRunId": jobRunId, "state": self.look("SUCCESS")}}


def client(service):
    assert service in ("glue", "batch", "ecs", "eks", "bedrock", "bedrock-runtime", "emr-serverless"), service
    return Serverless(shapes | serverless) if service == "emr-serverless" else Client(shapes)
EOS
check_example('Python', '--program', "$examples/aws-task.py", '--pass-env', 'PYTHON*', '--pass-env', 'AWS_*');

SKIP:
{
	skip 'node is not installed', 1 if system('node --version >/dev/null 2>&1') != 0;
	copy("$examples/aws-task.mjs", "$dir/aws-task.mjs") or die "copy: $!";
	chmod 0755, "$dir/aws-task.mjs";
	my %stub = (
		Glue => <<'EOS',
exports.StartJobRunCommand = command(({ JobName, Arguments }) => ({ JobRunId: `jr-${JobName}-${Arguments['--day']}` }));
exports.GetJobRunCommand = command(({ JobName, RunId }, look) => ({
	JobRun: { Id: RunId, JobRunState: look(JobName === 'bad' ? 'FAILED' : 'SUCCEEDED') } }));
exports.GetJobCommand = command(({ JobName }) => {
	throw Object.assign(new Error(`Job ${JobName} not found.`), { name: 'EntityNotFoundException' }); });
EOS
		Batch => <<'EOS',
exports.SubmitJobCommand = command(({ jobName, jobQueue, jobDefinition, parameters, arrayProperties }) => ({
	jobId: `${jobName}-${jobQueue}-${parameters.Day}-${arrayProperties.size}`, jobName }));
exports.DescribeJobsCommand = command(({ jobs }, look) => ({
	jobs: [{ jobId: jobs[0], status: look('SUCCEEDED'), parameters: { Day: '5' } }] }));
EOS
		ECS => <<'EOS');
exports.RunTaskCommand = command(({ cluster, taskDefinition }) => ({ tasks: [{ taskArn: `arn:${taskDefinition}` }] }));
exports.DescribeTasksCommand = command(({ cluster, tasks }, look) => ({
	tasks: [{ taskArn: tasks[0], lastStatus: look('STOPPED'),
		containers: [{ exitCode: tasks[0].includes('bad') ? 7 : 0 }] }] }));
EOS
	$stub{EKS} = <<'EOS';
exports.CreateClusterCommand = command(({ name }) => ({ cluster: { name, status: 'CREATING' } }));
exports.DeleteClusterCommand = command(({ name }) => ({ cluster: { name, status: 'DELETING' } }));
exports.DescribeClusterCommand = command(({ name }, look) => {
  if (name === 'gone' && look('') === '')
  	throw Object.assign(new Error('No cluster found for name: gone.'), { name: 'ResourceNotFoundException' });
  return { cluster: { name, status: name === 'gone' ? 'DELETING' : look(name === 'bad' ? 'FAILED' : 'ACTIVE') } };
});
EOS
	$stub{'EMR-Serverless'} = <<'EOS';
exports.CreateApplicationCommand = command(() => ({ applicationId: 'app' }));
exports.GetApplicationCommand = command(({ applicationId }, look) => ({
	application: { applicationId, state: look('CREATED') } }));
exports.StartJobRunCommand = command(() => ({ jobRunId: 'run' }));
exports.GetJobRunCommand = command(({ jobRunId }, look) => ({ jobRun: { jobRunId, state: look('SUCCESS') } }));
EOS
	$stub{Bedrock} = <<'EOS';
exports.CreateModelCustomizationJobCommand = command(({ jobName }) => ({ jobArn: `arn:${jobName}` }));
exports.GetModelCustomizationJobCommand = command(({ jobIdentifier }, look) => ({
	jobArn: jobIdentifier, status: look('Completed') }));
EOS
	$stub{'Bedrock-Runtime'} = <<'EOS';
exports.InvokeModelCommand = command(({ body }) => ({
	body: Object.assign(Buffer.from(JSON.stringify({ heard: body })),
		{ transformToString() { return this.toString(); } }), contentType: 'application/json' }));
EOS
	$stub{EMR} = <<'EOS';
exports.RunJobFlowCommand = command(({ Name }) => ({ JobFlowId: `j-${Name}` }));
exports.DescribeClusterCommand = command(({ ClusterId }, look) => ({
	Cluster: { Id: ClusterId, Status: { State: look('WAITING') } } }));
exports.AddJobFlowStepsCommand = command(({ JobFlowId, Steps }) => ({ StepIds: [`s-${JobFlowId}-${Steps[0].Name}`] }));
exports.DescribeStepCommand = command(({ StepId }, look) => ({
	Step: { Id: StepId, Status: { State: look(StepId.includes('bad') ? 'FAILED' : 'COMPLETED') } } }));
exports.ListInstanceGroupsCommand = command(() => ({ InstanceGroups: [{ Id: 'ig-1', Name: 'core' }] }));
exports.ModifyInstanceGroupsCommand = command(({ InstanceGroups: [{ InstanceGroupId, InstanceCount }] }) => {
	if (InstanceGroupId !== 'ig-1' || InstanceCount !== 4) throw new Error('wrong'); return {}; });
EOS
	for my $service (keys %stub)
	{
		my $package = 'node_modules/@aws-sdk/client-' . lc $service;
		put("$package/package.json", '{"main": "index.js"}');
		put("$package/index.js", <<"EOS");
let looks = 0;
const look = end => ++looks < 2 ? 'RUNNING' : end;
const command = act => class { constructor(input) { this.answer = () => act(input, look); } };
exports.__Client = class {};
exports.SomeClient = class { async send(command) { return { \$metadata: {}, ...command.answer() }; } };
$stub{$service}
EOS
	}
	check_example('JavaScript', '--program', "$dir/aws-task.mjs", '--pass-env', 'AWS_*');
	my $emr = start_worker($node, '-a', 'aws:program', '--program', "$dir/aws-task.mjs", '--pass-env', 'AWS_*');
	is(ask('elasticmapreduce:createCluster.sync', '{"Name": "c"}'),
		'SUCCEEDED|{"Cluster": {"Id": "j-c", "Status": {"State": "WAITING"}}, "ClusterId": "j-c"}||',
		'JavaScript: a cluster of EMR');
	is(ask('elasticmapreduce:addStep.sync', '{"ClusterId": "j", "Step": {"Name": "x"}}'),
		'SUCCEEDED|{"Step": {"Id": "s-j-x", "Status": {"State": "COMPLETED"}}, "StepId": "s-j-x"}||',
		'... a step of it');
	like(ask('elasticmapreduce:addStep.sync', '{"ClusterId": "j", "Step": {"Name": "bad"}}'),
		qr/^FAILED\|\|States\.TaskFailed\|.*"FAILED"/, '... one that fails');
	is(ask('elasticmapreduce:modifyInstanceGroupByName',
		'{"ClusterId": "j", "InstanceGroupName": "core", "InstanceGroup": {"InstanceCount": 4}}'), 'SUCCEEDED|{}||',
		'... a group by its name');
	is(ask('elasticmapreduce:modifyInstanceGroupByName',
		'{"ClusterId": "j", "InstanceGroupName": "x", "InstanceGroup": {"InstanceCount": 4}}'),
		'FAILED||ElasticMapReduce.InvalidRequestException|InstanceGroup x does not exist.', '... that is not there');
	is(ask('eks:call', '{}'), 'FAILED||States.TaskFailed|eks:call is done by aws-task.py.',
		'JavaScript: no Kubernetes');
	is(stop_worker($emr), 0, 'its worker leaves');
}

# The page names the options that were used here.
like(slurp_file("$examples/../aws.md"), qr/sfworker -a aws:program --program \S*aws-task\.py --pass-env 'AWS_\*'/,
	'the page says how to start it');

$node->stop;
done_testing();
