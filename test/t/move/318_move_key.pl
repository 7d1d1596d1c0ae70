# Executions of a key move from one server to another, in every phase in which they may rest, and servers end at each
# moment of a move: each execution is on one of them, goes on where it was, and ends once.
# needs: move
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes ();

my %node = map { $_ => new_node($_, conf => "sfflow.workers = 2\n") } qw(n1 n2);
my ($s, $t) = @node{qw(n1 n2)};

sub on { my ($node, $query) = @_; return $node->safe_psql('postgres', $query) }
sub error_of { my ($node, $query) = @_; my (undef, undef, $error) = $node->psql('postgres', $query); return $error }

# Wait until a query gives a value.
sub soon
{
	my ($node, $query, $wanted, $what) = @_;
	$node->poll_query_until('postgres', $query, $wanted);
	return is(on($node, $query), $wanted, $what);
}

my $definition = <<'EOJ';
{"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "End": true, "Branches": [
  {"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "Resource": "activity:shell", "Next": "Note"},
    "Note": {"Type": "Task", "Resource": "sql:note", "End": true}}},
  {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "SecondsPath": "$.seconds", "Next": "Once"},
    "Once": {"Type": "Task", "Resource": "sql:note", "Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1}],
      "End": true}}}]}}}
EOJ
my $pass = '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}';
my ($note, $bad) = (one_task('note'), one_task('bad'));
my $set_up = <<"EOQ";
CREATE TABLE ledger (id text, branch text);
CREATE FUNCTION note(input jsonb) RETURNS jsonb LANGUAGE plpgsql AS \$\$ BEGIN
	INSERT INTO ledger SELECT input ->> 'id', coalesce(input ->> 'branch', 'ask');
	PERFORM pg_sleep(coalesce((input ->> 'sleep')::float8, 0)); RETURN input; END \$\$;
CREATE FUNCTION bad(input jsonb) RETURNS jsonb LANGUAGE plpgsql AS \$\$ BEGIN
	IF (SELECT count(*) FROM ledger WHERE id = 'good') = 0 THEN RAISE 'bad'; END IF; RETURN '1'; END \$\$;
SELECT sf_create_activity('shell');
SELECT sf_create_state_machine('both', '$definition');
SELECT sf_create_state_machine('note', '$note');
SELECT sf_create_state_machine('bad', '$bad');
SELECT sf_create_state_machine('map', '{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemsPath": "\$.items",
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "A",
	"States": {"A": {"Type": "Task", "Resource": "activity:shell", "End": true}}}, "End": true}}}');
SELECT sf_create_state_machine('limited',
	'{"StartAt": "N", "States": {"N": {"Type": "Task", "Resource": "activity:shell", "End": true}}}');
SELECT sf_set_limit('limited', max_running => 2);
EOQ
# Numbers of machines and activities differ between the two.
on($t, qq{SELECT sf_create_activity('other'); SELECT sf_create_state_machine('other', '$pass')});
on($_, $set_up) for $s, $t;

my $from_s = sprintf 'host=%s port=%d', $s->host, $s->port;
my $from_t = sprintf 'host=%s port=%d', $t->host, $t->port;

# --- what is refused

like(error_of($t, q{CALL sf_move_key('k')}), qr/argument from_node must not be null/, 'without a cluster the node is named');
like(error_of($t, q{CALL sf_move_key('k', 1)}), qr/there is no other node 1/, 'a node that is not known');
on($t, qq{SELECT sf_add_node(2, 't'), sf_add_node(1, 's', '$from_s')});
on($s, qq{SELECT sf_add_node(1, 's'), sf_add_node(2, 't', '$from_t')});
like(error_of($t, q{BEGIN; CALL sf_move_key('k', 1)}), qr/cannot be called in a transaction block/, 'a transaction block');
on($s, q{SELECT sf_start('note', '{"id": "x"}', '{"name": "x", "key": "k"}'::jsonb)});
soon($s, q{SELECT status FROM sf_executions WHERE name = 'x'}, 'SUCCEEDED', 'one has run');
like(error_of($t, q{CALL sf_move_key('k', 1)}), qr/whose numbers are not different ones of sf_set_node/, 'nodes without numbers');
on($s, 'SELECT sf_set_node(1)');
on($t, 'SELECT sf_set_node(1)');
like(error_of($t, q{CALL sf_move_key('k', 1)}), qr/This node is node 1, the other one is node 1/, 'nodes with one number');
on($t, 'SELECT sf_set_node(2)');

like(error_of($t, qq{SELECT sf_add_node(3, 'x', '$from_t')}),
	qr/node 3 cannot be added: sf_set_node\(\) has given it the number 2, which this database has/,
	'a node with the number of this one');
like(error_of($t, qq{SELECT sf_add_node(3, 'x', '$from_s')}), qr/two nodes have the number 1 of sf_set_node/,
	'... or of another one');

# --- executions in all phases

on($s, <<'EOQ');
SELECT sf_start('both', format('{"id": "w%s", "branch": "wait", "seconds": 8}', n)::jsonb,
	format('{"name": "w%s", "key": "k"}', n)::jsonb) FROM generate_series(1, 10) n;
SELECT sf_start('note', format('{"id": "n%s"}', n)::jsonb, format('{"name": "n%s", "key": "k"}', n)::jsonb)
	FROM generate_series(1, 50) n;
SELECT sf_start('bad', '{}', '{"name": "bad", "key": "k"}'::jsonb);
SELECT sf_start('map', '{"items": [1, 2, 3]}', '{"name": "map", "key": "k"}'::jsonb);
SELECT sf_start('limited', '{}', format('{"name": "l%s", "key": "k"}', n)::jsonb) FROM generate_series(1, 5) n;
SELECT sf_start('note', '{"id": "later"}', '{"name": "later", "key": "k", "start_at": "2999-01-01T00:00:00Z"}'::jsonb);
SELECT sf_start('note', '{"id": "stays"}', '{"name": "stays", "key": "other"}'::jsonb);
EOQ
soon($s, q{SELECT count(*) FROM sf_executions WHERE status = 'SUCCEEDED'}, '52', 'those that end have ended');
soon($s, q{SELECT queued FROM sf_activities WHERE activity = 'shell'}, 10 + 3 + 2, 'the others wait');
soon($s, q{SELECT count(*) FROM sf_executions WHERE status = 'FAILED'}, '1', 'one has failed');
# A token that was handed out here is answered there.
my $token = on($s, q{SELECT task_token FROM sf_get_activity_task('shell', 'worker')});
my $all = on($s, q{SELECT count(*) FROM sf_execution_keys WHERE key = 'k'});
my $history = on($s, q{SELECT md5(string_agg(h::text, ',' ORDER BY e.name, h.id)) FROM sf_executions e,
	sf_history h WHERE h.execution_id = e.execution_id AND e.status = 'SUCCEEDED' AND e.name <> 'stays'});
my $rows = q{SELECT count(*) FROM sf_check()};

# --- a definition that is another one there

my $of_bad = q{machine_no = (SELECT machine_no FROM _sfflow.state_machine WHERE name = 'bad')};
on($t, qq{UPDATE _sfflow.state_machine_version SET definition = '$pass' WHERE $of_bad});
like(error_of($t, q{CALL sf_move_key('k', 1)}),
	qr/state machine "bad", version 1, of executions of key "k", is not on this node/, 'a version that is another one there');
is(on($s, 'SELECT count(*) FROM _sfflow.key_departure'), '0', '... then none has left');
on($t, qq{UPDATE _sfflow.state_machine_version SET definition = '$bad' WHERE $of_bad});

# --- a task runs: its execution follows when it has ended; the call ends at each moment

on($s, q{SELECT sf_start('note', '{"id": "runs", "sleep": 3}', '{"name": "runs", "key": "k"}'::jsonb)});
soon($s, q{SELECT count(*) FROM sf_workers WHERE execution_id = 'note:runs'}, '1', 'one runs');
on($s, q{ALTER SYSTEM SET sfflow.debug_point = 'move-departs:crash'});
$s->reload;
like(error_of($t, q{CALL sf_move_key('k', 1)}), qr/node 1, where executions of key "k" are, says/,
	'the other node ends before it has committed');
ok(recovered($s), '... and is there again');
on($s, 'ALTER SYSTEM RESET sfflow.debug_point');
$s->reload;
is(on($t, 'SELECT count(*) FROM sf_executions'), '0', 'nothing has come');
on($t, q{ALTER SYSTEM SET sfflow.debug_point = 'move-arrives:crash'});
$t->reload;
error_of($t, q{CALL sf_move_key('k', 1)});
ok(recovered($t), 'this node ends before it has committed');
on($t, 'ALTER SYSTEM RESET sfflow.debug_point');
$t->reload;
is(on($t, 'SELECT count(*) FROM sf_executions'), '0', '... nothing has come');
like(on($s, q{SELECT ok, detail FROM sf_health WHERE item = 'keys'}),
	qr/^f\|\d+ executions of 1 keys have left this node, and are not known to have arrived; CALL sf_move_key\('k'\) on node 2$/,
	'... and sf_health tells what is on its way');
# ... with the three of the map, which have their key by what has started them, and the one that runs
is(on($t, q{CALL sf_move_key('k', 1)}), $all + 4, 'called again, it brings all');
is(on($s, q{SELECT string_agg(name, ' ') FROM sf_executions}), 'stays', 'those of another key have stayed');
is(on($t, q{SELECT count(*) FROM sf_execution_keys WHERE key = 'k'}), $all + 1, 'all have come');
is(on($s, q{SELECT count(*) FROM _sfflow.departing_row}), '0', 'no rows are left');
is(on($_, $rows), '0', 'sf_check') for $s, $t;
is(on($t, q{SELECT md5(string_agg(h::text, ',' ORDER BY e.name, h.id)) FROM sf_executions e,
	sf_history h WHERE h.execution_id = e.execution_id AND e.status = 'SUCCEEDED' AND e.name <> 'runs'}), $history,
	'the history is what it was');
is(on($t, q{SELECT detail FROM sf_health WHERE item = 'driving' AND NOT ok}), '', 'this node is driven');

# --- they go on

like(error_of($s, qq{SELECT sf_send_task_success('$token', '{}')}), qr/Its execution was moved to node 2/,
	'the token is not known there any more');
on($t, qq{SELECT sf_send_task_success('$token', '{"id": "token"}')});
on($t, q{INSERT INTO ledger VALUES ('good', 'x')});
on($t, q{SELECT sf_redrive('bad:bad')});
soon($t, q{SELECT status FROM sf_executions WHERE name = 'bad'}, 'SUCCEEDED', 'what had failed is redriven');
# A worker there answers all tasks, those of the queue of the limit, too.
for (1 .. 600)
{
	on($t, q{SELECT sf_send_task_success(task_token, '{"id": "asked"}')
		FROM sf_get_activity_task('shell', 'worker', 10)});
	last if on($t, q{SELECT count(*) FROM sf_executions WHERE status = 'RUNNING' AND name <> 'later'}) eq '0';
	Time::HiRes::sleep(0.1);
}
is(on($t, q{SELECT status, count(*) FROM sf_executions GROUP BY 1 ORDER BY 1}), "RUNNING|1\nSUCCEEDED|" . ($all + 3),
	'all have ended, but for the one that begins later');
# on a slow machine some have ended before they would have left
my @waited = map { split /\n/, on($_, q{SELECT id FROM ledger WHERE branch = 'wait'}) } $s, $t;
is(join(' ', sort @waited), join(' ', sort map { "w$_" } 1 .. 10), 'each branch that waited has run once');
is(on($s, q{SELECT count(*) FROM ledger WHERE id = 'runs'}) + on($t, q{SELECT count(*) FROM ledger WHERE id = 'runs'}),
	1, 'the one that ran has run once');
is(on($_, $rows), '0', 'sf_check') for $s, $t;
is(on($t, q{SELECT count(*) FROM _sfflow.limit_slot}), '0', 'all slots are free');

# --- and back

is(on($s, q{CALL sf_move_key('k', 2)}), $all + 4, 'they go back');
is(on($t, q{SELECT count(*) FROM sf_executions}), '0', '... all of them');
is(on($_, $rows), '0', 'sf_check') for $s, $t;
is(on($t, q{SELECT sf_start('note', '{"id": "x"}', '{"name": "x", "key": "k"}'::jsonb)}), 'note:x',
	'without a cluster a name is free where its execution has left');
like(error_of($s, q{CALL sf_move_key('k', 2)}), qr/execution "note:x" is on this node, too/,
	'... and then an error where the other one is');
$_->stop for $s, $t;
done_testing;
