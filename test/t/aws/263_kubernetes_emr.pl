# docs/examples/aws-task.py: eks:call and eks:runJob with a Kubernetes API on the loopback, behind a certificate of its
# own, and the actions of elasticmapreduce with boto3 and a server that answers as EMR does. Nothing leaves this
# machine.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use JSON::PP;
use MIME::Base64;
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;

my ($python) = grep { system("$_ -c 'import boto3' >/dev/null 2>&1") == 0 } qw(python3 /usr/bin/python3);
plan skip_all => 'boto3 is not installed' unless $python;

my $dir = PostgreSQL::Test::Utils::tempdir();
chmod 0755, $dir;

# --- the servers: Kubernetes in Python, for TLS; EMR here

IPC::Run::run([ qw(openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=cluster -addext
	subjectAltName=IP:127.0.0.1),
		'-keyout', "$dir/key.pem", '-out', "$dir/cert.pem" ], '>', '/dev/null', '2>', '/dev/null') or die 'openssl';
append_to_file("$dir/kubernetes.py", <<'EOS');
import base64, json, ssl, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlparse

looks = {}

def job(name):
    looks[name] = looks.get(name, 0) + 1
    ended = looks[name] > 1
    kind = "Failed" if name == "bad" else "Complete"
    return {"metadata": {"name": name},
            "status": {"conditions": [{"type": kind, "status": "True"}]} if ended else {"active": 1}}

class Api(BaseHTTPRequestHandler):
    def answer(self):
        url = urlparse(self.path)
        query = parse_qs(url.query)
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "null")
        bearer = self.headers.get("Authorization", "")
        signed = base64.urlsafe_b64decode(bearer[len("Bearer k8s-aws-v1."):] + "==").decode()
        jobs = "/apis/batch/v1/namespaces/night/jobs"
        status, text = 404, {"kind": "Status", "reason": "NotFound"}
        if "X-Amz-Signature=" not in signed or "x-k8s-aws-id" not in signed or "GetCallerIdentity" not in signed:
            status, text = 401, {"reason": "Unauthorized"}
        elif url.path == "/api/v1/namespaces/default/pods":
            status, text = 200, {"items": [], "asked": query}
        elif url.path == "/version":
            status, text = 200, "v1.33"
        elif url.path == "/echo":
            status, text = 201, {"method": self.command, "body": body}
        elif url.path == jobs and body["metadata"]["name"] == "twice":
            status, text = 409, {"reason": "AlreadyExists"}
        elif url.path == jobs:
            status, text = 201, job(body["metadata"]["name"])
        elif url.path.startswith(jobs + "/"):
            status, text = 200, job(url.path[len(jobs) + 1:])
        elif url.path == "/api/v1/namespaces/night/pods" and query == {"labelSelector": ["job-name=pi"]}:
            status, text = 200, {"items": [{"metadata": {"name": "pi-x1"},
                                            "spec": {"containers": [{"name": "pi-20"}, {"name": "side"}]}}]}
        elif url.path == "/api/v1/namespaces/night/pods/pi-x1/log":
            status, text = 200, '{ "pi": 3.14 }' if query["container"] == ["pi-20"] else \
                "lines " + query.get("tailLines", ["all"])[0]
        data = (text if isinstance(text, str) else json.dumps(text)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = answer

    def log_message(self, *arguments):
        pass

server = HTTPServer(("127.0.0.1", 0), Api)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1] + "/cert.pem", sys.argv[1] + "/key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
EOS
my $kubernetes = open my $said, '-|', $python, "$dir/kubernetes.py", $dir or die "python: $!";
my $kubernetes_port = <$said> + 0;

my $listener = IO::Socket::INET->new(Listen => 50, LocalAddr => '127.0.0.1', Proto => 'tcp', ReuseAddr => 1)
	or die "listen: $!";
my $port = $listener->sockport;
my $emr = fork // die "fork: $!";
serve() unless $emr;
END { kill 'KILL', grep { $_ } $emr, $kubernetes }

# What EMR would answer, by the operation in the header. A state changes from the first look to the second.
sub serve
{
	($emr, $kubernetes) = ();
	my %looks;
	my $later = sub { my ($key, $end) = @_; $looks{$key}++ ? $end : 'STARTING' };
	while (my $client = $listener->accept)
	{
		my ($head, $body) = ('', '');
		while (my $line = <$client>) { last if $line eq "\r\n"; $head .= $line }
		read $client, $body, $1 if $head =~ /^content-length: (\d+)/mi;
		my ($what) = $head =~ /^x-amz-target: ElasticMapReduce\.(\S+)/mi;
		my $asked = decode_json($body);
		my $cluster = $asked->{ClusterId} // '';
		my %answer = (
			RunJobFlow => sub { { JobFlowId => 'j-' . $asked->{Name} } },
			DescribeCluster => sub { { Cluster => { Id => $cluster,
				Status => { State => $later->($cluster, $cluster =~ /bad/ ? 'TERMINATED_WITH_ERRORS' : $cluster =~ /end/
				? 'TERMINATED' : 'WAITING') } } } },
			SetTerminationProtection => sub { $asked->{TerminationProtected} && $asked->{JobFlowIds}[0] eq 'j-a' ? {}
				: undef },
			TerminateJobFlows => sub { $asked->{JobFlowIds}[0] eq 'j-end' ? {} : undef },
			AddJobFlowSteps => sub { { StepIds => [ 's-' . $asked->{Steps}[0]{Name} ] } },
			DescribeStep => sub { { Step => { Id => $asked->{StepId},
				Status => { State => $later->($asked->{StepId}, $asked->{StepId} =~ /bad/ ? 'FAILED'
				: 'COMPLETED') } } } },
			CancelSteps => sub { { CancelStepsInfoList =>
				[ { StepId => $asked->{StepIds}[0], Status => 'SUBMITTED' } ] } },
			ListInstanceGroups => sub { { InstanceGroups => [ { Id => 'ig-1', Name => 'core' },
				{ Id => 'ig-2', Name => 'task' } ] } },
			ModifyInstanceGroups => sub { encode_json($asked->{InstanceGroups}[0]) =~ /ig-2/
				&& $asked->{InstanceGroups}[0]{InstanceCount} == 4 ? {} : undef },
			ListInstanceFleets => sub { { InstanceFleets => [ { Id => 'if-1', Name => 'core' } ] } },
			ModifyInstanceFleet => sub { $asked->{InstanceFleet}{InstanceFleetId} eq 'if-1'
				&& $asked->{InstanceFleet}{TargetSpotCapacity} == 2 ? {} : undef });
		my $answer = exists $answer{$what} ? $answer{$what}->() : undef;
		my $status = defined $answer ? 200 : 400;
		my $text = encode_json($answer // { __type => 'InvalidRequestException', message => "refused: $what" });
		print $client "HTTP/1.1 $status X\r\nContent-Type: application/x-amz-json-1.1\r\nContent-Length: "
			. length($text) . "\r\nConnection: close\r\n\r\n$text";
		close $client;
	}
	POSIX::_exit(0);
}

append_to_file("$dir/task",
	"#!/bin/sh\nPYTHONDONTWRITEBYTECODE=1 exec $python $FindBin::Bin/../../../docs/examples/aws-task.py\n");
chmod 0755, "$dir/task";
local @ENV{qw(AWS_ENDPOINT_URL AWS_TASK_POLL AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_DEFAULT_REGION
	AWS_EC2_METADATA_DISABLED)} =
  ("http://127.0.0.1:$port", '0.05', 'test', 'test', 'us-east-1', 'true');

my $node = new_node('main');
$node->safe_psql('postgres', q(SELECT sf_aws_install(services => '{eks,elasticmapreduce}')));
my $worker = start_worker($node, '-a', 'aws:program', '--program', "$dir/task", '--pass-env', 'AWS_*');
my $machines = 0;

# Run a task; gives its status, output, error and cause.
sub ask
{
	my ($resource, $request) = @_;
	my $name = 'm' . ++$machines;
	activity_machine($node, $name, resource => "arn:aws:states:::$resource", made => 1);
	return run_task($node, $name, ref $request ? encode_json($request) : $request);
}

# --- Kubernetes

my %cluster = (ClusterName => 'c', Endpoint => "https://127.0.0.1:$kubernetes_port",
	CertificateAuthority => encode_base64(slurp_file("$dir/cert.pem"), ''));

is(ask('eks:call', { %cluster, Method => 'GET', Path => '/api/v1/namespaces/default/pods',
	QueryParameters => { labelSelector => ['a=b'], limit => [ '1', '2' ] } }),
	'SUCCEEDED|{"StatusCode": 200, "ResponseBody": {"asked": {"limit": ["1", "2"], "labelSelector": ["a=b"]}, '
		. '"items": []}}||', 'a request with parameters');
is(ask('eks:call', { %cluster, Method => 'POST', Path => '/echo', RequestBody => { a => [ 1 ] } }),
	'SUCCEEDED|{"StatusCode": 201, "ResponseBody": {"body": {"a": [1]}, "method": "POST"}}||', 'one with a body');
is(ask('eks:call', { %cluster, Method => 'GET', Path => '/version' }),
	'SUCCEEDED|{"StatusCode": 200, "ResponseBody": "v1.33"}||', 'an answer that is no JSON');
is(ask('eks:call', { %cluster, Method => 'DELETE', Path => '/none' }),
	'FAILED||EKS.404|{"kind": "Status", "reason": "NotFound"}', 'a status names the error');
like(ask('eks:call', { %cluster, Endpoint => 'https://127.0.0.1:1', Method => 'GET', Path => '/version' }),
	qr/^FAILED\|\|EKS\.SdkClientException\|.*refused/, 'nobody answers');
IPC::Run::run([ qw(openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other), '-keyout', "$dir/other.key",
	'-out', "$dir/other.pem" ], '>', '/dev/null', '2>', '/dev/null') or die 'openssl';
like(ask('eks:call', { %cluster, CertificateAuthority => encode_base64(slurp_file("$dir/other.pem"), ''),
	Method => 'GET', Path => '/version' }),
	qr/^FAILED\|\|EKS\.SdkClientException\|.*certificate/i, 'a cluster with another certificate is not spoken to');

sub job_of { my $name = shift; return (Namespace => 'night',
	Job => { apiVersion => 'batch/v1', kind => 'Job', metadata => { name => $name } }) }
is(ask('eks:runJob', { %cluster, job_of('one') }),
	'SUCCEEDED|{"StatusCode": 201, "ResponseBody": {"status": {"active": 1}, "metadata": {"name": "one"}}}||', 'a job');
is(ask('eks:runJob.sync', { %cluster, job_of('two') }),
	'SUCCEEDED|{"status": {"conditions": [{"type": "Complete", "status": "True"}]}, "metadata": {"name": "two"}}||',
	'... that is waited for');
like(ask('eks:runJob.sync', { %cluster, job_of('pi'),
	LogOptions => { RetrieveLogs => JSON::PP::true, LogParameters => { tailLines => ['20'] } } }),
	qr/\Q"logs": {"pods": {"pi-x1": {"containers": {"side": {"log": "lines 20"}, "pi-20": {"log": {"pi": 3.14}}}}}}\E/,
		'... with its logs, JSON as values');
like(ask('eks:runJob.sync', { %cluster, job_of('pi'),
	LogOptions => { RetrieveLogs => JSON::PP::true, RawLogs => JSON::PP::true } }),
	qr/\Q"pi-20": {"log": "{ \"pi\": 3.14 }"}\E/, '... or as texts');
like(ask('eks:runJob.sync', { %cluster, job_of('bad') }), qr/^FAILED\|\|States\.TaskFailed\|\{.*"type": "Failed"/,
	'a job that fails');
is(ask('eks:runJob', { %cluster, job_of('twice') }), 'FAILED||EKS.409|{"reason": "AlreadyExists"}',
	'one that is there already');

# --- EMR

my $new = '"Instances": {"KeepJobFlowAliveWhenNoSteps": true}';
is(ask('elasticmapreduce:createCluster', qq({"Name": "a", $new})), 'SUCCEEDED|{"ClusterId": "j-a"}||',
	'a cluster of EMR');
is(ask('elasticmapreduce:createCluster.sync', qq({"Name": "a", $new})),
	'SUCCEEDED|{"Cluster": {"Id": "j-a", "Status": {"State": "WAITING"}}, "ClusterId": "j-a"}||',
	'... that is waited for');
like(ask('elasticmapreduce:createCluster.sync', qq({"Name": "bad", $new})),
	qr/^FAILED\|\|States\.TaskFailed\|.*TERMINATED_WITH_ERRORS/, '... that ends');
is(ask('elasticmapreduce:setClusterTerminationProtection', '{"ClusterId": "j-a", "TerminationProtected": true}'),
	'SUCCEEDED|{}||', 'it is protected');
my $step = '"HadoopJarStep": {"Jar": "command-runner.jar"}';
is(ask('elasticmapreduce:addStep', qq({"ClusterId": "j-a", "Step": {"Name": "x", $step}})),
	'SUCCEEDED|{"StepId": "s-x"}||', 'a step');
is(ask('elasticmapreduce:addStep.sync', qq({"ClusterId": "j-a", "Step": {"Name": "x", $step}})),
	'SUCCEEDED|{"Step": {"Id": "s-x", "Status": {"State": "COMPLETED"}}, "StepId": "s-x"}||', '... that is waited for');
like(ask('elasticmapreduce:addStep.sync', qq({"ClusterId": "j-a", "Step": {"Name": "bad", $step}})),
	qr/^FAILED\|\|States\.TaskFailed\|.*"FAILED"/, '... that fails');
is(ask('elasticmapreduce:cancelStep', '{"ClusterId": "j-a", "StepId": "s-x"}'),
	'SUCCEEDED|{"CancelStepsInfo": {"Status": "SUBMITTED", "StepId": "s-x"}}||', '... that is cancelled');
is(ask('elasticmapreduce:modifyInstanceGroupByName',
	'{"ClusterId": "j-a", "InstanceGroupName": "task", "InstanceGroup": {"InstanceCount": 4}}'), 'SUCCEEDED|{}||',
	'a group by its name');
is(ask('elasticmapreduce:modifyInstanceFleetByName',
	'{"ClusterId": "j-a", "InstanceFleetName": "core", "InstanceFleet": {"TargetSpotCapacity": 2}}'), 'SUCCEEDED|{}||',
	'a fleet by its name');
is(ask('elasticmapreduce:modifyInstanceFleetByName',
	'{"ClusterId": "j-a", "InstanceFleetName": "x", "InstanceFleet": {"TargetSpotCapacity": 2}}'),
	'FAILED||ElasticMapReduce.InvalidRequestException|InstanceFleet x does not exist.', '... that is not there');
is(ask('elasticmapreduce:terminateCluster.sync', '{"ClusterId": "j-end"}'),
	'SUCCEEDED|{"Cluster": {"Id": "j-end", "Status": {"State": "TERMINATED"}}}||', 'a cluster is ended');
is(ask('elasticmapreduce:terminateCluster', '{"ClusterId": "j-x"}'),
	'FAILED||ElasticMapReduce.InvalidRequestException|refused: TerminateJobFlows', 'an error of the service');
is(stop_worker($worker), 0, 'the worker leaves');
kill 'KILL', $kubernetes; # or the end of the pipe would be waited for
close $said;
$kubernetes = undef;
$node->stop;
done_testing();
