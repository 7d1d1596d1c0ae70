# Sessions that leave transactions open hold rows of executions: workers must not wait for them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.max_workers = 2\n");
$node->safe_psql('postgres', 'CREATE TABLE ledger (execution text); '
	  . q{CREATE FUNCTION job(execution text) RETURNS void LANGUAGE sql AS 'INSERT INTO ledger VALUES (execution)'});
$node->safe_psql('postgres', q{SELECT sf_create_state_machine('job', $def$}
	. one_task('public.job', '"Parameters": {"execution.$": "$$.Execution.Name"}') . '$def$)');
$node->safe_psql('postgres', <<'EOS');
SELECT sf_create_state_machine('held', '{"StartAt": "Pause", "States": {
	"Pause": {"Type": "Wait", "TimestampPath": "$.at", "Next": "Job"},
	"Job": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"execution.$": "$$.Execution.Name"},
		"End": true}}}');
SELECT sf_create_state_machine('joined',
	'{"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "End": true, "Branches": [
	{"StartAt": "Pause", "States": {"Pause": {"Type": "Wait", "TimestampPath": "$.at", "End": true}}}]}}}');
EOS
# The job is known to be short from now on: it runs in the slice.
$node->safe_psql('postgres', q{SELECT sf_start('job', name => 'first')});
ended($node);

# Eight executions that wait for a time that does not come before a session holds all of them. Then they come due, one
# after the other.
$node->safe_psql('postgres', <<'EOS');
SELECT sf_start(m, jsonb_build_object('at', to_json(clock_timestamp() + interval '1 hour')), m || n)
FROM unnest('{held,joined}'::text[]) AS m, generate_series(1, 4) AS n
EOS
$node->poll_query_until('postgres', q{SELECT count(*) = 8 FROM sf_executions WHERE waiting_on IS NOT NULL
	AND status = 'RUNNING'})
  or diag('not all wait');
my $session = $node->background_psql('postgres');
$session->query_safe(q{SET client_min_messages = warning; BEGIN; SELECT sf_start(state_machine, input, name)
	FROM sf_executions WHERE status = 'RUNNING'});
$node->safe_psql('postgres', <<'EOS');
CREATE TABLE due AS
SELECT execution_no, branch_no,
	now() + row_number() OVER (ORDER BY execution_no, branch_no) * interval '0.2 s' AS due_at
FROM _sfflow.branch WHERE due_at > now() + interval '30 min';
UPDATE _sfflow.branch b SET due_at = due.due_at FROM due
WHERE (b.execution_no, b.branch_no) = (due.execution_no, due.branch_no);
SELECT sf_enable();
EOS
is($node->safe_psql('postgres', 'SELECT count(*) FROM due'), '8', 'eight come due');
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type LIKE 'sfflow%'
	AND wait_event_type = 'Lock'})
  or diag('no worker meets a lock');

# Others go on all the time.
for my $n (1 .. 5)
{
	is($node->safe_psql('postgres', "SELECT sf_start('job', name => 'other$n');
		SELECT sf_await('job:other$n', '180 s')"),
		"job:other$n\nSUCCEEDED", "another execution ends meanwhile, $n");
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM sf_executions WHERE status = 'RUNNING'}), '8',
	'the held ones do not');
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM _sfflow.branch b JOIN _sfflow.execution
	USING (execution_no) JOIN due USING (execution_no, branch_no)
		WHERE execution_id LIKE 'joined:%' AND branch_no > 0 AND b.due_at > due.due_at + interval '1 s'}),
	'they are put off, also where no task runs');
$session->query_safe('COMMIT');
$session->quit;
ok(ended($node), 'they end once they are let go');
is($node->safe_psql('postgres', q{SELECT execution, count(*) FROM ledger WHERE execution LIKE 'held%' GROUP BY 1
	ORDER BY 1}),
	join("\n", map { "held$_|1" } 1 .. 4), 'and have run once');
is($node->safe_psql('postgres', 'SELECT status, count(*) FROM sf_executions GROUP BY 1'), 'SUCCEEDED|14',
	'all have succeeded');
no_surprises($node);
$node->stop;

# Two hundred and forty of them are due at once: a worker waits for the first that it meets, and briefly for the others.
my $many = new_node('many', conf => "sfflow.workers = 1\nsfflow.max_workers = 1\n");
$many->safe_psql('postgres', <<'EOS');
SELECT sf_create_state_machine('held', '{"StartAt": "Pause", "States": {
	"Pause": {"Type": "Wait", "TimestampPath": "$.at", "End": true}}}');
SELECT sf_start('held', jsonb_build_object('at', to_json(clock_timestamp() + interval '1 hour')), 'n' || n)
FROM generate_series(1, 240) AS n
EOS
$many->poll_query_until('postgres', q{SELECT count(*) = 240 FROM sf_executions WHERE waiting_on IS NOT NULL})
  or diag('not all wait');
$session = $many->background_psql('postgres');
$session->query_safe(q{SET client_min_messages = warning; BEGIN; SELECT sf_start(state_machine, input, name)
	FROM sf_executions WHERE status = 'RUNNING'});
my $since = $many->safe_psql('postgres', q{UPDATE _sfflow.branch SET due_at = now(); SELECT clock_timestamp();
	SELECT sf_enable()});
ok($many->poll_query_until('postgres', "SELECT count(*) = 240 FROM _sfflow.branch WHERE due_at > '$since'"),
	'all are put off');
my $took = $many->safe_psql('postgres', "SELECT extract(epoch FROM clock_timestamp() - '$since')");
note("$took s");
cmp_ok($took, '<', 120, '... before a second has passed for each');
$session->query_safe('COMMIT');
$session->quit;
ok(ended($many), 'they end once they are let go');
no_surprises($many);
$many->stop;
done_testing();
