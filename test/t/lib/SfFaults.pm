package SfFaults;

# A workload with an exact ledger, faults to inject into it, and the matrix of what came of them.
#
# Each step's effect is a row of a ledger without a unique constraint, committed with the step: by SQL tasks short and
# long, in Parallel branches and Map iterations, and by an activity's task that sfworker runs as a statement. Some
# executions are started by the AWS API of an sfgateway. Whatever happens, in the end the ledger holds each job of each
# execution once.
use strict;
use warnings;
use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use SfWorker;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(load_node prepare load probe settle matrix_head matrix_row in_place elsewhere);

my $conf = <<'EOC';
sfflow.workers = 3
sfflow.max_workers = 8
sfflow.max_running_tasks = 4
sfflow.max_crashes = 1000
sfflow.poll_interval = 600
log_statement = none
EOC

my $started = 0;
my $acknowledged = 0;
my $answered = 0;					# of these, by sfgateway
my %served;						# sfworker, by server
my %fronted;					# sfgateway, by server

# Make a server with the workload.
sub load_node
{
	my ($name, %how) = @_;
	my $node = new_node($name, conf => $conf . ($how{conf} // ''), bare => 1);
	prepare($node, 'postgres');
	return $node;
}

# Put the workload into a database, and have its activity served.
sub prepare
{
	my ($node, $database) = @_;
	my $again = '"Retry": [{"ErrorEquals": ["57", "53"], "IntervalSeconds": 1, "BackoffRate": 1.0, "MaxAttempts": 100}]';
	my $fields = '"ResultPath": null, "Parameters": {"execution.$": "$$.Execution.Name", "job.$": "$$.State.Name"}, ' . $again;
	my $item = '"Parameters": {"execution.$": "$$.Execution.Name", "job.$": "States.Format(\'Item-{}\', $)"}, ' . $again;
	my $statement = '"ResultPath": null, "Parameters": {"Statement": "SELECT public.job_outside($1, $2)", '
	  . '"Arguments.$": "States.Array($$.Execution.Name, $$.State.Name)"}, ' . $again;
	my %state = map { $_->[0] => task('public.job', $_->[1], $fields) } [ One => 'Both' ], [ Two => 'Pause' ], [ Last => undef ];
	my $one_item = task('public.job', undef, $item);
	$node->safe_psql($database, <<"EOS");
CREATE EXTENSION sfflow;
CREATE TABLE ledger (execution text, job text, at timestamptz DEFAULT clock_timestamp());
CREATE FUNCTION job(execution text, job text) RETURNS void LANGUAGE plpgsql AS \$\$
BEGIN
	INSERT INTO public.ledger VALUES (execution, job);
	-- some are over within a slice, others are long tasks with three commits
	PERFORM pg_sleep(0.001 * (abs(hashtext(execution || job)) % 90));
END \$\$;
CREATE FUNCTION job_outside(execution text, job text) RETURNS void LANGUAGE plpgsql AS \$\$
BEGIN
	INSERT INTO public.ledger VALUES (execution, job);
	PERFORM sf_send_task_success(current_setting('sfworker.task_token'), '{}');
END \$\$;
CREATE FUNCTION nothing() RETURNS void LANGUAGE sql AS 'SELECT';
SELECT sf_create_activity('sql', '3 s');
SELECT sf_create_state_machine('load', \$m\${"StartAt": "One", "States": {
  "One": $state{One},
  "Both": {"Type": "Parallel", "FailureMode": "DRAIN", "ResultPath": null, "Next": "Each", "Branches": [
    {"StartAt": "Two", "States": {"Two": $state{Two}, "Pause": {"Type": "Wait", "Seconds": 1, "End": true}}},
    {"StartAt": "Three", "States": {"Three": {"Type": "Task", "Resource": "activity:sql", "End": true, $statement}}}]},
  "Each": {"Type": "Map", "ItemsPath": "\$.items", "ResultPath": null, "Next": "Last",
    "ItemProcessor": {"StartAt": "Item", "States": {"Item": $one_item}}},
  "Last": $state{Last}}}\$m\$);
CREATE ROLE remote LOGIN;
SELECT sf_grant('START', 'load', 'remote');
SELECT sf_create_state_machine('probe', '@{[ one_task('public.nothing', $again) ]}');
EOS
	return;
}

my @jobs = qw(One Two Three Item-1 Item-2 Item-3 Last);

# Have an sfworker take the tasks of the activity.
sub serve
{
	my $node = shift;
	my $worker = $served{ $node->name };
	return if $worker && kill 0, $worker->{pid};
	my $config = "$PostgreSQL::Test::Utils::tmp_check/faults-$$.conf";
	unlink $config;
	append_to_file($config, "activity = sql\nconcurrency = 4\n\n[database default]\nconninfo = @{[ $node->connstr('postgres') ]}\n");
	$served{ $node->name } = start_worker($node, '--config', $config);
	return;
}

# Have an sfgateway take starts for a server that runs.
sub front
{
	my $node = shift;
	my $gateway = $fronted{ $node->name };
	return if $gateway && kill 0, $gateway->{pid};
	$fronted{ $node->name } = start_gateway($node, unready => 1, 'log-level' => 'info', config => "[key AKIDLOAD]\nrole = remote\nsecret = secret\n");
	return;
}

# End it at once, as a fault, or orderly, with an assertion that no sanitizer complains.
sub front_no_longer
{
	my ($node, $signal) = @_;
	my $gateway = delete $fronted{ $node->name } or return;
	return stop_gateway($gateway, $signal) if $signal ne 'KILL';
	kill 'KILL', $gateway->{pid};
	waitpid $gateway->{pid}, 0;
	return;
}

# Start an execution by the AWS API; true: it was answered.
sub start_remotely
{
	my ($node, $name) = @_;
	my $body = qq({"stateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:load", "name": "$name", "input": "{\\"items\\": [1, 2, 3]}"});
	my $got = curl($fronted{ $node->name }, '/', '--aws-sigv4', 'aws:amz:us-east-1:states', '--user', 'AKIDLOAD:secret', '--max-time', 30,
		'-H', 'Content-Type: application/x-amz-json-1.0', '-H', 'X-Amz-Target: AWSStepFunctions.StartExecution', '-d', $body);
	return $got->{status} == 200;
}

# End it.
sub serve_no_longer
{
	my ($node, $signal) = @_;
	my $worker = delete $served{ $node->name } or return;
	stop_worker($worker, $signal // 'KILL');
	return;
}

# Start executions of a kind; what was acknowledged has to be there for ever.
sub load
{
	my ($node, $kind, $count) = @_;
	front($node);
	my $remote = $count < 3 ? $count : 3;
	for (1 .. $remote)
	{
		my $done = start_remotely($node, "$kind-" . ++$started);
		$acknowledged += $done;
		$answered += $done;
	}
	$count -= $remote;
	return if $count == 0;
	my $from = $started + 1;
	$started += $count;
	my $n = try_sql($node, qq(SELECT count(sf_start('load', '{"items": [1, 2, 3]}', '$kind-' || n)) FROM generate_series($from, $started) AS n));
	$acknowledged += $n // 0;
	return;
}

my $probes = 0;

# Seconds until something that begins now has ended.
sub probe
{
	my ($node, $began) = @_;
	while (time < $began + 180)
	{
		my $name = 'p' . $$ . '-' . ++$probes;
		my $status = try_sql($node, "SELECT sf_start('probe', '{}', '$name')") && try_sql($node, "SELECT sf_await('probe:$name', '10 s')");
		return time - $began if ($status // '') eq 'SUCCEEDED';
		sleep 0.02;
	}
	return time - $began;
}

# Write the condition that an execution is of a kind.
sub of_kind
{
	my $kind = shift;
	return "state_machine = 'load' AND name LIKE '$kind-%'";
}

# How many starts sfgateway has answered so far.
sub answered_starts
{
	return $answered;
}

# Wait until all of a kind have ended, redriving what has not succeeded; gives what is lost, doubled, stuck.
sub settle
{
	my ($node, $kind) = @_;
	serve($node);
	my $of_kind = of_kind($kind);
	my $end = time + 180;
	my $open = 1;
	while ($open && time < $end)
	{
		sleep 0.1;
		try_sql($node, "SELECT sf_redrive(execution_id) FROM sf_executions WHERE $of_kind AND status NOT IN ('RUNNING', 'SUCCEEDED')");
		$open = try_sql($node, "SELECT count(*) FROM sf_executions WHERE $of_kind AND status <> 'SUCCEEDED'") // 1;
	}
	my $result = compare($node, $kind);
	diag("$kind: stuck: " . $node->safe_psql('postgres', "SELECT name, status, error, left(cause, 200) FROM sf_executions WHERE $of_kind AND status <> 'SUCCEEDED' LIMIT 5"))
	  if $result->{stuck};
	return $result;
}

# What sf_check() finds, and finds again later. An owner who drops limits all the time beside the check leaves branches
# for the looks that follow, which find them.
sub lasting_problems
{
	my $node = shift;
	my @problems = split /\n/, $node->safe_psql('postgres', 'SELECT * FROM sf_check()');
	for (1 .. 60)
	{
		last unless @problems;
		sleep 1;
		my %again = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', 'SELECT * FROM sf_check()');
		@problems = grep { $again{$_} } @problems;
	}
	return @problems;
}

# Compare the ledger with what the executions of a kind say.
sub compare
{
	my ($node, $kind) = @_;
	my $of_kind = of_kind($kind);
	my $in = join ', ', map { "'$_'" } @jobs;
	my ($there, $lost, $doubled, $stuck) = split /\|/, $node->safe_psql('postgres', <<"EOS");
WITH e AS (SELECT name, status FROM sf_executions WHERE $of_kind),
n AS (SELECT e.name, j.job, (SELECT count(*) FROM ledger AS l WHERE l.execution = e.name AND l.job = j.job) AS n
	FROM e, unnest(ARRAY[$in]) AS j (job) WHERE e.status = 'SUCCEEDED')
SELECT (SELECT count(*) FROM e), (SELECT count(*) FROM n WHERE n = 0),
	(SELECT count(*) FROM (SELECT FROM ledger WHERE execution LIKE '$kind-%' GROUP BY execution, job HAVING count(*) > 1) AS d),
	(SELECT count(*) FROM e WHERE status <> 'SUCCEEDED')
EOS
	$lost += $acknowledged - $there if $acknowledged > $there;
	$acknowledged = 0;
	# Rows of jobs whose execution is not there would be doubled work by another name.
	$doubled += $node->safe_psql('postgres', "SELECT count(*) FROM ledger AS l WHERE l.execution LIKE '$kind-%' AND NOT EXISTS (SELECT FROM sf_executions AS e WHERE e.name = l.execution AND e.state_machine = 'load')");
	my @problems = lasting_problems($node);
	diag("$kind: sf_check(): @problems") if @problems;
	return { lost => $lost, doubled => $doubled, stuck => $stuck + (@problems > 0), executions => $there };
}

my $format = "| %-44s | %-52s | %6s | %4s | %7s | %5s | %-15s |\n";

# The first lines of the matrix.
sub matrix_head
{
	return sprintf($format, 'fault', 'how injected', 'rounds', 'lost', 'doubled', 'stuck', 'recovery p50/max')
	  . "|---|---|---|---|---|---|---|\n";
}

# One line of it.
sub matrix_row
{
	my ($fault, $how, $result, @seconds) = @_;
	my $recovery = @seconds ? sprintf('%.1f s / %.1f s', percentile(0.5, @seconds), percentile(1, @seconds)) : '';
	return sprintf($format, $fault, $how, scalar @seconds, @$result{qw(lost doubled stuck)}, $recovery);
}

# ---------------------------------------------------------------- faults

# Find a process by its type in pg_stat_activity, one in a task first.
sub pid_of
{
	my ($node, $type) = @_;
	return try_sql($node, "SELECT pid FROM pg_stat_activity WHERE backend_type = '$type' AND pid <> pg_backend_pid()
		ORDER BY wait_event = 'PgSleep' DESC NULLS LAST, random() LIMIT 1") // '';
}

# kill -9 a process of the server.
sub kill_process
{
	my ($node, $type) = @_;
	my $pid = pid_of($node, $type);
	return 0 unless $pid =~ /^\d+$/;
	kill 'KILL', $pid;
	wait_gone($pid);
	return 1;
}

# Set debug points for all processes, for some time, and have what they do ended.
sub with_points
{
	my ($node, $points, $seconds) = @_;
	try_sql($node, "ALTER SYSTEM SET sfflow.debug_point = '$points'");
	try_sql($node, 'SELECT pg_reload_conf()');
	my $end = time + $seconds;
	my $offset = -s $node->logfile;
	# A point that crashes does so again after each recovery, until it is taken back.
	while (time < $end)
	{
		last if slurp_file($node->logfile, $offset) =~ /terminating any other active server processes/;
		sleep 0.02;
	}
	# Without a session, which a server in recovery would not give.
	my $file = $node->data_dir . '/postgresql.auto.conf';
	my $settings = slurp_file($file);
	$settings =~ s/^sfflow\.debug_point = .*\n//m;
	open my $out, '>', $file or die "$file: $!";
	print $out $settings;
	close $out;
	system_log('pg_ctl', '-D', $node->data_dir, 'reload');
	return;
}

# Run a statement in the background for some time, in a number of sessions.
sub storm
{
	my ($node, $sessions, $seconds, $sql) = @_;
	my $file = "$PostgreSQL::Test::Utils::tmp_check/storm-$$.sql";
	unlink $file;
	append_to_file($file, "$sql\n");
	# A session that meets an error ends: the storm goes on with the others, and with new ones.
	my $end = time + $seconds;
	while (time < $end)
	{
		system_log('pgbench', '-n', '-c', $sessions, '-j', 1, '-T', int($end - time) + 1, '-f', $file, '-h', $node->host, '-p', $node->port, 'postgres')
		  and sleep 0.1;
	}
	return;
}

# Hold a transaction open for some time.
sub hold_transaction
{
	my ($node, $seconds, $sql) = @_;
	my $session = $node->background_psql('postgres');
	$session->query_safe($sql);
	sleep $seconds;
	$session->query_safe('ROLLBACK');
	$session->quit;
	return;
}

# Faults that a server survives where it is: fault, how it is injected, what injects it.
sub in_place
{
	my @points = map {
		my $point = $_;
		[ "crash at $point", "kill -9 at this debug point", sub { with_points($_[0], "$point:crash", 5) } ]
	} qw(claim slice_lock slice_commit T1_commit T2_claim step_begin step_over T2_commit commit committed sleep);
	return (
		[ 'worker killed', 'kill -9, in a task if there is one', sub { kill_process($_[0], 'sfflow worker') } ],
		[ 'launcher killed', 'kill -9', sub { kill_process($_[0], 'sfflow launcher') } ],
		[ 'client killed', 'kill -9 of a backend in sf_run()', sub {
			my $node = shift;
			my $client = $node->background_psql('postgres', on_error_stop => 0);
			$client->{stdin} .= "SELECT sf_run(execution_id) FROM sf_executions WHERE status = 'RUNNING' LIMIT 5; SELECT pg_sleep(60);\n";
			$client->{run}->pump_nb;
			sleep 0.3;
			kill_process($node, 'client backend');
			eval { $client->quit };
		} ],
		[ 'checkpointer killed', 'kill -9', sub { kill_process($_[0], 'checkpointer') } ],
		[ 'postmaster killed', 'kill -9, then started', sub { $_[0]->kill9; start_again($_[0]) } ],
		[ 'immediate shutdown', 'pg_ctl stop -m immediate, start', sub { $_[0]->stop('immediate'); $_[0]->start } ],
		[ 'fast restart', 'pg_ctl restart -m fast', sub { $_[0]->restart } ],
		[ 'workers terminated', 'pg_terminate_backend() of all', sub {
			try_sql($_[0], "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'sfflow worker'") } ],
		[ 'workers cancelled', 'pg_cancel_backend() of all, 20 times', sub {
			for (1 .. 20) { try_sql($_[0], "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type = 'sfflow worker'") } } ],
		@points,
		[ 'no crash restart', 'restart_after_crash = off, kill -9, started', sub {
			my $node = shift;
			try_sql($node, 'ALTER SYSTEM SET restart_after_crash = off');
			try_sql($node, 'SELECT pg_reload_conf()');
			# There may be none yet.
			wait_for('a worker is there', sub { kill_process($node, 'sfflow worker') }) or die 'no worker';
			wait_until_down($node);
			start_again($node);
			try_sql($node, 'ALTER SYSTEM RESET restart_after_crash');
			try_sql($node, 'SELECT pg_reload_conf()');
		} ],
		[ 'disk full', '53100 raised at each commit for 2 s', sub { with_points($_[0], 'slice_commit:error=53100,T1_commit:error=53100,T2_commit:error=53100', 2) } ],
		[ 'out of memory', '53200 raised at each step for 2 s', sub { with_points($_[0], 'step_begin:error=53200,claim:error=53200', 2) } ],
		[ 'locks', 'a session holds execution and branch rows for 2 s', sub {
			hold_transaction($_[0], 2, q{BEGIN; SELECT count(*) FROM (SELECT FROM _sfflow.execution WHERE status = 0 FOR UPDATE SKIP LOCKED) AS e, (SELECT FROM _sfflow.branch FOR UPDATE SKIP LOCKED LIMIT 20) AS b}) } ],
		[ 'old snapshot', 'REPEATABLE READ open for 2 s', sub {
			hold_transaction($_[0], 2, q{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM sf_executions}) } ],
		[ 'ticks', 'sf_run_due() in 6 sessions for 2 s', sub { storm($_[0], 6, 2, 'CALL sf_run_due();') } ],
		[ 'stops and redrives', 'sf_stop, sf_redrive in 4 sessions for 2 s', sub {
			storm($_[0], 4, 2, <<'EOS') } ],
DO $$
BEGIN
	PERFORM sf_stop(execution_id) FROM sf_executions WHERE state_machine = 'load' AND status = 'RUNNING' ORDER BY random() LIMIT 1;
	PERFORM sf_redrive(execution_id) FROM sf_executions WHERE state_machine = 'load' AND status = 'ABORTED' ORDER BY random() LIMIT 1;
EXCEPTION WHEN OTHERS THEN NULL;
END $$;
EOS
		[ 'sfworker killed', 'kill -9', sub { serve_no_longer($_[0], 'KILL') } ],
		[ 'sfworker disconnected', 'pg_terminate_backend() of its sessions', sub {
			try_sql($_[0], "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'sfworker%'") } ],
		[ 'sfgateway killed', 'kill -9', sub { front_no_longer($_[0], 'KILL') } ],
		[ 'sfgateway disconnected', 'pg_terminate_backend() of its sessions', sub {
			try_sql($_[0], "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'sfgateway%'") } ],
		[ 'extension dropped elsewhere', 'CREATE and DROP EXTENSION in another database', sub {
			my $node = shift;
			try_sql($node, 'CREATE DATABASE other');
			for (1 .. 5) { try_sql($node, $_, 'other') for 'CREATE EXTENSION sfflow', 'DROP EXTENSION sfflow' }
			try_sql($node, 'DROP DATABASE other');
		} ]);
}

# Faults after which work goes on in another place; each gives the server that goes on.
sub elsewhere
{
	return (
		[ 'failover', 'synchronous standby promoted, primary gone', sub {
			my ($node, $name) = @_;
			my $standby = standby_of($node, $name);
			$node->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = '*'});
			$node->safe_psql('postgres', 'SELECT pg_reload_conf()');
			load($node, $name, 10);
			sleep 0.5 + rand;
			my $began = time;
			$node->stop('immediate');
			$standby->promote;
			$standby->safe_psql('postgres', q{ALTER SYSTEM RESET synchronous_standby_names});
			$standby->safe_psql('postgres', 'SELECT pg_reload_conf()');
			return ($standby, $began);
		} ],
		[ 'base backup', 'restored, sf_enable(), original gone', sub {
			my ($node, $name) = @_;
			load($node, $name, 10);
			sleep 0.5 + rand;
			$node->backup("for-$name");
			my $began = time;
			my $copy = PostgreSQL::Test::Cluster->new($name);
			$copy->init_from_backup($node, "for-$name");
			$node->stop('immediate');
			$copy->start;
			$copy->safe_psql('postgres', 'SELECT sf_enable()');
			# What was started after the backup is not in it.
			$acknowledged = 0;
			return ($copy, $began);
		} ],
		[ 'cut-over', 'sf_disable(), pg_dump, restored, sf_enable()', sub {
			my ($node, $name) = @_;
			load($node, $name, 10);
			sleep 0.5 + rand;
			my $began = time;
			my $dump = "$PostgreSQL::Test::Utils::tmp_check/$name.sql";
			serve_no_longer($node, 'TERM');
			$node->safe_psql('postgres', 'SELECT sf_disable()');
			$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM sf_workers WHERE execution_id IS NOT NULL}) or die 'tasks stay';
			my $copy = new_node($name, conf => $conf, bare => 1);
			# pg_dump leaves roles out.
			$copy->safe_psql('postgres', 'CREATE ROLE remote LOGIN');
			system_log('pg_dump', '-f', $dump, $node->connstr('postgres')) and die 'pg_dump';
			system_log('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $copy->connstr('postgres')) and die 'restore';
			$node->stop('immediate');
			$copy->safe_psql('postgres', 'SELECT sf_enable()');
			return ($copy, $began);
		} ]);
}

# Wait until a server that ended by itself is gone.
sub wait_until_down
{
	my $node = shift;
	my $file = $node->data_dir . '/postmaster.pid';
	for (1 .. 1800)
	{
		last unless -e $file;
		sleep 0.1;
	}
	# The object is to know it, too, or it would not start the server again.
	$node->_update_pid(0);
	return;
}

1;
