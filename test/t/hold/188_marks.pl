# Marks under workers and crashes: what was marked, and no other job, is settled once, whenever the server dies.
# needs: hold
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $many = full(100, 2_000);
my $node = new_node('main', conf => "sfflow.workers = 2\n");
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE ledger (execution text, job text);
CREATE FUNCTION job(execution text, job text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF job = 'B' THEN RAISE EXCEPTION 'broken'; END IF;
	INSERT INTO ledger VALUES (execution, job);
END $$;
SELECT sf_create_state_machine('night', '{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:public.job", "ResultPath": null,
		"Parameters": {"execution.$": "$$.Execution.Name", "job": "A"}, "Next": "B"},
	"B": {"Type": "Task", "Resource": "sql:public.job", "ResultPath": "$.B",
		"Parameters": {"execution.$": "$$.Execution.Name", "job": "B"}, "Next": "C"},
	"C": {"Type": "Task", "Resource": "sql:public.job", "ResultPath": null,
		"Parameters": {"execution.$": "$$.Execution.Name", "job": "C"}, "End": true}}}');
SQL
$node->safe_psql('postgres', "SELECT count(*)
	FROM sf_start_many('night', ARRAY(SELECT '{}'::jsonb FROM generate_series(1, $many)))");
ok($node->poll_query_until('postgres', "SELECT count(*) = $many FROM sf_executions WHERE status = 'FAILED'"),
	'all fail');

# Mark a share of the executions.
my $mark = q(SELECT count(sf_mark(execution_id, 'B', 'success', '"by hand"'))
	FROM (SELECT execution_id, row_number() OVER (ORDER BY execution_id) AS n FROM sf_executions) e WHERE n % 2 = 0);
my $session = $node->background_psql('postgres', on_error_stop => 0);
$session->query_safe('BEGIN');
is($session->query_safe($mark), $many / 2, 'half of them are marked');
$node->stop('immediate');
eval { $session->quit };
$node->start;
is($node->safe_psql('postgres', q(SELECT count(*) FROM sf_jobs WHERE job_id = 'B' AND job_status <> 'failure')), '0',
	'the server has died: none is');
is($node->safe_psql('postgres', $mark), $many / 2, 'again');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', q(SELECT count(*) FROM sf_jobs WHERE job_id = 'B' AND job_status = 'success')),
	$many / 2, 'what has committed is marked after a crash');
$node->safe_psql('postgres', q(SELECT count(*) FROM sf_redrive_many('night')));
$node->stop('immediate');
$node->start;
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'"),
	'all go on, while the server dies once more');
is($node->safe_psql('postgres', q(SELECT status || ' ' || count(*) FROM sf_executions GROUP BY status ORDER BY status)),
	'FAILED ' . $many / 2 . "\nSUCCEEDED " . $many / 2, 'those that were marked succeed');
is($node->safe_psql('postgres', q(SELECT count(*) FROM sf_executions WHERE output ->> 'B' = 'by hand')), $many / 2,
	'with what the mark says');
is($node->safe_psql('postgres', q(SELECT job || ' ' || count(*) || ' ' || count(DISTINCT execution) FROM ledger
	GROUP BY job ORDER BY job)), "A $many $many\nC " . $many / 2 . ' ' . $many / 2, 'each other job ran once');
is($node->safe_psql('postgres', 'SELECT count(*) FROM _sfflow.mark'), '0', 'the marks are used up');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');
no_surprises($node);
$node->stop;
done_testing();
