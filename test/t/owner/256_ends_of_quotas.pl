# Past the end of what owners use of their quotas, and of the machines with refused starts (docs/reliability.md): no
# start is lost or refused for want of a place, no owner runs more than he may, and one owner's machines do not keep
# those of another from being counted.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main',
	conf => "sfflow.workers = 1\nsfflow.max_executions_per_owner = 3\nsfflow.max_starts_per_owner = 4\n");

# One database has half of the 8,192 places at most.
my $owners = 4400;
$node->safe_psql('postgres', <<"EOS");
SET client_min_messages = warning;
DO \$\$ BEGIN
	FOR i IN 1 .. $owners LOOP
		EXECUTE format('CREATE ROLE r%s', i);
		EXECUTE format('SET LOCAL ROLE r%s', i);
		PERFORM sf_create_state_machine('m' || i, CASE WHEN i = 1
			THEN '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 3600, "End": true}}}'
			ELSE '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}' END::json);
		RESET ROLE;
	END LOOP;
END \$\$;
EOS

# Each of the two has one quota alone.
$node->safe_psql('postgres', 'ALTER ROLE r1 SET sfflow.max_starts_per_owner = 0; ALTER ROLE r2
	SET sfflow.max_executions_per_owner = 0');

# Start an execution of a machine; the quota that refuses it, or "started".
$node->safe_psql('postgres', <<'EOS');
CREATE FUNCTION try_start(machine text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	why text;
BEGIN
	PERFORM sf_start(machine, '{}');
	RETURN 'started';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS why = PG_EXCEPTION_DETAIL;
	RETURN substring(why FROM 'sfflow\.max_\w+');
END $$;
CREATE FUNCTION tried(machine text, times integer) RETURNS text LANGUAGE sql AS
	$$ SELECT string_agg(try_start(machine), ' ' ORDER BY i) FROM generate_series(1, times) i $$;
EOS
is($node->safe_psql('postgres', "SELECT tried('m1', 4)"), 'started started started sfflow.max_executions_per_owner',
	'one owner runs as many executions as he may');
is($node->safe_psql('postgres', "SELECT tried('m2', 1)"), 'started', 'another one starts');
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_executions WHERE state_machine = 'm2'
	AND status = 'SUCCEEDED'"), '... short executions');
for (2 .. 4)
{
	$node->safe_psql('postgres', "SELECT try_start('m2')");
	$node->poll_query_until('postgres', "SELECT count(*) = $_ FROM sf_executions WHERE state_machine = 'm2'
		AND status = 'SUCCEEDED'") or die;
}
is($node->safe_psql('postgres', "SELECT try_start('m2')"), 'sfflow.max_starts_per_owner',
	'... as many as he may in a minute');

is($node->safe_psql('postgres', "SELECT count(*), min(t), max(t)
	FROM (SELECT try_start('m' || i) AS t FROM generate_series(3, $owners) i) x"),
	($owners - 2) . '|started|started', 'more owners than there are places for start executions, all of them');
is($node->safe_psql('postgres', "SELECT try_start('m1')"), 'sfflow.max_executions_per_owner',
	'the executions of an owner who has lost his place are counted anew');
is($node->safe_psql('postgres', "SELECT try_start('m2')"), 'started', 'his starts of the last minute are forgotten');
ok($node->poll_query_until('postgres', "SELECT count(*) = 3 FROM sf_executions WHERE status = 'RUNNING'"),
	'all but what waits end');

# An owner loses his place between the count of his executions and the start for which they were counted: he has room
# for it.
$node->safe_psql('postgres', "SELECT sf_stop(execution_id) FROM sf_executions WHERE state_machine = 'm1'
	AND status = 'RUNNING'");
my $lock = $node->background_psql('postgres');
$lock->query_safe(q{SELECT pg_advisory_lock(hashtextextended('quota-counted', 0))});
my $counts = $node->background_psql('postgres');
$counts->query_safe(q{SET sfflow.debug_point = 'quota-counted:wait'});
$counts->query_until(qr/begun/, "\\echo begun\nSELECT try_start('m1');\n");
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory'
	AND NOT granted}), 'executions of an owner have been counted');
is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE t = 'started')
	FROM (SELECT try_start('m' || i) AS t FROM generate_series(3, $owners) i) x"),
	$owners - 2, 'all others start, and he has no place any more');
$lock->quit;
like($counts->query_safe('SELECT 1'), qr/started/, 'what was counted holds for his start');
$counts->quit;

# Owners of another database find places, too.
$node->safe_psql('postgres', 'CREATE DATABASE second');
$node->safe_psql('second', q(CREATE EXTENSION sfflow; SET ROLE r1;
	SELECT sf_create_state_machine('w', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 3600,
	"End": true}}}')));
my ($result, $out, $error) = $node->psql('second', "SELECT sf_start('w') FROM generate_series(1, 4)");
like($error, qr/sfflow\.max_executions_per_owner \(3\) of role "r1" is reached/, 'quotas hold in another database');

# --- refused starts

$node->append_conf('postgresql.conf',
	"sfflow.workers = 0\nsfflow.max_executions_per_owner = 0\nsfflow.max_starts_per_owner = 1");
$node->restart;
$node->safe_psql('postgres', q(SET client_min_messages = warning; CREATE ROLE greedy; SET ROLE greedy;
	SELECT sf_create_state_machine('g' || i, '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}')
		FROM generate_series(1, 1200) i));
is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE t = 'started'), count(*) FILTER (WHERE t <> 'started')
	FROM (SELECT try_start('g' || i) AS t FROM generate_series(1, 1200) i) x"),
	'1|1199', 'starts of more machines than an owner has places for are refused all the same');
is($node->safe_psql('postgres', "SELECT tried('m3', 3)"),
	'started sfflow.max_starts_per_owner sfflow.max_starts_per_owner', 'so are those of another owner');
# The probe of the database after the restart may be counting, too: sf_run_due leaves to another process what it counts.
sub counted
{
	my ($machines, $number, $name) = @_;

	$node->safe_psql('postgres', 'CALL sf_run_due()');
	ok($node->poll_query_until('postgres', "SELECT coalesce(sum(executions_throttled), 0) = $number FROM sf_metrics
		WHERE state_machine ~ '$machines'"), $name);
	return;
}
counted('^m3$', 2, '... of which each is counted');
counted('^g', 1024, 'of the first owner those are counted for which he had a place');

# Once they are written, the places are free.
is($node->safe_psql('postgres', "SELECT count(*)
	FROM (SELECT try_start('g' || i) AS t FROM generate_series(1101, 1200) i) x WHERE t <> 'started'"), '100',
	'others are refused later');
counted('^g', 1124, '... and counted');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'nothing is wrong');
$node->stop;
done_testing();
