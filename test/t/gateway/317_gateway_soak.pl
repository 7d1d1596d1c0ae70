# sfgateway for a long time: people who look at the console, and traces that it exports, while executions come and go.
# Its memory must stay flat, nobody is refused, and each run is exported.
#
# `make soak-gateway` runs it for SOAK_MINUTES with 200 viewers; without that, for some seconds with 20.
# needs: trace
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IPC::Run ();
use List::Util qw(max);
use PostgreSQL::Test::Utils;
use SfCollector;
use SfGateway;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $asked = defined $ENV{GATEWAY_SOAK_MINUTES};
my $seconds = $asked ? 60 * $ENV{GATEWAY_SOAK_MINUTES} : 6;
my $viewers = $asked ? 200 : 20;
my $most_growth = 2 * 1024;	# kB, from the second third of the time to the last one
cmp_ok($seconds + 60, '<', $ENV{SCRIPT_SECONDS} // 'inf', 'test/run lets this script run for so long')
  or die 'the script would be ended early';

my $node = new_node('main', conf => "max_connections = 300\n");
my $roles = $viewers / 10;
$node->safe_psql('postgres', <<"SQL");
SELECT sf_create_state_machine('work', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"},
	"B": {"Type": "Choice", "Choices": [{"Variable": "\$.fails", "BooleanEquals": true, "Next": "F"}], "Default": "C"},
	"C": {"Type": "Succeed"},
	"F": {"Type": "Fail", "Error": "Bad", "Cause": "as planned"}}}',
	options => '{"trace": {"sample": 1}, "retention": "2 minutes"}');
CREATE ROLE exporter LOGIN;
GRANT EXECUTE ON FUNCTION sf_take_spans, sf_confirm_spans, sf_reject_spans TO exporter;
DO \$\$ BEGIN FOR n IN 0 .. $roles - 1 LOOP
	EXECUTE format('CREATE ROLE viewer%s LOGIN PASSWORD ''retail-secret''', n);
	PERFORM sf_grant('READ', 'work', 'viewer' || n);
END LOOP; END \$\$;
SQL
unlink $node->data_dir . '/pg_hba.conf';
append_to_file($node->data_dir . '/pg_hba.conf', "local all postgres,exporter trust\nlocal all all scram-sha-256\n");
$node->reload;
my $collector = start_collector();
my $gateway = start_gateway($node, program => 'sfgateway', sessions => $viewers, 'log-level' => 'info',
	otlp => $collector->{url},
	'otlp-interval' => '200ms', 'otlp-dsn' => $node->connstr('postgres') . ' user=exporter');

# Read the memory of the gateway, in kB.
sub memory
{
	my ($kb) = slurp_file("/proc/$gateway->{pid}/status") =~ /^VmRSS:\s+(\d+) kB$/m;
	return $kb;
}

my @program = ('/usr/bin/python3', "$FindBin::Bin/../../clients/viewers.py");
my $looking = IPC::Run::start([ @program, '127.0.0.1', $gateway->{port}, $viewers, $seconds ],
	'<', '/dev/null', '>', \my $said, '2>', \my $wrong);
my ($begin, $started, @memory) = (time, 0);
while ((my $at = time - $begin) < $seconds)
{
	$started += $node->safe_psql('postgres', q{
		SELECT count(sf_start('work', jsonb_build_object('n', n, 'fails', n % 100 = 0)))
		FROM generate_series(1, 10) n});
	push @memory, [ $at, memory() ];
	# What the collector was sent is in a file, which would fill the disk.
	forget_requests($collector) if @memory % 100 == 0;
	diag(sprintf '%d min: %d kB', $at / 60, $memory[-1][1]) if $asked && @memory % 60 == 0;
	sleep 0.5;
}
IPC::Run::finish($looking);
my $result = json($said);
is($result->{signed_in}, $viewers, 'all viewers have signed in') or diag($wrong);
is_deeply($result->{errors}, [], 'and none was refused anything');
diag("$started starts; $said") if $asked;
cmp_ok($result->{answers}{'poll 200'} // 0, '>=', $viewers, 'each has waited for changes');
ended($node);
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.trace_export'), 'all runs are exported');

# The most that it had in a part of the time.
sub most
{
	my ($from, $until) = @_;
	return max map { $_->[1] } grep { $_->[0] >= $from * $seconds && $_->[0] <= $until * $seconds } @memory;
}
if ($asked)
{
	my ($before, $last) = (most(1 / 3, 2 / 3), most(2 / 3, 1));
	diag("memory: $memory[0][1] kB at first, $before kB at most in the second third, $last kB in the last one");
	cmp_ok($last - $before, '<', $most_growth, 'its memory is flat');
}
cmp_ok(most(0, 1), '<', 64 * 1024 + 400 * $viewers, 'its memory is bounded');
stop_gateway($gateway);
stop_collector($collector);
$node->stop;
done_testing();
