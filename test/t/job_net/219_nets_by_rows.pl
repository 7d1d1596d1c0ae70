# Nets whose jobs have rows: how much of the index of children a job reads does not grow with the number of jobs, with
# or without a limit of how many run at once. Neither does what a Parallel state reads grow with how many there are.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;

# without workers: a session steps through the executions, each step in a transaction of its own
my $node = new_node('main', conf => "shared_preload_libraries = ''\nautovacuum = off\n");
sub sql { return $node->safe_psql('postgres', shift) }
sql(<<'EOS');
-- A net of n jobs, each of which waits for two of those that are from width to two widths before it in the text.
CREATE FUNCTION net(name text, n integer, width integer, net jsonb) RETURNS void LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, json_build_object('StartAt', 'N', 'States', json_build_object('N',
		jsonb_build_object('Type', 'JobNet', 'End', true, 'Jobs', (
			SELECT jsonb_object_agg('J' || i, jsonb_build_object('Type', 'Pass', 'After', (
				SELECT coalesce(jsonb_agg(DISTINCT 'J' || b), '[]')
				FROM (SELECT i - width - (i * k * 7) % width AS b FROM generate_series(1, 2) AS k) AS l WHERE b > 0)))
			FROM generate_series(1, n) AS i)) || net)))
$$;
CREATE PROCEDURE step_through(id text) LANGUAGE plpgsql AS $$
BEGIN
	WHILE EXISTS (SELECT FROM sf_step(id)) LOOP COMMIT; END LOOP;
	PERFORM pg_stat_force_next_flush();
END $$;
-- Entries of the index of a branch's children that were read, and of the key of tasks.
CREATE VIEW reads AS SELECT idx_tup_read AS n FROM pg_stat_user_indexes
	WHERE indexrelid = '_sfflow.branch_parent'::regclass;
CREATE VIEW task_reads AS SELECT idx_tup_read AS n FROM pg_stat_user_indexes
	WHERE indexrelid = '_sfflow.task_pkey'::regclass;
EOS

# Entries that a job of a net of this size has read.
sub reads_per_job
{
	my ($name, $n, $width, $net) = @_;
	sql("SELECT net('$name', $n, $width, '$net')");
	sql("SELECT sf_start('$name', '{}', 'x')");
	my $before = sql('SELECT n FROM reads');
	sql("CALL step_through('$name:x')");
	is(sql("SELECT status FROM sf_executions WHERE execution_id = '$name:x'"), 'SUCCEEDED', "$name ends");
	return (sql('SELECT n FROM reads') - $before) / $n;
}

# Entries that each of n Parallel states in a Map has read, in a session whose plans no longer depend on values.
sub reads_per_state
{
	my ($machine, $reads, $n) = @_;
	my $run = sub {
		"SELECT FROM sf_start('$machine', '[$_[0]]', '$n-$_[1]'); CALL step_through('$machine:$n-$_[1]');";
	};
	my @lines = split /\n/, sql(join '', (map { $run->('1, 2', $_) } 1 .. 10), "SELECT n FROM $reads;",
		$run->(join(',', 1 .. $n), 'x'), "SELECT n FROM $reads");
	my ($before, $after) = grep { $_ ne '' } @lines;
	is(sql("SELECT status FROM sf_executions WHERE execution_id = '$machine:$n-x'"), 'SUCCEEDED',
		"$machine of $n ends");
	return ($after - $before) / $n;
}

# A Map of Parallel states whose branches wait, so that they have rows, which go with each state in a step of its own.
# They come first: the planner takes a table of few pages for one whose executions have few branches.
sql(<<'EOS');
SELECT sf_create_state_machine('map', '{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {
	"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
		{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 0, "End": true}}},
		{"StartAt": "B", "States": {"B": {"Type": "Wait", "Seconds": 0, "End": true}}}]}}}}}}');
EOS
my ($few, $many) = map { reads_per_state('map', 'reads', $_) } 30, 300;
cmp_ok($many, '<', 2 * $few, sprintf 'one of 300 Parallel states reads %.1f entries, of 30 %.1f', $many, $few);

# The same with tasks that nobody has taken when the other branch of their Parallel state fails.
sql(<<'EOS');
SELECT sf_create_activity('desk');
SELECT sf_create_state_machine('tasks', '{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
	"ItemProcessor": {"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
		{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:desk", "End": true}}},
		{"StartAt": "B", "States": {"B": {"Type": "Wait", "Seconds": 0, "Next": "C"}, "C": {"Type": "Fail"}}}],
		"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Q"}]}, "Q": {"Type": "Succeed"}}}}}}');
EOS
($few, $many) = map { reads_per_state('tasks', 'task_reads', $_) } 30, 300;
cmp_ok($many, '<', 2 * $few, sprintf 'one of 300 states with tasks reads %.1f tasks, of 30 %.1f', $many, $few);

for my $net ('{}', '{"MaxConcurrency": 5}')
{
	my $name = $net eq '{}' ? 'free' : 'limited';
	my $small = reads_per_job("$name-small", 100, 10, $net);
	my $large = reads_per_job("$name-large", 1500, 150, $net);
	cmp_ok($small, '<', 10, sprintf '%s: a job of 100 reads %.1f entries', $net, $small);
	# Each job is read once for the outputs of the net and once when it goes, and with it an entry of a dead row, unless
	# that is marked by then: up to two more. Jobs that looked at all those that wait would read dozens each.
	cmp_ok($large, '<', $small + 2.5, sprintf '%s: a job of 1500 reads %.1f', $net, $large);
}
$node->stop;
done_testing();
