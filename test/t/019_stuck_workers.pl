# Workers that hang, in a lock that a session keeps or in a task that used to be short, stop nobody else.
#
# Runs alone: it measures times.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', <<'EOC');
shared_preload_libraries = 'sfflow'
max_worker_processes = 16
sfflow.poll_interval = 3600
EOC
$node->start;

$node->safe_psql('postgres', <<'EOC');
CREATE EXTENSION sfflow;
CREATE TABLE gate (name text PRIMARY KEY);
INSERT INTO gate VALUES ('a'), ('b'), ('c');
-- As long as the row of the gate is locked.
CREATE FUNCTION pass(gate text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM public.gate g WHERE g.name OPERATOR(pg_catalog.=) pass.gate FOR UPDATE;
END $$;
SELECT sf_create_state_machine('m', '{"StartAt": "T", "States": {
	"T": {"Type": "Task", "Resource": "sql:public.pass", "End": true}}}');
SELECT sf_create_state_machine('timer', '{"StartAt": "W", "States": {
	"W": {"Type": "Wait", "Seconds": 3, "Next": "T"},
	"T": {"Type": "Task", "Resource": "sql:public.pass", "End": true}}}');
SELECT sf_start('m', '{"gate": "c"}', 'first');
EOC
is($node->safe_psql('postgres', "SELECT sf_await('m:first')"), 'SUCCEEDED', 'the task is known to be short');
is($node->safe_psql('postgres', "SELECT sf_start('timer', '{\"gate\": \"c\"}', 't')"), 'timer:t', 'a timer is set');

# Both workers in tasks that were short the last time.
my $session = $node->background_psql('postgres');
$session->query_safe("BEGIN; SELECT FROM gate WHERE name IN ('a', 'b') FOR UPDATE");
$node->safe_psql('postgres', q(SELECT sf_start('m', '{"gate": "a"}', 'a'), sf_start('m', '{"gate": "b"}', 'b')));
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'sfflow worker' AND wait_event_type = 'Lock'"),
	'both workers hang');
$node->safe_psql('postgres', q(SELECT sf_start('m', '{"gate": "c"}', 'c')));
is($node->safe_psql('postgres', "SELECT sf_await('m:c')"), 'SUCCEEDED', 'something else runs all the same');
is($node->safe_psql('postgres', "SELECT sf_await('timer:t')"), 'SUCCEEDED', 'a timer goes off all the same');
cmp_ok($node->safe_psql('postgres',
	"SELECT extract(epoch FROM stopped_at - started_at) FROM sf_executions WHERE execution_id = 'timer:t'"),
	'<', 4.5, '... about on time');
$session->query_safe('COMMIT');
is($node->safe_psql('postgres', "SELECT sf_await('m:a'), sf_await('m:b')"), 'SUCCEEDED|SUCCEEDED',
	'those that hung end');
ok( $node->poll_query_until('postgres', "SELECT count(*) <= 2 FROM sf_workers WHERE role <> 'launcher'"),
	'and there are no more workers than there should be');

# What is committed the moment a worker begins to hang in a task that used to be short is not left to
# that worker, whether it has taken it by then or not.
$node->safe_psql('postgres', <<'EOC');
CREATE PROCEDURE one_after_the_other(round integer) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_start('quick', '{"gate": "c"}', format('%s-warm-%s', round, n)) FROM generate_series(1, 40) n;
	COMMIT;
	PERFORM sf_await(format('quick:%s-warm-%s', round, n)) FROM generate_series(1, 40) n;
	COMMIT;
	PERFORM pg_sleep(0.01);
	PERFORM sf_start('m', '{"gate": "a"}', round || '-hangs');
	COMMIT;
	PERFORM pg_sleep(0.0002 * (round % 6));
	PERFORM sf_start('quick', '{"gate": "c"}', round || '-next');
	COMMIT;
	PERFORM sf_await(format('quick:%s-next', round));
	COMMIT;
END $$;
SELECT sf_create_state_machine('quick', '{"StartAt": "T", "States": {
	"T": {"Type": "Task", "Resource": "sql:public.pass", "End": true}}}');
EOC
for my $round (1 .. 12)
{
	$node->safe_psql('postgres', qq(SELECT sf_start('m', '{"gate": "c"}', '$round-short-' || n)
		FROM generate_series(1, 3) n));
	$node->safe_psql('postgres', qq(SELECT sf_await('m:$round-short-' || n) FROM generate_series(1, 3) n));
	$session->query_safe("BEGIN; SELECT FROM gate WHERE name = 'a' FOR UPDATE");
	$node->safe_psql('postgres', "CALL one_after_the_other($round)");
	$session->query_safe('COMMIT');
	$node->safe_psql('postgres', "SELECT sf_await('m:$round-hangs')");
}
my $slowest = $node->safe_psql('postgres', q{SELECT max(extract(epoch FROM started_at - requested_at))
	FROM sf_executions WHERE execution_id LIKE 'quick:%-next'});
cmp_ok($slowest, '<', 0.5, 'what comes just then is left to another worker');
note("after $slowest s");

# A session that keeps executions locked.
$session->query_safe("SELECT FROM gate");
$node->safe_psql('postgres', q(ALTER SYSTEM SET sfflow.debug_point = 'step_over:sleep=300'; SELECT pg_reload_conf()));
$node->safe_psql('postgres', q(SELECT sf_start('m', '{"gate": "c"}', 'k' || n) FROM generate_series(1, 2) n));
$session->query_safe("BEGIN; SELECT sf_stop('m:k1'); SELECT sf_stop('m:k2')");
$node->safe_psql('postgres', q(ALTER SYSTEM RESET sfflow.debug_point; SELECT pg_reload_conf()));
$node->safe_psql('postgres', q(SELECT sf_start('m', '{"gate": "c"}', 'd')));
is($node->safe_psql('postgres', "SELECT sf_await('m:d')"), 'SUCCEEDED',
	'executions that a session keeps locked stop nobody else');
$session->query_safe('COMMIT');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables are in order');

$session->quit;
$node->stop;
done_testing();
