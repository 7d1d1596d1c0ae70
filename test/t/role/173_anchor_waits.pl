# A role that has given another one a right, and taken it back, in a transaction that stays open keeps the
# other one from nothing; whatever way the transaction ends, a role that owns something cannot be dropped.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('anchors');
my $definition = q{'{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}'};
$node->safe_psql('postgres', "CREATE ROLE giver LOGIN; SET ROLE giver;
	SELECT sf_create_state_machine('gift', $definition)");

for my $end ('COMMIT', 'ROLLBACK')
{
	my $role = 'other_' . lc $end;
	$node->safe_psql('postgres', "CREATE ROLE $role LOGIN; CREATE ROLE ${role}_too LOGIN");
	$node->safe_psql('postgres', "SELECT sf_grant('READ', 'gift', '$role')");
	my $giver = $node->background_psql('postgres', extra_params => [ '-U', 'giver' ]);
	$giver->query_safe("BEGIN; SELECT sf_grant('READ', 'gift', '${role}_too'), sf_revoke('READ', 'gift', '${role}_too'),
		sf_revoke('READ', 'gift', '$role')");
	for my $other ($role, "${role}_too")
	{
		my $timed_out = 0;
		$node->psql('postgres', "SELECT sf_create_state_machine('$other', $definition)", timeout => 60,
			timed_out => \$timed_out,
			extra_params => [ '-U', $other ]);
		ok(!$timed_out, "$other makes a state machine while the giver's transaction is open");
	}
	$giver->query_safe($end);
	$giver->quit;
	for my $other ($role, "${role}_too")
	{
		my ($code, $out, $err) = $node->psql('postgres', "DROP ROLE $other");
		like($err, qr/cannot be dropped/, "$other cannot be dropped after $end");
		$node->safe_psql('postgres', "SELECT sf_drop_state_machine('$other')");
		$node->safe_psql('postgres', "SELECT sf_revoke('READ', 'gift', '$other')");
		is(($node->psql('postgres', "DROP ROLE $other"))[0], 0, "$other can be dropped when it owns nothing");
	}
}
$node->stop;
done_testing();
