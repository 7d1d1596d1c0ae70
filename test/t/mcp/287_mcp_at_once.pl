# sfgateway's endpoint for agents beside others: look-ups of keys at the same time as those of the AWS API, calls of one
# role that leave a connection to others, errors of the database and what becomes of them. Stand-ins in the place of the
# extension's functions wait and fail as they are told.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;

my $node = new_node('main');
$node->safe_psql('postgres', <<'SQL');
CREATE SCHEMA standin;
CREATE TABLE standin.open (gate text);
CREATE FUNCTION standin.pass(wanted text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	WHILE NOT EXISTS (SELECT FROM standin.open WHERE gate = wanted) LOOP
		PERFORM pg_sleep(0.02);
	END LOOP;
END $$;
CREATE FUNCTION standin.sf_access_key(id text, OUT role name, OUT secret_access_key text) RETURNS SETOF record
	LANGUAGE plpgsql AS $$
BEGIN
	IF id ~ '\d$' THEN
		PERFORM standin.pass(right(id, 1));
	END IF;
	RETURN QUERY SELECT lower(id)::name, 'secret'::text;
END $$;
CREATE FUNCTION standin.sf_aws_api_as(role name, action text, request jsonb) RETURNS jsonb LANGUAGE sql AS
	$$SELECT jsonb_build_object('aws', role)$$;
CREATE FUNCTION standin.sf_mcp_as(role name, method text, params jsonb, writing text[]) RETURNS jsonb
	LANGUAGE plpgsql AS $$
DECLARE
	q jsonb := coalesce(params -> 'arguments', '{}');
BEGIN
	IF q ? 'pass' THEN
		PERFORM standin.pass(q ->> 'pass');
	ELSIF q ? 'notice' THEN
		RAISE WARNING E'\n{"level":"error","message":"forged"}';
	ELSIF q ? 'raise' THEN
		RAISE EXCEPTION USING ERRCODE = q ->> 'raise', MESSAGE = repeat(coalesce(q ->> 'message', 'no'),
			coalesce((q ->> 'times')::integer, 1)), DETAIL = 'a detail', HINT = 'a hint';
	ELSIF params ->> 'name' = 'none' THEN
		RETURN NULL;
	END IF;
	RETURN jsonb_build_object('mcp', role, 'method', method, 'params', params, 'writing', writing);
END $$;
SQL
my $gateway = start_gateway($node, schema => 'standin', mcp => 'on', 'mcp-write' => 'redrive, stop',
	'statement-timeout' => '3min',
	'database-connections' => 3, config => "[key AKIDFILE]\nrole = filed\nsecret = secret\n");

# The bytes of a call of a tool.
sub call
{
	my ($key, $arguments, $name) = @_;
	my $body = JSON::PP->new->canonical->utf8->encode({ jsonrpc => '2.0', id => 1, method => 'tools/call',
		params => { name => $name // 'tonight', arguments => $arguments } });
	return "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer $key:secret\r\n"
	  . "Content-Type: application/json\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
}

# Send a call, and give the status and the decoded body of its answer.
sub answer_of
{
	my ($socket) = @_;
	my $got = '';
	while ($got !~ /\r\n\r\n/ || $got =~ /Content-Length: (\d+).*?\r\n\r\n(.*)/s && length $2 < $1)
	{
		my $more = read_within($socket, 60);
		last if $more eq '';
		$got .= $more;
	}
	my ($status, $body) = $got =~ m{^HTTP/1\.1 (\d+).*?\r\n\r\n(.*)}s;
	return ($status // 0, json($body // ''));
}
sub told { return answer_of(senders($gateway, call(@_), 1)) }

# --- look-ups of keys, of the AWS API and of agents at the same time

# curl gives up, but has told what it sent: the first look-up waits at the gate, and the others behind it, for five
# seconds. If a loaded machine takes longer, they are tried again.
my ($status, $answer, $others);
for my $try (1 .. 9)
{
	my $signed = signed_request($gateway, "AKIDAWS$try:secret", 'ListExecutions', '{}');
	my ($aws) = senders($gateway, $signed, 1);
	my ($mcp) = senders($gateway, call("AKIDMCP$try", {}), 1);
	is(curl($gateway, '/healthz')->{status}, 200, 'the gateway goes on meanwhile');
	$node->safe_psql('postgres', "INSERT INTO standin.open VALUES ('$try')");
	my ($aws_status, $aws_answer) = answer_of($aws);
	$others = "$aws_status " . ($aws_answer->{aws} // '');
	($status, $answer) = answer_of($mcp);
	last unless $aws_status == 503 || $status == 503;
}
like($others, qr/^200 akidaws\d$/, 'a request of the AWS API gets its answer');
like("$status $answer->{result}{mcp}", qr/^200 akidmcp\d$/, '... and one of an agent, too');
is($answer->{result}{method}, 'tools/call', 'what the database is told: the method');
is_deeply($answer->{result}{params}, { name => 'tonight', arguments => {} }, '... its parameters');
is_deeply($answer->{result}{writing}, [ 'redrive', 'stop' ], '... and the tools that write');

# --- the calls of a role leave a connection to others

my @busy = map { senders($gateway, call('AKIDFILE', { pass => 'calls' }), 1) } 1 .. 5;
my $under_way = q(SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%sf_mcp_as%'
	AND pid <> pg_backend_pid());
ok(wait_for('the role is busy', sub { $node->safe_psql('postgres', $under_way) == 2 }),
	'a role has all connections but one');
($status, $answer) = told('OTHER', {});
is("$status $answer->{result}{mcp}", '200 other', 'another role is answered meanwhile');
is($node->safe_psql('postgres', $under_way), 2, '... and the first still has two');
$node->safe_psql('postgres', "INSERT INTO standin.open VALUES ('calls')");
# Those that have waited for a connection for more than five seconds are refused.
my @ends = map { (answer_of($_))[0] } @busy;
is(scalar(grep { $_ != 200 && $_ != 503 } @ends), 0, 'all its calls are answered in the end');
cmp_ok(scalar(grep { $_ == 200 } @ends), '>=', 2, '... those that had a connection well');

# --- errors

($status, $answer) = told('OTHER', {}, 'none');
is("$status $answer->{error}{code}", '200 -32602', 'no such tool');
($status, $answer) = told('OTHER', { raise => 'SF012', message => 'bad' });
is_deeply([ $status, $answer->{result} ], [ 200, { isError => JSON::PP::true,
	content => [ { type => 'text', text => "bad\nDETAIL: a detail\nHINT: a hint\nSQLSTATE: SF012" } ] } ],
	'an error of a tool is for the model to read');
($status, $answer) = told('OTHER', { raise => 'SF012', message => "\x{e9}", times => 50000 });
my $text = $answer->{result}{content}[0]{text};
like($text, qr/^\x{e9}+$/, 'a long one is cut between characters');
cmp_ok(length $text, '==', 4000, '... at 8,000 bytes');
($status, $answer) = told('OTHER', { raise => '28000' });
is($status, 401, 'a role that cannot log in');
($status, $answer) = told('OTHER', { raise => '42883' });
is("$status $answer->{error}{code}", '200 -32603', 'a function that the extension does not have');
ok(wait_for('the log tells', sub { gateway_log($gateway) =~ /"a call has failed".*"sqlstate":"42883"/ }),
	'... is in the log');

($status, $answer) = told('OTHER', { notice => 1 });
is($status, 200, 'a call that sends a warning is answered');
unlike(gateway_log($gateway), qr/forged/, '... and writes no line into the log');

# --- time, and a database that is not there

my $short = start_gateway($node, schema => 'standin', mcp => 'on', 'statement-timeout' => '1s',
	config => "[key AKIDFILE]\nrole = filed\nsecret = secret\n");
($status, $answer) = answer_of(senders($short, call('AKIDFILE', { pass => 'never' }), 1));
like($answer->{result}{content}[0]{text}, qr/SQLSTATE: 57014/, 'a call that takes too long ends');
stop_gateway($short);
$node->stop('immediate');
($status, $answer) = told('AKIDFILE', {});
is("$status $answer->{error}{code}", '503 -32603', 'without a database there is no answer');
($status, $answer) = told('AKIDFILE', {}, 'stop');
like($answer->{error}{message}, qr/look whether this was done/, '... and who has a tool write is told to look');
($status, $answer) = told('UNKNOWN', {});
is($status, 503, '... nor are keys looked up');
stop_gateway($gateway);
done_testing();
