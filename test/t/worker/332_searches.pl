# A process that may take a task, and has none, takes no room from tasks: not while it searches, nor while it is in a
# slice. Two that search at once may find more tasks than there is room for, and one of them leaves its own. It is
# sought again as soon as there is room: when a task ends, here or in another database, and when a setting is raised.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;

# A process for tasks stays for a day, no turn is taken for stuck, and the poll is an hour away: nothing here goes on by
# itself. What took less than a second counts as short.
my $day = 24 * 3600 * 1000;
my $points = "task-linger:ms=$day,stuck-turn:ms=$day";
my $node = new_node('main', conf => <<"EOC");
sfflow.workers = 2
sfflow.max_workers = 10
sfflow.max_running_tasks = 2
sfflow.poll_interval = 3600
sfflow.slice_ms = 1000
sfflow.debug_point = '$points'
fsync = off
EOC
$node->safe_psql('postgres', 'CREATE DATABASE elsewhere');

# Each owner has a machine with a task that waits while a session holds the lock with its number. That of the greedy
# one is long.
my %lock_of = (one => 1, greedy => 2);
my %seconds = (one => 0, greedy => 1.1);
$node->safe_psql('postgres', "CREATE ROLE $_ LOGIN") for sort keys %lock_of;

# Make the machines in a database, and let it be known how long their tasks take.
sub prepare
{
	my $database = shift;
	$node->safe_psql($database, 'CREATE EXTENSION IF NOT EXISTS sfflow');
	for my $role (sort keys %lock_of)
	{
		$node->safe_psql($database, <<"EOS");
CREATE SCHEMA $role AUTHORIZATION $role;
SET SESSION AUTHORIZATION $role;
CREATE FUNCTION $role.job(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS \$\$
BEGIN PERFORM pg_sleep($seconds{$role}), pg_advisory_xact_lock_shared($lock_of{$role}); RETURN NULL; END \$\$;
SELECT sf_create_state_machine('$role', '@{[ one_task("$role.job") ]}');
EOS
	}
	start($database, $_, 'first') for sort keys %lock_of;
	return ok(ended($node, $database), "$database: it is known how long tasks take");
}

# Start an execution, as a role.
sub start
{
	my ($database, $role, $name) = @_;
	return $node->safe_psql($database, "SET SESSION AUTHORIZATION $role; SELECT sf_start('$role', '{}', '$name')");
}

# Wait until so many processes are of a role and in a task of an owner.
sub in_tasks
{
	my ($database, $owner, $role, $count, $test) = @_;
	return ok($node->poll_query_until($database, qq{
		SELECT count(*) = $count FROM sf_workers WHERE role = '$role' AND state = 'running'
		AND execution_id LIKE '$owner:%'}), $test);
}

# Hold the lock of an owner.
sub hold
{
	my ($database, $owner) = @_;
	my $session = $node->background_psql($database);
	$session->query_safe("SELECT pg_advisory_lock($lock_of{$owner})");
	return $session;
}

# Wait until there are as many workers as may be, beside processes that are in long tasks.
sub workers_are_there
{
	my $database = shift;
	return ok($node->poll_query_until($database,
			q{SELECT detail LIKE '%2 of 2 advancing%' FROM sf_health WHERE item = 'worker slots'}),
		'... beside all workers');
}

# A worker that is in a short task.
prepare('postgres');
my $greedy = hold('postgres', 'greedy');
my $one = hold('postgres', 'one');
start('postgres', 'greedy', 1);
in_tasks('postgres', 'greedy', 'task', 1, 'one of two places is taken');
workers_are_there('postgres');
start('postgres', 'one', 'short');
in_tasks('postgres', 'one', 'worker', 1, 'a worker is in a task that was short');
start('postgres', 'greedy', 2);
in_tasks('postgres', 'greedy', 'task', 2, 'a further task of the first owner begins beside it');
$one->quit;
ok($node->poll_query_until('postgres', "SELECT status = 'SUCCEEDED' FROM sf_executions WHERE name = 'short'"),
	'... and that task ends');

# Two processes have found a task each, and there is room for one.
$node->safe_psql('postgres', q{SELECT sf_stop('greedy:2')});
in_tasks('postgres', 'greedy', 'task', 1, 'one of two places is taken again');
my $commit = $node->background_psql('postgres');
$commit->query_safe(q{SELECT pg_advisory_lock(hashtextextended('T1_commit', 0))});
$node->safe_psql('postgres', "ALTER SYSTEM SET sfflow.debug_point = '$points,T1_commit:wait'");
$node->safe_psql('postgres', 'SELECT pg_reload_conf()');
ok($node->poll_query_until('postgres', q{SELECT current_setting('sfflow.debug_point') LIKE '%T1_commit%'}),
	'a new setting');
for my $number (1, 2)
{
	start('postgres', 'greedy', 2 + $number);
	ok($node->poll_query_until('postgres', qq{SELECT count(*) = $number FROM pg_locks
			WHERE locktype = 'advisory' AND NOT granted
			AND ((classid::bigint << 32) | objid::bigint) = hashtextextended('T1_commit', 0)}),
		'a process has found a task');
}
$commit->quit;
in_tasks('postgres', 'greedy', 'task', 2, 'one of the two tasks begins');
my $waits = q{SELECT remark LIKE 'tasks wait whose owner has its share%' FROM _sfflow.task_slots()};
ok($node->poll_query_until('postgres', $waits), '... and the other one waits');
in_tasks('postgres', 'greedy', 'task', 2, '... which it still does');
$node->safe_psql('postgres', q{SELECT sf_stop('greedy:1')});
ok($node->poll_query_until('postgres', q{
	SELECT string_agg(execution_id, ' ' ORDER BY execution_id) = 'greedy:3 greedy:4' FROM sf_workers
	WHERE role = 'task' AND execution_id LIKE 'greedy:%'}), '... until another task ends');

# A task waits for room that is taken in another database. In its own one a process is idle that had a task.
$node->safe_psql('postgres', q{SELECT sf_stop('greedy:3'), sf_stop('greedy:4')});
in_tasks('postgres', 'greedy', 'task', 0, 'both places are free');
prepare('elsewhere');
my $far = hold('elsewhere', 'greedy');
start('elsewhere', 'greedy', $_) for 0, 1;
in_tasks('elsewhere', 'greedy', 'task', 2, 'both are taken in another database');
workers_are_there('elsewhere');
$node->safe_psql('elsewhere', q{SELECT sf_stop('greedy:0')});
my $idle = q{SELECT count(*) > 0 FROM sf_workers WHERE role = 'task' AND state = 'idle'};
ok($node->poll_query_until('elsewhere', $idle), 'a process for tasks is idle there');
start('postgres', 'greedy', 5);
in_tasks('postgres', 'greedy', 'task', 1, '... and its place is taken in the first one');
start('elsewhere', 'greedy', 2);
ok($node->poll_query_until('elsewhere', $waits), 'a further task finds no room');
ok($node->poll_query_until('elsewhere', $idle), '... while one is idle');
$node->safe_psql('postgres', q{SELECT sf_stop('greedy:5')});
in_tasks('elsewhere', 'greedy', 'task', 2, '... until a task ends in the first database');

# A setting is raised.
start('elsewhere', 'greedy', 3);
ok($node->poll_query_until('elsewhere', $waits), 'one more finds no room');
$node->safe_psql('postgres', 'ALTER SYSTEM SET sfflow.max_running_tasks = 3');
$node->safe_psql('postgres', 'SELECT pg_reload_conf()');
in_tasks('elsewhere', 'greedy', 'task', 3, '... until more tasks may run at once');

$_->quit for $greedy, $far;
for my $database (qw(postgres elsewhere))
{
	ok(ended($node, $database), "$database: all executions end");
	is($node->safe_psql($database, 'SELECT * FROM sf_check()'), '', '... and the tables hold together');
}
$node->stop;
done_testing();
