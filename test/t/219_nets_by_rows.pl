# Nets whose jobs have rows: how much of the index of children a job reads does not grow with the number of jobs, with
# or without a limit of how many run at once.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
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
-- Entries of the index of a branch's children that were read.
CREATE VIEW reads AS SELECT idx_tup_read AS n FROM pg_stat_user_indexes
	WHERE indexrelid = '_sfflow.branch_parent'::regclass;
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

for my $net ('{}', '{"MaxConcurrency": 5}')
{
	my $name = $net eq '{}' ? 'free' : 'limited';
	# The large net comes first: in a table of few pages PostgreSQL 17 finds the jobs that go at the end by the primary
	# key, which is not counted, and in a larger one by this index.
	my $large = reads_per_job("$name-large", 1500, 150, $net);
	my $small = reads_per_job("$name-small", 100, 10, $net);
	cmp_ok($small, '<', 10, sprintf '%s: a job of 100 reads %.1f entries', $net, $small);
	# Each job is read once for the outputs of the net and once when it goes, and with it an entry of a dead row, unless
	# that is marked by then: up to two more. Jobs that looked at all those that wait would read dozens each.
	cmp_ok($large, '<', $small + 2.5, sprintf '%s: a job of 1500 reads %.1f', $net, $large);
}
$node->stop;
done_testing();
