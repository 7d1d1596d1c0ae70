# Events by key under races: sessions emit, begin to wait, stop executions and roll back, at random, with workers
# beside them, while the server is killed; in the end no wait stands beside an event that it may have, and no event was
# given twice.
# Then the mistakes of the model (test/model/events.pml), each at the moment at which it matters, are noticed.
# SFFLOW_EVENT_ROUNDS and SFFLOW_EVENT_SEED say how many rounds of 1,000 interleavings, and which.
# needs: event
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfSessions;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $rounds = $ENV{SFFLOW_EVENT_ROUNDS} // full(2, 100);
my $seed = $ENV{SFFLOW_EVENT_SEED} // int(rand(1e9));
srand($seed);
note("SFFLOW_EVENT_SEED=$seed");

my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 2
sfflow.poll_interval = 1s
sfflow.max_crashes = 1000
max_prepared_transactions = 30
EOC

sub sql { return $node->safe_psql('postgres', shift) }

# The machine "loop" receives events of a key for ever; "picky" waits for one that never comes.
sql(<<'EOS');
SELECT sf_create_event('e');
SELECT sf_create_state_machine('loop', '{"StartAt": "W", "States": {
	"W": {"Type": "Task", "Resource": "event:e", "Parameters": {"Key.$": "$.k"}, "ResultPath": "$.got",
		"Next": "Again"},
	"Again": {"Type": "Choice", "Choices": [{"Variable": "$.got.Id", "StringEquals": "none", "Next": "End"}],
		"Default": "W"},
	"End": {"Type": "Succeed"}}}');
SELECT sf_create_state_machine('picky', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:e",
	"Parameters": {"Key.$": "$.k", "Filter": {"never": [true]}}, "End": true}}}');
SELECT sf_create_state_machine('once', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:e",
	"Parameters": {"Key.$": "$.k"}, "End": true}}}');
CREATE VIEW stranded AS
SELECT w.execution_no, w.branch_no, e.event_no, e.status < 2 AS fresh, w.ripe FROM _sfflow.awaited_event w
JOIN _sfflow.emission e ON e.event_type_no = w.event_type_no AND e.key = w.key AND e.status < 3
WHERE w.filter IS NULL AND NOT EXISTS (SELECT FROM _sfflow.event_receipt r
	WHERE r.execution_no = w.execution_no AND r.event_no = e.event_no)
AND NOT EXISTS (SELECT FROM _sfflow.event_floor f WHERE f.execution_no = w.execution_no
	AND f.event_type_no = w.event_type_no AND f.key = w.key AND f.floor >= e.event_no);
EOS

# --- at random

# After each round executions are stopped, and other keys are used: an event for all goes to each execution that begins
# to wait within a day, so with the same keys the work of a round would grow with all rounds before it.
my $keys = 0;

sub chance { return rand() < shift }

sub nap { return chance(0.6) ? sprintf("SELECT pg_sleep(%.4f);\n", rand(0.004)) : '' }

# What a session of a kind does in a transaction.
sub act
{
	my ($kind, $name) = @_;
	my $key = "k$keys-" . int(rand(12));
	return sprintf("SELECT sf_emit('e', '%s', NULL, %s, deliver => '%s');\n", $key,
		chance(0.3) ? "'id" . int(rand(40)) . "'" : 'NULL', chance(0.5) ? 'one' : 'all')
	  if $kind eq 'emit';
	return "SELECT sf_stop(execution_id) FROM sf_event_waits ORDER BY random() LIMIT 1;\n" if $kind eq 'stop';
	my $run = chance(0.5) ? "SELECT sf_run('loop:$name', max_steps => 3);\n" : '';
	return qq(SELECT sf_start('loop', '{"k": "$key"}', '$name');\n$run);
}

# A transaction of a session.
sub transaction
{
	my ($kind, $name) = @_;
	my $text = 'BEGIN ISOLATION LEVEL ' . (chance(0.5) ? 'REPEATABLE READ' : 'READ COMMITTED') . ";\n";
	$text .= 'SELECT count(*) FROM sf_event_types;' . nap() if chance(0.5);
	for my $n (1 .. (chance(0.15) ? 2 : 1))
	{
		my $savepoint = chance(0.2);
		$text .= "SAVEPOINT s;\n" if $savepoint;
		$text .= act($kind, "$name-$n");
		$text .= "ROLLBACK TO s;\n" if $savepoint && chance(0.5);
		$text .= nap();
	}
	return "${text}ROLLBACK;\n" if chance(0.12);
	return "${text}COMMIT;\n" unless chance(0.05);
	my $end = chance(0.3) ? 'ROLLBACK' : 'COMMIT';
	return "${text}PREPARE TRANSACTION '$name';\n" . nap() . "$end PREPARED '$name';\n";
}

# Wait until nothing is left to be done. What is not over in time is told, with what has been done in the last seconds.
sub rest
{
	return if $node->poll_query_until('postgres', "SELECT
		NOT EXISTS (SELECT FROM _sfflow.emission WHERE status < 2)
		AND NOT EXISTS (SELECT FROM _sfflow.awaited_event WHERE ripe)
		AND NOT EXISTS (SELECT FROM _sfflow.branch WHERE due_at <= now())");
	for my $look (1, 2)
	{
		diag(sql("SELECT (SELECT count(*) FROM _sfflow.emission WHERE status < 2) || ' fresh, '
			|| (SELECT count(*) FROM _sfflow.awaited_event WHERE ripe) || ' ripe, '
			|| (SELECT count(*) FROM _sfflow.branch WHERE due_at <= now()) || ' due, '
			|| (SELECT count(*) FROM _sfflow.event_receipt) || ' receipts'"));
		sleep(5) if $look == 1;
	}
	diag(sql("SELECT pid, backend_type, state, wait_event, now() - xact_start AS open, left(query, 100)
		FROM pg_stat_activity WHERE datname = 'postgres'"));
	diag(sql("SELECT * FROM pg_locks WHERE NOT granted OR locktype = 'advisory'"));
	diag(sql('SELECT * FROM pg_prepared_xacts'));
	die 'no rest';
}

my ($transactions, $kills, $alone, %errors) = (0, 0, 0);
for my $round (1 .. $rounds)
{
	my @kinds = qw(emit emit emit emit wait wait wait wait stop);
	my @scripts = map { my $n = $_; [ map { transaction($kinds[$n], "r$round-$n-$_") } 1 .. 111 ] } 0 .. $#kinds;
	my $kill = $round % 2 == 0;
	my @sessions = race($node, \@scripts, kill_after => $kill ? 100 + int(rand(800)) : 0);
	$kills++ if $kill;
	$alone += alone(@sessions);
	for my $session (@sessions)
	{
		$transactions += @{ $session->{ends} };
		my $last = '';
		for my $error (@{ $session->{errors} })
		{
			# Where a transaction has failed, a savepoint is refused; so there is none to roll back to.
			$errors{$error}++ unless $error eq '3B001' && $last eq '25P02';
			$last = $error;
		}
	}
	end_prepared($node);
	rest();
	is(sql('SELECT count(*) FROM stranded'), '0', "round $round: no wait stands beside an event that it may have");
	sql("SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'");
	$keys++;
}
is($alone, 0, 'each session has raced with others');
note(join ', ', "$transactions transactions", "$kills kills", map { "$errors{$_} $_" } sort keys %errors);
my $received = "SELECT e.execution_id, h.details #>> '{output,Id}' AS id FROM sf_history h
	JOIN sf_executions e USING (execution_id) WHERE h.type = 'TaskSucceeded'";
is(sql("SELECT execution_id, id, count(*) FROM ($received) r GROUP BY 1, 2 HAVING count(*) > 1"), '',
	'no execution has received an event twice');
is(sql("SELECT event_no FROM _sfflow.emission e JOIN _sfflow.event_receipt r USING (event_no)
	WHERE e.deliver = 'one' GROUP BY 1 HAVING count(*) > 1"), '', 'an event for one was given to one');
cmp_ok(sql("SELECT count(*) FROM ($received) r"), '>', 100, 'many were given');
# A look waits for no row. Sessions that run executions in blocks of several statements may meet in a deadlock.
unlike(slurp_file($node->logfile), qr/Process \d+: sfflow: events/, 'no sweep of a worker was part of a deadlock');
my $expected = qr/^(?:40001|40P01|57P0\d|08\w+|SF\w+|25P02|42704|55P03)$/;
is(join(' ', grep { !/$expected/ } sort keys %errors), '', 'no other errors');
is(sql('SELECT * FROM sf_check()'), '', 'all is sound');

# --- the mistakes of the model

sql("SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'");
sql('SELECT sf_disable()');
my ($number, $mutation) = (0, '');

# Has a look waited for a stop?
my $waited = 0;

# A session in which the code makes the mistake.
sub session
{
	my $session = $node->background_psql('postgres', on_error_die => 1);
	$session->query_safe("SET client_min_messages = error; SET sfflow.debug_point = '$mutation'");
	return $session;
}

# What brings an execution to its wait, or has a session look for it.
sub run { return "SELECT sf_run('$_[0]')" }

sub begin { return qq(SELECT sf_start('$_[0]', '{"k": "$number"}', '$number')) }

# Is a wait beside an event, and nothing would have them looked at?
sub stranded { return sql('SELECT count(*) FROM stranded WHERE NOT fresh AND NOT ripe') }

sub emit { sql("SELECT sf_emit('e', '$number')"); return }

# Wait until a session waits for a lock, or has done what it was told.
sub blocked
{
	my $statement = shift;
	$node->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)
		OR EXISTS (SELECT FROM pg_stat_activity WHERE state LIKE 'idle%' AND rtrim(query, ';') = \$s\$$statement\$s\$)")
	  or die "neither waits nor ends: $statement";
	return;
}

# A look beside a wait that has not committed.
my $beside_open_wait = sub {
	my ($waiter, $looker) = (session(), session());
	$looker->query_safe(begin('picky') . ';' . run("picky:$number"));
	# one step: at rest its session would look, too
	$waiter->query_safe('BEGIN;' . begin('once') . ";SELECT sf_step('once:$number')");
	emit();
	$looker->query_safe(run("picky:$number"));
	$waiter->query_safe('COMMIT');
	$_->quit for $waiter, $looker;
};

my %scenario = (
	event_no_share => $beside_open_wait,
	event_no_lock => $beside_open_wait,
	event_no_probe => sub {
		my ($waiter, $looker) = (session(), session());
		$looker->query_safe(begin('picky') . ';' . run("picky:$number"));
		emit();
		$looker->query_safe(run("picky:$number"));
		$waiter->query_safe(begin('once') . ";SELECT sf_step('once:$number')");
		$_->quit for $waiter, $looker;
	},
	event_probe_before_lock => sub {
		my ($waiter, $looker) = (session(), session());
		$looker->query_safe(begin('picky') . ';' . run("picky:$number"));
		$looker->query_safe('BEGIN;' . run("picky:$number"));
		$waiter->query_safe(begin('once'));
		$waiter->query_until(qr/^begins/, "\\echo begins\nSELECT sf_step('once:$number');\n");
		blocked("SELECT sf_step('once:$number')");
		emit();
		$looker->query_safe(run("picky:$number") . '; COMMIT');
		$waiter->query_safe('SELECT 1');
		$_->quit for $waiter, $looker;
	},
	event_mark_all => sub {
		my ($waiter, $looker, $holder) = (session(), session(), session());
		$waiter->query_safe(begin('once') . ';' . run("once:$number"));
		$looker->query_safe(begin('picky') . ';' . run("picky:$number"));
		$holder->query_safe("SELECT pg_advisory_lock(hashtextextended('event_look', 0))");
		$looker->query_safe("SET sfflow.debug_point = '" . join(',', grep { $_ } $mutation, 'event_look:wait') . "'");
		$looker->query_until(qr/^looks/, "\\echo looks\n" . run("picky:$number") . ";\n");
		blocked(run("picky:$number"));
		emit();
		$holder->query_safe("SELECT pg_advisory_unlock(hashtextextended('event_look', 0))");
		$looker->query_safe('SELECT 1');
		$_->quit for $waiter, $looker, $holder;
	},
	# A stop beside a look that has the branch, so that the stop passes it over and deletes its wait.
	event_wait_for_row => sub {
		my ($waiter, $looker, $holder) = (session(), session(), session());
		my $pid = $looker->query_safe('SELECT pg_backend_pid()');
		$waiter->query_safe(begin('once') . ';' . run("once:$number"));
		$looker->query_safe(begin('picky') . ';' . run("picky:$number"));
		emit();
		$holder->query_safe("SELECT pg_advisory_lock(hashtextextended('event_give', 0))");
		$looker->query_safe("SET sfflow.debug_point = '" . join(',', grep { $_ } $mutation, 'event_give:wait') . "'");
		$looker->query_until(qr/^looks/, "\\echo looks\n" . run("picky:$number") . ";\n");
		blocked();
		$waiter->query_safe("BEGIN; SELECT sf_stop('once:$number')");
		$holder->query_safe("SELECT pg_advisory_unlock(hashtextextended('event_give', 0))");
		my $does = "(SELECT CASE WHEN state = 'idle' THEN 'ends' WHEN wait_event = 'transactionid' THEN 'waits' END
			FROM pg_stat_activity WHERE pid = $pid)";
		$node->poll_query_until('postgres', "SELECT $does IS NOT NULL");
		$waited = sql("SELECT $does = 'waits'") eq 't' ? 1 : 0;
		$waiter->query_safe('ROLLBACK');
		$looker->query_safe('SELECT 1');
		$_->quit for $waiter, $looker, $holder;
	},
	event_mark_skipped => sub {
		my ($waiter, $looker) = (session(), session());
		$waiter->query_safe(begin('once') . ';' . run("once:$number"));
		$looker->query_safe(begin('picky') . ';' . run("picky:$number"));
		$waiter->query_safe("BEGIN; SELECT sf_stop('once:$number')");
		emit();
		$looker->query_safe(run("picky:$number"));
		$waiter->query_safe('ROLLBACK');
		$_->quit for $waiter, $looker;
	});

my @listed = slurp_file("$FindBin::Bin/../../model/mutations.txt") =~ /^events\s.*?\|\s*(event_\w+)/mg;
is(join(' ', sort keys %scenario), join(' ', sort @listed), 'each mutation of the model has its scenario');
for my $name (sort keys %scenario)
{
	for my $mistake ('', "$name:mutate")
	{
		$mutation = $mistake;
		$number++;
		$waited = 0;
		$scenario{$name}->();
		is(stranded() + $waited, $mistake ? '1' : '0',
			$mistake ? "$name: the mistake is noticed" : "$name: as it must be");
		sql("SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'");
	}
}

$node->stop;
done_testing();
