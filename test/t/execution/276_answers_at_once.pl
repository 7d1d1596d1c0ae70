# Two answers to a token at once: the worker to which the first one leaves the branch meets it while the second one,
# which is then
# refused, has it locked. The execution goes on when that ends, and not with the next poll.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.poll_interval = '1 h'\n");

sub sql { return $node->safe_psql('postgres', shift) }

# Begin what waits for a lock.
sub wait_for_lock
{
	my ($session, $statement) = @_;
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	$session->query_until(qr/begun/, "\\set VERBOSITY verbose\n\\echo begun\n$statement;\n\\echo done\n");
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $pid AND wait_event_type = 'Lock'")
	  or die 'the session does not wait';
	return $pid;
}

sql(<<'EOS');
SELECT sf_create_activity('act');
SELECT sf_create_state_machine('m', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:act",
	"End": true}}}');
SELECT sf_start('m', '{}', 'x');
EOS
$node->poll_query_until('postgres', "SELECT queued = 1 FROM sf_activities");
my $token = sql("SELECT task_token FROM sf_get_activity_task('act')");
my ($one, $two, $three) = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 3;

$one->query_safe("BEGIN; SELECT sf_send_task_success('$token', '1')");
wait_for_lock($three, 'BEGIN; LOCK TABLE _sfflow.task IN EXCLUSIVE MODE');
my $pid = wait_for_lock($two, "SELECT sf_send_task_success('$token', '2')");
$one->query_safe('COMMIT');
$three->query_until(qr/done/, "\\echo\n");
# The second one has the branch, and waits for the task; a worker that comes for the branch skips it, and sleeps again.
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks WHERE pid = $pid AND NOT granted");
$node->poll_query_until('postgres', "SELECT clock_timestamp() > due_at + '1 s' AND phase = ${\ phase('ANSWERED')}
	FROM _sfflow.branch")
  or die 'the answer is not in the branch';
is(sql("SELECT status FROM sf_executions"), 'RUNNING', 'a branch that a session has locked does not go on');
$three->query_safe('ROLLBACK');
$two->query_until(qr/done/, "\\echo\n");
like($two->{stderr}, qr/SF02/, '... until that session is refused');
is(sql("SELECT sf_await('m:x', '180 s')"), 'SUCCEEDED', 'then the execution goes on');
is(sql('SELECT output FROM sf_executions'), '1', '... with the first answer');
$_->quit for $one, $two, $three;

$node->stop;
done_testing();
