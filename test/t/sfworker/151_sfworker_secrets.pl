# What sfworker knows and its commands must not: passwords in the environment, on the command line, in memory.
# Commands run as the worker's own user, here that of the tests, so what a test may read a command may read.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;

my $node = new_node('main');
activity_machine($node, 'shell');
my ($host, $port) = ($node->host, $node->port);
my $config = PostgreSQL::Test::Utils::tempdir() . '/sfworker.conf';
append_to_file($config, "activity = shell\n\n[database w]\nconninfo = password=canary-of-a-file\n");
chmod 0600, $config;

# Each way in which a connection string comes; what the environment has is found by libpq all the same.
my @ways = (
	[ '-d', "dbname=postgres password=canary-of-arguments" ],
	[ "-dpostgres://postgres:canary-of-arguments\@/postgres?host=$host&port=$port" ],
	[ "--dbname=dbname=postgres sslpassword=canary-of-arguments" ],
	[ '--dbn', "dbname=postgres password='canary-of-arguments' nonsense" ]);
local $ENV{PGPASSWORD} = 'canary-of-the-environment';
local $ENV{PGAPPNAME} = 'found-in-the-environment';
local $ENV{SFWORKER_OPTION} = 'passed on';
for my $way (@ways)
{
	my $worker = start_worker($node, '-a', 'shell', '--config', $config, '--pass-env', 'PG*', '--pass-env',
		'SFWORKER_*', @$way);
	my $pid = $worker->{pid};
	wait_for('the worker is there', sub { -s $worker->{log} });
	my $arguments = slurp_file("/proc/$pid/cmdline") =~ tr/\0/ /r;
	unlike($arguments, qr/canary/, 'the command line shows no password');
	like($arguments, qr/\*{20}/, 'but that there is one');
	stop_worker($worker);
}

my $worker = start_worker($node, '-a', 'shell', '--config', $config, '--pass-env', 'PG*', '--pass-env', 'SFWORKER_*',
	@{ $ways[0] });
wait_for('a connection', sub { -s $worker->{log} && worker_log($worker) =~ /connected/ });
# The session of a worker before may still be ending.
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity
	WHERE application_name = 'found-in-the-environment' AND pid <> pg_backend_pid()
		AND backend_type = 'client backend'"),
	'libpq still finds its variables');
my $pid = $worker->{pid};

# What this test, which is the same user, can open.
for my $file (qw(environ mem maps auxv stack fd/0 root/ cwd/))
{
	ok(!open(my $in, '<', "/proc/$pid/$file"), "/proc/PID/$file cannot be opened");
}
ok(!opendir(my $descriptors, "/proc/$pid/fd"), 'nor can its descriptors be listed');

# What a command finds, in its own environment and in its parent's.
sub command
{
	my $script = shift;
	my $got = run_task($node, 'shell', qq({"Command": "$script"}));
	unlike($got, qr/canary/, "no secret: $script");
	return $got;
}
like(command("env"), qr/SFWORKER_OPTION=passed on/, 'a command gets what it may');
like(command('cat /proc/self/environ /proc/$$/environ | tr \'\\\\000\' _'), qr/SFWORKER_OPTION=passed on/,
	'and can read itself: it is a usual process');
like(command('cat /proc/$PPID/environ'), qr/Shell.ExitCode.1\|.*Permission denied/,
	'but not the environment of the worker');
like(command('tr \'\\\\000\' _ < /proc/$PPID/cmdline'), qr/sfworker.*_\*+_/, 'its command line shows no password');
like(command('ls -l /proc/$PPID/fd/'), qr/Permission denied/, 'its descriptors cannot be seen');
like(command('head -c 1 /proc/$PPID/mem'), qr/Permission denied/, 'nor its memory');
like(command('cat /proc/$PPID/maps'), qr/Permission denied/, 'nor where that is');
command('cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr \'\\\\000\' _ | grep -a -o '
	. '[c]anary-of-arg.* | head -c 200; true');
is(stop_worker($worker), 0, 'it leaves');

# A variable that is named in full is passed.
$worker = start_worker($node, '-a', 'shell', '--pass-env', 'PGPASSWORD');
like(run_task($node, 'shell', '{"Command": "echo $PGPASSWORD"}'), qr/canary-of-the-environment/,
	'a password that is asked for by name is passed');
stop_worker($worker);
$node->stop;
done_testing();
