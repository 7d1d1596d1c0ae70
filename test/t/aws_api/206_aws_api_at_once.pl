# Calls of the AWS API that meet: the same state machine and the same execution from two sessions, the limits of a Map
# run while workers run it.
# needs: hold
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main');

# Two sessions make calls: the first one in a transaction that stays open until the second one waits for it.
# Returns what both have printed, the second one its error when it has one.
sub at_once
{
	my ($first, $second) = @_;
	my ($one, $two) = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 2;
	my $answer = $one->query_safe("BEGIN; SET LOCAL client_min_messages = error; SELECT $first");
	my $pid = $two->query_safe('SELECT pg_backend_pid()');
	$two->query_until(qr/begun/, "\\set VERBOSITY verbose\n\\echo begun\nSELECT $second;\n\\echo done\n");
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $pid
		AND wait_event_type = 'Lock'")
	  or die 'the second session does not wait';
	$one->query_safe('COMMIT');
	my $other = $two->query_until(qr/done/, '');
	my ($name) = $two->{stderr} =~ /CONSTRAINT NAME:  (\w+)/;
	$_->quit for $one, $two;
	return ($answer, $name // $other);
}

# The call that creates a state machine whose state has a result.
sub create
{
	my ($name, $result) = @_;
	return qq(sf_aws_api('CreateStateMachine', jsonb_build_object('name', '$name',
		'roleArn', 'arn:aws:iam::000000000000:role/r', 'definition',
		'{"StartAt":"P","States":{"P":{"Type":"Pass","Result":$result,"End":true}}}')));
}

my ($one, $two) = at_once(create('same', 1), create('same', 1));
like($two, qr/^\Q$one\E/, 'a state machine is created once, and both sessions get the same answer');
($one, $two) = at_once(create('other', 1), create('other', 2));
is($two, 'StateMachineAlreadyExists', 'another definition at the same time is refused');

# The call that starts an execution.
sub start
{
	my ($name, $input) = @_;
	return qq(sf_aws_api('StartExecution',
		'{"stateMachineArn": "arn:aws:states:::stateMachine:same", "name": "$name", "input": "$input"}'));
}

# Workers end such an execution at once, so that they are kept from it.
$node->safe_psql('postgres', q(SELECT sf_hold('same')));
($one, $two) = at_once(start('a', '1'), start('a', '1'));
like($two, qr/^\Q$one\E/, 'an execution is started once, and both sessions get the same answer');
($one, $two) = at_once(start('b', '1'), start('b', '2'));
is($two, 'ExecutionAlreadyExists', 'another input at the same time is refused');
is($node->safe_psql('postgres', q(SELECT count(*) FROM sf_executions)), '2', 'there are two executions');
# The same redrive is sent again while the first one is under way, which SDKs do when an answer is late.
my $redrive = q(sf_aws_api('RedriveExecution', '{"executionArn": "arn:aws:states:::execution:same:a",
	"clientToken": "%s"}'));
$node->safe_psql('postgres', q(SELECT sf_stop('same:a')));
($one, $two) = at_once((sprintf $redrive, 'one') x 2);
like($two, qr/^\Q$one\E/, 'an execution is redriven once, and both sessions get the same answer');
$node->safe_psql('postgres', q(SELECT sf_stop('same:a')));
($one, $two) = at_once((sprintf $redrive, 'two'), (sprintf $redrive, 'three'));
is($two, 'ExecutionNotRedrivable', 'another token at the same time is refused');
$node->safe_psql('postgres', q(SELECT sf_release('same')));

# Executions of a machine of type EXPRESS may have one name: the second one does not wait for the first.
$node->safe_psql('postgres', create('fast', 1) =~ s/^/SELECT /r =~ s/'name'/'type', 'EXPRESS', 'name'/r);
my $sync = q(SELECT sf_aws_api('StartSyncExecution',
	'{"stateMachineArn": "arn:aws:states:::stateMachine:fast", "name": "a"}') ->> 'status');
my $open = $node->background_psql('postgres');
is($open->query_safe("BEGIN; $sync"), 'SUCCEEDED', 'an execution is run in a transaction');
is($node->safe_psql('postgres', "SET lock_timeout = '60s'; $sync"), 'SUCCEEDED',
	'... and another one with its name meanwhile');
$open->query_safe('COMMIT');
$open->quit;

# --- a run whose limit is raised

$node->safe_psql('postgres', <<'EOS');
SELECT sf_create_activity('outside');
SELECT sf_create_state_machine('fan', '{"StartAt": "M", "States": {"M": {"Type": "Map", "MaxConcurrency": 1,
	"End": true,
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "A",
		"States": {
		"A": {"Type": "Task", "Resource": "activity:outside", "End": true}}}}}}');
SELECT sf_start('fan', '[1, 2, 3, 4]', 'a');
EOS
my $queued = q(SELECT queued = %d FROM sf_activities WHERE activity = 'outside');
ok($node->poll_query_until('postgres', sprintf $queued, 1), 'one child of four waits for its answer');
my $run = $node->safe_psql('postgres', q(SELECT map_run_arn FROM sf_map_runs));
is($node->safe_psql('postgres', qq(SELECT sf_aws_api('UpdateMapRun', '{"mapRunArn": "$run", "maxConcurrency": 3}'))),
	'{}', 'three may run');
ok($node->poll_query_until('postgres', sprintf $queued, 3), '... and two more begin, although none has ended');
is($node->safe_psql('postgres', qq(SELECT sf_aws_api('DescribeMapRun',
	'{"mapRunArn": "$run"}') -> 'itemCounts' ->> 'running')), '3', '... as DescribeMapRun tells');
is($node->safe_psql('postgres', qq(SELECT sf_aws_api('UpdateMapRun',
	'{"mapRunArn": "$run", "maxConcurrency": 1, "toleratedFailureCount": 4}'))), '{}',
	'one may run, and four may fail');
my $answer = q(SELECT sf_aws_api('SendTaskFailure', jsonb_build_object('taskToken',
	sf_aws_api('GetActivityTask', '{"activityArn": "arn:aws:states:::activity:outside"}') ->> 'taskToken', 'error',
		'E')));
$node->safe_psql('postgres', $answer) for 1 .. 3;
ok($node->poll_query_until('postgres', sprintf $queued, 1), 'when three have failed, the last one begins');
$node->safe_psql('postgres', $answer);
is($node->safe_psql('postgres', q(SELECT sf_await('fan:a', '60 s'))), 'SUCCEEDED', 'four failures are tolerated');

$node->stop;
done_testing();
