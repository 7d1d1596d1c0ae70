# Holds under workers: no step begins after the commit of a hold, also across a crash and a failover; a task that runs
# ends, and its result is kept; a release has everything run once, also if the server dies in the middle of one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep);

my $many = full(300, 3_000);
my $rounds = full(5, 50);
my $node = new_node('main',
	conf => "sfflow.workers = 4\nsfflow.max_workers = 8\nwal_level = replica\nmax_wal_senders = 4\nhot_standby = on\n");
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE ledger (execution text, job text);
CREATE FUNCTION job(execution text, job text) RETURNS void LANGUAGE sql AS 'INSERT INTO ledger VALUES (execution, job)';
CREATE TABLE let_go (execution text);
CREATE FUNCTION slow(execution text, job text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	WHILE NOT EXISTS (SELECT FROM let_go) LOOP PERFORM pg_sleep(0.05); END LOOP;
	INSERT INTO ledger VALUES (execution, job);
	RETURN 'kept';
END $$;
SQL
my %next = (A => '"Next": "B"', B => '"Next": "C"', C => '"End": true');
my $jobs = sub {
	my ($function, @names) = @_;
	return join ', ',
		map { qq("$_": {"Type": "Task", "Resource": "sql:public.$function", "ResultPath": "\$.$_", "Parameters": )
		. qq({"execution.\$": "\$\$.Execution.Name", "job": "$_"}, $next{$_}}) } @names;
};
$node->safe_psql('postgres', "SELECT sf_create_state_machine('night', '{\"StartAt\": \"A\", \"States\": {"
	. $jobs->('job', qw(A B C)) . "}}')");
$node->safe_psql('postgres', "SELECT sf_create_state_machine('slow', '{\"StartAt\": \"A\", \"States\": {"
	. $jobs->('slow', 'A') . ', ' . $jobs->('job', qw(B C)) . "}}')");

# The first number of a query.
sub number { return $node->safe_psql('postgres', shift) }

# --- under load: hold at any time

for my $round (1 .. $rounds)
{
	$node->safe_psql('postgres', "SELECT count(*)
		FROM sf_start_many('night', ARRAY(SELECT '{}'::jsonb FROM generate_series(1, $many)),
		ARRAY(SELECT '$round.' || n FROM generate_series(1, $many) AS n))");
	sleep rand 0.3;
	my $held_at = number("SELECT sf_hold('night', reason => 'round $round'); SELECT clock_timestamp()");
	$held_at =~ s/^t\n//;
	ok($node->poll_query_until('postgres',
		"SELECT (SELECT waiting FROM sf_holds) = (SELECT count(*) FROM sf_executions WHERE status = 'RUNNING')"),
		"round $round: all that run wait");
	is(number("SELECT count(*) FROM sf_history WHERE \"timestamp\" > '$held_at' AND type LIKE '%StateEntered'"), '0',
		"round $round: no step began after the hold's commit");
	is(number('SELECT count(*) FROM sf_check()'), '0', "round $round: the tables hold together");
	$node->safe_psql('postgres', "SELECT sf_release('night')");
	ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'"),
		"round $round: released, all end");
}
my $all = 3 * $many * $rounds;
is(number('SELECT count(*), count(DISTINCT (execution, job)) FROM ledger'), "$all|$all", 'each job ran once');
is(number("SELECT count(*) FROM sf_executions WHERE status <> 'SUCCEEDED'"), '0', 'all have succeeded');

# --- a task that runs ends; its result is kept

$node->safe_psql('postgres', "TRUNCATE ledger; SELECT sf_start('slow', '{}', 'x')");
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_workers WHERE execution_id = 'slow:x'"),
	'a task runs');
$node->safe_psql('postgres', "SELECT sf_hold('slow'); INSERT INTO let_go VALUES ('all')");
ok($node->poll_query_until('postgres', "SELECT waiting = 1 FROM sf_holds"), 'it ends, and the next one waits');
is(number('SELECT string_agg(job, \' \') FROM ledger'), 'A', 'it has done its work');
is(number("SELECT string_agg(type, ' ' ORDER BY id) FROM sf_history WHERE execution_id = 'slow:x' AND state = 'A'"),
	'TaskStateEntered TaskScheduled TaskStarted TaskSucceeded TaskStateExited', 'its history is whole');

# --- a crash: the hold stays, nothing begins, nothing is lost

$node->safe_psql('postgres', "SELECT count(*)
	FROM sf_start_many('slow', ARRAY(SELECT '{}'::jsonb FROM generate_series(1, 20)),
	ARRAY(SELECT 'c' || n FROM generate_series(1, 20) AS n))");
$node->stop('immediate');
$node->start;
ok($node->poll_query_until('postgres', "SELECT waiting = 21 FROM sf_holds"), 'after a crash all wait');
my $session = $node->background_psql('postgres', on_error_stop => 0);
$session->query_safe('BEGIN');
is($session->query_safe("SELECT sf_release('slow')"), '21', 'a release');
$node->stop('immediate');
eval { $session->quit };
$node->start;
sleep 1;
is(number('SELECT count(*) FROM ledger'), '1', 'it has not committed: nothing has begun');
is(number('SELECT waiting FROM sf_holds'), '21', '... and all wait');
is(number('SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');

# --- a failover

my $standby = standby_of($node, 'standby');
$node->safe_psql('postgres', "SELECT sf_hold('night/C')");
$node->wait_for_catchup($standby);
no_surprises($node);
$node->stop('immediate');
$standby->promote;
ok($standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()'), 'the standby takes over');
sleep 2;
is($standby->safe_psql('postgres', 'SELECT string_agg(target || \' \' || coalesce(state, \'-\') || \' \' || waiting,
	\', \' ORDER BY target) FROM sf_holds'), 'night C 0, slow - 21', 'with the holds');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM ledger'), '1', 'nothing has begun');
is($standby->safe_psql('postgres', "SELECT sf_release('slow')"), '21', 'a release');
ok($standby->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'"),
	'all go on');
is($standby->safe_psql('postgres', 'SELECT count(*), count(DISTINCT (execution, job)) FROM ledger'), '63|63',
	'each job ran once');
is($standby->safe_psql('postgres', "SELECT output ->> 'A' FROM sf_executions WHERE execution_id = 'slow:x'"), 'kept',
	'the result of the task that ran was kept');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');
$standby->stop;
done_testing();
