# An event is dropped in a transaction that stays open: what begins to wait for it is put off, and no worker waits. A
# session that emits it waits, and finds it by its name afterwards, whatever has become of the session's cache.
# needs: event
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

# One worker, which is found to wait if it does. The variable has the C library of Linux overwrite memory that is freed.
$ENV{MALLOC_PERTURB_} = 165;
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

# The session has so many events in its cache that their names are not in its first block of memory. It reads the cache
# anew when it has the lock, for another event has come.
sql(q{SELECT count(sf_create_event('cached-' || i)) FROM generate_series(1, 200) i});
my $emitter = $node->background_psql('postgres', on_error_die => 1);
$emitter->query_safe(q{SELECT sf_emit('cached-' || i, 'k') FROM generate_series(1, 200) i});
$holder->query_safe(q{BEGIN; SELECT sf_drop_event('cached-100')});
$emitter->query_until(qr/emits/, qq{\\echo emits\nSELECT sf_emit('cached-100', 'k2');\n});
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity
	WHERE wait_event_type = 'Lock' AND backend_type = 'client backend'}),
	'what emits an event waits for the session that drops it');
# The sweep of the events, which the transaction has deleted, does not.
sql(q{SELECT sf_start('told', name => 'more')});
is(sql(q{SELECT sf_await('told:more', '180 s')}), 'SUCCEEDED', '... and no worker does');
sql(q{SELECT sf_create_event('another')});
$holder->query_safe('ROLLBACK');
$emitter->quit;
is(sql(q{SELECT count(*) FROM sf_events WHERE name = 'cached-100'}), '2', '... and emits it if it stays');

$holder->quit;
$node->stop;
done_testing();
