# Deliveries of rules whose targets take long occupy slots of the rule's owner. They leave one of the slots for
# tasks, so that the owner's tasks go on beside them.
# needs: rule
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;

# No call of a target is ended, and nothing is found by a poll.
my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 2
sfflow.max_workers = 6
sfflow.poll_interval = 3600
sfflow.debug_point = 'deliver-call:ms=86400000'
EOC
sub sql { return $node->safe_psql('postgres', shift) }

# Wait until an execution has succeeded.
sub succeeds
{
	my ($id, $test) = @_;
	return ok($node->poll_query_until('postgres',
		"SELECT status = 'SUCCEEDED' FROM sf_executions WHERE execution_id = '$id'"), $test);
}

sql(<<"EOS");
CREATE FUNCTION job() RETURNS void LANGUAGE sql AS 'SELECT pg_sleep(0.2)';
CREATE FUNCTION tell(event jsonb) RETURNS void LANGUAGE plpgsql AS
'BEGIN PERFORM pg_advisory_xact_lock_shared(7); END';
SELECT sf_create_state_machine('slow', '@{[ one_task('public.job') ]}');
SELECT sf_create_state_machine('told', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_create_rule('each', '{"source": ["aws.states"], "detail": {"status": ["SUCCEEDED"],
	"stateMachineArn": [{"suffix": ":told"}]}}', 'sql:public.tell');
SELECT sf_start('slow', '{}', 'first');
EOS
succeeds('slow:first', 'a task is known to be long');

my $lock = $node->background_psql('postgres');
$lock->query_safe('SELECT pg_advisory_lock(7)');
sql(q(SELECT count(*) FROM sf_start_many('told', 'SELECT ''{}''::jsonb FROM generate_series(1, 60)')));
ok($node->poll_query_until('postgres', 'SELECT occupied >= 3 FROM _sfflow.task_slots()'),
	'targets that do not come to an end occupy slots');
# In that time any worker that is free would have begun a further delivery, and would occupy its slot.
for my $n (1 .. 15)
{
	sql("SELECT sf_start('slow', '{}', '$n')");
	succeeds("slow:$n", "a task of their owner goes on beside them ($n)") or last;
}
is(sql('SELECT occupied FROM _sfflow.task_slots()'), '3', 'no more of them occupy slots, of four that tasks may have');
$lock->query_safe('SELECT pg_advisory_unlock(7)');
$lock->quit;
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.rule_delivery'), 'all deliveries are made');
is(sql('SELECT * FROM sf_check()'), '', 'the tables hold together');
$node->stop;
done_testing();
