# The wall clock is set back and forward under a running server: what is due is run all the same, time limits of
# tasks hold, and timers go off at the time that they name.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(time);

# A library that shifts the wall clock of the processes that it is loaded into, by what a file says.
my $directory = PostgreSQL::Test::Utils::tempdir();
my ($library, $shift) = map { "$directory/$_" } qw(shiftclock.so shift);
system_or_bail('gcc', '-std=gnu11', '-O2', '-shared', '-fPIC', '-o', $library, "$FindBin::Bin/../../tools/shiftclock.c",
	'-ldl');
set_clock(0);
my $node = new_node('main', bare => 1, conf => "sfflow.poll_interval = 10\n");
{
	local %ENV = (%ENV, LD_PRELOAD => $library, SHIFTCLOCK => $shift);
	$node->restart;
}

# Set the server's clock, by seconds relative to the real one; in place, as the file is mapped.
sub set_clock
{
	my $seconds = shift;
	open my $file, (-e $shift ? '+<' : '>'), $shift or die "$shift: $!";
	syswrite $file, pack('q', $seconds * 1_000_000);
	close $file;
	return;
}

# Start an execution.
sub start
{
	my ($machine, $name, $input) = @_;
	return $node->safe_psql('postgres', "SELECT sf_start('$machine', '$input', '$name')");
}

# Wait for an execution to succeed, and tell how many seconds that took.
sub succeeds
{
	my ($id, $test) = @_;
	my $begin = time;
	is($node->safe_psql('postgres', "SELECT sf_await('$id', '180 s')"), 'SUCCEEDED', $test);
	return time - $begin;
}

# Far less than the clock is set by, and more than a busy machine takes.
my $soon = 100;

my $work = one_task('public.nap');
my $limited = one_task('public.nap', '"TimeoutSeconds": 40');
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION sfflow;
CREATE FUNCTION nap(seconds float8) RETURNS void LANGUAGE sql AS 'SELECT pg_sleep(seconds)';
SELECT sf_create_state_machine('work', '$work');
SELECT sf_create_state_machine('limited', '$limited');
SELECT sf_create_state_machine('timer', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "SecondsPath": "\$.seconds",
	"End": true}}}');
SELECT sf_create_state_machine('retry', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:query",
	"Parameters": {"Statement": "SELECT 1 / count(*) FROM public.go"}, "End": true,
	"Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 2, "BackoffRate": 1, "MaxAttempts": 1000}]}}}');
CREATE TABLE go ();
SQL
start('work', "learn$_", '{"seconds": 0}'), succeeds("work:learn$_", 'a task runs') for 1 .. 2;
my $wall = $node->safe_psql('postgres', 'SELECT extract(epoch FROM clock_timestamp())');

# Back, with a task, a retry and a timer under way, and work that is due and that nobody has taken.
start('limited', 'back', '{"seconds": 3600}');
start('retry', 'back', '{}');
start('timer', 'far', '{"seconds": 5400}');
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_workers WHERE execution_id = 'limited:back'"),
	'a task with a time limit runs');
ok($node->poll_query_until('postgres', "SELECT attempts > 0 FROM sf_jobs WHERE execution_id = 'retry:back'"),
	'a retry waits');
$node->safe_psql('postgres', 'SELECT sf_disable()');
start('work', "left$_", '{"seconds": 0}') for 1 .. 3;
set_clock(-3600);
cmp_ok($node->safe_psql('postgres', 'SELECT extract(epoch FROM clock_timestamp())'), '<', $wall - 3000,
	'the clock is set back by an hour');
# It is noticed while the database is not driven.
$node->wait_for_log(qr/the system clock was set back by 3[56]\d\d\.\d seconds/);
$node->safe_psql('postgres', 'SELECT sf_enable()');
$node->safe_psql('postgres', 'INSERT INTO go DEFAULT VALUES');
cmp_ok(succeeds("work:left$_", 'what was due runs'), '<', $soon, '... soon') for 1 .. 3;
start('work', 'after', '{"seconds": 0}');
cmp_ok(succeeds('work:after', 'what is started after that runs'), '<', $soon, '... at once');
start('timer', 'after', '{"seconds": 2}');
cmp_ok(succeeds('timer:after', 'a timer that is set after that goes off'), '<', $soon, '... in time');
cmp_ok(succeeds('retry:back', 'a retry goes on'), '<', $soon, '... soon');
is($node->safe_psql('postgres', "SELECT sf_await('limited:back', '180 s')"), 'FAILED', 'a time limit holds');
like($node->safe_psql('postgres', "SELECT error FROM sf_executions WHERE execution_id = 'limited:back'"),
	qr/States.Timeout/, '... with States.Timeout');
is($node->safe_psql('postgres', "SELECT status FROM sf_executions WHERE execution_id = 'timer:far'"), 'RUNNING',
	'a timer that lies ahead waits');
ok($node->poll_query_until('postgres', "SELECT count(*) > 0 FROM sf_workers
	WHERE since > clock_timestamp() - interval '5 minutes' AND since <= clock_timestamp()"),
	'sf_workers shows times of the clock as it is now');
like(slurp_file($node->logfile), qr/the system clock was set back by 3[56]\d\d\.\d seconds/,
	'the log says that the clock was set back');

# What nobody rings for is polled all the same.
my $polls = $node->safe_psql('postgres', "SELECT detail FROM sf_health WHERE item = 'last turn'");
ok($node->poll_query_until('postgres', "SELECT detail <> '$polls' FROM sf_health WHERE item = 'last turn'"),
	'tables are polled');

# Forward: timers are due.
set_clock(7200);
cmp_ok(succeeds('timer:far', 'a timer that is due by the new time goes off'), '<', $soon, '... soon');
start('work', 'forward', '{"seconds": 0}');
cmp_ok(succeeds('work:forward', 'work goes on'), '<', $soon, '... at once');

# Back while the server is down.
$node->safe_psql('postgres', 'SELECT sf_disable()');
start('work', 'down', '{"seconds": 0}');
$node->stop;
set_clock(3600);
{
	local %ENV = (%ENV, LD_PRELOAD => $library, SHIFTCLOCK => $shift);
	$node->start;
}
$node->safe_psql('postgres', 'SELECT sf_enable()');
cmp_ok(succeeds('work:down', 'what was due before a restart with another time runs'), '<', $soon, '... soon');
set_clock(7200);

# Back by little at a time, under load.
$node->safe_psql('postgres', q{SELECT count(sf_start('work', '{"seconds": 0.001}', 'load' || n))
	FROM generate_series(1, 300) n});
for my $step (1 .. 5)
{
	set_clock(7200 - $step);
	$node->safe_psql('postgres', qq{SELECT count(sf_start('work', '{"seconds": 0.001}', 'load$step-' || n))
		FROM generate_series(1, 100) n});
}
ok(ended($node), 'all ends');
no_surprises($node);
$node->stop;
done_testing();
