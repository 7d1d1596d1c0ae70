# When tasks occupy every slot, timers, choices and activities go on in every database, by a process that runs no
# user code; sf_health says so, and tasks go on as soon as a slot is given back.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Time::HiRes;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 1\nsfflow.max_workers = 3\nsfflow.poll_interval = 3600\n");
my $flow = q({"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 1, "Next": "Both"},
	"Both": {"Type": "Parallel", "Next": "Ask", "Branches": [
		{"StartAt": "One", "States": {"One": {"Type": "Pass", "End": true}}},
		{"StartAt": "Two", "States": {"Two": {"Type": "Pass", "End": true}}}]},
	"Ask": {"Type": "Task", "Resource": "activity:ask", "End": true}}});
my @databases = qw(postgres second third);
$node->safe_psql('postgres', "CREATE ROLE $_") for qw(a b c);
for my $database (@databases)
{
	$node->safe_psql('postgres', "CREATE DATABASE $database") unless $database eq 'postgres';
	$node->safe_psql($database, 'CREATE EXTENSION sfflow') unless $database eq 'postgres';
	$node->safe_psql($database, "SELECT sf_create_activity('ask'); SELECT sf_create_state_machine('flow', '$flow')");
	for my $role (qw(a b c))
	{
		my $definition = one_task('public.nap');
		$node->safe_psql($database, <<"SQL");
CREATE OR REPLACE FUNCTION public.nap(seconds float8) RETURNS text
	LANGUAGE sql AS 'SELECT pg_sleep(seconds); SELECT current_user::text';
SET SESSION AUTHORIZATION $role;
SELECT sf_create_state_machine('nap-$role', '$definition');
SQL
	}
}

# Start an execution.
sub start
{
	my ($database, $machine, $name, $input) = @_;
	return $node->safe_psql($database, "SELECT sf_start('$machine', '$input', '$name')");
}

# Wait until so many slots are held.
sub held
{
	my ($n, $test) = @_;
	return ok($node->poll_query_until('postgres', "SELECT occupied = $n FROM _sfflow.task_slots()"), $test);
}

# Known to be short, so that it would run in a slice.
start('postgres', 'nap-c', $_, '{"seconds": 0}') for 1 .. 2;
is($node->safe_psql('postgres', "SELECT sf_await('nap-c:$_', '180 s')"), 'SUCCEEDED', 'a short task') for 1 .. 2;

# Two owners occupy all slots.
start('postgres', 'nap-a', $_, '{"seconds": 3600}') for 1 .. 3;
held(2, 'an owner occupies all slots but one');
start('postgres', 'nap-b', $_, '{"seconds": 3600}') for 1 .. 2;
held(3, '... which another owner can have');
my $health = $node->safe_psql('postgres', "SELECT ok, detail FROM sf_health WHERE item = 'task slots'");
like($health, qr/^f\|3 of 3 .*a's nap-a:\d at T for.*b's nap-b:\d at T for.*no other task can begin.*sfflow\.max_workers/s,
	'sf_health says at once that nothing else can begin, and who occupies the slots');

# What runs no user code goes on, everywhere.
start($_, 'flow', 'x', '{}') for @databases;
start('postgres', 'nap-c', 'waits', '{"seconds": 0}');
for my $database (@databases)
{
	my $task = '';
	for (1 .. 1800)
	{
		last if $task = $node->safe_psql($database, "SELECT task_token FROM sf_get_activity_task('ask')");
		Time::HiRes::sleep(0.1);
	}
	isnt($task, '', "a timer goes off and an activity is handed out in $database");
	$node->safe_psql($database, "SELECT sf_send_task_success('$task', '{}')");
	is($node->safe_psql($database, "SELECT sf_await('flow:x', '180 s')"), 'SUCCEEDED', '... and its answer taken');
}
# It may be on its way from one database to another.
ok($node->poll_query_until('postgres',
	"SELECT count(*) = 4 FROM pg_stat_activity WHERE backend_type = 'sfflow worker'"),
	'that is one process');
ok($node->poll_query_until('postgres', "SELECT job_status = 'running' FROM sf_jobs WHERE execution_id = 'nap-c:waits'"),
	'a task that used to be short is announced');
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_workers WHERE role = 'keeper'
	AND execution_id IS NOT NULL"), '0',
	'... and not run');

# A database with that process in it can be dropped.
$node->safe_psql('third', q{SELECT sf_start('flow', '{}', 'y')});
ok(patiently($node, 'DROP DATABASE third'), 'a database with it can be dropped');

# A slot that is given back is used.
$node->safe_psql('postgres', q{SELECT sf_stop('nap-b:1'), sf_stop('nap-b:2')});
is($node->safe_psql('postgres', "SELECT sf_await('nap-c:waits', '180 s')"), 'SUCCEEDED',
	'the task runs when a slot is free');
start('second', 'nap-b', 'x', '{"seconds": 0}');
is($node->safe_psql('second', "SELECT sf_await('nap-b:x', '180 s')"), 'SUCCEEDED', '... and one in another database');
ok($node->poll_query_until('postgres', "SELECT ok FROM sf_health WHERE item = 'task slots'"),
	'sf_health is content again');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_workers WHERE role = 'keeper'"),
	'the keeper has left');

# With a limit by default, no task occupies a slot for ever.
$node->safe_psql('postgres', q{SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'});
$node->safe_psql('postgres', "ALTER ROLE a SET sfflow.default_task_timeout = '2s'");
start('postgres', 'nap-a', 'limited', '{"seconds": 3600}');
is($node->safe_psql('postgres', "SELECT sf_await('nap-a:limited', '180 s')"), 'FAILED', 'a task of that owner ends');
like($node->safe_psql('postgres', "SELECT error, cause FROM sf_executions WHERE execution_id = 'nap-a:limited'"),
	qr/^States.Timeout\|.*sfflow\.default_task_timeout, 2 s/, '... with States.Timeout, and says why');
start('postgres', 'nap-b', 'unlimited', '{"seconds": 3}');
is($node->safe_psql('postgres', "SELECT sf_await('nap-b:unlimited', '180 s')"), 'SUCCEEDED',
	'one of another owner does not');
my (undef, undef, $error) = $node->psql('postgres',
	"SET SESSION AUTHORIZATION a; ALTER ROLE a SET sfflow.default_task_timeout = 0");
like($error, qr/permission denied to set parameter "sfflow.default_task_timeout"/, 'the owner cannot lift it');
$node->safe_psql('postgres', q{SET SESSION AUTHORIZATION a; SELECT sf_create_state_machine('own',
	'{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:query", "TimeoutSeconds": 60, "End": true,
	"Parameters": {"Statement": "SELECT set_config(''statement_timeout'', ''0'', false) FROM pg_sleep(4)"}}}}')});
start('postgres', 'own', 'x', '{}');
is($node->safe_psql('postgres', "SELECT sf_await('own:x', '180 s')"), 'SUCCEEDED', 'TimeoutSeconds goes before it');

no_surprises($node, $_) for qw(postgres second);
$node->stop('immediate');
done_testing();
