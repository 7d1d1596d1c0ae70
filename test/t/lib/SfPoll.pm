package SfPoll;

# Waiting for what a query answers, with one psql for many attempts: PostgreSQL::Test::Cluster starts one for each, ten a
# second, and with four scripts at a time that is much of what they cost together.
use strict;
use warnings;
use IPC::Open2 qw(open2);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

# What a session would keep from one attempt to the next: such queries get a session for each attempt.
my $KEEPS = qr/\b(?:BEGIN|COMMIT|CREATE|LOCK|SET|NOTIFY|LISTEN)\b|pg_(?:try_)?advisory|set_config|^\\/im;

my $original = \&PostgreSQL::Test::Cluster::poll_query_until;
{
	no warnings 'redefine';    ## no critic (ProhibitNoWarnings)
	*PostgreSQL::Test::Cluster::poll_query_until = \&poll_query_until;
}

# Ask until the answer is the one that is expected, 't' unless told otherwise. Returns 1, or 0 after the time that
# PostgreSQL::Test::Utils gives a test, with the last answer as a diagnostic.
sub poll_query_until
{
	my ($node, $database, $query, $expected) = @_;
	return $original->(@_) if !defined $query || $query =~ $KEEPS;
	$expected //= 't';
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;
	my ($psql, $answer, $is_answered) = (undef, '', 0);
	while (!$is_answered && time < $end)
	{
		$psql //= begin($node, $database);
		my $is_there = ask($psql, $query, \$answer);
		$is_answered = $is_there && $answer eq $expected;
		$psql = end_psql($psql) unless $is_there;
		sleep 0.1 unless $is_answered;
	}
	end_psql($psql) if $psql;
	return 1 if $is_answered;
	diag("poll_query_until timed out executing this query:\n$query\nexpecting this output:\n$expected\n"
		  . "last actual query output:\n$answer");
	return 0;
}

# Start a psql: { pid, in, out }. What it says of errors is part of its output.
sub begin
{
	my ($node, $database) = @_;
	local %ENV = $node->_get_env();
	my $pid = open2(my $out, my $in, 'sh', '-c', 'exec "$@" 2>&1', 'sh', $node->installed_command('psql'), '-XAt', '-d',
		$node->connstr($database));
	$in->autoflush(1);
	return { pid => $pid, in => $in, out => $out };
}

# Send a query and read its answer. Returns whether psql still is there.
sub ask
{
	my ($psql, $query, $answer) = @_;
	local $SIG{PIPE} = 'IGNORE';
	my $mark = '--answered--';
	print { $psql->{in} } "$query\n;\n\\echo $mark\n";
	my $out = '';
	while (defined(my $line = readline $psql->{out}))
	{
		$out .= $line;
		if ($out =~ s/^\Q$mark\E\n\z//m)
		{
			chomp($$answer = $out);
			return 1;
		}
	}
	chomp($$answer = $out);
	return 0;
}

# End a psql.
sub end_psql
{
	my $psql = shift;
	close $psql->{in};
	close $psql->{out};
	waitpid $psql->{pid}, 0;
	return undef;    ## no critic (ProhibitExplicitReturnUndef)
}

1;
