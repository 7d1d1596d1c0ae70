# Faults of every kind, in rounds, while a workload with an exact ledger runs: nothing is lost, nothing is done twice,
# nothing is stuck.
#
# `make faults` runs FAULT_ROUNDS rounds of each and prints the matrix of docs/reliability.md; FAULTS names some of
# them by a pattern. Without it: a round of some.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfFaults;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $rounds = $ENV{FAULT_ROUNDS} // 1;
my $all = defined $ENV{FAULT_ROUNDS};
my $pattern = $ENV{FAULTS} // '';
my $short = qr/^(?:worker killed|client killed|crash at (?:claim|T2_commit|committed)|no crash restart|disk full|out of memory|locks|stops and redrives|ticks|sfworker killed|sfworker disconnected|sfgateway|extension)/;
srand($ENV{FAULT_SEED} // 20250205);

my $matrix = matrix_head();

# Add a line to the matrix, and judge it.
sub add
{
	my ($fault, $how, $result, @seconds) = @_;
	my $row = matrix_row($fault, $how, $result, @seconds);
	$all ? diag($row =~ s/\n//r) : note($row);
	$matrix .= $row;
	is("@$result{qw(lost doubled stuck)}", '0 0 0',
		"$fault: nothing lost, doubled or stuck ($result->{executions} executions)");
	return;
}

my $node = load_node('main', conf => "wal_level = replica\nmax_wal_senders = 5\nhot_standby = on\n");
my $number = 0;
for (in_place())
{
	my ($fault, $how, $inject) = @$_;
	next unless $all ? $fault =~ /$pattern/ : $fault =~ $short;
	my $kind = 'f' . ++$number;
	my @seconds;
	SfFaults::serve($node);
	for my $round (1 .. $rounds)
	{
		load($node, $kind, 10);
		sleep 0.1 + rand(0.6);
		my $began = time;
		$inject->($node);
		push @seconds, probe($node, $began);
		SfFaults::serve($node);
	}
	add($fault, $how, settle($node, $kind), @seconds);
}

# The ledger tells when something is wrong.
SfFaults::serve($node);
load($node, 'self', 3);
is(join(' ', @{ settle($node, 'self') }{qw(lost doubled stuck executions)}), '0 0 0 3', 'a quiet load');
$node->safe_psql('postgres', q{DELETE FROM ledger WHERE execution LIKE 'self-%' AND job = 'Two';
	INSERT INTO ledger SELECT execution, job FROM ledger WHERE execution LIKE 'self-%' AND job IN ('Three', 'Last')});
is(join(' ', @{ SfFaults::compare($node, 'self') }{qw(lost doubled stuck)}), '3 6 0',
	'rows that are missing or too many are counted');
$node->safe_psql('postgres', 'SELECT sf_disable()');
load($node, 'open', 4);
my $open = SfFaults::compare($node, 'open');
cmp_ok($open->{executions}, '>', 0, 'executions that have not ended');
is($open->{stuck}, $open->{executions}, '... are counted, too');
$node->safe_psql('postgres', 'SELECT sf_enable()');
settle($node, 'open');

for (elsewhere())
{
	my ($fault, $how, $move) = @$_;
	next unless $all && $fault =~ /$pattern/;
	my (@seconds, %sum);
	for my $round (1 .. $rounds)
	{
		my $kind = 'g' . ++$number;
		SfFaults::serve($node);
		my ($next, $began) = $move->($node, $kind);
		SfFaults::serve_no_longer($node);
		SfFaults::front_no_longer($node, 'KILL');
		push @seconds, probe($next, $began);
		my $result = settle($next, $kind);
		$sum{$_} += $result->{$_} for keys %$result;
		$node = $next;
	}
	add($fault, $how, \%sum, @seconds);
}

cmp_ok(SfFaults::answered_starts(), '>', 0, 'sfgateway has answered ' . SfFaults::answered_starts() . ' starts');
SfFaults::serve_no_longer($node, 'TERM');
SfFaults::front_no_longer($node, 'TERM');
$node->stop;
if ($all)
{
	open my $out, '>', ($ENV{FAULT_MATRIX} // "$PostgreSQL::Test::Utils::log_path/faults.md") or die;
	print $out $matrix;
}
done_testing();
