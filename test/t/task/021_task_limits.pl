# How a SQL task in a worker is ended from outside: by its time limit, by sf_stop, by an administrator,
# by the locks of others.
#
# Runs alone: it measures times.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', <<'CONF');
shared_preload_libraries = 'sfflow'
sfflow.workers = 2
sfflow.max_workers = 6
CONF
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION sfflow;
CREATE ROLE shop;
CREATE SCHEMA shop AUTHORIZATION shop;
SET SESSION AUTHORIZATION shop;
CREATE TABLE shop.run (execution text, started timestamptz DEFAULT clock_timestamp());
CREATE SEQUENCE shop.calls;
CREATE FUNCTION shop.work(name text, seconds float8) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	call bigint := nextval('shop.calls');
BEGIN
	INSERT INTO shop.run VALUES (name);
	PERFORM pg_sleep(seconds) WHERE call = 1 OR name <> 'canceled';
	RETURN call;
END $$;
SELECT sf_create_state_machine('limited', $m${"StartAt": "Work", "States": {
	"Work": {"Type": "Task", "Resource": "sql:shop.work", "TimeoutSeconds": 1,
		"Parameters": {"name.$": "$$.Execution.Name", "seconds.$": "$.seconds"},
		"Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "Late"}], "End": true},
	"Late": {"Type": "Pass", "End": true}}}$m$);
SELECT sf_create_state_machine('free', $m${"StartAt": "Work", "States": {
	"Work": {"Type": "Task", "Resource": "sql:shop.work",
		"Parameters": {"name.$": "$$.Execution.Name", "seconds.$": "$.seconds"}, "End": true}}}$m$);
SQL

# Wait until the task of an execution runs; returns the worker's pid.
sub wait_until_running
{
	my $name = shift;
	$node->poll_query_until('postgres', <<"SQL") or die "no worker sleeps";
SELECT count(*) = 1 FROM pg_stat_activity AS a JOIN sf_workers USING (pid)
WHERE execution_id = '$name' AND a.wait_event = 'PgSleep'
SQL
	return $node->safe_psql('postgres', "SELECT pid FROM sf_workers WHERE execution_id = '$name'");
}

# The time limit: States.Timeout with an empty cause; the work is undone.
my $begin = time;
$node->safe_psql('postgres', q{SELECT sf_start('limited', '{"seconds": 3600}', 'late')});
is($node->safe_psql('postgres', "SELECT sf_await('limited:late', '180 s')"), 'SUCCEEDED', 'a timeout is caught');
cmp_ok(time - $begin, '<', 100, 'in time');
is($node->safe_psql('postgres', "SELECT output FROM sf_executions WHERE execution_id = 'limited:late'"),
	'{"Cause": "", "Error": "States.Timeout"}', 'and has an empty cause, as in Step Functions');
is($node->safe_psql('postgres', "SELECT count(*) FROM shop.run"), '0', 'its work is rolled back');

# A task that is stopped: cancelled within a second, rolled back, ABORTED. A busy machine may slow one try down.
my $took;
for my $try (1 .. 4)
{
	$node->safe_psql('postgres', q{SELECT sf_start('free', '{"seconds": 3600}', 'stopped', 'restart')});
	wait_until_running('free:stopped');
	$begin = time;
	is($node->safe_psql('postgres', "SELECT sf_stop('free:stopped', 'Enough')"), 'ABORTED', "sf_stop, try $try");
	$node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'") or die 'it sleeps on';
	$took = time - $begin;
	last if $took < 2;
}
cmp_ok($took, '<', 2, 'ends the task at once');
is($node->safe_psql('postgres', "SELECT status, error FROM sf_executions WHERE name = 'stopped'"),
	'ABORTED|Enough', 'the execution is aborted');
is($node->safe_psql('postgres', "SELECT count(*) FROM shop.run"), '0', 'its work is rolled back');

# A cancel that nobody asked the task for is not its failure: it runs again.
$node->safe_psql('postgres', 'ALTER SEQUENCE shop.calls RESTART');
$node->safe_psql('postgres', q{SELECT sf_start('free', '{"seconds": 3600}', 'canceled')});
my $pid = wait_until_running('free:canceled');
is($node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)"), 't', 'an administrator cancels a task');
is($node->safe_psql('postgres', "SELECT sf_await('free:canceled', '180 s')"), 'SUCCEEDED', 'which runs again');
is($node->safe_psql('postgres', "SELECT output FROM sf_executions WHERE name = 'canceled'"), '2', 'as a second call');
is($node->safe_psql('postgres', "SELECT count(*) FROM shop.run WHERE execution = 'canceled'"), '1', 'done once');

# What cannot be serialized is rolled back and tried again, with the whole slice; at last it is an error
# that can be caught.
$node->safe_psql('postgres', <<'SQL');
SET SESSION AUTHORIZATION shop;
CREATE FUNCTION shop.clash(until integer) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	IF nextval('shop.calls') < until THEN
		RAISE serialization_failure;
	END IF;
	RETURN currval('shop.calls');
END $$;
SELECT sf_create_state_machine('clashing', $m${"StartAt": "Clash", "States": {
	"Clash": {"Type": "Task", "Resource": "sql:shop.clash",
		"Catch": [{"ErrorEquals": ["serialization_failure"], "Next": "Caught"}], "End": true},
	"Caught": {"Type": "Pass", "Result": "caught", "End": true}}}$m$);
SQL
for my $case ([ 3, '3' ], [ 1000, '"caught"' ])
{
	my ($until, $output) = @$case;
	$node->safe_psql('postgres', 'ALTER SEQUENCE shop.calls RESTART');
	$node->safe_psql('postgres', qq{SELECT sf_start('clashing', '{"until": $until}', 'until-$until')});
	is($node->safe_psql('postgres', "SELECT sf_await('clashing:until-$until', '180 s')"), 'SUCCEEDED',
		"serialization until $until");
	is($node->safe_psql('postgres', "SELECT output FROM sf_executions WHERE name = 'until-$until'"), $output,
		'ends as it should');
}

# Slices that hold many locks meet in deadlocks; none of their tasks fails for it.
$node->safe_psql('postgres', <<'SQL');
SET SESSION AUTHORIZATION shop;
CREATE TABLE shop.stock (id integer PRIMARY KEY, n integer NOT NULL);
INSERT INTO shop.stock SELECT g, 0 FROM generate_series(1, 5) AS g;
CREATE FUNCTION shop.book(id integer) RETURNS void LANGUAGE sql
AS $$ UPDATE shop.stock SET n = n + 1 WHERE stock.id = book.id; SELECT pg_sleep(0.001) $$;
SELECT sf_create_state_machine('booking', $m${"StartAt": "Each", "States": {
	"Each": {"Type": "Map", "ItemsPath": "$.ids", "End": true, "ItemProcessor": {"StartAt": "Book", "States": {
		"Book": {"Type": "Task", "Resource": "sql:shop.book", "Parameters": {"id.$": "$"}, "End": true}}}}}}$m$);
RESET SESSION AUTHORIZATION;
ALTER ROLE shop SET deadlock_timeout = '20ms';
SQL
my ($rounds, $deadlocks) = (0, 0);
while ($deadlocks == 0 && $rounds < 30)
{
	$rounds++;
	$node->safe_psql('postgres', qq{SELECT sf_start('booking',
		jsonb_build_object('ids', (SELECT jsonb_agg(1 + (m * g) % 5)
		FROM generate_series(1, 100) AS g)), 'round$rounds-' || m) FROM generate_series(1, 4) AS m});
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'")
		or die 'no end';
	$deadlocks = $node->safe_psql('postgres', 'SELECT sum(deadlocks) FROM pg_stat_database');
}
is($node->safe_psql('postgres', "SELECT status, count(*) FROM sf_executions WHERE state_machine = 'booking'
	GROUP BY status"),
	'SUCCEEDED|' . 4 * $rounds, 'slices that meet in deadlocks succeed');
is($node->safe_psql('postgres', 'SELECT sum(n) FROM shop.stock'), 400 * $rounds, 'and each task of theirs once');
cmp_ok($deadlocks, '>', 0, 'though there were deadlocks');
note("$deadlocks of them in $rounds rounds");
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'sf_check() finds nothing');

$node->stop;
done_testing();
