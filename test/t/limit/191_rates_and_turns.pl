# More values of a key wait than one look at the queues has room for: each gets its turn. Rates: never more begin in a
# time than a rate allows, whatever crashes.
# needs: limit
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

# A machine that runs an activity, and so many values of a key of which each has one that runs and one that waits.
my $desk = <<'EOS';
SELECT sf_create_activity('desk'), sf_create_activity('last');
SELECT sf_create_state_machine('desk', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:desk",
	"End": true}}}');
SELECT sf_create_state_machine('last', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:last",
	"End": true}}}');
SELECT sf_set_limit('desk', key => '$.tenant', max_running => 1);
SELECT sf_set_limit('last', max_running => 1);
EOS
my $answer = "SELECT sf_send_task_success(task_token, '{}') FROM sf_get_activity_task('activity:last', 'w')";

# A redriven Parallel state with a limit, of which one branch has taken the slot for the state, and the other one is
# left in the queue: as after the rollback of a session that had claimed it while the first one told the others.
my $again = <<'EOS';
SELECT sf_create_activity('again');
SELECT sf_create_state_machine('again', '{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true,
	"Branches": [
	{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:again", "End": true}}},
	{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "activity:again", "End": true}}}]}}}');
SELECT sf_set_limit('again/P', max_running => 1);
SELECT sf_start('again', '{}', '1'), sf_run('again:1');
SELECT sf_send_task_failure(task_token, 'Broken', 'as asked') FROM sf_get_activity_task('activity:again', 'w');
SELECT sf_run('again:1'), sf_start('again', '{}', '2'), sf_run('again:2'), sf_redrive('again:1'), sf_run('again:1');
CREATE TABLE left_over AS SELECT w.* FROM _sfflow.parked w
	WHERE w.object_no = (SELECT l.limit_no FROM _sfflow.run_limit l WHERE l.name = 'again')
	ORDER BY w.branch_no DESC LIMIT 1;
BEGIN;
DELETE FROM _sfflow.parked w USING left_over l WHERE w.execution_no = l.execution_no AND w.branch_no = l.branch_no;
SELECT sf_stop('again:2'), sf_run('again:1');
INSERT INTO _sfflow.parked SELECT * FROM left_over;
COMMIT;
EOS
my $again_waits = "SELECT in_use || ' ' || waiting FROM sf_limits WHERE target = 'again/P'";

# --- without preloading: sf_run_due comes to each queue, and goes on where it ended

my $keys = 200;
my $node = new_node('bare', bare => 1, conf => "shared_preload_libraries = ''\n");
$node->safe_psql('postgres', 'CREATE EXTENSION sfflow');
$node->safe_psql('postgres', $desk);
$node->safe_psql('postgres', "SELECT count(sf_start('desk', jsonb_build_object('tenant', n % $keys)))
	FROM generate_series(1, 2 * $keys) AS n");
$node->safe_psql('postgres', "SELECT sf_start('last', '{}', n::text) FROM generate_series(1, 2) AS n");
$node->safe_psql('postgres', 'CALL sf_run_due()');
is($node->safe_psql('postgres', "SELECT string_agg(in_use || ' ' || waiting, ', ' ORDER BY target) FROM sf_limits"),
	"$keys $keys, 1 1", 'one of each value runs, one waits');
$node->safe_psql('postgres', $answer);
$node->safe_psql('postgres', 'CALL sf_run_due()');
is($node->safe_psql('postgres', "SELECT in_use || ' ' || waiting FROM sf_limits WHERE target = 'last'"), '1 0',
	'sf_run_due comes to the last one of many queues');
$node->safe_psql('postgres', $again);
is($node->safe_psql('postgres', $again_waits), '1 1',
	'a branch is left in the queue although its Parallel state has the slot');
$node->safe_psql('postgres', 'CALL sf_run_due()');
is($node->safe_psql('postgres', $again_waits), '1 0', '... and goes on');
$node->safe_psql('postgres', 'ANALYZE');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');
$node->stop;

# --- workers

$keys = 2100;
$node = new_node('main', conf => "sfflow.workers = 4\nsfflow.poll_interval = 1\n");
$node->safe_psql('postgres', $desk);
$node->safe_psql('postgres', "SELECT count(*)
	FROM sf_start_many('desk', ARRAY(SELECT jsonb_build_object('tenant', n % $keys)
	FROM generate_series(1, 2 * $keys) AS n))");
ok($node->poll_query_until('postgres', "SELECT in_use = $keys AND waiting = $keys FROM sf_limits
	WHERE target = 'desk'"), "one of each of $keys values runs, one waits");
$node->safe_psql('postgres', "SELECT sf_start('last', '{}', n::text) FROM generate_series(1, 2) AS n");
ok($node->poll_query_until('postgres', "SELECT in_use = 1 AND waiting = 1 FROM sf_limits WHERE target = 'last'"),
	'another limit has one that runs, and one that waits');
my $began = time;
$node->safe_psql('postgres', $answer);
ok($node->poll_query_until('postgres', "SELECT waiting = 0 FROM sf_limits WHERE target = 'last'"),
	'the one that waits begins');
cmp_ok(time - $began, '<', 60, '... soon');
$node->safe_psql('postgres', "SELECT sf_disable(); $again SELECT sf_enable()");
ok($node->poll_query_until('postgres', $again_waits, '1 0'),
	'so does a branch that was left in the queue although its Parallel state has the slot');
$node->safe_psql('postgres', 'ANALYZE');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');
$node->stop;

# --- a rate, while workers are killed: each kill restarts the server, whose buckets are empty then

my $rate = 40;
my $many = full(200, 4_000);
my $kills = full(3, 30);
$node = new_node('rate', conf => "sfflow.workers = 8\n");
$node->safe_psql('postgres', <<'EOS');
CREATE TABLE ledger (execution text, began timestamptz);
CREATE FUNCTION job(execution text, ms float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
BEGIN
	PERFORM pg_sleep(ms / 1000);
	INSERT INTO ledger VALUES (execution, began);
END $$;
SELECT sf_create_state_machine('night', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:public.job",
	"ResultPath": null, "End": true,
	"Parameters": {"execution.$": "$$.Execution.Name", "ms.$": "$.ms"}}}}');
EOS
$node->safe_psql('postgres', "SELECT sf_set_limit('sql:public.job', rate => $rate)");
my $set = $node->safe_psql('postgres', 'SELECT set_at FROM sf_limits');
$node->safe_psql('postgres', "SELECT count(sf_start('night', jsonb_build_object('ms', CASE WHEN n % 20 = 0 THEN 40
	ELSE n % 3 END), n::text)) FROM generate_series(1, $many) AS n");
for (1 .. $kills)
{
	sleep 0.3 + rand 1;
	kill_worker($node);
}
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'"), 'all end');
is($node->safe_psql('postgres', 'SELECT count(DISTINCT execution), count(*) FROM ledger'), "$many|$many",
	'each has run once');
# Each began after it had drawn a token: so of those that began up to a moment there were never more than tokens.
is($node->safe_psql('postgres', "SELECT count(*)
	FROM (SELECT row_number() OVER (ORDER BY began) AS n, extract(epoch FROM began - '$set') AS t FROM ledger) AS l
	WHERE n > $rate + $rate * t"),
	'0', 'never more than the rate allows since it was set');
# Between any two moments, but for what passes between a token and the task's look at the clock.
cmp_ok($node->safe_psql('postgres', "SELECT max(over)
	FROM (SELECT n - $rate * t - min(n - 1 - $rate * t) OVER (ORDER BY n) AS over"
		. " FROM (SELECT row_number() OVER (ORDER BY began) AS n, extract(epoch FROM began - '$set') AS t
			FROM ledger) AS l) AS w"),
	'<=', 1.5 * $rate, 'nor in any span of time');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');
note('took ' . $node->safe_psql('postgres', "SELECT max(began) - '$set' FROM ledger"));
$node->stop;

done_testing();
