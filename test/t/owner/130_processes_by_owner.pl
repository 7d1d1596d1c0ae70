# Slots are shared by owner and database: an owner whose tasks sleep, whether they used to be short or have never
# run, stops no other owner, no other database, and not its own timers.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.poll_interval = 3600\n");
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION sfflow');
my $timer = q({"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 1, "Next": "Choice"},
	"Choice": {"Type": "Choice", "Default": "End",
		"Choices": [{"Variable": "$.seconds", "NumericLessThan": 0, "Next": "End"}]},
			"End": {"Type": "Pass", "End": true}}});
$node->safe_psql('postgres', "CREATE ROLE $_ LOGIN; GRANT CREATE ON DATABASE postgres TO $_") for qw(sleepy lively);
make_machines('postgres', 'sleepy', 'nap', 'timer', map { "new$_" } 1 .. 12);
make_machines('postgres', 'lively', 'known', 'new', 'later');
make_machines('other', undef, 'known', 'new', 'later');

# Have a role make machines: timers, and tasks that sleep.
sub make_machines
{
	my ($database, $role, @names) = @_;
	my $schema = $role // 'public';
	my $sql = $role ? "SET SESSION AUTHORIZATION $role; CREATE SCHEMA $role;" : '';
	$sql .= "CREATE FUNCTION $schema.nap(seconds float8) RETURNS void LANGUAGE sql AS 'SELECT pg_sleep(seconds)';";
	my $prefix = $role // 'public';
	for my $name (@names)
	{
		my $definition = $name eq 'timer' ? $timer : one_task("$schema.nap");
		$sql .= "SELECT sf_create_state_machine('$prefix-$name', '$definition');";
	}
	return $node->safe_psql($database, $sql);
}

# Start an execution.
sub start
{
	my ($database, $machine, $name, $seconds) = @_;
	return $node->safe_psql($database, qq{SELECT sf_start('$machine', '{"seconds": $seconds}', '$name')});
}

# Wait for the end of an execution, with which it should end well.
sub succeeds
{
	my ($database, $id, $test) = @_;
	return is($node->safe_psql($database, "SELECT sf_await('$id', '180 s')"), 'SUCCEEDED', $test);
}

# Everybody but the sleepers gets on.
sub all_get_on
{
	my ($round, $case) = @_;
	start('postgres', 'lively-known', $round, 0);
	succeeds('postgres', "lively-known:$round", "$case: a short task of another owner runs");
	my $new = $round eq 'short' ? 'new' : 'later';
	start('postgres', "lively-$new", $round, 0);
	succeeds('postgres', "lively-$new:$round", "$case: a task of another owner that has never run runs");
	start('other', 'public-known', $round, 0);
	succeeds('other', "public-known:$round", "$case: a short task in another database runs");
	start('other', "public-$new", $round, 0);
	succeeds('other', "public-$new:$round", "$case: a new task in another database runs");
	start('postgres', 'sleepy-timer', $round, 0);
	succeeds('postgres', "sleepy-timer:$round", "$case: timers of the sleepers' owner go off");
	return;
}

# What sf_health says about slots, to a role.
sub health
{
	my $role = shift;
	return $node->safe_psql('postgres', "SET SESSION AUTHORIZATION $role; SELECT ok, detail FROM sf_health
		WHERE item = 'task slots'");
}

# Tasks that are known to be short.
for my $known ([ 'postgres', 'sleepy-nap' ], [ 'postgres', 'lively-known' ], [ 'other', 'public-known' ])
{
	my ($database, $machine) = @$known;
	for my $n (1 .. 2)
	{
		start($database, $machine, "learn$n", 0);
		succeeds($database, "$machine:learn$n", "$machine is known to be short");
	}
}

# Eight that were short sleep now.
start('postgres', 'sleepy-nap', "sleep$_", 3600) for 1 .. 8;
ok($node->poll_query_until('postgres', 'SELECT occupied >= 4 FROM _sfflow.task_slots()'), 'tasks overrun');
all_get_on('short', 'beside tasks that used to be short');
ok($node->poll_query_until('postgres', "SELECT occupied = 5 AND remark ~ 'has its share' FROM _sfflow.task_slots()"),
	'one owner holds as many slots as it may, and the others of its tasks wait');
like(health('sleepy'), qr/^t\|5 of 8 .*sleepy's sleepy-nap:sleep\d at T for .*tasks wait whose owner has its share: 5/s,
	'sf_health tells the owner which executions occupy slots, and why others wait');
unlike(health('lively'), qr/sleepy/, '... and nobody else');
like(health('lively'), qr/5 of them in other databases or of other owners/, '... who sees how many they are');
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_workers WHERE holds_slot AND owner = 'sleepy'::regrole"), '5',
	'sf_workers shows who holds them');
$node->safe_psql('postgres', "SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'");
ok($node->poll_query_until('postgres', 'SELECT occupied = 0 FROM _sfflow.task_slots()'), 'a stop gives them back');

# Those that waited have not been forgotten.
start('postgres', 'sleepy-nap', "short$_", 3) for 1 .. 8;
succeeds('postgres', "sleepy-nap:short$_", 'what waited for its owner to give a slot back runs') for 1 .. 8;

# Twelve that have never run sleep.
start('postgres', "sleepy-new$_", 'sleep', 3600) for 1 .. 12;
ok($node->poll_query_until('postgres', 'SELECT occupied >= 4 FROM _sfflow.task_slots()'), 'new tasks occupy slots');
all_get_on('new', 'beside tasks that had never run');
cmp_ok($node->safe_psql('postgres', 'SELECT occupied FROM _sfflow.task_slots()'), '<=', 5,
	'one owner holds as many slots as it may');

# Fewer, when the setting says so.
$node->safe_psql('postgres', "SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'");
ok($node->poll_query_until('postgres', 'SELECT occupied = 0 FROM _sfflow.task_slots()'), 'a stop gives them back');
# Not by a reload, which each process comes to in its own time.
$node->append_conf('postgresql.conf', "sfflow.max_running_tasks_per_owner = 2\n");
$node->restart;
start('postgres', 'sleepy-nap', "first$_", 3600) for 1 .. 2;
ok($node->poll_query_until('postgres', 'SELECT occupied = 2 FROM _sfflow.task_slots()'), 'two tasks run');
start('postgres', 'sleepy-nap', "two$_", 3) for 1 .. 6;
my $most = 0;
for my $look (1 .. 20)
{
	my $now = $node->safe_psql('postgres', 'SELECT occupied FROM _sfflow.task_slots()');
	$most = $now if $now > $most;
}
$node->safe_psql('postgres', "SELECT sf_stop('sleepy-nap:first1'), sf_stop('sleepy-nap:first2')");
until ($node->safe_psql('postgres', q{SELECT count(*) = 6 FROM sf_executions WHERE name LIKE 'two%'
	AND status = 'SUCCEEDED'}) eq 't')
{
	my $now = $node->safe_psql('postgres', 'SELECT occupied FROM _sfflow.task_slots()');
	$most = $now if $now > $most;
}
is($most, 2, 'sfflow.max_running_tasks_per_owner holds');

no_surprises($node, $_) for qw(postgres other);
$node->stop('immediate');
done_testing();
