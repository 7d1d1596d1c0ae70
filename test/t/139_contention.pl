# Many tasks that want the same rows in another order: deadlocks, again and again. None of them fails for it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

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
SELECT sf_create_state_machine('book', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.book", "End": true}}}');
-- four of six rows each, in an order of its own
SELECT sf_start('book', jsonb_build_object('ids', (SELECT jsonb_agg(i) FROM (
	SELECT i FROM generate_series(1, 6) AS i ORDER BY hashint4extended(i, 1000 + x) LIMIT 4) AS chosen))) FROM generate_series(1, $n) AS x;
EOC
ok(ended($node), 'every execution ends');
is($node->safe_psql('postgres', "SELECT status, error, count(*) FROM sf_executions GROUP BY 1, 2"), "SUCCEEDED||$n", 'with success');
is($node->safe_psql('postgres', 'SELECT sum(n) FROM stock'), 4 * $n, '... and each task was done once');
my ($deadlocks, $took) = split /\|/, $node->safe_psql('postgres',
	"SELECT deadlocks, (SELECT max(stopped_at) - min(started_at) FROM sf_executions) FROM pg_stat_database WHERE datname = 'postgres'");
cmp_ok($deadlocks, '>', $n / 10, "though there were $deadlocks deadlocks");
note("$n executions, $deadlocks deadlocks, $took");
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), '0', 'no lock of the retries is left');
no_surprises($node);

$node->stop;
done_testing();
