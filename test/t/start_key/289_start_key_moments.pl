# Keys of starts at chosen moments, with workers and without a poll: a start that stays open, a worker that has begun an
# execution and not committed, ends beside an open start, crashes, prepared transactions, a redrive, starts without a
# pause, eight sessions at once, and a dump.
# needs: start_key
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('main',
	conf => "sfflow.workers = 2\nsfflow.poll_interval = '1h'\nmax_prepared_transactions = 10\n");

sub sql { return $node->safe_psql('postgres', shift) }

# Wait for a query to give true, long before the next poll.
sub holds
{
	my ($query, $name) = @_;
	return ok($node->poll_query_until('postgres', $query), $name);
}

# A machine whose executions wait for the lock of a number, which is their n.
sql(<<'EOS');
CREATE FUNCTION gate(n integer) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
	PERFORM pg_advisory_xact_lock(n); IF n % 10 = 9 THEN RAISE 'no' USING ERRCODE = 'P0009'; END IF; END $$;
CREATE FUNCTION machine(name text, option jsonb) RETURNS integer LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, '{"StartAt": "B", "States": {"B": {"Type": "Pass", "Next": "T"},
		"T": {"Type": "Task",
		"Resource": "sql:public.gate", "Parameters": {"n.$": "$.n"}, "End": true}}}',
			options => jsonb_build_object('start_key', option)) $$;
CREATE FUNCTION go(machine text, k text, n integer, name text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT sf_start(machine, jsonb_build_object('k', k, 'n', n), coalesce(name, 'e' || n)) $$;
SELECT machine('calm', '{"key": "$.k", "mode": "debounce", "delay": 1, "max_delay": 3}'), machine('one',
	'{"key": "$.k", "mode": "single"}'),
	machine('line', '{"key": "$.k", "mode": "fifo"}'), machine('strict', '{"key": "$.k", "mode": "fifo",
		"on_failure": "stop"}');
EOS
my @others = map { $node->background_psql('postgres') } 1 .. 3;
$_->query_safe('SET client_min_messages = warning') for @others;

# --- debounce

# A key to which starts come without a pause.
# They come until an execution has begun beside them.
sql(<<'EOS');
CREATE TABLE replaced (n integer);
DO $$
BEGIN
	FOR i IN 1 .. 2000 LOOP
		INSERT INTO replaced SELECT count(*)
		FROM sf_start_many('calm', ARRAY[jsonb_build_object('k', 'busy', 'n', 1)]) WHERE outcome = 'replaced';
		COMMIT;
		EXIT WHEN (SELECT count(*) FROM sf_executions WHERE state_machine = 'calm' AND started_at IS NOT NULL) > 0
			AND (SELECT count(*) FROM sf_executions WHERE state_machine = 'calm') > 1;
		PERFORM pg_sleep(0.05);
		COMMIT;
	END LOOP;
END $$;
EOS
cmp_ok(sql('SELECT sum(n) FROM replaced'), '>', 5, 'starts without a pause replace one another');
holds(q(SELECT count(*) >= 2 AND bool_and(status = 'SUCCEEDED') FROM sf_executions WHERE state_machine = 'calm'),
	'... and begin all the same');
cmp_ok(sql(q(SELECT max(extract(epoch FROM started_at - requested_at)) FROM sf_executions
	WHERE state_machine = 'calm')), '<', 60,
	'... at the latest after max_delay');

# A start that stays open delays its key, and no other.
$others[0]->query_safe(q(BEGIN; SELECT go('calm', 'open', 2)));
sql(q(SELECT go('calm', 'other', 3)));
holds(q(SELECT status = 'SUCCEEDED' FROM sf_executions WHERE execution_id = 'calm:e3'),
	'a start that stays open delays no other key');
$others[0]->query_safe('COMMIT');
holds(q(SELECT status = 'SUCCEEDED' FROM sf_executions WHERE execution_id = 'calm:e2'),
	'... and begins when it commits');

# A replacement that rolls back leaves the execution as it was.
# Nothing begins it before it is being replaced.
sql(q(SELECT sf_disable()));
sql(q(SELECT go('calm', 'back', 4)));
$others[0]->query_safe(q(BEGIN; SELECT go('calm', 'back', 5)));
sql(q(SELECT sf_enable()));
sleep(0.6);
is(sql(q(SELECT started_at IS NULL FROM sf_executions WHERE execution_id = 'calm:e4')),
	't', 'one that is being replaced does not begin');
$others[0]->query_safe('ROLLBACK');
holds(q(SELECT status = 'SUCCEEDED' AND input ->> 'n' = '4' FROM sf_executions WHERE execution_id = 'calm:e4'),
	'... and does with its own input when that rolls back, before the next poll');

# A worker has begun the execution and has not committed.
$others[1]->query_safe('SELECT pg_advisory_lock(6)');
sql(q(SELECT go('calm', 'begun', 6)));
holds(q(SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 6 AND NOT granted),
	'a worker runs the task of an execution');
$others[0]->query_until(qr/waits/, "\\echo waits\nSELECT go('calm', 'begun', 7);\n");
$others[1]->query_safe('SELECT pg_advisory_unlock(6)');
holds(q(SELECT count(*) = 2 AND bool_and(status = 'SUCCEEDED') FROM sf_executions
	WHERE execution_id IN ('calm:e6', 'calm:e7')),
	'... and a start of its key is another execution');
is(sql(q(SELECT input ->> 'n' FROM sf_executions WHERE execution_id = 'calm:e6')),
	'6', '... so that the first one keeps its input');

# --- fifo

# Eight sessions at once: the order is that of the commits, whatever the priority.
my @eight = map { $node->background_psql('postgres') } 1 .. 8;
$_->query_until(qr/ready/, "\\echo ready\nSELECT count(sf_start('line',
	jsonb_build_object('k', 'many', 'n', 10 + s % 8), priority => (s * 7) % 10)) FROM generate_series(1, 15) s;\n")
  for @eight;
$_->quit for @eight;
holds(q(SELECT count(*) = 120 AND bool_and(status = 'SUCCEEDED') FROM sf_executions WHERE state_machine = 'line'),
	'eight sessions start fifteen each');
is(sql(q(SELECT count(*) FROM (SELECT e.started_at, lag(e.stopped_at) OVER (ORDER BY k.entered_at) AS before
	FROM sf_executions e
	JOIN _sfflow.execution x ON x.execution_id = e.execution_id
		JOIN _sfflow.keyed_start k ON k.execution_no = x.execution_no
	WHERE e.state_machine = 'line') o WHERE before > started_at)),
		'0', '... which run one after the other, in the order of the starts');

# An execution ends beside an open start, and the server crashes: the next one begins after that.
sql(q(SELECT sf_create_activity('hand')));
sql(q(SELECT sf_create_state_machine('slow', '{"StartAt": "H", "States": {"H": {"Type": "Task",
	"Resource": "activity:hand", "End": true}}}',
	options => '{"start_key": {"key": "$.k", "mode": "fifo"}}')));
sql(q(SELECT go('slow', 'v', 1)));
sql(q(SELECT go('slow', 'v', 2)));
holds(q(SELECT string_agg(place, ' ' ORDER BY rank) = 'running waiting' FROM sf_start_keys WHERE start_key = 'v'),
	'one runs and one waits');
$others[0]->query_safe(q(BEGIN; SELECT go('slow', 'v', 3)));
sql(q(SELECT sf_stop('slow:e1')));
is(sql(q(SELECT string_agg(place, ' ' ORDER BY rank) FROM sf_start_keys WHERE start_key = 'v')),
	'ended waiting', 'one ends beside an open start: the next one is told later');
is(sql(q(SELECT problem FROM sf_check())), '', '... which is in order');
$node->stop('immediate');
start_again($node);
holds(q(SELECT string_agg(place, ' ' ORDER BY rank) = 'running' FROM sf_start_keys WHERE start_key = 'v'),
	'... also after a crash');
@others = map { $node->background_psql('postgres') } 1 .. 3;

# A prepared start: those that come later wait, and begin after it.
$others[0]->query_safe(q(BEGIN; SELECT go('line', 'p', 40); PREPARE TRANSACTION 'p'));
$others[1]->query_until(qr/waits/, "\\echo waits\nSELECT go('line', 'p', 41);\n");
holds(q(SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%41%'
	AND pid <> pg_backend_pid()), 'a start waits for one that is prepared');
sql(q(COMMIT PREPARED 'p'));
holds(q(SELECT count(*) = 2 AND bool_and(status = 'SUCCEEDED') FROM sf_executions
	WHERE execution_id IN ('line:e40', 'line:e41')), '... and both run');

# A failed one keeps its place; a redrive goes on with its rank, and not beside another one.
sql(q(SELECT go('strict', 'k', 49); SELECT go('strict', 'k', 51)));
holds(q(SELECT string_agg(place, ' ' ORDER BY rank) = 'failed waiting' FROM sf_start_keys
	WHERE state_machine = 'strict'), 'one that has failed keeps its place');
is(sql(q(SELECT sf_leave_start_key('strict:e49'))), 't', '... until it gives it up');
holds(q(SELECT status = 'SUCCEEDED' FROM sf_executions WHERE execution_id = 'strict:e51'),
	'... and then the next one runs');
$others[2]->query_safe('SELECT pg_advisory_lock(62)');
sql(q(SELECT go('line', 'r', 59)));
holds(q(SELECT status = 'FAILED' FROM sf_executions WHERE execution_id = 'line:e59'), 'one has failed');
sql(q(SELECT go('slow', 'r', 61); SELECT go('slow', 'r', 62)));
holds(q(SELECT count(*) = 1 FROM sf_start_keys WHERE state_machine = 'slow' AND start_key = 'r'
	AND place = 'running'), 'one runs, one waits');
sql(q(SELECT sf_stop('slow:e61')));
holds(q(SELECT string_agg(s.execution_id || ' ' || s.place, ', ' ORDER BY rank) = 'slow:e62 running'
	FROM sf_start_keys s WHERE start_key = 'r'), 'the next one runs');
sql(q(SELECT go('slow', 'r', 63); SELECT sf_redrive('slow:e61')));
sleep(0.3);
is(sql(q(SELECT string_agg(execution_id || ' ' || place, ', ' ORDER BY rank) FROM sf_start_keys WHERE start_key = 'r')),
	'slow:e61 waiting, slow:e62 running, slow:e63 waiting', 'one that is redriven waits, with its rank');
sql(q(SELECT sf_stop('slow:e62')));
holds(q(SELECT string_agg(execution_id || ' ' || place, ', ' ORDER BY rank) = 'slow:e61 running, slow:e63 waiting'
	FROM sf_start_keys WHERE start_key = 'r'),
	'... and runs before those that were started after it');
sql("ALTER SYSTEM SET sfflow.debug_point = 'start-key-order:mutate'; SELECT pg_reload_conf()");
sql(q(SELECT sf_redrive('slow:e62')));
holds(q(SELECT count(*) = 1 FROM sf_check() WHERE problem = 'start_key_taken_twice'), 'sf_check notices two that run');
sql('ALTER SYSTEM RESET sfflow.debug_point; SELECT pg_reload_conf(); SELECT sf_stop(execution_id) FROM sf_executions
	WHERE status = \'RUNNING\'');

# --- dump

sql(q(SELECT go('slow', 'd', 71); SELECT go('slow', 'd', 72)));
my $lines = q(SELECT string_agg(execution_id || ' ' || place, ', ' ORDER BY rank) FROM sf_start_keys
	WHERE start_key = 'd');
holds("SELECT ($lines) = 'slow:e71 running, slow:e72 waiting'", 'a line');
my $dump = "$PostgreSQL::Test::Utils::tmp_check/keys.dump";
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('postgres') ], 'pg_dump');
sql('CREATE DATABASE copy');
$node->command_ok([ 'pg_restore', '-d', $node->connstr('copy'), $dump ], 'pg_restore');
is($node->safe_psql('copy', $lines), 'slow:e71 running, slow:e72 waiting', 'a restored copy has it');
$node->safe_psql('copy', q(SELECT sf_enable(); SELECT sf_stop('slow:e71')));
ok($node->poll_query_until('copy', "SELECT ($lines) = 'slow:e72 running'"), '... and goes on');
is($node->safe_psql('copy', 'SELECT * FROM sf_check()'), '', 'its tables hold together');
is(sql('SELECT * FROM sf_check()'), '', 'the tables hold together');
$_->quit for @others;
$node->stop;
done_testing();
