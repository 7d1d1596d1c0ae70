# sfgateway and clients that leave or take their time: a call whose client leaves while its statement is prepared is not
# made, and a request on a connection that is open for longer has its whole time.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;

my @stopped;    # processes that the test has stopped by a signal
END { kill 'CONT', @stopped if @stopped }

my $node = new_node('main');
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE gate LOGIN;
CREATE SCHEMA aws;
GRANT USAGE ON SCHEMA aws TO gate;
CREATE TABLE aws.called (action text);
GRANT ALL ON aws.called TO gate;
CREATE FUNCTION aws.sf_aws_api_as(role name, action text, request jsonb) RETURNS jsonb LANGUAGE sql
	AS $$ INSERT INTO aws.called VALUES (action); SELECT '{}'::jsonb $$;
SQL

# --- a client leaves while the statement of its call is prepared

my $gateway = start_gateway($node, user => 'gate', schema => 'aws', 'database-connections' => 1,
	config => "[key AKIDFILE]\nrole = operator\nsecret = secret\n");

# Make a call by curl, for some seconds at most; gives the status of the answer.
sub call
{
	my ($action, $seconds) = @_;
	return curl($gateway, '/', '--aws-sigv4', 'aws:amz:us-east-1:states', '--user', 'AKIDFILE:secret', '-H',
		'Content-Type: application/x-amz-json-1.0', '-H', "X-Amz-Target: AWSStepFunctions.$action", '-d', '{}',
		'--max-time', $seconds)->{status};
}

@stopped = split /\n/, $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE usename = 'gate'});
kill 'STOP', @stopped;
is(call('StopExecution', 3), 0, 'a client leaves, when its call is the first of a connection');
ok(wait_for('the end', sub { gateway_log($gateway) =~ /"status":"499".*"action":"StopExecution"/ }),
	'... as the gateway notices');
kill 'CONT', @stopped;
@stopped = ();
# The pool has one connection, which has the calls one after the other.
is(call('DescribeExecution', 30), 200, 'the next call is answered');
is($node->safe_psql('postgres', 'SELECT string_agg(action, $$ $$) FROM aws.called'), 'DescribeExecution',
	'... and that of the client that has left was not made');
stop_gateway($gateway);

# --- a client takes its time on a connection that is open for longer

$gateway = start_gateway($node, schema => 'aws', 'request-timeout' => '8s');
my $client = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $gateway->{port}) or die "connect: $!";
local $SIG{PIPE} = 'IGNORE';
$client->syswrite("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
like(read_within($client, 30), qr/^HTTP\S+ 200 /, 'a request is answered');
sleep 5;
$client->syswrite("POST /console/login HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n");
sleep 5;
$client->syswrite('{}');
like(read_within($client, 30), qr/^HTTP\S+ \d+ /, 'the next one has its whole time');
stop_gateway($gateway);

no_surprises($node);
$node->stop;
done_testing();
