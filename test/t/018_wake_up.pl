# What becomes due is picked up at once: by a commit, never before it, and whatever rings no bell by a poll.
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
max_prepared_transactions = 5
max_worker_processes = 16
sfflow.poll_interval = 3600
EOC
$node->start;

$node->safe_psql('postgres', <<'EOC');
CREATE EXTENSION sfflow;
CREATE FUNCTION began() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() $$;
SELECT sf_create_state_machine('m',
	'{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "sql:public.began", "End": true}}}');
SELECT sf_create_state_machine('wait', '{"StartAt": "W", "States": {
	"W": {"Type": "Wait", "SecondsPath": "$.seconds", "Next": "S"},
	"S": {"Type": "Task", "Resource": "sql:public.began", "Parameters": {}, "End": true}}}');
SELECT sf_start('m', '{}', 'first');
EOC
is($node->safe_psql('postgres', "SELECT sf_await('m:first')"), 'SUCCEEDED', 'the first one runs');

# From the commit to the task: starts one after the other, each waited for.
my $latency = $node->safe_psql('postgres', <<'EOC');
CREATE TABLE latency (ms float8);
CREATE PROCEDURE measure(n integer) LANGUAGE plpgsql AS $$
DECLARE
	committed timestamptz;
	id text;
BEGIN
	FOR i IN 1 .. n LOOP
		id := sf_start('m', '{}', 'n' || i);
		COMMIT;
		committed := clock_timestamp();
		PERFORM sf_await(id);
		INSERT INTO latency SELECT extract(epoch FROM (output #>> '{}')::timestamptz - committed) * 1000
			FROM sf_executions WHERE execution_id = id;
		COMMIT;
	END LOOP;
END $$;
CALL measure(200);
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ms) FROM latency;
EOC
cmp_ok($latency, '<', 5, 'from the commit to the task: p50 in milliseconds');
note('p95: ', $node->safe_psql('postgres',
	'SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY ms) FROM latency'));

# Nothing runs before the commit, nothing after a rollback.
my $session = $node->background_psql('postgres');
$session->query_safe("BEGIN; SELECT sf_start('m', '{}', 'open')");
$session->query_safe("SAVEPOINT s; SELECT sf_start('m', '{}', 'undone'); ROLLBACK TO s");
$node->safe_psql('postgres', "SELECT sf_start('m', '{}', 'meanwhile')");
is($node->safe_psql('postgres', "SELECT sf_await('m:meanwhile')"), 'SUCCEEDED', 'others run meanwhile');
$session->query_safe('COMMIT');
is($node->safe_psql('postgres', "SELECT sf_await('m:open')"), 'SUCCEEDED', 'a start runs once it is committed');
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE execution_id = 'm:undone'"),
	'0', 'what was rolled back is not there');
$session->quit;

# Timers: the earliest counts, whatever order they were set in.
$node->safe_psql('postgres', <<'EOC');
SELECT sf_start('wait', '{"seconds": 3000}', 'hours');
SELECT sf_start('wait', '{"seconds": 2}', 'two');
SELECT sf_start('wait', '{"seconds": 1}', 'one');
EOC
is($node->safe_psql('postgres', "SELECT sf_await('wait:two'), sf_await('wait:one')"),
	'SUCCEEDED|SUCCEEDED', 'timers go off');
cmp_ok(
	$node->safe_psql('postgres',
		"SELECT max(abs(extract(epoch FROM (output #>> '{}')::timestamptz - started_at)
			- (input ->> 'seconds')::integer))
		 FROM sf_executions WHERE execution_id IN ('wait:one', 'wait:two')"),
	'<', 0.5, '... on time');

# A timer that went off while a session had the branch in hand, and then rolled back.
$node->safe_psql('postgres', "SELECT sf_start('wait', '{\"seconds\": 1}', 'tried')");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_history WHERE execution_id = 'wait:tried'
	AND type = 'WaitStateEntered'")
  or die 'the timer is not set';
$node->safe_psql('postgres', <<'EOC');
BEGIN;
SELECT sf_run('wait:tried', skip_waits => true);
SELECT pg_sleep_until(started_at + '1.3 s') FROM sf_executions WHERE execution_id = 'wait:tried';
ROLLBACK;
EOC
is($node->safe_psql('postgres', "SELECT sf_await('wait:tried')"), 'SUCCEEDED', 'what a session let go of goes on');

# A restart forgets all hints; the tables have everything.
$node->safe_psql('postgres', q(SELECT sf_start('wait', '{"seconds": 1}', 'over')));
$node->restart;
is($node->safe_psql('postgres', "SELECT sf_await('wait:over')"), 'SUCCEEDED', 'a timer survives a restart');

# A prepared transaction rings no bell.
$node->safe_psql('postgres',
	"BEGIN; SELECT sf_start('m', '{}', 'prepared'); PREPARE TRANSACTION 'p'");
$node->safe_psql('postgres', "COMMIT PREPARED 'p'");
$node->append_conf('postgresql.conf', "sfflow.poll_interval = 1\n");
$node->reload;
is($node->safe_psql('postgres', "SELECT sf_await('m:prepared')"), 'SUCCEEDED', 'a poll finds what rang no bell');

$node->stop;
done_testing();
