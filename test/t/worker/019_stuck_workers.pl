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
	"W": {"Type": "Wait", "SecondsPath": "$.seconds", "Next": "T"},
	"T": {"Type": "Task", "Resource": "sql:public.pass", "Parameters": {"gate.$": "$.gate"}, "End": true}}}');
SELECT sf_start('m', '{"gate": "c"}', 'first');
EOC
is($node->safe_psql('postgres', "SELECT sf_await('m:first', '180 s')"), 'SUCCEEDED', 'the task is known to be short');
# Timers that go off one after the other: a busy machine may keep some of them from it.
is($node->safe_psql('postgres', q(SELECT count(sf_start('timer', jsonb_build_object('gate', 'c', 'seconds', n),
	't' || n)) FROM generate_series(3, 7) AS n)), '5', 'timers are set');

# Both workers in tasks that were short the last time.
my $session = $node->background_psql('postgres');
$session->query_safe("BEGIN; SELECT FROM gate WHERE name IN ('a', 'b') FOR UPDATE");
$node->safe_psql('postgres', q(SELECT sf_start('m', '{"gate": "a"}', 'a'), sf_start('m', '{"gate": "b"}', 'b')));
ok( $node->poll_query_until('postgres',
		"SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'sfflow worker' AND wait_event_type = 'Lock'"),
	'both workers hang');
$node->safe_psql('postgres', q(SELECT sf_start('m', '{"gate": "c"}', 'c')));
is($node->safe_psql('postgres', "SELECT sf_await('m:c', '180 s')"), 'SUCCEEDED', 'something else runs all the same');
is($node->safe_psql('postgres', "SELECT DISTINCT sf_await('timer:t' || n, '180 s') FROM generate_series(3, 7) AS n"),
	'SUCCEEDED', 'timers go off all the same');
cmp_ok($node->safe_psql('postgres', "SELECT min(extract(epoch FROM stopped_at - started_at)
	- (input ->> 'seconds')::integer) FROM sf_executions WHERE state_machine = 'timer'"),
	'<', 1.5, '... about on time');
$session->query_safe('COMMIT');
is($node->safe_psql('postgres', "SELECT sf_await('m:a', '180 s'), sf_await('m:b', '180 s')"), 'SUCCEEDED|SUCCEEDED',
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
	PERFORM sf_await(format('quick:%s-warm-%s', round, n), '180 s') FROM generate_series(1, 40) n;
	COMMIT;
	PERFORM pg_sleep(0.01);
	PERFORM sf_start('m', '{"gate": "a"}', round || '-hangs');
	COMMIT;
	PERFORM pg_sleep(0.0002 * (round % 6));
	PERFORM sf_start('quick', '{"gate": "c"}', round || '-next');
	COMMIT;
	PERFORM sf_await(format('quick:%s-next', round), '180 s');
	COMMIT;
END $$;
SELECT sf_create_state_machine('quick', '{"StartAt": "T", "States": {
	"T": {"Type": "Task", "Resource": "sql:public.pass", "End": true}}}');
EOC
my @slow;
for my $round (1 .. 12, map { 12 + $_ } 1 .. 6)
{
	# Those that were slow, maybe since the machine was busy, are tried again once, each with the same pauses.
	next if $round > 12 && !grep { $_ <= 12 && $_ % 6 == $round % 6 } @slow;
	$node->safe_psql('postgres', qq(SELECT sf_start('m', '{"gate": "c"}', '$round-short-' || n)
		FROM generate_series(1, 3) n));
	$node->safe_psql('postgres', qq(SELECT sf_await('m:$round-short-' || n, '180 s') FROM generate_series(1, 3) n));
	$session->query_safe("BEGIN; SELECT FROM gate WHERE name = 'a' FOR UPDATE");
	$node->safe_psql('postgres', "CALL one_after_the_other($round)");
	$session->query_safe('COMMIT');
	$node->safe_psql('postgres', "SELECT sf_await('m:$round-hangs', '180 s')");
	my $took = $node->safe_psql('postgres', "SELECT extract(epoch FROM started_at - requested_at)
		FROM sf_executions WHERE execution_id = 'quick:$round-next'");
	note("round $round: after $took s");
	push @slow, $round if $took >= 0.5;
}
is(join(' ', grep { $_ > 12 } @slow), '', 'what comes just then is left to another worker');

# A session that keeps executions locked.
$session->query_safe("SELECT FROM gate");
$node->safe_psql('postgres', q(ALTER SYSTEM SET sfflow.debug_point = 'step_over:sleep=300'; SELECT pg_reload_conf()));
$node->safe_psql('postgres', q(SELECT sf_start('m', '{"gate": "c"}', 'k' || n) FROM generate_series(1, 2) n));
$session->query_safe("BEGIN; SELECT sf_stop('m:k1'); SELECT sf_stop('m:k2')");
$node->safe_psql('postgres', q(ALTER SYSTEM RESET sfflow.debug_point; SELECT pg_reload_conf()));
$node->safe_psql('postgres', q(SELECT sf_start('m', '{"gate": "c"}', 'd')));
is($node->safe_psql('postgres', "SELECT sf_await('m:d', '180 s')"), 'SUCCEEDED',
	'executions that a session keeps locked stop nobody else');
$session->query_safe('COMMIT');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables are in order');

$session->quit;
$node->stop;
done_testing();
