# sf_check() reads each row a few times, however many branches are held: what it keeps in CTEs has no statistics, and a
# plan that goes through one of them for each row of another takes minutes beside some ten thousand.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use List::Util qw(max);
use SfTest;
use Test::More;

my $executions = 600;
my $node = new_node('main');
$node->safe_psql('postgres', <<"SQL");
SELECT sf_create_state_machine('m', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}'), sf_hold('m');
SELECT count(sf_start('m')) FROM generate_series(1, $executions);
SQL
ok($node->poll_query_until('postgres', "SELECT count(*) = $executions FROM _sfflow.parked"), 'all are held');

# The query of the function, with its settings.
my $plan = JSON::PP::decode_json($node->safe_psql('postgres', q{
	SELECT 'SET ' || replace(setting, '=', ' TO ') || ';'
	FROM pg_proc p, unnest(p.proconfig) AS setting WHERE p.proname = 'sf_check'
	UNION ALL SELECT 'EXPLAIN (ANALYZE, FORMAT JSON) ' || p.prosrc FROM pg_proc p WHERE p.proname = 'sf_check'
	\gexec}) =~ s/^SET\n//gmr);
my @nodes = ($plan->[0]{Plan});
my ($most, $where) = (0, '');
while (my $step = shift @nodes)
{
	push @nodes, @{ $step->{Plans} // [] };
	my $rows = $step->{'Actual Loops'} * max($step->{'Actual Rows'}, $step->{'Rows Removed by Join Filter'} // 0,
		$step->{'Rows Removed by Filter'} // 0);
	($most, $where) = ($rows, join ' ', grep { defined } @$step{ 'Node Type', 'CTE Name', 'Relation Name' })
	  if $rows > $most;
}
cmp_ok($most, '<', 20 * $executions, "no step of its plan reads a row for each of the others ($where)");
is($node->safe_psql('postgres', 'SELECT * FROM sf_check()'), '', 'and nothing is wrong');
$node->stop;
done_testing();
