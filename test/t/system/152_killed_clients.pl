# A client's process is killed inside a function of sfflow, and memory is refused: what was not committed did not
# happen and can be asked for again, what was committed goes on, nothing is done twice.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\n");
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE ledger (execution text, job text);
CREATE TABLE switch (bad boolean);
INSERT INTO switch VALUES (true);
CREATE FUNCTION job(execution text, job text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	IF job = 'B' AND (SELECT bad FROM public.switch) AND execution = 'redriven' THEN
		RAISE EXCEPTION 'not yet';
	END IF;
	INSERT INTO public.ledger VALUES (execution, job);
	RETURN '{}';
END $$;
SELECT sf_create_activity('hand');
SELECT sf_create_state_machine('chain', '{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:public.job", "ResultPath": null, "Next": "B",
		"Parameters": {"execution.$": "$$.Execution.Name", "job": "A"}},
	"B": {"Type": "Task", "Resource": "sql:public.job", "ResultPath": null, "End": true,
		"Parameters": {"execution.$": "$$.Execution.Name", "job": "B"}}}}');
SELECT sf_create_state_machine('asking', '{"StartAt": "H", "States": {
	"H": {"Type": "Task", "Resource": "activity:hand", "ResultPath": null, "Next": "A"},
	"A": {"Type": "Task", "Resource": "sql:public.job", "ResultPath": null, "End": true,
		"Parameters": {"execution.$": "$$.Execution.Name", "job": "A"}}}}');
EOC

# Run statements in a session, kill -9 its process, and wait until the server is back.
sub killed_after
{
	my (@statements) = @_;
	my $session = $node->background_psql('postgres', on_error_die => 1);
	my $pid = $session->query_safe('SET client_min_messages = warning; SELECT pg_backend_pid()');
	$session->query_safe($_) for @statements;
	kill 'KILL', $pid;
	wait_gone($pid);
	eval { $session->quit };
	ok(recovered($node), "the server is back after a kill in: $statements[-1]");
	return;
}

# Wait for an execution; gives its status and what it wrote.
sub outcome
{
	my ($id) = @_;
	wait_for("$id ends", sub { $node->safe_psql('postgres',
		"SELECT status <> 'RUNNING' FROM sf_executions WHERE execution_id = '$id'") eq 't' }, 180);
	my ($name) = $id =~ /:(.*)/;
	return $node->safe_psql('postgres', "SELECT status, (SELECT string_agg(job, ',' ORDER BY job) FROM ledger
		WHERE execution = '$name')
		FROM sf_executions WHERE execution_id = '$id'");
}

killed_after('BEGIN', "SELECT sf_start('chain', '{}', 'started')");
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE execution_id = 'chain:started'"), '0',
	'a start that was not committed did not happen');
$node->safe_psql('postgres', "SELECT sf_start('chain', '{}', 'started')");
is(outcome('chain:started'), 'SUCCEEDED|A,B', 'and can be made again');

killed_after("SELECT sf_start('chain', '{}', 'committed')");
is(outcome('chain:committed'), 'SUCCEEDED|A,B', 'one that was committed goes on');

killed_after("SELECT sf_start('chain', '{}', 'driven')", 'BEGIN', "SELECT sf_run('chain:driven')");
is(outcome('chain:driven'), 'SUCCEEDED|A,B', 'what sf_run did and did not commit is done by a worker, once');

$node->safe_psql('postgres', "SELECT sf_start('asking', '{}', 'answered')");
wait_for('the task is there', sub { $node->safe_psql('postgres',
	"SELECT queued FROM sf_activities WHERE activity = 'hand'") eq '1' }, 180);
my $token = $node->safe_psql('postgres', "SELECT task_token FROM sf_get_activity_task('hand')");
killed_after('BEGIN', "SELECT sf_send_task_success('$token')");
is($node->safe_psql('postgres', "SELECT in_flight FROM sf_activities WHERE activity = 'hand'"), '1',
	'an answer that was not committed is none');
killed_after("SELECT sf_send_task_success('$token')");
is(outcome('asking:answered'), 'SUCCEEDED|A', 'one that was committed counts');

$node->safe_psql('postgres', "SELECT sf_start('chain', '{}', 'redriven')");
is(outcome('chain:redriven'), 'FAILED|A', 'an execution that fails');
$node->safe_psql('postgres', 'UPDATE switch SET bad = false');
killed_after('BEGIN', "SELECT sf_redrive('chain:redriven')");
is(outcome('chain:redriven'), 'FAILED|A', 'a redrive that was not committed did not happen');
killed_after("SELECT sf_redrive('chain:redriven')");
is(outcome('chain:redriven'), 'SUCCEEDED|A,B', 'one that was committed did');
is($node->safe_psql('postgres', "SELECT redrive_count FROM sf_executions WHERE execution_id = 'chain:redriven'"), '1',
	'and is counted once');

# Less memory than a task asks for: the limit is that of the postmaster's children from now on.
SKIP:
{
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	skip 'no prlimit', 3 if system("prlimit --pid $postmaster --as=700000000 2>/dev/null") != 0;
	$node->safe_psql('postgres', <<'EOC');
CREATE FUNCTION greedy(bytes int) RETURNS jsonb LANGUAGE sql
	AS $$ SELECT pg_catalog.to_jsonb(pg_catalog.length(pg_catalog.repeat('x', bytes))) $$;
SELECT sf_create_state_machine('greedy',
	'{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:public.greedy",
	"Parameters": {"bytes.$": "$.bytes"}, "End": true}}}');
SELECT pg_terminate_backend(pid) FROM sf_workers;
SELECT sf_start('greedy', '{"bytes": 900000000}', 'large'), sf_start('greedy', '{"bytes": 9}', 'small');
EOC
	my @more = map { $node->safe_psql('postgres', "SELECT sf_start('chain', '{}', 'beside$_')") } 1 .. 5;
	is(join(' ', map { outcome($_) } @more), join(' ', ('SUCCEEDED|A,B') x 5),
		'others go on where memory is refused to one');
	is($node->safe_psql('postgres', "SELECT sf_await('greedy:small', '180 s')"), 'SUCCEEDED',
		'the same function with less too');
	# What has failed for want of memory alone is tried again while others succeed.
	my $n = 0;
	wait_for('the large one ends', sub {
			$node->safe_psql('postgres', "SELECT sf_start('chain', '{}', 'while" . $n++ . "')");
			$node->safe_psql('postgres',
				"SELECT status <> 'RUNNING' FROM sf_executions WHERE execution_id = 'greedy:large'") eq 't';
		}, 180);
	like($node->safe_psql('postgres', "SELECT status, error, cause FROM sf_executions
		WHERE execution_id = 'greedy:large'"),
		qr/^FAILED\|(?:out_of_memory|States\.Runtime)\|.*out of memory/, 'and that one fails and says why');
}
ok(ended($node), 'everything ends');
no_surprises($node);
is($node->safe_psql('postgres', 'SELECT count(*)
	FROM (SELECT FROM ledger GROUP BY execution, job HAVING count(*) > 1) twice'), '0', 'nothing was done twice');
$node->stop;
done_testing();
