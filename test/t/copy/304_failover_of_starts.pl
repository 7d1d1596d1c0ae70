# Events by key, keys of starts, starts in the future and labels outlast a failover and a dump: what had committed is
# there, and goes on; what had not, never was. Then a purge, which leaves no row of them.
# needs: event start_key label
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfCopies;
use SfTest;
use Test::More;

my $node = new_original('primary', "sfflow.workers = 2\n");

sub sql { return $node->safe_psql('postgres', shift) }

# Wait for a query to give true.
sub holds
{
	my ($query, $name) = @_;
	return ok($node->poll_query_until('postgres', $query), $name);
}

sub outcome
{
	my ($id, $what) = @_;
	sql("SELECT sf_await('$id', '180 s')");
	return sql("SELECT status || ' ' || (output $what) FROM sf_executions WHERE execution_id = '$id'");
}

# What is to be the same on each server.
my %shown = (
	line => q(SELECT string_agg(execution_id || ' ' || place, ', ' ORDER BY rank) FROM sf_start_keys
		WHERE state_machine = 'line'),
	later => q(SELECT string_agg(concat_ws(' ', name, input ->> 'n', started_at, waiting_on), ', ' ORDER BY name)
		FROM sf_executions WHERE state_machine IN ('later', 'calm') AND status = 'RUNNING'),
	labels => q(SELECT string_agg(concat_ws(' ', label, value, execution_id), ', ' ORDER BY label, execution_id)
		FROM sf_labels),
	waits => q(SELECT string_agg(concat_ws(' ', name, key, execution_id), ', ') FROM sf_event_waits),
	events => q(SELECT string_agg(concat_ws(' ', name, key, id, received), ', ' ORDER BY id) FROM sf_events));

sql(<<'EOS');
SELECT sf_create_event('paid'), sf_create_activity('hand');
SELECT sf_create_state_machine('pay', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:paid",
	"Parameters": {"Key.$": "$.k"}, "End": true}}}');
SELECT sf_create_state_machine('line', '{"StartAt": "H", "States": {"H": {"Type": "Task", "Resource": "activity:hand",
	"End": true}}}', options => '{"start_key": {"key": "$.k", "mode": "fifo"}}');
SELECT sf_create_state_machine('calm', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}',
	options => '{"start_key": {"key": "$.k", "mode": "debounce", "delay": 86400}}');
SELECT sf_create_state_machine('later', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}',
	options => '{"labels": {"n": "$.n"}}');
EOS
$node->backup('base');
my $standby = new_copy('standby', $node, 'base', has_streaming => 1);
$standby->start;

# --- what there is before

sql(q(SELECT sf_start('pay', '{"k": "wait"}', 'wait'), sf_emit('paid', 'kept', NULL, 'kept')));
sql(q(SELECT sf_start('pay', '{"k": "kept"}', 'first')));
is(outcome('pay:first', q(->> 'Id')), 'SUCCEEDED kept', 'an event is received');
sql(qq(SELECT sf_start('line', '{"k": "x"}', 'e$_'))) for 1 .. 3;
sql(q(SELECT sf_start('calm', '{"k": "x", "n": 1}', 'c'); SELECT sf_start('calm', '{"k": "x", "n": 2}')));
sql(q(SELECT sf_start('later', '{"n": 3}', options => '{"name": "far", "delay": 86400}'),
	sf_start('later', '{"n": 4}', options => '{"name": "near", "delay": 86400}');
	SELECT sf_set_labels('later:far', '{"m": "x"}')));
holds("SELECT ($shown{line}) = 'line:e1 running, line:e2 waiting, line:e3 waiting'", 'one of a key runs, two wait');
holds("SELECT ($shown{waits}) = 'paid wait pay:wait'", 'one waits for an event');
my $open = $node->background_psql('postgres', on_error_stop => 0);
$open->query_safe(q(BEGIN; SELECT sf_emit('paid', 'wait', NULL, 'never'), sf_start('line', '{"k": "y"}', 'never'),
	sf_start('later', '{"n": 5}', 'never'), sf_set_labels('later:near', '{"n": null}')));
my %before = map { $_ => sql($shown{$_}) } keys %shown;
is($before{labels}, 'm x later:far, n 3 later:far, n 4 later:near', 'labels are there');
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', $shown{$_}), $before{$_}, "a standby shows $_") for sort keys %shown;

# --- it takes over

$node->stop('immediate');
$open->{run}->finish;
$standby->promote;
settled($standby);
$node = $standby;
is(sql($shown{$_}), $before{$_}, "promoted: $_ as before") for sort keys %shown;
is(sql(q(SELECT string_agg(execution_id, ' ') FROM sf_list_executions(labels => '{"m": "x", "n": 3}',
	status => 'RUNNING'))), 'later:far', 'an execution is found by its labels');
sql(q(SELECT sf_emit('paid', 'wait', NULL, 'after'), sf_emit('paid', 'kept', NULL, 'kept')));
is(outcome('pay:wait', q(->> 'Id')), 'SUCCEEDED after', 'a wait gets an event');
is(sql(q(SELECT count(*) FROM sf_events WHERE key = 'kept')), '1', 'an id that was there is not emitted again');
sql(q(SELECT sf_start('pay', '{"k": "kept"}', 'second')));
is(outcome('pay:second', q(->> 'Id')), 'SUCCEEDED kept', 'an event that was kept is received');
is(sql(q(SELECT sf_start('calm', '{"k": "x", "n": 6}'))), 'calm:c', 'a start replaces the one that waits');
sql(q(SELECT sf_stop('line:e1'), sf_start('line', '{"k": "x"}', 'e4')));
holds("SELECT ($shown{line}) = 'line:e2 running, line:e3 waiting, line:e4 waiting'",
	'the next one of the key runs, a new one comes last');
sql(q(UPDATE _sfflow.branch b SET due_at = now() FROM _sfflow.execution e WHERE e.execution_no = b.execution_no
	AND e.execution_id IN ('later:near', 'calm:c'); UPDATE _sfflow.delayed_start SET start_at = now()
	WHERE execution_no IN (SELECT execution_no FROM _sfflow.execution
	WHERE execution_id IN ('later:near', 'calm:c')); CALL sf_run_due()));
holds(q(SELECT count(*) = 2 FROM sf_executions WHERE execution_id IN ('later:near', 'calm:c')
	AND status = 'SUCCEEDED'), 'starts in the future begin at their time');
is(sql(q(SELECT input ->> 'n' FROM sf_executions WHERE execution_id = 'calm:c')), '6', '... with the newest input');
is(sql('SELECT * FROM sf_check()'), '', 'the tables hold together');

# --- a dump

sql(q(SELECT sf_start('pay', '{"k": "dumped"}', 'dumped')));
holds("SELECT ($shown{waits}) = 'paid dumped pay:dumped'", 'one waits again');
%before = map { $_ => sql($shown{$_}) } keys %shown;
my $dump = "$PostgreSQL::Test::Utils::tmp_check/starts.dump";
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('postgres') ], 'pg_dump');
sql('CREATE DATABASE copy');
$node->command_ok([ 'pg_restore', '-d', $node->connstr('copy'), $dump ], 'pg_restore');
is($node->safe_psql('copy', $shown{$_}), $before{$_}, "a restored copy shows $_") for sort keys %shown;
is($node->safe_psql('copy', 'SELECT * FROM sf_check()'), '', 'its tables hold together');

# --- a purge

sql("SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'");
sql("SELECT sf_leave_start_key(execution_id) FROM sf_start_keys");
sql("SELECT sf_purge('0 s')");
for my $table (qw(label delayed_start keyed_start start_key awaited_event event_receipt event_floor
	event_floor_of_node))
{
	is(sql("SELECT count(*) FROM _sfflow.$table"), '0', "a purge leaves no row of $table");
}

$node->stop;
done_testing();
