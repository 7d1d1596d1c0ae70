# docs/examples/aws-task.py with boto3 itself, whose requests go to a server on the loopback that answers as the
# services do: jobs of Glue, of EMR Serverless and of EKS.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use JSON::PP;
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;

my ($python) = grep { system("$_ -c 'import boto3' >/dev/null 2>&1") == 0 } qw(python3 /usr/bin/python3);
plan skip_all => 'boto3 is not installed' unless $python;

# What the services would answer: by the operation in the header (Glue), or by method and path. A status changes from
# the first look to the second.
my $listener = IO::Socket::INET->new(Listen => 50, LocalAddr => '127.0.0.1', Proto => 'tcp', ReuseAddr => 1)
	or die "listen: $!";
my $port = $listener->sockport;
my $server = fork // die "fork: $!";
serve() unless $server;
END { kill 'KILL', $server if $server }

sub serve
{
	$server = undef;
	my %looks;
	my $later = sub { my ($key, $end) = @_; $looks{$key}++ ? $end : 'RUNNING' };
	while (my $client = $listener->accept)
	{
		my ($head, $body) = ('', '');
		while (my $line = <$client>) { last if $line eq "\r\n"; $head .= $line }
		read $client, $body, $1 if $head =~ /^content-length: (\d+)/mi;
		my ($what) = $head =~ /^x-amz-target: (\S+)/mi ? $1 : $head =~ m{^(\S+ [^? ]+)};
		my $asked = $body eq '' ? {} : decode_json($body);
		my $run = $asked->{RunId} // '';
		my %answer = (
			'AWSGlue.StartJobRun' => [200, { JobRunId => "jr_$asked->{JobName}" }],
			'AWSGlue.GetJobRun' => [200,
				{ JobRun => { Id => $run, JobName => $asked->{JobName}, JobRunState => $what =~ /GetJobRun/
				? $later->($run, $run =~ /bad/ ? 'FAILED' : 'SUCCEEDED') : '' } }],
			'POST /applications/00a/jobruns' =>
				[200, { applicationId => '00a', jobRunId => '00j',
				arn => 'arn:aws:emr-serverless:us-east-1:1:/applications/00a/jobruns/00j' }],
			'GET /applications/00a/jobruns/00j' =>
				[200, { jobRun => { applicationId => '00a', jobRunId => '00j', state => $what =~ m{^GET.*00j}
				? $later->('00j', 'SUCCESS') : '' } }],
			'POST /clusters' => [200, { cluster => { name => 'c', status => 'CREATING' } }],
			'GET /clusters/c' => [200, { cluster => { name => 'c', status => $what eq 'GET /clusters/c'
				? $later->('c', 'ACTIVE') : '' } }],
			'DELETE /clusters/d' => [200, { cluster => { name => 'd', status => 'DELETING' } }]);
		my ($status, $answer) = @{ $answer{$what}
			// [404, { message => "No cluster found for name: d.", __type => 'ResourceNotFoundException' }] };
		my $text = encode_json($answer);
		print $client "HTTP/1.1 $status X\r\nContent-Type: application/json\r\nContent-Length: " . length($text)
			. "\r\n"
		  . ($status == 404 ? "x-amzn-ErrorType: ResourceNotFoundException\r\n" : '')
		  	. "Connection: close\r\n\r\n$text";
		close $client;
	}
	POSIX::_exit(0);
}

my $dir = PostgreSQL::Test::Utils::tempdir();
chmod 0755, $dir;
append_to_file("$dir/task", "#!/bin/sh\nexec $python $FindBin::Bin/../../../docs/examples/aws-task.py\n");
chmod 0755, "$dir/task";
local @ENV{qw(AWS_ENDPOINT_URL AWS_TASK_POLL AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_DEFAULT_REGION
	AWS_EC2_METADATA_DISABLED)} =
  ("http://127.0.0.1:$port", '0.05', 'test', 'test', 'us-east-1', 'true');

my $node = new_node('main');
$node->safe_psql('postgres', q(SELECT sf_aws_install(services => '{glue,eks,emr-serverless}')));
my $worker = start_worker($node, '-a', 'aws:program', '--program', "$dir/task", '--pass-env', 'AWS_*');
my $machines = 0;

sub ask
{
	my ($resource, $request) = @_;
	my $name = 'm' . ++$machines;
	activity_machine($node, $name, resource => "arn:aws:states:::$resource", made => 1);
	return run_task($node, $name, $request);
}

is(ask('glue:startJobRun.sync', '{"JobName": "load"}'),
	'SUCCEEDED|{"Id": "jr_load", "JobName": "load", "JobRunState": "SUCCEEDED"}||', 'a job of Glue');
like(ask('glue:startJobRun.sync', '{"JobName": "bad"}'), qr/^FAILED\|\|States\.TaskFailed\|\{.*"JobRunState": "FAILED"/,
	'... that fails');
is(ask('emr-serverless:startJobRun.sync',
	'{"ApplicationId": "00a", "ExecutionRoleArn": "arn:aws:iam::123456789012:role/r", "ClientToken": "c"}'),
	'SUCCEEDED|{"State": "SUCCESS", "JobRunId": "00j", "ApplicationId": "00a"}||', 'a job of EMR Serverless');
is(ask('eks:createCluster.sync',
	'{"Name": "c", "RoleArn": "arn:aws:iam::123456789012:role/r", "ResourcesVpcConfig": {"SubnetIds": ["s"]}}'),
	'SUCCEEDED|{"Cluster": {"Name": "c", "Status": "ACTIVE"}}||', 'a cluster of EKS');
is(ask('eks:deleteCluster.sync', '{"Name": "d"}'), 'SUCCEEDED|{"Cluster": {"Name": "d", "Status": "DELETING"}}||',
	'... and one that is deleted');
is(ask('eks:deleteCluster', '{"Name": "none"}'), 'FAILED||EKS.ResourceNotFoundException|No cluster found for name: d.',
	'an error of the service');
is(stop_worker($worker), 0, 'the worker leaves');
$node->stop;
done_testing();
