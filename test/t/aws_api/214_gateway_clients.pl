# Clients of AWS Step Functions run the nightly demo by sfgateway: boto3, the AWS CLI, the SDK for JavaScript; and the
# calls that Terraform makes are replayed.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;

my $test = "$FindBin::Bin/../..";
my $node = new_node('main');
my $inbox = PostgreSQL::Test::Utils::tempdir();
system("$test/demo/generate", $inbox) == 0 or die 'test/demo/generate';
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE retail LOGIN IN ROLE pg_read_server_files;
GRANT CREATE ON DATABASE postgres TO retail;
CREATE ROLE gateway LOGIN;
GRANT retail TO gateway;
GRANT EXECUTE ON FUNCTION sf_access_key TO gateway;
SQL
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-U', 'retail', '-f',
	"$test/demo/10-schema.sql", '-f', "$test/demo/20-jobs.sql",
	'-c', "INSERT INTO shop.inbox VALUES ('$inbox')" ], 'the demo');
my ($id, $secret) = split /\|/, $node->safe_psql('postgres', q{SELECT * FROM sf_create_access_key('retail')});
my $gateway = start_gateway($node, user => 'gateway');
local @ENV{qw(AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_DEFAULT_REGION AWS_REGION AWS_EC2_METADATA_DISABLED HOME)} =
  ($id, $secret, 'us-east-1', 'us-east-1', 'true', PostgreSQL::Test::Utils::tempdir());

# Run a program that prints TAP, as a subtest.
sub client
{
	my ($name, @command) = @_;
	return subtest $name => sub {
		my ($out, $err) = ('', '');
		my $good = IPC::Run::run(\@command, '<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(240));
		for (split /\n/, $out)
		{
			if (/^(not )?ok \d+ - (.*)/) { ok(!$1, $2) }
			elsif (/^#/) { diag $_ }
		}
		ok($good, 'it ends orderly') or diag $err;
		like($out, qr/^1\.\.\d+$/m, 'and did everything');
	};
}

client('boto3 and the AWS CLI', 'python3', "$test/clients/night.py", $gateway->{url}, "$test/demo/nightly.asl.json");
$node->safe_psql('postgres', q{UPDATE shop.payment SET terminal = 'T0000117' WHERE terminal = 'T00O0117'});

# Call an action by curl, which signs.
sub aws
{
	my ($action, $request) = @_;
	my $got = curl($gateway, '/', '--aws-sigv4', 'aws:amz:us-east-1:states', '--user', "$id:$secret", '-H',
		'Content-Type: application/x-amz-json-1.0',
		'-H', "X-Amz-Target: AWSStepFunctions.$action", '-d', JSON::PP->new->utf8->canonical->encode($request));
	return json($got->{body});
}

# Terraform's aws_sfn_state_machine and aws_sfn_activity: validate, create, read, plan without a difference, update,
# delete.
my $definition = '{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}';
is(aws('ValidateStateMachineDefinition', { definition => $definition, type => 'STANDARD' })->{result}, 'OK',
	'Terraform: validate');
my %wanted = (
	name => 'terraform', definition => $definition, roleArn => 'arn:aws:iam::123456789012:role/x', type => 'STANDARD',
	loggingConfiguration => { level => 'OFF', includeExecutionData => JSON::PP::false },
		tracingConfiguration => { enabled => JSON::PP::false });
my $machine = aws('CreateStateMachine', { %wanted, publish => JSON::PP::false,
	tags => [ { key => 'Name', value => 'x' } ] })->{stateMachineArn};
like($machine, qr/:stateMachine:terraform$/, 'Terraform: create');

# Read a machine as Terraform does; gives what it compares.
sub state_of
{
	my $read = aws('DescribeStateMachine', { stateMachineArn => $machine });
	is(ref aws('ListStateMachineVersions', { stateMachineArn => $machine, maxResults => 1 })->{stateMachineVersions},
		'ARRAY', 'Terraform: read versions');
	is($read->{status}, 'ACTIVE', 'Terraform: read');
	return { (map { $_ => $read->{$_} } keys %wanted),
		tags => aws('ListTagsForResource', { resourceArn => $machine })->{tags} };
}
is_deeply(state_of(), { %wanted, tags => [ { key => 'Name', value => 'x' } ] }, 'Terraform: a plan has no difference');
$wanted{definition} = '{"StartAt":"Q","States":{"Q":{"Type":"Succeed"}}}';
$wanted{loggingConfiguration} = { level => 'ERROR', includeExecutionData => JSON::PP::true,
	destinations => [ { cloudWatchLogsLogGroup =>
		{ logGroupArn => 'arn:aws:logs:us-east-1:123456789012:log-group:x:*' } } ] };
my %change = map { $_ => $wanted{$_} } qw(definition roleArn loggingConfiguration tracingConfiguration);
ok(aws('UpdateStateMachine', { stateMachineArn => $machine, %change })->{updateDate}, 'Terraform: update');
is_deeply(aws('TagResource', { resourceArn => $machine, tags => [ { key => 'Team', value => 'y' } ] }), {},
	'Terraform: tag');
is_deeply(aws('UntagResource', { resourceArn => $machine, tagKeys => ['Name'] }), {}, 'Terraform: untag');
is_deeply(state_of(), { %wanted, tags => [ { key => 'Team', value => 'y' } ] }, 'Terraform: again no difference');
is_deeply(aws('DeleteStateMachine', { stateMachineArn => $machine }), {}, 'Terraform: delete');
is(aws('DescribeStateMachine', { stateMachineArn => $machine })->{__type}, 'StateMachineDoesNotExist',
	'Terraform: it is gone');
my $activity = aws('CreateActivity', { name => 'terraform',
	tags => [ { key => 'Name', value => 'x' } ] })->{activityArn};
is(aws('DescribeActivity', { activityArn => $activity })->{name}, 'terraform', 'Terraform: an activity');
is_deeply(aws('ListTagsForResource', { resourceArn => $activity })->{tags}, [ { key => 'Name', value => 'x' } ],
	'Terraform: its tags');
is_deeply(aws('DeleteActivity', { activityArn => $activity }), {}, 'Terraform: delete it');
is(aws('DescribeActivity', { activityArn => $activity })->{__type}, 'ActivityDoesNotExist', 'Terraform: it is gone');

SKIP:
{
	my $why = 'the tests of @aws-sdk/client-sfn are MISSING: npm could not install it below test/clients';
	-d "$test/clients/node_modules/\@aws-sdk/client-sfn" or diag($why), skip $why, 1;
	my ($execution) = map { $_->{executionArn} } @{ aws('ListExecutions',
		{ stateMachineArn => aws('ListStateMachines', {})->{stateMachines}[0]{stateMachineArn} })->{executions} };
	client('the SDK for JavaScript', 'node', "$test/clients/night.mjs", $gateway->{url}, $execution);
}
# A redrive that is sent again, as SDKs do when its answer was lost; a start with a trace header.
$machine = aws('CreateStateMachine', { name => 'fails', roleArn => 'arn:aws:iam::123456789012:role/x',
	definition => '{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"E"}}}' })->{stateMachineArn};
my $failed = aws('StartExecution', { stateMachineArn => $machine, name => 'x',
	traceHeader => 'Root=1' })->{executionArn};
$node->safe_psql('postgres', q{CALL sf_wait('fails:x', '60 s')});
is(aws('DescribeExecution', { executionArn => $failed })->{traceHeader}, 'Root=1',
	'the trace header of a start is kept');
my $redriven = aws('RedriveExecution', { executionArn => $failed, clientToken => 'one' });
$node->safe_psql('postgres', q{CALL sf_wait('fails:x', '60 s')});
is_deeply(aws('RedriveExecution', { executionArn => $failed, clientToken => 'one' }), $redriven,
	'a redrive that is sent again has the same answer');
is(aws('DescribeExecution', { executionArn => $failed })->{redriveCount}, 1, '... and changes nothing');

stop_gateway($gateway);
$node->stop;
done_testing();
