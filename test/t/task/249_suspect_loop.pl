# A suspect of a crash that loops for ever commits in between, as any other branch does: its steps are stored.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 1\n");
$node->safe_psql('postgres', <<'EOS');
SELECT sf_create_state_machine('loop', '{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 0, "Next": "B"},
	"B": {"Type": "Choice", "Choices": [{"Variable": "$.end", "IsPresent": true, "Next": "C"}], "Default": "A"},
		"C": {"Type": "Succeed"}}}');
SELECT sf_start('loop', '{}', 'x');
EOS

for my $round (1 .. 3)
{
	my $worker = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'sfflow worker'};
	$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM ($worker) AS w") or die 'no worker';
	my $pid = $node->safe_psql('postgres', "$worker LIMIT 1");
	kill 'KILL', $pid;
	wait_gone($pid);
	ok(recovered($node), "the server is back after crash $round");
	my $at = q{SELECT xmin::text FROM _sfflow.execution WHERE execution_id = 'loop:x'};
	my $before = $node->safe_psql('postgres', $at);
	ok($node->poll_query_until('postgres',
		"SELECT xmin::text <> '$before' FROM _sfflow.execution WHERE execution_id = 'loop:x'"),
		'... and steps of the execution are stored');
}

$node->safe_psql('postgres', q{SELECT sf_stop('loop:x')});
is($node->safe_psql('postgres', q{SELECT sf_await('loop:x', '120 s')}), 'ABORTED', 'it can be stopped');
no_surprises($node);
$node->stop;
done_testing();
