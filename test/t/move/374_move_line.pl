# The line of a start key goes from one node to another as a whole: of one home key, one execution runs per start key,
# in order, before, during and after a move; what stands in the line by another home key stays.
# needs: move start_key hold
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;

my $conf = "sfflow.workers = 3\nsfflow.poll_interval = 600\nsfflow.node_timeout = 30s\n";
my ($s, $t) = map { new_node($_, conf => $conf) } qw(n1 n2);

sub on { my ($node, $query) = @_; return $node->safe_psql('postgres', $query) }

# Wait until a query gives a value.
sub soon
{
	my ($node, $query, $wanted, $what) = @_;
	$node->poll_query_until('postgres', $query, $wanted);
	return is(on($node, $query), $wanted, $what);
}

my %dsn = (s => sprintf('host=%s port=%d', $s->host, $s->port), t => sprintf('host=%s port=%d', $t->host, $t->port));
on($s, qq{SELECT sf_set_node(1), sf_add_node(1, 's'), sf_add_node(2, 't', '$dsn{t}')});
on($t, qq{SELECT sf_set_node(2), sf_add_node(2, 't'), sf_add_node(1, 's', '$dsn{s}')});
on($_, <<'EOQ') for $s, $t;
CREATE TABLE ran (name text, began timestamptz, ended timestamptz);
CREATE FUNCTION work(input jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
BEGIN
	PERFORM pg_sleep((input ->> 'sleep')::float8);
	IF input ? 'fail' THEN RAISE 'bad'; END IF;
	INSERT INTO ran VALUES (input ->> 'name', began, clock_timestamp());
	RETURN input;
END $$;
EOQ
for my $mode (qw(fifo single))
{
	on($_, qq{SELECT sf_create_state_machine('$mode', '{"StartAt": "A", "States": {"A": {"Type": "Task",
		"Resource": "sql:work", "End": true}}}', options => '{"start_key": {"key": "\$.k", "mode": "$mode"}}')})
	  for $s, $t;
}

# Start an execution with a home key; what comes of it tells what it is.
sub start
{
	my ($machine, $name, $key, $sleep, $more) = @_;
	$more //= '';
	return on($s, qq{SELECT sf_start('$machine', '{"k": "acct", "name": "$name", "sleep": $sleep$more}',
		'{"name": "$name", "key": "$key"}'::jsonb)});
}

# Which executions ran, in order, and how many while another one did.
sub ran
{
	my @rows = sort { $a->[1] <=> $b->[1] } map { [ split /\|/ ] } map { split /\n/ } map {
		on($_, 'SELECT name, extract(epoch FROM began), extract(epoch FROM ended) FROM ran')
	} $s, $t;
	my $twice = grep { $rows[$_][1] < $rows[ $_ - 1 ][2] } 1 .. $#rows;
	on($_, 'TRUNCATE ran') for $s, $t;
	return join(' ', map { $_->[0] } @rows) . ", $twice at once";
}

# --- one runs while they are to go

for my $mode (qw(fifo single))
{
	start($mode, 'first', "H$mode", 5);
	soon($s, q{SELECT count(*) FROM sf_workers WHERE execution_id LIKE '%:first'}, '1', "$mode: one runs");
	start($mode, 'second', "H$mode", 1);
	is(on($t, "CALL sf_move_key('H$mode', 1)"), '2', '... and goes with the one behind it');
	soon($t, q{SELECT count(*) FROM sf_executions WHERE status = 'SUCCEEDED'}, '2', '... both have ended');
	is(ran(), 'first second, 0 at once', '... one after the other');
	is(on($_, 'SELECT count(*) FROM sf_check()'), '0', 'sf_check') for $s, $t;
	on($t, q{SELECT sf_purge('0 s')});
}

# --- what waits goes when the one that runs has ended, if the machine is held

start('fifo', 'runs', 'H2', 5);
soon($s, q{SELECT count(*) FROM sf_workers WHERE execution_id LIKE '%:runs'}, '1', 'one runs');
start('fifo', "w$_", 'H2', 0.1) for 1 .. 20;
start('fifo', 'elsewhere', 'H3', 0.1);
on($s, q{SELECT sf_hold('fifo')});
is(on($t, q{CALL sf_move_key('H2', 1)}), '21', 'a line whose machine is held goes between two');
soon($t, q{SELECT count(*) FROM sf_executions WHERE status = 'SUCCEEDED'}, '21', '... and goes on there');
like(ran(), qr/^runs w1 w2 w3 w4 .*w19 w20, 0 at once$/, '... in its order');
is(on($s, 'SELECT execution_id, place FROM sf_start_keys'), 'fifo:elsewhere|waiting',
	'... without those of another home key');
on($s, q{SELECT sf_release('fifo')});
soon($s, q{SELECT status FROM sf_executions}, 'SUCCEEDED', '... which run where they are');
is(on($_, 'SELECT count(*) FROM sf_check()'), '0', 'sf_check') for $s, $t;
ran();
on($_, q{SELECT sf_purge('0 s')}) for $s, $t;

# --- one that may be redriven is of the line; a line may be longer than what goes at once

on($_, q{SELECT sf_create_state_machine('late', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1,
	"Next": "A"}, "A": {"Type": "Task", "Resource": "sql:work", "End": true}}}',
	options => '{"start_key": {"key": "$.k", "mode": "fifo"}}')}) for $s, $t;
start('late', 'bad', 'H4', 0, ', "fail": 1');
soon($s, q{SELECT status FROM sf_executions}, 'FAILED', 'one has failed');
my $first = on($s, 'SELECT execution_no FROM _sfflow.execution');
start('late', 'next', 'H4', 10);
soon($s, q{SELECT count(*) FROM sf_workers WHERE execution_id = 'late:next'}, '1', '... and the next one runs');
on($s, q{SELECT sf_start('late', format('{"k": "acct", "name": "%s", "sleep": 0}', n)::jsonb,
	format('{"name": "m%s", "key": "H4"}', n)::jsonb) FROM generate_series(1, 600) n});
on($_, q{SELECT sf_hold('late')}) for $s, $t;
my $mover = $t->background_psql('postgres');
$mover->query_until(qr/begun/, "\\echo begun\nCALL sf_move_key('H4', 1);\n");
sleep 2;
is(on($t, 'SELECT count(*) FROM sf_executions'), '0', '... the failed one stays with it, and so do those behind it');
$mover->query('SELECT 1');
$mover->quit;
is(on($t, 'SELECT count(*), count(DISTINCT execution_id) FROM sf_executions'), '602|602', 'all have come');
is(on($s, "SELECT count(DISTINCT xmin::text) FROM _sfflow.moved_execution WHERE execution_no >= $first"), '1',
	'... in one departure');
on($t, q{SELECT sf_redrive('late:bad', from_state => 'A', input => '{"k": "acct", "name": "bad", "sleep": 0}')});
on($t, q{SELECT sf_stop(execution_id) FROM sf_executions WHERE name ~ '^m\d\d'});
on($_, q{SELECT sf_release('late')}) for $s, $t;
soon($t, q{SELECT count(*) FROM sf_executions WHERE status = 'SUCCEEDED'}, '11', '... and go on');
is(ran(), 'next bad 1 2 3 4 5 6 7 8 9, 0 at once', '... in order, the redriven one before those behind it');
is(on($_, 'SELECT count(*) FROM sf_check()'), '0', 'sf_check') for $s, $t;

$_->stop for $s, $t;
done_testing;
