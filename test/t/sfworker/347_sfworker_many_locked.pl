# sfworker with more locked tasks than its session can try in the time between two heartbeats: other tasks are claimed
# and answered, and have their heartbeats.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use SfWorker;
use Test::More;
use Time::HiRes qw(time);

# Each heartbeat waits 0.2 seconds, and is due again after one; HeartbeatSeconds are over before each was tried.
my $n = 20;
my $node = new_node('main');
activity_machine($node, $_, fields => '"HeartbeatSeconds": 3,') for qw(shell sql);

# Await an execution; gives "status|output|error".
sub outcome
{
	my $id = shift;
	$node->safe_psql('postgres', "SELECT sf_await('$id', '30 s')");
	return $node->safe_psql('postgres', "SELECT status, output, error FROM sf_executions WHERE execution_id = '$id'");
}

# Start an execution of a command.
sub start
{
	my $command = shift;
	return $node->safe_psql('postgres', qq(SELECT sf_start('shell', '{"Command": "$command"}')));
}

# Statements that answer their tasks, and keep their transactions open until this session ends.
$node->safe_psql('postgres', <<'SQL');
CREATE PROCEDURE answer_and_stay() LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_send_task_success(current_setting('sfworker.task_token'), '"done"');
	PERFORM pg_advisory_xact_lock_shared(1);
END $$;
SQL
my $session = $node->background_psql('postgres');
$session->query_safe('SELECT pg_advisory_lock(1)');
my @locked = split /\n/, $node->safe_psql('postgres',
	qq(SELECT sf_start('sql', '{"Statement": "CALL answer_and_stay()"}') FROM generate_series(1, $n)));
my $worker = start_worker($node, '-a', 'shell', '-a', 'sql', '-c', $n + 4, '--log-level', 'debug');
ok(wait_for('all are locked', sub {
	my %locked = map { $_ => 1 } worker_log($worker) =~ /the task is locked.* execution=(\S+)/g;
	keys %locked == $n }, 60), "$n statements have answered their tasks, and go on");
my $begun = time;
my $beside = start('sleep 10; echo 1');
is(outcome(start("echo $_")), "SUCCEEDED|$_|", 'another task is claimed and answered meanwhile') for 2 .. 4;
cmp_ok(time - $begun, '<', 15, '... soon');
is(outcome($beside), 'SUCCEEDED|1|', 'one that takes longer has its heartbeats');
$session->quit;
is(outcome($_), 'SUCCEEDED|"done"|', 'a statement has its own answer') for @locked;
is(stop_worker($worker), 0, 'the worker leaves');
no_surprises($node);
$node->stop;
done_testing();
