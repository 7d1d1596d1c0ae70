# Long tasks do not stop the rest: starts, timers, stop, and both failure modes while tasks run.
#
# Runs alone: it measures times.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.max_workers = 8\nsfflow.max_running_tasks = 4\n");

$node->safe_psql('postgres', <<'EOS');
CREATE FUNCTION nap(seconds float8) RETURNS void LANGUAGE sql AS 'SELECT pg_sleep(seconds)';
CREATE FUNCTION stamp(payload jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT to_jsonb(clock_timestamp())';
CREATE FUNCTION refuse(payload jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT sf_raise('Refused', 'as asked'),
	NULL::jsonb; SELECT NULL::jsonb $$;
EOS
my $nap = one_task('public.nap', '"Parameters": {"seconds.$": "$.seconds"}');
my $stamp = one_task('public.stamp');
$node->safe_psql('postgres', <<"EOS");
SELECT sf_create_state_machine('nap', \$def\$$nap\$def\$);
SELECT sf_create_state_machine('stamp', \$def\$$stamp\$def\$);
SELECT sf_create_state_machine('timer', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1, "Next": "T"},
	"T": {"Type": "Task", "Resource": "sql:public.stamp", "End": true}}}');
EOS

# Four tasks of an hour.
$node->safe_psql('postgres', q{SELECT sf_start('nap', '{"seconds": 3600}', 'n' || n) FROM generate_series(1, 4) AS n});
ok($node->poll_query_until('postgres',
		q{SELECT count(*) = 4 FROM sf_jobs WHERE execution_id LIKE 'nap:%' AND job_status = 'running'}),
	'four long tasks show as running');
is($node->safe_psql('postgres', q{SELECT count(*) FROM sf_tasks WHERE status = 'running' OR status = 'RUNNING'}),
	'4', 'in sf_tasks too');

# Meanwhile starts are picked up at once.
my $n = full(50, 500);
my $script = join '', map {
	"INSERT INTO committed SELECT sf_start('stamp', '{}', 's$_'), clock_timestamp();\n"
		. "SELECT sf_await('stamp:s$_', '180 s');\n"
} 1 .. $n;
$node->safe_psql('postgres', "CREATE TABLE committed (execution_id text, at timestamptz);\n$script");
my @delays = split /\n/, $node->safe_psql('postgres', <<'EOS');
SELECT extract(epoch FROM (e.output #>> '{}')::timestamptz - c.at) * 1000
FROM committed AS c JOIN sf_executions AS e USING (execution_id)
EOS
is(scalar @delays, $n, 'each start was run');
note(sprintf 'pick-up: p50 %.2f ms, p95 %.2f ms', percentile(0.5, @delays), percentile(0.95, @delays));
cmp_ok(percentile(0.5, @delays), '<', 5, 'half of the starts are picked up within 5 ms');

# Timers fire on time. A busy machine may keep one from it.
$node->safe_psql('postgres', q{SELECT sf_start('timer', '{}', 't' || n) FROM generate_series(1, 5) AS n});
$node->safe_psql('postgres', q{SELECT sf_await('timer:t' || n, '180 s') FROM generate_series(1, 5) AS n});
my @late = split /\n/, $node->safe_psql('postgres', <<'EOS');
SELECT round(extract(epoch FROM (output #>> '{}')::timestamptz - started_at) * 1000 - 1000) AS late
FROM sf_executions WHERE state_machine = 'timer' ORDER BY late
EOS
note("timers fired @late ms late");
cmp_ok($late[0], '>=', 0, 'a timer does not fire early');
cmp_ok($late[0], '<', 100, 'nor late');

# Stop ends a running task.
my $begin = time;
$node->safe_psql('postgres', q{SELECT sf_stop('nap:n1', 'Enough', 'no more naps')});
ok($node->poll_query_until('postgres', q{SELECT count(*) = 3 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}),
	'sf_stop ends one of them');
cmp_ok(time - $begin, '<', 60, 'soon');
is($node->safe_psql('postgres', q{SELECT status, error, cause FROM sf_executions WHERE execution_id = 'nap:n1'}),
	'ABORTED|Enough|no more naps', 'the execution is aborted');
$node->safe_psql('postgres', q{SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'});
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}),
	'all are stopped');

# A branch fails while the other runs a long task.
for my $mode (qw(ABORT DRAIN))
{
	# With ABORT the task is to run when the other branch fails, which waits until the test has seen it.
	my ($seconds, $wait) = $mode eq 'ABORT' ? (3600, 86400) : (2, 1);
	my $long = task('public.nap', undef, qq("Parameters": {"seconds": $seconds}));
	my $bad = task('public.refuse', undef);
	$node->safe_psql('postgres', <<"EOS");
SELECT sf_create_state_machine('mode-$mode',
	'{"StartAt": "P", "States": {"P": {"Type": "Parallel", "FailureMode": "$mode", "End": true, "Branches": [
	{"StartAt": "Long", "States": {"Long": $long}},
	{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": $wait, "Next": "Bad"}, "Bad": $bad}}]}}}');
SELECT sf_start('mode-$mode', '{}', 'x');
EOS
	if ($mode eq 'ABORT')
	{
		$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
		  or die 'no task runs';
		$node->poll_query_until('postgres', "WITH due AS (UPDATE _sfflow.branch SET due_at = now()
			WHERE due_at BETWEEN now() + '1 h' AND now() + '2 d' RETURNING 1) SELECT count(*) = 1 FROM due")
		  or die 'no branch waits';
		# The worker that this rings for looks at the timers.
		$node->safe_psql('postgres', 'SELECT sf_enable()');
	}
	is($node->safe_psql('postgres', "SELECT sf_await('mode-$mode:x', '180 s')"), 'FAILED', "$mode: the state fails");
	is( $node->safe_psql('postgres', "SELECT string_agg(job_id || ' ' || job_status, ', ' ORDER BY job_id) FROM sf_jobs
		WHERE execution_id = 'mode-$mode:x'"),
		$mode eq 'ABORT' ? 'Bad failure, Long failure' : 'Bad failure, Long success',
			"$mode: what became of the sibling");
}

# A task's own time limit.
my $limited = one_task('public.nap', '"Parameters": {"seconds": 3600}, "TimeoutSeconds": 1');
$node->safe_psql('postgres', "SELECT sf_create_state_machine('limited', \$def\$$limited\$def\$);
	SELECT sf_start('limited', '{}', 'x')");
is($node->safe_psql('postgres', q{SELECT sf_await('limited:x', '180 s')}), 'FAILED', 'TimeoutSeconds ends a task');
is($node->safe_psql('postgres', q{SELECT error FROM sf_executions WHERE execution_id = 'limited:x'}), 'States.Timeout',
	'as States.Timeout');

# Shutting the server down does not wait for tasks.
$node->safe_psql('postgres', q{SELECT sf_start('nap', '{"seconds": 3600}', 'last')});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
$begin = time;
$node->stop('fast');
cmp_ok(time - $begin, '<', 60, 'a fast shutdown is fast');
$node->start;
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}),
	'and the task runs again after it');
$node->safe_psql('postgres', q{SELECT sf_stop('nap:last')});
ok(ended($node), 'the last one is stopped');

no_surprises($node);
$node->stop;
done_testing();
