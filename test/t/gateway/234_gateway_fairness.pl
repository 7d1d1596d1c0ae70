# One client of sfgateway does not keep others out: by requests that wait, requests that are not sent whole, connections
# that do nothing, notifications that it forges. And what it sends does not spoil the log.
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
CREATE ROLE stranger LOGIN;
CREATE SCHEMA aws;
CREATE TABLE aws.task (activity text, payload text);
CREATE SEQUENCE aws.asked;
CREATE FUNCTION aws.sf_aws_api_as(role name, action text, request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	found aws.task;
BEGIN
	IF action = 'GetActivityTask' THEN
		PERFORM nextval('aws.asked');
		DELETE FROM aws.task t WHERE t.ctid = (SELECT ctid FROM aws.task s WHERE request->>'activityArn' LIKE '%:'
			|| s.activity
			LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING * INTO found;
	END IF;
	IF action = 'StopExecution' THEN
		RETURN jsonb_build_object('text', repeat('x', 16000000));
	END IF;
	RETURN CASE WHEN found IS NULL THEN '{}' ELSE jsonb_build_object('taskToken', 't', 'input', found.payload) END;
END $$;
SQL
my $keys = join '', map { "[key $_->[0]]\nrole = $_->[1]\nsecret = secret\n" } (map { [ "AKIDHOG$_", 'hog' ] } 1 .. 5),
	[ 'AKIDSECOND', 'second' ], [ 'AKIDGOOD', 'good' ];
my $gateway = start_gateway($node, schema => 'aws', connections => 240, config => $keys);
my $work = '{"activityArn": "arn:aws:states:us-east-1:123456789012:activity:one"}';

# Make calls as a role that does nobody harm, each over a connection of its own; gives how many were answered in time.
sub good_calls
{
	my $n = shift;
	my @good = ('--aws-sigv4', 'aws:amz:us-east-1:states', '--user', 'AKIDGOOD:secret', '-H',
		'Content-Type: application/x-amz-json-1.0',
		'-H', 'X-Amz-Target: AWSStepFunctions.DescribeExecution', '-d', '{}', '--max-time', 15);
	return scalar grep { curl($gateway, '/', @good)->{status} == 200 } 1 .. $n;
}

# How many of some connections have no answer, then or at an earlier call.
sub silent
{
	${ *$_ }{answered} ||= read_within($_, 0.01) ne '' for @_;
	return scalar grep { !${ *$_ }{answered} } @_;
}

# --- requests that wait: by role, whatever its keys

my @hog = map { senders($gateway, signed_request($gateway, "AKIDHOG$_:secret", 'GetActivityTask', $work), 60) } 1 .. 5;
is(good_calls(10), 10, 'a role asks for tasks by 300 connections, with five keys: others are answered');
ok(wait_for('the others are refused', sub { silent(@hog) <= 120 }), '... it waits on half of all connections at most');
my @second = senders($gateway, signed_request($gateway, 'AKIDSECOND:secret', 'GetActivityTask', $work), 100);
is(good_calls(10), 10, 'a second one does so, too');
my $waits = silent(@second);
cmp_ok($waits, '>=', 30, '... and waits on its share');
my @good = senders($gateway, signed_request($gateway, 'AKIDGOOD:secret', 'GetActivityTask', $work), 10);
is(good_calls(5), 5, 'still others are answered');
is(silent(@good), 10, '... and may wait, too');
close $_ for @hog, @second, @good;
ok(wait_for('their places', sub { silent(
	senders($gateway, signed_request($gateway, 'AKIDHOG1:secret', 'GetActivityTask', $work), 5)) == 5 }),
	'places of those that left are free again');

# --- requests that are not sent whole, connections that send nothing

for my $case ([ 'nothing', '' ], [ 'a part of a header', "POST / HTTP/1.1\r\nHost: x" ],
	[ 'a header without its body', "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx" ])
{
	my ($what, $bytes) = @$case;
	my @half = senders($gateway, $bytes, 400);
	is(good_calls(10), 10, "400 connections send $what: others are answered");
	close $_ for @half;
}

# --- large bodies that do not come: memory for them is full, and then those that are slow make room

my $large = signed_request($gateway, 'AKIDGOOD:secret', 'DescribeExecution',
	'{}') =~ s/Content-Length: \d+/Content-Length: 2000000/ir =~ s/\r\n\r\n.*/\r\n\r\n/sr;
my $begun = time;
my @large = senders($gateway, $large, 34);
ok(wait_for('one is refused', sub { grep { read_within($_, 0.01) =~ /^HTTP\S+ 503/ } @large }),
	'one large body more than there is memory for is refused');
ok(wait_for('room', sub { read_within((senders($gateway, $large, 1))[0], 0.3) eq '' }), 'others come in');
cmp_ok(time - $begun, '<', 25, '... before those that do not come have had all their time');
close $_ for @large;

# --- connections of a role that has signed in and does nothing more

my $idle = signed_request($gateway, 'AKIDHOG1:secret', 'DescribeExecution', '{}');
my @idle = senders($gateway, $idle, 400);
is(good_calls(10), 10, 'a role keeps 400 connections without a request: others are answered');
my @half = senders($gateway, "POST / HTTP/1.1\r\nHost: x\r\n", 400);
is(good_calls(10), 10, '... also when strangers come on top');
close $_ for @idle, @half;
like(gateway_log($gateway), qr/few connections are left/, 'the log tells');
cmp_ok(scalar(() = gateway_log($gateway) =~ /few connections are left/g), '<', 20, '... but not of each connection');

# --- answers that are not taken

my $request = signed_request($gateway, 'AKIDHOG1:secret', 'StopExecution', '{}');
my @slow = map { senders($gateway, $request, 1) } 1 .. 24;
ok(wait_for('answers', sub { gateway_log($gateway) =~ /"status":"503".*"who":"hog","action":"StopExecution"/
	|| !silent(@slow) }), 'a role takes none of its large answers');
is(good_calls(10), 10, '... others are answered');
my @taken = map { curl($gateway, '/', '--aws-sigv4', 'aws:amz:us-east-1:states', '--user', 'AKIDGOOD:secret', '-H',
	'Content-Type: application/x-amz-json-1.0',
		'-H', 'X-Amz-Target: AWSStepFunctions.StopExecution', '-d', '{}')->{status} } 1 .. 3;
is("@taken", '200 200 200', '... and get large answers');
my ($memory) = slurp_file("/proc/$gateway->{pid}/status") =~ /VmRSS:\s+(\d+) kB/;
note "memory $memory kB";
close $_ for @slow;

# --- notifications without tasks

my @workers = senders($gateway, signed_request($gateway, 'AKIDGOOD:secret', 'GetActivityTask', $work), 20);
is(silent(@workers), 20, 'workers wait');
my $asked = q(SELECT last_value FROM aws.asked);
my ($before, $now) = (-1, -2);
wait_for('all have asked', sub {
	$before = $now;
	sleep 1;
	$now = $node->safe_psql('postgres', $asked);
	$now == $before;
});
$begun = time;
for (1 .. 5)
{
	$node->safe_psql('postgres', join('', map { "SELECT pg_notify('sf_activity', 'one');\n" } 1 .. 200),
		extra_params => [ '-U', 'stranger' ]);
	sleep 0.2;
}
my $took = time - $begun;
cmp_ok($node->safe_psql('postgres', $asked) - $before, '<=', 30 + 10 * $took,
	'1,000 forged notifications cause a few queries');
$begun = time;
$node->safe_psql('postgres', q(INSERT INTO aws.task VALUES ('one', 'real'); NOTIFY sf_activity, 'one'));
ok(wait_for('the task', sub { grep { read_within($_, 0.001) =~ /"real"/ } @workers }),
	'a task that there is reaches a worker all the same');
cmp_ok(time - $begun, '<', 30, '... soon');
stop_gateway($gateway);

# --- connections by address

$gateway = start_gateway($node, schema => 'aws', 'connections-per-address' => 5, config => $keys);
my @some = senders($gateway, '', 8, '127.0.0.2');
is(curl($gateway, '/healthz')->{status}, 200, 'another address is served');
my $ended;
wait_for('the others end', sub {
	$ended = grep { my $ready = ''; vec($ready, fileno $_, 1) = 1; select($ready, undef, undef, 0.1) } @some;
	$ended >= 3;
});
is($ended, 3, 'an address has so many connections; one more ends at once');
close $_ for @some;
ok(wait_for('room', sub { curl($gateway, '/healthz', '--interface', '127.0.0.2', '--max-time', 2)->{status} == 200 }),
	'... until others have ended');
like(gateway_log($gateway), qr/an address has as many connections as it may have","peer":"127\.0\.0\.2"/,
	'the log tells');

# --- what is in the log

my @own = ('-H', 'Content-Type: application/json', '-H', "Origin: $gateway->{url}");
is(curl($gateway, '/console/login', @own, '-d', '{"role": "' . 'a' x 64 . '", "password": "x"}')->{status}, 400,
	'no role has so long a name');
raw($gateway, "GET /$_ HTTP/1.1\r\nHost: x\r\n\r\n", 0.3) for "\xff\xfe", "a\xc2\x9b31mb", "\x7f", "\xed\xa0\x80",
	'x' x 3000, "\xff" x 3000, "a\x1b[31m", "\xe2\x80\xae", 'q"uote\\';
raw($gateway, "B\xff\xc2\x9bREW / HTTP/1.1\r\nHost: x\r\n\r\n", 0.3);
my @lines;
wait_for('the requests', sub {
	@lines = grep { /"message":"request"/ } split /\n/, gateway_log($gateway);
	@lines >= 9;
});
cmp_ok(scalar @lines, '>=', 9, 'hostile requests are in the log');
is(join("\n", grep { /[^ -~]/ || length > 600 || !ref json($_) } @lines), '', '... each a short line of JSON in ASCII');
my @paths = map { json($_)->{path} } @lines;
ok((grep { $_ eq '/a%C2%9B31mb' } @paths), '... with what is no character escaped');
ok((grep { /^\/x{200,}\.\.\.$/ } @paths), '... and what is long cut');
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
