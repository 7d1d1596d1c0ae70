# What a crash interrupts runs again, once; what causes crashes is found and made to fail.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', <<'EOC');
shared_preload_libraries = 'sfflow'
restart_after_crash = on
sfflow.max_crashes = 2
EOC
$node->start;

$node->safe_psql('postgres', <<'EOC');
CREATE EXTENSION sfflow;
CREATE TABLE ledger (execution text, job text);
-- Executions of a later round wait inside of their tasks.
CREATE TABLE gate (round integer);
INSERT INTO gate VALUES (0);
CREATE FUNCTION job(execution text, job text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.ledger VALUES (execution, job);
	PERFORM pg_catalog.pg_sleep(0.02);
	WHILE execution::integer / 100 > (SELECT g.round FROM public.gate AS g) LOOP
		PERFORM pg_catalog.pg_sleep(0.02);
	END LOOP;
	RETURN pg_catalog.jsonb_build_object('execution', execution);
END $$;
SELECT sf_create_state_machine('chain', '{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:public.job", "Next": "B",
		"Parameters": {"execution.$": "$.execution", "job": "A"}},
	"B": {"Type": "Task", "Resource": "sql:public.job", "Next": "C",
		"Parameters": {"execution.$": "$.execution", "job": "B"}},
	"C": {"Type": "Task", "Resource": "sql:public.job", "End": true,
		"Parameters": {"execution.$": "$.execution", "job": "C"}}}}');
EOC

for my $round (1 .. 3)
{
	$node->safe_psql('postgres',
		"SELECT sf_start('chain', jsonb_build_object('execution', $round * 100 + n), 'e$round.' || n)
			FROM generate_series(1, 20) n");
	# A process may have no task at the moment of a look.
	my $killed = 0;
	for (1 .. 1000)
	{
		last if $killed = kill_worker($node, 'execution_id IS NOT NULL');
	}
	ok($killed, "worker killed in the middle of a task, round $round");
	$node->safe_psql('postgres', "UPDATE gate SET round = $round");
	# The next kill is to meet no suspect of this one, which would fail when that has happened twice.
	$node->poll_query_until('postgres', "SELECT count(*) = 20 * $round FROM sf_executions WHERE status = 'SUCCEEDED'")
	  or die 'executions do not end';
}
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 60 FROM sf_executions WHERE status = 'SUCCEEDED'"),
	'every execution ends');
is( $node->safe_psql('postgres', "SELECT count(*), count(DISTINCT (execution, job)) FROM ledger"),
	'180|180', 'every job ran once');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables are in order');
# A worker clears it after the commit that ends the execution.
ok($node->poll_query_until('postgres', "SELECT ok FROM sf_health WHERE item = 'suspects'"), 'no suspect is left');

# A step that kills its server each time, next to others that do not.
$node->safe_psql('postgres', <<'EOC');
CREATE FUNCTION killer(input jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE pg_catalog.format('COPY (SELECT 1) TO PROGRAM ''kill -9 %s''', pg_catalog.pg_backend_pid());
	RETURN input;
END $$;
SELECT sf_create_state_machine('poison',
	'{"StartAt": "K", "States": {"K": {"Type": "Task", "Resource": "sql:public.killer", "End": true}}}');
TRUNCATE ledger;
SELECT sf_start('chain', jsonb_build_object('execution', n), 'f' || n) FROM generate_series(1, 20) n;
SELECT sf_start('poison', '{}', 'p');
EOC
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM sf_executions WHERE state_machine = 'poison' AND status = 'FAILED'"),
	'a step that crashes the server is made to fail');
is( $node->safe_psql('postgres',
		"SELECT error, cause FROM sf_executions WHERE execution_id = 'poison:p'"),
	'States.Runtime|The server crashed 2 times while this step ran alone. State: \'K\'.', '... with a clear cause');
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 80 FROM sf_executions WHERE state_machine = 'chain' AND status = 'SUCCEEDED'"),
	'... and the others have run');
is( $node->safe_psql('postgres', "SELECT count(*), count(DISTINCT (execution, job)) FROM ledger"),
	'60|60', '... once');
is(scalar(() = slurp_file(
	$node->logfile) =~ /server process .*crash|terminating any other active server processes/g) > 0,
	1, 'there were crashes');

# A clean stop in the middle of work leaves no suspects.
$node->safe_psql('postgres',
	"TRUNCATE ledger; SELECT sf_start('chain', jsonb_build_object('execution', n), 'g' || n)
		FROM generate_series(1, 20) n");
$node->restart;
is( $node->safe_psql('postgres', "SELECT ok FROM sf_health WHERE item = 'suspects'"),
	't', 'a clean stop leaves no suspect');
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 100 FROM sf_executions WHERE state_machine = 'chain' AND status = 'SUCCEEDED'"),
	'and the work goes on after the start');
is( $node->safe_psql('postgres', "SELECT count(*), count(DISTINCT (execution, job)) FROM ledger"),
	'60|60', 'every job once');
$node->stop;

done_testing();
