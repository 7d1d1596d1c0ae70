# sfgateway's long polls: they cost no queries, workers that wait get each task once, and all are answered at the end.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('main');
$node->safe_psql('postgres', <<'SQL');
CREATE SCHEMA aws;
CREATE TABLE aws.task (activity text, payload text);
CREATE SEQUENCE aws.asked;
CREATE SEQUENCE aws.fails;
CREATE FUNCTION aws.sf_aws_api_as(role name, action text, request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	found aws.task;
BEGIN
	PERFORM nextval('aws.asked');
	IF action = 'StopExecution' THEN
		PERFORM pg_advisory_xact_lock(1);
		RETURN '{}';
	END IF;
	IF request->>'activityArn' LIKE '%missing' THEN
		RAISE EXCEPTION USING MESSAGE = 'it is not there', CONSTRAINT = 'ActivityDoesNotExist';
	END IF;
	IF request->>'activityArn' LIKE '%once_fails' AND EXISTS (SELECT FROM aws.task WHERE activity = 'once_fails')
		AND nextval('aws.fails') = 1 THEN
		RAISE EXCEPTION 'once';
	END IF;
	DELETE FROM aws.task t WHERE t.ctid = (SELECT ctid FROM aws.task s WHERE request->>'activityArn' LIKE '%:'
		|| s.activity
		LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING * INTO found;
	RETURN CASE WHEN found IS NULL THEN '{}' ELSE jsonb_build_object('taskToken', 't', 'input', found.payload) END;
END $$;
SQL
my $gateway = start_gateway($node, schema => 'aws', config => "[key AKIDFILE]\nrole = operator\nsecret = secret\n");
my @sign = ('--aws-sigv4', 'aws:amz:us-east-1:states', '--user', 'AKIDFILE:secret', '-H',
	'X-Amz-Target: AWSStepFunctions.GetActivityTask',
	'-H', 'Content-Type: application/x-amz-json-1.0');

# What a worker sends that asks for a task.
sub asks_for
{
	my $activity = shift;
	return signed_request($gateway, 'AKIDFILE:secret', 'GetActivityTask',
		qq({"activityArn": "arn:aws:states:us-east-1:123456789012:activity:$activity"}));
}

# Open connections that ask for a task.
sub workers
{
	my ($activity, $n) = @_;
	return senders($gateway, asks_for($activity), $n);
}

# Wait until nothing asks any more.
sub settled
{
	my $before = -1;
	return wait_for('nothing asks', sub {
		my $now = $node->safe_psql('postgres', 'SELECT last_value FROM aws.asked');
		my $same = $now == $before;
		$before = $now;
		sleep 0.3 unless $same;
		return $same ? "n$now" : 0;
	});
}

# Give tasks to an activity, in one transaction.
sub give
{
	my ($activity, @payloads) = @_;
	$node->safe_psql('postgres', join ';', 'BEGIN',
		(map { ("INSERT INTO aws.task VALUES ('$activity', '$_')", "NOTIFY sf_activity, '$activity'") } @payloads),
		'COMMIT');
	return;
}

give('one', 'there already');
like(curl($gateway, '/', @sign, '-d', '{"activityArn": "x:one"}')->{body}, qr/"there already"/, 'a task that is there');
is(json(curl($gateway, '/', @sign, '-d', '{"activityArn": "x:missing"}')->{body})->{__type}, 'ActivityDoesNotExist',
	'an error comes at once');

# 200 workers that wait, of two activities.
my @one = workers('one', 100);
my @two = workers('two', 100);
# One that came late may have asked once more, but not in each of these spans.
my ($asked, $later) = ('', settled());
for (1 .. 10)
{
	last if $asked eq $later;
	$asked = $later;
	sleep 2;
	$later = settled();
}
is($later, $asked, '200 workers that wait cause no query');
is(scalar(grep { read_within($_, 0) ne '' } @one, @two), 0, 'and have no answer');

# Each task goes to one worker, and to one of its activity.
give('one', 'a');
my @got;
wait_for('an answer', sub { push @got, grep { $_ ne '' } map { read_within($_, 0.001) } @one; scalar @got });
settled();
push @got, grep { $_ ne '' } map { read_within($_, 0.001) } @one;
is(scalar @got, 1, 'a task goes to one worker');
like($got[0] // '', qr/"input": "a"/, 'with its input');
give('two', map { "b$_" } 1 .. 20);
my (%payloads, %answered);
ok(wait_for('20 tasks', sub {
	for my $worker (@two)
	{
		next unless read_within($worker, 0.001) =~ /"input": "(b\d+)"/;
		$payloads{$1}++;
		$answered{$worker} = 1;
	}
	keys %payloads == 20;
}), 'tasks of one commit go to as many workers');
is_deeply([ sort values %payloads ], [ (1) x 20 ], 'each once');

# A worker that has left gets no task.
settled();
sub left { return scalar(() = gateway_log($gateway) =~ /"status":"499"/g) }
my $left = left();
@two = grep { !$answered{$_} } @two;
my @leaving = splice @two, 0, 60;
close $_ for @leaving;
ok(wait_for('all have left', sub { left() >= $left + 60 }), 'the gateway notices that workers have left');
give('two', map { "c$_" } 1 .. 10);
%payloads = ();
ok(wait_for('10 tasks', sub { $payloads{$_}++
	for map { read_within($_, 0.001) =~ /"input": "(c\d+)"/ ? $1 : () } @two; keys %payloads == 10 }),
	'tasks go to workers that are still there');

# A worker that gets an error has used a notification up; the next one asks.
my @fail = workers('once_fails', 2);
settled();
give('once_fails', 'e');
like(read_within($_->[0], 60), $_->[1], $_->[2]) for [ $fail[0], qr/500 .*InternalFailure/s, 'a worker gets an error' ],
	[ $fail[1], qr/"input": "e"/, 'and the next one the task' ];

# The connection that listens is lost: tasks of the meantime are found.
settled();
$node->safe_psql('postgres', q{INSERT INTO aws.task VALUES ('one', 'meanwhile');
	SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%quote_ident%'
		AND pid <> pg_backend_pid()});
ok(wait_for('the task of the meantime', sub { grep { read_within($_, 0.001) =~ /meanwhile/ } @one }),
	'all ask again after the connection was lost');

# The end: those that wait are answered.
settled();
my @late = workers('one', 5);
settled();
kill 'TERM', $gateway->{pid};
is(scalar(grep { read_within($_, 60) =~ /^HTTP\/1\.1 200.*Connection: close.*\r\n\r\n\{\}$/si } @late), 5,
	'workers are answered when the gateway leaves');
stop_gateway($gateway, 0);

# A call that waits for a connection is not sent when its client has left.
$gateway = start_gateway($node, schema => 'aws', 'database-connections' => 1,
	config => "[key AKIDFILE]\nrole = operator\nsecret = secret\n");
# curl, which signs what the others send, asks and leaves
my @asks = map { asks_for($_) } qw(three five);
ok(wait_for('it has left', sub { left() == 2 }), 'clients leave');
# The only connection does one call after the other: what those have asked is over when a later call is answered.
sub all_is_over
{
	give('one', 'over');
	return like(curl($gateway, '/', @sign, '-d', '{"activityArn": "x:one"}')->{body}, qr/"over"/, shift);
}
all_is_over('their calls are over, or were never made');
my $from = -s $node->logfile;
my @slow = map { s/GetActivityTask/StopExecution/r } @sign;
my $lock = $node->background_psql('postgres');
$lock->query_safe('SELECT pg_advisory_lock(1)');
my $slow = fork // die "fork: $!";
if (!$slow)
{
	curl($gateway, '/', @slow, '-d', '{}');
	POSIX::_exit(0);
}
ok($node->poll_query_until('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'}, 1),
	'the only connection has a call');
my ($stays, $leaves) = map { senders($gateway, $_, 1) } @asks;
close $leaves;
ok(wait_for('one has left', sub { left() == 3 }), 'of two others that wait one has left');
$lock->quit;
waitpid $slow, 0;
all_is_over('so are the others');
ok($node->log_contains(qr/activity:three/, $from), 'a worker that waits for the connection asks');
ok(!$node->log_contains(qr/activity:five/, $from), '... and one that has left does not');
give('three', 'd');
like(read_within($stays, 60), qr/"input": "d"/, 'the other one waits for the task');
stop_gateway($gateway);

# A role has so many workers that wait, over all its keys; another role has its own.
$gateway = start_gateway($node, schema => 'aws', 'waits-per-client' => 2,
	config => join '', map { "[key $_]\nrole = " . ($_ eq 'AKIDOTHER' ? 'other' : 'operator')
		. "\nsecret = secret\n" } 'AKIDFILE', 'AKIDSECOND', 'AKIDOTHER');
my @ask = ('-d', '{"activityArn": "x:four"}');
my $request = asks_for('four');
wait_for('it is noticed that curl has left', sub { gateway_log($gateway) =~ /"status":"499"/ });
my @both = senders($gateway, $request, 2);
ok(wait_for('both wait', sub { curl($gateway, '/', @sign, @ask, '--max-time', 1)->{body} =~ /"ThrottlingException"/ }),
	'a worker more than may wait is refused');
like(curl($gateway, '/', (map { s/AKIDFILE/AKIDSECOND/r } @sign), @ask, '--max-time', 30)->{body},
	qr/"ThrottlingException"/, '... also with another key of the role');
is(curl($gateway, '/', (map { s/AKIDFILE/AKIDOTHER/r } @sign), @ask, '--max-time', 1)->{exit}, 28,
	'a worker of another role waits');
is(curl($gateway, '/', (map { s/GetActivityTask/StopExecution/r } @sign), @ask)->{status}, 200,
	'and other actions of the key are answered');
close shift @both;
ok(wait_for('a place', sub { curl($gateway, '/', @sign, @ask, '--max-time', 1)->{exit} == 28 }),
	'when one has left another one waits');
like(gateway_log($gateway), qr/^(?=.*"level":"info")(?=.*"action":"GetActivityTask").*"status":"499"/m,
	'the log has those that left, and not as failures');
stop_gateway($gateway);
$node->stop;
done_testing();
