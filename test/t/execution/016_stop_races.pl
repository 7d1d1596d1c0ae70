# A stop against the task it is meant for: both orders, and never the task that comes next.
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
sfflow.poll_interval = 3600
EOC
$node->start;

$node->safe_psql('postgres', <<'EOC');
CREATE EXTENSION sfflow;
CREATE TABLE ledger (what text);
CREATE FUNCTION note(what text) RETURNS void LANGUAGE sql AS $$ INSERT INTO public.ledger VALUES (what) $$;
CREATE FUNCTION note_slowly(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.ledger VALUES (what);
	PERFORM pg_catalog.pg_sleep(3600);
END $$;
SELECT sf_create_state_machine('m', '{"StartAt": "S", "States": {
	"S": {"Type": "Task", "Resource": "sql:public.note", "Next": "T", "ResultPath": null},
	"T": {"Type": "Task", "Resource": "sql:public.note", "End": true}}}');
SELECT sf_create_state_machine('slow',
	'{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "sql:public.note_slowly", "End": true}}}');
EOC

sub sql { return $node->safe_psql('postgres', shift) }

# Have workers wait at a debug point while the session holds its lock.
sub hold_at
{
	my ($point, $session) = @_;
	$session->query_safe("SELECT pg_advisory_lock(hashtextextended('$point', 0))");
	sql("ALTER SYSTEM SET sfflow.debug_point = '$point:wait'; SELECT pg_reload_conf()");
	sql("SELECT pg_terminate_backend(pid) FROM sf_workers WHERE role IN ('worker', 'task')");
}

sub let_go
{
	my ($point, $session) = @_;
	sql('ALTER SYSTEM RESET sfflow.debug_point; SELECT pg_reload_conf()');
	$session->query_safe("SELECT pg_advisory_unlock(hashtextextended('$point', 0))");
}

# Wait until a worker hangs at the point.
sub worker_waits
{
	return $node->poll_query_until('postgres',
		"SELECT count(*) > 0 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		 WHERE l.locktype = 'advisory' AND NOT l.granted AND a.backend_type = 'sfflow worker'");
}

my $session = $node->background_psql('postgres');

# The stop comes before the task has begun: it does not run.
hold_at('step_begin', $session);
sql("SELECT sf_start('m', '{\"what\": \"before\"}', 'a')");
ok(worker_waits(), 'a worker is about to run a task');
sql("SELECT sf_stop('m:a')");
let_go('step_begin', $session);
ok( $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_workers WHERE execution_id IS NOT NULL"),
	'the stop ends it');
is(sql("SELECT status FROM sf_executions WHERE execution_id = 'm:a'"), 'ABORTED', 'it is aborted');
is(sql('SELECT count(*) FROM ledger'), '0', '... and the task has not run');

# The stop comes when the task is done and about to commit: what committed stays.
hold_at('T2_commit', $session);
sql("SELECT sf_start('m', '{\"what\": \"after\"}', 'b')");
ok(worker_waits(), 'a worker is about to commit a task');
sql("SELECT sf_stop('m:b')");
let_go('T2_commit', $session);
ok( $node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ledger"),
	'the task that was done is committed');
is(sql("SELECT status FROM sf_executions WHERE execution_id = 'm:b'"), 'ABORTED', 'its execution is aborted');
is(sql("SELECT job_id, job_status, error, cause FROM sf_jobs WHERE execution_id = 'm:b' ORDER BY job_id"),
	"S|success||\nT|skip||",
	'... the job that was done has succeeded, and the next one was not reached');
is(sql("SELECT s ->> 'name', s ->> 'status' FROM jsonb_array_elements(sf_graph_status('m:b')) s"), "S|success\nT|skip",
	'... in its picture, too');
sql("SELECT sf_redrive('m:b')");
is(sql("SELECT sf_await('m:b', '180 s')"), 'SUCCEEDED', 'a redrive goes on');
is(sql("SELECT count(*) FROM ledger WHERE what = 'after'"), '2',
	'... with the task after it: the one that committed counts as done');

# A failure that committed is in the branch's row, each part in a column of its own, until a redrive.
sql(q{CREATE FUNCTION fail(what text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE division_by_zero
	USING MESSAGE = what; END $$;
	SELECT sf_create_state_machine('failing',
		'{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "sql:public.fail", "End": true,
		"Catch": [{"ErrorEquals": ["22012"], "Next": "Caught"}]}, "Caught": {"Type": "Pass", "End": true}}}')});
hold_at('T2_commit', $session);
sql("SELECT sf_start('failing', '{\"what\": \"failed\"}', 'f')");
ok(worker_waits(), 'a worker is about to commit a failure');
sql("SELECT sf_stop('failing:f')");
let_go('T2_commit', $session);
my $outcome = "SELECT b.outcome_failed, b.error, b.sqlstate, b.outcome IS NULL
	FROM _sfflow.branch b JOIN _sfflow.execution e USING (execution_no) WHERE e.execution_id = 'failing:f'";
ok($node->poll_query_until('postgres', $outcome, 't|division_by_zero|22012|t'),
	'the failure has its SQLSTATE beside it');
is(sql("SELECT job_status, error FROM sf_jobs WHERE execution_id = 'failing:f'"), 'failure|division_by_zero',
	'... and the job has its error');
sql("SELECT sf_redrive('failing:f')");
is(sql("SELECT sf_await('failing:f', '180 s')"), 'SUCCEEDED',
	'a redrive runs the task again, and a catcher matches the SQLSTATE of its second failure');

# A stop for a step that is over hits nothing: the cancel names the step.
sql('TRUNCATE ledger');
sql("SELECT sf_start('m', '{\"what\": \"many\"}', 'n' || n) FROM generate_series(1, 200) n");
sql("SELECT sf_stop('m:n' || n) FROM generate_series(1, 200, 2) n");
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'"),
	'all end');
is( sql("SELECT count(*) FROM sf_executions
		 WHERE status <> 'SUCCEEDED' AND execution_id ~ ':n' AND (substring(execution_id, 4)::integer % 2) = 0"),
	'0', 'none of those that were not stopped is harmed');
is(sql('SELECT count(*) FROM sf_check()'), '0', 'the tables are in order');

# A stop that is rolled back cancels nothing.
sql("SELECT sf_start('slow', '{\"what\": \"x\"}', 'x')");
ok( $node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_workers WHERE execution_id = 'slow:x'"),
	'a long task runs');
my $since = sql("SELECT since FROM sf_workers WHERE execution_id = 'slow:x'");
sql("BEGIN; SELECT sf_stop('slow:x'); ROLLBACK");
sql("BEGIN; SAVEPOINT s; SELECT sf_stop('slow:x'); ROLLBACK TO s; COMMIT");
is(sql("SELECT since FROM sf_workers WHERE execution_id = 'slow:x'"), $since,
	'a stop that is rolled back does not reach it');
sql("SELECT sf_stop('slow:x')");
ok( $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_workers WHERE execution_id = 'slow:x'"),
	'one that commits does');

# A task that a session takes from its queue in this moment is aborted, too, whatever becomes of the session.
sql("SELECT sf_create_activity('hands')");
sql(q{SELECT sf_create_state_machine('both',
	'{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
	{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:hands", "End": true}}},
	{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "activity:hands", "End": true}}}]}}}')});
for my $end ('COMMIT', 'ROLLBACK')
{
	sql("SELECT sf_start('both', '{}', '$end')");
	$node->poll_query_until('postgres', "SELECT queued = 2 FROM sf_activities WHERE activity = 'hands'") or die;
	my $token = sql("SELECT task_token FROM sf_get_activity_task('hands')");
	$session->query_safe("BEGIN; SELECT state FROM sf_get_activity_task('hands')");
	sql("SELECT sf_send_task_failure('$token', 'boom')");
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM sf_history WHERE execution_id = 'both:$end' AND type = 'ActivityFailed'") or die;
	$session->query_safe($end);
	is(sql("SELECT sf_await('both:$end', '180 s')"), 'FAILED', "taken by a session when its sibling failed, then $end");
}

$session->quit;
$node->stop;
done_testing();
