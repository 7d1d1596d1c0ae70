package SfWorker;

# What the tests of sfworker share: start one beside a server, wait for what it does, end it.
use strict;
use warnings;
use Exporter 'import';
use File::Temp;
use IPC::Run ();
use POSIX ':sys_wait_h';
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(start_worker worker_log stop_worker wait_worker wait_for run_task dry_run activity_machine
	processes subprocesses);

my $count = 0;
my %running;

# No worker outlives its test.
END { kill 'KILL', keys %running if %running }

# Read a file of /proc; nothing when its process is gone.
sub proc
{
	my $path = shift;
	open my $file, '<', $path or return '';
	local $/;
	return <$file> // '';
}

# List processes whose arguments, joined by blanks, match.
sub processes
{
	my $pattern = shift;
	my @found;
	for my $dir (glob '/proc/[0-9]*')
	{
		my $arguments = join ' ', split /\0/, proc("$dir/cmdline");
		push @found, $dir =~ s{^/proc/}{}r if $arguments =~ $pattern;
	}
	return @found;
}

# List the children of a process, those that ended and were not waited for, too.
sub subprocesses
{
	my $parent = shift;
	return grep { proc("/proc/$_/stat") =~ /.*\) \S $parent / } map { s{^/proc/}{}r } glob '/proc/[0-9]*';
}

# Start a worker for a database of a server; gives its pid and the file of its log. With { program => FILE } at the
# end, that runs it.
sub start_worker
{
	my ($node, @options) = @_;
	my $program = ref $options[-1] ? (pop @options)->{program} : 'sfworker';
	my $log = "$PostgreSQL::Test::Utils::tmp_check/sfworker" . ++$count . "-$$.log";
	# It is there to be read before the worker has begun.
	append_to_file($log, '');
	my $pid = fork // die "fork: $!";
	if ($pid == 0)
	{
		open STDERR, '>', $log or POSIX::_exit(99);
		open STDIN, '<', '/dev/null' or POSIX::_exit(99);
		exec $program, '-h', $node->host, '-p', $node->port, '-d', 'postgres', '--poll-interval', '2s', @options
		  or POSIX::_exit(98);
	}
	$running{$pid} = 1;
	return { pid => $pid, log => $log };
}

# Read a worker's log.
sub worker_log
{
	return slurp_file(shift->{log});
}

# Wait until a worker has left; gives its exit status, or "signal N".
sub wait_worker
{
	my $worker = shift;
	wait_for("the worker leaves", sub { waitpid($worker->{pid}, WNOHANG) == $worker->{pid} ? [ $? ] : undef })
	  or return 'still there';
	my $status = $?;
	delete $running{ $worker->{pid} };
	return $status & 127 ? 'signal ' . ($status & 127) : $status >> 8;
}

# Send a signal and wait until the worker has left.
sub stop_worker
{
	my ($worker, $signal) = @_;
	kill $signal // 'TERM', $worker->{pid};
	return wait_worker($worker);
}

# Wait until a function gives something true, and give that.
sub wait_for
{
	my ($what, $check, $seconds) = @_;
	my ($end, $pause) = (time + ($seconds // 180), 0.02);
	while (time < $end)
	{
		my $result = $check->();
		return $result if $result;
		sleep $pause;
		# What takes longer is looked at less often: a look may be a process.
		$pause *= 1.2 if $pause < 0.1;
	}
	diag("waited in vain: $what");
	return;
}

# Make an activity, unless it was made before, and a machine of the same name that hands its input to it.
sub activity_machine
{
	my ($node, $name, %how) = @_;
	my $lease = $how{lease} ? "'$how{lease}'" : 'NULL';
	my $receives = $how{receives} // 'NULL';
	my $fields = $how{fields} // '';
	my $resource = $how{resource} // "activity:$name";
	my $activity = $how{activity} // $name;
	my $database = $how{database} // 'postgres';
	$node->safe_psql($database, "SELECT sf_create_activity('$activity', $lease, $receives)") unless $how{made};
	$node->safe_psql($database, <<"SQL");
SELECT sf_create_state_machine('$name', \$m\${"StartAt": "Work", "States": {"Work":
	{"Type": "Task", "Resource": "$resource", $fields "End": true}}}\$m\$);
SQL
	return;
}

# Run one task; gives "status|output|error|cause" of its execution.
sub run_task
{
	my ($node, $machine, $payload, $database) = @_;
	$database //= 'postgres';
	my $id = $node->safe_psql($database, "SELECT sf_start('$machine', \$p\$$payload\$p\$)");
	$node->safe_psql($database, "SELECT sf_await('$id', '180 s')");
	return $node->safe_psql($database,
		"SELECT status, output, error, cause FROM sf_executions WHERE execution_id = '$id'");
}

# Ask what a worker would do with a payload; gives its exit status and what it says.
sub dry_run
{
	my ($payload, @options) = @_;
	my ($out, $err) = ('', '');
	# From a file: a program that refuses its options ends without reading, and a pipe would break.
	my $file = File::Temp->new;
	print $file $payload or die "$file: $!\n";
	close $file or die "$file: $!\n";
	IPC::Run::run([ 'sfworker', '--dry-run', @options ], '<', "$file", '>', \$out, '2>', \$err);
	return ($? >> 8, $out . $err);
}

1;
