# An open transaction that has switched driving on, or made the first state machine, keeps no lock that other
# databases of the cluster wait for.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('enables');
$node->safe_psql('postgres', "CREATE DATABASE $_") for 'one', 'two';
$node->safe_psql($_, 'CREATE EXTENSION sfflow; CREATE ROLE maker_of_' . $_ . ' LOGIN') for 'one', 'two';
my $create = q{SELECT sf_create_state_machine('pass',
	'{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}')};

# Run a statement in a database; false when it is not done after a minute.
sub is_done
{
	my ($database, $statement, @params) = @_;
	my $timed_out = 0;
	my ($code, $out, $err) = $node->psql($database, $statement, timeout => 60, timed_out => \$timed_out,
		extra_params => \@params);
	note($err) if $err;
	return !$timed_out && $code == 0;
}

my $maker = $node->background_psql('one', extra_params => [ '-U', 'maker_of_one' ]);
$maker->query_safe("BEGIN; $create");
ok(is_done('two', 'NOTIFY elsewhere'), "NOTIFY in another database does not wait for a role's first state machine");
ok(is_done('two', $create, '-U', 'maker_of_two'), 'nor does the first state machine there');
$maker->query_safe('COMMIT');
$maker->quit;

my $operator = $node->background_psql('one');
$operator->query_safe('BEGIN; SELECT sf_enable()');
ok(is_done('two', 'NOTIFY elsewhere; SELECT sf_enable()'), 'nor does either for sf_enable() in one');
$operator->query_safe('COMMIT');
$operator->quit;
is($node->safe_psql($_, q{SELECT detail FROM sf_health WHERE item = 'driven'}), 'this database is driven',
	"$_ is driven") for 'one', 'two';
$node->stop;
done_testing();
