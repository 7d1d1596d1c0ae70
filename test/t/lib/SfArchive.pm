package SfArchive;

# What the tests of archives share: executions that are old, and what is in an archive.
use strict;
use warnings;
use Exporter 'import';
use FindBin;
use IPC::Run ();
use JSON::PP;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(keeping_machine start_old make_old read_archive archived_ids is_archived);

my $json = JSON::PP->new->utf8;

# Make an activity that is an archive, and a machine that keeps its executions for an hour and then archives them. One with
# "fail" in its input fails.
sub keeping_machine
{
	my ($node, $machine, %how) = @_;
	my $activity = $how{activity} // 'keep';
	$node->safe_psql('postgres', "SELECT sf_create_activity('$activity')");
	$node->safe_psql('postgres', "SELECT sf_create_state_machine('$machine', '{\"StartAt\": \"C\", \"States\": {
		\"C\": {\"Type\": \"Choice\", \"Default\": \"P\", \"Choices\": [{\"Variable\": \"\$.fail\", \"IsPresent\": true,
			\"Next\": \"F\"}]},
		\"P\": {\"Type\": \"Pass\", \"End\": true}, \"F\": {\"Type\": \"Fail\", \"Error\": \"No\"}}}',
		options => '{\"retention\": \"1 hour\", \"archive\": \"activity:$activity\"}')");
	return;
}

# Have executions of a machine end, with inputs that a query gives, and make them two hours older, but for one with the name
# "today"; returns how many.
sub start_old
{
	my ($node, $machine, $inputs) = @_;
	$node->safe_psql('postgres', "SELECT FROM sf_start_many('$machine', \$\$$inputs\$\$)");
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE state_machine = '$machine'
		AND status = 'RUNNING'") or die 'executions do not end';
	return make_old($node, "e.execution_id LIKE '$machine:%' AND e.execution_id NOT LIKE '%:today'");
}

# Make executions older by two hours that fulfil a condition and are not old.
sub make_old
{
	my ($node, $condition) = @_;
	return $node->safe_psql('postgres', "WITH x AS (SELECT e.execution_no FROM _sfflow.execution e
			WHERE e.status <> 0 AND e.stopped_at > now() - interval '1 hour' AND $condition),
		o AS (UPDATE _sfflow.open_execution o SET requested_at = o.requested_at - interval '2 hours' FROM x
			WHERE o.execution_no = x.execution_no),
		l AS (UPDATE _sfflow.execution e SET requested_at = e.requested_at - interval '2 hours',
			stopped_at = e.stopped_at - interval '2 hours' FROM x WHERE e.execution_no = x.execution_no RETURNING 1)
		SELECT count(*) FROM l");
}

# Read the executions of an archive by its manifests; dies where a manifest or a file is not as it has to be. Of long texts
# it gives the length alone.
sub read_archive
{
	my ($folder) = @_;
	my ($out, $err) = ('', '');
	IPC::Run::run([ "$FindBin::Bin/../../tools/check-archive", $folder ], '>', \$out, '2>', \$err) or die $err =~ s/.*\n(?=.)//sr;
	return map { $json->decode($_) } split /\n/, $out;
}

# The ids of the executions of an archive, in order, each as often as it is there.
sub archived_ids
{
	return sort map { $_->{execution_id} } read_archive(@_);
}

# Is each execution of a list in the archive, once, and is no other one; and are they gone from the database?
sub is_archived
{
	my ($node, $folder, $ids, $what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @found = eval { archived_ids($folder) };
	is($@, '', "$what: the archive is whole");
	my %times;
	$times{$_}++ for @found;
	is((grep { $times{$_} > 1 } sort keys %times)[0], undef, "$what: no execution is there twice");
	is(scalar keys %times, scalar @$ids, "$what: all are there");
	is((grep { !$times{$_} } @$ids)[0], undef, "$what: none is missing");
	my $left = join ',', map { "'$_'" } @$ids;
	is($node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE execution_id IN ($left)"), 0,
		"$what: none is in the database");
	is($node->safe_psql('postgres', "SELECT coalesce(sum(executions), 0) FROM sf_archive_batches
		WHERE confirmed_at IS NOT NULL"), scalar @$ids, "$what: the batches have as many");
	return;
}

1;
