# An event is dropped in a transaction that stays open: what begins to wait for it is put off, and no worker waits.
# needs: event
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

# One worker, which is found to wait if it does.
my $node = new_node('main', conf => "sfflow.workers = 1\nsfflow.max_workers = 1\nsfflow.poll_interval = 1h\n");

sub sql { return $node->safe_psql('postgres', shift) }

sql(<<'EOS');
SELECT sf_create_event('paid');
SELECT sf_create_state_machine('waits', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:paid",
	"Parameters": {"Key": "k"}, "End": true}}}');
SELECT sf_create_state_machine('told', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
EOS
my $holder = $node->background_psql('postgres', on_error_die => 1);
$holder->query_safe(q{BEGIN; SELECT sf_drop_event('paid')});
sql(q{SELECT sf_start('waits', name => 'x')});
# The worker has come to it when it has begun; it is put off, and another execution has its turn.
ok($node->poll_query_until('postgres', q{SELECT due_at > now() FROM _sfflow.branch b JOIN _sfflow.execution e
	USING (execution_no) WHERE e.execution_id = 'waits:x'}), 'what begins to wait for the event is put off');
sql(q{SELECT sf_start('told', name => 'other')});
ok($node->poll_query_until('postgres', q{SELECT status = 'SUCCEEDED' FROM sf_executions
	WHERE execution_id = 'told:other'}), '... and the worker goes on with others');
is(sql('SELECT count(*) FROM sf_event_waits'), '0', '... while the event may be gone');
$holder->query_safe('ROLLBACK');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 1 FROM sf_event_waits'), 'when it is not, the wait begins');
sql(q{SELECT sf_emit('paid', 'k')});
is(sql(q{SELECT sf_await('waits:x', '180 s')}), 'SUCCEEDED', '... and ends');

$holder->quit;
$node->stop;
done_testing();
