# More owners have announced tasks than shared memory lists: each gets its turn, although two owners who are listed
# announce tasks without an end. Where there are processes for them, tasks of several owners run at the same time.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;

my $conf = "sfflow.workers = 1\nsfflow.slice_ms = 1\nsfflow.poll_interval = 3600\nfsync = off\n";
my $node = new_node('main', conf => "${conf}sfflow.max_workers = 4\nsfflow.max_running_tasks = 1\n");
my ($others, $greedy, $most) = (400, 10, 1500);

# A task that runs again and again and is known to be long, and one that never ran.
my $functions = <<'EOS';
CREATE SEQUENCE runs;
GRANT USAGE, SELECT ON SEQUENCE runs TO PUBLIC;
CREATE FUNCTION again(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_sleep(0.002), pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1);
	RETURN jsonb_build_object('n', nextval('runs'));
END $$;
CREATE FUNCTION once(payload jsonb) RETURNS jsonb
	LANGUAGE sql AS 'SELECT jsonb_build_object(''runs'', (SELECT last_value FROM runs))';
EOS
$node->safe_psql('postgres', "$functions SELECT sf_disable()");

# Make owners, by number, and have each start executions of a machine.
sub start_owners
{
	my ($name, $from, $to, $executions, $definition) = @_;
	return $node->safe_psql('postgres', <<"EOS");
DO \$\$
BEGIN
	FOR i IN $from .. $to LOOP
		EXECUTE format('CREATE ROLE owner_%s', i);
		EXECUTE format('SET LOCAL ROLE owner_%s', i);
		PERFORM sf_create_state_machine('${name}_' || i, '$definition');
		PERFORM sf_start('${name}_' || i, '{}', n::text) FROM generate_series(1, $executions) AS n;
		RESET ROLE;
	END LOOP;
END \$\$;
EOS
}

# As long as none of the tasks of the two ends, all others announce theirs.
my $gate = $node->background_psql('postgres');
$gate->query_safe('SELECT pg_advisory_lock(1)');
start_owners('greedy', 1, 2, $greedy, <<"EOS");
{"StartAt": "T", "States": {
	"T": {"Type": "Task", "Resource": "sql:public.again", "Next": "C"},
	"C": {"Type": "Choice", "Choices": [{"Variable": "\$.n", "NumericLessThan": $most, "Next": "T"}], "Default": "E"},
	"E": {"Type": "Succeed"}}}
EOS
start_owners('one', 3, 2 + $others, 1, one_task('public.once'));
$node->safe_psql('postgres', 'SELECT sf_enable()');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event = 'advisory'}),
	'two tasks run, and no more may');
ok($node->poll_query_until('postgres', "SELECT (SELECT count(*) FROM sf_executions
	WHERE status <> 'RUNNING') + (SELECT count(*) FROM _sfflow.branch
	WHERE task_payload IS NOT NULL) = 2 * $greedy + $others"), 'all tasks are announced');
$gate->quit;
ok(ended($node), 'all executions end');
my $late = $node->safe_psql('postgres', q{SELECT max((output->>'runs')::int) FROM sf_executions
	WHERE state_machine ~ '^one'});
note("runs: $late");
cmp_ok($late, '<', 100, 'the two have had a few turns when the last of the others has had its own');

# Nothing of it harms anything.
sub is_well
{
	is($node->safe_psql('postgres', q{SELECT count(*) FROM sf_executions WHERE status <> 'SUCCEEDED'}), '0',
		'all succeed');
	is($node->safe_psql('postgres', 'SELECT * FROM sf_check()'), '', 'the tables hold together');
	$node->stop;
	return;
}
is_well();

# --- tasks of four owners are announced before a process comes to take one of them

$node = new_node('other', conf => "${conf}sfflow.max_workers = 8\n");
$node->safe_psql('postgres', "$functions SELECT sf_disable()");
$gate = $node->background_psql('postgres');
$gate->query_safe('SELECT pg_advisory_lock(1)');
start_owners('long', 1, 4, 1, one_task('public.again'));
$node->safe_psql('postgres', 'SELECT sf_enable()');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 4 FROM pg_stat_activity WHERE wait_event = 'advisory'}),
	'all of them run at the same time');
$gate->quit;
ok(ended($node), 'all executions end');
is_well();
done_testing();
