# sfgateway's console: signing in as a role of the database, actions, and pages that wait for changes.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use List::Util qw(max);
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('main');
# Stand-ins that show what the gateway passes on, in the place of the console's own functions.
$node->safe_psql('postgres', <<'SQL');
CREATE SCHEMA console;
CREATE TABLE console.written (action text, body jsonb);
CREATE FUNCTION console.sf_console_actions() RETURNS text[] RETURN ARRAY['write', 'write_late', 'test_state'];
CREATE FUNCTION console.sf_console_session() RETURNS text RETURN public.sf_console_session();
CREATE FUNCTION console.sf_console_api(action text, body jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	CASE action
	WHEN 'who' THEN RETURN jsonb_build_object('user', current_user, 'session_user', session_user, 'body', body);
	WHEN 'write', 'cheat' THEN INSERT INTO console.written VALUES (action, body); RETURN '{}';
	WHEN 'test_state' THEN RETURN to_jsonb(current_setting('transaction_read_only'));
	WHEN 'unlock' THEN PERFORM set_config('transaction_read_only', 'off', false); RETURN '{}';
	WHEN 'sleep' THEN PERFORM pg_sleep(60); RETURN '{}';
	WHEN 'leave' THEN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN '{}';
	WHEN 'large' THEN RETURN jsonb_build_object('text', repeat('x', 5000000));
	ELSE RAISE EXCEPTION USING ERRCODE = action, MESSAGE = 'about ' || (body->>'text'), DETAIL = 'a detail',
		HINT = 'a hint';
	END CASE;
END $$;
GRANT USAGE ON SCHEMA console TO PUBLIC;
GRANT ALL ON ALL TABLES IN SCHEMA console TO PUBLIC;
SET password_encryption = 'scram-sha-256';
CREATE ROLE operator LOGIN PASSWORD 'pass word''="\';
CREATE ROLE "Weird dbname='x' ""role""" LOGIN PASSWORD 'p';
CREATE ROLE locked NOLOGIN PASSWORD 'p';
CREATE ROLE trusted LOGIN;
SQL
unlink $node->data_dir . '/pg_hba.conf';
append_to_file($node->data_dir . '/pg_hba.conf',
	"local all postgres trust\nlocal all trusted trust\nlocal all all scram-sha-256\n");
$node->reload;

my $gateway = start_gateway($node, schema => 'console', sessions => 3, 'statement-timeout' => '15s',
	'waits-per-client' => 2);
my $jar = "$PostgreSQL::Test::Utils::tmp_check/jar-$$";
my @json = ('-H', 'Content-Type: application/json');
my @own = (@json, '-H', "Origin: $gateway->{url}");

# Sign in; gives the answer.
sub login
{
	my ($role, $password, @options) = @_;
	return curl($gateway, '/console/login', '-c', $jar, @own, '-d',
		JSON::PP->new->utf8->encode({ role => $role, password => $password }), @options);
}

# What is wrong with a sign-in.
for my $case (
	[ [ '-d', '{}' ], 400 ], [ [ '-d', 'x' ], 400 ], [ [ '-d', '[]' ], 400 ],
		[ [ '-d', '{"role":"operator","password":""}' ], 400 ],
	[ [ '-d', '{"role":"operator","password":1}' ], 400 ], [ [ '-d', '{"role":"a\u0000b","password":"p"}' ], 400 ],
	[ [ '-d', '{' . ' ' x 20000 . '}' ], 413 ],
	[ [ '-H', 'Content-Type: text/plain', '-d', '{}' ], 415 ], [ [ '-H', 'Content-Type:', '-d', '{}' ], 415 ],
	[ [ '-H', 'Origin: http://evil.example', '-d', '{}' ], 403 ], [ [ '-H', 'Origin: null', '-d', '{}' ], 403 ],
	[ [ '-H', 'Origin: https://127.0.0.1:' . $gateway->{port}, '-d', '{}' ], 403 ],
	[ [ '-H', 'Origin: http://rebound.example', '-H', 'Host: rebound.example', '-d', '{}' ], 403 ],
	[ [ '-H', 'Origin:', '-d', '{}' ], 403 ])
{
	my ($options, $status) = @$case;
	my @options = @$options;
	# curl sends a header twice that is given twice
	unshift @options, @json unless grep { /^Content-Type/ } @options;
	unshift @options, '-H', "Origin: $gateway->{url}" unless grep { /^Origin/ } @options;
	is(curl($gateway, '/console/login', @options)->{status}, $status, 'no sign-in: ' . substr "@$options", 0, 60);
}
is(curl($gateway, '/console/session')->{status}, 401, 'nothing signed in');
is(login('operator', 'wrong')->{status}, 401, 'a wrong password');
is(login('unknown', 'wrong')->{status}, 401, 'an unknown role');
is(login('locked', 'p')->{status}, 401, 'a role that may not log in');
is(login('trusted', 'whatever')->{status}, 401, 'a role whose password is not asked for');
is(login('postgres', 'whatever')->{status}, 401, 'a superuser alike');

# A session.
my $got = login('operator', q(pass word'="\\));
is($got->{status}, 200, 'signed in') or diag $got->{body};
like($got->{headers}{'set-cookie'}, qr{^sfgateway=[0-9a-f]{64}; Path=/; HttpOnly; SameSite=Strict$}, 'with a cookie');
is($got->{headers}{'cache-control'}, 'no-store', 'that nothing keeps');
my $who = json($got->{body});
is($who->{role}, 'operator', 'the role');
like($who->{csrf_token}, qr/^[0-9a-f]{64}$/, 'and a token');
is_deeply(json(curl($gateway, '/console/session', '-b', $jar)->{body}), { role => 'operator' },
	'the cookie alone gives no token');
unlike($got->{headers}{'set-cookie'}, qr/$who->{csrf_token}/, 'which is not the cookie');
my @session = (@own, '-b', $jar, '-H', "X-CSRF-Token: $who->{csrf_token}");

# Call an action.
sub action
{
	my ($name, $body, @options) = @_;
	return curl($gateway, "/console/api/$name", @session, '-d', $body // '{}', @options);
}
is_deeply(json(action('who', '{"a": [1.10, "<script>"]}')->{body}),
	{ user => 'operator', session_user => 'operator', body => { a => [ 1.10, '<script>' ] } },
		'an action runs as the role');
is(action('write', '{"x": 1}')->{status}, 200, 'one that writes');
is($node->safe_psql('postgres', 'SELECT * FROM console.written'), 'write|{"x": 1}', 'has written');
$got = action('cheat');
is($got->{status}, 409, 'one that must not write');
is(json($got->{body})->{error}{sqlstate}, '25006', 'cannot');
is(action('unlock')->{status}, 409, 'nor allow itself to') or diag action('unlock')->{body};
is_deeply(json(action('42501', '{"text": "<b>"}')->{body}),
	{ error => { message => 'about <b>', detail => 'a detail', hint => 'a hint', sqlstate => '42501' } }, 'an error');
is(length json(action('42501', '{"text": "' . 'x' x 100_000 . '"}')->{body})->{error}{message}, 65_536,
	'... whose message is cut');
is(action('42501', '{"text":""}')->{status}, 403, 'rights');
is(action('02000', '{"text":""}')->{status}, 404, 'nothing there');
is(action('40001', '{"text":""}')->{status}, 409, 'a conflict');
is(action('22023', '{"text":""}')->{status}, 400, 'a wrong argument');
is(action('53300', '{"text":""}')->{status}, 503, 'no resources');
$got = action('sleep');
is($got->{status}, 503, 'an action that takes too long') or diag $got->{body};
is(json($got->{body})->{error}{sqlstate}, '57014', 'is cancelled');
is(length action('large')->{body}, 5000012, 'a large answer');
for my $name ('Who', 'a-b', 'a/b', '', 'a' x 64, "who'--", '%77ho')
{
	is(action($name)->{status}, 404, "no action: $name");
}
for my $body ('', 'x', '[]', '"x"', '{"a": "\u0000"}', "{\"a\": \"\xff\"}", '{"a": 1} {}', '[' x 100000)
{
	is(action('who', $body)->{status}, 400, 'no object: ' . substr $body, 0, 20);
}
is(curl($gateway, '/console/api/who', @session)->{status}, 405, 'not by GET');

# What a page of another site could send.
is(curl($gateway, '/console/api/write', @own, '-b', $jar, '-d', '{}')->{status}, 403, 'no action without the token');
is(curl($gateway, '/console/api/write', @own, '-b', $jar, '-H', 'X-CSRF-Token: ' . '0' x 64, '-d', '{}')->{status}, 403,
	'nor with a wrong one');
is(curl($gateway, '/console/api/write', @json, '-b', $jar, '-H', "X-CSRF-Token: $who->{csrf_token}", '-H',
	'Origin: http://evil.example', '-d', '{}')->{status},
	403, 'nor from elsewhere');
is(curl($gateway, '/console/api/write', @own, '-H', "X-CSRF-Token: $who->{csrf_token}", '-d', '{}')->{status}, 401,
	'nor without the cookie');
is($node->safe_psql('postgres', 'SELECT count(*) FROM console.written'), '1', 'and nothing was written');

# A page that waits.
my $token = json(curl($gateway, '/console/poll', @session, '-d', '{}')->{body})->{token};
ok($token, 'a token of what is there');
my $begin = time;
my $later = fork // die;
if (!$later)
{
	sleep 1;
	action('write');
	POSIX::_exit(0);
}
$got = json(curl($gateway, '/console/poll', @session, '-d', qq({"seen": "$token"}))->{body});
ok($got->{changed}, 'it is told of a change');
isnt($got->{token}, $token, 'with another token');
cmp_ok(time - $begin, '<', 60, 'soon');
waitpid $later, 0;
$got = json(curl($gateway, '/console/poll', @session, '-d', qq({"seen": "$token"}))->{body});
ok($got->{changed}, 'one that comes later is told at once');

is(action('test_state')->{body}, '"off"', 'a test of a state can write');
is(curl($gateway, '/console/poll', @session, '-d', qq({"seen": "$got->{token}"}), '--max-time', 3)->{exit}, 28,
	'but is no change');

# Not too many of a session wait.
my @wait = ('/console/poll', @session, '-d', qq({"seen": "$got->{token}"}));
# A page comes again that was refused, as the one that tries it was there before it.
sub waiting_page
{
	my ($path, @options) = @wait;
	my $pid = fork // die;
	if (!$pid)
	{
		open STDERR, '>', '/dev/null';
		exec 'curl', '-sS', '-o', '/dev/null', '--max-time', 60, @options, "$gateway->{url}$path" or POSIX::_exit(98);
	}
	return $pid;
}
my @pages = map { waiting_page() } 1 .. 2;
ok(wait_for('both wait', sub {
	@pages = map { waitpid($_, POSIX::WNOHANG()) == $_ ? waiting_page() : $_ } @pages;
	curl($gateway, @wait, '--max-time', 1)->{status} == 429;
}), 'a page more than may wait is refused');
kill 'KILL', @pages;
waitpid $_, 0 for @pages;
ok(wait_for('they have left', sub { curl($gateway, @wait, '--max-time', 1)->{exit} == 28 }),
	'another one waits when they have left');

# Names are no parameters.
$got = login(q(Weird dbname='x' "role"), 'p');
is($got->{status}, 200, 'a role with a strange name') or diag $got->{body};
@session = (@own, '-b', $jar, '-H', 'X-CSRF-Token: ' . json($got->{body})->{csrf_token});
is(curl($gateway, '/console/session', '-b', $jar)->{status}, 200, 'is signed in');
is(login("dbname=postgres user=postgres", 'p')->{status}, 401, 'no parameters in a name');

# The cap, signing out.
$got = login('operator', q(pass word'="\\));
is($got->{status}, 200, 'a third session');
is(login('operator', q(pass word'="\\), '-c', '/dev/null')->{status}, 503, 'is the last one');
my $third = curl($gateway, '/console/session', '-b', $jar);
is($third->{status}, 200, 'it stays') or diag $third->{body};
@session = (@own, '-b', $jar, '-H', 'X-CSRF-Token: ' . json($got->{body})->{csrf_token});
$got = curl($gateway, '/console/logout', @session, '-d', '{}');
is($got->{status}, 204, 'signed out');
like($got->{headers}{'set-cookie'}, qr/^sfgateway=; .*Max-Age=0/, 'the cookie goes');
is(curl($gateway, '/console/session', '-b', $jar)->{status}, 401, 'the session is over');

# A connection that is ended ends its session; the database is still there.
$got = login('operator', q(pass word'="\\));
is($got->{status}, 200, 'a new session');
@session = (@own, '-b', $jar, '-H', 'X-CSRF-Token: ' . json($got->{body})->{csrf_token});
is(action('leave')->{status}, 503, 'its connection ends');
ok(wait_for('its end', sub { curl($gateway, '/console/session', '-b', $jar)->{status} == 401 }), 'and so does it');
ok($node->poll_query_until('postgres', "SELECT count(*) FROM pg_stat_activity
	WHERE usename IN ('operator', 'trusted')", 1),
	'no other connection is left');

# Too many tries.
my @tries = map { login('operator', 'wrong')->{status} } 1 .. 15;
is($tries[-1], 429, 'too many tries are refused') or diag "@tries";
is(login('operator', q(pass word'="\\))->{status}, 429, 'even with the password');
is(login('operator', q(pass word'="\\), '--interface', '127.0.0.2')->{status}, 200, 'but not at another address');
unlike(gateway_log($gateway), qr/pass word|wrong/, 'no password in the log');
stop_gateway($gateway);

# Requests of all sizes arrive while it leaves: those that the library reads last are not handled.
$gateway = start_gateway($node, schema => 'console', 'drain-timeout' => '0s');
@own = (@json, '-H', "Origin: $gateway->{url}");
$got = login('operator', q(pass word'="\\));
my ($session) = $got->{headers}{'set-cookie'} =~ /^(sfgateway=\w+)/;
my $header = join "\r\n", 'POST /console/api/sleep HTTP/1.1', "Host: 127.0.0.1:$gateway->{port}",
	"Origin: $gateway->{url}", "Cookie: $session",
	'X-CSRF-Token: ' . json($got->{body})->{csrf_token}, 'Content-Type: application/json', 'Content-Length: ';
my @arriving = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $gateway->{port}) // die } 1 .. 30;
curl($gateway, '/healthz');
kill 'STOP', $gateway->{pid};
for my $i (0 .. $#arriving)
{
	my $size = 2000 + 4000 * $i;
	$arriving[$i]->syswrite("$header$size\r\n\r\n{" . ' ' x ($size - 2) . '}');
}
kill $_, $gateway->{pid} for 'TERM', 'INT', 'CONT';
stop_gateway($gateway, 0);

# A role with many sessions ends its own.
$gateway = start_gateway($node, schema => 'console', sessions => 13);
@own = (@json, '-H', "Origin: $gateway->{url}");
my @cookies = map { login('operator', q(pass word'="\\))->{headers}{'set-cookie'} =~ /^(sfgateway=\w+)/ } 1 .. 11;
is(scalar @cookies, 11, 'eleven sessions');
is(join(' ', map { curl($gateway, '/console/session', '-H', "Cookie: $_")->{status} } @cookies), '401' . ' 200' x 10,
	'of which the oldest has ended');
stop_gateway($gateway);

# Sessions that are idle, or too old.
$gateway = start_gateway($node, schema => 'console', 'session-idle' => '4s', 'session-max' => '14s',
	'behind-proxy' => 'on', origin => 'https://console.example');
@own = (@json, '-H', "Origin: https://console.example");
# Sign in; gives what each request of the session has.
sub options_of
{
	my $got = login('operator', q(pass word'="\\));
	is($got->{status}, 200, 'from the origin of a proxy') or diag $got->{body};
	like($got->{headers}{'set-cookie'}, qr/; Secure/, 'the cookie is for https alone');
	my ($cookie) = $got->{headers}{'set-cookie'} =~ /^(__Host-sfgateway=\w+)/;
	return (@own, '-H', "Cookie: $cookie", '-H', 'X-CSRF-Token: ' . json($got->{body})->{csrf_token});
}
my (@kept, @used, $over);
for (1 .. 5)
{
	my ($begun, $last, $longest) = (time, time, 0);
	@kept = options_of();
	my @left = (options_of(), '-H', 'X-Background: 1');
	@used = ();
	$over = wait_for('the end of one', sub {
		push @used, curl($gateway, '/console/api/who', @kept, '-d', '{}')->{status};
		($last, $longest) = (time, max($longest, time - $last));
		curl($gateway, '/console/api/who', @left, '-d', '{}')->{status} == 401;
	});
	# A machine that stood still for seconds gets another try: the other one was not used either, or was too old.
	last if $longest < 3 && time - $begun < 12;
}
ok($over, 'a session that is not used ends');
is(join(' ', grep { $_ != 200 } @used), '', 'one that is used does not');
ok(wait_for('the end', sub { curl($gateway, '/console/api/who', @kept, '-d', '{}')->{status} == 401 }),
	'... but after a time');
stop_gateway($gateway);

# The console's own functions: a page that waits is told when an execution has changed.
$gateway = start_gateway($node, 'console-trust' => 'on');
@own = (@json, '-H', "Origin: $gateway->{url}");
$got = login('postgres', 'any');
is($got->{status}, 200, 'with console-trust any password is good') or diag $got->{body};
@session = (@own, '-b', $jar, '-H', 'X-CSRF-Token: ' . json($got->{body})->{csrf_token});
is(ref json(action('tonight')->{body}), 'HASH', 'an action of the console');
$node->safe_psql('postgres', q{SELECT sf_create_state_machine('m',
	'{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}')});
$token = json(curl($gateway, '/console/poll', @session, '-d', '{}')->{body})->{token};
# what has happened before may be told once
$token = json(curl($gateway, '/console/poll', @session, '-d', qq({"seen": "$token"}))->{body})->{token};
$later = fork // die;
if (!$later)
{
	sleep 2;
	$node->safe_psql('postgres', q{SELECT sf_start('m', '{}')});
	POSIX::_exit(0);
}
$begin = time;
$got = json(curl($gateway, '/console/poll', @session, '-d', qq({"seen": "$token"}))->{body});
ok($got->{changed}, 'an execution that begins is a change');
cmp_ok(time - $begin, '<', 60, 'that a page sees soon');
waitpid $later, 0;
stop_gateway($gateway);
$node->stop;
done_testing();
