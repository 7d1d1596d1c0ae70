# Workers that an operator terminates together count as one failure: the next ones do not begin a minute later.
#
# Runs alone: it measures times.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;
use Time::HiRes qw(sleep);

my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 8
sfflow.max_workers = 8
max_worker_processes = 20
sfflow.debug_point = 'claim:wait'
EOC
$node->safe_psql('postgres', q{SELECT sf_create_state_machine('p',
	'{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}')});

# They hang where no task has them.
my $session = $node->background_psql('postgres');
$session->query_safe("SELECT pg_advisory_lock(hashtextextended('claim', 0))");
my $hang = "backend_type = 'sfflow worker' AND wait_event_type = 'Lock'";
my $count = 0;
for my $n (1 .. 600)
{
	# each start may ask for one more worker
	$node->safe_psql('postgres', "SELECT sf_start('p', '{}', '$n')");
	$count = $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE $hang");
	last if $count >= 7;
	sleep 0.1;
}
cmp_ok($count, '>=', 7, 'workers hang');
$node->safe_psql('postgres', "ALTER SYSTEM SET sfflow.debug_point = ''");
$node->safe_psql('postgres', 'SELECT pg_reload_conf()');
my $terminated = $node->safe_psql('postgres', "SELECT clock_timestamp() FROM (SELECT count(pg_terminate_backend(pid))
	FROM pg_stat_activity WHERE $hang) t");
$session->quit;
is($node->safe_psql('postgres', "SELECT sf_await('p:1', '180 s')"), 'SUCCEEDED', 'others go on');
cmp_ok($node->safe_psql('postgres', "SELECT extract(epoch FROM min(stopped_at) - '$terminated') FROM sf_executions"),
	'<', 20, '... soon');

$node->stop;
done_testing();
