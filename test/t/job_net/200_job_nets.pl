# Random nets of jobs with random ends, conditions and sets of On, against an oracle that knows docs/job-nets.md
# alone: which jobs run, which are skipped, in an allowed order, what the net gives, and what a redrive runs again.
#
# Each net runs in memory (sf_run), in memory with slices of a few steps each, with a row for each job (sf_step), or by
# workers that are killed.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use List::Util qw(shuffle sum0);
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $seed = $ENV{SFFLOW_SEED} // 4711;
srand $seed;
diag "SFFLOW_SEED=$seed" if $ENV{SFFLOW_SEED};
my $json = JSON::PP->new->canonical->allow_nonref;
my ($S, $F, $K) = (1, 2, 4);
my %word = ($S => 'success', $F => 'failure', $K => 'skip');

# without workers at first: sessions run the executions
my $node = new_node('main', conf => "shared_preload_libraries = ''\n");
$node->safe_psql('postgres', <<'EOS');
-- Which jobs fail in which run of an execution, and which run it is in.
CREATE TABLE fails (id text, job text, run int, PRIMARY KEY (id, job, run));
CREATE TABLE run (id text PRIMARY KEY, n int);
CREATE FUNCTION job(id text, job text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM fails f JOIN run r ON r.n = f.run AND r.id = f.id WHERE f.id = job.id
		AND f.job = job.job) THEN
		PERFORM sf_raise('Bad', job);
	END IF;
	RETURN 'did ' || job;
END $$;
-- Look at the tables, and at the jobs of an execution: the first problem, or null.
CREATE FUNCTION look_at(execution text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM sf_jobs j WHERE j.id = split_part(execution, ':', 2);
	RETURN (SELECT c::text FROM sf_check() c LIMIT 1);
END $$;
-- Step through an execution; look at the tables now and then.
CREATE FUNCTION step_through(id text, looks int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int := 0;
	problem text;
BEGIN
	WHILE EXISTS (SELECT FROM sf_step(id)) LOOP
		n := n + 1;
		IF looks > 0 AND random() < 0.05 THEN
			looks := looks - 1;
			problem := look_at(id);
			IF problem IS NOT NULL THEN RETURN problem; END IF;
		END IF;
	END LOOP;
	RETURN '';
END $$;
-- Run an execution in slices of some steps each; look at the tables now and then.
CREATE FUNCTION run_in_parts(id text, looks int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	problem text;
BEGIN
	WHILE sf_run(id, max_steps => 1 + floor(random() * 15)::int) = 'RUNNING' LOOP
		IF looks > 0 AND random() < 0.2 THEN
			looks := looks - 1;
			problem := look_at(id);
			IF problem IS NOT NULL THEN RETURN problem; END IF;
		END IF;
	END LOOP;
	RETURN '';
END $$;
EOS

# --- nets ---

# A job that may fail: the Task that the table tells to fail, of the same name as the job.
sub failing_task
{
	return (Type => 'Task', Resource => 'sql:public.job',
		Parameters => { 'id.$' => '$$.Execution.Name', job => $_[0] });
}

# A state of a random type for a job; can it fail, and what does it give.
sub random_state
{
	my ($name) = @_;
	my $dice = rand;
	my %task = failing_task($name);
	return ({%task}, 1, "did $name") if $dice < 0.6;
	return ({ Type => 'Pass', Result => $name }, 0, $name) if $dice < 0.7;
	return ({ StartAt => "$name-1", States => { "$name-1" => { Type => 'Pass', Next => $name . '-2' },
				"$name-2" => { %task, End => JSON::PP::true } } }, 1, "did $name") if $dice < 0.8;
	return ({ Type => 'Parallel', Branches => [ map { { StartAt => "$name-$_", States =>
					{ "$name-$_" => { ($_ == 1 ? %task : (Type => 'Pass', Result => 2)),
						End => JSON::PP::true } } } } 1, 2 ] },
		1, [ "did $name", 2 ]) if $dice < 0.87;
	return ({ Type => 'JobNet', Jobs => { "$name-1" => { Type => 'Pass', Result => 1 },
		"$name-2" => { %task, After => ["$name-1"] } } },
		1, { "$name-1" => 1, "$name-2" => "did $name" }) if $dice < 0.94;
	return ({ Type => 'Wait', Seconds => 0 }, 0, undef);
}

# A net: jobs by name, in an order in which each comes after those that it waits for.
sub random_net
{
	my ($n, $links) = @_;
	my (%net, @order);
	for my $i (1 .. $n)
	{
		my $name = "j$i";
		my ($state, $may_fail, $gives) = random_state($name);
		my %after;
		my @near = @order > 12 && rand() < 0.7 ? @order[ -12 .. -1 ] : @order;
		$after{ $near[ rand @near ] } = rand() < 0.7 ? $S : 1 + int rand 7 for 1 .. (@near ? int rand($links + 1) : 0);
		$net{$name} = { state => $state, may_fail => $may_fail, gives => $gives, after => \%after,
			condition => rand() < 0.1 };
		push @order, $name;
	}
	return { jobs => \%net, order => \@order, max => rand() < 0.3 ? 1 + int rand 4 : 0 };
}

# An element of After.
sub link_of
{
	my ($job, $on) = @_;
	return $job if $on == $S && rand() < 0.5;
	return { Job => $job, On => ['end'] } if $on == 7 && rand() < 0.5;
	return { Job => $job, On => [ shuffle map { $word{$_} } grep { $on & $_ } $S, $F, $K ] };
}

# The definition of a net; its jobs stand in any order.
sub definition
{
	my ($net) = @_;
	my @jobs;
	for my $name (shuffle @{ $net->{order} })
	{
		my $job = $net->{jobs}{$name};
		my %state = %{ $job->{state} };
		$state{After} = [ map { link_of($_, $job->{after}{$_}) } shuffle keys %{ $job->{after} } ]
			if %{ $job->{after} };
		$state{Condition} = { Variable => "\$.holds.$name", BooleanEquals => JSON::PP::true } if $job->{condition};
		push @jobs, $json->encode($name) . ': ' . $json->encode(\%state);
	}
	return '{"StartAt": "Net", "States": {"Net": {"Type": "JobNet", "End": true, '
	  . ($net->{max} ? qq("MaxConcurrency": $net->{max}, ) : '') . '"Jobs": {' . join(', ', @jobs) . '}}}}';
}

# --- the oracle ---

# How the jobs end, given how those that were done before have, which fail, and which conditions hold.
sub oracle
{
	my ($net, $done, $fails, $holds) = @_;
	my (%end, %ran);
	for my $name (@{ $net->{order} })
	{
		my $job = $net->{jobs}{$name};
		if ($done->{$name}) { $end{$name} = $S; next }
		if (grep { !($end{$_} & $job->{after}{$_}) } keys %{ $job->{after} }) { $end{$name} = $K; next }
		if ($job->{condition} && !$holds->{$name}) { $end{$name} = $K; next }
		$ran{$name} = 1;
		$end{$name} = $fails->{$name} ? $F : $S;
	}
	return (\%end, \%ran);
}

# --- one run of an execution, and what is to be seen of it ---

# Which jobs fail this time.
sub random_fails
{
	my ($net, $share) = @_;
	return { map { $_ => 1 } grep { $net->{jobs}{$_}{may_fail} && rand() < $share } @{ $net->{order} } };
}

# The Tasks of an execution: name, status, attempts, times.
sub tasks_of
{
	my ($id) = @_;
	my %tasks;
	for (split /\n/, $node->safe_psql('postgres', "SELECT j.job_id, j.job_status, coalesce(j.attempts, 0),"
			. " extract(epoch FROM j.started_at), extract(epoch FROM j.stopped_at) FROM sf_jobs j WHERE j.id = '$id'"))
	{
		my ($job, @facts) = split /\|/, $_, -1;
		$tasks{ $job =~ s/-[12]$//r } = { status => $facts[0], attempts => $facts[1], began => $facts[2],
			ended => $facts[3] };
	}
	return \%tasks;
}

# Jobs that came before another one, and ran: those that were skipped stand for those before them.
sub ran_before
{
	my ($net, $end, $name, $seen) = @_;
	return map { $seen->{$_}++ ? () : $end->{$_} == $K ? ran_before($net, $end, $_, $seen) : $_ } keys %{
		$net->{jobs}{$name}{after} };
}

# Compare an execution with the oracle; returns the first difference.
sub difference
{
	my ($net, $id, $end, $ran, $before) = @_;
	my ($status, $error, $output) = split /\|/, $node->safe_psql('postgres',
		"SELECT status, error, output FROM sf_executions WHERE execution_id = '$net->{machine}:$id'"), -1;
	my $fails = grep { $_ == $F } values %$end;
	return "status $status" if $status ne ($fails ? 'FAILED' : 'SUCCEEDED');
	return "error $error" if $fails && $error ne 'Bad';
	if (!$fails)
	{
		my $got = $json->decode($output);
		for (grep { $end->{$_} == $S } keys %$end)
		{
			return "no output of $_" unless exists $got->{$_};
			next unless defined $net->{jobs}{$_}{gives};
			return "output of $_" if $json->encode($got->{$_}) ne $json->encode($net->{jobs}{$_}{gives});
		}
		return 'outputs of ' . keys %$got if keys %$got != grep { $_ == $S } values %$end;
	}
	my $tasks = tasks_of($id);
	for my $name (grep { $net->{jobs}{$_}{may_fail} } @{ $net->{order} })
	{
		my $task = $tasks->{$name} // return "no job $name";
		return "$name is $task->{status}, not $word{$end->{$name}}" if $task->{status} ne $word{ $end->{$name} };
		my $attempts = $task->{attempts} - ($before->{$name}{attempts} // 0);
		return "$name ran $attempts times" if $attempts != ($ran->{$name} ? 1 : 0);
		next unless $ran->{$name};
		for my $earlier (grep { $ran->{$_} && $tasks->{$_} } ran_before($net, $end, $name, {}))
		{
			return "$name began before $earlier had ended" if $tasks->{$earlier}{ended} > $task->{began};
		}
	}
	return '';
}

# Tell the table which jobs fail in a run, and start or redrive the execution.
sub begin
{
	my ($net, $id, $run, $fails, $holds) = @_;
	my $values = join ', ', map { "('$id', '$_', $run)" } keys %$fails;
	my $input = $json->encode({ holds => $holds });
	$node->safe_psql('postgres', ($values ? "INSERT INTO fails VALUES $values;" : '')
		  . "INSERT INTO run VALUES ('$id', $run) ON CONFLICT (id) DO UPDATE SET n = excluded.n;"
		  . ($run == 1 ? "SELECT sf_start('$net->{machine}', '$input', name => '$id')"
		  	: "SELECT sf_redrive('$net->{machine}:$id')"));
	return;
}

my %drive = (
	memory => sub { $node->safe_psql('postgres', "SELECT sf_run('$_[0]')"); return '' },
	parts => sub { return $node->safe_psql('postgres', "SELECT run_in_parts('$_[0]', 3)") },
	rows => sub { return $node->safe_psql('postgres', "SELECT step_through('$_[0]', 2)") },
	workers => sub { $node->safe_psql('postgres', "SELECT sf_await('$_[0]', '300 s')"); return '' },
	kills => sub {
		my ($id) = @_;
		my $until = time + 900;
		while (time < $until && (try_sql($node, "SELECT status FROM sf_executions WHERE execution_id = '$id'")
			// '') =~ /^(RUNNING)?$/)
		{
			sleep 0.05 + rand 0.2;
			my @pids = split /\n/, try_sql($node,
				"SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'sfflow worker%'") // '';
			next if !@pids || rand() < 0.5;
			my $pid = $pids[ rand @pids ];
			kill 'KILL', $pid;
			wait_gone($pid);
			recovered($node);
		}
		return '';
	});

# Start an execution of a net, and redrive it while jobs fail; each time it is as the oracle says.
sub try_net
{
	my ($net, $id, $way) = @_;
	my %holds = map { $_ => rand() < 0.7 ? JSON::PP::true : JSON::PP::false } grep { $net->{jobs}{$_}{condition} } @{
		$net->{order} };
	my ($before, %done) = ({});
	for my $run (1 .. 4)
	{
		my $fails = $run == 4 ? {} : random_fails($net, 0.25 / $run);
		my ($end, $ran) = oracle($net, \%done, $fails, \%holds);
		begin($net, $id, $run, $fails, \%holds);
		my $problem = $drive{$way}->("$net->{machine}:$id") || difference($net, $id, $end, $ran, $before);
		return "run $run: $problem" if $problem;
		return '' unless grep { $_ == $F } values %$end;
		$done{$_} = 1 for grep { $end->{$_} == $S } keys %$end;
		$before = tasks_of($id);
	}
	return 'it fails for ever';
}

# --- the nets ---

# Jobs that the validator says can never run do not, whatever happens.
sub refuted
{
	my ($net, @names) = @_;
	for (1 .. 300)
	{
		my %holds = map { $_ => rand() < 0.5 } @{ $net->{order} };
		my (undef, $ran) = oracle($net, {}, random_fails($net, rand), \%holds);
		for (@names) { return $_ if $ran->{$_} }
	}
	return;
}

my $machines = 0;

# A net that the validator accepts, as a machine: jobs that can never run wait for whatever end instead.
sub accepted_net
{
	my ($n, $links) = @_;
	my $net = random_net($n, $links);
	for (1 .. $n)
	{
		my $definition = definition($net) =~ s/'/''/gr;
		my @never = map { m{/Jobs/(j\d+)/} } split /\n/, $node->safe_psql('postgres',
			"SELECT v.location FROM sf_validate('$definition') v WHERE v.code = 'JOB_NEVER_RUNS'");
		my $wrong = refuted($net, @never);
		fail("the validator says that $wrong can never run") if defined $wrong;
		if (!@never)
		{
			$net->{machine} = 'net' . ++$machines;
			$node->safe_psql('postgres', "SELECT sf_create_state_machine('$net->{machine}', '$definition')");
			return $net;
		}
		for my $after (map { $net->{jobs}{$_}{after} } @never) { $_ = 7 for values %$after }
	}
	die 'no net is accepted';
}

my $nets = full(12, 200);
for my $way (qw(memory parts rows))
{
	my @problems;
	for my $i (1 .. $nets)
	{
		my $net = accepted_net(2 + int rand 22, 1 + int rand 4);
		my $problem = try_net($net, "$way-$i", $way);
		push @problems, "$way-$i: $problem" if $problem;
	}
	is(join("\n", @problems), '', "$nets nets, $way");
}
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'sfflow'\nsfflow.workers = 4\nsfflow.slice_ms = 5\n");
$node->restart;
for my $way (qw(workers kills))
{
	my @problems;
	my $size = full(80, 1000);
	for my $i (1 .. full(1, 3))
	{
		my $problem = try_net(accepted_net($size, 2), "$way-$i", $way);
		push @problems, "$way-$i: $problem" if $problem;
	}
	is(join("\n", @problems), '', "nets of $size jobs, $way");
}
is($node->safe_psql('postgres', 'SELECT * FROM sf_check()'), '', 'sf_check finds nothing');

$node->stop;
done_testing();
