# Connections of HTTP tasks: a user name and a password, an API key, tokens of OAuth 2.0; and requests that are tried
# again. The servers are on the loopback.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;

# A server that answers by path and writes down what it was asked. The token that it gives is the number of tokens that
# it has given; /private takes the last one only.
my $asked = "$PostgreSQL::Test::Utils::tmp_check/asked-$$";
append_to_file($asked, '');
my $listener = IO::Socket::INET->new(Listen => 50, LocalAddr => '127.0.0.1', Proto => 'tcp', ReuseAddr => 1)
	or die "listen: $!";
my $port = $listener->sockport;
my $server = fork // die "fork: $!";
serve() unless $server;
END { kill 'KILL', $server if $server }

sub serve
{
	$server = undef;
	my ($tokens, $busy) = (0, 0);
	while (my $client = $listener->accept)
	{
		my ($head, $body) = ('', '');
		while (my $line = <$client>) { last if $line eq "\r\n"; $head .= $line }
		read $client, $body, $1 if $head =~ /^content-length: (\d+)/mi;
		append_to_file($asked, "$head\r\n$body\n====\n");
		my ($path) = $head =~ m{^\S+ (\S+)};
		my $answer = "200 OK\r\n\r\n{\"ok\": true}";
		if ($path eq '/token') {
			$tokens++; $answer = "200 OK\r\n\r\n{\"access_token\": \"t$tokens\", \"token_type\": \"Bearer\", "
			. "\"expires_in\": 3600}" }
		elsif ($path eq '/short') {
			$tokens++; $answer = "200 OK\r\n\r\n{\"access_token\": \"t$tokens\", \"expires_in\": 1}" }
		elsif ($path eq '/lost') { $tokens++; $answer = "204 No Content\r\n\r\n" }
		elsif ($path eq '/denied') { $answer = "401 Unauthorized\r\n\r\n{\"error\": \"invalid_client\"}" }
		elsif ($path eq '/odd') { $answer = "200 OK\r\n\r\n{\"access_token\": \"a b\"}" }
		elsif ($path eq '/private') { $answer = "401 Unauthorized\r\n\r\nno"
			unless $head =~ /^Authorization: Bearer t$tokens\r/m }
		elsif ($path eq '/closed') { $answer = "401 Unauthorized\r\n\r\nno" }
		elsif ($path eq '/busy') { $answer = "429 Too Many Requests\r\nRetry-After: 0\r\n\r\nlater" if $busy++ % 3 < 2 }
		elsif ($path =~ m{^/always/(\d+)}) { $answer = "$1 Busy\r\nRetry-After: 0\r\n\r\nalways" }
		elsif ($path eq '/soon') { $answer = "503 Busy\r\n\r\nlater" if $busy++ % 3 < 1 }
		print $client 'HTTP/1.1 ' . $answer =~ s/\r\n\r\n/\r\nConnection: close\r\n\r\n/r;
		close $client;
	}
	POSIX::_exit(0);
}

# What the server was asked since the last time: method and path of each request.
sub asked
{
	my $text = slurp_file($asked);
	open my $empty, '>', $asked or die $!;
	return wantarray ? $text =~ m{^(?:====\n)?([A-Z]+ \S+) HTTP}mg : $text;
}

my $node = new_node('main');
activity_machine($node, 'calls', activity => 'http', resource => 'arn:aws:states:::http:invoke');
$node->safe_psql('postgres', "SELECT sf_map_resource('arn:aws:states:::http:invoke', 'activity:http')");
my $config = "$PostgreSQL::Test::Utils::tmp_check/connections-$$.conf";
my $token = "oauth-client-id = the client\noauth-client-secret = s&cret\n";
append_to_file($config, <<"EOC");
activity = http
concurrency = 4
http-retries = 2
allow = 127.0.0.0/8:$port

[connection basic]
host = 127.0.0.1
username = Aladdin
password = open sesame

[connection key]
host = 127.0.0.1
header = X-Api-Key: the key

[connection oauth]
host = 127.0.0.1
oauth-url = http://127.0.0.1:$port/token
oauth-parameter = scope=read write
${token}
[connection body]
host = 127.0.0.1
oauth-url = http://127.0.0.1:$port/token
oauth-credentials = body
${token}
[connection short]
host = 127.0.0.1
oauth-url = http://127.0.0.1:$port/short
${token}
[connection denied]
host = 127.0.0.1
oauth-url = http://127.0.0.1:$port/denied
${token}
[connection odd]
host = 127.0.0.1
oauth-url = http://127.0.0.1:$port/odd
${token}
[connection elsewhere]
host = 127.0.0.1
oauth-url = http://169.254.169.254/token
${token}
[connection gone]
host = 127.0.0.1
oauth-url = http://127.0.0.4:$port/token
${token}
EOC
chmod 0600, $config;
my $worker = start_worker($node, '--config', $config);

# Run a request by a connection, or without one; "status|output|error|cause".
sub call
{
	my ($path, $connection, $host) = @_;
	my $by = defined $connection
		? qq(, "Authentication":
			{"ConnectionArn": "arn:aws:events:us-east-1:123456789012:connection/$connection/0a1b"}) : '';
	return run_task($node, 'calls', sprintf '{"ApiEndpoint": "http://%s:%d%s", "Method": "GET"%s}',
		$host // '127.0.0.1', $port, $path, $by);
}

# --- credentials that are known

like(call('/x', 'basic'), qr/^SUCCEEDED/, 'a user name and a password');
like(scalar(asked()), qr{\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n}, '... are in the header');
like(call('/x', 'key'), qr/^SUCCEEDED/, 'an API key');
like(scalar(asked()), qr{\r\nX-Api-Key: the key\r\n}, '... is in its header');

# --- tokens

like(call('/private', 'oauth'), qr/^SUCCEEDED/, 'a token');
my $text = asked();
like($text, qr{^POST /token HTTP/1\.1\r\n.*\r\nAuthorization: Basic dGhlJTIwY2xpZW50OnMlMjZjcmV0\r\n.*\r\n\r\ngrant_type=client_credentials&scope=read%20write\n====\nGET /private}s,
	'... is asked for with the credentials in the header');
like($text, qr{GET /private.*\r\nAuthorization: Bearer t1\r\n}s, '... and sent');
like(call('/private', 'oauth'), qr/^SUCCEEDED/, 'a second request');
is_deeply([asked()], ['GET /private'], '... uses the same token');
call('/lost');
asked();
like(call('/private', 'oauth'), qr/^SUCCEEDED/, 'a token that was withdrawn');
is_deeply([asked()], ['GET /private', 'POST /token', 'GET /private'], '... is replaced');
like(call('/closed', 'oauth'), qr/^FAILED\|\|States\.Http\.StatusCode\.401\|no$/, 'a server that takes none');
is_deeply([asked()], ['GET /closed', 'POST /token', 'GET /closed'], '... is asked twice, and not for ever');
like(call('/x', 'body'), qr/^SUCCEEDED/, 'credentials as parameters');
like(scalar(asked()),
	qr{^POST /token HTTP/1\.1\r\n(?!.*Authorization: Basic).*\r\n\r\ngrant_type=client_credentials&client_id=the%20client&client_secret=s%26cret\n}s, '... are in the body');
like(call('/x', 'short'), qr/^SUCCEEDED/, 'a token that expires soon serves its request');
asked();

is(call('/x', 'denied'),
	'FAILED||Events.ConnectionResource.InvalidConnectionState|connection "denied": its token server answered with '
	. 'status 401', 'no token');
is_deeply([asked()], ['POST /denied'], '... and no request');
is(call('/x', 'odd'),
	'FAILED||Events.ConnectionResource.InvalidConnectionState|connection "odd": its token server answered with an '
	. 'access_token that cannot be sent', 'a token with a blank');
like(call('/x', 'elsewhere'),
	qr/^FAILED\|\|Events\.ConnectionResource\.InvalidConnectionState\|connection "elsewhere": host "169\.254\.169\.254" is a link-local address/, 'a token server that may not be asked');
like(call('/x', 'gone'),
	qr/^FAILED\|\|Events\.ConnectionResource\.InvalidConnectionState\|connection "gone": host "127\.0\.0\.4", port $port: /, 'one that is not there');
asked();
is(call('/x', 'oauth', '127.0.0.2'), 'FAILED||States.Permissions|connection "oauth" is not for host "127.0.0.2"',
	'another host gets no token');
is_deeply([asked()], [], '... and none is asked for');
unlike(worker_log($worker), qr/s&cret|s%26cret|sesame|Bearer|\bt\d\b/, 'no secret is in the log');

# --- tried again

like(call('/busy'), qr/^SUCCEEDED/, 'a server that is busy');
is_deeply([asked()], [('GET /busy') x 3], '... is asked again');
is(call('/always/500'), 'FAILED||States.Http.StatusCode.500|always', 'one that stays so');
is_deeply([asked()], [('GET /always/500') x 3], '... as often as http-retries says');
is(call('/always/404'), 'FAILED||States.Http.StatusCode.404|always', 'another status');
is_deeply([asked()], ['GET /always/404'], '... is final');
like(call('/soon'), qr/^SUCCEEDED/, 'without Retry-After');
is_deeply([asked()], [('GET /soon') x 2], '... it is asked again after a while');
is(stop_worker($worker), 0, 'the worker leaves');

# --- sections that lack something

for my $case (['username = a', 'no password'], ["oauth-url = http://127.0.0.1:$port/token\noauth-client-id = a",
	'no oauth-client-secret'],
	['oauth-client-id = a', 'no oauth-url'],
		['oauth-credentials = query', 'key "oauth-credentials" is unknown in a section [connection], or its value is'],
	['oauth-parameter = a', 'key "oauth-parameter" is unknown'])
{
	my $bad = "$config.bad";
	unlink $bad;
	append_to_file($bad, "activity = http\n[connection bad]\nhost = 127.0.0.1\n$case->[0]\n");
	my ($status, $said) = dry_run('{}', '--config', $bad);
	is($status, 2, "refused: $case->[1]");
	like($said, qr/\Q$case->[1]\E/, '... with the reason');
}
done_testing();
