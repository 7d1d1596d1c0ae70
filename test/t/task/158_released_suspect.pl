# A suspect of a crash that takes long is released: tasks of others run beside it from then on.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 1\nsfflow.max_workers = 4\n");
$node->safe_psql('postgres', <<'EOS');
CREATE TABLE gate (open boolean);
INSERT INTO gate VALUES (false);
CREATE FUNCTION waits(input jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	WHILE NOT (SELECT open FROM public.gate) LOOP PERFORM pg_sleep(0.1); END LOOP;
END $$;
CREATE FUNCTION quick(input jsonb) RETURNS void LANGUAGE sql AS 'SELECT';
EOS
for my $name (qw(waits quick))
{
	my $definition = one_task("public.$name");
	$node->safe_psql('postgres', "SELECT sf_create_state_machine('$name', '$definition')");
}

# The server crashes while one task runs, which then waits alone for longer than others are to wait for it.
$node->safe_psql('postgres', "SELECT sf_start('waits', '{}', 'x')");
my $task = "SELECT pid FROM sf_workers WHERE execution_id = 'waits:x'";
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($task) AS t") or die 'no task';
my $pid = $node->safe_psql('postgres', $task);
kill 'KILL', $pid;
wait_gone($pid);
ok(recovered($node), 'the server is back after a crash');
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($task) AS t"), 'the suspect runs');

$node->safe_psql('postgres', "SELECT sf_start('quick', '{}', 'y')");
is($node->safe_psql('postgres', "SELECT sf_await('quick:y', '180 s')"), 'SUCCEEDED', 'another task runs meanwhile');
is($node->safe_psql('postgres', "SELECT status FROM sf_executions WHERE name = 'x'"), 'RUNNING',
	'... beside the suspect');

$node->safe_psql('postgres', 'UPDATE gate SET open = true');
is($node->safe_psql('postgres', "SELECT sf_await('waits:x', '180 s')"), 'SUCCEEDED', 'which ends as well');
no_surprises($node);
$node->stop;
done_testing();
