# A standby drives nothing until it is promoted.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', "shared_preload_libraries = 'sfflow'");
$primary->start;
$primary->safe_psql('postgres', 'CREATE EXTENSION sfflow; SELECT sf_enable()');
$primary->safe_psql('postgres', <<'EOC');
SELECT sf_create_state_machine('wait', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1000,
	"End": true}}}');
SELECT sf_start('wait', '{}', 'x');
EOC
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));

my $count = "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'sfflow %'";
is($standby->safe_psql('postgres', $count), '0', 'a standby has neither launcher nor worker');
is( $standby->safe_psql('postgres', "SELECT bool_and(ok) FROM sf_health"),
	't', '... and is healthy');

# What would write is refused as such.
for my $call (q{sf_start('wait')}, q{sf_start('wait', '{}', 'x')}, q{sf_run('wait:x', true)},
	q{sf_stop('wait:x')})
{
	my (undef, undef, $stderr) = $standby->psql('postgres', "\\set VERBOSITY sqlstate\nSELECT $call");
	like($stderr, qr/ERROR:  25006/, "$call: read-only transaction");
}

$primary->stop;
$standby->promote;
ok( $standby->poll_query_until('postgres',
		"SELECT count(*) > 0 FROM sf_workers WHERE role = 'worker' AND state = 'idle'"),
	'promoted, it has a worker: the same system identifier, no sf_enable() needed');
$standby->stop;

done_testing();
