# When sessions of the console end: a page that is left alone, a role that is altered, dropped or locked out; what becomes
# of calls under way then; and that rights which are given or taken hold from the next request on.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('main');
$node->safe_psql('postgres', <<'SQL');
SET password_encryption = 'scram-sha-256';
CREATE ROLE staff;
SELECT sf_create_state_machine('m', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_grant('READ', 'm', 'staff');
REVOKE CONNECT ON DATABASE postgres FROM PUBLIC;
SQL
unlink $node->data_dir . '/pg_hba.conf';
append_to_file($node->data_dir . '/pg_hba.conf', "local all postgres trust\nlocal all all scram-sha-256\n");
$node->reload;
my $gateway = start_gateway($node);
my $page = 0;

# Sign in as a role; gives what each request of the session has, or undef.
sub sign_in
{
	my ($role, $password) = @_;
	my @own = ('-H', 'Content-Type: application/json', '-H', "Origin: $gateway->{url}");
	my $jar = "$PostgreSQL::Test::Utils::tmp_check/page-$$-" . ++$page;
	my $got = curl($gateway, '/console/login', '-c', $jar, @own, '-d', qq({"role": "$role", "password": "$password"}));
	return $got->{status} == 200 ? [ @own, '-b', $jar, '-H', 'X-CSRF-Token: ' . json($got->{body})->{csrf_token} ] : undef;
}

# Ask for something in a session; gives the answer.
sub ask
{
	my ($session, $path, $body, @options) = @_;
	return curl($gateway, "/console/$path", @$session, '-d', $body // '{}', @options);
}

# --- what ends the session of a role, with the next request
my $n = 0;
for my $case (
	[ 'a new password', q(ALTER ROLE %1$s PASSWORD 'other') ],
	[ 'NOLOGIN', 'ALTER ROLE %1$s NOLOGIN' ],
	[ 'a new time until which it is valid', q(ALTER ROLE %1$s VALID UNTIL '2020-01-01') ],
	[ 'CONNECT is revoked', 'REVOKE CONNECT ON DATABASE postgres FROM %1$s' ],
	[ 'the role is dropped', 'REVOKE CONNECT ON DATABASE postgres FROM %1$s; DROP ROLE %1$s' ],
	[ 'another name', 'ALTER ROLE %1$s RENAME TO %1$s_renamed' ])
{
	my ($what, $sql) = @$case;
	my $role = 'role' . ++$n;
	$node->safe_psql('postgres', "CREATE ROLE $role LOGIN PASSWORD 'secret' IN ROLE staff; GRANT CONNECT ON DATABASE postgres TO $role");
	my $session = sign_in($role, 'secret');
	is(ask($session, 'api/machines')->{status}, 200, "$what: before");
	$node->safe_psql('postgres', sprintf $sql, $role);
	my $got = ask($session, 'api/start', '{"state_machine": "m"}');
	is($got->{status}, 401, '... the next request is not answered') or diag $got->{body};
	is(curl($gateway, '/console/session', @$session)->{status}, 401, '... and the session is over');
	is(sign_in($role, 'secret'), undef, '... which cannot begin anew');
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_executions'), '0', 'none of them has done anything after it');
like(gateway_log($gateway), qr/its role was altered/, 'the log says why');

# A time that passes while the session lasts.
$node->safe_psql('postgres', q(CREATE ROLE guest LOGIN PASSWORD 'secret'; GRANT CONNECT ON DATABASE postgres TO guest));
$node->safe_psql('postgres', sprintf q(ALTER ROLE guest VALID UNTIL '%s'), $node->safe_psql('postgres', q(SELECT now() + interval '8 s')));
my $session = sign_in('guest', 'secret');
is(ask($session, 'api/machines')->{status}, 200, 'a role that is valid for some more seconds');
ok(wait_for('the end', sub { ask($session, 'api/machines')->{status} == 401 }, 20), '... has a session for as long');

# --- what does not end it
$node->safe_psql('postgres', q(CREATE ROLE clerk LOGIN PASSWORD 'secret'; GRANT CONNECT ON DATABASE postgres TO clerk));
$session = sign_in('clerk', 'secret');
is_deeply(json(ask($session, 'api/machines')->{body})->{rows}, [], 'a role without rights sees nothing');
$node->safe_psql('postgres', 'GRANT staff TO clerk');
is(scalar @{ json(ask($session, 'api/machines')->{body})->{rows} }, 1, 'as a member of a role with READ it sees the machine');
is(ask($session, 'api/start', '{"state_machine": "m"}')->{status}, 403, '... which it may not start');
$node->safe_psql('postgres', q(SELECT sf_grant('START', 'm', 'clerk')));
is(ask($session, 'api/start', '{"state_machine": "m"}')->{status}, 200, '... with START it may');
$node->safe_psql('postgres', q(SELECT sf_revoke('START', 'm', 'clerk')));
is(ask($session, 'api/start', '{"state_machine": "m"}')->{status}, 403, '... without it no more');
$node->safe_psql('postgres', q(ALTER ROLE clerk SET work_mem = '8MB'; REVOKE staff FROM clerk));
is_deeply(json(ask($session, 'api/machines')->{body})->{rows}, [], 'and no member of the role any more');
is(ask($session, 'api/machine', '{"state_machine": "m"}')->{body}, 'null', '... nor the machine that it names');
# --- calls of a session wait for their turn, and are told if the session ends before
# Begin to ask for something in a session; the status comes later.
sub begin_to_ask
{
	my ($session, $path) = @_;
	my $status = '';
	return { status => \$status, run => IPC::Run::start([ 'curl', '-sS', '-o', '/dev/null', '-w', '%{http_code}', '--max-time', 60, @$session, '-d', '{}',
		"$gateway->{url}/console/$path" ], '<', '/dev/null', '>', \$status, '2>', '/dev/null') };
}

# Wait for the statuses of what was asked for.
sub statuses
{
	return join ' ', map { $_->{run}->finish; ${ $_->{status} } } @_;
}

my $blocker = $node->background_psql('postgres');
my $waiting = q(SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '_sfflow.state_machine'::regclass);
$blocker->query_safe('BEGIN; LOCK TABLE _sfflow.state_machine');
my @begun = map { begin_to_ask($session, $_) } ('api/machines') x 3;
ok($node->poll_query_until('postgres', $waiting, 1), 'a call waits in the database, and others behind it');
sleep 7;
$blocker->query_safe('COMMIT');
is(statuses(@begun), '200 200 200', 'all are answered, however long the first one took');
$blocker->query_safe('BEGIN; LOCK TABLE _sfflow.state_machine');
@begun = map { begin_to_ask($session, $_) } ('api/machines') x 2;
ok($node->poll_query_until('postgres', $waiting, 1), 'a call waits again');
is(ask($session, 'logout')->{status}, 204, 'the role signs out in the meantime');
is(statuses(@begun), '401 401', '... so that the calls are not answered');
$blocker->query_safe('COMMIT');
$blocker->quit;
stop_gateway($gateway);

# --- a page that nobody uses: it asks and waits by itself, and marks that
$gateway = start_gateway($node, 'session-idle' => '5s');
my $alone = sign_in('clerk', 'secret');
my $used = sign_in('clerk', 'secret');
my ($begun, $ended) = (time);
until (defined $ended || time > $begun + 40)
{
	ask($used, 'api/machines');
	my @answers = map { ask($alone, $_, '{}', '-H', 'X-Background: 1')->{status} } 'api/machines', 'poll';
	$ended = time if grep { $_ == 401 } @answers;
	sleep 0.3;
}
ok(defined $ended && $ended - $begun > 4, 'a page that only refreshes itself loses its session');
is(ask($used, 'api/machines')->{status}, 200, 'one with which somebody works does not');
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
