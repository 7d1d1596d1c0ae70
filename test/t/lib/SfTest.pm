package SfTest;

# What the TAP tests share: servers with sfflow, waiting, the nightly machine with a ledger.
#
# Sizes are such that all tests together take minutes; SFFLOW_FULL=1 runs them at full size.
use strict;
use warnings;
use Exporter 'import';
use File::Basename;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes ();

our @EXPORT = qw(new_node full start_again machine_of_tasks task one_task percentile wait_gone ended
  phase try_sql patiently recovered kill_worker have_crash fails_alone standby_of no_surprises);

# Until 16.3 the answer of a session ended with the end of its last line.
{
	no warnings 'redefine';
	my $query = \&PostgreSQL::Test::BackgroundPsql::query;
	*PostgreSQL::Test::BackgroundPsql::query = sub {
		my ($output, $failed) = $query->(@_);
		chomp $output;
		return wantarray ? ($output, $failed) : $output;
	};
}

# Make and start a server with sfflow preloaded and, unless told otherwise, created in postgres.
sub new_node
{
	my ($name, %how) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init;
	$node->append_conf('postgresql.conf', <<"EOC");
shared_preload_libraries = 'sfflow'
max_worker_processes = 64
max_connections = 100
timezone = 'UTC'
restart_after_crash = on
log_line_prefix = '%m [%p] %b %d '
EOC
	$node->append_conf('postgresql.conf', $how{conf}) if $how{conf};
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION sfflow') unless $how{bare};
	return $node;
}

# The number of a phase of branches.
sub phase
{
	my $wanted = shift;
	my ($names) = slurp_file(dirname(__FILE__) . '/../../fixtures/phases.sql') =~ /ARRAY\[([^]]*)\]/;
	my %number;
	$number{$_} = keys %number for $names =~ /'(\w+)'/g;
	return $number{$wanted} // die "no phase has the name $wanted\n";
}

# Choose between the size for every day and the size that was asked for with SFFLOW_FULL.
sub full
{
	my ($small, $large) = @_;
	return $ENV{SFFLOW_FULL} ? $large : $small;
}

# Start a server whose postmaster was killed, once its children have noticed.
sub start_again
{
	my $node = shift;
	for (1 .. 300)
	{
		return 1 if $node->start(fail_ok => 1);
		# Forget what the attempt left, as tests of PostgreSQL itself do.
		$node->stop('fast', fail_ok => 1);
		Time::HiRes::sleep(0.1);
	}
	BAIL_OUT('the server does not start again');
	return 0;
}

# Write a Task state that calls an SQL function.
sub task
{
	my ($function, $next, $more) = @_;
	my $way = defined $next ? qq("Next": "$next") : '"End": true';
	return qq({"Type": "Task", "Resource": "sql:$function", $way) . ($more ? ", $more" : '') . '}';
}

# Write a machine of one task.
sub one_task
{
	my ($function, $more) = @_;
	return '{"StartAt": "T", "States": {"T": ' . task($function, undef, $more) . '}}';
}

# Write the nightly machine with one function for all its jobs.
sub machine_of_tasks
{
	my ($function, %how) = @_;
	my $mode = $how{mode} // 'DRAIN';
	my $more = '"ResultPath": null, "Parameters": {"execution.$": "$$.Execution.Name", '
	  . '"job.$": "$$.State.Name", "redrive.$": "$$.Execution.RedriveCount", "bad.$": "$.bad"}';
	$more .= qq(, "Retry": $how{retry}) if $how{retry};
	my ($one, $two, $three, $four, $five, $six) =
	  map { task($function, @$_, $more) }
	  [ 'Both' ], [ 'JOB-003' ], [ undef ], [ 'JOB-005' ], [ undef ], [ undef ];
	return <<"EOJ";
{"StartAt": "JOB-001", "States": {
  "JOB-001": $one,
  "Both": {"Type": "Parallel", "FailureMode": "$mode", "ResultPath": null, "Next": "JOB-006", "Branches": [
    {"StartAt": "JOB-002", "States": {"JOB-002": $two, "JOB-003": $three}},
    {"StartAt": "JOB-004", "States": {"JOB-004": $four, "JOB-005": $five}}]},
  "JOB-006": $six}}
EOJ
}

# Give the value below which the share p of some numbers lies.
sub percentile
{
	my ($p, @numbers) = @_;
	@numbers = sort { $a <=> $b } @numbers;
	return $numbers[ int($p * $#numbers + 0.5) ];
}

# Wait until no execution is running.
sub ended
{
	my ($node, $database) = @_;
	return $node->poll_query_until($database // 'postgres',
		q{SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'});
}

# Run a statement in a session of its own; nothing when the server does not answer.
sub try_sql
{
	my ($node, $sql, $database) = @_;
	my ($out, $err) = ('', '');
	my $ok = eval {
		IPC::Run::run([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database // 'postgres'), '-c', $sql ],
			'<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(60));
	};
	chomp $out;
	return $ok ? $out : undef;
}

# Run a statement that wants a database for itself. PostgreSQL waits five seconds for others to leave it, which a busy
# machine may not let them do: it is tried again then.
sub patiently
{
	my ($node, $sql) = @_;
	my $error = '';
	for (1 .. 10)
	{
		(my $rc, undef, $error) = $node->psql('postgres', $sql);
		return 1 if $rc == 0;
		last if $error !~ /is being accessed by other users/;
	}
	die "$sql: $error";
}

# Wait until a server that may have crashed takes sessions. poll_query_until writes its query to psql, and dies of a
# broken pipe when that has ended because it could not connect.
sub recovered
{
	my $node = shift;
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return 1 if defined try_sql($node, 'SELECT');
		Time::HiRes::sleep(0.1);
	}
	return 0;
}

# Kill a worker chosen at random (of those for which a condition holds) and wait until the server is back; false: there is
# none.
sub kill_worker
{
	my ($node, $condition) = @_;
	$condition //= "role <> 'launcher'";
	my $pid = $node->safe_psql('postgres',
		"SELECT pid FROM sf_workers WHERE pid IS NOT NULL AND ($condition) ORDER BY random() LIMIT 1") or return 0;
	kill 'KILL', $pid;
	# Until then the postmaster may not know.
	wait_gone($pid);
	recovered($node) or die 'the server does not come back';
	return 1;
}

# Kill a worker, or, in each third round, the server.
sub have_crash
{
	my ($node, $round) = @_;
	return kill_worker($node) if $round % 3 != 0;
	$node->stop('immediate');
	$node->start;
	return;
}

# Assert that an execution with a step that crashes the server fails, as that step is found alone.
sub fails_alone
{
	my ($node, $name) = @_;
	for (1 .. 120)
	{
		last if (try_sql($node, "SELECT status FROM sf_executions WHERE name = '$name'") // '') eq 'FAILED';
		sleep 1;
	}
	ok(recovered($node), 'the server is back');
	is($node->safe_psql('postgres', "SELECT status, error FROM sf_executions WHERE name = '$name'"),
		'FAILED|States.Runtime', 'the execution that crashes it fails with the error for that');
	like($node->safe_psql('postgres', "SELECT cause FROM sf_executions WHERE name = '$name'"),
		qr/crashed 2 times while this step ran alone/, '... as its step was found alone');
	return;
}

# Make and start a standby of a server.
sub standby_of
{
	my ($node, $name) = @_;
	$node->backup("for-$name");
	my $standby = PostgreSQL::Test::Cluster->new($name);
	$standby->init_from_backup($node, "for-$name", has_streaming => 1);
	$standby->start;
	return $standby;
}

# Wait until a process is gone.
sub wait_gone
{
	my $pid = shift;
	for (1 .. 100 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return 1 unless kill 0, $pid;
		Time::HiRes::sleep(0.01);
	}
	return 0;
}

# Assert that the tables hold together.
sub no_surprises
{
	my ($node, $database) = @_;
	is($node->safe_psql($database // 'postgres', 'SELECT * FROM sf_check()'), '', 'sf_check() finds nothing');
	return;
}

1;
