# A standby is promoted while slots of limits are taken and tasks wait: what had a slot has it still, what waited
# waits in its order, and never more runs than a limit allows.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfCopies;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep);

my $primary = new_original('primary', "sfflow.workers = 4\nsfflow.max_workers = 8\n");
$primary->safe_psql('postgres', <<'EOS');
CREATE TABLE ledger (execution text, began timestamptz, ended timestamptz);
CREATE FUNCTION job(execution text, ms float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
BEGIN
	PERFORM pg_sleep(ms / 1000);
	-- Those that come later wait at a gate, so that some are left however late the primary is stopped.
	IF execution::integer > 300 THEN
		PERFORM pg_advisory_xact_lock_shared(1);
	END IF;
	INSERT INTO ledger VALUES (execution, began, clock_timestamp());
END $$;
SELECT sf_create_activity('desk');
SELECT sf_create_state_machine('desk', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:desk",
	"End": true}}}');
SELECT sf_create_state_machine('night', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:public.job",
	"ResultPath": null, "End": true,
	"Parameters": {"execution.$": "$$.Execution.Name", "ms.$": "$.ms"}}}}');
SELECT sf_set_limit('activity:desk', max_running => 2), sf_set_limit('sql:public.job', max_running => 3);
EOS
$primary->backup('base');
my $standby = new_copy('standby', $primary, 'base', has_streaming => 1);
$standby->start;
my $limits = "SELECT string_agg(in_use || ' ' || waiting, ', ' ORDER BY target) FROM sf_limits
	WHERE target = 'activity:desk'";
my $order = "SELECT string_agg(e.name, ' ' ORDER BY w.kind, w.as_if_since, w.execution_no)
	FROM _sfflow.parked w JOIN _sfflow.execution x
	USING (execution_no) JOIN sf_executions e USING (execution_id) WHERE e.state_machine = 'desk'";
$primary->safe_psql('postgres', "SELECT sf_start('desk', '{}', n::text, priority => n % 2)
	FROM generate_series(1, 8) AS n");
ok($primary->poll_query_until('postgres', $limits, '2 6'), 'two tasks are handed out, six wait');
my $before = $primary->safe_psql('postgres', $order);
my $gate = $primary->background_psql('postgres', on_error_stop => 0);
$gate->query_safe('SELECT pg_advisory_lock(1)');
$primary->safe_psql('postgres', "SELECT count(sf_start('night', jsonb_build_object('ms', CASE WHEN n % 10 = 0 THEN 50
	ELSE n % 4 END), n::text)) FROM generate_series(1, 600) AS n");
ok($primary->poll_query_until('postgres', 'SELECT count(*) > 20 FROM ledger'), 'others run');
$primary->wait_for_catchup($standby);
$primary->stop('immediate');
$gate->{run}->finish;
my $left = $standby->safe_psql('postgres', "SELECT count(*) FROM _sfflow.execution WHERE status = 0");
cmp_ok($left, '>', 8, "the primary is gone in the middle: $left are left");
$standby->promote;
settled($standby);
is($standby->safe_psql('postgres', $limits), '2 6', 'promoted: two have their slots, six wait');
is($standby->safe_psql('postgres', $order), $before, '... in their order');
ok($standby->poll_query_until('postgres',
	"SELECT count(*) = 0 FROM sf_executions WHERE state_machine = 'night' AND status = 'RUNNING'"), 'the others end');
is($standby->safe_psql('postgres', 'SELECT count(DISTINCT execution), count(*) FROM ledger'), '600|600',
	'... each has run once');
cmp_ok($standby->safe_psql('postgres', 'SELECT max(n) FROM (SELECT sum(step) OVER (ORDER BY at, step) AS n
	FROM (SELECT began AS at, 1 AS step FROM ledger UNION ALL SELECT ended, -1 FROM ledger) e) p'),
	'<=', 3, 'never more than the limit');
for my $answer (1 .. 8)
{
	$standby->poll_query_until('postgres',
		"SELECT count(*) > 0 FROM sf_tasks WHERE status = 'queued' AND execution_id ~ '^desk:'") or die;
	cmp_ok($standby->safe_psql('postgres',
		"SELECT count(*) FROM sf_tasks WHERE status = 'queued' AND execution_id ~ '^desk:'"), '<=', 2,
		"answer $answer: at most two are handed out");
	$standby->safe_psql('postgres', "SELECT sf_send_task_success(task_token, '{}')
		FROM sf_get_activity_task('activity:desk', 'w')");
}
ok($standby->poll_query_until('postgres',
	"SELECT count(*) = 0 FROM sf_executions WHERE state_machine = 'desk' AND status = 'RUNNING'"), 'all end');
is($standby->safe_psql('postgres', "SELECT string_agg(in_use || ' ' || waiting, ', ') FROM sf_limits"), '0 0, 0 0',
	'no slot is taken, and nothing waits');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');
$standby->stop;

done_testing();
