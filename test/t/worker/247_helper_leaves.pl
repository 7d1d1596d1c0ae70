# A process that has helped in one database stays there, for the next time. It leaves when its place, which is the last
# one, is wanted in another database: for helping there, or for a further task of an owner which the worker of that
# database does not take, because it is kept for owners that hold no place. It stays when a task waits for its owner's
# share.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;

# A helper stays for a day, and no turn takes so long that its worker is replaced: nothing here goes on by itself. What
# has once taken less than ten seconds counts as short.
my $day = 24 * 3600 * 1000;
my $node = new_node('main', conf => <<"EOC");
sfflow.workers = 2
sfflow.max_workers = 4
sfflow.poll_interval = 3600
sfflow.slice_ms = 10000
sfflow.debug_point = 'helper-linger:ms=$day,stuck-turn:ms=$day'
fsync = off
EOC
$node->safe_psql('postgres', 'CREATE DATABASE elsewhere');
$node->safe_psql('postgres', "CREATE ROLE $_ LOGIN") for qw(one other greedy);

# Start an execution, as a role.
sub start
{
	my ($database, $role, $machine, $name) = @_;
	return $node->safe_psql($database, "SET SESSION AUTHORIZATION $role; SELECT sf_start('$machine', '{}', '$name')");
}

# Wait until an execution has ended well.
sub succeeds
{
	my ($database, $id, $test) = @_;
	return ok($node->poll_query_until($database,
		"SELECT status = 'SUCCEEDED' FROM sf_executions WHERE execution_id = '$id'"), $test);
}

# Each owner has a machine with a task that waits while a session holds the lock with its number.
my %lock_of = (one => 1, other => 2, greedy => 3);
my @databases = qw(elsewhere postgres);
for my $database (@databases)
{
	$node->safe_psql($database, 'CREATE EXTENSION IF NOT EXISTS sfflow');
	for my $role (sort keys %lock_of)
	{
		$node->safe_psql($database, <<"EOS");
CREATE SCHEMA $role AUTHORIZATION $role;
SET SESSION AUTHORIZATION $role;
CREATE FUNCTION $role.job(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS \$\$
BEGIN PERFORM pg_advisory_xact_lock_shared($lock_of{$role}); RETURN NULL; END \$\$;
CREATE FUNCTION $role.new_job(payload jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT NULL::jsonb';
SELECT sf_create_state_machine('$role', '@{[ one_task("$role.job") ]}'),
	sf_create_state_machine('$role-new', '@{[ one_task("$role.new_job") ]}');
EOS
	}
	start($database, $_, $_, 'first') for qw(one other);
	ok(ended($node, $database), "$database: tasks of two owners are known to be short");
}
# On a busy machine one has helped with these tasks, and would stay for the day.
$node->safe_psql('postgres',
	q{SELECT pg_terminate_backend(pid) FROM sf_workers WHERE role NOT IN ('launcher', 'worker')});
for my $database (@databases)
{
	ok($node->poll_query_until($database,
		q{SELECT string_agg(role, ' ') = 'worker' FROM sf_workers WHERE role <> 'launcher'}),
		"$database has one worker, and no other process");
}

# Wait until these executions of the greedy owner, and no others, are in their tasks.
sub in_tasks
{
	my ($names, $test) = @_;
	return ok($node->poll_query_until('elsewhere', qq{
		SELECT string_agg(execution_id, ' ' ORDER BY execution_id) = '$names' FROM sf_workers
		WHERE execution_id LIKE 'greedy:%'}), $test);
}

# Have the worker of a database wait in a task of an owner that was short the last time, so that the task of another
# owner wants a process that helps.
my $helped = 0;
sub help
{
	my ($database, $test) = @_;
	my $name = 'help' . ++$helped;
	# the last time it may have waited for the lock
	start($database, 'one', 'one', "$name-short");
	succeeds($database, "one:$name-short", "$test: a task is short");
	my $lock = $node->background_psql($database);
	$lock->query_safe("SELECT pg_advisory_lock($lock_of{one})");
	start($database, 'one', 'one', $name);
	ok($node->poll_query_until($database,
		"SELECT count(*) = 1 FROM sf_workers WHERE role = 'worker' AND execution_id = 'one:$name'"),
		'... and the worker is in it again');
	start($database, 'other', 'other', $name);
	succeeds($database, "other:$name", '... and another process runs what another owner has due');
	$lock->quit;
	succeeds($database, "one:$name", '... and that task ends when it may');
	return;
}

# The process that has helped in a database, once it is idle for longer than one for tasks stays.
sub helper
{
	my $database = shift;
	my $idle = q{FROM sf_workers WHERE role = 'task' AND state = 'idle' AND since < clock_timestamp() - interval '3 s'};
	$node->poll_query_until($database, "SELECT count(*) = 1 $idle") or die "no helper stays in $database";
	return $node->safe_psql($database, "SELECT pid $idle");
}

# Is a process there?
sub is_there
{
	return $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE pid = " . shift);
}

# Of four places two are the workers', and one is that of a task.
my $lock = $node->background_psql('elsewhere');
$lock->query_safe("SELECT pg_advisory_lock($lock_of{greedy})");
start('elsewhere', 'greedy', 'greedy', 1);
in_tasks('greedy:1', 'a task has a process');
help('postgres', 'in one database');
my $helper = helper('postgres');
help('elsewhere', 'in the other one');
is(is_there($helper), '0', 'the process that had helped has left for that');
$helper = helper('elsewhere');
help('postgres', 'in the first one again');
is(is_there($helper), '0', 'its place was taken, too');

# The last worker is kept for owners that hold no place, so a further task wants the last one.
$helper = helper('postgres');
start('elsewhere', 'greedy', 'greedy', 2);
in_tasks('greedy:1 greedy:2', 'a further task of the same owner gets a process');
is(is_there($helper), '0', '... in the place of the one that had helped');

# One more finds no place. Nobody starts and ends processes for it, and new owners have their task run.
my $processes = q{SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM sf_workers WHERE role <> 'keeper'};
my @before = map { $node->safe_psql($_, $processes) } @databases;
start('elsewhere', 'greedy', 'greedy', 3);
ok($node->poll_query_until('elsewhere', q{SELECT job_status = 'running' FROM sf_jobs WHERE execution_id = 'greedy:3'}),
	'one more is announced');
start('elsewhere', 'other', 'other-new', 1);
succeeds('elsewhere', 'other-new:1', '... and waits, while a new owner has a task run');
start($_, 'one', 'one', 'between') for @databases;
succeeds($_, 'one:between', "... and work goes on in $_") for @databases;
in_tasks('greedy:1 greedy:2', '... which it still does');
is_deeply([ map { $node->safe_psql($_, $processes) } @databases ], \@before, '... and the processes are the same ones');
$node->safe_psql('elsewhere', q{SELECT sf_stop('greedy:1')});
in_tasks('greedy:2 greedy:3', 'it begins when a place is given back');

# A task that waits for its owner's share wants no place.
$node->safe_psql('postgres', 'ALTER SYSTEM SET sfflow.max_running_tasks_per_owner = 1');
$node->safe_psql('postgres', 'SELECT pg_reload_conf()');
$node->poll_query_until('postgres', q{SELECT current_setting('sfflow.max_running_tasks_per_owner') = '1'})
  or die 'no reload';
$node->safe_psql('elsewhere', q{SELECT sf_stop('greedy:2')});
in_tasks('greedy:3', 'an owner has as many tasks as it may');
help('postgres', 'in one database once more');
$helper = helper('postgres');
start('elsewhere', 'greedy', 'greedy', 4);
ok($node->poll_query_until('elsewhere',
	q{SELECT remark LIKE 'tasks wait whose owner has its share: 1 %' FROM _sfflow.task_slots()}),
	'a further one waits for its share');
for (1 .. 5)
{
	start('elsewhere', 'one', 'one', "share$_");
	succeeds('elsewhere', "one:share$_", 'work goes on');
}
is(is_there($helper), '1', 'the process that has helped stays');
is(helper('postgres'), $helper, '... where it was');
in_tasks('greedy:3', '... and the owner has no more than its share');

$lock->query_safe("SELECT pg_advisory_unlock($lock_of{greedy})");
$lock->quit;
for my $database (@databases)
{
	ok(ended($node, $database), "$database: all executions end");
	is($node->safe_psql($database, 'SELECT * FROM sf_check()'), '', '... and the tables hold together');
}
$node->stop;
done_testing();
