package SfGateway;

# What the tests of sfgateway share: start one beside a server, with AddressSanitizer; ask it with curl or with raw
# bytes; end it and look whether the sanitizer found something.
use strict;
use warnings;
use Exporter 'import';
use IO::Socket::INET;
use IPC::Run ();
use JSON::PP ();
use POSIX ':sys_wait_h';
use PostgreSQL::Test::Utils;
use SfWorker;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(free_port start_gateway stop_gateway gateway_log curl sign_in raw json wait_for signed_request senders
	read_within);

my $count = 0;
my $page = 0;
my $tried = 0;
my %running;

# No gateway outlives its test.
END { kill 'KILL', keys %running if %running }

# Find a port of the loopback that is free. It is below those that the system gives to connections, one of which could
# take it before who is to listen there does.
sub free_port
{
	for (1 .. 1000)
	{
		# Not by rand, which several scripts have begin with the same number.
		my $port = 10_000 + (61 * $$ + 7 * $tried++) % 20_000;
		return $port
		  if IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', LocalPort => $port, Proto => 'tcp');
	}
	die 'no port is free';
}

# Start a gateway for a database of a server, and wait until it takes requests unless told otherwise. Options that
# are no setting: user, of the dsn; program; port; files, which limits its open files; config, the text of its file; asan,
# an option of AddressSanitizer; and unready, not to wait.
sub start_gateway
{
	my ($node, %how) = @_;
	my $base = "$PostgreSQL::Test::Utils::tmp_check/sfgateway" . ++$count . "-$$";
	my $program = delete $how{program} // 'sfgateway-asan';
	my $files = delete $how{files};
	my @limit = defined $files ? ('prlimit', "--nofile=$files:$files") : ();
	my $user = delete $how{user} // 'postgres';
	my $unready = delete $how{unready};
	my $asan = join ':', 'detect_leaks=1:abort_on_error=0:exitcode=77', delete $how{asan} // ();
	my $config = delete $how{config};
	my $port = delete $how{port} // free_port();
	my $dsn = $node ? $node->connstr('postgres') . " user=$user" : 'host=/nonexistent';
	my %settings = (listen => "127.0.0.1:$port", dsn => $dsn, 'log-level' => 'debug', %how);
	my @options = map { ("--$_", $settings{$_}) } sort keys %settings;
	if (defined $config)
	{
		append_to_file("$base.conf", $config);
		chmod 0600, "$base.conf";
		push @options, '--config', "$base.conf";
	}
	my $pid = fork // die "fork: $!";
	if ($pid == 0)
	{
		open STDERR, '>', "$base.log" or POSIX::_exit(99);
		open STDIN, '<', '/dev/null' or POSIX::_exit(99);
		$ENV{ASAN_OPTIONS} = $asan;
		exec @limit, $program, @options or POSIX::_exit(98);
	}
	$running{$pid} = 1;
	my $gateway = { pid => $pid, log => "$base.log", port => $port, url => ($how{'tls-key'} ? 'https' : 'http') . "://127.0.0.1:$port" };
	wait_for('the gateway listens', sub { gateway_log($gateway) =~ /"listening"/ || waitpid($pid, WNOHANG) }) or die gateway_log($gateway);
	wait_for('the gateway is ready', sub { curl($gateway, '/readyz', '-k')->{status} == 200 }) unless $unready;
	return $gateway;
}

# Read a gateway's log.
sub gateway_log
{
	my $gateway = shift;
	return -e $gateway->{log} ? slurp_file($gateway->{log}) : '';
}

# Send a signal, wait until the gateway has left, and assert that it left orderly and that no sanitizer complains.
sub stop_gateway
{
	my ($gateway, $signal) = @_;
	kill $signal // 'TERM', $gateway->{pid};
	wait_for('the gateway leaves', sub { waitpid($gateway->{pid}, WNOHANG) == $gateway->{pid} ? [ $? ] : undef });
	is($?, 0, 'the gateway leaves');
	delete $running{ $gateway->{pid} };
	unlike(gateway_log($gateway), qr/Sanitizer|runtime error/, 'and no sanitizer complains');
	return;
}

# Ask with curl; gives { status, headers, body }. The path may be a whole URL.
sub curl
{
	my ($gateway, $path, @options) = @_;
	my $url = $path =~ /^https?:/ ? $path : "$gateway->{url}$path";
	my ($out, $err) = ('', '');
	# Later releases of curl sign no path as it is.
	my @as_is = (grep { $_ eq '--aws-sigv4' } @options) ? () : ('--path-as-is');
	IPC::Run::run([ 'curl', '-sS', '-i', '--http1.1', '--max-time', 90, @as_is, @options, $url ],
		'<', '/dev/null', '>', \$out, '2>', \$err);
	my $exit = $? >> 8;
	$out =~ s/\AHTTP\/1\.1 100 [^\r]*\r\n\r\n//;
	my ($head, $body) = split /\r\n\r\n/, $out, 2;
	my ($status) = ($head // '') =~ m{^HTTP/1\.1 (\d+)};
	my %headers = map { /^([^:]+): (.*)$/ ? (lc $1 => $2) : () } split /\r\n/, $head // '';
	return { status => $status // 0, headers => \%headers, body => $body // '', error => $err, exit => $exit };
}

# Sign in to the console as a role; gives the options of curl that each request of the session has, or undef.
sub sign_in
{
	my ($gateway, $role, $password) = @_;
	my @own = ('-H', 'Content-Type: application/json', '-H', "Origin: $gateway->{url}");
	my $jar = "$PostgreSQL::Test::Utils::tmp_check/page-$$-" . ++$page;
	my $got = curl($gateway, '/console/login', '-c', $jar, @own, '-d',
		JSON::PP->new->utf8->encode({ role => $role, password => $password }));
	return $got->{status} == 200 ? [ @own, '-b', $jar, '-H', 'X-CSRF-Token: ' . json($got->{body})->{csrf_token} ]
		: undef;
}

# Send raw bytes, read until the other side closes, for some seconds or until a function says of what came that it is
# enough, and give it.
sub raw
{
	my ($gateway, $bytes, $seconds, $enough) = @_;
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $gateway->{port}, Proto => 'tcp') or return 'no connection';
	local $SIG{PIPE} = 'IGNORE';
	$socket->syswrite($bytes);
	my ($got, $end) = ('', time + ($seconds // 1));
	while ((my $left = $end - time) > 0)
	{
		my $ready = '';
		vec($ready, fileno $socket, 1) = 1;
		last unless select($ready, undef, undef, $left);
		last unless sysread $socket, $got, 65536, length $got;
		# A moment longer, for what comes on top.
		$end = time + 0.2 if $enough && $enough->($got) && $end > time + 0.2;
	}
	return $got;
}

# Tell what a signed request of the AWS API sends: curl signs one, which can be sent many times over connections of our own.
sub signed_request
{
	my ($gateway, $key, $action, $body) = @_;
	my ($out, $err) = ('', '');
	# The answer may not come for long. On a busy machine the request may not even be sent in half a second.
	for my $seconds (0.5, 5, 50)
	{
		IPC::Run::run([ 'curl', '-sS', '-v', '--max-time', $seconds, '--aws-sigv4', 'aws:amz:us-east-1:states', '--user',
			$key, '-H', "X-Amz-Target: AWSStepFunctions.$action", '-H', 'Content-Type: application/x-amz-json-1.0',
			'-d', $body, $gateway->{url} ], '<', '/dev/null', '>', \$out, '2>', \$err);
		last if $err =~ /^> POST/m;
	}
	return (join("\r\n", map { /^> (.*?)\r?$/ ? $1 : () } split /\n/, $err) . "\r\n$body") =~ s/\r\n\r\n+/\r\n\r\n/r;
}

# Open connections that send something, from an address of this machine.
sub senders
{
	my ($gateway, $bytes, $n, $address) = @_;
	return map {
		my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $gateway->{port}, LocalAddr => $address // '127.0.0.1') or die "connect: $!";
		local $SIG{PIPE} = 'IGNORE';
		$socket->syswrite($bytes);
		$socket;
	} 1 .. $n;
}

# Read what has come on a connection within some seconds.
sub read_within
{
	my ($socket, $seconds) = @_;
	my ($ready, $got) = ('', '');
	vec($ready, fileno $socket, 1) = 1;
	sysread $socket, $got, 65536 if select $ready, undef, undef, $seconds;
	return $got;
}

# Decode JSON.
sub json
{
	my $text = shift;
	return eval { JSON::PP->new->utf8->decode($text) } // "no JSON: $text";
}

1;
