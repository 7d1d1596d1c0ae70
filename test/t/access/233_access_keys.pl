# An access key is worth what the log-in of its role is: over HTTP and in SQL, for keys of the database and of the
# gateway's file, for requests that have waited since before. A role has so many keys, whoever acts for it drops them,
# and one sees who made them.
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
CREATE ROLE gateway LOGIN;
GRANT EXECUTE ON FUNCTION sf_access_key TO gateway;
CREATE ROLE anna LOGIN;
CREATE ROLE team NOLOGIN;
REVOKE CONNECT ON DATABASE postgres FROM PUBLIC;
GRANT CONNECT ON DATABASE postgres TO gateway, anna, team;
SQL

# Run SQL as a role; returns what it printed, or its error with the SQLSTATE.
sub as
{
	my ($role, $sql) = @_;
	my (undef, $out, $error) = $node->psql('postgres', $sql,
		extra_params => [ '-U', $role, '-v', 'VERBOSITY=verbose' ]);
	return $error =~ /ERROR:  (.*)$/m ? $1 : $out;
}

# Make a role whose log-in is open, with a key; gives the key as curl wants it.
my $made = 0;
sub role_with_key
{
	my $role = 'role' . ++$made;
	$node->safe_psql('postgres', "CREATE ROLE $role LOGIN; GRANT $role TO gateway;
		GRANT CONNECT ON DATABASE postgres TO $role");
	return ($role, $node->safe_psql('postgres', "SELECT * FROM sf_create_access_key('$role')") =~ s/\|/:/r);
}

my ($of_file) = role_with_key();
my $gateway = start_gateway($node, user => 'gateway', config => "[key AKIDFILE]\nrole = $of_file\nsecret = secret\n");

# Call an action by curl, which signs; gives the status and the name of the error.
sub aws
{
	my ($key, $action, $body, @options) = @_;
	my $got = curl($gateway, '/', '--aws-sigv4', 'aws:amz:us-east-1:states', '--user', $key, '-H',
		'Content-Type: application/x-amz-json-1.0',
		'-H', "X-Amz-Target: AWSStepFunctions.$action", '-d', $body // '{}', @options);
	return $got->{status} . (json($got->{body})->{__type} // '');
}
my $refused = '403UnrecognizedClientException';

# --- what ends a key, and gives it back

for my $case (
	[ 'NOLOGIN', 'ALTER ROLE %1$s NOLOGIN', 'ALTER ROLE %1$s LOGIN' ],
	[ 'VALID UNTIL has passed', q(ALTER ROLE %1$s VALID UNTIL '2020-01-01'),
		q(ALTER ROLE %1$s VALID UNTIL 'infinity') ],
	[ 'no CONNECT', 'REVOKE CONNECT ON DATABASE postgres FROM %1$s', 'GRANT CONNECT ON DATABASE postgres TO %1$s' ])
{
	my ($what, $close, $open) = @$case;
	my ($role, $key) = role_with_key();
	my ($id, $secret) = split /:/, $key;
	is(aws($key, 'ListStateMachines'), '200', "$what: the key is good before");
	is(as('gateway', "SELECT role FROM sf_access_key('$id')"), $role, '... and found');
	$node->safe_psql('postgres', sprintf $close, $role);
	is(aws($key, 'ListStateMachines'), $refused, '... refused at once, although the gateway knows the key');
	is(as('gateway', "SELECT role FROM sf_access_key('$id')"), '', '... and not found');
	like(as('gateway', "SELECT sf_aws_api_as('$role', 'ListStateMachines')"), qr/^28000: role "$role" cannot log in/,
		'... nobody answers as its role');
	is(as('postgres', "SELECT usable FROM sf_access_keys WHERE access_key_id = '$id'"), 'f', '... one sees that');
	$node->safe_psql('postgres', sprintf $open, $role);
	is(as('postgres', "SELECT usable FROM sf_access_keys WHERE access_key_id = '$id'"), 't', '... it is usable again');
	ok(wait_for('the key is good', sub { aws($key, 'ListStateMachines') eq '200' }), '... and good');
}
is(aws('AKIDFILE:secret', 'ListStateMachines'), '200', 'a key of the file is good');
$node->safe_psql('postgres', "ALTER ROLE $of_file NOLOGIN");
is(aws('AKIDFILE:secret', 'ListStateMachines'), $refused, '... and no longer, when its role cannot log in');
$node->safe_psql('postgres', "ALTER ROLE $of_file LOGIN");

# --- a worker that waits is asked for its key again before it gets a task

$node->safe_psql('postgres', <<'SQL');
SELECT sf_create_activity('work');
SELECT sf_create_state_machine('m', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "activity:work",
	"TimeoutSeconds": 600, "End": true}}}');
SQL
my $task = '{"activityArn": "arn:aws:states:us-east-1:000000000000:activity:work"}';

# Have a worker wait for a task; its status comes later.
sub worker
{
	my $key = shift;
	my $status = '';
	return { status => \$status, run => IPC::Run::start(
		[ 'curl', '-sS', '-o', '/dev/null', '-w', '%{http_code}', '--max-time', 80, '--aws-sigv4',
		'aws:amz:us-east-1:states', '--user', $key, '-H', 'Content-Type: application/x-amz-json-1.0', '-H',
			'X-Amz-Target: AWSStepFunctions.GetActivityTask', '-d', $task,
		$gateway->{url} ], '<', '/dev/null', '>', \$status, '2>', '/dev/null') };
}

# Wait until a worker has asked since a time, and got no task.
sub polled
{
	my $since = shift;
	return $node->poll_query_until('postgres',
		"SELECT count(*) > 0 FROM pg_stat_activity WHERE usename = 'gateway' AND query LIKE '%sf_aws_api_as%'"
			. " AND state = 'idle' AND query_start > '$since'");
}

for my $case ([ 'its role cannot log in', 'ALTER ROLE %1$s NOLOGIN' ],
	[ 'it is dropped', q(SELECT sf_drop_access_key('%2$s')) ])
{
	my ($what, $close) = @$case;
	my ($role, $key) = role_with_key();
	my ($other, $other_key) = role_with_key();
	$node->safe_psql('postgres', "SELECT sf_grant('WORK', 'activity:work', '$_')") for $role, $other;
	my $now = $node->safe_psql('postgres', 'SELECT now()');
	my $first = worker($key);
	ok(polled($now), 'a worker waits');
	$now = $node->safe_psql('postgres', 'SELECT now()');
	my $second = worker($other_key);
	ok(polled($now), 'and another one, of another role');
	$node->safe_psql('postgres', sprintf $close, $role, $key =~ s/:.*//r);
	sleep 6;					# as long as the gateway may know a key
	$node->safe_psql('postgres', q(SELECT sf_start('m', '{"a": 1}')));
	$second->{run}->finish;
	is(${ $second->{status} }, '200', "a task goes to the worker whose key is good: of the other one $what");
	$first->{run}->finish;
	is(${ $first->{status} }, '403', '... which is refused');
	is($node->safe_psql('postgres', q(SELECT in_flight FROM sf_activities WHERE activity = 'work')), '1',
		'... and takes none');
	$node->safe_psql('postgres', q(SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'));
}

# --- who made a key, and who drops it

$node->safe_psql('postgres', <<'SQL');
GRANT team TO anna;
CREATE ROLE boss LOGIN;
GRANT CONNECT ON DATABASE postgres TO boss;
CREATE ROLE left_alone LOGIN;
GRANT CONNECT ON DATABASE postgres TO left_alone;
SQL
my ($status, $out, $error) = $node->psql('postgres', q(SELECT access_key_id FROM sf_create_access_key('team')),
	extra_params => [ '-U', 'anna' ]);
like($error, qr/WARNING:  the access key is of no use before role "team" can log in/,
	'a key of a role that cannot log in: a warning');
is(as('anna', 'SELECT role, created_by, created_by_session, usable FROM sf_access_keys'), 'team|anna|anna|f',
	'one sees who made a key');
as('anna', q(SET ROLE team; SELECT sf_create_access_key('team')));
is(as('anna', q(SELECT role, created_by, created_by_session FROM sf_access_keys ORDER BY created_at DESC LIMIT 1)),
	'team|team|anna', '... also after SET ROLE');
$node->safe_psql('postgres', 'ALTER ROLE team LOGIN');
like(as('left_alone', "SELECT sf_drop_access_key('$out')"), qr/^42704:/, 'a stranger does not drop it');
$node->safe_psql('postgres', 'REVOKE team FROM anna');
like(as('anna', "SELECT sf_drop_access_key('$out')"), qr/^42704:/, '... nor who made it and acts for the role no more');
is(as('team', 'SELECT string_agg(created_by, $$ $$ ORDER BY created_at) FROM sf_access_keys'), 'anna team',
	'the role itself sees by whom its keys were made');
is(as('team', "SELECT sf_drop_access_key('$out')"), '', '... and drops them');
SKIP:
{
	skip 'before PostgreSQL 16 each member may become the role', 2 if $node->pg_version < 16;
	my $id = as('team', q(SELECT access_key_id FROM sf_access_keys));
	$node->safe_psql('postgres', 'GRANT team TO boss WITH ADMIN TRUE, INHERIT FALSE, SET FALSE');
	is(as('boss', 'SELECT access_key_id FROM sf_access_keys'), $id, 'who administers the role sees its keys');
	is(as('boss', "SELECT sf_drop_access_key('$id')"), '', '... and drops them');
}

# --- how many

$node->safe_psql('postgres', q(SELECT sf_drop_access_key(access_key_id) FROM sf_access_keys
	WHERE role = 'team'::regrole));
as('team', q(SELECT sf_create_access_key('team'))) for 1 .. 9;
my $first = $node->background_psql('postgres');
$first->query_safe(q(BEGIN; SELECT access_key_id FROM sf_create_access_key('team')));
my $second = $node->background_psql('postgres', on_error_stop => 0);
$second->query_until(qr/begun/, q(\echo begun
SELECT access_key_id FROM sf_create_access_key('team');
));
ok($node->poll_query_until('postgres', q(SELECT count(*) > 0 FROM pg_locks WHERE NOT granted)),
	'of two keys that are made at the same time one waits');
$first->query_safe('COMMIT');
$first->quit;
$second->quit;
is(as('team', 'SELECT count(*) FROM sf_access_keys'), '10', '... and is one too many');
like(as('team', q(SELECT sf_create_access_key('team'))), qr/^53400: role "team" has 10 access keys already/,
	'... which is refused by itself, too');
is(as('anna', q(SELECT access_key_id LIKE 'AKIA%' FROM sf_create_access_key('anna'))), 't', 'another role has room');
stop_gateway($gateway);
$node->stop;
done_testing();
