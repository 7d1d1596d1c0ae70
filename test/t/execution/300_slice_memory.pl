# An execution that does not rest for a hundred thousand steps takes no more memory of its worker than a few thousand of
# them need: a slice is committed when its steps have taken so much, however much time it has.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep);

my $most_growth = 48 * 1024;	# kB
my $node = new_node('main', conf => "sfflow.slice_ms = 10s\nfsync = off\n");
$node->safe_psql('postgres', q{SELECT sf_create_state_machine('loop', '{"StartAt": "A", "States": {
	"A": {"Type": "Pass", "Next": "B"},
	"B": {"Type": "Choice", "Choices": [{"Variable": "$.end", "IsPresent": true, "Next": "C"}], "Default": "A"},
	"C": {"Type": "Succeed"}}}', options => '{"history": "TASKS"}'),
	sf_create_state_machine('short', '{"StartAt": "C", "States": {"C": {"Type": "Succeed"}}}')});

# The memory of its own that the worker with the most has, kB.
sub most
{
	my $most = 0;
	for my $pid (split /\n/, $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'sfflow worker'"))
	{
		my ($kb) = eval { slurp_file("/proc/$pid/status") =~ /^RssAnon:\s+(\d+) kB/m } or next;
		$most = $kb if $kb > $most;
	}
	return $most;
}

$node->safe_psql('postgres', q{SELECT sf_start('short')});
ended($node);
my $before = most();
$node->safe_psql('postgres', q{SELECT sf_start('loop', '{}', 'endless')});
my ($steps, $most) = (0, 0);
until ($steps >= 100_000)
{
	my $now = most();
	$most = $now if $now > $most;
	$steps = $node->safe_psql('postgres', 'SELECT max(transitions) FROM _sfflow.branch');
	sleep 0.02;
}
cmp_ok($most - $before, '<', $most_growth, "a worker has grown from $before to $most kB in $steps steps");
$node->safe_psql('postgres', q{SELECT sf_stop('loop:endless')});
ended($node);
$node->stop;
done_testing();
