package SfCollector;

# What the tests of traces share: a collector of OpenTelemetry (test/clients/otlp-collector.py), what it was sent, and
# how it is to answer.
use strict;
use warnings;
use Exporter 'import';
use FindBin;
use JSON::PP ();
use PostgreSQL::Test::Utils;
use SfGateway;
use SfWorker;
use Test::More;

our @EXPORT = qw(start_collector stop_collector plan_answers forget_requests collected asked spans_of
  canonical);

my $count = 0;
my %running;

# No collector outlives its test.
END { kill 'KILL', keys %running if %running }

# Start a collector at a port; tls is a list of files: certificate, key, and the CA of clients; program is another one
# than test/clients/otlp-collector.py, with its first arguments.
sub start_collector
{
	my (%how) = @_;
	my $folder = $how{folder} // "$PostgreSQL::Test::Utils::tmp_check/collector" . ++$count . "-$$";
	my $port = $how{port} // free_port();
	mkdir $folder;
	unlink "$folder/ready";
	my $pid = fork // die "fork: $!";
	if ($pid == 0)
	{
		open STDERR, '>>', "$folder/log" or POSIX::_exit(99);
		open STDIN, '<', '/dev/null' or POSIX::_exit(99);
		# That of Debian, which has Google's library.
		my @program = ('/usr/bin/python3', "$FindBin::Bin/../../clients/otlp-collector.py");
		exec @{ $how{program} // \@program }, $port, $folder, @{ $how{tls} // [] }
		  or POSIX::_exit(98);
	}
	$running{$pid} = 1;
	wait_for('the collector listens', sub { -e "$folder/ready" }) or die slurp_file("$folder/log");
	my $scheme = $how{tls} ? 'https' : 'http';
	return { pid => $pid, folder => $folder, port => $port, url => "$scheme://127.0.0.1:$port" };
}

# End a collector.
sub stop_collector
{
	my $collector = shift;
	kill 'KILL', $collector->{pid};
	waitpid $collector->{pid}, 0;
	delete $running{ $collector->{pid} };
	return;
}

# Say how the next requests are to be answered.
sub plan_answers
{
	my ($collector, @answers) = @_;
	my $file = "$collector->{folder}/plan";
	unlink $file;
	append_to_file("$file.made", JSON::PP->new->encode(\@answers));
	rename "$file.made", $file or die "rename: $!";
	return;
}

# Read the lines of a file of the collector.
sub lines_of
{
	my $file = shift;
	return -e $file ? map { JSON::PP->new->utf8->decode($_) } grep { /\n\z/ } split /(?<=\n)/, slurp_file($file) : ();
}

# Forget the requests that have come.
sub forget_requests
{
	my $collector = shift;
	unlink map { "$collector->{folder}/$_" } qw(asked requests);
	return;
}

# List the requests that were answered.
sub collected { return lines_of(shift->{folder} . '/requests') }

# List the requests that have come.
sub asked { return lines_of(shift->{folder} . '/asked') }

# List the spans of requests that were taken.
sub spans_of
{
	return map { @{ $_->{spans} } } map { @{ $_->{scopeSpans} } } map { @{ $_->{request}{resourceSpans} } }
	  grep { $_->{status} == 200 } @_;
}

# Write a value as JSON with its keys in order.
sub canonical { return JSON::PP->new->canonical->allow_nonref->encode(shift) }

1;
