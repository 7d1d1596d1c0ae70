# Autovacuum keeps tables and indexes near the size of what lives in them, while executions begin, wait, are retried,
# end and are purged.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => <<'EOC');
fsync = off
autovacuum_naptime = 1s
EOC
$node->safe_psql('postgres', <<'EOS');
CREATE FUNCTION sometimes(n integer, try integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	IF n % 10 = 0 AND try = 0 THEN
		PERFORM sf_raise('Later');
	END IF;
	RETURN n;
END $$;
SELECT sf_create_state_machine('m', '{"StartAt": "T", "States": {
	"T": {"Type": "Task", "Resource": "sql:public.sometimes", "Parameters": {"n.$": "$.n",
		"try.$": "$$.State.RetryCount"}, "ResultPath": null,
		"Retry": [{"ErrorEquals": ["Later"], "IntervalSeconds": 1}], "Next": "C"},
	"C": {"Type": "Choice", "Choices": [{"Variable": "$.wait", "BooleanEquals": true, "Next": "W"}], "Default": "S"},
	"W": {"Type": "Wait", "Seconds": 1, "Next": "S"},
	"S": {"Type": "Succeed"}}}');
EOS

# Wait until autovacuum has come by where there is much for it to do. A busy machine may have it come late.
sub is_vacuumed
{
	$node->poll_query_until('postgres', q(SELECT coalesce(bool_and(n_dead_tup <= 100 + 0.2 * n_live_tup), true)
		FROM pg_stat_user_tables WHERE schemaname = '_sfflow' AND n_dead_tup >= 5000));
	return;
}

# A third of each wave is purged.
my $waves = full(10, 400);
for my $wave (1 .. $waves)
{
	$node->safe_psql('postgres', "SELECT count(*)
		FROM sf_start_many('m', 'SELECT jsonb_build_object(''n'', n, ''wait'', n % 5 = 0)
			FROM generate_series(1, 1500) n')");
	ended($node) or BAIL_OUT("wave $wave does not end");
	$node->safe_psql('postgres', q(SELECT sf_purge('0 s', 500)));
	is_vacuumed();
}
is($node->safe_psql('postgres', q(SELECT count(*) FROM sf_executions WHERE status = 'SUCCEEDED')), 1000 * $waves,
	'all have ended, and some are purged');

is_vacuumed();
my $stored = q(SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = '_sfflow'::regnamespace
	AND relkind = 'r');
my $before = $node->safe_psql('postgres', $stored);
note $node->safe_psql('postgres', q(SELECT relname, pg_table_size(oid) / 1024 AS kb,
	pg_indexes_size(oid) / 1024 AS indexes FROM pg_class
	WHERE relnamespace = '_sfflow'::regnamespace AND relkind = 'r' ORDER BY pg_total_relation_size(oid) DESC LIMIT 6));
$node->safe_psql('postgres', 'VACUUM FULL');
my $live = $node->safe_psql('postgres', $stored);
cmp_ok($before, '<=', 1.5 * $live + 2_000_000, sprintf('%.1f MB are stored, %.1f MB of them live', $before / 1e6,
	$live / 1e6));
$node->stop;
done_testing();
