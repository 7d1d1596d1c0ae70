# sfgateway: what it serves without a database, its settings, how it ends.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;

# What it refuses at start.
my $odd = PostgreSQL::Test::Utils::tempdir();
append_to_file("$odd/empty", '');
append_to_file("$odd/large", 'x' x 300_000);
for my $case (
	[ [ '--listen', '127.0.0.1' ], qr/is no ADDRESS:PORT/, 1 ],
	[ [ '--listen', '0.0.0.0:0' ], qr/beyond loopback/, 1 ],
	[ [ '--listen', '[::]:0' ], qr/beyond loopback/, 1 ],
	[ [ '--listen', '0.0.0.0:0', '--behind-proxy', 'on', '--metrics-dsn', 'user=x' ],
		qr/beyond loopback: .* give a metrics-token/, 1 ],
	[ [ '--tls-key', 'x' ], qr/belong together/, 2 ],
	[ [ '--tls-key', '/nonexistent', '--tls-certificate', '/nonexistent' ], qr{cannot read.*No such file}, 1 ],
	[ [ '--tls-key', 'x', '--tls-certificate', $odd ], qr{cannot read .*Is a directory}, 1 ],
	[ [ '--tls-key', 'x', '--tls-certificate', "$odd/empty" ], qr{cannot read .*it is empty}, 1 ],
	[ [ '--tls-key', "$odd/large", '--tls-certificate', "/etc/passwd" ], qr{cannot read .*large.*256 kB or more}, 1 ],
	[ [ '--tls-key', '/etc/passwd', '--tls-certificate', '/etc/passwd' ], qr{are the certificate and its key good}, 1 ],
	[ [ '--dsn', 'nonsense=1' ], qr/invalid connection option/, 2 ],
	[ [ '--connections', '0' ], qr/invalid value for "connections"/, 2 ],
	[ [ '--behind-proxy', 'perhaps' ], qr/invalid value for "behind-proxy"/, 2 ],
	[ ['extra'], qr/too many arguments/, 2 ],
	[ ['--nonsense'], qr/unrecognized option/, 2 ])
{
	my ($options, $said, $status) = @$case;
	IPC::Run::run([ 'sfgateway-asan', '--listen', '127.0.0.1:' . free_port(), @$options ], '<', '/dev/null', '>',
		\my $out, '2>', \my $err);
	is($? >> 8, $status, "refused: @$options");
	like($err, $said, 'and says why');
}
my $file = "$PostgreSQL::Test::Utils::tmp_check/gateway-$$.conf";
for my $case ([ "[key a b]\n", qr/expected \[key ID\]/ ], [ "[key A]\nrole = x\n", qr/needs a role and a secret/ ],
	[ "[key A]\nuser = x\n", qr/unknown key "user"/ ], [ "port = 1\n", qr/unknown setting "port"/ ])
{
	unlink $file;
	append_to_file($file, $case->[0]);
	IPC::Run::run([ 'sfgateway-asan', '--config', $file ], '<', '/dev/null', '>', \my $out, '2>', \my $err);
	is($? >> 8, 2, 'a file is refused');
	like($err, $case->[1], 'and says why');
}

# It warns of a file with secrets that others can read; one argument too many makes it leave.
for my $case ([ 'dsn = host=a password=b', 1 ], [ 'metrics-dsn = postgresql://a:b@c/', 1 ], [ 'metrics-token = a', 1 ],
	[ 'dsn = host=a', 0 ])
{
	my ($line, $warns) = @$case;
	unlink $file;
	append_to_file($file, "$line\n");
	chmod 0644, $file;
	IPC::Run::run([ 'sfgateway-asan', '--config', $file, 'extra' ], '<', '/dev/null', '>', \my $out, '2>', \my $err);
	is("$out$err" =~ /others can read it/ ? 1 : 0, $warns, "a file for all to read with $line");
}
IPC::Run::run([ 'sfgateway', '--help' ], '>', \my $help);
like($help, qr/--listen=ADDRESS:PORT/, 'help');

# Without a database.
my $gateway = start_gateway(undef, unready => 1);
is(curl($gateway, '/healthz')->{body}, "ok\n", 'it is alive');
my $got = curl($gateway, '/readyz');
is("$got->{status} $got->{body}", "503 no connection to the database\n", 'but not ready');
$got = curl($gateway, '/');
is($got->{status}, 200, 'the console');
like($got->{headers}{'content-type'}, qr{^text/html}, 'is a page');
like($got->{body}, qr/\A<!doctype html>/i, 'with its text');
like($got->{headers}{'content-security-policy'},
	qr/^default-src 'none'; script-src 'self'; .*require-trusted-types-for 'script'$/, 'a strict policy');
is($got->{headers}{'x-content-type-options'}, 'nosniff', 'no guesses of types');
is($got->{headers}{'cache-control'}, 'no-cache', 'asked for again');
my $etag = $got->{headers}{etag};
$got = curl($gateway, '/index.html', '-H', "If-None-Match: $etag");
is("$got->{status} $got->{body}", '304 ', 'but not sent again');
is(curl($gateway, '/', '-H', 'If-None-Match: "x"')->{status}, 200, 'unless it is another');
$got = curl($gateway, '/', '-I');
is("$got->{status} $got->{body}", '200 ', 'HEAD');
for my $path (qw(/nothing /../etc/passwd /%2e%2e/etc/passwd /..%2fetc/passwd //etc/passwd /index.html/ /index.html%00.js
	/./index.html /console /INDEX.HTML),
	'/' . 'a' x 5000, '/console_files.inc')
{
	$got = curl($gateway, $path);
	is($got->{status}, 404, 'not there: ' . substr $path, 0, 30);
	is_deeply(json($got->{body}), { error => { message => 'there is nothing here' } }, 'as JSON');
}
$got = curl($gateway, '/healthz', '-X', 'POST');
is("$got->{status} $got->{headers}{allow}", '405 GET', 'a wrong method');
is(curl($gateway, '/healthz', '-X', 'BREW')->{status}, 405, 'one that is unknown');
is(curl($gateway, '/metrics')->{status}, 404, 'no metrics unless they are configured');
is(curl($gateway, '/healthz?a=b')->{status}, 200, 'a query is ignored');
like(gateway_log($gateway),
	qr/^\{"time":"[^"]+","level":"info","pid":\d+,"message":"request","id":"[-0-9a-f]{36}","method":"GET","path":"\/nothing","status":"404","ms":"\d+","peer":"127\.0\.0\.1"\}$/m,
	'a request in the log');
stop_gateway($gateway);

# With a database; health beside the limit of connections.
my $node = new_node('main');
my $health = free_port();
$gateway = start_gateway($node, 'health-listen' => "127.0.0.1:$health", connections => 2, 'request-timeout' => '3s');
# The gateway ends them after a while, so that they are opened anew until this is seen.
my @held;
ok(wait_for('all connections are in use', sub {
	@held = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $gateway->{port}) } 1 .. 2;
	curl($gateway, '/healthz', '--max-time', 0.5)->{exit} == 28;
}), 'no connection is left');
is(curl($gateway, "http://127.0.0.1:$health/healthz")->{status}, 200, 'but health answers');
is(curl($gateway, "http://127.0.0.1:$health/readyz")->{status}, 200, 'and tells that it is ready');
is(curl($gateway, "http://127.0.0.1:$health/")->{status}, 404, 'and nothing else');
is(curl($gateway, '/healthz')->{status}, 200, 'until those that send nothing are ended');
@held = ();

# The database goes and comes.
$node->stop;
ok(wait_for('not ready', sub { curl($gateway, '/readyz')->{status} == 503 }), 'it notices that the database is gone');
$node->start;
ok(wait_for('ready', sub { curl($gateway, '/readyz')->{status} == 200 }), 'and that it is back');

# A connection that is kept open does not keep it from leaving.
my $idle = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $gateway->{port});
$idle->syswrite("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
sysread $idle, my $answer, 4096;
like($answer, qr{^HTTP/1\.1 200}, 'a connection is kept');
stop_gateway($gateway);

# TLS.
my $tls = PostgreSQL::Test::Utils::tempdir();
system("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -days 2"
	. " -keyout $tls/key -out $tls/cert >$tls/log 2>&1") == 0 or die 'openssl';
$node->safe_psql('postgres', q{SELECT sf_create_activity('work')});
$gateway = start_gateway($node, files => 56, 'tls-certificate' => "$tls/cert", 'tls-key' => "$tls/key",
	config => "[key AKIDFILE]\nrole = postgres\nsecret = secret\n");
is(curl($gateway, '/', '--cacert', "$tls/cert")->{status}, 200, 'https');
is(curl($gateway, '/', '--cacert', "$tls/cert", '--tlsv1.3')->{status}, 200, 'TLS 1.3');
isnt(curl($gateway, '/', '--cacert', "$tls/cert", '--tls-max', '1.1')->{exit}, 0, 'no TLS 1.1');
is(curl($gateway, "http://127.0.0.1:$gateway->{port}/")->{status}, 0, 'no http at its port');

# The certificate is renewed: SIGHUP has it read again, and connections that are there end.
sub make_certificate
{
	my $name = shift;
	system("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=$name -addext subjectAltName=IP:127.0.0.1 -days 2"
		. " -keyout $tls/$name.key -out $tls/$name.cert >$tls/log 2>&1") == 0 or die 'openssl';
	return;
}

sub use_files
{
	my ($certificate, $key) = @_;
	system('cp', "$tls/$certificate", "$tls/cert") == 0 && system('cp', "$tls/$key", "$tls/key") == 0 or die 'cp';
	my $before = () = gateway_log($gateway) =~ /the certificate is (?:not )?renewed/g;
	kill 'HUP', $gateway->{pid};
	wait_for('the signal is handled', sub {
		(() = gateway_log($gateway) =~ /the certificate is (?:not )?renewed/g) > $before });
	return;
}

# The name in the certificate that new connections get.
sub served
{
	return `openssl s_client -connect 127.0.0.1:$gateway->{port} </dev/null 2>/dev/null` =~ /subject=CN ?= ?(\S+)/ ? $1
		: 'none';
}

my ($to, $from, $keeps);

# Connect with TLS, to stay so.
sub connect_anew
{
	($to, $from) = ('', '');
	$keeps = IPC::Run::start([ 'openssl', 's_client', '-quiet', '-connect', "127.0.0.1:$gateway->{port}" ], '<', \$to,
		'>', \$from, '2>', '/dev/null', IPC::Run::timeout(300));
	return;
}

# Ask on the connection that stays; gives the status.
sub ask_again
{
	$from = '';
	$to = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
	eval { $keeps->pump until $from =~ /\r\n\r\n./s };
	return $from =~ m{^HTTP/1\.1 (\d+)} ? $1 : 'none';
}

connect_anew();
is(ask_again(), 200, 'a connection');
is(ask_again(), 200, 'stays for another request');
is(served(), 'localhost', 'has the first certificate');
make_certificate($_) for 'second', 'third';
use_files('second.cert', 'second.key');
is(served(), 'second', 'new connections have the second one');
ok(eval { $keeps->finish; 1 }, 'a connection that waits for a request ends');
connect_anew();
# until it is taken
sleep 1;
use_files('third.cert', 'second.key');
like(gateway_log($gateway), qr/"the certificate is not renewed","reason":"[^"]*are the certificate and its key good/,
	'a key that does not fit');
is(served(), 'second', '... leaves the certificate as it is');
append_to_file("$tls/broken", 'no certificate');
# More often than it may open files: nothing is left of an attempt.
use_files('broken', 'third.key') for 1 .. 30;
is(served(), 'second', 'so does a file that is no certificate');
use_files('third.cert', 'second.key') for 1 .. 30;
is(served(), 'second', 'and many times a wrong key');
unlike(gateway_log($gateway), qr/Too many open files/, 'and nothing is left of the attempts');
use_files('third.cert', 'third.key');
is(served(), 'third', 'good files are taken again');
is(ask_again(), 200, 'a connection that has sent nothing before is answered');
like($from, qr/^Connection: close\r$/mi, 'and told that it ends');
ok(eval { $keeps->finish; 1 }, '... which it does');

# A worker that waits is answered at the end, although its connection has the certificate before.
my $waits = IPC::Run::start([ 'curl', '-sS', '--cacert', "$tls/cert", '--max-time', 60, '--aws-sigv4',
	'aws:amz:us-east-1:states', '--user', 'AKIDFILE:secret',
	'-H', 'Content-Type: application/x-amz-json-1.0', '-H', 'X-Amz-Target: AWSStepFunctions.GetActivityTask',
	'-d', '{"activityArn": "arn:aws:states:us-east-1:000000000000:activity:work"}', "$gateway->{url}/" ], '<',
		'/dev/null', '>', \my $answered, '2>', '/dev/null');
ok($node->poll_query_until('postgres', q{SELECT count(*) FROM sf_activities WHERE last_polled_at IS NOT NULL}, 1),
	'a worker waits');
use_files('second.cert', 'second.key');
is(curl($gateway, '/healthz', '--cacert', "$tls/cert")->{status}, 200, 'the gateway is up');
stop_gateway($gateway, 'INT');
$waits->finish;
is($answered, '{}', 'the worker is answered');

# Without one the signal changes nothing.
$gateway = start_gateway($node);
kill 'HUP', $gateway->{pid};
ok(wait_for('a line of the log', sub { gateway_log($gateway) =~ /there is no certificate to read again/ }),
	'no certificate');
is(curl($gateway, '/healthz')->{status}, 200, 'is no reason to leave');
stop_gateway($gateway);

# Secrets of the command line.
$gateway = start_gateway($node, 'metrics-token' => 'canary', 'metrics-dsn' => $node->connstr('postgres')
	. ' password=canary');
unlike(slurp_file("/proc/$gateway->{pid}/cmdline"), qr/canary/, 'are not shown');
stop_gateway($gateway);
$node->stop;
done_testing();
