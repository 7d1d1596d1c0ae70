# Mixed load and random faults for a while, beside a hostile owner: the ledger stays exact, nothing is stuck, and no
# process grows.
#
# `make soak` runs it for SOAK_MINUTES; without that, for some seconds.
# needs: rule
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfFaults;
use SfHostile;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $asked = defined $ENV{SOAK_MINUTES};
my $seconds = $asked ? 60 * $ENV{SOAK_MINUTES} : 15;
my $most_growth = 32 * 1024;	# kB of a process after its first half minute
cmp_ok($seconds + 60, '<', $ENV{SCRIPT_SECONDS} // 'inf', 'test/run lets this script run for so long')
  or die 'the script would be ended early';
my $seed = $ENV{FAULT_SEED} // time;
srand($seed);
note("FAULT_SEED=$seed");

my $node = load_node('main', conf => "wal_level = replica\nmax_wal_senders = 5\nhot_standby = on\n");
# What would end the server for good is a matter of the other test.
my @faults = grep { $_->[0] !~ /^no crash restart/ } in_place();
my (%count, @recovery, %first, %last, %grown);

# Read what memory of its own each worker has, kB. Of one that has grown the log of the server tells what it has it for.
sub look_at_memory
{
	for (split /\n/, try_sql($node, q{SELECT pid || ' ' || backend_type FROM pg_stat_activity
		WHERE backend_type LIKE 'sfflow%'}) // '')
	{
		my ($pid, $type) = split / /, $_, 2;
		open my $status, '<', "/proc/$pid/status" or next;
		my ($anonymous) = join('', <$status>) =~ /^RssAnon:\s+(\d+) kB/m or next;
		my $now = time;
		$first{$pid}{since} //= $now;
		$first{$pid}{kb} //= $anonymous if $now > $first{$pid}{since} + 30;
		$last{$pid} = $anonymous;
		next if !defined $first{$pid}{kb} || $anonymous < $first{$pid}{kb} + $most_growth || $grown{$pid}++;
		diag("$type $pid has grown from $first{$pid}{kb} to $anonymous kB");
		try_sql($node, "SELECT pg_log_backend_memory_contexts($pid)");
	}
	return;
}

admit_hostile($node, $asked ? 2000 : 200);
my $began = time;
my $next_fault = $began + 3;
my $settled = { map { $_ => 0 } qw(lost doubled stuck executions) };
my $part = 0;
while (time < $began + $seconds
	|| ((SfFaults::answered_starts() == 0 || !%count) && time < $began + $seconds + 180))
{
	# Ledgers are compared every few minutes, so that a fault is found near its time.
	my $kind = 's' . ++$part;
	my $end = time + 180;
	# Once at least.
	do
	{
		SfFaults::serve($node);
		start_hostile($node, $seconds, 10) unless SfHostile::hostile_runs($node);
		load($node, $kind, 3 + int rand 10);
		look_at_memory();
		if (time > $next_fault)
		{
			my ($fault, undef, $inject) = @{ $faults[ rand @faults ] };
			my $at = time;
			note(sprintf('%.0f s: %s', $at - $began, $fault));
			$count{$fault}++;
			$inject->($node);
			push @recovery, probe($node, $at);
			# Quiet spells between faults, so that processes get old.
			$next_fault = time + ($asked ? rand 40 : rand 3);
		}
		sleep 0.3;
	} while (time < $began + $seconds && time < $end);
	my $result = settle($node, $kind);
	$settled->{$_} += $result->{$_} for keys %$result;
}

my ($growth) = sort { $b <=> $a } 0, map { $last{$_} - $first{$_}{kb} } grep { $first{$_}{kb} } keys %last;
my $faults = 0;
$faults += $_ for values %count;
my $old = grep { $first{$_}{kb} } keys %last;
my $row = matrix_row('soak', sprintf('%d faults of %d kinds in %.0f s', $faults, scalar keys %count, $seconds),
	$settled, @recovery);
my $memory = "$settled->{executions} executions; of " . scalar(keys %last)
	. " processes, $old watched for longer than 30 s grew by at most $growth kB";
$asked ? diag(matrix_head() . $row . $memory) : note($row . $memory);
cmp_ok($faults, '>', 0, 'there were faults');
cmp_ok($settled->{executions}, '>', 0, 'and executions');
cmp_ok(SfFaults::answered_starts(), '>', 0, 'of which ' . SfFaults::answered_starts() . ' were started by sfgateway');
is("@$settled{qw(lost doubled stuck)}", '0 0 0', 'nothing lost, doubled or stuck');
cmp_ok($growth, '<', $most_growth, 'no process has grown');
stop_hostile($node);
# What came into the queue of a limit while he dropped it is found by the looks that follow.
$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM sf_check()');
no_surprises($node);
SfFaults::serve_no_longer($node, 'TERM');
SfFaults::front_no_longer($node, 'TERM');
$node->stop;
done_testing();
