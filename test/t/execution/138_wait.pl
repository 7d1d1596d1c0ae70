# CALL sf_wait waits for the end of an execution without a snapshot, so that vacuum removes what its steps have updated.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main');
$node->safe_psql('postgres', <<'EOC');
CREATE FUNCTION quick(n integer) RETURNS integer LANGUAGE sql AS 'SELECT n';
SELECT sf_create_state_machine('slow', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "SecondsPath": "$.seconds",
	"End": true}}}');
SELECT sf_create_state_machine('map', '{"StartAt": "M", "States": {"M": {"Type": "Map", "MaxConcurrency": 100,
	"ItemsPath": "$.items",
	"ResultPath": null, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "T",
	"States": {"T": {"Type": "Task", "Resource": "sql:public.quick", "Parameters": {"n.$": "$"}, "End": true}}},
		"End": true}}}');
CREATE PROCEDURE waits(id text, INOUT status text DEFAULT NULL) LANGUAGE plpgsql AS $$
BEGIN
	CALL sf_wait(id, '1 min', status);
	PERFORM count(*) FROM pg_class;
	COMMIT;
	CALL sf_wait(id, '1 min', status);
END $$;
CREATE FUNCTION waits_inside(id text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	status text;
BEGIN
	CALL sf_wait(id, '1 min', status);
	RETURN status;
END $$;
EOC

# Start an execution of so many seconds.
sub start
{
	my ($name, $seconds) = @_;
	$node->safe_psql('postgres', "SELECT sf_start('slow', '{\"seconds\": $seconds}', '$name')");
	return;
}

# While a session waits with a statement, tell whether it holds a snapshot.
sub holds_snapshot
{
	my ($statement) = @_;
	my $session = $node->background_psql('postgres');
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	$session->query_until(qr/begun/, "\\echo begun\n$statement;\n");
	# Between two waits it looks, with a snapshot.
	my $held = '';
	for (1 .. 1000)
	{
		$held = $node->safe_psql('postgres', "SELECT backend_xmin IS NOT NULL FROM pg_stat_activity
			WHERE pid = $pid AND wait_event_type = 'Extension' AND state = 'active'");
		last if $held ne '';
	}
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	$session->{run}->finish;
	return $held;
}

start('long', 600);
is(holds_snapshot("SELECT sf_await('slow:long', '1 min')"), 't', 'sf_await holds a snapshot');
is(holds_snapshot("CALL sf_wait('slow:long')"), 'f', 'CALL sf_wait holds none');
is(holds_snapshot("BEGIN; CALL sf_wait('slow:long', '1 min')"), 'f', '... in a transaction block');
is(holds_snapshot("CALL waits('slow:long')"), 'f', '... in a procedure');

# What it gives.
start('short', 1);
is($node->safe_psql('postgres', "CALL sf_wait('slow:short', '1 min')"), 'SUCCEEDED', 'the status at the end');
is($node->safe_psql('postgres', "CALL sf_wait('slow:short')"), 'SUCCEEDED', 'the status of one that has ended');
is($node->safe_psql('postgres', "CALL sf_wait('slow:long', '100 ms')"), 'RUNNING', 'RUNNING at the timeout');
is($node->safe_psql('postgres', "CALL waits('slow:short')"), 'SUCCEEDED', 'in a procedure that commits');
is($node->safe_psql('postgres', "BEGIN; SELECT 1; CALL sf_wait('slow:short'); SELECT count(*) FROM pg_class
	WHERE relname = 'pg_class'; COMMIT"),
	"1\nSUCCEEDED\n1", 'in a transaction that goes on');
is($node->safe_psql('postgres', <<'EOS'), 't', 'a wait after one that was cancelled has its own timeout');
SELECT clock_timestamp() AS began \gset
SET statement_timeout = '1s';
DO $$
BEGIN
	BEGIN
		PERFORM sf_await('slow:long', '5 minutes');
	EXCEPTION WHEN query_canceled THEN NULL;
	END;
	PERFORM sf_await('slow:long', '100 ms');
END $$;
SELECT clock_timestamp() - :'began' < interval '2 minutes';
EOS
$node->safe_psql('postgres', "SELECT sf_stop('slow:long')");
is($node->safe_psql('postgres', "CALL sf_wait('slow:long')"), 'ABORTED', 'one that was stopped');

# Where it cannot wait.
for my $case (
	[ "SELECT waits_inside('slow:short')", qr/sf_wait cannot wait while a query holds a snapshot/, 'in a function' ],
	[ "DO \$\$ DECLARE s text; r record; BEGIN FOR r IN SELECT 1 LOOP CALL sf_wait('slow:short', '1 s', s); END LOOP;
		END \$\$",
		qr/sf_wait cannot wait while a query holds a snapshot/, 'in a loop over a query' ],
	[ "BEGIN ISOLATION LEVEL REPEATABLE READ; CALL sf_wait('slow:short')", qr/of this isolation level/,
		'under REPEATABLE READ' ],
	[ "BEGIN; SELECT sf_start('slow', '{\"seconds\": 1}', 'own'); CALL sf_wait('slow:own')", qr/by this transaction/,
		'for an execution of its own' ],
	[ "CALL sf_wait('slow:nothing')", qr/does not exist/, 'for no execution' ],
	[ "CREATE ROLE nobody; SET ROLE nobody; CALL sf_wait('slow:short')", qr/permission denied|does not exist/,
		'without a right to see it' ])
{
	my ($statement, $error, $name) = @$case;
	my ($code, $out, $err) = $node->psql('postgres', $statement);
	like($err, $error, "refused: $name");
}

# sf_await() takes any timeout, and gives up after five minutes.
is($node->safe_psql('postgres', "SELECT sf_await('slow:short', '1 day')"), 'SUCCEEDED', 'sf_await with a long timeout');
SKIP:
{
	skip 'takes five minutes: SFFLOW_FULL=1', 1 unless full(0, 1);
	start('longer', 400);
	my ($code, $out, $err) = $node->psql('postgres', "SELECT sf_await('slow:longer', '1 day')");
	like("$out $err", qr/^RUNNING.*sf_await waits for at most 5 minutes/, 'ends after five minutes with a notice');
	$node->safe_psql('postgres', "SELECT sf_stop('slow:longer')");
}

# Many items: to wait costs nothing.
my $items = full(5000, 50000);
my %took;
for my $way ('polls', 'sf_wait', 'sf_await')
{
	$node->safe_psql('postgres',
		"SELECT sf_start('map', jsonb_build_object('items', (SELECT jsonb_agg(g) FROM generate_series(1, $items) AS g)),
			'$way')");
	ok(ended($node), 'a Map ends') if $way eq 'polls';
	is($node->safe_psql('postgres', "CALL sf_wait('map:$way')"), 'SUCCEEDED', 'a Map with a session in sf_wait')
		if $way eq 'sf_wait';
	is($node->safe_psql('postgres', "SELECT sf_await('map:$way', '5 min')"), 'SUCCEEDED',
		'a Map with a session in sf_await') if $way eq 'sf_await';
	$took{$way} = $node->safe_psql('postgres',
		"SELECT extract(epoch FROM stopped_at - started_at) FROM sf_executions WHERE execution_id = 'map:$way'");
}
note("$items items: ", join(', ', map { "$_ $took{$_} s" } sort keys %took));

$node->stop;
done_testing();
