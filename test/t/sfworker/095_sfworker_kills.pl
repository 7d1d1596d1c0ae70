# Workers killed with -9 and a server that crashes on the way: each task's success is recorded once, and
# the times that tasks were handed out add up.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;
use Time::HiRes qw(sleep time);

my $tasks = full(400, 20_000);
my $workers = full(4, 8);
my $kills = full(6, 60);
my $concurrency = 4;

my $node = new_node('main');
$node->safe_psql('postgres', <<'SQL');
SELECT sf_create_activity('shell', '2 s');
SELECT sf_create_state_machine('many', '{"StartAt": "All", "States": {"All": {"Type": "Map", "End": true,
	"ItemProcessor": {"StartAt": "One", "States": {"One": {"Type": "Task", "Resource": "activity:shell",
		"End": true}}}}}}');
SQL

my @logs;

# Start a worker and remember its log.
sub another
{
	my $worker = start_worker($node, '-a', 'shell', '-c', $concurrency);
	push @logs, $worker->{log};
	return $worker;
}

# The number of tasks that have succeeded so far.
sub succeeded
{
	return $node->safe_psql('postgres',
		"SELECT count(*) FROM sf_history WHERE execution_id = 'many:all' AND type = 'ActivitySucceeded'");
}

# Each command says which attempt it is, and takes a moment, so that kills meet it.
$node->safe_psql('postgres', qq[
SELECT sf_start('many', jsonb_agg(jsonb_build_object('Command', 'sleep 0.02; echo "[\$N, \$SFFLOW_ATTEMPT]"', 'Env',
	jsonb_build_object('N', n))), 'all')
FROM generate_series(1, $tasks) AS n]);
my @crew = map { another() } 1 .. $workers;
srand 4711;
for my $kill (1 .. $kills)
{
	# Kills are spread over the whole run.
	my $until = int($tasks * $kill / ($kills + 2));
	wait_for("$until have succeeded", sub { succeeded() >= $until }, 600) or last;
	if ($kill == int(($kills + 1) / 2))
	{
		$node->stop('immediate');
		start_again($node);
	}
	my $victim = int rand @crew;
	is(stop_worker($crew[$victim], 'KILL'), 'signal 9', "worker killed when $until had succeeded");
	$crew[$victim] = another();
}
ok(wait_for('the end', sub { $node->safe_psql('postgres', "SELECT sf_await('many:all', '30 s')") ne 'RUNNING' }, 1200),
	'the execution ends');

is($node->safe_psql('postgres', "SELECT status FROM sf_executions WHERE name = 'all'"), 'SUCCEEDED', 'as it should');
is($node->safe_psql('postgres', qq[
	SELECT count(*), count(DISTINCT r->0), min((r->>0)::int), max((r->>0)::int)
	FROM sf_executions, jsonb_array_elements(output) AS r WHERE name = 'all']), "$tasks|$tasks|1|$tasks",
		'every task has its result');
is(succeeded(), $tasks, 'each success is recorded once');
my $handed_out = $node->safe_psql('postgres',
	"SELECT sum((r->>1)::int) FROM sf_executions, jsonb_array_elements(output) AS r WHERE name = 'all'");
is(stop_worker($_), 0, 'a worker leaves') for @crew;
my $begun = 0;
$begun += () = slurp_file($_) =~ /task begins/g for @logs;
# A worker may die, or lose its connection, between the claim and its first line about it.
cmp_ok($handed_out, '>=', $begun, 'what was begun was handed out');
cmp_ok($handed_out, '<=', $begun + $concurrency * ($kills + $workers),
	'and what was handed out was begun, but for those that died before');
cmp_ok($handed_out, '>', $tasks, 'kills have met tasks');
unlike(slurp_file($_), qr/one by one sqlstate=42/, 'answers go together') for @logs;
is($node->safe_psql('postgres', 'SELECT queued, in_flight FROM sf_activities'), '0|0', 'nothing is left');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables are as they must be');
$node->stop;
done_testing();
