# A restart of the server, and a crash, forget how much an owner has running: what runs in the tables counts all the
# same.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();

my $node = new_node('restarts');
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE tenant LOGIN;
ALTER ROLE tenant SET sfflow.max_executions_per_owner = 3;
SET ROLE tenant;
SELECT sf_create_state_machine('waits', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 36000,
	"End": true}}}');
SQL

# Start four executions, one by one; how many the owner has then.
sub running_after_starts
{
	$node->psql('postgres', q{SELECT sf_start('waits')}, extra_params => [ '-U', 'tenant' ]) for 1 .. 4;
	return $node->safe_psql('postgres', q{SELECT count(*) FROM sf_executions WHERE status = 'RUNNING'});
}

is(running_after_starts(), '3', 'an owner gets as many as its quota');
$node->restart;
is(running_after_starts(), '3', 'and no more after a restart');
$node->stop('immediate');
$node->start;
is(running_after_starts(), '3', 'and no more after a crash');
$node->safe_psql('postgres', q{SELECT sf_stop(execution_id) FROM sf_executions LIMIT 1});
# A count that took long, as on a busy machine, is trusted for a while.
my $running = '';
for (1 .. $PostgreSQL::Test::Utils::timeout_default)
{
	$running = running_after_starts();
	last if $running ne '2';
	Time::HiRes::sleep(0.2);
}
is($running, '3', 'what ends makes room');
$node->stop;
done_testing();
