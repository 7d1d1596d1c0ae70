# However few background workers the server has room for, executions end, in every database; the log says once, and
# sf_health as long as it is so, which setting is too small.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', bare => 1, conf => <<'EOC');
max_logical_replication_workers = 0
max_parallel_workers_per_gather = 0
sfflow.poll_interval = 3600
EOC
my @databases = qw(a b);
for my $database (@databases)
{
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION sfflow');
	$node->safe_psql($database, q{CREATE FUNCTION nap(seconds float8) RETURNS text
		LANGUAGE sql AS 'SELECT pg_sleep(seconds); SELECT current_user::text'});
	$node->safe_psql($database, "SELECT sf_create_state_machine('nap', '" . one_task('public.nap') . "')");
	$node->safe_psql($database, q{SELECT sf_create_state_machine('timer',
		'{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1, "End": true}}}')});
}

# Start an execution and wait until it has ended.
sub runs
{
	my ($database, $machine, $name, $test) = @_;
	$node->safe_psql($database, qq{SELECT sf_start('$machine', '{"seconds": 0.1}', '$name')});
	return is($node->safe_psql($database, "SELECT sf_await('$machine:$name', '180 s')"), 'SUCCEEDED', $test);
}

# The places in the server: with pg_cron's scheduler, without.
for my $case ([ 1, 0 ], [ 2, 0 ], [ 3, 0 ], [ 2, 1 ], [ 3, 1 ], [ 4, 1 ])
{
	my ($places, $cron) = @$case;
	my $what = "max_worker_processes = $places" . ($cron ? ' and pg_cron' : '');
	$node->append_conf('postgresql.conf', "max_worker_processes = $places\nshared_preload_libraries = '"
		  . ($cron ? 'pg_cron, ' : '') . "sfflow'\n");
	my $from = -s $node->logfile;
	$node->restart;
	my $name = "p$places-$cron";
	for my $database (@databases, reverse @databases)
	{
		$name .= 'x';
		runs($database, 'nap', $name, "$what: a task runs in $database");
		runs($database, 'timer', $name, "$what: a timer goes off in $database");
	}
	my $log = slurp_file($node->logfile, $from);
	my $left = $places - 1 - $cron;
	if ($left == 0)
	{
		is($node->safe_psql('a', "SELECT ok FROM sf_health WHERE item = 'worker slots'"), 'f',
			"$what: sf_health is not content");
		like($node->safe_psql('a', "SELECT detail FROM sf_health WHERE item = 'worker slots'"),
			qr/one process does everything.*increase max_worker_processes/, '... and names the setting');
		is(scalar(() = $log =~ /WARNING:  sfflow found no free slot/g), 1, '... as does the log, once');
		like($log, qr/One process does everything.*\n.*HINT:  Increase max_worker_processes/, '... with a hint');
	}
	cmp_ok(scalar(() = $log =~ /WARNING/g), '<=', 1, "$what: one warning at most");
	unlike($log, qr/PANIC|sfflow \w+ (FATAL|ERROR)/, "$what: no errors");
}

$node->append_conf('postgresql.conf', "max_worker_processes = 1\nshared_preload_libraries = 'sfflow'\n");
$node->restart;

# What the only process is in can still be dropped, and stopped.
runs('a', 'nap', 'only', 'the only process is in a');
patiently($node, 'DROP DATABASE a');
runs('b', 'nap', 'only', '... which can be dropped');
$node->safe_psql('b', q{SELECT sf_start('nap', '{"seconds": 3600}', 'long')});
ok($node->poll_query_until('b', "SELECT count(*) = 1 FROM sf_workers WHERE execution_id = 'nap:long'"),
	'a long task runs in it');
is($node->safe_psql('b', "SELECT sf_stop('nap:long')"), 'ABORTED', '... and is stopped');
runs('b', 'timer', 'after', '... and the process goes on');
ok($node->stop('fast'), 'the server stops');
$node->start;
runs('b', 'nap', 'again', '... and starts');
no_surprises($node, 'b');
$node->stop('immediate');
done_testing();
