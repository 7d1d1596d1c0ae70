# What becomes due is picked up at once: by a commit, never before it, and whatever rings no bell by a poll.
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
max_prepared_transactions = 5
max_worker_processes = 16
sfflow.poll_interval = 3600
EOC
$node->start;

$node->safe_psql('postgres', <<'EOC');
CREATE EXTENSION sfflow;
CREATE FUNCTION began() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() $$;
SELECT sf_create_state_machine('m',
	'{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "sql:public.began", "End": true}}}');
SELECT sf_create_state_machine('wait', '{"StartAt": "W", "States": {
	"W": {"Type": "Wait", "SecondsPath": "$.seconds", "Next": "S"},
	"S": {"Type": "Task", "Resource": "sql:public.began", "Parameters": {}, "End": true}}}');
SELECT sf_start('m', '{}', 'first');
EOC
is($node->safe_psql('postgres', "SELECT sf_await('m:first', '180 s')"), 'SUCCEEDED', 'the first one runs');

# From the commit to the task: starts one after the other, each waited for. A busy machine may slow one try down.
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE latency (round integer, ms float8);
CREATE PROCEDURE measure(round integer, n integer) LANGUAGE plpgsql AS $$
DECLARE
	committed timestamptz;
	id text;
BEGIN
	FOR i IN 1 .. n LOOP
		id := sf_start('m', '{}', 'n' || round || '-' || i);
		COMMIT;
		committed := clock_timestamp();
		PERFORM sf_await(id, '180 s');
		INSERT INTO latency SELECT round, extract(epoch FROM (output #>> '{}')::timestamptz - committed) * 1000
			FROM sf_executions WHERE execution_id = id;
		COMMIT;
	END LOOP;
END $$;
EOC
my $latency;
for my $round (1 .. 4)
{
	$latency = $node->safe_psql('postgres', "CALL measure($round, 200);
		SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ms) FROM latency WHERE round = $round");
	last if $latency < 5;
}
cmp_ok($latency, '<', 5, 'from the commit to the task: p50 in milliseconds');
note('p95: ', $node->safe_psql('postgres',
	'SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY ms) FROM latency'));

# Nothing runs before the commit, nothing after a rollback.
my $session = $node->background_psql('postgres');
$session->query_safe("BEGIN; SELECT sf_start('m', '{}', 'open')");
$session->query_safe("SAVEPOINT s; SELECT sf_start('m', '{}', 'undone'); ROLLBACK TO s");
$node->safe_psql('postgres', "SELECT sf_start('m', '{}', 'meanwhile')");
is($node->safe_psql('postgres', "SELECT sf_await('m:meanwhile', '180 s')"), 'SUCCEEDED', 'others run meanwhile');
$session->query_safe('COMMIT');
is($node->safe_psql('postgres', "SELECT sf_await('m:open', '180 s')"), 'SUCCEEDED',
	'a start runs once it is committed');
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE execution_id = 'm:undone'"),
	'0', 'what was rolled back is not there');
$session->quit;

# Timers: the earliest counts, whatever order they were set in.
my $late;
for my $try (1 .. 4)
{
	$node->safe_psql('postgres', <<"EOC");
SELECT sf_start('wait', '{"seconds": 3000}', 'hours$try');
SELECT sf_start('wait', '{"seconds": 2}', 'two$try');
SELECT sf_start('wait', '{"seconds": 1}', 'one$try');
EOC
	is($node->safe_psql('postgres', "SELECT sf_await('wait:two$try', '180 s'), sf_await('wait:one$try', '180 s')"),
		'SUCCEEDED|SUCCEEDED', "timers go off, try $try");
	$late = $node->safe_psql('postgres',
		"SELECT max(abs(extract(epoch FROM (output #>> '{}')::timestamptz - started_at)
			- (input ->> 'seconds')::integer))
		 FROM sf_executions WHERE execution_id IN ('wait:one$try', 'wait:two$try')");
	last if $late < 0.5;
}
cmp_ok($late, '<', 0.5, '... on time');

# A timer that went off while a session had the branch in hand, and then rolled back.
$node->safe_psql('postgres', "SELECT sf_start('wait', '{\"seconds\": 1}', 'tried')");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_history WHERE execution_id = 'wait:tried'
	AND type = 'WaitStateEntered'")
  or die 'the timer is not set';
$node->safe_psql('postgres', <<'EOC');
BEGIN;
SELECT sf_run('wait:tried', skip_waits => true);
SELECT pg_sleep_until(started_at + '1.3 s') FROM sf_executions WHERE execution_id = 'wait:tried';
ROLLBACK;
EOC
is($node->safe_psql('postgres', "SELECT sf_await('wait:tried', '180 s')"), 'SUCCEEDED',
	'what a session let go of goes on');

# A restart forgets all hints; the tables have everything.
$node->safe_psql('postgres', q(SELECT sf_start('wait', '{"seconds": 1}', 'over')));
$node->restart;
is($node->safe_psql('postgres', "SELECT sf_await('wait:over', '180 s')"), 'SUCCEEDED', 'a timer survives a restart');

# The end of a prepared transaction is noticed by any session, also after a crash; a poll would come in an hour.
sub prepare
{
	my ($gid, $sql) = @_;
	$node->safe_psql('postgres', "BEGIN; $sql; PREPARE TRANSACTION '$gid'");
	return;
}
prepare('start', q(SELECT sf_start('m', '{}', 'prepared')));
$node->safe_psql('postgres', "COMMIT PREPARED 'start'");
is($node->safe_psql('postgres', "SELECT sf_await('m:prepared', '180 s')"), 'SUCCEEDED',
	'COMMIT PREPARED wakes a worker');

prepare('crash', q(SELECT sf_start('m', '{}', 'recovered')));
$node->stop('immediate');
$node->start;
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_health WHERE item = 'data directory'
	AND detail LIKE '%, settled'")
  or die 'the server does not settle';
$node->safe_psql('postgres', "COMMIT PREPARED 'crash'");
is($node->safe_psql('postgres', "SELECT sf_await('m:recovered', '180 s')"), 'SUCCEEDED', '... after a crash');

# A slot of a limit: what waits for it goes on when the transaction that ends the task is committed.
$node->safe_psql('postgres', <<'EOC');
SELECT sf_create_activity('desk');
SELECT sf_create_state_machine('tight', '{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "activity:desk",
	"End": true}}}');
SELECT sf_set_limit('tight/S', max_running => 1);
SELECT sf_start('tight', '{}', 'first'), sf_start('tight', '{}', 'second');
EOC
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_limits WHERE in_use = 1 AND waiting = 1")
  or die 'the second execution does not wait';
prepare('slot', q(SELECT sf_stop(execution_id) FROM sf_executions WHERE state_machine = 'tight'
	AND waiting_on LIKE 'task %'));
$node->safe_psql('postgres', "COMMIT PREPARED 'slot'");
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_limits WHERE in_use = 1 AND waiting = 0"),
	'what waits for a limit gets the slot that COMMIT PREPARED gives back');

# A branch that a prepared transaction has locked, and whose timer goes off meanwhile, goes on after a rollback. A busy
# machine may let the timer go off before: then one of another execution that waits longer is locked.
my $locked;
for my $seconds (1, 10, 40)
{
	$locked = "wait:locked$seconds";
	$node->safe_psql('postgres', qq(SELECT sf_start('wait', '{"seconds": $seconds}', 'locked$seconds')));
	prepare('rollback', qq(SELECT sf_stop('$locked')));
	last if $node->safe_psql('postgres',
		"SELECT status FROM sf_executions WHERE execution_id = '$locked'") eq 'RUNNING';
	$node->safe_psql('postgres', "ROLLBACK PREPARED 'rollback'");
}
$node->poll_query_until('postgres', "SELECT clock_timestamp() > started_at
	+ (input ->> 'seconds')::integer * interval '1 s' + '0.3 s' FROM sf_executions WHERE execution_id = '$locked'");
$node->safe_psql('postgres', "ROLLBACK PREPARED 'rollback'");
is($node->safe_psql('postgres', "SELECT sf_await('$locked', '180 s')"), 'SUCCEEDED',
	'ROLLBACK PREPARED wakes a worker');

# The first state machine of a database.
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION sfflow');
$node->safe_psql('other', <<'EOC');
BEGIN;
SELECT sf_create_state_machine('n', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_start('n', '{}', '1');
PREPARE TRANSACTION 'machine';
EOC
$node->safe_psql('other', "COMMIT PREPARED 'machine'");
is($node->safe_psql('other', "SELECT sf_await('n:1', '180 s')"), 'SUCCEEDED',
	'so does that of the transaction that made the first state machine of a database');

# Other prepared transactions wake nobody.
my $scans = "SELECT sum(idx_scan) FROM pg_stat_all_indexes WHERE schemaname = '_sfflow' AND relname = 'branch'";
$node->safe_psql('postgres', 'CREATE TABLE other (i integer)');
# What workers have done before may be counted meanwhile, but not in each try.
my $more;
for (1 .. 5)
{
	my $before = $node->safe_psql('postgres', "SELECT pg_stat_force_next_flush(); $scans");
	for (1 .. 20)
	{
		prepare('other', 'INSERT INTO other VALUES (1)');
		$node->safe_psql('postgres', "COMMIT PREPARED 'other'");
	}
	$more = $node->safe_psql('postgres', "SELECT pg_stat_force_next_flush(); $scans") - $before;
	last if $more < 20;
}
cmp_ok($more, '<', 20,
	'prepared transactions that have nothing to do with sfflow make no worker look');

$node->stop;
done_testing();
