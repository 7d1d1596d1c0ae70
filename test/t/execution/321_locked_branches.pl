# Branches whose rows a session has locked when a worker comes for them, at every kind of moment: they go on when it
# lets go, and not with the next poll.
# needs: event limit
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;
use Time::HiRes qw(time);

my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 2
sfflow.max_workers = 6
sfflow.poll_interval = 600
sfflow.debug_point = 'read:wait'
EOC
# Sessions pass the point at which workers wait.
my $by_hand = "SET sfflow.debug_point = ''; ";

sub sql { return $node->safe_psql('postgres', $by_hand . shift) }

sub until_true
{
	my $query = shift;
	$node->poll_query_until('postgres', $query) or die "not within time: $query";
	return;
}

sql(<<'EOS');
CREATE FUNCTION public.slow() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
	PERFORM pg_advisory_xact_lock_shared(42);
END $$;
SELECT sf_create_activity('desk'), sf_create_event('paid');
SELECT sf_create_state_machine(name, ('{"StartAt": "A", "States": ' || states || '}')::json) FROM (VALUES
	('begin', '{"A": {"Type": "Pass", "End": true}}'),
	('timer', '{"A": {"Type": "Wait", "Seconds": 2, "End": true}}'),
	('task', '{"A": {"Type": "Task", "Resource": "sql:public.slow", "End": true}}'),
	('answer', '{"A": {"Type": "Task", "Resource": "activity:desk", "End": true}}'),
	('event', '{"A": {"Type": "Task", "Resource": "event:paid", "Parameters": {"Key.$": "$$.Execution.Name"},
		"End": true}}'),
	('join', '{"A": {"Type": "Parallel", "End": true, "Branches": [
		{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "activity:desk", "End": true}}},
		{"StartAt": "C", "States": {"C": {"Type": "Task", "Resource": "activity:desk", "End": true}}}]}}'),
	('queue', '{"A": {"Type": "Choice", "Default": "B", "Choices": [
			{"Variable": "$.stays", "IsPresent": true, "Next": "C"}]},
		"B": {"Type": "Pass", "End": true}, "C": {"Type": "Task", "Resource": "activity:desk", "End": true}}'))
	AS m (name, states);
SELECT sf_create_state_machine('deadline', '{"StartAt": "A", "TimeoutSeconds": 2, "States": {
	"A": {"Type": "Wait", "Seconds": 3600, "End": true}}}');
SELECT sf_set_limit('queue', max_running => 1);
EOS

# What the executions of a round are, and how each is to end.
my %ends = (deadline => 'TIMED_OUT', map { $_ => 'SUCCEEDED' } qw(begin timer task answer event join queue));
my ($gate, $task, $holder) = map { $node->background_psql('postgres') } 1 .. 3;

# Hold rows of a round's executions for a while, at all of these moments.
sub hold
{
	my ($round, $seconds, @locked) = @_;
	$task->query_safe('SELECT pg_advisory_lock(42)');
	sql("SELECT sf_start('queue', '{\"stays\": true}', '$round-first')");
	until_true("SELECT queued = 1 FROM sf_activities WHERE activity = 'desk'");
	sql("SELECT sf_start(m, '{}', '$round') FROM unnest(ARRAY['task', 'answer', 'event', 'join', 'queue']) AS m");
	# The task runs, the activity has four tasks, one waits for the limit, and one for an event.
	until_true("SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND NOT granted");
	until_true("SELECT queued = 4 FROM sf_activities WHERE activity = 'desk'");
	until_true('SELECT (SELECT count(*) = 1 FROM _sfflow.parked) AND (SELECT count(*) = 1 FROM _sfflow.awaited_event)');
	sql("SELECT sf_start(m, '{}', '$round') FROM unnest(ARRAY['timer', 'deadline']) AS m");
	until_true("SELECT count(*) = 2 FROM sf_executions WHERE name = '$round' AND started_at IS NOT NULL
		AND state_machine IN ('timer', 'deadline')");
	# From here on a worker that comes for a branch waits before it looks at it.
	$gate->query_safe("SELECT pg_advisory_lock(hashtextextended('read', 0))");
	sql("SELECT sf_send_task_success(task_token, '{}') FROM sf_get_activity_task('desk', max_tasks => 10)");
	sql("SELECT sf_step('join:$round')") for 1 .. 2;
	sql("SELECT sf_start('begin', '{}', '$round')");
	$task->query_safe('SELECT pg_advisory_unlock(42)');
	until_true("SELECT count(*) = 4 FROM _sfflow.branch AS b JOIN _sfflow.execution AS e USING (execution_no)
		WHERE e.execution_id IN ('join:$round', 'task:$round', 'timer:$round', 'deadline:$round')
		AND b.due_at <= clock_timestamp() AND b.phase <> ${\ phase('ANNOUNCED')}");
	$holder->query_safe('BEGIN');
	$holder->query_safe("SELECT count(*) FROM (SELECT FROM _sfflow.$_ WHERE execution_no IN
		(SELECT execution_no FROM _sfflow.execution WHERE execution_id ~ ':$round\$') FOR UPDATE) AS x") for @locked;
	sql("SELECT sf_emit('paid', '$round')");
	$gate->query_safe("SELECT pg_advisory_unlock(hashtextextended('read', 0))");
	is(sql("SELECT sf_await('queue:$round-first', '120 s')"), 'SUCCEEDED', "$round: what nobody has locked ends");
	$holder->query_safe("SELECT pg_sleep($seconds)");
	is(sql("SELECT count(*) FROM sf_executions WHERE name = '$round' AND status = 'RUNNING'"), 8,
		"$round: what a session has locked does not go on");
	$holder->query_safe('ROLLBACK');
	my $began = time;
	for (sort keys %ends)
	{
		is(sql("SELECT sf_await('$_:$round', '60 s')"), $ends{$_}, "$round: $_ goes on when the session lets go");
	}
	note(sprintf('%s: all have ended after %.1f s', $round, time - $began));
	cmp_ok(time - $began, '<', 60, "$round: ... soon");
	return;
}

hold('branches', 3, 'branch');
hold('executions', 5, 'execution', 'branch');

$_->quit for $gate, $task, $holder;
no_surprises($node);
$node->stop;
done_testing();
