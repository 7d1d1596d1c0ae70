# A transaction has many executions that wait for events which have come: who looks for events goes through them once,
# and not again and again until it ends; then they receive their events.
# needs: event
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 1\n");

sub sql { return $node->safe_psql('postgres', shift) }

# More keys than one sweep goes through.
my $keys = 70;
sql(<<"EOS");
SELECT sf_create_event('paid');
SELECT sf_create_state_machine('waits', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:paid",
	"Parameters": {"Key.\$": "\$.n"}, "End": true}}}');
SELECT sf_start('waits', jsonb_build_object('n', n), n::text) FROM generate_series(1, $keys) n;
EOS
$node->poll_query_until('postgres', "SELECT count(*) = $keys
	FROM sf_event_waits") or BAIL_OUT('not all executions wait');

my $holder = $node->background_psql('postgres', on_error_die => 1);
$holder->query_safe('BEGIN');
is($holder->query_safe('SELECT count(*) FROM (SELECT FROM _sfflow.branch b JOIN _sfflow.awaited_event w
	USING (execution_no, branch_no) FOR UPDATE OF b) held'), $keys, 'a transaction has the branches that wait');
sql("SELECT count(sf_emit('paid', n::text)) FROM generate_series(1, $keys) n");

# How often a sweep reads the index of keys with new events, in a call that goes on as long as sweeps ask for more.
my $scans = sql(<<'EOS');
BEGIN;
CALL sf_run_due(10);
SELECT pg_stat_get_xact_numscans('_sfflow.emission_fresh'::regclass);
ROLLBACK;
EOS
cmp_ok($scans, '>=', $keys, 'a call goes through the keys');
cmp_ok($scans, '<', 10 * $keys, '... some times at most');
is(sql("SELECT count(*) FROM sf_executions WHERE status = 'SUCCEEDED'"), '0', '... and gives nothing');

$holder->query_safe('ROLLBACK');
$holder->quit;
ok($node->poll_query_until('postgres', "SELECT count(*) = $keys FROM sf_executions WHERE status = 'SUCCEEDED'"),
	'once the transaction has ended all receive their events');
is(sql('SELECT count(*) FROM sf_check()'), '0', 'nothing is wrong');
$node->stop;
done_testing();
