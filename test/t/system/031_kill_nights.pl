# Kill -9 of workers, clients and the postmaster while nights run: nothing committed is lost, and no
# step runs twice.
#
# Every job writes a row into a ledger without a unique constraint. After recovery the ledger must hold
# exactly what the executions say.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $executions = full(40, 200);
my $kills = full(4, 20);
srand(20250205);

my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 4
sfflow.max_crashes = 100
sfflow.max_running_tasks = 4
EOC

$node->safe_psql('postgres', <<'EOS');
CREATE TABLE ledger (execution text, job text, redrive integer);
CREATE FUNCTION job(execution text, job text, redrive integer, bad boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	RAISE LOG 'job begun: % % %', execution, job, redrive;
	INSERT INTO ledger VALUES (execution, job, redrive);
	-- Until the gate is open.
	PERFORM pg_advisory_xact_lock_shared(1);
	-- Some are over within a slice, others are long tasks with three commits.
	PERFORM pg_sleep(0.001 * (abs(hashtext(execution || job)) % 120));
	IF bad AND job = 'JOB-005' AND redrive = 0 THEN
		PERFORM sf_raise('BadRecord', 'not yet repaired');
	END IF;
END $$;
EOS
# A task that a dying server cancelled is tried again.
my $definition = machine_of_tasks('public.job',
	retry => '[{"ErrorEquals": ["57P01", "57P02", "57P03"], "IntervalSeconds": 1, "MaxAttempts": 100, '
	. '"BackoffRate": 1.0}]');
$node->safe_psql('postgres', "SELECT sf_create_state_machine('nightly', \$def\$$definition\$def\$)");

# Start executions; every tenth fails in JOB-005 until it is redriven.
sub start_some
{
	my ($from, $to) = @_;
	$node->safe_psql('postgres', <<"EOS");
SELECT sf_start('nightly', jsonb_build_object('bad', n % 10 = 0), 'n' || n) FROM generate_series($from, $to) AS n
EOS
	return;
}

# Count the tasks that are running now.
my $in_task = q{backend_type LIKE 'sfflow%' AND wait_event IN ('PgSleep', 'advisory')};
sub running_tasks
{
	return $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE $in_task");
}

# Have tasks wait until the server dies. Gives the session that keeps the gate shut.
sub shut_gate
{
	my $gate = $node->background_psql('postgres', on_error_stop => 0);
	$gate->query_safe('SELECT pg_advisory_lock(1)');
	return $gate;
}

# Kill the process that a query names, and wait until the server has recovered.
sub kill_backend
{
	my $query = shift;
	my $pid = $node->safe_psql('postgres', $query);
	return 0 unless $pid =~ /^\d+$/;
	my $running = running_tasks();
	kill 'KILL', $pid;
	wait_gone($pid);
	recovered($node) or BAIL_OUT('no recovery');
	return $running;
}

my %kill = (
	worker => sub {
		return kill_backend("SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'sfflow%worker%'
			ORDER BY $in_task DESC NULLS LAST, random() LIMIT 1");
	},
	client => sub {
		my $client = $node->background_psql('postgres', on_error_stop => 0);
		$client->{stdin} .= q{SELECT sf_run('nightly:n1'); SELECT pg_sleep(60);} . "\n";
		$client->{run}->pump_nb;
		$node->poll_query_until('postgres',
			q{SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()});
		my $running = kill_backend(q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'
			AND query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()});
		eval { $client->quit };
		return $running;
	},
	postmaster => sub {
		my $running = running_tasks();
		$node->kill9;
		start_again($node);
		return $running;
	},);

my ($interrupting, $done) = (0, 0);
my $rounds = 3 * $kills;
for my $round (1 .. $rounds)
{
	my $kind = (qw(worker client postmaster))[ $round % 3 ];
	# Work arrives all the time, so that every kill finds some.
	my $until = int($executions * $round / $rounds);
	# Up to a quarter of a second, but not longer than there is work. Every third kill certainly interrupts a task, for
	# which the gate is shut before the work is there: the others come at any time.
	my $gate = $round % 2 == 0 && $kind ne 'client' ? shut_gate() : undef;
	start_some($done + 1, $until) if $until > $done;
	$done = $until;
	!$gate || $node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE $in_task
		AND wait_event = 'advisory'")
	  or die 'no task waits';
	my $end = time + 0.05 + rand(0.2);
	while (time < $end || (running_tasks() == 0 && time < $end + 2)) { sleep 0.01 }
	$interrupting++ if $kill{$kind}->();
	eval { $gate->quit } if $gate;
	# Redrive from outside, as an operator would, while the server is being killed.
	$node->safe_psql('postgres', q{SELECT sf_redrive(execution_id) FROM sf_executions WHERE status = 'FAILED'})
	  if $round % 4 == 0;
}
note("$interrupting of $rounds kills interrupted a running task");
cmp_ok($interrupting, '>=', $rounds / 3, 'a third of the kills interrupted a running task');

ok(ended($node), 'every execution ends');
$node->safe_psql('postgres', q{SELECT sf_redrive(execution_id) FROM sf_executions WHERE status = 'FAILED'});
ok(ended($node), 'and so does every redrive');

is($node->safe_psql('postgres', 'SELECT status, count(*) FROM sf_executions GROUP BY 1'),
	"SUCCEEDED|$executions", 'all of them succeeded');
is($node->safe_psql('postgres', <<'EOS'), '', 'the ledger holds what the executions say, no row more or less');
WITH expected AS (
	SELECT name, 'JOB-00' || j AS job, CASE WHEN (input ->> 'bad')::boolean AND j >= 5 THEN redrive_count
		ELSE 0 END AS redrive
	FROM sf_executions, generate_series(1, 6) AS j)
(SELECT 'missing', * FROM (TABLE expected EXCEPT ALL TABLE ledger) AS a)
UNION ALL
(SELECT 'surplus', * FROM (TABLE ledger EXCEPT ALL TABLE expected) AS b)
EOS
no_surprises($node);

my $begun = () = slurp_file($node->logfile) =~ /job begun/g;
my $kept = $node->safe_psql('postgres', 'SELECT count(*) FROM ledger');
note("$begun tasks begun, $kept committed");
cmp_ok($begun, '>', $kept, 'some tasks ran twice and were committed once');

$node->stop;
done_testing();
