# Counters equal a recount of the histories: after kills under load, in a restored dump, in a subscriber, and beside
# an old snapshot.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $kills = full(9, 60);
srand(20250205);

# Increments are folded once per second.
my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 3
sfflow.poll_interval = 1
sfflow.max_crashes = 100
wal_level = logical
max_wal_senders = 5
max_replication_slots = 5
EOC

# Tasks that are short, or long ones with three commits; some fail once or for good; one may wait too long.
my $retry = '"Retry": [{"ErrorEquals": ["Later", "57P01", "57P02", "57P03"], "IntervalSeconds": 0, "MaxAttempts": 50}]';
my $job = '"Resource": "sql:public.job", "ResultPath": null, "Parameters": {"n.$": "$.n", "bad.$": "$.bad", '
	. '"try.$": "$$.State.RetryCount", "redrive.$": "$$.Execution.RedriveCount"}';
my $machine = <<"EOJ";
{"StartAt": "A", "TimeoutSeconds": 600, "States": {
  "A": {"Type": "Task", $job, $retry, "Next": "Both"},
  "Both": {"Type": "Parallel", "ResultPath": null, "Next": "Each", "Branches": [
    {"StartAt": "B", "States": {"B": {"Type": "Task", $job, $retry, "End": true}}},
    {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}]},
  "Each": {"Type": "Map", "ItemsPath": "\$.items", "ItemSelector": {"n.\$": "\$.n", "bad": false}, "End": true,
    "ItemProcessor": {"StartAt": "C", "States": {"C": {"Type": "Task", $job, $retry, "End": true}}}}}}
EOJ
$node->safe_psql('postgres', <<"EOS");
CREATE FUNCTION job(n integer, bad boolean, try integer, redrive integer) RETURNS void LANGUAGE plpgsql AS \$\$
BEGIN
	PERFORM pg_catalog.pg_sleep(CASE WHEN n % 4 = 0 THEN 0.03 ELSE 0 END);
	IF n % 5 = 0 AND try = 0 THEN
		PERFORM sf_raise('Later');
	END IF;
	IF bad AND redrive = 0 THEN
		PERFORM sf_raise('Bad');
	END IF;
END \$\$;
SELECT sf_create_state_machine('night', '$machine');
SELECT sf_create_state_machine('wide', '{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemsPath": "\$.items",
	"End": true,
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P",
		"States": {"P": {"Type": "Pass", "End": true}}}}}}');
SELECT sf_create_state_machine('brief', '{"StartAt": "W", "TimeoutSeconds": 1, "States": {"W": {"Type": "Wait",
	"Seconds": 60, "End": true}}}');
EOS

# What the histories hold, in the columns of sf_metrics and of sf_job_times.
my $recount = <<'EOS';
SELECT e.state_machine,
	count(*) FILTER (WHERE h.type = 'ExecutionStarted' AND own),
		count(*) FILTER (WHERE h.type = 'ExecutionSucceeded' AND own),
	count(*) FILTER (WHERE h.type = 'ExecutionFailed' AND own),
		count(*) FILTER (WHERE h.type = 'ExecutionAborted' AND own),
	count(*) FILTER (WHERE h.type = 'ExecutionTimedOut' AND own), count(*) FILTER (WHERE h.type LIKE '%StateEntered'),
	count(*) FILTER (WHERE h.type = 'ExecutionRedriven' AND own),
	count(*) FILTER (WHERE h.type = 'TaskScheduled') - count(*) FILTER (WHERE h.type = 'TaskStateEntered'),
	count(*) FILTER (WHERE h.type = 'TaskSucceeded'), count(*) FILTER (WHERE h.type IN ('TaskFailed', 'TaskTimedOut'))
FROM sf_history h JOIN (SELECT execution_id, state_machine, name NOT LIKE '%:%' AND parent_execution_id IS NULL AS own
	FROM sf_executions) e USING (execution_id)
GROUP BY 1 ORDER BY 1
EOS
my $counters = <<'EOS';
SELECT m.state_machine, executions_started, executions_succeeded, executions_failed, executions_aborted,
	executions_timed_out,
	state_transitions, executions_redriven, m.retries, coalesce(j.runs, 0), coalesce(j.failures, 0)
FROM sf_metrics m LEFT JOIN (SELECT state_machine, sum(runs) AS runs, sum(failures) AS failures FROM sf_job_times
	GROUP BY 1) j USING (state_machine)
ORDER BY 1
EOS
my $hours = <<'EOS';
SELECT state_machine, sum(executions_started), sum(executions_succeeded), sum(executions_failed),
	sum(executions_aborted), sum(executions_timed_out),
	sum(state_transitions), sum(executions_redriven), sum(retries)
FROM sf_metrics_by_hour GROUP BY 1 ORDER BY 1
EOS

# Compare the counters of a database with its histories.
sub same
{
	my ($database, $what) = @_;
	my $counted = $node->safe_psql($database, $counters);
	is($counted, $node->safe_psql($database, $recount), "$what: the counters equal a recount");
	is($node->safe_psql($database, $hours), join("\n", map { s/\|\d+\|\d+$//r } split /\n/, $counted),
		"$what: so do those by hour together");
	is($node->safe_psql($database, 'SELECT state_machine, sum(retries) FROM sf_retries GROUP BY 1 ORDER BY 1'),
		$node->safe_psql($database, 'SELECT state_machine, retries FROM sf_metrics WHERE retries > 0 ORDER BY 1'),
			"$what: and the retries by error");
	return $counted;
}

sub increments
{
	my $database = shift // 'postgres';
	return $node->safe_psql($database, 'SELECT count(*) FROM _sfflow.metric_increment');
}

# Switch a database off, and wait until no worker folds what is in it.
sub switch_off
{
	my $database = shift;
	$node->safe_psql($database, 'SELECT sf_disable()');
	return ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity
		WHERE datname = '$database' AND backend_type = 'sfflow worker'"), "workers leave $database");
}

# --- kills

my $n = 0;

sub start_some
{
	my $count = shift;
	$node->safe_psql('postgres', <<"EOS");
SELECT sf_start('night', jsonb_build_object('n', n, 'bad', n % 7 = 0, 'items', jsonb_build_array(1, 2, 3)), 'n' || n)
FROM generate_series($n + 1, $n + $count) n;
SELECT sf_start('wide', '{"items": [1, 2]}', 'w$n'), sf_start('brief', '{}', 'b$n'), sf_start('brief', '{}', 'c$n');
SELECT sf_stop('brief:c$n');
EOS
	$n += $count;
	return;
}

my %kill = (
	worker => sub { kill_worker($node) },
	session => sub {
		# One that advances an execution by itself.
		my $client = $node->background_psql('postgres', on_error_stop => 0);
		$client->{stdin} .= "BEGIN; SELECT sf_start('night', '{\"n\": 4, \"bad\": false, \"items\": []}', 's$n');
			SELECT sf_run('night:s$n'); SELECT pg_sleep(60);\n";
		$client->{run}->pump_nb;
		$node->poll_query_until('postgres',
			q{SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()});
		my $pid = $node->safe_psql('postgres',
			q{SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()});
		kill 'KILL', $pid;
		wait_gone($pid);
		recovered($node) or BAIL_OUT('no recovery');
		eval { $client->quit };
		return;
	},
	postmaster => sub {
		$node->kill9;
		start_again($node);
		return;
	});

my $begun = 0;
for my $round (1 .. $kills)
{
	start_some(20);
	sleep 0.02 + rand(1.2);
	$begun += $node->safe_psql('postgres', q(SELECT count(*) FROM sf_executions WHERE status = 'RUNNING'));
	$kill{ (qw(worker session postmaster))[ $round % 3 ] }->();
	$node->safe_psql('postgres', q(SELECT sf_redrive(execution_id) FROM sf_executions WHERE status = 'FAILED'))
		if $round % 3 == 0;
}
cmp_ok($begun, '>', 0, 'the kills met work');
ok(ended($node), 'every execution ends');
my $counted = same('postgres', "after $kills kills");
my ($night) = $counted =~ /^(night.*)$/m;
cmp_ok((split /\|/, $night)[1], '>=', $n, 'no start is missing');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.metric_increment'), 'all is folded by itself');
is(same('postgres', 'folded'), $counted, 'which changes nothing');
is($node->safe_psql('postgres', q(SELECT string_agg(x.execution_id, ' ' ORDER BY x.execution_id) FROM
	(SELECT execution_id FROM sf_executions WHERE status IN ('FAILED', 'TIMED_OUT') EXCEPT SELECT execution_id
		FROM sf_alerts) x)), '', 'each failure is an alert');
is($node->safe_psql('postgres', q(SELECT count(*) FROM sf_alerts a JOIN sf_executions e USING (execution_id)
	WHERE a.kind IN ('failed', 'timed_out') AND e.status NOT IN ('FAILED', 'TIMED_OUT'))),
	'0', 'and nothing else is');

# --- purge

$node->safe_psql('postgres', q(SELECT sf_purge('0 s', 50)));
is($node->safe_psql('postgres', $counters), $counted, 'a purge takes nothing away');

# --- an old snapshot

my $old = $node->background_psql('postgres');
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
is($old->query_safe($counters), $counted, 'a snapshot is taken');
my $first = $n;
start_some(30);
ok(ended($node), 'executions run beside it');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.metric_increment'), 'and are folded');
start_some(1);
ok(ended($node), 'one more');
cmp_ok($node->safe_psql('postgres', q(SELECT executions_started FROM sf_metrics WHERE state_machine = 'night')), '==',
	(split /\|/, $night)[1] + $n - $first, 'all of them are counted');
is($old->query_safe($counters), $counted, 'the snapshot shows what it showed');
$old->query_safe('COMMIT');
$old->quit;

# --- a dump, with increments that were not folded

$node->safe_psql('postgres', 'CREATE DATABASE shop');
$node->safe_psql('shop', <<'EOS');
CREATE EXTENSION sfflow;
SELECT sf_create_state_machine('m', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_start('m', '{}', n::text) FROM generate_series(1, 20) n;
EOS
ok(ended($node, 'shop'), 'another database');
ok($node->poll_query_until('shop', 'SELECT count(*) = 0 FROM _sfflow.metric_increment'), 'has counters');
switch_off('shop');
$node->safe_psql('shop', q(SELECT sf_start('m', '{}', n::text), sf_run('m:' || n)
	FROM generate_series(21, 25) n));
is(increments('shop'), '5', '... and increments');
my $dump = $node->backup_dir . '/shop.dump';
mkdir $node->backup_dir;
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('shop') ], 'dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('restored'), $dump ], 'restored');
is(increments('restored'), '5', 'with its increments');
is(same('restored', 'a restored dump'), $node->safe_psql('shop', $counters), 'is the same');
$node->safe_psql('restored', q(SELECT sf_start('m', '{}', 'x'), sf_run('m:x')));
same('restored', 'a restored dump in which an execution has run');
$node->safe_psql('restored', 'SELECT sf_enable()');
ok($node->poll_query_until('restored', 'SELECT count(*) = 0 FROM _sfflow.metric_increment'), 'adopted, it folds');
same('restored', 'a restored dump that was adopted');

# --- rows that are loaded beside those that were folded

switch_off('restored');
$node->safe_psql('restored', q(SELECT sf_start('m', '{}', 'y'), sf_run('m:y');
	CREATE TABLE kept AS TABLE _sfflow.metric_increment;
	TRUNCATE _sfflow.metric_increment; INSERT INTO _sfflow.metric_increment SELECT 3, at, machine_no, version, counts
		FROM kept));
$node->safe_psql('restored', 'SELECT sf_enable()');
ok($node->poll_query_until('restored', 'SELECT count(*) = 0 FROM _sfflow.metric_increment'),
	'increments of transactions of another server are folded, too');
same('restored', 'loaded increments');

# --- logical replication

my $tables = $node->safe_psql('shop', q(SELECT string_agg(c.oid::regclass::text, ', ') FROM pg_class c
	WHERE c.relnamespace = '_sfflow'::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'
		AND c.relname NOT IN ('instance', 'metric_fold')));
$node->safe_psql('postgres', 'CREATE DATABASE subscriber');
$node->safe_psql('subscriber', 'CREATE EXTENSION sfflow');
$node->safe_psql('shop', "CREATE PUBLICATION p FOR TABLE $tables;
	SELECT pg_create_logical_replication_slot('s', 'pgoutput')");
$node->safe_psql('subscriber',
	sprintf(q(CREATE SUBSCRIPTION s CONNECTION '%s' PUBLICATION p WITH (create_slot = false, slot_name = 's')),
	$node->connstr('shop') =~ s/'/''/gr));
ok($node->poll_query_until('subscriber', q(SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel)),
	'a subscriber copies the tables');
is(same('subscriber', 'a subscriber'), $node->safe_psql('shop', $counters), 'it shows the same');
$node->safe_psql('shop', q(SELECT sf_enable(); SELECT sf_start('m', '{}', n::text) FROM generate_series(26, 40) n));
ok(ended($node, 'shop'), 'the publisher goes on');
ok($node->poll_query_until('shop', 'SELECT count(*) = 0 FROM _sfflow.metric_increment'), 'and folds');
ok($node->wait_for_catchup('s') || 1, 'the subscriber follows');
is(increments('subscriber'), '0', 'and has lost its increments, too');
is(same('subscriber', 'a subscriber that has followed'), $node->safe_psql('shop', $counters),
	'it shows the same again');
$node->safe_psql('subscriber', 'DROP SUBSCRIPTION s');

$node->stop;
done_testing();
