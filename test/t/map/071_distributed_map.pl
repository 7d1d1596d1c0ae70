# A Distributed Map over many rows: memory does not grow with them, and each is processed once, though
# workers are killed while rows are read and while children run.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep);

my $rows = full(100_000, 1_000_000);
my $batches = $rows / 1000;
my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 2
sfflow.max_crashes = 100
max_wal_size = '4GB'
EOC

$node->safe_psql('postgres', <<"EOS");
CREATE TABLE source AS SELECT id FROM generate_series(1, $rows) id;
CREATE TABLE processed (id integer);
-- Reading, and then the children, wait while these are shut, also after a crash.
CREATE TABLE gate (name text PRIMARY KEY, is_shut boolean);
INSERT INTO gate VALUES ('read', true), ('children', true);
CREATE FUNCTION wait_at(gate text) RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
	WHILE (SELECT is_shut FROM public.gate AS g WHERE g.name = \$1) LOOP PERFORM pg_sleep(0.02); END LOOP;
	RETURN NULL;
END \$\$;
CREATE FUNCTION process(payload jsonb) RETURNS integer LANGUAGE sql BEGIN ATOMIC
	INSERT INTO processed SELECT (item ->> 'id')::integer FROM jsonb_array_elements(payload -> 'Items') item;
	SELECT wait_at('children');
	SELECT jsonb_array_length(payload -> 'Items');
END;
SELECT sf_create_state_machine('large', '{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true,
	"ItemReader": {"Resource": "sql:query", "Parameters": {"Statement":
		"SELECT id, CASE WHEN id = $rows / 2 THEN wait_at(''read'') END AS pause FROM source"}},
	"ItemBatcher": {"MaxItemsPerBatch": 1000},
	"ResultSelector": {"batches.\$": "States.ArrayLength(\$)"},
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "Process", "States": {"Process": {"Type": "Task", "Resource": "sql:public.process",
			"End": true}}}}}}');
EOS

# Kill a worker that sf_workers shows at something, and wait for the server to recover.
sub kill_worker_at
{
	my ($what, $when) = @_;
	$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM sf_workers, sf_map_runs r WHERE $what")
	  or die "nobody is $when";
	my ($pid) = split /\n/, $node->safe_psql('postgres', "SELECT pid FROM sf_workers, sf_map_runs r WHERE $what");
	ok($pid && kill('KILL', $pid), "a worker is killed $when");
	# Until then the postmaster may not know.
	wait_gone($pid);
	ok(recovered($node), 'the server recovers');
	return;
}

# The most private memory that a worker has, in kilobytes; 0 where the system does not say.
sub most_memory
{
	my $most = 0;
	for my $pid (split /\n/, $node->safe_psql('postgres',
		q{SELECT pid FROM sf_workers WHERE role <> 'launcher' AND pid IS NOT NULL}))
	{
		open my $status, '<', "/proc/$pid/status" or next;
		for my $line (<$status>)
		{
			$most = $1 if $line =~ /^RssAnon:\s*(\d+)/ && $1 > $most;
		}
		close $status;
	}
	return $most;
}

$node->safe_psql('postgres', q{SELECT sf_start('large', '{}', 'm')});
kill_worker_at(q{job_id = 'Each' AND r.items = 0}, 'while it reads');
is($node->safe_psql('postgres', 'SELECT count(*) FROM _sfflow.map_item'), 0, 'nothing of what it read is there');
$node->safe_psql('postgres', q{UPDATE gate SET is_shut = false WHERE name = 'read'});
kill_worker_at(q{r.executions > 3 AND job_id = 'Process'}, 'while children run');
$node->safe_psql('postgres', q{UPDATE gate SET is_shut = false WHERE name = 'children'});

my ($memory, $ended) = (0, 0);
for (1 .. 3000)
{
	my $now = most_memory();
	$memory = $now if $now > $memory;
	$ended = $node->safe_psql('postgres',
		q{SELECT status <> 'RUNNING' FROM sf_executions WHERE execution_id = 'large:m'}) eq 't';
	last if $ended;
	sleep 0.1;
}
ok($ended, 'it ends');
is($node->safe_psql('postgres', q{SELECT status, output, error FROM sf_executions WHERE execution_id = 'large:m'}),
	"SUCCEEDED|{\"batches\": $batches}|", 'with all batches');
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id) FROM processed'), "$rows|$rows",
	'each row was processed once');
is( $node->safe_psql('postgres', q{SELECT items, items_succeeded, executions, succeeded FROM sf_map_runs}),
	"$rows|$rows|$batches|$batches", 'the run has counted them');
is($node->safe_psql('postgres', 'SELECT count(*) FROM _sfflow.map_item'), 0, 'no item is left');
is($node->safe_psql('postgres', 'SELECT * FROM sf_check()'), '', 'the tables are in order');
note "most private memory of a worker: $memory kB";
cmp_ok($memory, '<', 32 * 1024, 'memory stays flat');

# Who stops the parent stops children that run, and that wait.
$node->safe_psql('postgres', <<'EOS');
SELECT sf_create_state_machine('endless', '{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true,
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Sleep",
		"States": {
		"Sleep": {"Type": "Task", "Resource": "sql:query", "Parameters": {"Statement": "SELECT pg_sleep(3600)"},
			"End": true}}}}}}');
SELECT sf_start('endless', '[1, 2, 3, 4, 5, 6, 7, 8]', 's');
EOS
ok($node->poll_query_until('postgres', q{SELECT count(*) > 1 FROM sf_workers WHERE job_id = 'Sleep'}), 'children run');
is($node->safe_psql('postgres', q{SELECT sf_stop('endless:s')}), 'ABORTED', 'the parent is stopped');
ok( $node->poll_query_until('postgres', q{SELECT count(*) = 9 FROM sf_executions WHERE state_machine = 'endless'
	AND status = 'ABORTED'}),
	'and its children');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM sf_workers WHERE job_id = 'Sleep'}),
	'whose tasks are cancelled');
ok($node->poll_query_until('postgres', q{SELECT aborted, running FROM sf_map_runs WHERE execution_id = 'endless:s'},
	'8|0'), 'and counted');
is($node->safe_psql('postgres', 'SELECT * FROM sf_check()'), '', 'the tables are in order');

# Who stops it while it reads stops the reading; a redrive reads again, from the start.
$node->safe_psql('postgres', <<'EOS');
SELECT sf_create_state_machine('reading', '{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true,
	"ItemReader": {"Resource": "sql:query", "Parameters": {"Statement": "SELECT n FROM toread"}},
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "Pass", "States": {"Pass": {"Type": "Pass", "End": true}}}}}}');
CREATE VIEW toread AS SELECT n FROM generate_series(1, 3) n, pg_sleep(CASE n WHEN 2 THEN 3600 ELSE 0 END);
SELECT sf_start('reading', '{}', 'r');
EOS
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM sf_workers WHERE execution_id = 'reading:r'}),
	'it reads');
is($node->safe_psql('postgres', q{SELECT sf_stop('reading:r')}), 'ABORTED', 'it is stopped');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM sf_workers WHERE execution_id = 'reading:r'}),
	'and so is the reading');
is($node->safe_psql('postgres', q{SELECT status, items, (SELECT count(*) FROM _sfflow.map_item) FROM sf_map_runs
	WHERE execution_id = 'reading:r'}),
	'ABORTED|0|0', 'nothing is kept of what was read');
$node->safe_psql('postgres', q{CREATE OR REPLACE VIEW toread AS SELECT n FROM generate_series(1, 3) n;
	SELECT sf_redrive('reading:r')});
is($node->safe_psql('postgres', q{SELECT sf_await('reading:r', '1 min')}), 'SUCCEEDED', 'a redrive reads again');
is( $node->safe_psql('postgres', q{SELECT jsonb_array_length(output) FROM sf_executions
	WHERE execution_id = 'reading:r'}),
	3, 'every item once');
is($node->safe_psql('postgres', 'SELECT * FROM sf_check()'), '', 'the tables are in order');
$node->stop;

done_testing();
