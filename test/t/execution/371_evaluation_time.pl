# A path that would be evaluated for hours leaves its worker to others in time, and then a stop and the time limit of
# the execution are heeded.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', conf => "sfflow.evaluation_timeout = '3s'\n");
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE large AS SELECT jsonb_build_object('a', jsonb_agg(i), 'b', jsonb_agg(-i)) AS input
	FROM generate_series(1, 100000) i;
SELECT sf_create_state_machine('hours', '{"StartAt": "X", "States": {"X": {"Type": "Pass",
	"Parameters": {"x.$": "$.a[?(@ in $.b)]"}, "End": true}}}');
SELECT sf_create_state_machine('again', '{"TimeoutSeconds": 5, "StartAt": "X", "States": {"X": {"Type": "Task",
	"Resource": "sql:query", "Parameters": {"x.$": "$.a[?(@ in $.b)]"}, "End": true,
	"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1000, "IntervalSeconds": 1}]}}}');
SQL

# Start an execution, do something when it is under way, and tell how it has ended.
sub outcome
{
	my ($machine, $meanwhile) = @_;
	my $id = $node->safe_psql('postgres', "SELECT sf_start('$machine', input) FROM large");
	$node->safe_psql('postgres', "SELECT pg_sleep(1); SELECT sf_stop('$id')") if $meanwhile;
	$node->safe_psql('postgres', "SELECT sf_await('$id', '2 minutes')");
	ok($node->poll_query_until('postgres', "SELECT status <> 'RUNNING' FROM sf_executions WHERE execution_id = '$id'"),
		"$machine ends");
	return $node->safe_psql('postgres',
		"SELECT concat_ws(' ', status, error) FROM sf_executions WHERE execution_id = '$id'");
}

is(outcome('hours'), 'FAILED States.QueryEvaluationError', 'the state fails');
is(outcome('hours', 1), 'ABORTED', 'it is stopped');
is(outcome('again'), 'TIMED_OUT', 'the time limit of an execution ends retries');
ok( $node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity
		WHERE backend_type LIKE 'sfflow%' AND state = 'active' AND xact_start < clock_timestamp() - interval '3 s'}),
	'no worker is busy with what has ended');
$node->stop;
done_testing();
