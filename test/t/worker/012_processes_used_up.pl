# Where max_worker_processes is used up, the log says so once; more databases than workers take turns.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
# The launcher and one worker fit (the logical replication launcher takes none with 0 here).
$node->append_conf('postgresql.conf', <<'EOC');
shared_preload_libraries = 'sfflow'
max_worker_processes = 2
max_logical_replication_workers = 0
sfflow.workers = 2
sfflow.poll_interval = 1
EOC
$node->start;

for my $database (qw(a b))
{
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION sfflow; SELECT sf_enable()');
}
ok($node->poll_query_until('a', "SELECT NOT ok FROM sf_health WHERE item = 'worker slots'"),
	'sf_health tells that there is no slot');
for my $database (qw(a b a b))
{
	my $before = $node->safe_psql($database, "SELECT detail FROM sf_health WHERE item = 'last turn'");
	ok( $node->poll_query_until($database,
			"SELECT detail <> '$before' FROM sf_health WHERE item = 'last turn'"),
		"database $database has a turn all the same");
}
my $log = slurp_file($node->logfile);
is(scalar(() = $log =~ /found no free slot for a background worker/g), 1, 'said once');
like($log, qr/HINT:  Increase max_worker_processes/, '... with a hint');
$node->stop;

# Two workers, four databases: each gets its turn.
$node->append_conf('postgresql.conf', "max_worker_processes = 8\n");
$node->start;
for my $database (qw(c d))
{
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION sfflow; SELECT sf_enable()');
}
for my $database (qw(a b c d))
{
	ok( $node->poll_query_until($database,
			"SELECT detail !~ 'none' FROM sf_health WHERE item = 'last turn'"),
		"database $database has a turn");
}
# One that makes room for another database may still be ending when the next one is there.
ok( $node->poll_query_until('postgres',
		"SELECT count(*) <= 2 FROM pg_stat_activity WHERE backend_type = 'sfflow worker'"),
	'with no more workers than set');
$node->stop;

done_testing();
