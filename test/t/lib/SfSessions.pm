package SfSessions;

# Sessions of psql that run transactions beside each other, while the server may be killed.
#
# Each session reads its script from a file. What IPC::Run is to feed from memory it feeds only while it is asked to wait
# for that process, so that the sessions would run one after the other.
use strict;
use warnings;
use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Utils;
use SfTest;
use Time::HiRes ();

our @EXPORT = qw(begin_session sessions_end race alone end_prepared);

# All sessions of a race begin when this lock is released.
my $gate = 7_236_501;

# Start a session of psql, with arguments that say where, which runs transactions from a file that it is to have, and
# tells when each has ended.
sub begin_session
{
	my ($psql, $file, @transactions) = @_;
	my %session = map { $_ => "$file.$_" } qw(sql out err);
	append_to_file($session{sql}, join '', map { "${_}SELECT 'ended ' || extract(epoch FROM clock_timestamp());\n" }
		@transactions);
	$session{run} = IPC::Run::start([ 'psql', '-qXAt', '-v', 'VERBOSITY=sqlstate', @$psql, '-f', $session{sql} ],
		'<', '/dev/null', '>', $session{out}, '2>', $session{err});
	return \%session;
}

# Wait for sessions. What each did is returned: "ends", the times at which its transactions have ended, and
# "errors", its SQLSTATEs in order.
sub sessions_end
{
	my @sessions = @_;
	IPC::Run::finish($_->{run}) for @sessions;
	return map { { ends => [ end_times($_) ], errors => [ slurp_file($_->{err}) =~ /ERROR:\s+(\w+)/g ] } } @sessions;
}

# Give the times at which transactions of a session have ended.
sub end_times
{
	return slurp_file(shift->{out}) =~ /^ended (\S+)$/mg;
}

# Wait until some transactions of all sessions together have ended.
sub wait_for_ends
{
	my ($count, @sessions) = @_;
	for (1 .. 100 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return if $count <= map { end_times($_) } @sessions;
		Time::HiRes::sleep(0.01);
	}
	die "fewer than $count transactions have ended";
}

# Run sessions beside each other, each of which is a list of transactions, and kill the server when kill_after
# transactions have ended, if that is given. Returns as sessions_end() does.
sub race
{
	my ($node, $transactions, %how) = @_;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my $holder = $node->background_psql('postgres', on_error_die => 1);
	my $begin = "SET client_min_messages = error;\nSELECT pg_advisory_xact_lock_shared($gate);\n";
	$holder->query_safe("SELECT pg_advisory_lock($gate)");
	my @sessions;
	for my $n (0 .. $#$transactions)
	{
		my ($first, @others) = @{ $transactions->[$n] };
		push @sessions,
		  begin_session([ '-d', $node->connstr('postgres') ], "$folder/$n", "$begin$first", @others);
	}
	$node->poll_query_until('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
		AND objid = $gate", scalar @sessions) or die 'the sessions do not come to the gate';
	$holder->query_safe("SELECT pg_advisory_unlock($gate)");
	$holder->quit;
	if ($how{kill_after})
	{
		wait_for_ends($how{kill_after}, @sessions);
		$node->stop('immediate');
		start_again($node);
	}
	return sessions_end(@sessions);
}

# Count the sessions between whose first and last transaction no other session ended one: these have raced with nobody.
sub alone
{
	my @sessions = @_;
	my $alone = 0;
	for my $session (@sessions)
	{
		my ($first, $last) = @{ $session->{ends} }[ 0, -1 ];
		my @others = map { @{ $_->{ends} } } grep { $_ != $session } @sessions;
		$alone++ unless defined $first && grep { $_ > $first && $_ < $last } @others;
	}
	return $alone;
}

# Commit or roll back, at random, what sessions have left prepared.
sub end_prepared
{
	my $node = shift;
	for my $name (split /\n/, $node->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts'))
	{
		$node->safe_psql('postgres', (rand() < 0.5 ? 'COMMIT' : 'ROLLBACK') . " PREPARED '$name'");
	}
	return;
}

1;
