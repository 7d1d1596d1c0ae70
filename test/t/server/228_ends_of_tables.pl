# Past the end of what has one in shared memory (docs/reliability.md): databases, owners with due work, keys of due
# branches, notices of a transaction, lines for the log.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.max_databases = 2\nsfflow.poll_interval = 5\n");
my $pass = q(SELECT sf_create_state_machine('m',
	'{"StartAt": "P", "States": {"P": {"Type": "Wait", "Seconds": 0, "Next": "Q"}, "Q": {"Type": "Pass",
	"End": true}}}'));

# --- more databases than there is room for

$node->safe_psql('postgres', 'CREATE DATABASE second');
$node->safe_psql('second', 'CREATE EXTENSION sfflow');
$node->safe_psql('postgres', "$pass; SELECT sf_start('m', '{}', 'a')");
ok(ended($node), 'the first database is driven');
$node->safe_psql('second', "$pass; SELECT sf_start('m', '{}', 'a')");
ok(ended($node, 'second'), 'so is the second one');
$node->safe_psql('postgres', 'CREATE DATABASE third');
$node->safe_psql('third', "CREATE EXTENSION sfflow; $pass; SELECT sf_start('m', '{}', 'a')");
like($node->safe_psql('third', "SELECT ok, detail FROM sf_health WHERE item = 'worker slots'"),
	qr/^f\|.*no room for this database: increase sfflow.max_databases/, 'sf_health of the third one says what to do');
is($node->safe_psql('third', "SELECT sf_run('m:a')"), 'SUCCEEDED', '... where calls work');
is($node->safe_psql('postgres', "SELECT ok FROM sf_health WHERE item = 'worker slots'"), 't',
	'... and the first one does not mind');
$node->safe_psql('postgres', "SELECT sf_start('m', '{}', 'b')");
ok(ended($node), '... and goes on');
patiently($node, 'DROP DATABASE second');
$node->safe_psql('third', "SELECT sf_start('m', '{}', 'b')");
ok(ended($node, 'third'), 'the third one is driven when there is room');

# --- more owners with due work than the ring, or a database, has room for

my $owners = 300;
$node->safe_psql('postgres', <<"EOS");
CREATE FUNCTION nothing() RETURNS void LANGUAGE sql AS '';
DO \$\$ BEGIN
	FOR i IN 1 .. $owners LOOP
		EXECUTE format('CREATE ROLE r%s', i);
		EXECUTE format('SET LOCAL ROLE r%s', i);
		PERFORM sf_create_state_machine('r' || i,
			'{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.nothing", "End": true}}}');
		RESET ROLE;
	END LOOP;
END \$\$;
EOS
$node->safe_psql('postgres', "SELECT sf_start('r' || i, '{}', n::text) FROM generate_series(1, $owners) AS i,
	generate_series(1, 2) AS n");
ok(ended($node), "executions of $owners owners end");
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE status = 'SUCCEEDED'
	AND execution_id ~ '^r'"), 2 * $owners, '... all of them');

# --- more tasks than the table of how long they took has room for

$node->safe_psql('postgres', <<'EOS');
CREATE FUNCTION nothing_again(payload jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS 'SELECT payload';
SELECT sf_create_state_machine('d' || i, jsonb_build_object('StartAt', 'T1', 'States', (
	SELECT jsonb_object_agg('T' || n, jsonb_build_object('Type', 'Task', 'Resource', 'sql:public.nothing_again')
		|| CASE n WHEN 300 THEN '{"End": true}'::jsonb ELSE jsonb_build_object('Next', 'T' || n + 1) END)
	FROM generate_series(1, 300) AS n))::text::json)
FROM generate_series(1, 8) AS i;
EOS
for my $time (qw(first second))
{
	$node->safe_psql('postgres', "SELECT sf_start('d' || i, '{}', '$time') FROM generate_series(1, 8) AS i");
	ok(ended($node), "2,400 tasks run the $time time");
}
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE status = 'SUCCEEDED'
	AND state_machine ~ '^d'"), '16', '... whether it is known how long they took or not');

# --- more keys than the ring holds, and cancels of as many, in one transaction

$node->safe_psql('postgres', "SELECT count(*)
	FROM sf_start_many('m', ARRAY(SELECT '{}'::jsonb FROM generate_series(1, 6000)))");
ok(ended($node), '6,000 executions that are due at once end');
$node->safe_psql('postgres', q(SELECT sf_create_state_machine('w',
	'{"StartAt": "P", "States": {"P": {"Type": "Wait", "Seconds": 3600, "End": true}}}')));
$node->safe_psql('postgres', "SELECT count(*)
	FROM sf_start_many('w', ARRAY(SELECT '{}'::jsonb FROM generate_series(1, 3000)))");
my $memory = q(SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name = 'TopMemoryContext');
my ($before, $after) = grep { /^\d+$/ } split /\n/, $node->safe_psql('postgres', <<"EOS");
SELECT sf_start('w', '{}', 'one');
SELECT sf_stop('w:one');
$memory;
DO \$\$ BEGIN PERFORM sf_stop(e.execution_id) FROM sf_executions AS e WHERE e.status = 'RUNNING'; END \$\$;
$memory;
EOS
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE status = 'RUNNING'"), '0',
	'3,000 are stopped in one transaction');
cmp_ok($after - $before, '<', 100_000, '... whose notices leave no memory behind');

# --- an error where a line for the log is written: the transaction has committed, and the server goes on

$node->safe_psql('postgres', q(SELECT sf_create_state_machine('f',
	'{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "Bad"}}}')));
my $started = $node->safe_psql('postgres',
	'SELECT pg_postmaster_start_time(), pid FROM sf_workers WHERE role = $$launcher$$');
is($node->safe_psql('postgres', "SET sfflow.debug_point = 'failure_log:error'; SELECT sf_start('f', '{}', 'a'),
	sf_run('f:a'); SELECT 1"), "f:a|FAILED\n1", 'an error while a line is logged is not that of the session');
$node->safe_psql('postgres', "ALTER SYSTEM SET sfflow.debug_point = 'failure_log:error'; SELECT pg_reload_conf()");
$node->safe_psql('postgres', "SELECT sf_start('f', '{}', 'b')");
ok(ended($node), '... nor of a worker');
$node->safe_psql('postgres', "ALTER SYSTEM RESET sfflow.debug_point; SELECT pg_reload_conf()");
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time(), pid FROM sf_workers WHERE role = $$launcher$$'),
	$started, 'no process has crashed');
unlike(slurp_file($node->logfile), qr/PANIC/, '... or panicked');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');
$node->stop;

done_testing();
