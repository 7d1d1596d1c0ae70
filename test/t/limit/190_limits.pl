# Limits under workers: never more runs than a limit allows, whatever crashes; everything runs once; what waits costs
# no queries; and one value of a key does not wait for another one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $many = full(600, 100_000);
my $kills = full(2, 20);
my $waiting = full(1_000, 100_000);
# Polls are so far apart that what begins soon was not found by one.
my $node = new_node('main', conf => "sfflow.workers = 8\nsfflow.max_workers = 16\nsfflow.poll_interval = 600\n");
# When a task ran: its clock, inside the time for which it has its slot.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE ledger (execution text, tenant text, began timestamptz, ended timestamptz);
CREATE FUNCTION job(execution text, tenant text, ms float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
BEGIN
	PERFORM pg_sleep(ms / 1000);
	INSERT INTO ledger VALUES (execution, tenant, began, clock_timestamp());
END $$;
SELECT sf_create_activity('desk');
SELECT sf_create_state_machine('night', '{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:public.job", "ResultPath": null, "End": true,
		"Parameters": {"execution.$": "$$.Execution.Name", "tenant.$": "$.tenant", "ms.$": "$.ms"}}}}');
SELECT sf_create_state_machine('desk', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:desk",
	"End": true}}}');
SQL

# The first number of a query.
sub number { return $node->safe_psql('postgres', shift) }

# How many tasks ran at a time, at most, by a column or (null) in all.
sub peak
{
	my ($by) = @_;
	return number("SELECT max(n) FROM (SELECT sum(step) OVER (PARTITION BY of ORDER BY at, step) AS n FROM ("
		. "SELECT $by AS of, began AS at, 1 AS step FROM ledger UNION ALL SELECT $by, ended, -1 FROM ledger) e) p");
}

# --- never one too many

$node->safe_psql('postgres', "SELECT sf_set_limit('sql:public.job', max_running => 5),
	sf_set_limit('night', key => '\$.tenant', max_running => 2)");
# Some are long, so that they get transactions of their own, and run at the same time.
my $long = full(200, 40);
$node->safe_psql('postgres', "SELECT count(*) FROM sf_start('night', '{\"tenant\": 0, \"ms\": 0}')");
my $start = "INSERT INTO started SELECT sf_start('night', jsonb_build_object('tenant', n % 4, 'ms', CASE WHEN n % 21 = 0
	THEN $long ELSE n % 3 END), n::text) FROM generate_series";
$node->safe_psql('postgres', 'CREATE TABLE started (id text)');
$node->safe_psql('postgres', "$start(1, $many) AS n");
for my $kill (1 .. $kills)
{
	sleep 0.5 + rand 1;
	ok(kill_worker($node), "kill $kill: the server is back");
}
$node->stop('immediate');
$node->start;
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'"), 'all end');
no_surprises($node);
is(number("SELECT count(DISTINCT execution), count(*) FROM ledger WHERE execution ~ '^\\d{1,6}\$'"), "$many|$many",
	'each has run once');
cmp_ok(peak('1'), '<=', 5, 'never more than the limit of the resource');
cmp_ok(peak('tenant'), '<=', 2, 'never more than the limit of a tenant');
cmp_ok(peak('1'), '>=', 4, 'but as many as it allows');
is(number('SELECT string_agg(in_use || \' \' || waiting, \', \') FROM sf_limits'), '0 0, 0 0',
	'no slot is taken, and nothing waits');

# --- a limit that is lowered and raised under load

$node->safe_psql('postgres', 'TRUNCATE ledger; TRUNCATE started');
my $half = int($many / 2);
$node->safe_psql('postgres', "SELECT sf_drop_limit('night', '\$.tenant')");
$node->safe_psql('postgres', "$start(1000001, 1000000 + $half) AS n");
for my $max (1, 4, 2, 5, 1)
{
	$node->safe_psql('postgres', "SELECT sf_set_limit('sql:public.job', max_running => $max)");
	sleep 0.3;
}
$node->safe_psql('postgres', "SELECT sf_set_limit('sql:public.job', max_running => 5)");
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'"),
	'all end while the limit changes');
cmp_ok(peak('1'), '<=', 5, 'never more than the greatest limit');
is(number('SELECT count(DISTINCT execution), count(*) FROM ledger'), "$half|$half", 'each has run once');

# --- what waits costs no queries, and does not delay another tenant

$node->safe_psql('postgres', "SELECT sf_drop_limit('sql:public.job'),
	sf_set_limit('desk', key => '\$.tenant', max_running => 1)");
$node->safe_psql('postgres', "SELECT count(*)
	FROM sf_start_many('desk', ARRAY(SELECT '{\"tenant\": 1}'::jsonb FROM generate_series(1, $waiting)))");
ok($node->poll_query_until('postgres', "SELECT in_use = 1 AND waiting = $waiting - 1 FROM sf_limits"),
	"$waiting of a tenant: one runs, the others wait");
my $scans = "SELECT sum(coalesce(seq_scan, 0) + coalesce(idx_scan, 0)) FROM pg_stat_all_tables
	WHERE schemaname = '_sfflow'";
# What came before may still be counted, and a poll may come in between, but not in each of these spans.
my ($before, $after) = ('', number($scans));
for (1 .. 10)
{
	last if $before eq $after;
	$before = $after;
	sleep 3;
	$after = number($scans);
}
is($after, $before, 'nothing is read while they wait');
my $id = $node->safe_psql('postgres', "SELECT sf_start('desk', '{\"tenant\": 2}', 'other')");
my $began = time;
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_tasks WHERE execution_id = 'desk:other'"),
	'one of another tenant begins');
cmp_ok(time - $began, '<', 60, '... at once, and not with a poll');
# Answers: each gives the slot to the next one.
for my $answer (1 .. 20)
{
	$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM sf_tasks WHERE status = 'queued'
		AND execution_id <> 'desk:other'") or die;
	$node->safe_psql('postgres', "SELECT sf_send_task_success(task_token, '{}')
		FROM sf_get_activity_task('activity:desk', 'w')");
}
ok($node->poll_query_until('postgres', "SELECT count(*) >= 19 FROM sf_executions WHERE status = 'SUCCEEDED'
	AND state_machine = 'desk'"), 'each answer has the next one begin');

# --- priority

$node->safe_psql('postgres', "SELECT sf_start('desk', '{\"tenant\": 1}', 'urgent', priority => 10)");
ok($node->poll_query_until('postgres', "SELECT waiting_on IS NOT NULL FROM sf_executions
	WHERE execution_id = 'desk:urgent'"), 'an urgent one waits');
for my $answer (1 .. 2)
{
	$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM sf_tasks WHERE status = 'queued'
		AND execution_id <> 'desk:other'") or die;
	last if number("SELECT count(*) FROM sf_tasks WHERE execution_id = 'desk:urgent'");
	$node->safe_psql('postgres', "SELECT sf_send_task_success(task_token, '{}')
		FROM sf_get_activity_task('activity:desk', 'w')");
}
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_tasks WHERE execution_id = 'desk:urgent'"),
	'... and comes before those that have waited longer');
$node->safe_psql('postgres', "SELECT sf_drop_limit('desk', '\$.tenant')");
ok($node->poll_query_until('postgres', "SELECT count(*) > 100 FROM sf_tasks WHERE status = 'queued'"),
	'without the limit all begin');
# A worker that began before may have one of them wait for it still, and takes it from there at once.
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM sf_check()'), 'the tables hold together');

# --- a limit that is raised, or whose occupant goes with its machine, wakes what waits at once

$node->safe_psql('postgres', <<'SQL');
SELECT sf_create_activity('counter');
SELECT sf_create_state_machine('counter',
	'{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:counter", "End": true}}}');
SELECT sf_create_state_machine('gone', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "activity:counter", "End": true}}}');
SELECT sf_set_limit('activity:counter', max_running => 1);
SELECT sf_start('gone', '{}', 'first');
SQL
my $out = "SELECT count(*) FROM sf_tasks WHERE status = 'queued' AND execution_id ~ '^(gone|counter):'";
ok($node->poll_query_until('postgres', "SELECT ($out) = 1"), 'one occupies the slot');
$node->safe_psql('postgres', "SELECT sf_start('counter', '{}', n::text) FROM generate_series(1, 3) AS n");
ok($node->poll_query_until('postgres', "SELECT waiting = 3 FROM sf_limits WHERE target = 'activity:counter'"),
	'three wait');
$began = time;
$node->safe_psql('postgres', "SELECT sf_drop_state_machine('gone', force => true)");
ok($node->poll_query_until('postgres', "SELECT waiting = 2 FROM sf_limits WHERE target = 'activity:counter'"),
	'its machine is dropped: the next one begins');
cmp_ok(time - $began, '<', 60, '... at once');
$began = time;
$node->safe_psql('postgres', "SELECT sf_set_limit('activity:counter', max_running => 3)");
ok($node->poll_query_until('postgres', "SELECT waiting = 0 FROM sf_limits WHERE target = 'activity:counter'"),
	'the limit is raised: all begin');
cmp_ok(time - $began, '<', 60, '... at once');
$node->safe_psql('postgres', "SELECT sf_drop_limit('activity:counter'), sf_stop_many('counter')");

# --- what a transaction begins beside sf_set_limit, and outlives it, counts when it has committed

my $session = $node->background_psql('postgres');
$session->query_safe('SELECT sf_disable()');
$node->safe_psql('postgres', "SELECT sf_start('counter', '{}', 'beside' || n) FROM generate_series(1, 2) AS n");
$session->query_safe("BEGIN; SELECT sf_run('counter:beside1'), sf_run('counter:beside2')");
$node->safe_psql('postgres', "SELECT sf_set_limit('activity:counter', max_running => 1), sf_enable()");
sleep 2;
is(number("SELECT in_use FROM sf_limits WHERE target = 'activity:counter'"), '0',
	'what a transaction does that was open as a limit was set');
$session->query_safe('COMMIT');
$session->quit;
ok($node->poll_query_until('postgres', "SELECT in_use = 2 FROM sf_limits WHERE target = 'activity:counter'"),
	'... counts when it has committed');
$node->safe_psql('postgres', "SELECT sf_start('counter', '{}', 'beside3')");
ok($node->poll_query_until('postgres', "SELECT in_use = 2 AND waiting = 1 FROM sf_limits
	WHERE target = 'activity:counter'"), '... so that the next one waits');
$node->safe_psql('postgres', "SELECT sf_stop('counter:beside1')");
sleep 1;
is(number("SELECT in_use || ' ' || waiting FROM sf_limits WHERE target = 'activity:counter'"), '1 1',
	'... also while one of the two is left');
$node->safe_psql('postgres', "SELECT sf_stop('counter:beside2')");
ok($node->poll_query_until('postgres', "SELECT waiting = 0 FROM sf_limits WHERE target = 'activity:counter'"),
	'... and begins after both');
ok($node->poll_query_until('postgres', 'SELECT bool_and(counted) FROM _sfflow.run_limit'),
	'then it is known that all counts');
$node->safe_psql('postgres', "SELECT sf_drop_limit('activity:counter'), sf_stop_many('counter')");

# --- a task that runs when the server crashes has its slot, and waits for a token

$node->safe_psql('postgres', <<'SQL');
TRUNCATE ledger;
CREATE FUNCTION guarded(execution text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock(1);
	INSERT INTO ledger VALUES (execution);
END $$;
SELECT sf_create_state_machine('guarded',
	'{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:public.guarded", "End": true,
	"Parameters": {"execution.$": "$$.Execution.Name"}}}}');
SELECT sf_set_limit('sql:public.guarded', max_running => 1, rate => 1, per => '1s');
SQL
my $guard = $node->background_psql('postgres');
$guard->query_safe('SELECT pg_advisory_lock(1)');
$node->safe_psql('postgres', "SELECT sf_start('guarded', '{}', n::text) FROM generate_series(1, 2) AS n");
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM _sfflow.limit_slot
	WHERE EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)"), 'a task is announced and runs');
$node->stop('immediate');
$guard->quit;
$node->start;
ok($node->poll_query_until('postgres', "SELECT count(*) = 2 FROM sf_executions WHERE state_machine = 'guarded'
	AND status = 'SUCCEEDED'"), 'it and the next one run after a crash');
is(number('SELECT count(*) FROM ledger'), '2', '... once each');
$node->safe_psql('postgres', "SELECT sf_drop_limit('sql:public.guarded')");
no_surprises($node);

done_testing();
