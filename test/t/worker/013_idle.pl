# An idle installation runs nothing but one look at the tables a poll_interval.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', <<'EOC');
shared_preload_libraries = 'sfflow'
autovacuum = off
sfflow.poll_interval = 2
sfflow.workers = 1
EOC
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE quiet');
$node->safe_psql('quiet', 'CREATE EXTENSION sfflow; SELECT sf_enable()');
ok( $node->poll_query_until('quiet', "SELECT count(*) = 1 FROM sf_workers WHERE state = 'idle'"),
	'a worker is there');

# The sessions that asked have ended, with what they report of themselves at their end.
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = 'quiet' AND backend_type = 'client backend'"),
	'nobody else is');

# Looked at from another database, so that looking does not count; with the time of each look.
my $commits = "SELECT xact_commit, extract(epoch FROM clock_timestamp()) FROM pg_stat_database WHERE datname = 'quiet'";
my $polled = sub {
	my $since = shift;
	$node->poll_query_until('postgres', "SELECT xact_commit > $since FROM pg_stat_database WHERE datname = 'quiet'");
	return split /\|/, $node->safe_psql('postgres', $commits);
};

my ($first, $begin) = $polled->((split /\|/, $node->safe_psql('postgres', $commits))[0]);
my ($last, $end) = ($first);
($last, $end) = $polled->($last) for 1 .. 3;
my $polls = sprintf '%.0f', ($end - $begin) / 2;
cmp_ok($last - $first, '<=', $polls + 1, "in $polls poll intervals there are that many transactions");

ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity
		 WHERE backend_type LIKE 'sfflow%' AND (xact_start IS NOT NULL OR backend_xmin IS NOT NULL)"),
	'asleep, no transaction is open');
$node->stop;

done_testing();
