# A host of the database that is gone without a word, so that no connection ends: sfworker notices, and connects again.
# The worker runs in a network of its own, whose only interface is switched off. A proxy there leads to the server's
# socket in the file system.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;

plan skip_all => 'no network namespaces here' if system('unshare -Urn ip link set lo up >/dev/null 2>&1') != 0;
plan skip_all => 'no ss here' if system('ss -V >/dev/null 2>&1') != 0;

my $node = new_node('main');
activity_machine($node, 'shell');
my $dir = PostgreSQL::Test::Utils::tempdir();
my $port = 5432;

# The proxy: copies bytes between each connection and the server's socket, for ever.
append_to_file("$dir/proxy.pl", <<'EOC');
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use IO::Socket::UNIX;
my ($port, $path) = @ARGV;
$SIG{PIPE} = $SIG{CHLD} = 'IGNORE';
my $listener = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', LocalPort => $port, ReuseAddr => 1)
	or die "listen: $!";
$| = 1;
print "listening\n";
while (1)
{
	my $client = $listener->accept or next;
	next if fork;
	my $server = IO::Socket::UNIX->new(Peer => $path) or die "connect: $!";
	my $both = IO::Select->new($client, $server);
	while (1)
	{
		for my $from ($both->can_read)
		{
			sysread($from, my $data, 65536) or exit 0;
			syswrite $from == $client ? $server : $client, $data;
		}
	}
}
EOC
my $pid = fork // die "fork: $!";
if ($pid == 0)
{
	open STDOUT, '>', "$dir/proxy" or POSIX::_exit(99);
	# The shell becomes perl: the proxy has this process's number.
	exec 'unshare', '-Urn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', $^X, "$dir/proxy.pl", $port,
	  $node->host . '/.s.PGSQL.' . $node->port or POSIX::_exit(98);
}
END { kill 'KILL', $pid if $pid }
ok(wait_for('the proxy', sub { -s "$dir/proxy" }), 'there is a network with a proxy');

# Run a command in the network; gives what it prints.
sub inside
{
	my $command = shift;
	return scalar qx(nsenter -t $pid -U -n --preserve-credentials $command);
}
append_to_file("$dir/inside", "#!/bin/sh\nexec nsenter -t $pid -U -n --preserve-credentials sfworker \"\$@\"\n");
chmod 0755, "$dir/inside";
my $user = getpwuid $<;

# Start a worker in the network, with parameters of its connection.
sub start_inside
{
	my $parameters = shift;
	my $worker = start_worker($node, '-a', 'shell', '-h', '127.0.0.1', '-p', $port, '-U', $user, '-d',
		"dbname=postgres $parameters", { program => "$dir/inside" });
	ok(wait_for('it is connected', sub { worker_log($worker) =~ / connected / }), 'a worker is connected');
	return $worker;
}

# Without more the host is asked after half a minute; two hours is what the system does by itself.
my $worker = start_inside('');
my $keepalive;
wait_for('a quiet connection', sub {
	($keepalive) = inside("ss -tnoH state established dport = :$port") =~ /timer:\(keepalive,(\w+)/;
}, 20);
like($keepalive // 'none', qr/^(?:[12]?\dsec|30sec|\d+ms)$/, 'a quiet connection asks whether the host is there');
is(stop_worker($worker), 0, 'it leaves');

# With shorter times: the host is gone, while a command runs.
$worker = start_inside('keepalives_idle=1 keepalives_interval=1 keepalives_count=2 tcp_user_timeout=2000');
my $command = "while ! test -e $dir/back; do sleep 0.1; done; echo 1";
my $id = $node->safe_psql('postgres', "SELECT sf_start('shell', jsonb_build_object('Command', '$command'))");
ok(wait_for('the command runs', sub { worker_log($worker) =~ /task begins/ }), 'a command runs');
inside('ip link set lo down');
ok(wait_for('it notices', sub { worker_log($worker) =~ /connection lost/ }, 60), 'that the host is gone is noticed');
inside('ip link set lo up');
append_to_file("$dir/back", '');
is($node->safe_psql('postgres', "SELECT sf_await('$id', '120 s')"), 'SUCCEEDED',
	'and when it is back the task is answered');
is(stop_worker($worker), 0, 'the worker leaves');
$node->stop('fast');
done_testing();
