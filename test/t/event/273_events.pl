# Events by key with workers: an event and a wait meet in whichever order they commit, with open transactions on
# either side, savepoints, prepared transactions and crashes; the time to live; many waits; an emitter that stays open;
# a dump.
# needs: event hold
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('main', conf => "sfflow.workers = 2\nmax_prepared_transactions = 10\n");

sub sql { return $node->safe_psql('postgres', shift) }

sub start { return sql("SELECT sf_start('$_[0]', '{\"k\": \"$_[1]\"}', '$_[1]')") }

# Wait until so many branches wait for a key.
sub waits
{
	my ($key, $count) = @_;
	return $node->poll_query_until('postgres', "SELECT count(*) = $count FROM sf_event_waits WHERE key = '$key'");
}

# The end of an execution, and the id of the event that it has received.
sub outcome
{
	my $id = shift;
	sql("SELECT sf_await('$id', '180 s')");
	return sql("SELECT status || ' ' || coalesce(output ->> 'Id', '') FROM sf_executions WHERE execution_id = '$id'");
}

sub sound
{
	my $what = shift;
	is(sql('SELECT * FROM sf_check()'), '', "sound after $what");
	return;
}

sql(<<'EOS');
SELECT sf_create_event('paid'), sf_create_event('ticket', deliver => 'one'),
	sf_create_event('brief', ttl => '5 s');
SELECT sf_create_state_machine('pay', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:paid",
	"Parameters": {"Key.$": "$.k"}, "End": true}}}');
SELECT sf_create_state_machine('brief', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:brief",
	"Parameters": {"Key.$": "$.k"}, "End": true}}}');
SELECT sf_create_state_machine('many', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:paid",
	"Parameters": {"Key": "many"}, "End": true}}}');
SELECT sf_create_state_machine('emits', '{"StartAt": "E", "States": {"E": {"Type": "Task",
	"Resource": "sql:public.sf_emit", "Parameters": {"name": "paid", "key.$": "$.k", "id": "emitted"}, "End": true}}}');
EOS

# --- either order

sql("SELECT sf_emit('paid', 'before', NULL, 'e')");
start('pay', 'before');
is(outcome('pay:before'), 'SUCCEEDED e', 'an event, then a wait');
start('pay', 'after');
waits('after', 1);
my $began = time;
sql("SELECT sf_emit('paid', 'after', NULL, 'e')");
is(outcome('pay:after'), 'SUCCEEDED e', 'a wait, then an event');
cmp_ok(time - $began, '<', 40, '... soon, not with the poll');
start('pay', 'machine');
start('emits', 'machine');
is(outcome('pay:machine'), 'SUCCEEDED emitted', 'a machine emits');

# --- both open at once, in either order of commits

my ($emitter, $waiter) = map { $node->background_psql('postgres', on_error_die => 1) } 1, 2;
for my $first ('emitter', 'waiter')
{
	$emitter->query_safe("BEGIN; SELECT sf_emit('paid', '$first', NULL, 'e')");
	$waiter->query_safe("BEGIN; SELECT sf_start('pay', '{\"k\": \"$first\"}', '$first'); SELECT sf_run('pay:$first')");
	$_->query_safe('COMMIT') for $first eq 'emitter' ? ($emitter, $waiter) : ($waiter, $emitter);
	is(outcome("pay:$first"), 'SUCCEEDED e', "both open, the $first commits first");
}
$waiter->query_safe("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM sf_executions");
sql("SELECT sf_emit('paid', 'old', NULL, 'e')");
$waiter->query_safe("SELECT sf_start('pay', '{\"k\": \"old\"}', 'old'); SELECT sf_step('pay:old');
	SELECT sf_run('pay:old')");
$waiter->query_safe('COMMIT');
is(outcome('pay:old'), 'SUCCEEDED e', 'a wait whose snapshot is older than the event');

# --- an emitter that stays open delays no other one, and no wait

$emitter->query_safe("BEGIN; SELECT sf_emit('paid', 'open', NULL, 'late')");
start('pay', 'open');
waits('open', 1);
$began = time;
sql("SELECT sf_emit('paid', 'open', NULL, 'early')");
is(outcome('pay:open'), 'SUCCEEDED early', 'an event with a greater number that commits first is given first');
cmp_ok(time - $began, '<', 40, '... at once');
start('pay', 'open2');
$emitter->query_safe('COMMIT');
sql("SELECT sf_start('pay', '{\"k\": \"open\"}', 'open3')");
is(outcome('pay:open3'), 'SUCCEEDED late', 'the one that comes late is not skipped');

# --- savepoints and rollbacks

start('pay', 'savepoint');
waits('savepoint', 1);
sql("BEGIN; SAVEPOINT s; SELECT sf_emit('paid', 'savepoint', NULL, 'undone'); ROLLBACK TO s;
	SELECT sf_emit('paid', 'savepoint', NULL, 'kept'); COMMIT");
is(outcome('pay:savepoint'), 'SUCCEEDED kept', 'what is rolled back to a savepoint never was');
start('pay', 'rolled');
waits('rolled', 1);
sql("BEGIN; SELECT sf_emit('paid', 'rolled', NULL, 'e'); ROLLBACK");
sql("SELECT sf_emit('paid', 'rolled', NULL, 'e')");
is(outcome('pay:rolled'), 'SUCCEEDED e', 'nor does a rollback use the id up');

# --- the time to live begins after the commit

$emitter->query_safe("BEGIN; SELECT sf_emit('brief', 'slow', NULL, 'e')");
sleep(5.2);
start('brief', 'slow');
waits('slow', 1);
$emitter->query_safe('COMMIT');
is(outcome('brief:slow'), 'SUCCEEDED e', 'a transaction that is longer than the time to live does not lose its event');
sql("SELECT sf_emit('brief', 'gone', NULL, 'e')");
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_events WHERE name = 'brief' AND key = 'gone'");
start('brief', 'gone');
waits('gone', 1);
is(sql("SELECT status FROM sf_executions WHERE execution_id = 'brief:gone'"), 'RUNNING',
	'an expired event is given to no execution');

# --- prepared transactions, found by the poll; a crash between prepare and commit

sql("ALTER SYSTEM SET sfflow.poll_interval = '1 s'");
sql('SELECT pg_reload_conf()');
sql("BEGIN; SELECT sf_emit('paid', 'twice', NULL, 'e'); PREPARE TRANSACTION 'emit'");
start('pay', 'twice');
waits('twice', 1);
$waiter->quit;
$emitter->quit;
$node->stop('immediate');
$node->start;
sql("COMMIT PREPARED 'emit'");
is(outcome('pay:twice'), 'SUCCEEDED e', 'a prepared event over a crash');
sql("SELECT sf_disable()");
sql("BEGIN; SELECT sf_start('pay', '{\"k\": \"wait2\"}', 'wait2'); SELECT sf_run('pay:wait2');
	PREPARE TRANSACTION 'wait'");
sql("SELECT sf_emit('paid', 'wait2', NULL, 'e')");
$node->stop('immediate');
$node->start;
sql("COMMIT PREPARED 'wait'");
sql("SELECT sf_enable()");
is(outcome('pay:wait2'), 'SUCCEEDED e', 'a prepared wait over a crash, in a database that was not driven');
sound('prepared transactions and crashes');

# --- held

sql("SELECT sf_hold('event:paid')");
start('pay', 'held');
waits('held', 1);
sql("SELECT sf_emit('paid', 'held', NULL, 'e')");
sleep(1.5);
is(sql("SELECT status FROM sf_executions WHERE execution_id = 'pay:held'"), 'RUNNING', 'a held type gives nothing out');
sql("SELECT sf_release('event:paid')");
is(outcome('pay:held'), 'SUCCEEDED e', '... until it is released');

# --- many waits of a key

my $many = full(1000, 10000);
sql("SELECT count(*) FROM sf_start_many('many',
	ARRAY(SELECT jsonb_build_object('n', i) FROM generate_series(1, $many) i))");
waits('many', $many);
$began = time;
sql("SELECT sf_emit('paid', 'many', NULL, 'e')");
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM _sfflow.awaited_event WHERE key = 'many'");
my $took = time - $began;
note(sprintf '%d waits were woken in %.2f s', $many, $took);
cmp_ok($took, '<', 120, 'an event wakes many waits');
$node->poll_query_until('postgres',
	"SELECT count(*) = $many FROM sf_executions WHERE state_machine = 'many' AND status = 'SUCCEEDED'");
is(sql("SELECT received FROM sf_events WHERE key = 'many'"), $many, '... each once');
sound('many waits');

# --- a dump has events and waits

start('pay', 'dumped');
waits('dumped', 1);
sql("SELECT sf_emit('paid', 'kept', NULL, 'before the dump')");
my $dump = "$PostgreSQL::Test::Utils::tmp_check/events.sql";
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'dump');
sql('CREATE DATABASE copy');
$node->command_ok([ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('copy') ], 'restore');
$node->safe_psql('copy', 'SELECT sf_enable()');
$node->safe_psql('copy', "SELECT sf_emit('paid', 'dumped', NULL, 'after the restore')");
$node->safe_psql('copy', "SELECT sf_start('pay', '{\"k\": \"kept\"}', 'kept'); ");
is($node->safe_psql('copy', "SELECT sf_await(id, '180 s') FROM unnest(ARRAY['pay:dumped', 'pay:kept']) id"),
	"SUCCEEDED\nSUCCEEDED", 'a restored wait gets an event, a restored event is received');
is($node->safe_psql('copy', 'SELECT * FROM sf_check()'), '', '... and all is sound');

# --- purge

sql("SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'");
sql("SELECT sf_purge('0 s')");
is(sql('SELECT (SELECT count(*) FROM _sfflow.awaited_event) + (SELECT count(*) FROM _sfflow.event_receipt)
	+ (SELECT count(*) FROM _sfflow.event_floor)
	+ (SELECT count(*) FROM _sfflow.event_floor_of_node)'), '0', 'a purge leaves nothing of the executions');

$node->stop;
done_testing();
