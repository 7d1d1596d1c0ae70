# Workers come when a database is to be driven, and make way for commands that want it to themselves.
#
# Runs alone: it measures times.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', <<'EOC');
shared_preload_libraries = 'sfflow'
sfflow.workers = 2
sfflow.max_workers = 4
EOC
$node->start;

# Wait until a database has a worker that is idle.
sub wait_for_worker
{
	my $database = shift;
	return $node->poll_query_until($database,
		"SELECT count(*) > 0 FROM sf_workers WHERE role = 'worker' AND state = 'idle'");
}

sub worker_arrives
{
	my ($database, $name) = @_;
	ok(wait_for_worker($database), $name);
}

# Wait until no worker is connected to a database.
sub workers_are_gone
{
	my ($database, $name) = @_;
	ok( $node->poll_query_until('postgres',
			"SELECT count(*) = 0 FROM pg_stat_activity
			 WHERE backend_type = 'sfflow worker' AND datname = '$database'"),
		$name);
}

# Run a statement and tell how long it took. That is too long, whatever the limit, if PostgreSQL has not waited for it.
sub seconds_for
{
	my $sql = shift;
	my $start = time;
	my ($rc, undef, $error) = $node->psql('postgres', $sql);
	return time - $start if $rc == 0;
	die "$sql: $error" if $error !~ /is being accessed by other users/;
	return 'inf';
}

# Assert that a statement takes less than some seconds. A busy machine may slow one try down: it is undone, and with a
# worker in a database it is tried again.
sub takes_less
{
	my ($limit, $sql, $undo, $database, $name) = @_;
	my $took = seconds_for($sql);
	for (1 .. 3)
	{
		last if $took < $limit;
		note("$sql: $took seconds");
		$undo->() if $took ne 'inf';
		wait_for_worker($database) or die "no worker in $database";
		$took = seconds_for($sql);
	}
	cmp_ok($took, '<', $limit, $name);
	return;
}

# Copy a database that has workers and have the copy driven, too.
sub make_copy
{
	my $name = shift;
	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE shop");
	$node->safe_psql($name, 'SELECT sf_enable()');
	return;
}

sub driven
{
	my $database = shift;
	return $node->safe_psql($database, "SELECT ok FROM sf_health WHERE item = 'driven'");
}

ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'sfflow launcher'"),
	'the launcher starts with the server');

$node->safe_psql('postgres', 'CREATE DATABASE shop');
$node->safe_psql('shop', 'CREATE EXTENSION sfflow');
workers_are_gone('shop', 'nobody stays in a database that has nothing to drive yet');
is(driven('shop'), 't', '... which is healthy');

$node->safe_psql('shop', 'SELECT sf_enable()');
worker_arrives('shop', 'a worker comes when the database is to be driven');

takes_less(2, 'CREATE DATABASE copy TEMPLATE shop', sub { $node->safe_psql('postgres', 'DROP DATABASE copy') }, 'shop',
	'the database can be copied with a worker connected');
worker_arrives('shop', '... which comes back');
is(driven('copy'), 'f', 'the copy is not driven');
workers_are_gone('copy', '... and has no worker');
like(
	$node->safe_psql('copy', "SELECT detail FROM sf_health WHERE item = 'driven'"),
	qr/copy of another database.*sf_enable/,
	'... and sf_health says why');
$node->safe_psql('copy', 'SELECT sf_enable()');
worker_arrives('copy', '... until it is adopted');

takes_less(1, 'ALTER DATABASE copy RENAME TO other',
	sub { $node->safe_psql('postgres', 'ALTER DATABASE other RENAME TO copy') }, 'copy',
	'the database can be renamed with a worker connected');
worker_arrives('other', '... which comes back');
takes_less(1, 'DROP DATABASE other', sub { make_copy('other') }, 'other', 'and dropped within a second');

my ($status, undef, $error) = $node->psql('postgres',
	"CREATE ROLE passerby LOGIN; SET SESSION AUTHORIZATION passerby; DROP DATABASE shop");
like($error, qr/must be owner/, 'who may not drop a database is refused');
worker_arrives('shop', '... and its worker stays');

$node->safe_psql('shop', 'SELECT sf_disable()');
workers_are_gone('shop', 'workers leave a database that is switched off');
$node->safe_psql('shop', 'SELECT sf_enable()');
worker_arrives('shop', '... and come back');

# Who calls sf_start() while it is being dropped waits, and is told.
$node->safe_psql('shop',
	q{SELECT sf_create_state_machine('p', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}')});
my $dropping = $node->background_psql('shop');
$dropping->query_safe('BEGIN; DROP EXTENSION sfflow');
my $start = IPC::Run::start([ 'psql', '-XqAt', '-v', 'VERBOSITY=verbose', '-d', $node->connstr('shop'),
		'-c', "SELECT sf_start('p')" ], '>', '/dev/null', '2>', \my $told);
$node->poll_query_until('postgres',
	q{SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'SELECT sf_start%' AND wait_event_type = 'Lock'})
  or die 'nobody waits';
$dropping->query_safe('COMMIT');
$dropping->quit;
$start->finish;
like($told, qr/42P01: relation _sfflow\.state_machine does not exist/,
	'a start that waited for DROP EXTENSION says that it is gone');
workers_are_gone('shop', 'workers leave when the extension is dropped');
$node->safe_psql('shop', 'CREATE EXTENSION sfflow; SELECT sf_enable()');
worker_arrives('shop', '... and come back with it');

$node->restart;
worker_arrives('shop', 'a worker comes back after a restart');

my $pids = $node->safe_psql('postgres', "SELECT string_agg(pid::text, ', ') FROM pg_stat_activity
	WHERE backend_type = 'sfflow worker' AND datname = 'shop'");
$node->safe_psql('postgres',
	"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'sfflow launcher'");
# Those of the next one may be there at once.
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid IN ($pids)"),
	'workers leave with the launcher');
worker_arrives('shop', '... and come back with the next one');

my ($denied, undef, $message) = $node->psql('shop', "SET ROLE passerby; SELECT sf_enable()");
like($message, qr/permission denied for function sf_enable/, 'not everybody may call sf_enable');

$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|ERROR:.*(?<!_)sfflow|WARNING/, 'the log is quiet');

done_testing();
