# sfgateway under hostile input: framing that proxies read in another way, slow clients, many connections, large
# headers.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use POSIX qw(strftime);
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('main');
my $gateway = start_gateway($node, 'request-timeout' => '2s', connections => 1200);

# The status codes of all answers that come for some bytes.
sub statuses
{
	my ($bytes, $seconds) = @_;
	return join ' ', raw($gateway, $bytes, $seconds // 0.6) =~ m{HTTP/1\.1 (\d+) }g;
}

# Assert the status codes, however long a busy machine takes to give them.
sub answers
{
	my ($bytes, $expected, $name) = @_;
	my $number = () = $expected =~ /\d+/g;
	my $got = raw($gateway, $bytes, 60, sub { (() = $_[0] =~ m{HTTP/1\.1 \d+ }g) >= $number });
	return is(join(' ', $got =~ m{HTTP/1\.1 (\d+) }g), $expected, $name);
}
my $hidden = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n";

answers("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", '200', 'a usual request');
answers("GET /healthz HTTP/1.1\r\nHost:x\r\nA:  b  c\r\n\r\n", '200', 'blanks that may be');
answers("GET /healthz HTTP/1.1\r\nHost: x\r\nEmpty:\r\nB: c\r\n\r\n", '200', 'an empty value');
answers("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" x 3, '200 200 200', 'requests one after the other');
answers("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
	'400 200', 'a body and a request');
answers("GET /healthz HTTP/1.0\r\n\r\n", '200', 'HTTP/1.0');

# Each is refused, and what is hidden behind it is not answered.
for my $case (
	[ 'Content-Length with Transfer-Encoding' =>
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" ],
	[ 'Transfer-Encoding alone' => "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" ],
	[ 'an unknown Transfer-Encoding' => "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" ],
	[ 'Transfer-Encoding with a blank' =>
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" ],
	[ 'two lengths' => "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n" ],
	[ 'the same length twice' => "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n" ],
	[ 'a list of lengths' => "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0, 5\r\n\r\n" ],
	[ 'a length with a blank before the colon' => "POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\n" ],
	[ 'a length with a sign' => "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\n" ],
	[ 'a negative length' => "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n" ],
	[ 'a length in hexadecimal' => "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5\r\n\r\n" ],
	[ 'an enormous length' => "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n" ],
	[ 'two hosts' => "GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" ],
	[ 'no host' => "GET /healthz HTTP/1.1\r\n\r\n" ],
	[ 'bare LF' => "GET /healthz HTTP/1.1\r\nHost: x\nA: b\r\n\r\n" ],
	[ 'bare LF everywhere' => "GET /healthz HTTP/1.1\nHost: x\n\n" ],
	[ 'bare LF in the first line' => "GET /healthz HTTP/1.1\nHost: x\r\n\r\n" ],
	[ 'bare LF in the last line' => "GET /healthz HTTP/1.1\r\nHost: x\n\r\n" ],
	[ 'bare LF for the empty line' => "GET /healthz HTTP/1.1\r\nHost: x\r\n\n" ],
	[ 'bare CR' => "GET /healthz HTTP/1.1\r\nHost: x\rA: b\r\n\r\n" ],
	[ 'bare CR in the first line' => "GET /healthz HTTP/1.1\rHost: x\r\n\r\n" ],
	[ 'CR CR LF' => "GET /healthz HTTP/1.1\r\nHost: x\r\r\nA: b\r\n\r\n" ],
	[ 'NUL in a value' => "GET /healthz HTTP/1.1\r\nHost: x\0y\r\n\r\n" ],
	[ 'NUL in a name' => "GET /healthz HTTP/1.1\r\nHost: x\r\nA\0B: y\r\n\r\n" ],
	[ 'NUL at the end of the last value' => "GET /healthz HTTP/1.1\r\nHost: x\0\r\n\r\n" ],
	[ 'a folded line' => "GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n" ],
	[ 'a folded length' => "POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n 5\r\n\r\n" ],
	[ 'a control character' => "GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\x01c\r\n\r\n" ],
	[ 'a name with a blank' => "GET /healthz HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n" ],
	[ 'no colon' => "GET /healthz HTTP/1.1\r\nHost: x\r\nnothing\r\n\r\n" ],
	[ 'an empty name' => "GET /healthz HTTP/1.1\r\nHost: x\r\n: c\r\n\r\n" ],
	[ 'two keys' => "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nauthorization: b\r\nContent-Length: 0\r\n\r\n" ],
	[ 'HTTP/2.0' => "GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n" ],
	[ 'HTTP/1.2' => "GET /healthz HTTP/1.2\r\nHost: x\r\n\r\n" ],
	[ 'the preface of HTTP/2' => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" ])
{
	my ($name, $bytes) = @$case;
	my $got = statuses($bytes . $hidden, 1);
	# libmicrohttpd sends the header of its own refusals twice
	like($got, qr/^(?:([45]\d\d)(?: \1)?|)$/, "refused: $name");
	unlike($got, qr/404/, "and nothing behind it is answered: $name");
}
is(statuses("\x16\x03\x01\x02\x00\x01\x00" . "\0" x 100, 1) =~ /200/ ? 1 : 0, 0, 'TLS at a port without it');
is(statuses("GET /healthz HTTP/1.1\r\nHost: x\r\n" . join('', map { "H$_: v\r\n" } 1 .. 5000) . "\r\n", 60) =~ s/ .*//r,
	'431', '5,000 headers');
like(statuses("GET /healthz HTTP/1.1\r\nHost: x\r\nA: " . 'x' x 100_000 . "\r\n\r\n", 2), qr/^(431|431 431|)$/,
	'a header of 100 kB');
like(statuses('GET /' . 'x' x 100_000 . " HTTP/1.1\r\nHost: x\r\n\r\n", 2), qr/^(?:(414|431)(?: \1)?|)$/,
	'a path of 100 kB');
answers("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n", '413', 'a length over the limit, at once');
answers("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3000000\r\n\r\n", '413',
	'before it is asked for');
is(curl($gateway, '/healthz')->{status}, 200, 'the gateway is up');

# Large bodies: of nobody without a signature or a session, and not too many.
my $aws = "POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: AWSStepFunctions.ListActivities\r\n";
answers("${aws}Content-Length: 100000\r\n\r\n", '403', 'a large body without a signature, at once');
answers("POST /console/api/tonight HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n", '403',
	'or of no page of the console');
my $time = strftime('%Y%m%dT%H%M%SZ', gmtime);
my $signed = "${aws}X-Amz-Date: $time\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKIDX/" . substr($time, 0, 8)
	. '/us-east-1/states/aws4_request,'
  . ' SignedHeaders=host;x-amz-date;x-amz-target, Signature=' . '0' x 64 . "\r\nContent-Length: 2097152\r\n\r\n";
is(statuses($signed), '', 'with a signature it is read');
# The gateway ends those that send nothing, so that they come anew until this is seen.
my @large;
ok(wait_for('memory is full', sub {
	@large = senders($gateway, $signed, 32);
	statuses($signed) eq '503';
}), 'but not more than 64 MB together');
close $_ for @large;
ok(wait_for('room', sub { statuses($signed) eq '' }), 'and again when others have left');

# Random bytes, and pieces of requests in any order, from a fixed seed.
srand 20250205;
my @pieces = ("GET ", "POST ", "/", "/healthz", " HTTP/1.1", "\r\n", "\n", "\r", "Host: x", "Content-Length: ", "0",
	"5", "99", ": ", " ", "\0", "Transfer-Encoding: chunked",
	"Cookie: sfgateway=", "a" x 64, ";", "Authorization: AWS4-HMAC-SHA256 Credential=",
		"X-Amz-Target: AWSStepFunctions.", "{\"a\":1}", "\xff\xfe", "Expect: 100-continue", "\r\n\r\n");
for (1 .. 400)
{
	my $bytes = join '', map { rand() < 0.9 ? $pieces[ rand @pieces ] : join '',
		map { chr rand 256 } 1 .. rand 30 } 1 .. 3 + rand 25;
	my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $gateway->{port}) or last;
	$socket->blocking(0);
	$socket->syswrite($bytes);
	close $socket if rand() < 0.5;
}
is(curl($gateway, '/healthz')->{status}, 200, 'random bytes do not end it');

# Clients that send a byte now and then, or do not read.
my $slow = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $gateway->{port});
local $SIG{PIPE} = 'IGNORE';
my $sent = 0;
for my $byte (split //, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r")
{
	last unless $slow->syswrite($byte);
	$sent++;
	my $ready = '';
	vec($ready, fileno $slow, 1) = 1;
	if (select $ready, undef, undef, 0.3) { last unless sysread $slow, my $got, 100 }
}
cmp_ok($sent, '<', 33, 'a client that sends a byte now and then is ended before its request is whole');
my $body = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $gateway->{port});
$body->syswrite("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
$sent = 0;
while ($sent < 60)
{
	last unless $body->syswrite('x');
	$sent++;
	my $ready = '';
	vec($ready, fileno $body, 1) = 1;
	if (select $ready, undef, undef, 0.3) { last unless sysread $body, my $got, 100 }
}
cmp_ok($sent, '<', 60, 'one that does so with its body');

# A thousand connections that do nothing, and one that asks.
my @many = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $gateway->{port}) // () } 1 .. 1000;
is(scalar @many, 1000, 'a thousand connections');
my $begin = time;
is(curl($gateway, '/healthz')->{status}, 200, 'one more is answered');
cmp_ok(time - $begin, '<', 30, 'soon');
ok(wait_for('they are ended', sub {
	my $ended = 0;
	for my $socket (@many)
	{
		my $ready = '';
		vec($ready, fileno $socket, 1) = 1;
		$ended++ if select $ready, undef, undef, 0;
	}
	return $ended == 1000;
}), 'and they are ended');
stop_gateway($gateway);
$node->stop;
done_testing();
