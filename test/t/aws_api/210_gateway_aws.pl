# sfgateway's AWS API: signatures, errors, and what it passes on. Stand-ins in the place of the API's functions show
# that.
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256 hmac_sha256_hex sha256_hex);
use FindBin;
use lib "$FindBin::Bin/../lib";
use POSIX qw(strftime);
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;

my $node = new_node('main');
$node->safe_psql('postgres', <<'SQL');
CREATE SCHEMA aws;
CREATE FUNCTION aws.sf_access_key(id text, OUT role name, OUT secret_access_key text) RETURNS SETOF record LANGUAGE sql
	AS $$SELECT 'batch'::name, 'secret of the key' WHERE id = 'AKIDATABASE'$$;
CREATE FUNCTION aws.sf_aws_api_as(role name, action text, request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	CASE action
	WHEN 'DescribeExecution' THEN RETURN jsonb_build_object('role', role, 'request', request);
	WHEN 'StartSyncExecution' THEN PERFORM pg_sleep(3); RETURN '{"status": "SUCCEEDED"}';
	WHEN 'Large' THEN RETURN jsonb_build_object('text', repeat('x', 68000000));
	WHEN 'Stuck' THEN
		LOOP
			BEGIN
				PERFORM pg_sleep(60);
			EXCEPTION WHEN query_canceled THEN
			END;
		END LOOP;
	WHEN 'StopExecution' THEN PERFORM pg_sleep(30); RETURN '{}';
	WHEN 'TestState' THEN INSERT INTO pg_class DEFAULT VALUES; RETURN '{}';
	WHEN 'Named' THEN RAISE EXCEPTION USING ERRCODE = 'SF005', MESSAGE = 'Execution Does Not Exist: ''x''',
		CONSTRAINT = 'ExecutionDoesNotExist';
	WHEN 'Reasoned' THEN RAISE EXCEPTION USING ERRCODE = 'SF060', MESSAGE = 'about it',
		CONSTRAINT = 'ValidationException', DATATYPE = 'A_REASON';
	WHEN 'Constraint' THEN RAISE EXCEPTION USING ERRCODE = '23505', MESSAGE = 'duplicate', CONSTRAINT = 'NotAnError';
	WHEN 'Raise' THEN RAISE EXCEPTION USING ERRCODE = request->>'code',
		MESSAGE = coalesce(request->>'message', 'about it');
	ELSE RAISE EXCEPTION USING ERRCODE = 'SF060', MESSAGE = 'no operation', CONSTRAINT = 'UnknownOperationException';
	END CASE;
END $$;
SQL
my $gateway = start_gateway($node, schema => 'aws', 'statement-timeout' => '2s',
	config => "[key AKIDFILE]\nrole = operator\nsecret = secret/of+the=file\n");

# Call an action by curl, which signs.
sub aws
{
	my ($action, $body, %how) = @_;
	return curl($gateway, $how{path} // '/', '--aws-sigv4', $how{scope} // 'aws:amz:us-east-1:states', '--user',
		$how{user} // 'AKIDFILE:secret/of+the=file',
		'-H', 'Content-Type: application/x-amz-json-1.0', '-H', 'X-Amz-Target: AWSStepFunctions.' . $action, '-d',
			$body // '{}', @{ $how{options} // [] });
}

# Sign a request by hand and send it; every part can be wrong.
sub by_hand
{
	my (%how) = @_;
	my $body = $how{body} // '{}';
	my $time = $how{time} // strftime('%Y%m%dT%H%M%SZ', gmtime(time + ($how{off} // 0)));
	my $date = $how{date} // substr $time, 0, 8;
	my $region = $how{region} // 'us-east-1';
	my $service = $how{service} // 'states';
	my %headers = (host => "127.0.0.1:$gateway->{port}", 'x-amz-date' => $time,
		'x-amz-target' => 'AWSStepFunctions.DescribeExecution', %{ $how{headers} // {} });
	my $signed = $how{signed} // join ';', sort keys %headers;
	my $canonical = join "\n", 'POST', $how{path} // '/', '',
		(map { "$_:" . ($headers{$_} // '') =~ s/\s+/ /gr =~ s/^ | $//gr } split /;/, $signed), '', $signed,
		sha256_hex($body);
	my $key = hmac_sha256('aws4_request',
		hmac_sha256($service, hmac_sha256($region,
		hmac_sha256($date, 'AWS4' . ($how{secret} // 'secret/of+the=file')))));
	my $scope = "$date/$region/$service/aws4_request";
	my $signature = $how{signature} // hmac_sha256_hex("AWS4-HMAC-SHA256\n$time\n$scope\n" . sha256_hex($canonical),
		$key);
	my $id = $how{id} // 'AKIDFILE';
	my $authorization = $how{authorization}
		// "AWS4-HMAC-SHA256 Credential=$id/$scope, SignedHeaders=$signed, Signature=$signature";
	my $sent = $how{sent} // $body;
	return curl($gateway, '/', (map { ('-H', "$_: $headers{$_}") } grep { $_ ne 'host' } keys %headers), '-H',
		"Authorization: $authorization", '-d', $sent);
}

my $got = aws('DescribeExecution', '{"a": [1, "x"]}');
is($got->{status}, 200, 'a signed request') or diag $got->{body};
is($got->{headers}{'content-type'}, 'application/x-amz-json-1.0', 'its type');
like($got->{headers}{'x-amzn-requestid'}, qr/^[-0-9a-f]{36}$/, 'its id');
is_deeply(json($got->{body}), { role => 'operator', request => { a => [ 1, 'x' ] } }, 'runs as the role of the key');
is(json(aws('DescribeExecution', '{}', user => 'AKIDATABASE:secret of the key')->{body})->{role}, 'batch',
	'a key of the database') for 1 .. 2;
$node->safe_psql('postgres', <<'SQL');
CREATE OR REPLACE FUNCTION aws.sf_access_key(id text, OUT role name, OUT secret_access_key text) RETURNS SETOF record
	LANGUAGE sql
	AS $$SELECT 'batch'::name, 'its new secret' WHERE id = 'AKIDATABASE'$$;
SQL
my $changed_at = time;
ok(wait_for('the old secret is refused',
	sub { aws('DescribeExecution', '{}', user => 'AKIDATABASE:secret of the key')->{status} == 403 }),
	'a secret that is no longer good');
cmp_ok(time - $changed_at, '<=', 60, 'is refused within some seconds, with what was derived from it');
is(aws('DescribeExecution', '{}', user => 'AKIDATABASE:its new secret')->{status}, 200, 'the new one is good');
is(json(aws('DescribeExecution', '{}', scope => 'aws:amz:eu-central-1:states')->{body})->{role}, 'operator',
	'another region');
is(json(aws('DescribeExecution', '{}', options => [ '-H', "Host: sync-127.0.0.1:$gateway->{port}" ])->{body})->{role},
	'operator', 'another host');
is(by_hand()->{status}, 200, 'signed by hand');
is(by_hand(headers => { 'x-amz-user-agent' => '  a   b', 'amz-sdk-request' => 'attempt=1' })->{status}, 200,
	'with more headers, and blanks');
# libmicrohttpd 1.0 takes blanks behind a value away and does not tell, so that there are bytes to account for.
IPC::Run::run([ 'sfgateway', '--version' ], '>', \my $version);
like($version, qr/^sfgateway \(sfflow\) [\d.]+ with libmicrohttpd \d+[.]\d+/, 'the version, and that of the library');
is(by_hand(headers => { 'x-amz-user-agent' => 'a b ' })->{status}, $version =~ /libmicrohttpd 0[.]/ ? 200 : 400,
	'blanks behind a value');

# What is refused, and as what.
for my $case (
	[ { authorization => 'Basic eA==' }, 'IncompleteSignatureException' ],
	[ { authorization => 'AWS4-HMAC-SHA256' }, 'IncompleteSignatureException' ],
	[ { authorization => 'AWS4-HMAC-SHA256 Credential=AKIDFILE' }, 'IncompleteSignatureException' ],
	[ { id => 'a b' }, 'IncompleteSignatureException' ], [ { id => 'x' x 500 }, 'IncompleteSignatureException' ],
		[ { id => "'; DROP TABLE x" }, 'IncompleteSignatureException' ],
	[ { id => 'AKIDUNKNOWN' }, 'UnrecognizedClientException' ],
		[ { id => 'AKIDATABASE' }, 'InvalidSignatureException' ],
	[ { secret => 'wrong' }, 'InvalidSignatureException' ], [ { secret => '' }, 'InvalidSignatureException' ],
	[ { signature => '0' x 64 }, 'InvalidSignatureException' ], [ { signature => '0' }, 'InvalidSignatureException' ],
		[ { signature => 'x' x 100 }, 'IncompleteSignatureException' ],
	[ { sent => '{ }' }, 'InvalidSignatureException' ],
	[ { off => -400 }, 'InvalidSignatureException' ], [ { off => 400 }, 'InvalidSignatureException' ],
		[ { off => -86400 }, 'InvalidSignatureException' ],
	[ { time => '20250230T000000Z' }, 'InvalidSignatureException' ],
		[ { time => 'now' }, 'IncompleteSignatureException' ], [ { time => '9' x 16 }, 'InvalidSignatureException' ],
	[ { date => '20200101' }, 'InvalidSignatureException' ], [ { service => 's3' }, 'InvalidSignatureException' ],
		[ { region => 'US EAST' }, 'IncompleteSignatureException' ],
	[ { signed => 'host;x-amz-date' }, 'IncompleteSignatureException' ],
		[ { signed => 'x-amz-date;x-amz-target' }, 'IncompleteSignatureException' ],
	[ { signed => 'host;x-amz-target' }, 'IncompleteSignatureException' ],
		[ { signed => 'x-amz-target;x-amz-date;host' }, 'IncompleteSignatureException' ],
	[ { signed => 'host;host;x-amz-date;x-amz-target' }, 'IncompleteSignatureException' ],
		[ { signed => 'host;not-there;x-amz-date;x-amz-target' }, 'IncompleteSignatureException' ],
	[ { path => '/other' }, 'InvalidSignatureException' ])
{
	my ($how, $type) = @$case;
	$got = by_hand(%$how);
	my $error = json($got->{body});
	is("$got->{status} $error->{__type}", "403 $type", 'refused: ' . substr join(' ', %$how), 0, 50);
	isnt($error->{message}, '', 'with a message');
}
$got = curl($gateway, '/', '-H', 'X-Amz-Target: AWSStepFunctions.ListExecutions', '-d', '{}');
is(json($got->{body})->{__type}, 'MissingAuthenticationTokenException', 'no signature');
is(by_hand(off => $_)->{status}, 200, "a clock that is $_ s off") for -280, 280;
is($_->{status} . json($_->{body})->{__type}, '400UnknownOperationException', 'no operation')
  for curl($gateway, '/', '-d', '{}'), aws('', '{}'), aws('a b', '{}'), aws('x' x 100, '{}'), aws('Nonsense', '{}'),
  curl($gateway, '/', '-H', 'X-Amz-Target: DynamoDB_20120810.ListTables', '-d', '{}'),
  	aws('DescribeExecution', '{}', path => '/?a=b');
for my $body ('', 'x', '[]', '"x"', '{"a": "\u0000"}', "{\"a\": \"\xff\"}", '{} {}', '[' x 100000)
{
	$got = aws('DescribeExecution', $body);
	is("$got->{status} " . json($got->{body})->{__type}, '400 SerializationException', 'no object: ' . substr $body,
		0, 20);
}
my $large = '{"a": "' . 'x' x 1_900_000 . '"}';
my $file = "$PostgreSQL::Test::Utils::tmp_check/large-$$";
append_to_file($file, $large);
is(aws('DescribeExecution', "\@$file")->{status}, 200, 'a large request');
append_to_file($file, ' ' x 300_000);
is(aws('DescribeExecution', "\@$file")->{status}, 413, 'one that is too large');

# Errors of SQL.
is_deeply(json(aws('Named')->{body}), { __type => 'ExecutionDoesNotExist', message => "Execution Does Not Exist: 'x'" },
	'an error with a name');
is_deeply(json(aws('Reasoned')->{body}),
	{ __type => 'ValidationException', message => 'about it', reason => 'A_REASON' }, '... and with a reason');
$got = aws('Constraint');
is("$got->{status} " . json($got->{body})->{__type}, '500 InternalFailure', 'the name of a constraint is none');
for my $case ([ '42501', '400 AccessDeniedException' ], [ '22P02', '400 SerializationException' ],
	[ '54001', '400 SerializationException' ], [ '53300', '503 ServiceUnavailableException' ],
	[ 'SF012', '400 ValidationException' ], [ 'SF024', '503 ServiceUnavailableException' ],
		[ '40001', '503 ServiceUnavailableException' ], [ 'XX000', '500 InternalFailure' ])
{
	my ($code, $expected) = @$case;
	$got = aws('Raise', qq({"code": "$code"}));
	is("$got->{status} " . json($got->{body})->{__type}, $expected, "SQLSTATE $code");
}
is(length json(aws('Raise', '{"code": "SF012", "message": "a' . "\xc3\xa9" x 40_000 . '"}')->{body})->{message}, 32_768,
	'a long message is cut, behind a whole character');
is(json(aws('Raise', '{"code": "42501", "message": ""}')->{body})->{message}, 'AccessDeniedException',
	'an error has a message');
$got = aws('StopExecution');
is("$got->{status} " . json($got->{body})->{__type}, '503 ServiceUnavailableException', 'a call that takes too long');
is(aws('StartSyncExecution')->{status}, 200, 'StartSyncExecution may take longer');

# Calls that catch their timeout: other roles are served meanwhile, and then the role itself is.
my @stuck = map {
	my $pid = fork // die "fork: $!";
	if (!$pid)
	{
		aws('Stuck');
		POSIX::_exit(0);
	}
	$pid;
} 1 .. 6;
my $running = q{SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%sf_aws_api_as%'
	AND pid <> pg_backend_pid()};
ok($node->poll_query_until('postgres', $running, 3), 'a role uses all connections but one');
is(aws('DescribeExecution', '{}', user => 'AKIDATABASE:its new secret', options => [ '--max-time', 4 ])->{status}, 200,
	'so another one is served');
waitpid $_, 0 for @stuck;
ok($node->poll_query_until('postgres', $running, 0), 'connections of calls that do not end are closed');
ok(wait_for('new connections', sub { aws('DescribeExecution')->{status} == 200 }), 'and made anew');

# The database goes and comes.
$node->stop;
$got = aws('DescribeExecution');
is("$got->{status} " . json($got->{body})->{__type}, '503 ServiceUnavailableException', 'without the database');
$node->start;
ok(wait_for('it is back', sub { aws('DescribeExecution')->{status} == 200 }), 'with it again');
unlike(gateway_log($gateway), qr/secret.of/, 'no secret in the log');
stop_gateway($gateway);

# A region that must be signed for; keys that the role may not look up.
$node->safe_psql('postgres', 'CREATE ROLE gateway LOGIN; REVOKE EXECUTE ON FUNCTION aws.sf_access_key FROM PUBLIC;
	GRANT USAGE ON SCHEMA aws TO gateway');
$gateway = start_gateway($node, schema => 'aws', user => 'gateway', region => 'eu-west-1',
	config => "[key AKIDFILE]\nrole = operator\nsecret = secret/of+the=file\n");
is(aws('DescribeExecution')->{status}, 403, 'another region is refused');
is(aws('DescribeExecution', '{}', scope => 'aws:amz:eu-west-1:states')->{status}, 200, 'but not this one');
$got = aws('DescribeExecution', '{}', scope => 'aws:amz:eu-west-1:states', user => 'AKIDATABASE:secret of the key');
is(json($got->{body})->{__type}, 'AccessDeniedException', 'keys that cannot be looked up');
like(gateway_log($gateway), qr/may the gateway's role execute sf_access_key/, 'are a matter of the log');
$got = aws('Large', '{}', scope => 'aws:amz:eu-west-1:states');
is("$got->{status} " . json($got->{body})->{__type}, '400 ResponseTooLargeException', 'an answer that is too large');
stop_gateway($gateway);
$node->stop;
done_testing();
