# sf_drop_state_machine(force) while its executions are started and run: no deadlock, and nothing of
# it is left.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 3\n");
$node->safe_psql('postgres', <<'EOS');
CREATE FUNCTION work(ms integer) RETURNS void LANGUAGE sql AS 'SELECT pg_sleep(ms / 1000.0)';
EOS
my $definition = '{"StartAt": "P", "States": {"P": {"Type": "Map", "ItemsPath": "$.items", "End": true,
	"ItemProcessor": {"StartAt": "W",
	"States": {"W": {"Type": "Task", "Resource": "sql:public.work", "Parameters": {"ms.$": "$"}, "End": true}}}}}}';

my $starts = $node->basedir . '/starts.sql';
append_to_file($starts, qq{SELECT sf_start('doomed', '{"items": [1, 2, 3, 30, 200]}');\n} x 300);

for my $round (1 .. 5)
{
	$node->safe_psql('postgres', "SELECT sf_create_state_machine('doomed', \$\$$definition\$\$)");
	# One session starts executions all the while.
	my $starter = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-f', $starts, '-o',
		'/dev/null' ],
		'2>', \my $err);
	$node->poll_query_until('postgres', "SELECT count(*) >= 20 FROM sf_executions WHERE state_machine = 'doomed'")
	  or die 'nothing starts';
	my ($rc, undef, $stderr) = $node->psql('postgres', "SELECT sf_drop_state_machine('doomed', true)");
	is($rc, 0, "round $round: the machine is dropped") or diag $stderr;
	$starter->finish;
	unlike($err, qr/deadlock/, "round $round: who starts it meanwhile is told that it is not there");
}

# What workers had in their hands goes when they look at it again.
$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.branch')
  or die 'branches are left';
is($node->safe_psql('postgres', 'SELECT count(*) FROM _sfflow.execution'), '0', 'no execution is left');
is($node->safe_psql('postgres', 'SELECT problem, detail FROM sf_check()'), '', 'sf_check has nothing to say');
unlike(slurp_file($node->logfile), qr/deadlock detected/, 'no deadlock');
$node->stop;
done_testing();
