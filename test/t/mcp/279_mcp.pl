# sfgateway's endpoint for agents, the Model Context Protocol: its messages, the rights of the key's role, tools that
# write only where the settings name them, answers that end. docs/mcp.md describes it.
# needs: hold human
use strict;
use warnings;
use Encode qw(encode_utf8);
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;

my $node = new_node('main');
my $bad = '"Load": {"Type": "Task", "Resource": "sql:public.load", "ResultPath": "$.got", "Next": "Send"}';
my $send = '"Send": {"Type": "Task", "Resource": "sql:public.send", "End": true}';
$node->safe_psql('postgres', <<"SQL");
CREATE ROLE gateway LOGIN;
GRANT EXECUTE ON FUNCTION sf_access_key TO gateway;
CREATE ROLE reader LOGIN;
CREATE ROLE operator LOGIN;
CREATE ROLE nobody LOGIN;
GRANT reader, operator, nobody TO gateway;
CREATE FUNCTION public.load(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS \$\$
BEGIN
	IF payload ? 'bad' THEN
		RAISE EXCEPTION 'the file % is empty', payload ->> 'bad' USING DETAIL = 'It has 0 lines.';
	END IF;
	RETURN '1';
END \$\$;
CREATE FUNCTION public.send(payload jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT ''"sent"''::jsonb';
SELECT sf_create_state_machine('nightly', '{"StartAt": "Load", "States": {$bad, $send}}'::json);
SELECT sf_create_state_machine('waits',
	'{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 100000, "End": true}}}'::json);
SELECT sf_create_state_machine('secret', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}'::json);
SELECT sf_grant('READ', m, r) FROM unnest('{nightly,waits}'::text[]) AS m, unnest('{reader,operator}'::text[]) AS r;
SELECT sf_grant('OPERATE', m, 'operator'), sf_grant('START', m, 'operator') FROM unnest('{nightly,waits}'::text[]) AS m;
SELECT sf_start('nightly', '{}', 'good');
SQL
sub ends { my $id = shift; return $node->safe_psql('postgres', "SELECT sf_await('$id', '3 min')") }
is(ends('nightly:good'), 'SUCCEEDED', 'a good execution');
$node->safe_psql('postgres', q(SELECT sf_start('nightly', '{"bad": "a.csv"}', 'bad'), sf_start('waits', '{}', '1'),
	sf_start('secret', '{"word": "swordfish"}', '1')));
is(ends('nightly:bad'), 'FAILED', 'one that fails');
ends('secret:1');
ok($node->poll_query_until('postgres',
	q(SELECT waiting_on LIKE 'Wait%' FROM sf_executions WHERE execution_id = 'waits:1')), 'one that waits');
my %key = map { $_ => $node->safe_psql('postgres',
	"SELECT * FROM sf_create_access_key('$_')") =~ s/\|/:/r } qw(reader operator
	nobody);

my @json = ('-H', 'Content-Type: application/json', '-H', 'Accept: application/json, text/event-stream');

# Send a body; gives what curl does.
sub post
{
	my ($gateway, $key, $body, @options) = @_;
	return curl($gateway, '/mcp', @json, defined $key ? ('-H', "Authorization: Bearer $key") : (), '-d', $body,
		@options);
}

# Make a request of the protocol; gives the decoded answer.
sub request
{
	my ($gateway, $key, $method, $params) = @_;
	my $body = JSON::PP->new->canonical->utf8->encode({ jsonrpc => '2.0', id => 7, method => $method,
		defined $params ? (params => $params) : () });
	my $got = post($gateway, $key, $body);
	is($got->{status}, 200, "$method is answered") or diag $got->{body};
	my $answer = json($got->{body});
	is($answer->{id}, 7, '... with its id');
	return $answer;
}

my %tools;

# Tell what is wrong with an object by a schema as tools have it, or ''.
sub mismatch
{
	my ($schema, $object) = @_;
	my %is = (string => sub { !ref $_[0] }, integer => sub { !ref $_[0] && $_[0] =~ /^-?\d+$/ },
		boolean => sub { JSON::PP::is_bool($_[0]) }, array => sub { ref $_[0] eq 'ARRAY' },
		object => sub { ref $_[0] eq 'HASH' });
	my %type = map { $_ => $schema->{properties}{$_}{type} } keys %{ $schema->{properties} };
	return join ', ', (map { "$_ is missing" } grep { !exists $object->{$_} } @{ $schema->{required} }),
		(map { "$_ is not in the schema" } grep { !$type{$_} } sort keys %$object),
		map { "$_ is no $type{$_}" } grep { $type{$_} && !$is{ $type{$_} }->($object->{$_}) } sort keys %$object;
}

# Call a tool, and give what it says, after a look whether this is what its schema tells; of an error its text.
sub tool
{
	my ($gateway, $role, $name, $arguments) = @_;
	my $result = request($gateway, $key{$role}, 'tools/call', { name => $name,
		arguments => $arguments // {} })->{result};
	return $result->{content}[0]{text} if $result->{isError};
	is(mismatch($tools{$name}{outputSchema}, $result->{structuredContent}), '', "$name answers as its schema tells");
	is_deeply(json(encode_utf8($result->{content}[0]{text})), $result->{structuredContent},
		'... also as text');
	return $result->{structuredContent};
}

# --- off unless configured

my $off = start_gateway($node, user => 'gateway');
is(curl($off, '/mcp')->{status}, 404, 'without the setting there is nothing to get');
is(post($off, $key{reader}, '{"jsonrpc": "2.0", "id": 1, "method": "ping"}')->{status}, 404, '... nor to post');
stop_gateway($off);
for my $case ([ [qw(--mcp perhaps)], qr/invalid value for "mcp"/ ], [ [qw(--mcp-write stop)], qr/needs mcp = on/ ],
	[ [ qw(--mcp on --mcp-write), 'redrive,restart' ], qr/"restart" in mcp-write is no tool that writes/ ])
{
	IPC::Run::run([ 'sfgateway-asan', @{ $case->[0] } ], '<', '/dev/null', '>', \my $out, '2>', \my $err);
	is($? >> 8, 2, "refused: @{ $case->[0] }");
	like($err, $case->[1], 'and says why');
}

# --- who may ask

my $gateway = start_gateway($node, user => 'gateway', mcp => 'on',
	config => "[key AKIDFILE]\nrole = reader\nsecret = secret/of+the:file=\n");
my $ping = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}';
my ($id, $secret) = split /:/, $key{reader};
for my $case ([ 'no key', undef ], [ 'no secret', $id ], [ 'an empty secret', "$id:" ], [ 'another secret',
	"$id:x$secret" ],
	[ 'a cut secret', "$id:" . substr $secret, 0, 39 ], [ 'an unknown key', "AKIAUNKNOWN:$secret" ],
	[ 'an id that is none', "a'b:$secret" ], [ 'a long id', ('A' x 500) . ':x' ], [ 'the secret alone', ":$secret" ],
	[ 'the key of another', $key{operator} =~ s/:.*/:$secret/r ])
{
	my $got = post($gateway, $case->[1], $ping);
	is($got->{status}, 401, "$case->[0] is refused");
	like($got->{headers}{'www-authenticate'}, qr/^Bearer /, '... with the way in');
}
is(curl($gateway, '/mcp', @json, '-u', $key{reader}, '-d', $ping)->{status}, 401, 'another way to sign in is refused');
is(post($gateway, $_, $ping)->{status}, 200, 'a key is good') for $key{reader}, 'AKIDFILE:secret/of+the:file=';
is(curl($gateway, '/mcp', '-H', "Authorization: Bearer $key{reader}")->{status}, 405, 'there is no stream to get');
is(curl($gateway, '/mcp')->{headers}{allow}, 'POST', '... as the answer says');
is(curl($gateway, '/mcp', '-X', 'DELETE')->{status}, 405, '... and no session to end');
is(post($gateway, $key{reader}, $ping, '-H', "Origin: $_")->{status}, 403, "a page of $_ is refused")
  for 'http://evil.example', 'null', "https://127.0.0.1:$gateway->{port}";
is(post($gateway, $key{reader}, $ping, '-H', "Host: evil.example:$gateway->{port}", '-H',
	"Origin: http://evil.example:$gateway->{port}")->{status}, 403, '... also if its name leads here');
is(post($gateway, $key{reader}, $ping, '-H', "Origin: $gateway->{url}")->{status}, 200, 'a page of the gateway is not');
is(curl($gateway, '/mcp', '-H', "Authorization: Bearer $key{reader}", '-d', $ping)->{status}, 415,
	'another type is refused');
is(curl($gateway, '/mcp', '-H', "Authorization: Bearer $key{reader}", '-H', 'Content-Type: application/json', '-H',
	'Accept: text/html', '-d', $ping)->{status}, 406, 'a client that takes no JSON, too');
is(post($gateway, $key{reader}, $ping, '-H', "MCP-Protocol-Version: $_->[0]")->{status}, $_->[1], "version $_->[0]")
  for [ '2025-06-18', 200 ], [ '2025-03-26', 200 ], [ '2024-11-05', 400 ], [ 'x', 400 ];
is(post($gateway, $key{reader}, '{"jsonrpc": "2.0", "id": "' . ('x' x 20000) . '", "method": "ping"}')->{status}, 413,
	'a large body is refused');

# --- messages

for my $case (
	[ 'no JSON', '{"jsonrpc": "2.0"', -32700 ], [ 'nothing', '', -32700 ], [ 'a NUL',
		'{"jsonrpc": "2.0", "id": "\u0000"}', -32700 ],
	[ 'deep nesting', '[' x 16000, -32700 ],
	[ 'a list', "[$ping]", -32600 ], [ 'a text', '"ping"', -32600 ], [ 'no version', '{"id": 1, "method": "ping"}',
		-32600 ],
	[ 'another version', '{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600 ],
	[ 'an id that is null', '{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600 ],
	[ 'an id that is an object', '{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600 ],
	[ 'no method', '{"jsonrpc": "2.0", "id": 1}', -32600 ], [ 'a method that is none',
		'{"jsonrpc": "2.0", "id": 1, "method": 3}', -32600 ],
	[ 'parameters in a list', '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', -32602 ])
{
	my $got = post($gateway, $key{reader}, $case->[1]);
	is("$got->{status} " . json($got->{body})->{error}{code}, "400 $case->[2]",
		"refused: $case->[0]") or diag $got->{body};
}
for my $id ('1', '"a\"b"', '12345678901234567890', '-1.5e3')
{
	is(post($gateway, $key{reader}, qq({"jsonrpc": "2.0", "id": $id, "method": "ping"}))->{body},
		qq({"jsonrpc":"2.0","id":$id,"result":{}}), "the id $id comes back");
}
for my $body ('{"jsonrpc": "2.0", "method": "notifications/initialized"}',
	'{"jsonrpc": "2.0", "method": "x", "params": {}}',
	'{"jsonrpc": "2.0", "id": 1, "result": {}}', '{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}')
{
	my $got = post($gateway, $key{reader}, $body);
	is("$got->{status} $got->{body}", '202 ', "needs no answer: $body");
}
is(request($gateway, $key{reader}, $_)->{error}{code}, -32601, "there is no $_")
  for 'resources/list', 'prompts/list', 'Ping', 'x' x 100;
is(request($gateway, $key{reader}, $_->[0], $_->[1])->{error}{code}, -32602, "wrong parameters of $_->[0]")
  for [ 'initialize', {} ], [ 'initialize', { protocolVersion => [] } ], ['initialize'], ['tools/call'],
  [ 'tools/call', { name => [] } ], [ 'tools/call', { name => 'tonight', arguments => [] } ],
  [ 'tools/call', { name => 'nothing' } ], [ 'tools/call', { name => 'tonight; DROP TABLE x' } ],
  [ 'tools/call', { name => 'stop', arguments => { execution_id => 'waits:1' } } ], [ 'tools/list', { cursor => 'x' } ];
for my $case ([ '2025-06-18', '2025-06-18' ], [ '2025-03-26', '2025-03-26' ], [ '2099-01-01', '2025-06-18' ])
{
	my $result = request($gateway, $key{reader}, 'initialize', { protocolVersion => $case->[0], capabilities => {},
		clientInfo => { name => 't', version => '1' } })->{result};
	is($result->{protocolVersion}, $case->[1], "a client of $case->[0]");
	is_deeply([ sort keys %{ $result->{capabilities} } ], ['tools'], '... is offered tools');
}

# --- tools that read

%tools = map { $_->{name} => $_ } @{ request($gateway, $key{reader}, 'tools/list')->{result}{tools} };
is(join(' ', sort keys %tools),
	'compare_with_last_good execution_status late_or_failing list_executions list_state_machines'
	. ' state_machine_definition tonight waiting_for_people'
	. ' waiting_on what_would_redrive_run why_did_it_fail', 'the tools');
is(scalar(grep { !$_->{annotations}{readOnlyHint} } values %tools), 0, 'all of them only read');
is(scalar(grep { $_->{inputSchema}{type} ne 'object' || $_->{outputSchema}{type} ne 'object' } values %tools), 0,
	'... and have schemas');

my $why = tool($gateway, 'reader', 'why_did_it_fail', { execution_id => 'nightly:bad' });
is($why->{failed_jobs}[0]{job_id}, 'Load', 'the job that failed');
like($why->{cause}, qr/It has 0 lines.*the file a\.csv is empty/, '... and why');
is($why->{failed_jobs}[0]{input}, '{"bad": "a.csv"}', '... with its input');
is($why->{last_good}{execution_id}, 'nightly:good', 'the last good one');
is($why->{same_error}, 1, 'how often this happened');
is(tool($gateway, 'reader', 'compare_with_last_good', { execution_id => 'nightly:bad' })->{jobs}[0]{input_differs}[0],
	'/bad',
	'... and what is different from it');
is(tool($gateway, 'reader', 'why_did_it_fail', { execution_id => 'nightly:good' })->{failed}, 0,
	'one that did not fail');
my $tonight = tool($gateway, 'reader', 'tonight');
is($tonight->{failed}[0]{latest_execution_id}, 'nightly:bad', 'what failed tonight');
is($tonight->{running}[0]{execution_id}, 'waits:1', '... and what runs');
is_deeply(tool($gateway, 'reader', 'late_or_failing')->{counts}, { failed => 1 }, 'the alerts');
is_deeply(tool($gateway, 'reader', 'late_or_failing', { state_machine => 'waits' })->{alerts}, [],
	'... of a state machine');
is(tool($gateway, 'reader', 'execution_status', { execution_id => 'nightly:bad' })->{job_counts}{failure}, 1,
	'the jobs');
is(tool($gateway, 'reader', 'execution_status', { execution_id => 'waits:1' })->{status}, 'RUNNING', 'one that runs');
like(tool($gateway, 'reader', 'waiting_on', $_)->{executions}[0]{waiting_on}, qr/^Wait "W" until/, 'what it waits for')
  for {}, { execution_id => 'waits:1' };
is(tool($gateway, 'reader', 'list_executions', { status => 'SUCCEEDED' })->{executions}[0]{execution_id},
	'nightly:good',
	'a list of executions');
is(join(' ', map { $_->{state_machine} } @{ tool($gateway, 'reader', 'list_state_machines')->{state_machines} }),
	'nightly waits', 'the state machines');
my $machine = tool($gateway, 'reader', 'state_machine_definition', { state_machine => 'nightly' });
is(json($machine->{definition})->{StartAt}, 'Load', 'a definition');
my $plan = tool($gateway, 'operator', 'what_would_redrive_run', { execution_id => 'nightly:bad' });
is_deeply($plan->{runs}, [ 'Load', 'Send' ], 'what a redrive would run') or diag explain $plan;
is(tool($gateway, 'reader', 'execution_status', { execution_id => 'nightly:bad' })->{redrive_count}, 0,
	'... nothing was run');

# What a tool says of wrong arguments is for the model to read.
like(tool($gateway, 'reader', $_->[0], $_->[1]), $_->[2], "$_->[0] is told what is wrong") for
  [ 'why_did_it_fail', {}, qr/needs the argument "execution_id"/ ],
  [ 'why_did_it_fail', { execution_id => 3 }, qr/must be of type string/ ],
  [ 'why_did_it_fail', { execution_id => 'nightly:none' }, qr/there is no execution "nightly:none".*list_executions/s ],
  [ 'tonight', { sinse => 'x' }, qr/no argument "sinse".*since/s ], [ 'tonight', { since => 'x' },
	qr/SQLSTATE: 22007/ ],
  [ 'list_executions', { limit => 1.5 }, qr/must be of type integer/ ],
  [ 'list_executions', { status => 'LOST' }, qr/LOST/ ],
  [ 'state_machine_definition', { state_machine => 'none' }, qr/there is no state machine "none"/ ];

# --- rights

is_deeply(tool($gateway, 'nobody', 'list_state_machines')->{state_machines}, [], 'a role without rights sees nothing');
is_deeply(tool($gateway, 'nobody', 'tonight')->{failed}, [], '... tonight');
for my $role (qw(reader nobody))
{
	unlike(encode_utf8($_), qr/swordfish/, "$role sees nothing of others") for
	  tool($gateway, $role, 'why_did_it_fail', { execution_id => 'secret:1' }),
	  tool($gateway, $role, 'execution_status', { execution_id => 'secret:1' }),
	  tool($gateway, $role, 'state_machine_definition', { state_machine => 'secret' });
}
like(tool($gateway, 'reader', 'list_executions', { state_machine => 'secret' }), qr/SQLSTATE: SF003/,
	'... also in lists');
is(scalar(grep { $_->{state_machine} eq 'secret' } @{ tool($gateway, 'reader', 'list_executions')->{executions} }), 0,
	'... of all');
like(tool($gateway, 'reader', 'what_would_redrive_run', { execution_id => 'nightly:bad' }), qr/SQLSTATE: 42501/,
	'only who may redrive tries a redrive');
my (undef, undef, $error) = $node->psql('postgres', <<'SQL');
BEGIN;
CREATE TABLE public.seen (n integer);
CREATE OR REPLACE FUNCTION _sfflow.mcp_list_state_machines(q jsonb) RETURNS jsonb LANGUAGE sql AS
	$$INSERT INTO public.seen VALUES (1) RETURNING '{}'::jsonb$$;
SELECT sf_mcp_as('postgres', 'tools/call', '{"name": "list_state_machines"}');
SQL
like($error, qr/cannot execute INSERT in a read-only transaction/, 'a tool that reads cannot write');
(undef, undef, $error) = $node->psql('postgres', q(SELECT sf_mcp_as('operator', 'tools/list', '{}')),
	extra_params => [ '-U', 'reader' ]);
like($error, qr/permission denied to answer as role "operator"/, 'a role answers for no other');

# --- tools that write

my $writing = start_gateway($node, user => 'gateway', mcp => 'on', 'mcp-write' => 'redrive, hold,release');
my %all = map { $_->{name} => $_ } @{ request($writing, $key{operator}, 'tools/list')->{result}{tools} };
is(join(' ', grep { !$_ || !$all{$_}{annotations}{readOnlyHint} } sort keys %all), 'hold redrive release',
	'those that are named');
is(request($writing, $key{operator}, 'tools/call', { name => $_->[0], arguments => $_->[1] })->{error}{code}, -32602,
	"$_->[0] is not there")
  for [ 'stop', { execution_id => 'waits:1' } ], [ 'start', { state_machine => 'waits' } ];
%tools = %all;
like(tool($writing, 'reader', 'redrive', { execution_id => 'nightly:bad' }), qr/SQLSTATE: 42501/,
	'a role without the right does nothing');
is(tool($writing, 'operator', 'hold', { target => 'waits', reason => 'a test' })->{began}, 1, 'a hold');
is(tool($writing, 'operator', 'waiting_on', { execution_id => 'waits:1' })->{held}[0]{reason}, 'a test', '... is seen');
is(tool($writing, 'operator', 'release', { target => 'waits' })->{went_on}, 0, '... and ends');
$node->safe_psql('postgres',
	'CREATE OR REPLACE FUNCTION public.load(payload jsonb) RETURNS jsonb LANGUAGE sql AS $$SELECT payload$$');
is(tool($writing, 'operator', 'redrive', { execution_id => 'nightly:bad' })->{redrive_count}, 1, 'a redrive');
is(ends('nightly:bad'), 'SUCCEEDED', '... runs');
is($node->safe_psql('postgres', q(SELECT role || ' ' || session_role FROM sf_audit WHERE action = 'redrive')),
	'operator gateway',
	'... and is in the audit trail');
stop_gateway($writing);
$writing = start_gateway($node, user => 'gateway', mcp => 'on', 'mcp-write' => 'stop,start');
%tools = map { $_->{name} => $_ } @{ request($writing, $key{operator}, 'tools/list')->{result}{tools} };
is(tool($writing, 'operator', 'start', { state_machine => 'nightly', name => 'new',
	input => { a => 1 } })->{execution_id},
	'nightly:new', 'a start');
is(ends('nightly:new'), 'SUCCEEDED', '... runs');
like(tool($writing, 'operator', 'start', { state_machine => 'nightly', name => 'new' }), qr/SQLSTATE: SF/, '... once');
is(tool($writing, 'operator', 'stop', { execution_id => 'waits:1', reason => 'a test' })->{status}, 'ABORTED',
	'a stop');
stop_gateway($writing);

# --- answers end

$node->safe_psql('postgres', q(SELECT sf_start('nightly', jsonb_build_object('long', repeat('x', 100000)), 'long' || n)
	FROM generate_series(1, 25) AS n));
ends("nightly:long$_") for 1 .. 25;
my $page = tool($gateway, 'reader', 'list_executions', { state_machine => 'nightly' });
is(scalar @{ $page->{executions} }, 20, 'a page of executions');
ok($page->{cut}, '... says that there are more');
$page = tool($gateway, 'reader', 'list_executions', { state_machine => 'nightly', page_key => $page->{next_page_key} });
is(scalar @{ $page->{executions} }, 8, '... the next page');
ok(!$page->{cut}, '... is the last');
my $long = tool($gateway, 'reader', 'execution_status', { execution_id => 'nightly:long1' });
cmp_ok(length $long->{input}, '<', 2100, 'an input is cut');
like($long->{input}, qr/\[cut: 1000\d\d characters in all\]$/, '... as it says');
ok($long->{cut}, '... beside it, too');

# --- keys that end

$node->safe_psql('postgres', 'ALTER ROLE nobody NOLOGIN');
my $list = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}';
is(post($gateway, $key{nobody}, $list)->{status}, 401, 'a role that may no longer log in is refused at once');
$node->safe_psql('postgres', "SELECT sf_drop_access_key('$id')");
ok(wait_for('the key is forgotten', sub { post($gateway, $key{reader}, $ping)->{status} == 401 }),
	'a key that is dropped ends');
unlike(gateway_log($gateway), qr/\Q$secret\E|secret.of/, 'no secret is in the log');
like(gateway_log($gateway), qr/"who":"reader","action":"why_did_it_fail"/, '... but who asked what');
stop_gateway($gateway);
$node->stop;
done_testing();
