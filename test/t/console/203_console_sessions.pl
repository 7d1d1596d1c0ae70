# When sessions of the console end: a page that is left alone, a role that is altered, dropped or locked out; what
# becomes of calls under way then; that rights which are given or taken hold from the next request on; and that sessions
# outlast a restart of the database, but no change of their roles.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP qw(decode_json);
use List::Util qw(max);
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
	$node->safe_psql('postgres', "CREATE ROLE $role LOGIN PASSWORD 'secret' IN ROLE staff;
		GRANT CONNECT ON DATABASE postgres TO $role");
	my $session = sign_in($gateway, $role, 'secret');
	is(ask($session, 'api/machines')->{status}, 200, "$what: before");
	$node->safe_psql('postgres', sprintf $sql, $role);
	my $got = ask($session, 'api/start', '{"state_machine": "m"}');
	is($got->{status}, 401, '... the next request is not answered') or diag $got->{body};
	is(decode_json($got->{body})->{error}{reason}, 'role_altered', '... and says why');
	is(curl($gateway, '/console/session', @$session)->{status}, 401, '... and the session is over');
	is(sign_in($gateway, $role, 'secret'), undef, '... which cannot begin anew');
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_executions'), '0', 'none of them has done anything after it');
like(gateway_log($gateway), qr/its role was altered/, 'the log says why');

# A time that passes while the session lasts.
$node->safe_psql('postgres', q(CREATE ROLE guest LOGIN PASSWORD 'secret'; GRANT CONNECT ON DATABASE postgres TO guest));
# On a busy machine it may have passed before there is an answer: then there is a later one.
my ($session, $valid);
for my $seconds (5, 20, 80)
{
	$node->safe_psql('postgres', sprintf q(ALTER ROLE guest VALID UNTIL '%s'),
		$node->safe_psql('postgres', "SELECT now() + interval '$seconds s'"));
	$session = sign_in($gateway, 'guest', 'secret') or next;
	$valid = ask($session, 'api/machines')->{status};
	last if $valid == 200;
}
is($valid, 200, 'a role that is valid for some more seconds');
ok(wait_for('the end', sub { ask($session, 'api/machines')->{status} == 401 }, 120), '... has a session for as long');

# --- what does not end it
$node->safe_psql('postgres', q(CREATE ROLE clerk LOGIN PASSWORD 'secret'; GRANT CONNECT ON DATABASE postgres TO clerk));
$session = sign_in($gateway, 'clerk', 'secret');
is_deeply(json(ask($session, 'api/machines')->{body})->{rows}, [], 'a role without rights sees nothing');
$node->safe_psql('postgres', 'GRANT staff TO clerk');
is(scalar @{ json(ask($session, 'api/machines')->{body})->{rows} }, 1,
	'as a member of a role with READ it sees the machine');
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
	my ($session, $path, $body) = @_;
	my $status = '';
	return { status => \$status, run => IPC::Run::start(
		[ 'curl', '-sS', '-o', '/dev/null', '-w', '%{http_code}', '--max-time', 60, @$session, '-d', $body // '{}',
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
my ($used, $begun, $ended);
for (1 .. 10)
{
	$begun = time;
	my $alone = sign_in($gateway, 'clerk', 'secret');
	$used = sign_in($gateway, 'clerk', 'secret');
	my ($last, $longest) = (time, 0);
	undef $ended;
	until (defined $ended || time > $begun + 120)
	{
		ask($used, 'api/machines');
		my $now = time;
		($last, $longest) = ($now, max($longest, $now - $last));
		my @answers = map { ask($alone, $_, '{}', '-H', 'X-Background: 1')->{status} } 'api/machines', 'poll';
		$ended = time if grep { $_ == 401 } @answers;
		sleep 0.3;
	}
	# On a machine that is so busy that it stands still for seconds the other one was not used, either.
	last if max($longest, time - $last) < 4;
}
ok(defined $ended && $ended - $begun > 4, 'a page that only refreshes itself loses its session');
is(ask($used, 'api/machines')->{status}, 200, 'one with which somebody works does not');
stop_gateway($gateway);

# --- the database is restarted, and crashes: sessions go on, if their roles could sign in again
$gateway = start_gateway($node, 'session-idle' => '1h');
my %role;
for my $case (
	[ 'kept', 'SELECT 1', 200 ],
	[ 'set', q(ALTER ROLE %1$s SET work_mem = '8MB'), 200 ],
	[ 'nologin', 'ALTER ROLE %1$s NOLOGIN', 401 ],
	[ 'expired', q(ALTER ROLE %1$s VALID UNTIL '2020-01-01'), 401 ],
	[ 'password', q(ALTER ROLE %1$s PASSWORD 'other'), 401 ],
	[ 'same_password', q(ALTER ROLE %1$s PASSWORD 'secret'), 401 ],
	[ 'no_connect', 'REVOKE CONNECT ON DATABASE postgres FROM %1$s', 401 ],
	[ 'dropped', 'REVOKE CONNECT ON DATABASE postgres FROM %1$s; DROP ROLE %1$s', 401 ],
	[ 'made_again', 'REVOKE CONNECT ON DATABASE postgres FROM %1$s; DROP ROLE %1$s;'
		. q( CREATE ROLE %1$s LOGIN PASSWORD 'secret'; GRANT CONNECT ON DATABASE postgres TO %1$s), 401 ],
	[ 'renamed', 'ALTER ROLE %1$s RENAME TO %1$s_2', 401 ])
{
	my ($name, $sql, $status) = @$case;
	$node->safe_psql('postgres', "CREATE ROLE r_$name LOGIN PASSWORD 'secret';
		GRANT CONNECT ON DATABASE postgres TO r_$name");
	$role{$name} = { session => sign_in($gateway, "r_$name", 'secret'),
		sql => sprintf($sql, "r_$name"), status => $status };
}
my $kept = $role{kept}{session};
my $before = json(ask($kept, 'poll')->{body})->{token};
$node->stop('fast');
my $told = json(ask($kept, 'poll', qq({"seen": "$before"}))->{body});
ok($told->{changed}, 'a page that waits is told when the database goes');
ok(wait_for('the time', sub { json(ask($kept, 'poll')->{body})->{down_since} }), '... and since when it is down');
my $got = ask($kept, 'api/machines');
is($got->{status}, 503, 'while it is down nothing is answered');
like(json($got->{body})->{error}{down_since}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, '... but since when')
	or diag $got->{body};
is(curl($gateway, '/console/session', @$kept)->{status}, 200, 'the session stays');
is(sign_in($gateway, 'r_kept', 'secret'), undef, 'nobody can sign in');
my $down = json(ask($kept, 'poll')->{body})->{token};
my $begun_poll = begin_to_ask($kept, 'poll', qq({"seen": "$down"}));
$node->start;
is(statuses($begun_poll), '200', 'a page that waits is told when it is back');
is(ask([ map { s/(X-CSRF-Token: )./$1x/r } @$kept ], 'api/machines')->{status}, 403,
	'without the token of the page no session goes on');
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity WHERE usename LIKE 'r\_%')), '0',
	'... nor connects');
$node->safe_psql('postgres', $_->{sql}) for values %role;
for my $name (sort keys %role)
{
	my $status;
	ok(wait_for($name, sub { ($status = ask($role{$name}{session}, 'api/machines')->{status}) != 503 }),
		"after a restart, $name: an answer");
	is($status, $role{$name}{status}, "... $status") or diag gateway_log($gateway);
}
is(json(ask($kept, 'poll')->{body})->{down_since}, undef, 'pages are not told any more that it is down');
unlike(gateway_log($gateway), qr/secret/, 'no password in the log');

# The server ends the other connections a moment after the one that crashed.
my $backend = $node->safe_psql('postgres', q(SELECT pid FROM pg_stat_activity WHERE usename = 'r_set'));
my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
kill 'STOP', $postmaster;
kill 'KILL', $backend;
ok(wait_for('the loss', sub { ask($role{set}{session}, 'api/machines')->{status} != 200 }), 'a connection crashes');
kill 'CONT', $postmaster;
wait_gone($backend);
ok(recovered($node), 'the server crashes and recovers');
ok(wait_for('a session', sub { ask($kept, 'api/machines')->{status} == 200 }),
	'after a crash of the server a session goes on');
ok(wait_for('its own', sub { ask($role{set}{session}, 'api/machines')->{status} == 200 }),
	'... also the one whose connection crashed');

# An operator who ends a connection ends its session, as a page of the manual says.
$node->safe_psql('postgres', q(SELECT pg_sleep(11), pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE usename = 'r_kept'));
ok(wait_for('its end', sub { ask($kept, 'api/machines')->{status} == 401 }),
	'a connection that an operator ends ends its session');
is(ask($role{set}{session}, 'api/machines')->{status}, 200, '... and no other one');

# The server is told to refuse the role while the database is down.
$node->stop('fast');
my $hba = slurp_file($node->data_dir . '/pg_hba.conf');
unlink $node->data_dir . '/pg_hba.conf';
append_to_file($node->data_dir . '/pg_hba.conf', "local all r_set reject\n$hba");
$node->start;
ok(wait_for('its end', sub { ask($role{set}{session}, 'api/machines')->{status} == 401 }),
	'what pg_hba.conf says after a restart holds');
stop_gateway($gateway);

# The ages of sessions count while the database is down.
$gateway = start_gateway($node, 'session-idle' => '5s');
$session = sign_in($gateway, 'clerk', 'secret');
$node->stop('fast');
ok(wait_for('its end', sub { ask($session, 'api/machines', '{}', '-H', 'X-Background: 1')->{status} == 401 }),
	'a session that no person uses ends while the database is down');
$node->start;
stop_gateway($gateway);

# --- all places are taken by one role: another one still signs in, and the role with the most loses one that it does
# not use
$gateway = start_gateway($node, sessions => 3);
$node->safe_psql('postgres', q(CREATE ROLE newcomer LOGIN PASSWORD 'secret';
	GRANT CONNECT ON DATABASE postgres TO newcomer));
my @clerks = map { sign_in($gateway, 'clerk', 'secret') } 1 .. 3;
ask($clerks[0], 'api/machines');
is(sign_in($gateway, 'clerk', 'secret'), undef, 'there is no place for a role that has some');
my $newcomer = sign_in($gateway, 'newcomer', 'secret');
ok($newcomer, '... but for one that has none');
is(ask($newcomer, 'api/machines')->{status}, 200, '... which works');
is(join(' ', map { ask($_, 'api/machines')->{status} } @clerks), '200 401 200',
	'... and another one ends, which was not used');
is(sign_in($gateway, 'newcomer', 'wrong'), undef, 'a wrong password ends none');
is(join(' ', map { ask($_, 'api/machines')->{status} } @clerks[ 0, 2 ], $newcomer), '200 200 200', '... as one sees');
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
