# What features have of an execution goes with it from one node to another: roles of a task of people, and which
# events it has received; what sessions write of it beside the move is not lost, those behind it in its line go on, and
# what is being archived stays.
# needs: move human hold event start_key archive
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;
use Time::HiRes qw(sleep);

my $conf = "sfflow.workers = 2\nsfflow.poll_interval = 600\nsfflow.node_timeout = 30s\n";
my ($s, $t) = map { new_node($_, conf => $conf) } qw(n1 n2);

sub on { my ($node, $query) = @_; return $node->safe_psql('postgres', $query) }
sub error_of { my ($node, $query) = @_; my (undef, undef, $error) = $node->psql('postgres', $query); return $error }

# Wait until a query gives a value.
sub soon
{
	my ($node, $query, $wanted, $what) = @_;
	$node->poll_query_until('postgres', $query, $wanted);
	return is(on($node, $query), $wanted, $what);
}

sub come { my ($node, $key, $from) = @_; return on($node, "CALL sf_move_key('$key', $from)") }

my %dsn = (s => sprintf('host=%s port=%d', $s->host, $s->port), t => sprintf('host=%s port=%d', $t->host, $t->port));
on($s, qq{SELECT sf_set_node(1), sf_add_node(1, 's'), sf_add_node(2, 't', '$dsn{t}')});
# Numbers of roles and worklists differ between the two.
on($t, q{CREATE ROLE nobody_else; SELECT sf_create_worklist('other')});
on($t, qq{SELECT sf_set_node(2), sf_add_node(2, 't'), sf_add_node(1, 's', '$dsn{s}')});
on($_, <<'EOQ') for $s, $t;
CREATE ROLE staff; CREATE ROLE clerk IN ROLE staff; CREATE ROLE lead IN ROLE staff; CREATE ROLE chief IN ROLE staff;
SELECT sf_create_worklist('ask'), sf_grant('DO', 'human:ask', 'staff');
SELECT sf_create_state_machine('ask', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:ask",
	"End": true, "Parameters": {"Roles": ["clerk"],
		"Escalate": [{"After": 3600, "Roles": ["lead"]}, {"After": 7200, "Roles": ["chief"]}]}}}}');
EOQ

# --- roles of a task of people

# What roles see of the tasks.
sub seen
{
	my $node = shift;
	return join ' ', map { on($node, "SET ROLE $_; SELECT count(*) FROM sf_human_tasks") } qw(clerk lead chief);
}

on($s, q{SELECT sf_start('ask', '{}', '{"name": "a", "key": "people"}'::jsonb)});
soon($s, q{SELECT count(*) FROM sf_human_tasks}, '1', 'a task waits');
is(seen($s), '1 0 0', 'its role sees it');
# The time of Escalate comes while no sweep of this node knows of it.
on($s, q{UPDATE _sfflow.human_task_role SET from_at = clock_timestamp() WHERE role = 'lead'::regrole;
	UPDATE _sfflow.human_task SET sweep_at = clock_timestamp()});
is(come($t, 'people', 1), '1', 'it moves');
is(seen($t), '1 1 0', 'its roles see it there, also that of Escalate');
soon($t, q{SELECT details ->> 'roles' FROM sf_human_task_events WHERE action = 'ESCALATED'}, '["lead"]',
	'... of which rules are told there');
like(error_of($t, "DROP ROLE $_"), qr/cannot be dropped because some objects depend on it/, "$_ cannot be dropped there")
  for qw(clerk lead chief);
is(on($s, 'SELECT count(*) FROM _sfflow.human_task_role'), '0', 'no role is left behind');
is(error_of($s, 'DROP ROLE chief'), '', '... and can be dropped');
like(error_of($s, q{CALL sf_move_key('people', 2)}), qr/role "chief" does not exist/, 'a role that is not there is an error');
on($s, 'CREATE ROLE chief IN ROLE staff');
is(come($s, 'people', 2), '1', '... and with it the execution comes');
is(seen($s), '1 1 0', '... with its roles');
on($s, q{SET ROLE clerk; SELECT sf_complete_task(task) FROM sf_human_tasks});
soon($s, q{SELECT status FROM sf_executions}, 'SUCCEEDED', '... and is done by one');
is(error_of($_, 'DROP ROLE chief'), '', 'no anchor is left') for $s, $t;
is(on($_, 'SELECT count(*) FROM sf_check()'), '0', 'sf_check') for $s, $t;

# --- events that it has received

on($_, <<'EOQ') for $s, $t;
CREATE TABLE ledger (id text);
CREATE FUNCTION note(input jsonb) RETURNS jsonb LANGUAGE sql AS $$
	INSERT INTO ledger VALUES (input ->> 'Id') RETURNING 'null'::jsonb $$;
SELECT sf_create_event('tick');
SELECT sf_create_state_machine('loop', '{"StartAt": "W", "States": {
	"W": {"Type": "Task", "Resource": "event:tick", "Parameters": {"Key": "k"}, "Next": "N"},
	"N": {"Type": "Task", "Resource": "sql:note", "ResultPath": null, "Next": "C"},
	"C": {"Type": "Choice", "Choices": [{"Variable": "$.Id", "StringEquals": "end", "Next": "S"}], "Default": "W"},
	"S": {"Type": "Succeed"}}}');
EOQ

# Emit so many events on a node, and wait until the execution has received them.
sub received
{
	my ($node, $name, $count, $all) = @_;
	on($node, qq{SELECT sf_emit('tick', 'k', id => format('$name%s', n)) FROM generate_series(1, $count) n});
	$node->poll_query_until('postgres', qq{SELECT count(*) > 0 FROM ledger WHERE id = '$name$count'});
	return is(on($node, 'SELECT count(*), count(DISTINCT id) FROM ledger'), "$all|$all",
		"each event $name is received once");
}

my $floors = 'SELECT count(*) FROM _sfflow.event_floor';
on($s, q{SELECT sf_start('loop', '{}', '{"name": "l", "key": "events"}'::jsonb)});
received($s, 'a', 50, 50);
is(on($s, $floors), '1', '... receipts of most have been deleted');
is(come($t, 'events', 1), '1', 'it moves');
is(on($t, $floors), '0', '... which says nothing of events of the other node');
received($t, 'b', 50, 50);
is(on($t, $floors), '1', '... which has the same');
is(come($s, 'events', 2), '1', 'it moves back');
received($s, 'c', 1, 51);
is(come($t, 'events', 1), '1', '... and there again');
received($t, 'd', 1, 51);
is(on($t, 'SELECT (SELECT count(*) FROM _sfflow.event_floor)
	+ (SELECT count(*) FROM _sfflow.event_floor_of_node)'), '2', '... with what it has received on both');
is(on($_, 'SELECT count(*) FROM sf_check()'), '0', 'sf_check') for $s, $t;
on($t, q{SELECT sf_stop('loop:l'), sf_drop_event('tick')});
is(come($s, 'events', 2), '1', 'it moves from a node where the event was dropped');

# --- holds and acknowledgements beside a move

# Begin a statement in a session.
sub begin
{
	my ($node, $query, @options) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0, extra_params => \@options);
	$session->query_until(qr/begun/, "\\echo begun\n$query;\n");
	return $session;
}

# Wait until so many sessions of a node wait for locks of keys, or the executions have left.
sub waits
{
	my ($node, $count) = @_;
	return $node->poll_query_until('postgres', "SELECT count(*) >= $count
			OR NOT EXISTS (SELECT FROM sf_executions WHERE name = 'beside')
		FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 7 AND NOT granted");
}

on($_, q{SELECT sf_create_state_machine('long', '{"StartAt": "W", "States": {
		"W": {"Type": "Wait", "Seconds": 86400, "End": true}}}'),
	sf_create_state_machine('fails', '{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "E"}}}')}) for $s, $t;
# A role whose transactions have one snapshot, which would be older than the lock that a departure waits for.
on($t, 'CREATE ROLE mover LOGIN SUPERUSER');
on($s, q{CREATE ROLE mover LOGIN SUPERUSER; ALTER ROLE mover SET default_transaction_isolation = 'repeatable read'});
for ([ 'long', 'RUNNING', "sf_hold('long:beside')", 'SELECT target FROM sf_holds', 'long:beside' ],
	[ 'fails', 'FAILED', "sf_acknowledge('fails:beside', comment => 'c')",
		'SELECT comment FROM _sfflow.acknowledgement', 'c' ],
	[ 'fails', 'FAILED', "sf_acknowledge_all('fails', comment => 'c')",
		'SELECT comment FROM _sfflow.acknowledgement', 'c' ])
{
	my ($machine, $status, $call, $query, $value) = @$_;
	my ($name) = $call =~ /^(\w+)/;
	on($s, qq{SELECT sf_start('$machine', '{}', '{"name": "beside", "key": "$machine"}'::jsonb)});
	soon($s, q{SELECT status FROM sf_executions WHERE name = 'beside'}, $status, "$name: an execution");
	my $writer = $s->background_psql('postgres');
	$writer->query_safe("BEGIN; SELECT $call");
	my $mover = begin($t, "CALL sf_move_key('$machine', 1)", '-U', 'mover');
	waits($s, 1);
	$writer->query_safe('COMMIT');
	$mover->query('SELECT 1');
	is(on($t, $query), $value, '... what a session wrote before the move goes along');
	is(on($s, $query), '', '... and is not left behind');
	$_->quit for $writer, $mover;

	on($t, q{ALTER SYSTEM SET sfflow.debug_point = 'move-departs:wait'});
	$t->reload;
	my $gate = $t->background_psql('postgres');
	$gate->query_safe(q{SELECT pg_advisory_lock(hashtextextended('move-departs', 0))});
	on($t, $machine eq 'long' ? q{SELECT sf_release('long:beside')} : 'DELETE FROM _sfflow.acknowledgement');
	$mover = begin($s, "CALL sf_move_key('$machine', 2)");
	$t->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted})
	  or die 'no departure';
	$writer = begin($t, "SELECT $call");
	$t->poll_query_until('postgres', qq{SELECT count(*) = 2 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
		UNION ALL SELECT true FROM pg_stat_activity WHERE state = 'idle' AND query LIKE 'SELECT $name(''%'
		ORDER BY 1 DESC LIMIT 1});
	$gate->query_safe(q{SELECT pg_advisory_unlock(hashtextextended('move-departs', 0))});
	$_->query('SELECT 1') for $mover, $writer;
	like($writer->{stderr}, $name =~ /all/ ? qr/^$/ : qr/execution "$machine:beside" does not exist/,
		'... one that comes after it is refused, or passes over what has left');
	is(on($t, $query), '', '... and writes nothing');
	is(on($s, q{SELECT name FROM sf_executions WHERE name = 'beside'}), 'beside',
		'... the execution is on the other node');
	$_->quit for $gate, $writer, $mover;
	on($t, q{ALTER SYSTEM RESET sfflow.debug_point});
	$t->reload;
	is(on($_, 'SELECT count(*) FROM sf_check()'), '0', 'sf_check') for $s, $t;
	on($s, q{SELECT sf_stop(execution_id) FROM sf_executions WHERE name = 'beside' AND status = 'RUNNING'});
	on($s, q{SELECT sf_purge('0 s')});
}

# --- an archive

on($_, q{SELECT sf_create_activity('keep'), sf_create_state_machine('kept',
	'{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}',
	options => '{"retention": "0 s", "archive": "activity:keep"}')}) for $s, $t;
on($s, q{SELECT sf_start('kept', '{}', '{"name": "a", "key": "archived"}'::jsonb)});
soon($s, q{SELECT sf_await('kept:a', '180 s')}, 'SUCCEEDED', 'an execution of a machine with an archive');
my $archiver = $s->background_psql('postgres');
my $batch = $archiver->query_safe(q{SELECT batch FROM sf_take_archive_batch('keep')});
my $mover = begin($t, q{CALL sf_move_key('archived', 1)});
my $waits = qr/sf_move_key\(\) waits for 1 executions of key "archived"/;
for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
{
	$mover->{run}->pump_nb;
	last if $mover->{stderr} =~ $waits;
	sleep(0.1);
}
like($mover->{stderr}, $waits, 'a move waits for an execution that is being archived, and says so');
is(on($t, q{SELECT count(*) FROM sf_executions WHERE execution_id = 'kept:a'}), '0', '... which stays');
is($archiver->query_safe("SELECT sf_confirm_archive_batch($batch, 'f', 1, repeat('0', 64))"), '1',
	'... until it is in the archive');
$mover->query('SELECT 1');
is(on($_, q{SELECT count(*) FROM sf_executions WHERE execution_id = 'kept:a'}), '0', '... and on no node after that')
  for $s, $t;
$_->quit for $archiver, $mover;

# --- the line of a start key

on($_, q{SELECT sf_create_state_machine('line', '{"StartAt": "W", "States": {
		"W": {"Type": "Wait", "Seconds": 86400, "End": true}}}',
	options => '{"start_key": {"key": "$.k", "mode": "fifo"}}')}) for $s, $t;
on($s, q{SELECT sf_start('line', '{"k": 1}', '{"name": "goes", "key": "line"}'::jsonb)});
on($s, q{SELECT sf_start('line', '{"k": 1}', '{"name": "stays"}'::jsonb)});
my $places = q{SELECT string_agg(split_part(execution_id, ':', 2) || ' ' || place, ', ' ORDER BY rank)
	FROM sf_start_keys};
soon($s, $places, 'goes running, stays waiting', 'one waits in the line of another one');
my $holder = $s->background_psql('postgres');
$holder->query_safe(q{BEGIN; SELECT FROM _sfflow.branch b JOIN _sfflow.execution e USING (execution_no)
	WHERE e.execution_id = 'line:stays' FOR UPDATE OF b});
$mover = begin($t, q{CALL sf_move_key('line', 1)});
$s->poll_query_until('postgres', q{SELECT count(*) = 0 OR EXISTS (SELECT FROM pg_locks WHERE NOT granted)
	FROM sf_executions WHERE name = 'goes'});
$holder->query_safe('COMMIT');
$mover->query('SELECT 1');
$_->quit for $holder, $mover;
soon($s, $places, 'stays running', 'when that is moved, it runs, also if a session had its branch');
is(on($t, $places), 'goes running', '... and the other one there');
is(on($_, 'SELECT count(*) FROM sf_check()'), '0', 'sf_check') for $s, $t;

$_->stop for $s, $t;
done_testing;
