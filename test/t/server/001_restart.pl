# A server with the library preloaded starts, stops and starts again.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'sfflow'");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION sfflow');
$node->restart;
is( $node->safe_psql('postgres', "SELECT count(*) FROM pg_extension WHERE extname = 'sfflow'"),
	'1', 'the extension is there after a restart');
$node->stop;

done_testing();
