# A redrive, and a stop, of a Distributed Map with many children takes no more memory than a few of them need: what a
# child took is freed before the next one is read.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep);

my $most_growth = 8 * 1024;	# kB
my $children = 6000;
my $node = new_node('main', conf => "fsync = off\n");
$node->safe_psql('postgres', q{SELECT sf_create_activity('never'),
	sf_create_state_machine(name, format('{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
		"ItemsPath": "$.items", "ToleratedFailurePercentage": %s,
		"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "I", "States": {"I": %s}}}}}', most,
		item)::json)
	FROM (VALUES ('fails', 99, '{"Type": "Fail", "Error": "E"}'), ('tolerates', 100, '{"Type": "Fail", "Error": "E"}'),
		('waits', 0, '{"Type": "Task", "Resource": "activity:never", "End": true}')) AS m (name, most, item)});

# Memory of its own that a session has, kB, at most while it runs a statement; and before.
sub growth_of
{
	my $sql = shift;
	my $session = $node->background_psql('postgres');
	# what it needs once, for plans and caches
	$session->query_safe("SELECT count(*) FROM sf_executions WHERE execution_id = 'none'");
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	my $kb = sub { slurp_file("/proc/$pid/status") =~ /^RssAnon:\s+(\d+) kB/m ? $1 : 0 };
	my ($before, $most) = ($kb->()) x 2;
	$session->query_until(qr/^begun$/m, "\\echo begun\n$sql;\n\\echo over\n");
	until ($session->{stdout} =~ /^over$/m)
	{
		my $now = $kb->();
		$most = $now if $now > $most;
		$session->{run}->pump_nb;
		sleep 0.01;
	}
	$session->quit;
	return $most - $before;
}

# Start the Map of a machine over all items.
sub start_map
{
	my $machine = shift;
	return $node->safe_psql('postgres', "SELECT sf_start('$machine', jsonb_build_object('items', (SELECT
		jsonb_agg(n) FROM generate_series(1, $children) AS n)), 'x')");
}

for my $machine ('fails', 'tolerates')
{
	start_map($machine);
	ok(ended($node), "$machine: a Map has ended");
	cmp_ok($node->safe_psql('postgres', "SELECT failed FROM sf_map_runs WHERE execution_id = '$machine:x'"), '>',
		0.9 * $children, '... whose children have failed');
	cmp_ok(growth_of("SELECT sf_redrive('$machine:x')"), '<', $most_growth,
		'... and its redrive takes little memory (kB)');
	ok(ended($node), 'the redriven children have ended');
}
start_map('waits');
ok($node->poll_query_until('postgres',
	"SELECT running >= 1000 FROM sf_map_runs WHERE execution_id = 'waits:x'"), 'the children of another Map run');
cmp_ok(growth_of("SELECT sf_stop('waits:x')"), '<', $most_growth, '... and their stop takes little memory (kB)');
ok(ended($node), 'they have ended');
is($node->safe_psql('postgres', 'SELECT * FROM sf_check()'), '', 'all is sound');
$node->stop;
done_testing();
