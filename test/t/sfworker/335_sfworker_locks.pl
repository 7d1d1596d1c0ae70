# sfworker beside transactions that have its tasks locked: such a task waits, and nothing else does.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use SfWorker;
use Test::More;
use Time::HiRes qw(time);

my $node = new_node('main');
activity_machine($node, $_, fields => '"HeartbeatSeconds": 3,') for qw(shell sql);
activity_machine($node, 'long', activity => 'shell', resource => 'activity:shell', made => 1);

# Start an execution of a command.
sub start
{
	my ($machine, $command) = @_;
	return $node->safe_psql('postgres', qq(SELECT sf_start('$machine', '{"Command": "$command"}')));
}

# Await an execution; gives "status|output|error".
sub outcome
{
	my $id = shift;
	$node->safe_psql('postgres', "SELECT sf_await('$id', '60 s')");
	return $node->safe_psql('postgres', "SELECT status, output, error FROM sf_executions WHERE execution_id = '$id'");
}

# A statement that answers its task in its own transaction, which goes on: the task's heartbeats have to wait.
$node->safe_psql('postgres', <<'SQL');
CREATE PROCEDURE answer_and_stay() LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_send_task_success(current_setting('sfworker.task_token'), '"done"');
	PERFORM pg_sleep(12);
END $$;
SQL
my $worker = start_worker($node, '-a', 'shell', '-a', 'sql', '-c', '6');
my $stays = $node->safe_psql('postgres', q{SELECT sf_start('sql', '{"Statement": "CALL answer_and_stay()"}')});
ok(wait_for('it stays', sub { $node->safe_psql('postgres',
	q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) }), 'a statement has answered, and goes on');
my $beside = start('shell', 'sleep 8; echo 1');
my $begun = time;
is(outcome(start('shell', 'echo 2')), 'SUCCEEDED|2|', 'another task is done meanwhile');
cmp_ok(time - $begun, '<', 5, '... at once');
is(outcome($beside), 'SUCCEEDED|1|', 'one that takes longer has its heartbeats');
is(outcome($stays), 'SUCCEEDED|"done"|', 'the statement has its own answer');

# An answer whose execution another session has locked.
my $locked = start('long', 'sleep 2; echo 3');
ok(wait_for('it runs', sub { worker_log($worker) =~ /task begins .*execution=\Q$locked\E / }), 'a command runs');
my $session = $node->background_psql('postgres');
$session->query_safe("BEGIN; SELECT sf_stop('$locked')");
ok(wait_for('it waits', sub { worker_log($worker) =~
	/an answer could not be given.*execution=\Q$locked\E .*lock timeout/ }), 'its answer is locked, and waits');
$beside = start('shell', 'sleep 6; echo 4');
is(outcome(start('shell', 'echo 5')), 'SUCCEEDED|5|', 'another task is done meanwhile');
is(outcome($beside), 'SUCCEEDED|4|', 'and one that needs heartbeats');
$session->query_safe('ROLLBACK');
$session->quit;
is(outcome($locked), 'SUCCEEDED|3|', 'the answer is given when the lock is gone');
is(stop_worker($worker), 0, 'the worker leaves');
no_surprises($node);
$node->stop;
done_testing();
