# Databases, the extension and copies of both come and go while workers run.
#
# Runs alone: workers have the five seconds in which PostgreSQL waits for them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', bare => 1);

# Make a database with a machine that marks each run, and one that does so after an hour.
sub make_database
{
	my $name = shift;
	my $mark = one_task('public.mark');
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, <<"EOS");
CREATE EXTENSION sfflow;
CREATE TABLE marks (at timestamptz DEFAULT clock_timestamp(), execution text);
CREATE FUNCTION mark(payload jsonb) RETURNS void
	LANGUAGE sql AS 'INSERT INTO marks (execution) VALUES (payload ->> ''n'')';
SELECT sf_create_state_machine('mark', \$def\$$mark\$def\$);
SELECT sf_create_state_machine('wait', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 3600, "Next": "T"},
	"T": {"Type": "Task", "Resource": "sql:public.mark", "End": true}}}');
EOS
	return;
}

# Start the one that waits, and wait until it does.
sub start_timer
{
	my ($database, $name) = @_;
	$node->safe_psql($database, "SELECT sf_start('wait', '{\"n\": \"timer\"}', '$name')");
	$node->poll_query_until($database, q{SELECT count(*) = 1 FROM _sfflow.branch
		WHERE due_at > now() + interval '30 min'})
	  or die "$database: no timer";
	return;
}

# Make the timers of a database due: they go off with the next look.
my $now_due = 'UPDATE _sfflow.branch SET due_at = now() WHERE due_at > now()';

# Assert that a copy does nothing by itself, says so, and goes on when it is told to.
sub check_copy
{
	my ($name, $how) = @_;
	is($node->safe_psql($name, q{SELECT count(*) FROM sf_health WHERE item = 'driven' AND NOT ok}), '1',
		"$how: sf_health says that nothing is driven");
	$node->safe_psql($name, q{SELECT sf_start('mark', '{"n": "in the copy"}', 'copy')});
	# Nor does a timer that is due.
	$node->safe_psql($name, $now_due);
	is($node->safe_psql($name, q{SELECT sf_await('mark:copy', '1500 ms')}), 'RUNNING', "$how: nothing runs");
	is($node->safe_psql($name, 'SELECT count(*) FROM marks'), '0', "$how: nothing ran");
	$node->safe_psql($name, 'SELECT sf_enable()');
	ok(ended($node, $name), "$how: sf_enable() adopts it");
	is($node->safe_psql($name, 'SELECT count(*) FROM marks'), '2', "$how: and what was under way goes on");
	no_surprises($node, $name);
	return;
}

make_database('original');
start_timer('original', 'w');

# Template copy, with workers connected to the template.
patiently($node, 'CREATE DATABASE copied TEMPLATE original');
# Dump and restore.
my $dump = "${PostgreSQL::Test::Utils::tmp_check}/original.sql";
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('original') ], 'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ], 'restore');

$node->safe_psql('original', "$now_due; SELECT sf_enable()");
ok(ended($node, 'original'), 'the original runs on');
is($node->safe_psql('original', 'SELECT count(*) FROM marks'), '1', 'its timer fired once');
check_copy('copied', 'template');
check_copy('restored', 'dump and restore');

# What was kept is all there.
is( $node->safe_psql('restored', q{SELECT count(*) FROM sf_history WHERE execution_id = 'wait:w'}),
	$node->safe_psql('original', q{SELECT count(*) FROM sf_history WHERE execution_id = 'wait:w'}),
	'the history of a restored execution goes on where it was');

# sf_disable() and sf_enable().
$node->safe_psql('original', q{SELECT sf_disable(); SELECT sf_start('mark', '{"n": "later"}', 'later')});
is($node->safe_psql('original', q{SELECT sf_await('mark:later', '500 ms')}), 'RUNNING',
	'a disabled database is not driven');
$node->safe_psql('original', 'SELECT sf_enable()');
is($node->safe_psql('original', q{SELECT sf_await('mark:later', '180 s')}), 'SUCCEEDED', 'enabled again, it is');

# Databases come and go while workers are connected: they leave before PostgreSQL gives up, after five seconds, which
# would be an error; of three tries one at least is not held up by a busy machine.
for my $what ('DROP DATABASE copied', 'ALTER DATABASE restored RENAME TO renamed', 'DROP DATABASE renamed')
{
	my ($rc, $out, $err);
	for (1 .. 3)
	{
		($rc, $out, $err) = $node->psql('postgres', $what);
		last if $rc == 0;
	}
	is($rc, 0, $what) or diag($err);
}

# The extension comes and goes.
start_timer('original', 'gone');
my ($rc, $out, $err) = $node->psql('original', 'DROP EXTENSION sfflow');
is($rc, 0, 'DROP EXTENSION with executions running') or diag($err);
is($node->safe_psql('original', q{SELECT count(*) FROM pg_namespace WHERE nspname = '_sfflow'}), '0', 'leaves nothing');
$node->safe_psql('original', 'CREATE EXTENSION sfflow');
my $mark = one_task('public.mark');
$node->safe_psql('original', "SELECT sf_create_state_machine('mark', \$def\$$mark\$def\$);
	SELECT sf_start('mark', '{}', 'new')");
is($node->safe_psql('original', q{SELECT sf_await('mark:new', '180 s')}), 'SUCCEEDED', 'created again, it works');
$node->safe_psql('original', 'DROP EXTENSION sfflow');
$node->safe_psql('original', q{CREATE SCHEMA flows; CREATE EXTENSION sfflow SCHEMA flows});
$node->safe_psql('original', "SELECT flows.sf_create_state_machine('mark', \$def\$$mark\$def\$);
	SELECT flows.sf_start('mark', '{}', 'new')");
is($node->safe_psql('original', q{SELECT flows.sf_await('mark:new', '180 s')}), 'SUCCEEDED', 'in another schema too');

# Switched off while keys wait for a second worker that there may not be, and on again: it is driven again.
my $single = new_node('single', conf => "sfflow.workers = 1\nsfflow.poll_interval = 3600\n");
$single->safe_psql('postgres', <<"EOS");
SELECT sf_create_state_machine('nap', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:query",
	"Parameters": {"Statement": "SELECT pg_sleep(0.004)"}, "End": true}}}');
EOS
$single->safe_psql('postgres', "SELECT sf_start('nap', '{}', 'n$_' || g) FROM generate_series(1, 100) AS g")
	for 1 .. 10;
$single->safe_psql('postgres', 'SELECT sf_disable()');
# With its next poll, which is a second away.
$single->safe_psql('postgres', "ALTER SYSTEM SET sfflow.poll_interval = '1s'; SELECT pg_reload_conf()");
ok($single->poll_query_until('postgres', q{SELECT count(*) = 0 FROM sf_workers WHERE role <> 'launcher'}),
	'the worker leaves');
$single->safe_psql('postgres', 'ALTER SYSTEM RESET sfflow.poll_interval; SELECT pg_reload_conf()');
$single->safe_psql('postgres', 'SELECT sf_enable()');
is($single->safe_psql('postgres', "SELECT sf_start('nap', '{}', 'last'); COMMIT;
	SELECT sf_await('nap:last', '180 s')") =~ s/.*\n//sr,
	'SUCCEEDED', 'sf_enable() has it driven at once');
$single->stop;

# A prepared transaction that has altered the extension: the session has no more say over the workers.
$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\n");
$node->restart;
make_database('prepared');
my $preparer = $node->background_psql('prepared');
$preparer->query_safe(
	"SET client_min_messages = warning; BEGIN; ALTER EXTENSION sfflow UPDATE; PREPARE TRANSACTION 'p'");
$node->safe_psql('prepared', "SELECT sf_start('mark', '{}', 'p')");
is($node->safe_psql('prepared', "SELECT sf_await('mark:p', '180 s')"), 'SUCCEEDED',
	'workers come back when ALTER EXTENSION is prepared');
$preparer->query_safe("COMMIT PREPARED 'p'");
$preparer->quit;

# A standby drives nothing until it is promoted.
$node->append_conf('postgresql.conf', "wal_level = replica\nmax_wal_senders = 5\nsfflow.poll_interval = 1s\n");
$node->restart;
make_database('streamed');
my $standby = standby_of($node, 'standby');
start_timer('streamed', 'w');
$node->wait_for_catchup($standby);
is($standby->safe_psql('streamed', 'SELECT count(*) FROM marks'), '0', 'the standby has run nothing');
$node->stop('immediate');
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'no promotion';
# The start of another one has a worker look.
$standby->safe_psql('streamed', "$now_due; SELECT sf_start('wait', '{}', 'other')");
ok($standby->poll_query_until('streamed', q{SELECT count(*) = 1 FROM marks}), 'promoted, it goes on');
is($standby->safe_psql('streamed', q{SELECT sf_await('wait:w', '180 s')}), 'SUCCEEDED', 'to the end');
$standby->stop;

done_testing();
