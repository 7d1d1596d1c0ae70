# A machine with a limit is dropped by force while a task of it runs: with the limit go the slots that were taken of it.
# needs: limit
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\n");
$node->safe_psql('postgres', <<'EOQ');
CREATE FUNCTION waits(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
	BEGIN PERFORM pg_advisory_lock(1), pg_advisory_unlock(1); RETURN '{}'; END $$;
SELECT sf_create_state_machine('slow', '{"StartAt": "T", "States": {
	"T": {"Type": "Task", "Resource": "sql:public.waits", "TimeoutSeconds": 1000, "End": true}}}');
SELECT sf_set_limit('slow/T', max_running => 1);
EOQ

# The first run tells that the task is long, so that the second one is announced: its slot has a row while it runs.
for my $name (1, 2)
{
	my $lock = $node->background_psql('postgres');
	$lock->query_safe('SELECT pg_advisory_lock(1)');
	$node->safe_psql('postgres', "SELECT sf_start('slow', '{}', '$name')");
	ok($node->poll_query_until('postgres',
		q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}), "task $name runs");
	if ($name == 1)
	{
		ok($node->poll_query_until('postgres', q{SELECT pg_sleep(0.1) IS NOT NULL AND state IS NOT NULL FROM sf_workers
			WHERE execution_id = 'slow:1' LIMIT 1}), 'for a while');
	}
	else
	{
		is($node->safe_psql('postgres', 'SELECT count(*) FROM _sfflow.limit_slot'), '1', 'it has a slot');
		$node->safe_psql('postgres', "SELECT sf_drop_state_machine('slow', force => true)");
	}
	$lock->quit;
	ok($node->poll_query_until('postgres',
		q{SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'}), 'it has ended');
}
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'advisory' AND objid = 1}),
	'the task is over');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.branch'), 'no branch is left');
is($node->safe_psql('postgres', 'SELECT count(*) FROM _sfflow.limit_slot'), '0',
	'no slot of a limit that is gone is left');
is($node->safe_psql('postgres', 'SELECT string_agg(problem, $$ $$) FROM sf_check()'), '', 'the tables hold together');
$node->stop;
done_testing();
