# REINDEX CONCURRENTLY while sessions start the same executions: with two unique indexes there, both
# say who comes second.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "fsync = off\n");
$node->safe_psql('postgres', <<'EOS');
SELECT sf_disable();
CREATE TABLE test_is_over ();
SELECT sf_create_state_machine('p', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
EOS

# Three sessions that start what the clock says, until the test is over.
my $starts = $node->basedir . '/starts.sql';
append_to_file($starts, "SET client_min_messages = error;\n"
	. ("SELECT sf_start('p', '{}', 's' || floor(extract(epoch FROM clock_timestamp()) * 500));\n" x 50
	. "SELECT count(*) > 0 AS is_over FROM test_is_over \\gset\n\\if :is_over\n\\q\n\\endif\n") x 800);
my @err = ('') x 3;
my @sessions = map {
	IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-f', $starts, '-o', '/dev/null' ], '2>',
		\$err[$_])
} 0 .. 2;
$node->poll_query_until('postgres', 'SELECT count(*) > 100 FROM _sfflow.execution') or die 'nothing starts';
$node->safe_psql('postgres', 'REINDEX TABLE CONCURRENTLY _sfflow.execution') for 1 .. 10;
$node->safe_psql('postgres', 'INSERT INTO test_is_over DEFAULT VALUES');
$_->finish for @sessions;
is(join('', @err), '', 'no start fails');
is($node->safe_psql('postgres',
	"SELECT count(*) FROM sf_executions e WHERE start_requests <> (SELECT count(*) + 1 FROM sf_start_requests r
		WHERE r.execution_id = e.execution_id)"),
	'0', 'each is counted');
no_surprises($node);
$node->stop;
done_testing();
