# Mistakes in the protocols, which the models in test/model find, are noticed in the code as well.
#
# sfflow.debug_point = 'NAME:mutate' has the code make one. Each scenario leads through the moment at which that
# mistake matters: without it all is as it must be, with it the scenario has something to tell. What the scenarios
# look at (each job once, every execution ends, no task cancelled in vain) is what the tests of races look at.
# needs: limit
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 2
sfflow.max_workers = 6
sfflow.poll_interval = 3600
sfflow.max_crashes = 1
EOC

# What a job does: it counts that it has begun, which no rollback takes back, and writes into the ledger.
$node->safe_psql('postgres', <<'EOS');
CREATE TABLE ledger (execution text, job text, at timestamptz DEFAULT clock_timestamp());
CREATE TABLE broken (job text);
CREATE TABLE asleep (job text);
CREATE FUNCTION job(execution text, job text, seconds float8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	RAISE LOG 'job begun: % %', execution, job;
	INSERT INTO public.ledger VALUES (execution, job);
	-- until the test wakes it, and for some seconds, or until the test lets go of a lock of the job's name
	WHILE EXISTS (SELECT FROM public.asleep a WHERE a.job = job.job) LOOP
		PERFORM pg_sleep(0.1);
	END LOOP;
	IF seconds >= 0 THEN
		PERFORM pg_sleep(seconds);
	ELSE
		PERFORM pg_advisory_xact_lock_shared(hashtextextended(job, 0));
	END IF;
	IF EXISTS (SELECT FROM public.broken b WHERE b.job = job.job) THEN
		PERFORM sf_raise('Broken');
	END IF;
END $$;
CREATE FUNCTION killer(input jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE pg_catalog.format('COPY (SELECT 1) TO PROGRAM ''kill -9 %s''', pg_catalog.pg_backend_pid());
	RETURN input;
END $$;
EOS

my $session = $node->background_psql('postgres');
my ($mutation, $number, $limit) = ('', 0, 120);

sub sql { return $node->safe_psql('postgres', shift) }

# Set debug points for processes that are between two turns, beside the mutation.
sub set_points
{
	my $points = join ',', grep { $_ } @_, $mutation;
	sql("ALTER SYSTEM SET sfflow.debug_point = '$points'");
	sql('SELECT pg_reload_conf()');
	$node->poll_query_until('postgres', "SELECT current_setting('sfflow.debug_point') = '$points'") or die 'no reload';
	return;
}

# Set them for all workers, which begin anew. One that is ended in the middle of a turn counts as a failure, after
# which the next one is started later: let them become idle, if they will.
sub points
{
	set_points(@_);
	for (1 .. 30)
	{
		last if sql("SELECT count(*) FROM sf_workers WHERE role <> 'launcher' AND state <> 'idle'") eq '0';
		sleep 0.1;
	}
	my $old = sql("SELECT coalesce(string_agg(pid::text, ','), '0') FROM sf_workers WHERE role <> 'launcher'");
	sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN ($old)");
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid IN ($old)")
		or die 'workers stay';
	return;
}

# Have processes wait at a point, or go on.
sub hold { $session->query_safe("SELECT pg_advisory_lock(hashtextextended('$_[0]', 0))"); return }
sub let_go { $session->query_safe("SELECT pg_advisory_unlock(hashtextextended('$_[0]', 0))"); return }

# Wait until a worker hangs at a point, or in a job.
sub hangs
{
	my $name = shift;
	$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		WHERE l.locktype = 'advisory' AND NOT l.granted AND a.backend_type = 'sfflow worker'
		AND l.objid::bigint = (hashtextextended('$name', 0) & 4294967295)") or die "no worker waits at $name";
	return;
}

# Wait until a number of jobs sleep.
sub sleeps
{
	my $count = shift;
	$node->poll_query_until('postgres', "SELECT count(*) >= $count FROM pg_stat_activity
		WHERE backend_type = 'sfflow worker' AND wait_event = 'PgSleep'") or die 'no job sleeps';
	return;
}

# Write a Task state that does a job for some seconds.
sub job
{
	my ($name, $seconds, $next, $more) = @_;
	return qq("$name": ) . task('public.job', $next,
		qq("ResultPath": null,
			"Parameters": {"execution.\$": "\$\$.Execution.Name", "job": "$name", "seconds": $seconds})
				. ($more ? ", $more" : ''));
}

# Make a machine of states and start it; gives the execution's name, which is the machine's.
sub start
{
	my ($states, %how) = @_;
	my $name = 'x' . ++$number;
	my ($first) = $states =~ /"([^"]+)"/;
	my $more = $how{more} ? ", $how{more}" : '';
	sql(qq(SELECT sf_create_state_machine('$name', \$m\${"StartAt": "$first", "States": {$states}$more}\$m\$)));
	sql("SELECT sf_start('$name', '{}', '$name')") unless $how{later};
	return $name;
}

# Make and start a machine of two branches.
sub parallel
{
	my ($mode, $one, $two, $more, $after) = @_;
	my $end = $after ? '"Next": "After"' : '"End": true';
	my @first = map { /"([^"]+)"/ } $one, $two;
	return start(qq("P": {"Type": "Parallel", "FailureMode": "$mode", "ResultPath": null, $end, $more "Branches": [
		{"StartAt": "$first[0]", "States": {$one}}, {"StartAt": "$first[1]", "States": {$two}}]})
			. ($after ? qq(, $after) : ''));
}

# Make an activity of its own for a scenario; gives its name, and a state.
sub activity
{
	my $name = 'hands' . ($number + 1);
	sql("SELECT sf_create_activity('$name')");
	return ($name, qq({"Type": "Task", "Resource": "activity:$name", "End": true}));
}

sub await { return sql("SELECT sf_await('$_[0]:$_[0]', '$limit s')") }
sub status { return sql("SELECT status FROM sf_executions WHERE name = '$_[0]'") }
sub done { return sql("SELECT count(*) FROM ledger WHERE execution = '$_[0]' AND job = '$_[1]'") }

# Count how often a job has begun.
sub begun
{
	my ($name, $job) = @_;
	my $count = () = slurp_file($node->logfile) =~ /job begun: $name $job\b/g;
	return $count;
}

# Tell what is not as it must be: an execution ends well, with each of its jobs begun and done once.
sub wrong
{
	my ($name, @jobs) = @_;
	my @found;
	my $status = await($name);
	push @found, "it is $status" if $status ne 'SUCCEEDED';
	for my $job (@jobs)
	{
		my ($begun, $done) = (begun($name, $job), done($name, $job));
		push @found, "job $job begun $begun times, done $done times" if $begun != 1 || $done != 1;
	}
	return join '; ', @found;
}

# Kill the worker that sleeps in a job, and wait until the server is back.
sub crash
{
	my $pid = '';
	for (1 .. 1000)
	{
		$pid = sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'sfflow worker' AND wait_event = 'PgSleep'
			LIMIT 1");
		last if $pid;
	}
	$pid =~ /^\d+$/ or die 'no job sleeps';
	$session->quit;
	kill 'KILL', $pid;
	wait_gone($pid);
	recovered($node) or die 'no recovery';
	$session = $node->background_psql('postgres');
	return;
}

# Move executions between a state without a limit and one where one may run; gives what sf_check() says then. $tight:
# two come to the state with the limit, else to the other one. @moved: 1 is inside of its state; so is 2 of that without
# a limit, else it waits.
sub moved
{
	my ($tight, @moved) = @_;
	my $name = 'x' . ++$number;
	my ($version, $from, $to) = $tight ? (1, 'Tight', 'Free') : (2, 'Free', 'Tight');
	my $inside = "SELECT count(*) FROM sf_tasks WHERE execution_id LIKE '$name:%'";
	sql("SELECT sf_create_activity('$name')");
	for my $state ('Free', 'Tight')
	{
		sql(qq(SELECT sf_create_state_machine('$name',
			'{"StartAt": "$state", "States": {"$state": {"Type": "Task", "Resource": "activity:$name", "End": true}}}',
			or_replace => true)));
		sql("SELECT sf_set_limit('$name/Tight', max_running => 1)") if $state eq 'Tight';
		$node->poll_query_until('postgres', 'SELECT coalesce(bool_and(counted), true) FROM _sfflow.run_limit')
			or die 'not counted';
		sql("SELECT sf_start('$name', '{}', n::text) FROM generate_series(1, 2) AS n") if $state eq $from;
		$node->poll_query_until('postgres', "SELECT ($inside) = 2") or die 'not handed out' if $from eq 'Free';
	}
	$node->poll_query_until('postgres', "SELECT ($inside) = 1 AND waiting = 1 FROM sf_limits
		WHERE target = '$name/Tight'") or die 'not queued' if $tight;
	my @ids = split /\n/, sql("SELECT execution_id FROM sf_executions e WHERE execution_id LIKE '$name:%'
		ORDER BY EXISTS (SELECT FROM sf_tasks t WHERE t.execution_id = e.execution_id) DESC, execution_id");
	sql(qq(SET sfflow.debug_point = '$mutation'; SELECT sf_migrate('$ids[$_ - 1]', $version, '{"$from": "$to"}')))
		for @moved;
	my $problems = sql("SELECT string_agg(DISTINCT problem, ' ') FROM sf_check()");
	sql("SELECT sf_stop(execution_id) FROM sf_executions WHERE execution_id LIKE '$name:%'");
	sql("SELECT sf_drop_limit('$name/Tight')");
	return $problems;
}

my $two_passes = '"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Pass", "Next": "C"}, "C": {"Type": "Pass", '
	. '"End": true}';

my @scenarios = (
	[ claim => sub {
		hold('slice_lock');
		points('slice_lock:wait');
		my $name = start($two_passes);
		hangs('slice_lock');
		# Another one takes a step of what the worker has in hand.
		my $before = -s $node->logfile;
		my ($rc, $out, $err) = $node->psql('postgres',
			"SET sfflow.debug_point = '$mutation'; SELECT sf_step('$name:$name')");
		let_go('slice_lock');
		my $wrong = wrong($name);
		return $wrong . (slurp_file($node->logfile, $before) =~ /(tuple concurrently updated)/ ? $1 : '');
	} ],
	[ claim_redriven => sub {
		hold('read'); hold('claim');
		points('read:wait', 'claim:wait');
		my $name = start($two_passes);
		hangs('read');
		# The worker reads the execution when it has ended, and gets the branch when it runs again.
		sql("SELECT sf_stop('$name:$name')");
		let_go('read');
		hangs('claim');
		sql("SELECT sf_redrive('$name:$name')");
		let_go('claim');
		return wrong($name);
	} ],
	[ slice_lock => sub {
		hold('slice_lock');
		points('slice_lock:wait');
		my $name = start($two_passes);
		hangs('slice_lock');
		sql("SELECT sf_stop('$name:$name')");
		# The redrive has the execution's row and wants the branch; the slice has that one and wants the first.
		my $operator = $node->background_psql('postgres', on_error_stop => 0);
		$operator->query("SET sfflow.debug_point = ''");
		$operator->{stdin} .= "SELECT sf_redrive('$name:$name');\n";
		$operator->{run}->pump_nb;
		$node->poll_query_until('postgres',
			"SELECT count(*) > 0 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%sf_redrive(''$name%'
			AND pid <> pg_backend_pid()") or die;
		sleep 0.2;
		let_go('slice_lock');
		eval { $operator->quit };
		return wrong($name);
	} ],
	[ slice_status => sub {
		hold('slice_lock');
		points('slice_lock:wait');
		my $name = start($two_passes);
		hangs('slice_lock');
		sql("SELECT sf_stop('$name:$name')");
		let_go('slice_lock');
		points();
		my $status = status($name);
		return $status eq 'ABORTED' ? '' : "stopped, it is $status";
	} ],
	[ T2_generation => sub {
		# The commit of the task fails on a remote server; while that is to be noted, the execution is stopped,
		# repaired and redriven, and its task announced anew.
		sql("UPDATE remote_state SET refuse = true");
		hold('Far'); hold('T2_claim');
		points('T2_claim:wait');
		my $name = start('"F": ' . task('public.far_job', undef,
			'"ResultPath": null, "Parameters": {"execution.$": "$$.Execution.Name"}'));
		hangs('T2_claim');
		let_go('T2_claim');
		hangs('Far');
		hold('T2_claim');
		let_go('Far');
		hangs('T2_claim');
		set_points('committed:sleep=1000');
		sql("SELECT sf_stop('$name:$name')");
		sql("UPDATE remote_state SET refuse = false");
		sql("SELECT sf_redrive('$name:$name')");
		$node->poll_query_until('postgres',
			"SELECT count(*) = 1 FROM _sfflow.execution e LEFT JOIN _sfflow.branch b USING (execution_no)
			WHERE e.execution_id = '$name:$name' AND (b.phase = ${\ phase('ANNOUNCED')} OR e.stopped_at IS NOT NULL)")
			or die 'not announced again';
		let_go('T2_claim');
		$limit = 120;
		return wrong($name);
	} ],
	[ T2_claim => sub {
		points();
		sql("INSERT INTO asleep VALUES ('A')");
		my $name = start(job('A', 0));
		sleeps(1);
		# A session takes a step of it; with the mistake it comes to sleep in the job, too.
		my $operator = $node->background_psql('postgres', on_error_stop => 0);
		my $pid = $operator->query_safe('SELECT pg_backend_pid()');
		$operator->{stdin} .= "SELECT sf_step('$name:$name');\n";
		$operator->{run}->pump_nb;
		$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $pid
			AND query LIKE '%sf_step%' AND (state <> 'active' OR wait_event = 'PgSleep')") or die 'no step';
		sql('DELETE FROM asleep');
		eval { $operator->quit };
		return wrong($name, 'A');
	} ],
	[ T2_commit => sub {
		points();
		my $name = start(job('A', 0.1));
		return wrong($name, 'A');
	} ],
	[ cancel => sub {
		points();
		hold('A'); hold('B');
		my $stopped = start(job('A', -1));
		hangs('A');
		my $name = start(job('B', -1));
		hangs('B');
		sql("SELECT sf_stop('$stopped:$stopped')");
		$node->poll_query_until('postgres',
			"SELECT count(*) = 0 FROM sf_workers WHERE execution_id = '$stopped:$stopped'") or die;
		let_go('B');
		return wrong($name, 'B');
	} ],
	[ task_limit => sub {
		points();
		sql('SELECT sf_disable()');
		my $name = start(job('A', 0.1, 'B', '"TimeoutSeconds": 20') . ', ' . job('B', 22));
		my ($rc, $out, $err) = $node->psql('postgres', "SELECT sf_run('$name:$name')");
		sql('SELECT sf_enable()');
		return $rc ? $err : wrong($name, 'A', 'B');
	} ],
	[ redrive => sub {
		hold('T2_commit');
		points('T2_commit:wait');
		my $name = start(job('A', 0));
		hangs('T2_commit');
		sql("SELECT sf_stop('$name:$name')");
		let_go('T2_commit');
		$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ledger WHERE execution = '$name'") or die;
		sql("SELECT sf_redrive('$name:$name')");
		return wrong($name, 'A');
	} ],
	[ announced => sub {
		hold('T2_claim');
		my $mistake = $mutation;
		$mutation = '';
		points('T2_claim:wait');
		my $name = start(job('A', 0));
		hangs('T2_claim');
		# The worker ends before it runs what it has announced.
		$mutation = $mistake;
		points();
		let_go('T2_claim');
		return wrong($name, 'A');
	} ],
	[ retry_timer => sub {
		points();
		sql("INSERT INTO broken VALUES ('R')");
		my $name = start(job('R', 0, undef,
			'"Retry": [{"ErrorEquals": ["Broken"], "IntervalSeconds": 3600, "MaxAttempts": 1}]'));
		$node->poll_query_until('postgres',
			"SELECT count(*) = 1 FROM sf_history WHERE execution_id = '$name:$name' AND type = 'TaskFailed'") or die;
		sql('TRUNCATE broken');
		# The worker that sf_enable() rings for looks at the timers.
		sql("UPDATE _sfflow.branch SET due_at = now() WHERE due_at > now() + interval '30 min'; SELECT sf_enable()");
		return wrong($name);
	} ],
	[ give_up => sub {
		points();
		sql("INSERT INTO broken VALUES ('Bad')");
		hold('Long');
		my $name = parallel('ABORT', job('Bad', 1), job('Long', -1),
			'"Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "After"}],', job('After', 0));
		my $wrong = wrong($name, 'After');
		sql('TRUNCATE broken');
		let_go('Long');
		return $wrong . (done($name, 'Long') ? 'an aborted job is done' : '');
	} ],
	[ cancel_child => sub {
		points();
		sql("INSERT INTO broken VALUES ('Bad')");
		hold('Long');
		my $name = parallel('ABORT', job('Bad', 1), job('Long', -1), '');
		my $status = await($name);
		sql('TRUNCATE broken');
		return $status eq 'FAILED' ? '' : "it is $status";
	} ],
	[ recall => sub {
		points();
		sql("INSERT INTO broken VALUES ('Bad')");
		hold('Bad'); hold('Short');
		my $name = parallel('ABORT', job('Bad', -1), job('Short', -1, 'Rest')
			. ', "Rest": {"Type": "Wait", "Seconds": 3600, "End": true}', '');
		hangs('Bad');
		hangs('Short');
		# The second branch is in a worker's hands, about to rest, when the first one fails.
		hold('slice_lock');
		set_points('slice_lock:wait');
		let_go('Short');
		hangs('slice_lock');
		set_points();
		let_go('Bad');
		$node->poll_query_until('postgres',
			"SELECT count(*) = 1 FROM sf_history WHERE execution_id = '$name:$name' AND type = 'TaskFailed'") or die;
		sleep 0.5;
		let_go('slice_lock');
		my $status = await($name);
		sql('TRUNCATE broken');
		return $status eq 'FAILED' ? '' : "it is $status";
	} ],
	[ look_again => sub {
		points();
		my ($hands, $activity) = activity();
		my $name = parallel('ABORT', qq("A": $activity), qq("B": $activity), '');
		$node->poll_query_until('postgres', "SELECT queued = 2 FROM sf_activities WHERE activity = '$hands'") or die;
		my $token = sql("SELECT task_token FROM sf_get_activity_task('$hands')");
		$session->query_safe("BEGIN; SELECT state FROM sf_get_activity_task('$hands')");
		sql("SELECT sf_send_task_failure('$token', 'boom')");
		$node->poll_query_until('postgres',
			"SELECT count(*) = 1 FROM sf_history WHERE execution_id = '$name:$name' AND type = 'ActivityFailed'")
			or die;
		sleep 0.3;
		$session->query_safe('ROLLBACK');
		my $status = await($name);
		return $status eq 'FAILED' ? '' : "it is $status";
	} ],
	[ failure_mode => sub {
		points();
		sql("INSERT INTO broken VALUES ('Bad')");
		hold('Long');
		my $name = parallel('DRAIN', job('Bad', 0.5), job('Long', -1), '');
		$node->poll_query_until('postgres',
			"SELECT count(*) = 1 FROM sf_history WHERE execution_id = '$name:$name' AND type = 'TaskFailed'") or die;
		sleep 2;
		let_go('Long');
		await($name);
		sql('TRUNCATE broken');
		return done($name, 'Long') ? '' : 'a sibling that was to run on was aborted';
	} ],
	[ count_end => sub {
		points();
		return wrong(parallel('ABORT', job('A', 0), job('B', 0), ''), 'A', 'B');
	} ],
	[ count_new => sub {
		points();
		my $one = qq("ItemsPath": "\$.items", "ItemProcessor": {"StartAt": "A", "States": {"A": {"Type": "Pass", )
			. qq("End": true}}});
		my $name = start(qq("M": {"Type": "Map", $one, "ResultPath": null, "End": true}), later => 1);
		sql(qq(SELECT sf_start('$name', '{"items": [1, 2]}', '$name')));
		return wrong($name);
	} ],
	[ abort => sub {
		points();
		my ($hands, $activity) = activity();
		my $name = parallel('ABORT', qq("A": $activity), qq("B": $activity), '');
		$node->poll_query_until('postgres', "SELECT queued = 2 FROM sf_activities WHERE activity = '$hands'") or die;
		my %token = split /[|\n]/, sql("SELECT state, task_token FROM sf_get_activity_task('$hands')
			UNION ALL SELECT state, task_token FROM sf_get_activity_task('$hands')");
		sql('SELECT sf_disable()');
		sql("SELECT sf_send_task_failure('$token{A}', 'boom')");
		sql("SELECT sf_send_task_success('$token{B}', '1')");
		sql('SELECT sf_enable()');
		await($name);
		sql("SELECT sf_redrive('$name:$name')");
		$node->poll_query_until('postgres', "SELECT queued > 0 FROM sf_activities WHERE activity = '$hands'") or die;
		points();
		my $queued = sql("SELECT queued FROM sf_activities WHERE activity = '$hands'");
		return $queued == 1 ? '' : 'a task that was answered is handed out again';
	} ],
	[ alone => sub {
		points();
		sql("INSERT INTO asleep VALUES ('A')");
		my $name = start(job('A', 4));
		sleeps(1);
		crash();
		sleeps(1);
		my $since = sql("SELECT extract(epoch FROM min(since)) FROM sf_workers WHERE execution_id = '$name:$name'");
		sql('DELETE FROM asleep');
		my $other = start($two_passes);
		await($other);
		# After five seconds others do not wait for a suspect any more, which a busy machine may need for all that.
		my $is_late = sql("SELECT extract(epoch FROM started_at) - $since > 4.5 FROM sf_executions
			WHERE name = '$other'") eq 't';
		return status($other) eq 'SUCCEEDED' && ($is_late || done($name, 'A')) ? '' : 'a suspect was not alone';
	} ],
	[ crash_count => sub {
		points();
		sql("INSERT INTO asleep VALUES ('A')");
		my $name = start(job('A', 1));
		sleeps(1);
		crash();
		sql('DELETE FROM asleep');
		return wrong($name);
	} ],
	[ note => sub {
		points();
		my $before = -s $node->logfile;
		$session->quit;
		my $name = start('"K": ' . task('public.killer'), later => 1);
		$node->psql('postgres', "SELECT sf_start('$name', '{}', '$name')");
		my ($crashes, $status) = (0, '');
		for (1 .. 1200)
		{
			sleep 0.1;
			$crashes = () = slurp_file($node->logfile, $before) =~ /terminating any other active server processes/g;
			my ($rc, $out) = $node->psql('postgres', "SELECT status FROM sf_executions WHERE name = '$name'");
			$status = $out if $rc == 0;
			last if $status eq 'FAILED' || $crashes > 5;
		}
		# A server that crashes all the time is told at one of its short lives to let the step be.
		for (1 .. 600)
		{
			last if $status eq 'FAILED';
			my ($rc) = $node->psql('postgres', "SELECT sf_stop('$name:$name')");
			last if $rc == 0;
			sleep 0.02;
		}
		# A worker that had begun the step before the stop may crash the server once more: wait until none has it.
		$node->poll_query_until('postgres', "SELECT (SELECT status <> 'RUNNING' FROM sf_executions WHERE name = '$name')
			AND NOT EXISTS (SELECT FROM sf_workers WHERE execution_id = '$name:$name')") or die 'still running';
		recovered($node) or die 'no recovery';
		$session = $node->background_psql('postgres');
		return $crashes > 5 ? "$crashes crashes" : $status eq 'FAILED' ? '' : "it is $status";
	} ],
	[ exit => sub {
		hold('claim');
		points('claim:wait');
		my $name = start($two_passes, later => 1);
		$session->query_safe("SELECT sf_start('$name', '{}', '$name')");
		hangs('claim');
		sql("SELECT pg_terminate_backend(pid) FROM sf_workers WHERE role = 'worker'");
		let_go('claim');
		return wrong($name);
	} ],
	[ move_slot => sub { return moved(0, 1) } ],
	[ move_give => sub { return moved(1, 1) } ],
	[ move_recall => sub { return moved(1, 2) } ],
	[ move_highest => sub { return moved(0, 1, 2) } ]);

# A suspect that is alone for so long that the others go on is not counted any more: this takes half a minute.
push @scenarios, [ release => sub {
	points();
	my $name = start(job('A', 9));
	sleeps(1);
	crash();
	await(start($two_passes));
	sleeps(1);
	crash();
	return wrong($name);
} ] if $ENV{SFFLOW_FULL};

# A remote server, which refuses to commit when it is told to.
my ($host, $port) = ($node->host, $node->port);
sql(<<"EOS");
CREATE EXTENSION postgres_fdw;
CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER here OPTIONS (password_required 'false');
CREATE TABLE remote_state (refuse boolean);
INSERT INTO remote_state VALUES (false);
CREATE TABLE near (execution text);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN
	IF (SELECT refuse FROM public.remote_state) THEN RAISE 'refused'; END IF;
	RETURN NULL;
END \$\$;
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT
	ON near DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE FOREIGN TABLE far (execution text) SERVER here OPTIONS (schema_name 'public', table_name 'near');
CREATE FUNCTION far_job(execution text) RETURNS void LANGUAGE plpgsql AS \$\$
BEGIN
	INSERT INTO public.far VALUES (execution);
	PERFORM pg_advisory_xact_lock_shared(hashtextextended('Far', 0));
	-- so long that it is announced the next time as well
	PERFORM pg_sleep(3 * setting::float8 / 1000) FROM pg_settings WHERE name = 'sfflow.slice_ms';
END \$\$;
EOS

# The list of mutations names the same ones.
my %listed = map { /^\w+\s*\|[^|]*\|[^|]*\|[^|]*\|\s*(\w+)/ ? ($1 => 1) : () } split /\n/,
	slurp_file("$FindBin::Bin/../../model/mutations.txt");
delete $listed{release} unless $ENV{SFFLOW_FULL};
# t/event/274_event_races.pl has those of events.
delete $listed{$_} for grep { /^event_/ } keys %listed;
is(join(' ', sort keys %listed), join(' ', sort map { $_->[0] } @scenarios), 'each mutation has its scenario');

my %only = map { $_ => 1 } split /[ ,]+/, $ENV{SFFLOW_MUTATIONS} // '';
for (@scenarios)
{
	my ($name, $scenario) = @$_;
	next if %only && !$only{$name};
	my $began = time;
	$session->quit;
	$session = $node->background_psql('postgres');
	($mutation, $limit) = ('', 120);
	is($scenario->(), '', "$name: as it must be");
	# Where the machine is slow another worker may come in between, and the moment does not matter.
	my $told = '';
	for (1 .. 3)
	{
		($mutation, $limit) = ("$name:mutate", 6);
		$told = $scenario->();
		last if $told ne '';
	}
	note(sprintf('%s: %s (%.1f s)', $name, $told, time - $began));
	isnt($told, '', "$name: the mistake is noticed");
	# What it has left behind ends.
	$mutation = '';
	$session->query_safe('SELECT pg_advisory_unlock_all()');
	set_points();
	sql("SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'");
	points();
}

$session->quit;
$node->stop;
done_testing();
