# Long tasks: visible while they run, out of everybody's way, stopped within a second.
#
# Runs alone: it measures times.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', <<'EOC');
shared_preload_libraries = 'sfflow'
max_worker_processes = 16
# A short task that a busy machine delays by more than this counts as long, and waits for a slot as those do.
sfflow.slice_ms = 1000
EOC
$node->start;

$node->safe_psql('postgres', <<'EOC');
CREATE EXTENSION sfflow;
CREATE TABLE ledger (at timestamptz DEFAULT clock_timestamp(), what text);
CREATE FUNCTION slow(name text, seconds float8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.ledger (what) VALUES (name);
	PERFORM pg_catalog.pg_sleep(seconds);
END $$;
CREATE FUNCTION quick(name text) RETURNS void LANGUAGE sql AS
	$$ INSERT INTO public.ledger (what) VALUES (name) $$;

CREATE TABLE parent (id integer PRIMARY KEY);
CREATE TABLE child (id integer, parent integer REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
CREATE FUNCTION refused() RETURNS void LANGUAGE sql AS $$ INSERT INTO public.child VALUES (1, 1) $$;
SELECT sf_create_state_machine('slow',
	'{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "sql:public.slow", "End": true}}}');
SELECT sf_create_state_machine('quick',
	'{"StartAt": "Q", "States": {"Q": {"Type": "Task", "Resource": "sql:public.quick", "End": true}}}');
SELECT sf_create_state_machine('timer', '{"StartAt": "W", "States": {
	"W": {"Type": "Wait", "SecondsPath": "$.seconds", "Next": "Q"},
	"Q": {"Type": "Task", "Resource": "sql:public.quick", "Parameters": {"name.$": "$.name"}, "End": true}}}');
EOC

sub start
{
	my ($machine, $name, $input) = @_;
	return $node->safe_psql('postgres', "SELECT sf_start('$machine', '$input', '$name')");
}

sub sql { return $node->safe_psql('postgres', shift) }

# Make the extension in a database, and start a task that sleeps.
sub sleep_in
{
	my $database = shift;
	$node->safe_psql($database, <<'EOC');
CREATE EXTENSION sfflow;
SELECT sf_create_state_machine('sleep', '{"StartAt": "S", "States": {"S": {"Type": "Task",
	"Resource": "sql:query", "Parameters": {"Statement": "SELECT pg_sleep(3600)"}, "End": true}}}');
SELECT sf_start('sleep');
EOC
	return;
}

# As many long tasks as there may be, one that has to wait, and something new that does not.
start('slow', "s$_", qq({"name": "s$_", "seconds": 3600})) for 1 .. 5;
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 4 FROM sf_jobs WHERE id LIKE 's_' AND job_status = 'running'
		   AND execution_id IN (SELECT execution_id FROM sf_workers WHERE role = 'task')"),
	'four long tasks run at once');

start('quick', 'q', '{"name": "q"}');
is(sql("SELECT sf_await('quick:q', '180 s')"), 'SUCCEEDED', 'a task that never ran does not wait for them');
# A busy machine may slow one try down, here and below.
my $took;
for my $try (1 .. 4)
{
	start('timer', "t$try", '{"name": "t", "seconds": 1}');
	is(sql("SELECT sf_await('timer:t$try', '180 s')"), 'SUCCEEDED', "a timer goes off, try $try");
	$took = sql("SELECT extract(epoch FROM stopped_at - started_at) FROM sf_executions
		WHERE execution_id = 'timer:t$try'");
	last if $took < 1.5;
}
cmp_ok($took, '<', 1.5, '... on time');
sql("SELECT sf_start('quick', '{\"name\": \"r\"}', 'r' || n) FROM generate_series(1, 50) n");
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 51 FROM sf_executions WHERE state_machine = 'quick' AND status = 'SUCCEEDED'"),
	'fifty more run beside them');
is(sql("SELECT count(*) FROM sf_workers WHERE role = 'task' AND execution_id IS NOT NULL"),
	'4', 'the limit holds for what is known to be long');

# Stopping one: its effects are gone, its place is taken by the one that waited.
for my $try (1 .. 4)
{
	my $running = sql("SELECT min(execution_id) FROM sf_workers WHERE role = 'task' AND execution_id LIKE 'slow:%'");
	my $waiting = sql("SELECT execution_id FROM sf_executions WHERE state_machine = 'slow' AND status = 'RUNNING'
		AND execution_id NOT IN (SELECT execution_id FROM sf_workers WHERE execution_id IS NOT NULL)");
	sql("SELECT sf_stop('$running')");
	ok( $node->poll_query_until('postgres',
			"SELECT count(*) = 0 FROM sf_workers WHERE execution_id = '$running'"),
		"a task that was stopped ends, try $try");
	$took = sql("SELECT extract(epoch FROM clock_timestamp() - stopped_at) FROM sf_executions
		WHERE execution_id = '$running'");
	ok( $node->poll_query_until('postgres',
			"SELECT count(*) = 1 FROM sf_workers WHERE execution_id = '$waiting'"),
		'the one that waited takes its place');
	last if $took < 1;
	start('slow', "s$_", qq({"name": "s$_", "seconds": 3600})) for 5 + $try;
}
cmp_ok($took, '<', 1, '... within a second');
is(sql("SELECT count(*) FROM ledger WHERE what LIKE 's_'"), '0', 'nothing of them is visible');

# An administrator's cancel is not a stop: the task runs again.
my ($pid, $other) = split /\|/,
  sql("SELECT pid, execution_id FROM sf_workers WHERE execution_id LIKE 'slow:%' LIMIT 1");
my $steps = sql("SELECT steps FROM sf_workers WHERE pid = $pid");
sql("SELECT pg_cancel_backend($pid)");
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM sf_workers WHERE (pid <> $pid OR steps > $steps) AND execution_id = '$other'"),
	'a task that an administrator cancelled runs again');
is(sql("SELECT status FROM sf_executions WHERE execution_id = '$other'"), 'RUNNING', '... and its execution goes on');

# A worker that is terminated in a task: somebody else takes it up.
$pid = sql("SELECT pid FROM sf_workers WHERE execution_id = '$other'");
sql("SELECT pg_terminate_backend($pid)");
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM sf_workers WHERE pid <> $pid AND execution_id = '$other'"),
	'a task whose worker was terminated is taken up by another one');

# A database with long tasks in it can be dropped.
sql("SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'");
is(sql("SELECT count(*) FROM sf_executions WHERE status = 'RUNNING'"), '0', 'all are stopped');
sql('CREATE DATABASE work');
sleep_in('work');
ok( $node->poll_query_until('work', "SELECT count(*) = 1 FROM sf_workers WHERE execution_id IS NOT NULL"),
	'a long task runs in a database');
my $begin;
for my $try (1 .. 4)
{
	$begin = time;
	$node->safe_psql('work', 'DROP EXTENSION sfflow');
	$took = time - $begin;
	sleep_in('work');
	ok( $node->poll_query_until('work', "SELECT count(*) = 1 FROM sf_workers WHERE execution_id IS NOT NULL"),
		'... and made again, which is driven again');
	last if $took <= 2;
}
cmp_ok($took, '<=', 2, '... whose extension can be dropped');
for my $try (1 .. 4)
{
	$begin = time;
	my $is_gone = $node->psql('postgres', 'DROP DATABASE work') == 0;
	$took = $is_gone ? time - $begin : 'inf';
	last if $took <= 1;
	sql('CREATE DATABASE work') if $is_gone;
	sleep_in('work') if $is_gone;
	$node->poll_query_until('work', "SELECT count(*) = 1 FROM sf_workers WHERE execution_id IS NOT NULL")
	  or die 'no task runs';
}
cmp_ok($took, '<=', 1, '... that can be dropped within a second');

# What fails at commit finds its branch; those of the same slice are not harmed.
sql(<<'EOC');
SELECT sf_create_state_machine('refused',
	'{"StartAt": "R", "States": {"R": {"Type": "Task", "Resource": "sql:public.refused", "End": true}}}');
SELECT sf_start('quick', '{"name": "u"}', 'u' || n) FROM generate_series(1, 5) n;
SELECT sf_start('refused', '{}', 'x');
SELECT sf_start('quick', '{"name": "v"}', 'v' || n) FROM generate_series(1, 5) n;
EOC
is(sql("SELECT sf_await('refused:x', '180 s')"), 'FAILED', 'a deferred constraint fails its execution');
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 61 FROM sf_executions WHERE state_machine = 'quick' AND status = 'SUCCEEDED'"),
	'... and nobody else\'s');
is(sql("SELECT count(*) FROM ledger WHERE what IN ('u', 'v')"), '10', '... each once');
is(sql('SELECT count(*) FROM child'), '0', '... without what it did');
is(sql('SELECT count(*) FROM sf_check()'), '0', 'the tables are in order');

$node->stop;
done_testing();
