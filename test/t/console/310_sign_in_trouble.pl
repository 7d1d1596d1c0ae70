# Signing in to the console while the database takes no connection: the answer says so, instead of that the password is
# wrong, and such tries do not count. Only what the server refuses is refused.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IPC::Run ();
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "max_connections = 20\nsuperuser_reserved_connections = 8\n");
$node->safe_psql('postgres', <<'SQL');
SET password_encryption = 'scram-sha-256';
CREATE ROLE clerk LOGIN PASSWORD 'secret';
CREATE ROLE filler LOGIN;
CREATE ROLE locked LOGIN PASSWORD 'secret';
CREATE ROLE expired LOGIN PASSWORD 'secret' VALID UNTIL '2020-01-01';
REVOKE CONNECT ON DATABASE postgres FROM PUBLIC;
GRANT CONNECT ON DATABASE postgres TO clerk, filler, expired;
CREATE SCHEMA console;
CREATE FUNCTION console.sf_console_session() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF session_user = 'clerk' THEN PERFORM pg_sleep(60); END IF;
	RETURN '1';
END $$;
CREATE FUNCTION console.sf_console_actions() RETURNS text[] RETURN '{}'::text[];
GRANT USAGE ON SCHEMA console TO clerk;
SQL
unlink $node->data_dir . '/pg_hba.conf';
append_to_file($node->data_dir . '/pg_hba.conf',
	"local all postgres,filler trust\nlocal all nowhere reject\nlocal all all scram-sha-256\n");
$node->reload;
my %settings = ('connect-timeout' => '2s', 'database-connections' => 1, 'sync-connections' => 1);
my $gateway = start_gateway($node, %settings);
my $refused = 'the database does not accept this role and password';

# Try to sign in; gives the status and what the answer says.
sub login
{
	my ($role, $password) = @_;
	my $got = curl($gateway, '/console/login', '-H', 'Content-Type: application/json', '-H', "Origin: $gateway->{url}",
		'-d', JSON::PP->new->utf8->encode({ role => $role, password => $password }));
	my $answer = json($got->{body});
	return $got->{status} . ' ' . (ref $answer ? $answer->{error}{message} // "as $answer->{role}" : $answer);
}

# Try more often than a role may fail, and tell the different outcomes.
sub often
{
	my %outcomes = map { login('clerk', 'secret') => 1 } 1 .. 11;
	return join ', ', sort keys %outcomes;
}

# --- what the server refuses
is(login('clerk', 'secret'), '200 as clerk', 'a role signs in');
is(login($_->[0], $_->[1]), "401 $refused", "refused: $_->[2]") for
  [ 'clerk', 'wrong', 'a wrong password' ], [ 'nobody', 'secret', 'an unknown role' ],
  [ 'locked', 'secret', 'a role that may not connect' ],
  [ 'expired', 'secret', 'a password that is not valid any more' ],
  [ 'nowhere', 'secret', 'a role that pg_hba.conf rejects' ], [ 'filler', 'secret', 'a role that needs no password' ],
  [ 'x:  53300: y', 'secret', 'a role whose name looks like another error' ];

# --- all connections are taken
my @fillers = map { IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-U', 'filler', '-c',
	'SELECT pg_sleep(600)' ], '<', '/dev/null', '>', \my $out, '2>', \my $err) } 1 .. 20;
ok($node->poll_query_until('postgres',
	q{SELECT count(*) >= 12 FROM pg_stat_activity WHERE backend_type = 'client backend'}),
	'other clients have all connections');
is(often(), '503 the database has no connection free', 'nobody can sign in, which is no matter of the password');
is(login('clerk', 'wrong'), "401 $refused",
	'... which the server looks at first, as long as superusers still have connections');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'filler'});
$_->finish for @fillers;
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'filler'}),
	'they have left');
is(login('clerk', 'secret'), '200 as clerk', 'then the role signs in: those tries did not count');

# --- a limit of the role, and a database that is closed
$node->safe_psql('postgres', 'ALTER ROLE clerk CONNECTION LIMIT 0');
is(login('clerk', 'secret'), '503 the database has no connection free', 'the role may have no more connections');
$node->safe_psql('postgres', 'ALTER ROLE clerk CONNECTION LIMIT -1');
$node->safe_psql('template1', 'ALTER DATABASE postgres ALLOW_CONNECTIONS false');
is(login('clerk', 'secret'), '503 there is no connection to the database', 'the database takes no connections');
$node->safe_psql('template1', 'ALTER DATABASE postgres ALLOW_CONNECTIONS true');

# --- a server that does not answer, and one that is not there
my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
kill 'STOP', $postmaster;
is(login('clerk', 'secret'), '503 there is no connection to the database', 'the server does not answer in time');
kill 'CONT', $postmaster;
$node->stop('fast');
is(often(), '503 there is no connection to the database', 'the server is stopped');
$node->start;
ok(wait_for('the server', sub { curl($gateway, '/readyz')->{status} == 200 }), 'it is back');
is(login('clerk', 'secret'), '200 as clerk', '... and the role signs in, however often it tried');
my @wrong = map { login('clerk', 'wrong') } 1 .. 11;
is($wrong[0], "401 $refused", 'a wrong password is refused');
is($wrong[-1], '429 too many tries, wait a minute', '... and counts');
stop_gateway($gateway);

# --- the connection is there, and what the gateway asks fails
$gateway = start_gateway($node, %settings, schema => 'console', 'statement-timeout' => '1s');
is(login('clerk', 'secret'), '503 there is no connection to the database', 'the server gives no answer in time');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE usename = 'clerk'}), '0',
	'... and the connection ends');
$node->safe_psql('postgres', 'REVOKE USAGE ON SCHEMA console FROM clerk');
is(login('clerk', 'secret'), "401 $refused", 'a role without the right to the schema');
stop_gateway($gateway);
$node->stop;
done_testing();
