# The jobs of a net that run in a process for tasks follow each other at once: the net is told when one ends.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

# A worker that is not told sleeps until the next poll.
my $node = new_node('main', conf => "sfflow.workers = 1\nsfflow.max_workers = 4\nsfflow.poll_interval = 600\n");
my $jobs = join ', ',
  map { qq("j$_": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {}, "After": [)
  	. ($_ > 1 ? '"j' . ($_ - 1) . '"' : '') . ']}' } 1 .. 6;
$node->safe_psql('postgres', "CREATE FUNCTION job() RETURNS text LANGUAGE sql RETURN pg_sleep(0.3)::text;"
	  . "SELECT sf_create_state_machine('net',
	  	'{\"StartAt\": \"Net\", \"States\": {\"Net\": {\"Type\": \"JobNet\", \"End\": true, \"Jobs\": {$jobs}}}}')");

# In the second round, what the task takes is known, and a process for tasks runs it.
for my $round (1 .. 3)
{
	$node->safe_psql('postgres', "SELECT sf_start('net', '{}', 'x$round')");
	is($node->safe_psql('postgres', "SELECT sf_await('net:x$round', '180 s')"), 'SUCCEEDED',
		"round $round: the net ends");
	cmp_ok($node->safe_psql('postgres', "SELECT extract(epoch FROM stopped_at - started_at) FROM sf_executions
		WHERE execution_id = 'net:x$round'"),
		'<', 6 * 0.3 + 30, '... without pauses between its jobs');
}
no_surprises($node);
$node->stop;
done_testing();
