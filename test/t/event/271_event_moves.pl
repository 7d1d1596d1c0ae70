# Events by key beside what else happens to an execution and a type: prepared transactions, which no poll has to find;
# another version; the children of a Distributed Map; a type that is dropped; rows that do not fit together.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main',
	conf => "sfflow.workers = 2\nsfflow.poll_interval = '1 h'\nmax_prepared_transactions = 5\n");

sub sql { return $node->safe_psql('postgres', shift) }

sub start { return sql("SELECT sf_start('$_[0]', '{\"k\": \"$_[1]\"}', '$_[1]')") }

# Wait until so many branches wait for a key.
sub waits
{
	my ($key, $count) = @_;
	$node->poll_query_until('postgres', "SELECT count(*) = $count FROM sf_event_waits WHERE key = '$key'")
	  or die "no $count waits for $key";
	return;
}

# The end of an execution, and something of its output.
sub outcome
{
	my ($id, $what) = @_;
	sql("SELECT sf_await('$id', '180 s')");
	return sql("SELECT status || ' ' || coalesce(output $what, '') FROM sf_executions WHERE execution_id = '$id'");
}

sql(<<'EOS');
SELECT sf_create_event('paid'), sf_create_event('gone');
SELECT sf_create_state_machine('pay', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:paid",
	"Parameters": {"Key.$": "$.k"}, "End": true}}}'),
	sf_create_state_machine('map', '{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {
		"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "W", "States": {
		"W": {"Type": "Task", "Resource": "event:paid", "Parameters": {"Key": "items"}, "End": true}}}}}}');
EOS

# --- COMMIT PREPARED tells workers of what was emitted, and of waits

start('pay', 'p1');
waits('p1', 1);
sql("BEGIN; SELECT sf_emit('paid', 'p1', NULL, 'e'); PREPARE TRANSACTION 'emit'");
sql("COMMIT PREPARED 'emit'");
is(outcome('pay:p1', q(->> 'Id')), 'SUCCEEDED e', 'COMMIT PREPARED of an event wakes a worker');
sql("BEGIN; SELECT sf_start('pay', '{\"k\": \"p2\"}', 'p2'); SELECT sf_run('pay:p2'); PREPARE TRANSACTION 'wait'");
sql("SELECT sf_emit('paid', 'p2', NULL, 'e')");
sql("COMMIT PREPARED 'wait'");
is(outcome('pay:p2', q(->> 'Id')), 'SUCCEEDED e', '... and that of a wait');
start('pay', 'p3');
waits('p3', 1);
sql("BEGIN; SELECT sf_emit('paid', 'p3', NULL, 'e'); PREPARE TRANSACTION 'emit'");
sql("ROLLBACK PREPARED 'emit'");
sql("SELECT sf_emit('paid', 'p3', NULL, 'e')");
is(outcome('pay:p3', q(->> 'Id')), 'SUCCEEDED e', 'after ROLLBACK PREPARED the id is free');

# --- another version: the wait stays what it was

start('pay', 'm1');
waits('m1', 1);
sql(<<'EOS');
SELECT sf_create_state_machine('pay', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:gone",
	"Parameters": {"Key": "other"}, "ResultPath": "$.got", "End": true}}}', or_replace => true);
SELECT sf_migrate('pay:m1', 2);
SELECT sf_emit('gone', 'other', NULL, 'new');
SELECT sf_emit('paid', 'm1', NULL, 'old');
EOS
is(outcome('pay:m1', q(#>> '{got,Id}')), 'SUCCEEDED old',
	'a wait that is moved keeps name and key, and goes on as the new version says');
start('pay', 'm2');
is(outcome('pay:m2', q(#>> '{got,Id}')), 'SUCCEEDED new', '... a wait that begins later has the new ones');

# --- the children of a Distributed Map are executions of their own

sql("SELECT sf_start('map', '[1, 2, 3, 4, 5]', 'm')");
waits('items', 5);
sql("SELECT sf_emit('paid', 'items', NULL, 'all'), sf_emit('paid', 'items', NULL, 'more')");
is(outcome('map:m', q(->> 4)) =~ s/"Time": "[^"]*"/T/r,
	'SUCCEEDED {"Id": "all", "Key": "items", "Name": "paid", T, "Payload": null}', 'each child receives the event');
is(sql("SELECT received FROM sf_events WHERE id = 'all'"), '5', '... once');
sql("SELECT sf_start('map', '[1, 2, 3]', 'one')");
is(outcome('map:one', q(#>> '{2,Id}')), 'SUCCEEDED all', '... also those that begin later');

# --- a type is dropped beside waits

start('pay', 'd1');
is(outcome('pay:d1', q(#>> '{got,Id}')), 'SUCCEEDED new', 'an event of a type');
sql("SELECT sf_withdraw_event('gone', 'other', 'new')");
start('pay', 'd2');
waits('other', 1);
my (undef, undef, $error) = $node->psql('postgres', "SELECT sf_drop_event('gone')");
like($error, qr/event "gone" is waited for by 1 branches/, 'a type that is waited for is not dropped');
sql("SELECT sf_stop('pay:d2')");
my $session = $node->background_psql('postgres');
$session->query_safe(q(BEGIN; SELECT sf_start('pay', '{}', 'd3'); SELECT sf_run('pay:d3')));
my $drop = $node->background_psql('postgres', on_error_stop => 0);
$drop->query_until(qr/dropping/, "\\echo dropping\nSELECT sf_drop_event('gone');\n");
$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
	AND query LIKE '%sf_drop_event%')) or die 'the drop does not wait';
$session->query_safe('COMMIT');
$drop->query(q(SELECT 1));
is(sql("SELECT count(*) FROM sf_event_types WHERE name = 'gone'"), '1',
	'... nor one that an open transaction begins to wait for');
sql("SELECT sf_stop('pay:d3'), sf_drop_event('gone')");
$_->quit for $session, $drop;
start('pay', 'd4');
sql("SELECT sf_await('pay:d4', '180 s')");
like(sql("SELECT error || ' ' || cause FROM sf_executions WHERE execution_id = 'pay:d4'"),
	qr/^States.Runtime .* The event 'gone' does not exist\.$/, 'what comes to a type that was dropped fails');

# --- sf_check() finds what does not fit

is(sql('SELECT * FROM sf_check()'), '', 'everything is consistent');
sql(<<'EOS');
SELECT sf_create_state_machine('wait', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:paid",
	"Parameters": {"Key": "x"}, "End": true}}}');
SELECT sf_start('wait', '{}', 'w');
EOS
waits('x', 1);
is(sql(q(BEGIN; DELETE FROM _sfflow.awaited_event; SELECT problem, execution_id FROM sf_check(); ROLLBACK)),
	'event_wait_missing|wait:w', 'a wait without a row is a problem');
is(sql(q(BEGIN; UPDATE _sfflow.awaited_event SET branch_no = 7; SELECT problem FROM sf_check() ORDER BY 1; ROLLBACK)),
	"event_wait_left\nevent_wait_missing", '... and so is a row without a wait');

$node->stop;
done_testing();
