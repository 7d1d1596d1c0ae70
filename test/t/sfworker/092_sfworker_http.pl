# Requests made by sfworker: shaped as Step Functions does, and sent only where they may go.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;

# A server on the loopback that answers by path and writes down what it was asked.
my $requests = "$PostgreSQL::Test::Utils::tmp_check/requests-$$";
append_to_file($requests, '');
my $listener = IO::Socket::INET->new(Listen => 50, LocalAddr => '127.0.0.1', Proto => 'tcp', ReuseAddr => 1)
	or die "listen: $!";
my $port = $listener->sockport;
my $other = IO::Socket::INET->new(Listen => 50, LocalAddr => '127.0.0.2', LocalPort => $port, Proto => 'tcp',
	ReuseAddr => 1)
  or die "listen: $!";
my @servers = map { serve($_) } $listener, $other;
END { kill 'KILL', @servers if @servers }

# Answer requests in a process of its own.
sub serve
{
	my $socket = shift;
	my $pid = fork // die "fork: $!";
	return $pid if $pid;
	@servers = ();
	$SIG{CHLD} = 'IGNORE';
	while (my $client = $socket->accept)
	{
		next if fork;
		answer($client);
		POSIX::_exit(0);
	}
	POSIX::_exit(0);
}

# Answer one request.
sub answer
{
	my $client = shift;
	my ($head, $body) = ('', '');
	while (my $line = <$client>) { last if $line eq "\r\n"; $head .= $line }
	read $client, $body, $1 if $head =~ /^content-length: (\d+)/mi;
	append_to_file($requests, "$head\r\n$body\n====\n");
	my ($path) = $head =~ m{^\S+ (\S+)} or return;
	my %page = (
		'/json' => "200 OK\r\nContent-Type: application/json\r\nX-Twice: a\r\nX-Twice: b\r\n\r\n{\"price\": 1.10}",
		'/text' => "200 Fine\r\n\r\nnot JSON",
		'/none' => "204 No Content\r\n\r\n",
		'/missing' => "404 Not Found\r\n\r\n{\"why\": \"it is not here\"}",
		'/broken' => "503 Service Unavailable\r\n\r\n",
		'/latin1' => "404 N\xe3o encontrado\r\n\r\n",
		'/large' => "200 OK\r\n\r\n" . 'x' x 100_000,
		'/away' => "302 Found\r\nLocation: http://169.254.169.254/latest/meta-data/\r\n\r\n",
		'/away-name' => "307 Temporary Redirect\r\nLocation: https://metadata.google.internal/\r\n\r\n",
		'/file' => "302 Found\r\nLocation: file:///etc/passwd\r\n\r\n",
		'/here' => "303 See Other\r\nLocation: /json\r\n\r\n",
		'/there' => "307 Temporary Redirect\r\nLocation: http://127.0.0.2:$port/json\r\n\r\n",
		'/many' => "200 OK\r\n" . "a: b\r\n" x 1000 . "\r\n",
		'/round' => "302 Found\r\nLocation: /round\r\n\r\n");
	# Say nothing until the other side has given up.
	if ($path eq '/slow') { my $never = <$client>; return }
	print $client 'HTTP/1.1 ' . ($page{ $path =~ s/\?.*//r }
		// "200 OK\r\n\r\n\"?\"") =~ s/\r\n\r\n/\r\nConnection: close\r\n\r\n/r;
	close $client;
	return;
}

# What the server was asked since the last time.
sub asked
{
	my $text = slurp_file($requests);
	open my $empty, '>', $requests or die $!;
	return $text;
}

my $node = new_node('main');
activity_machine($node, 'calls', activity => 'http', resource => 'arn:aws:states:::http:invoke');
$node->safe_psql('postgres', "SELECT sf_map_resource('arn:aws:states:::http:invoke', 'activity:http')");
my $config = "$PostgreSQL::Test::Utils::tmp_check/sfworker-$$.conf";
append_to_file($config, <<"EOC");
activity = http
concurrency = 4
max-output = 50kB
allow = 127.0.0.0/8:$port
# a name says nothing about where it leads
allow = localhost

[connection shop]
host = 127.0.0.1
header = Authorization: Bearer of the shop
EOC
chmod 0600, $config;
# Proxies that the environment names are not used: no request would succeed.
local @ENV{qw(http_proxy https_proxy all_proxy)} = ('http://127.0.0.1:1') x 3;
my $worker = start_worker($node, '--config', $config);
my $url = "http://127.0.0.1:$port";

# Run a request and compare "status|output|error|cause".
sub gives
{
	my ($payload, $expected, $what) = @_;
	my $got = run_task($node, 'calls', $payload);
	return ref $expected ? like($got, $expected, $what) : is($got, $expected, $what);
}

# The response.
gives(qq({"ApiEndpoint": "$url/json", "Method": "GET"}),
	'SUCCEEDED|{"Headers": {"x-twice": ["a", "b"], "connection": ["close"], "content-type": ["application/json"]}, '
	  . '"StatusCode": 200, "StatusText": "OK", "ResponseBody": {"price": 1.10}}||', 'a response');
like(asked(), qr{^GET /json HTTP/1\.1\r\nHost: 127\.0\.0\.1:$port\r\nUser-Agent: sfworker/}, 'and its request');
gives(qq({"ApiEndpoint": "$url/text", "Method": "get"}), qr/"StatusText": "Fine", "ResponseBody": "not JSON"/,
	'a body that is text');
gives(qq({"ApiEndpoint": "$url/none", "Method": "DELETE"}), qr/"StatusCode": 204.*"ResponseBody": ""/, 'no body');
gives(qq({"ApiEndpoint": "$url/missing", "Method": "GET"}),
	'FAILED||States.Http.StatusCode.404|{"why": "it is not here"}',
	'a status is an error, with the body as its cause');
gives(qq({"ApiEndpoint": "$url/broken", "Method": "GET"}), 'FAILED||States.Http.StatusCode.503|Service Unavailable',
	'or its text');
gives(qq({"ApiEndpoint": "$url/latin1", "Method": "GET"}), qr/^FAILED\|\|States\.Http\.StatusCode\.404\|N.+o encontrado$/,
	'... also if that is no UTF-8');
gives(qq({"ApiEndpoint": "$url/large", "Method": "GET"}),
	qr/^FAILED\|\|States\.DataLimitExceeded\|the response of host "127\.0\.0\.1" is larger /,
	'a response that is too large');
gives(qq({"ApiEndpoint": "$url/many", "Method": "GET"}),
	qr/^FAILED\|\|States\.DataLimitExceeded\|the response of host "127\.0\.0\.1" is larger /, '... or has too many headers');
gives(qq({"ApiEndpoint": "$url/slow", "Method": "GET", "TimeoutSeconds": 0.3}), qr/^FAILED\|\|States\.Timeout\|/,
	'a time limit');
# The server may write down later that it was asked, but before what follows.
wait_for('the request is written down', sub { slurp_file($requests) =~ m{^GET /slow }m }, 30);
gives(qq({"ApiEndpoint": "http://127.0.0.3:$port/", "Method": "GET"}),
	qr/^FAILED\|\|States\.Http\.Socket\|host "127\.0\.0\.3", port $port: /, 'a server that is not there');

# The request.
asked();
gives(qq({"ApiEndpoint": "$url/x?a=1", "Method": "POST", "Headers": {"X-A": "1", "X-B": ["2", "3"]},
	"QueryParameters": {"q": "a&b=c d", "l": [1, 2]}, "RequestBody": {"n": 1.10}}), qr/^SUCCEEDED/,
		'a request with everything');
my $asked = asked();
like($asked, qr{^POST /x\?a=1&l=1&l=2&q=a%26b%3Dc%20d HTTP/1\.1\r\n}, 'its query is encoded');
like($asked, qr{\r\nX-A: 1\r\n}, 'it has its headers');
like($asked, qr{\r\nX-B: 2\r\nX-B: 3\r\n}, 'also those with several values');
like($asked, qr{\r\nContent-Type: application/json\r\n.*\r\n\r\n\{"n": 1\.10\}\n====}s, 'and its body as JSON');
gives(qq({"ApiEndpoint": "$url/x", "Method": "POST", "RequestBody": {"a": [1, "x y"], "b": "&"}, "Transform": )
	. qq({"RequestBodyEncoding": "URL_ENCODED"}}),
	qr/^SUCCEEDED/, 'a form');
like(asked(), qr{application/x-www-form-urlencoded\r\n.*\r\n\r\na%5B0%5D=1&a%5B1%5D=x%20y&b=%26\n}s, 'is encoded');
gives(qq({"ApiEndpoint": "$url/x", "Method": "POST", "RequestBody": {"a": [1, "x y"]},
	"Transform": {"RequestBodyEncoding": "URL_ENCODED",
	"RequestEncodingOptions": {"ArrayFormat": "COMMAS"}}}), qr/^SUCCEEDED/, 'a form with an array');
like(asked(), qr{\r\n\r\na=1,x%20y\n}, 'is encoded as it wants');
gives(qq({"ApiEndpoint": "$url/x", "Method": "GET", "Authentication": {"ConnectionArn": )
	. qq("arn:aws:events:us-east-1:123456789012:connection/shop/0a1b"}}),
	qr/^SUCCEEDED/, 'a request with a connection');
like(asked(), qr{\r\nAuthorization: Bearer of the shop\r\n}, 'has its headers');
gives(qq({"ApiEndpoint": "http://127.0.0.2:$port/x", "Method": "GET", "Authentication": {"ConnectionArn": )
	. qq("connection/shop"}}),
	'FAILED||States.Permissions|connection "shop" is not for host "127.0.0.2"', 'which another host does not get');
is(asked(), '', 'nor anything else');
gives(qq({"ApiEndpoint": "$url/x", "Method": "POST"}), qr/^SUCCEEDED/, 'a request that could have a body');
like(asked(), qr{^POST /x HTTP(?!.*Content-Type).*\r\nContent-Length: 0\r\n}s, 'says that it has none');
gives(qq({"ApiEndpoint": "$url/x", "Method": "GET", "Authentication": {"ConnectionArn": "connection/unknown"}}),
	qr/^SUCCEEDED/, 'one that is not configured');
like(worker_log($worker), qr/a connection is not configured.*connection=unknown/, 'is logged');
for my $bad (qq({"Method": "GET"}), qq({"ApiEndpoint": "$url/x"}), qq({"ApiEndpoint": "$url/x", "Method": "TRACE"}),
	qq({"ApiEndpoint": "not a URL", "Method": "GET"}),
	qq({"ApiEndpoint": "$url/x y", "Method": "GET"}),
		qq({"ApiEndpoint": "http://user:secret\@127.0.0.1:$port/", "Method": "GET"}),
	qq({"ApiEndpoint": "$url/x\\r\\nX-Smuggled: 1", "Method": "GET"}),
		qq({"ApiEndpoint": "$url/x", "Method": "GET", "Headers": {"X": "1\\r\\nX-Smuggled: 1"}}),
	qq({"ApiEndpoint": "$url/x", "Method": "GET", "Headers": {"X: 1\\r\\nX-Smuggled": "1"}}),
		qq({"ApiEndpoint": "$url/x", "Method": "GET", "Headers": {"Host": "elsewhere"}}),
	qq({"ApiEndpoint": "$url/x", "Method": "GET\\r\\nX-Smuggled: 1"}),
		qq({"ApiEndpoint": "$url/x", "Method": "GET", "Headers": {"Transfer-Encoding": "chunked"}}))
{
	asked();
	gives($bad, qr/^FAILED\|\|Http\.InvalidParameters\|./, "refused: $bad");
	is(asked(), '', 'and not sent');
}

# Headers have a bound: libcurl goes through all before it for each. Those of an array count one by one.
my @headers = map { qq("X-$_": "$_") } 1 .. 999;
gives(sprintf('{"ApiEndpoint": "%s/x", "Method": "GET", "Headers": {%s, "X-Last": ["last"]}}', $url,
		join ', ', @headers),
	qr/^SUCCEEDED/, 'a thousand headers');
like(asked(), qr{\r\nX-999: 999\r\n.*X-Last: last\r\n}s, 'are sent');
gives(sprintf('{"ApiEndpoint": "%s/x", "Method": "GET", "Headers": {%s, "X-Last": ["one", "two"]}}', $url,
		join ', ', @headers),
	'FAILED||Http.InvalidParameters|Headers has more than 1000 values', 'one more is refused');
is(asked(), '', 'and not sent');

# So have parameters: an array repeats its name for each element.
my ($long, $list) = ('n' x 10_000, join ', ', (1) x 10_000);
for my $more (qq("QueryParameters": {"$long": [$list]}),
	qq("RequestBody": {"$long": [$list]}, "Transform": {"RequestBodyEncoding": "URL_ENCODED"}))
{
	gives(qq({"ApiEndpoint": "$url/x", "Method": "POST", $more}),
		qr/^FAILED\|\|Http\.InvalidParameters\|\w+ has more than 67108864 bytes as parameters$/, 'as many as they become');
}

# Redirects are requests of their own.
gives(qq({"ApiEndpoint": "$url/here", "Method": "POST", "RequestBody": "text"}), qr/"price": 1.10/,
	'a redirect is followed');
like(asked(), qr{^POST /here .*text\n====\nGET /json HTTP}s, 'as a GET when it says so');
gives(qq({"ApiEndpoint": "$url/there", "Method": "POST",
	"RequestBody": "text", "Headers": {"Authorization": "mine", "X-Mine": "1"},
	"Authentication": {"ConnectionArn": "shop"}}), qr/"price": 1.10/, 'to another host');
like(asked(), qr{^POST /there .*Authorization: mine.*====\nPOST /json HTTP/1.1\r\nHost: 127.0.0.2(?!.*Authorization).*X-Mine: 1.*text\n}s, 'without credentials');
gives(qq({"ApiEndpoint": "$url/round", "Method": "GET"}), 'FAILED||States.Http.StatusCode.302|Found', 'not for ever');
is(scalar(() = asked() =~ m{GET /round}g), 6, 'but five times');
gives(qq({"ApiEndpoint": "$url/away", "Method": "GET"}),
	'FAILED||States.Permissions|host "169.254.169.254" is a link-local address: 169.254.169.254',
	'a redirect to a link-local address is refused');
gives(qq({"ApiEndpoint": "$url/away-name", "Method": "GET"}),
	'FAILED||States.Permissions|host "metadata.google.internal" is a metadata service',
	'one to a metadata service by name too');
gives(qq({"ApiEndpoint": "$url/file", "Method": "GET"}),
	'FAILED||States.Permissions|a redirect of host "127.0.0.1" leads to no URL that can be used', 'and one to a file');

# Where requests may go.
asked();
gives(qq({"ApiEndpoint": "http://127.0.0.1:1/", "Method": "GET"}),
	qr/^FAILED\|\|States\.Permissions\|host "127\.0\.0\.1" is a loopback address/, 'another port is not allowed');
gives(qq({"ApiEndpoint": "http://localhost:$port/json", "Method": "GET"}), qr/^SUCCEEDED/,
	'a name and its address are allowed');
gives(qq({"ApiEndpoint": "http://localhost:1/json", "Method": "GET"}),
	qr/^FAILED\|\|States\.Permissions\|host "localhost" is a loopback address/,
	'a name does not allow a special address');
gives(qq({"ApiEndpoint": "http://192.175.48.1/", "Method": "GET"}),
	qr/^FAILED\|\|States\.Permissions\|host "192\.175\.48\.1" \(192\.175\.48\.1\) is not in the allow-list/,
	'what the list does not have is refused');
for my $host (qw(169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 [::ffff:169.254.169.254]
	[64:ff9b::a9fe:a9fe] [fe80::1] [fd00:ec2::254]
	[::1] 0 metadata.google.internal metadata.google.internal. instance-data))
{
	gives(qq({"ApiEndpoint": "http://$host:$port/", "Method": "GET"}), qr/^FAILED\|\|States\.Permissions\|/,
		"refused: $host");
}
is(asked() =~ s/GET \/json.*?====\n//sr, '', 'and nothing was sent');
like(worker_log($worker),
	qr/a request is refused kind=http execution=calls:\S+ state=Work attempt=1 reason="host \\"169\.254\.169\.254\\" is a link-local/, 'but logged');
is(stop_worker($worker), 0, 'the worker leaves');

# Certificates are verified.
SKIP:
{
	my $tls = PostgreSQL::Test::Utils::tempdir();
	skip 'no openssl', 2
	  if system("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -addext "
	  	. "subjectAltName=DNS:localhost -days 2"
		. " -keyout $tls/key -out $tls/cert >$tls/log 2>&1") != 0;
	my $free = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', Proto => 'tcp');
	my $tls_port = $free->sockport;
	close $free;
	push @servers, my $pid = fork // die "fork: $!";
	if ($pid == 0)
	{
		open STDOUT, '>', "$tls/out";
		open STDERR, '>', "$tls/err";
		exec 'openssl', 's_server', '-quiet', '-www', '-accept', "127.0.0.1:$tls_port", '-key', "$tls/key", '-cert',
			"$tls/cert" or POSIX::_exit(98);
	}
	wait_for('the server listens', sub { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $tls_port) });
	my @options = ('-a', 'http', '--allow', 'localhost', '--allow', "127.0.0.1:$tls_port");
	my $payload = qq({"ApiEndpoint": "https://localhost:$tls_port/", "Method": "GET"});
	my $careful = start_worker($node, @options);
	# "CA cert": the words of libcurl where the system has no certificates at all
	gives($payload, qr/^FAILED\|\|States\.Http\.Socket\|.*(?:certificate|CA cert)/,
		'a certificate of nobody known is refused');
	stop_worker($careful);
	$careful = start_worker($node, @options, '--ca-file', "$tls/cert");
	gives($payload, qr/^SUCCEEDED\|.*"StatusCode": 200/, 'one of an authority that the operator named is good');
	stop_worker($careful);
}

# The same decisions without sending anything, and without a list.
for my $case ([ 'https://169.254.169.254/latest', 'is a link-local address: 169.254.169.254' ],
	[ 'https://2852039166/', 'is a link-local address' ],
	[ 'https://localhost/', 'is a loopback address' ], [ 'https://metadata.google.internal/', 'is a metadata service' ],
		[ 'https://[::ffff:7f00:1]/', 'is a loopback address' ],
	[ 'https://100.100.100.200/', 'is a metadata address' ], [ 'https://0.0.0.0/', 'is an unspecified address' ],
		[ 'https://[2002:7f00:1::]/', 'is a loopback address' ],
	[ 'http://192.175.48.1/', 'needs host' ], [ 'gopher://192.175.48.1/', 'neither https nor http' ],
		[ 'https://224.0.0.1/', 'is a multicast address' ])
{
	my ($status, $said) = dry_run(qq({"ApiEndpoint": "$case->[0]", "Method": "GET"}), '-a', 'http');
	is($status, 3, "dry run: $case->[0] is refused");
	like($said, qr/\Q$case->[1]\E.*"decision":"refused"/, 'with its reason');
}
is_deeply([ dry_run('{"ApiEndpoint": "https://192.175.48.1/a/b?x", "Method": "GET"}', '-a', 'http', '--location',
	'../c') ],
	[ 0, '{"method":"GET","hops":[{"url":"https://192.175.48.1/a/b?x","addresses":["192.175.48.1"]},'
		. qq({"url":"https://192.175.48.1/c","addresses":["192.175.48.1"]}],"decision":"allowed"}\n) ],
			'dry run: an address that may be, and its redirect');
my ($status, $said) = dry_run('{"ApiEndpoint": "https://192.175.48.1/", "Method": "GET"}', '-a', 'http', '--location',
	'https://169.254.169.254/');
is($status, 3, 'dry run: a redirect to a link-local address is refused');
like($said, qr/"url":"https:\/\/192\.175\.48\.1\/","addresses":\["192\.175\.48\.1"\]\},\{"url":"https:\/\/169\.254\.169\.254\/".*link-local/, 'and told from the first hop');
is((dry_run('{"ApiEndpoint": "https://127.0.0.1/", "Method": "GET"}', '-a', 'http', '--allow', '127.0.0.1'))[0], 0,
	'dry run: allowed by number');
is((dry_run('{"ApiEndpoint": "https://localhost/", "Method": "GET"}', '-a', 'http', '--allow', 'localhost'))[0], 3,
	'not by name');
is((dry_run('{"ApiEndpoint": "https://192.175.48.1/", "Method": "GET"}', '-a', 'http', '--allow', '*.example.com'))[0],
	3, 'nor what another entry allows');
is(asked(), '', 'a dry run sends nothing');
is(IPC::Run::run([ 'sfworker', '-a', 'http', '--allow', $_, '--dry-run' ], '<', '/dev/null', '>', \my $out, '2>',
	\my $err) || $? >> 8, 2, "no entry of the list: $_")
  for '10.0.0.0/33', 'a b', 'host:99999', 'http://example.com/', '10.0.0.0/x', '';
$node->stop;
done_testing();
