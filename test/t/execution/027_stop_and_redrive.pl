# A stop and what comes after it in the same transaction: a redrive, or a new beginning, does not have to
# wait for a task that learns of the stop at the commit only.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.max_workers = 4\nsfflow.poll_interval = 3600\n");

# The first call of a task sleeps for long, the next one does not. That of the second machine sleeps each time, until
# the execution begins anew: interrupted by the stop, it may run again before that commits.
$node->safe_psql('postgres', <<'SQL');
CREATE SEQUENCE calls;
CREATE TABLE done (job text);
CREATE FUNCTION job(job text, new integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO done VALUES (job);
	IF (CASE job WHEN 'second' THEN new = 0 ELSE nextval('calls') = 1 END) THEN
		PERFORM pg_sleep(300);
	END IF;
END $$;
SQL
for my $name (qw(first second third fourth))
{
	$node->safe_psql('postgres', <<"SQL");
SELECT sf_create_state_machine('$name', '{"StartAt": "A", "States": {
	"A": {"Type": "Pass", "Next": "Job"},
	"Job": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"job": "$name", "new.\$": "\$.new"},
		"End": true}}}');
SQL
}

# Start an execution and wait until its task sleeps.
sub asleep
{
	my $name = shift;
	$node->safe_psql('postgres', "ALTER SEQUENCE calls RESTART; SELECT sf_start('$name', '{\"new\": 0}', 'x')");
	$node->poll_query_until('postgres', <<"SQL") or die 'no task sleeps';
SELECT count(*) = 1 FROM pg_stat_activity a JOIN sf_workers w USING (pid)
WHERE w.execution_id = '$name:x' AND a.wait_event = 'PgSleep'
SQL
	return;
}

# Assert that an execution ends well, its job done once.
sub ends
{
	my ($name, $redrives) = @_;
	is($node->safe_psql('postgres', "SELECT sf_await('$name:x', '180 s')"), 'SUCCEEDED', "$name: it ends");
	is($node->safe_psql('postgres', "SELECT redrive_count FROM sf_executions WHERE execution_id = '$name:x'"),
		$redrives, "$name: redriven or not");
	is($node->safe_psql('postgres', "SELECT count(*) FROM done WHERE job = '$name'"), '1',
		"$name: its job is done once");
	return;
}

asleep('first');
# One that waited for the task would fail after some seconds.
is($node->psql('postgres', "BEGIN; SELECT sf_stop('first:x', 'Enough'); SELECT sf_redrive('first:x'); COMMIT"), 0,
	'stop and redrive together');
ends('first', 1);
is($node->safe_psql('postgres', "SELECT string_agg(type, ' ' ORDER BY id) FROM sf_history WHERE execution_id = 'first:x'
	AND type LIKE 'Execution%'"),
	'ExecutionStarted ExecutionAborted ExecutionRedriven ExecutionSucceeded', 'its history tells all of it');

asleep('second');
$node->safe_psql('postgres', "BEGIN; SELECT sf_stop('second:x');
	SELECT sf_start('second', '{\"new\": 1}', 'x', 'restart'); COMMIT");
ends('second', 0);
is($node->safe_psql('postgres', "SELECT input FROM sf_executions WHERE execution_id = 'second:x'"), '{"new": 1}',
	'with its new input');

# Rolled back, nothing was stopped; the task has been interrupted in vain and runs again.
asleep('third');
$node->safe_psql('postgres', "BEGIN; SELECT sf_stop('third:x'); SELECT sf_redrive('third:x'); ROLLBACK");
ends('third', 0);

asleep('fourth');
$node->safe_psql('postgres', "BEGIN; SAVEPOINT s; SELECT sf_stop('fourth:x'); SELECT sf_redrive('fourth:x');
	ROLLBACK TO s; COMMIT");
ends('fourth', 0);

no_surprises($node);
$node->stop;
done_testing();
