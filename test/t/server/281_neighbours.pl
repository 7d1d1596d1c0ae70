# sfflow beside other libraries that servers preload, before and after it: those that look at each statement, and
# pg_cron; and behind pgbouncer. What is not installed is left out, and named.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfSessions;
use SfTest;
use Test::More;
use Time::HiRes qw(usleep);

my $pooler;
chomp(my $libdir = `\${PG_CONFIG:-pg_config} --pkglibdir`);
my @known = qw(pg_stat_statements auto_explain pgaudit pg_cron timescaledb citus);
my @there = grep { -e "$libdir/$_.so" } @known;
note("not installed: $_") for grep { my $name = $_; !grep { $_ eq $name } @there } @known;
# Citus wants to be the first.
my @first = grep { $_ eq 'citus' } @there;
my @others = grep { $_ ne 'citus' } @there;

# Start executions and wait for them through pgbouncer, which gives each transaction another session of a few.
sub through_pgbouncer
{
	my ($node) = @_;
	my ($pgbouncer) = grep { -x } '/usr/sbin/pgbouncer', map { "$_/pgbouncer" } split /:/, $ENV{PATH};
	if (!$pgbouncer)
	{
		note('not installed: pgbouncer');
		return;
	}
	my $folder = PostgreSQL::Test::Utils::tempdir_short();
	my ($host, $port, $user) = ($node->host, $node->port, $node->safe_psql('postgres', 'SELECT current_user'));
	append_to_file("$folder/users", qq("$user" ""\n));
	append_to_file("$folder/ini", <<"EOC");
[databases]
postgres = host=$host port=$port user=$user
[pgbouncer]
listen_addr =
unix_socket_dir = $folder
listen_port = 6432
auth_type = trust
admin_users = $user
auth_file = $folder/users
pool_mode = transaction
default_pool_size = 3
server_login_retry = 1
logfile = $folder/log
EOC
	$pooler = IPC::Run::start([ $pgbouncer, '-q', "$folder/ini" ], '<', '/dev/null');
	# It listens a moment later.
	my @server = ('-h', $folder, '-p', 6432, '-U', $user);
	my $admin = sub {
		my $answer = '';
		IPC::Run::run([ 'psql', '-XAtq', @server, '-d', 'pgbouncer', '-c', shift ], '<', '/dev/null', '>', \$answer,
			'2>', '/dev/null') or return '';
		return $answer;
	};
	my $waiting = sub {
		my ($expected) = @_;
		for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
		{
			# Database, user, clients that are active, and that wait.
			return 1 if $admin->('SHOW POOLS') =~ $expected;
			usleep(100_000);
		}
		return 0;
	};
	ok($waiting->(qr/^pgbouncer\|/m), 'pgbouncer listens');
	# The clients begin together.
	$admin->('PAUSE postgres');
	my @clients;
	for my $client (1 .. 8)
	{
		my @pairs = map { "SELECT sf_start('m', '{}', 'pooled-$client-$_');
			SELECT sf_await('m:pooled-$client-$_', '180 s');\n" } 1 .. 5;
		push @clients, begin_session([ @server, '-d', 'postgres' ], "$folder/$client", @pairs);
	}
	ok($waiting->(qr/^postgres\|[^|]*\|0\|8\|/m), 'eight clients wait');
	$admin->('RESUME postgres');
	my @did = sessions_end(@clients);
	is(join(' ', map { scalar @{ $_->{ends} } } @did), '5 5 5 5 5 5 5 5',
		'each client of pgbouncer has awaited its five');
	is(join(' ', map { @{ $_->{errors} } } @did), '', '... without an error');
	is(alone(@did), 0, '... and each beside others');
	is($node->safe_psql('postgres', q(SELECT count(*), count(*) FILTER (WHERE status = 'SUCCEEDED') FROM sf_executions
		WHERE name LIKE 'pooled-%')), '40|40',
		'executions are started and awaited in sessions that clients share');
	is($node->safe_psql('postgres', q(SELECT count(*), count(DISTINCT (name, step)) FROM ledger
		WHERE name LIKE 'pooled-%')), '80|80', '... exactly once');
	stop_pooler();
}

# Stop pgbouncer, if it runs, also when this script dies.
sub stop_pooler
{
	$pooler->kill_kill if $pooler;
	undef $pooler;
}
END { stop_pooler() }

for my $order ([ @first, 'sfflow', @others ], [ @first, @others, 'sfflow' ])
{
	my $libraries = join(', ', @$order);
	my $node = new_node($order->[-1] eq 'sfflow' ? 'last' : 'first', bare => 1, conf => <<"EOC");
shared_preload_libraries = '$libraries'
cron.database_name = 'postgres'
cron.use_background_workers = on
pg_stat_statements.track = 'all'
auto_explain.log_min_duration = 0
auto_explain.log_analyze = on
auto_explain.log_nested_statements = on
pgaudit.log = 'all'
timescaledb.telemetry_level = 'off'
EOC
	for my $extension (grep { $_ ne 'auto_explain' } @$order)
	{
		is(($node->psql('postgres', "CREATE EXTENSION $extension"))[0], 0, "$libraries: CREATE EXTENSION $extension");
	}
	$node->safe_psql('postgres', <<'EOS');
CREATE TABLE ledger (name text, step text, PRIMARY KEY (name, step));
CREATE FUNCTION book(name text, step text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO ledger VALUES (name, step);
	IF step = 'b' AND name = '7' AND NOT EXISTS (SELECT FROM repaired) THEN
		RAISE EXCEPTION 'not yet';
	END IF;
	RETURN to_jsonb(step);
END $$;
CREATE TABLE repaired (done boolean);
SELECT sf_create_state_machine('m', '{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"name.$": "$$.Execution.Name", "step": "a"},
		"Next": "B"},
	"B": {"Type": "Task", "Resource": "sql:public.book", "Parameters": {"name.$": "$$.Execution.Name", "step": "b"},
		"End": true}}}');
SELECT sf_start('m', '{}', n::text) FROM generate_series(1, 20) n;
EOS
	ok($node->poll_query_until('postgres', q(SELECT count(*) = 20 FROM sf_executions WHERE status <> 'RUNNING')),
		'twenty executions end');
	is($node->safe_psql('postgres', q(SELECT string_agg(name, ',') FROM sf_executions WHERE status = 'FAILED')), '7',
		'one fails, as it must');
	$node->safe_psql('postgres', q(INSERT INTO repaired VALUES (true); SELECT sf_redrive('m:7')));
	ok($node->poll_query_until('postgres', q(SELECT count(*) = 20 FROM sf_executions WHERE status = 'SUCCEEDED')),
		'it is redriven');
	is($node->safe_psql('postgres', q(SELECT count(*), count(DISTINCT (name, step)) FROM ledger)), '40|40',
		'each task has run once');
	is($node->safe_psql('postgres', q(SELECT count(*) FROM sf_health WHERE NOT ok)), '0', 'sf_health is content');
	is($node->safe_psql('postgres', q(SELECT count(*) FROM sf_check())), '0', 'so is sf_check()');
	is($node->safe_psql('postgres', q(SELECT count(*) > 0 FROM pg_stat_statements WHERE query ~ 'INSERT INTO ledger')),
		't', 'statements of tasks are counted')
	  if grep { $_ eq 'pg_stat_statements' } @$order;
	ok($node->log_contains(qr/duration: .* plan:/), 'and explained') if grep { $_ eq 'auto_explain' } @$order;
	ok(!$node->log_contains(qr/terminated by signal|PANIC/), 'nothing has crashed');
	through_pgbouncer($node) if $order->[-1] ne 'sfflow';
	is(($node->psql('postgres', 'DROP EXTENSION sfflow CASCADE'))[0], 0, 'sfflow can be dropped');
	$node->stop;
}
done_testing();
