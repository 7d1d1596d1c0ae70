# What is tried again. Many tasks that want the same rows in another order: deadlocks, again and again; none of them
# fails for it. A branch that has never enough memory: it fails, and keeps nobody. A full disk: nothing fails.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes ();

my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 4
sfflow.max_workers = 12
sfflow.max_running_tasks = 8
deadlock_timeout = 100ms
EOC
my $n = full(100, 600);
$node->safe_psql('postgres', <<"EOC");
CREATE TABLE stock (id integer PRIMARY KEY, n integer NOT NULL);
INSERT INTO stock SELECT g, 0 FROM generate_series(1, 6) AS g;
CREATE FUNCTION book(ids integer[]) RETURNS void LANGUAGE plpgsql AS \$\$
DECLARE
	i integer;
BEGIN
	FOREACH i IN ARRAY ids LOOP
		UPDATE stock SET n = n + 1 WHERE id = i;
		PERFORM pg_sleep(0.01);
	END LOOP;
END \$\$;
SELECT sf_create_state_machine('book', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.book",
	"End": true}}}');
-- four of six rows each, in an order of its own
SELECT sf_start('book', jsonb_build_object('ids', (SELECT jsonb_agg(i) FROM (
	SELECT i FROM generate_series(1, 6) AS i ORDER BY hashint4extended(i, 1000 + x) LIMIT 4) AS chosen)))
		FROM generate_series(1, $n) AS x;
EOC
ok(ended($node), 'every execution ends');
is($node->safe_psql('postgres', "SELECT status, error, count(*) FROM sf_executions GROUP BY 1, 2"), "SUCCEEDED||$n",
	'with success');
is($node->safe_psql('postgres', 'SELECT sum(n) FROM stock'), 4 * $n, '... and each task was done once');
# The processes report them a moment later.
$node->poll_query_until('postgres', "SELECT deadlocks > $n / 10 FROM pg_stat_database WHERE datname = 'postgres'");
my ($deadlocks, $took) = split /\|/, $node->safe_psql('postgres',
	"SELECT deadlocks, (SELECT max(stopped_at) - min(started_at) FROM sf_executions) FROM pg_stat_database
		WHERE datname = 'postgres'");
cmp_ok($deadlocks, '>', $n / 10, "though there were $deadlocks deadlocks");
note("$n executions, $deadlocks deadlocks, $took");
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'advisory'"),
	'no lock of the retries is left');
no_surprises($node);

# An index on the history that meets shortages: where the engine writes the second state, not in a task.
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE shortage (name text, sqlstate text, until timestamptz);
CREATE FUNCTION meet(no bigint, first integer, body bytea) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
DECLARE
	state text;
BEGIN
	SELECT s.sqlstate INTO state FROM public.shortage AS s
	WHERE EXISTS (SELECT FROM _sfflow.history_events(no, first, now(), body, NULL, NULL) AS e WHERE e.state = 1)
		AND clock_timestamp() < s.until
		AND (s.name IS NULL OR 'work:' || s.name = (SELECT e.execution_id FROM _sfflow.execution AS e
			WHERE e.execution_no = no));
	IF state IS NOT NULL THEN
		RAISE EXCEPTION 'there is not enough' USING ERRCODE = state;
	END IF;
	RETURN no;
END $$;
CREATE INDEX met ON _sfflow.history (meet(execution_no, first_id, body));
CREATE FUNCTION work() RETURNS void LANGUAGE sql AS 'SELECT';
SELECT sf_create_state_machine('work', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.work",
	"Next": "P"},
	"P": {"Type": "Pass", "End": true}}}');
INSERT INTO shortage VALUES ('poor', '53200', 'infinity'), ('disk', '53100', 'infinity');
EOC
my $round = 0;

# Start some other executions and wait for them.
sub others_go_on
{
	$round++;
	$node->safe_psql('postgres', "SELECT sf_start('work', '{}', 'round-$round-' || n) FROM generate_series(1, 5) AS n");
	return $node->poll_query_until('postgres',
		"SELECT count(*) = 5 FROM sf_executions WHERE name ~ '^round-$round-' AND status = 'SUCCEEDED'");
}

# Start an execution and others beside it, until it has ended or met so many errors.
sub run_beside
{
	my ($name, $errors) = @_;
	my $offset = -s $node->logfile;
	my $others = 1;
	$node->safe_psql('postgres', "SELECT sf_start('work', '{}', '$name')");
	for (1 .. 300)
	{
		$others &&= others_go_on();
		last if $node->safe_psql('postgres', "SELECT status FROM sf_executions WHERE name = '$name'") ne 'RUNNING';
		last if (() = slurp_file($node->logfile, $offset) =~ /ERROR:  there is not enough/g) >= $errors;
		Time::HiRes::sleep(0.3);
	}
	ok($others, "$name: others go on");
	return $node->safe_psql('postgres', "SELECT status, error, cause FROM sf_executions WHERE name = '$name'");
}
is(run_beside('poor', 1000),
	'FAILED|States.Runtime|there is not enough (SQLSTATE 53200, 5 times in a row). State: \'T\'.',
	'what has never enough memory fails');
is(run_beside('disk', 8), 'RUNNING||', 'what finds the disk full does not');

# For all at once and for a while: nothing fails.
$node->safe_psql('postgres', <<'EOC');
UPDATE shortage SET name = NULL, sqlstate = '53200', until = clock_timestamp() + '10 s' WHERE sqlstate = '53200';
DELETE FROM shortage WHERE sqlstate = '53100';
SELECT sf_start('work', '{}', 'all-' || n) FROM generate_series(1, 10) AS n;
EOC
ok(ended($node), 'a server without memory recovers');
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE name ~ '^all-|disk'
	AND status = 'SUCCEEDED'"), '11', '... and nothing has failed');
no_surprises($node);

$node->stop;
done_testing();
