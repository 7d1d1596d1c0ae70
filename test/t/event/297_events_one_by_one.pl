# Events of a key that an execution receives one by one: the blocks that each takes are as many behind thousands of them
# as behind some, also where no vacuum comes.
# needs: event
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 1\nautovacuum = off\nsfflow.max_history_events = 1000000\n");

sub sql { return $node->safe_psql('postgres', shift) }

sql("SELECT sf_create_event('tick')");
sql(<<'EOS');
SELECT sf_create_state_machine('loop', '{"StartAt": "W", "States": {
	"W": {"Type": "Task", "Resource": "event:tick", "Parameters": {"Key.$": "$.key"}, "ResultPath": "$.tick",
		"Next": "C"},
	"C": {"Type": "Choice", "Choices": [{"Variable": "$.tick.Payload.last", "BooleanEquals": true, "Next": "S"}],
		"Default": "W"},
	"S": {"Type": "Succeed"}}}');
EOS

# The blocks of the tables of events that were read so far, and the rows that were inserted.
sub counters
{
	return split /\|/, sql(<<'EOS');
SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read),
	(SELECT n_tup_ins FROM pg_stat_user_tables WHERE relid = '_sfflow.awaited_event'::regclass)
FROM pg_statio_user_tables WHERE schemaname = '_sfflow'
	AND relname IN ('emission', 'awaited_event', 'event_receipt', 'event_floor')
EOS
}

my $emitted = 0;

# Have an execution receive so many events one by one; returns how many blocks each has taken.
sub blocks_per_event
{
	my $n = shift;
	sql("SELECT sf_emit_many('tick', ARRAY(SELECT jsonb_build_object('key', $n, 'payload',
		jsonb_build_object('last', i = $n)) FROM generate_series(1, $n) i))");
	$emitted += $n;
	# a look has been over with them, and statistics say so
	$node->poll_query_until('postgres',
		"SELECT n_tup_upd = $emitted FROM pg_stat_user_tables WHERE relid = '_sfflow.emission'::regclass")
		or BAIL_OUT('no sweep has come to the events');
	my ($before, $waits) = counters();
	sql("SELECT sf_start('loop', '{\"key\": $n}', '$n')");
	ended($node) or BAIL_OUT("the execution with $n events does not end");
	$node->poll_query_until('postgres',
		"SELECT n_tup_ins = $waits + $n FROM pg_stat_user_tables WHERE relid = '_sfflow.awaited_event'::regclass")
		or BAIL_OUT('there are no statistics of waits');
	my ($after) = counters();
	is(sql("SELECT count(*) FROM sf_history WHERE execution_id = 'loop:$n' AND type = 'TaskSucceeded'"), $n,
		"an execution receives $n events one by one");
	cmp_ok(sql("SELECT count(*) FROM _sfflow.event_receipt r JOIN _sfflow.execution e USING (execution_no)
		WHERE e.execution_id = 'loop:$n'"), '<', 40, '... and keeps few receipts');
	return ($after - $before) / $n;
}

my ($few, $many) = (200, full(3000, 10000));
my $first = blocks_per_event($few);
my $then = blocks_per_event($many);
cmp_ok($then, '<', 1.2 * $first,
	sprintf('%.1f blocks for each of %d events, %.1f for each of %d', $first, $few, $then, $many));
is(sql('SELECT * FROM sf_check()'), '', 'all is sound');
$node->stop;
done_testing();
