# A stop in the moment between the claim of a branch and the begin of its short task, and in that of the begin: the task
# ends, though it would take minutes; other executions are not harmed.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.poll_interval = 3600\nsfflow.workers = 1\nsfflow.max_workers = 1\n");
sub sql { return $node->safe_psql('postgres', shift) }

# What runs as short, as the last one did, and takes as long as it is told to.
sql(<<'EOS');
CREATE FUNCTION work(ms float) RETURNS void LANGUAGE sql VOLATILE AS 'SELECT pg_sleep(ms / 1000)';
SELECT sf_create_state_machine('m', '{"StartAt": "S", "States":
	{"S": {"Type": "Task", "Resource": "sql:public.work", "End": true}}}');
SELECT sf_create_state_machine('w', '{"StartAt": "W", "States":
	{"W": {"Type": "Wait", "Seconds": 3600, "End": true}}}');
EOS

my $session = $node->background_psql('postgres');

# Have the worker wait at a point in the next step.
sub hold_at
{
	my $point = shift;
	sql('SELECT sf_await(' . sql("SELECT quote_literal(sf_start('m', '{\"ms\": 0}'))") . ')') for 1 .. 3;
	$session->query_safe("SELECT pg_advisory_lock(hashtextextended('$point', 0))");
	sql("ALTER SYSTEM SET sfflow.debug_point = '$point:wait'");
	sql('SELECT pg_reload_conf()');
	sql("SELECT pg_terminate_backend(pid) FROM sf_workers WHERE role IN ('worker', 'task')");
}

# Wait until it does.
sub worker_waits
{
	return $node->poll_query_until('postgres',
		"SELECT count(*) > 0 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		 WHERE l.locktype = 'advisory' AND NOT l.granted AND a.backend_type = 'sfflow worker'");
}

sub let_go
{
	my $point = shift;
	sql('ALTER SYSTEM RESET sfflow.debug_point');
	sql('SELECT pg_reload_conf()');
	$session->query_safe("SELECT pg_advisory_unlock(hashtextextended('$point', 0))");
}

# The only worker has time for another execution, which it would not have for ten minutes.
sub worker_is_free
{
	my ($n, $what) = @_;
	sql("SELECT sf_start('m', '{\"ms\": 0}', 'after$n')");
	ok( $node->poll_query_until('postgres',
			"SELECT status = 'SUCCEEDED' FROM sf_executions WHERE execution_id = 'm:after$n'"), $what);
	is(sql("SELECT status FROM sf_executions WHERE execution_id = 'm:long$n'"), 'ABORTED', '... and the execution');
}

my $n = 0;
for my $point ('step_comes', 'step_noted')
{
	$n++;
	hold_at($point);
	sql("SELECT sf_start('m', '{\"ms\": 600000}', 'long$n')");
	ok(worker_waits(), "the worker is at $point");
	sql("SELECT sf_stop('m:long$n')");
	let_go($point);
	worker_is_free($n, 'a stop in this moment ends the task');
}

# More stops than are remembered: the first of them is the one that counts.
my $many = 300;
sql("SELECT sf_start('w', '{}', 'w' || i) FROM generate_series(1, 2 * $many) AS i");
$node->poll_query_until('postgres',
	"SELECT count(*) = 2 * $many FROM sf_executions WHERE state_machine = 'w' AND started_at IS NOT NULL") or die;
hold_at('step_comes');
sql("SELECT sf_start('m', '{\"ms\": 600000}', 'long3')");
ok(worker_waits(), 'the worker is about to begin a task');
sql("SELECT sf_stop('m:long3')");
sql("DO \$\$ BEGIN FOR i IN 1 .. $many LOOP PERFORM sf_stop('w:w' || i); COMMIT; END LOOP; END \$\$");
let_go('step_comes');
worker_is_free(3, 'a stop ends the task, though many others have come since');

# A task that was not stopped runs, though as many others were.
hold_at('step_comes');
sql("SELECT sf_start('m', '{\"ms\": 0}', 'other')");
ok(worker_waits(), 'the worker is about to begin a task that is not stopped');
sql("DO \$\$ BEGIN FOR i IN $many + 1 .. 2 * $many LOOP PERFORM sf_stop('w:w' || i); COMMIT; END LOOP; END \$\$");
let_go('step_comes');
is(sql("SELECT sf_await('m:other')"), 'SUCCEEDED', 'stops of others do not harm it');
is(sql('SELECT count(*) FROM sf_check()'), '0', 'the tables are in order');

$session->quit;
$node->stop;
done_testing();
