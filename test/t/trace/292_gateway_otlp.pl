# sfgateway exports spans by OTLP/HTTP: what a collector decodes, as protobuf and as JSON; its refusals, its death, and
# those of the gateway and of the database; TLS; settings. The spans are made up (test/fixtures/spans.sql).
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfCollector;
use SfGateway;
use SfTest;
use Test::More;
use Time::HiRes qw(time);

my $node = new_node('main');
$node->safe_psql('postgres', slurp_file("$FindBin::Bin/../../fixtures/spans.sql"));
my $connstr = $node->connstr('postgres') . ' user=postgres';

# Start a gateway that exports to a collector, and looks for spans often.
sub export_to
{
	my ($collector, %how) = @_;
	return start_gateway($node, schema => 'fake', otlp => $collector->{url}, 'otlp-interval' => '200ms',
		'metrics-dsn' => $connstr, %how);
}

# Ask the database.
sub sql { return $node->safe_psql('postgres', shift) }

# Wait until a query gives true.
sub until_true
{
	my $query = shift;
	return ok($node->poll_query_until('postgres', "SELECT $query"), $query);
}

# Wait until all that was made up is confirmed.
sub all_confirmed { return until_true('bool_and(confirmed > 0) FROM fake.run') }

# Read one metric of the exporter.
sub metric
{
	my ($gateway, $name) = @_;
	return curl($gateway, '/metrics')->{body} =~ /^sfgateway_otlp_$name (\S+)$/m ? $1 : undef;
}

# Write spans so that those that say the same are equal. Identifiers are bytes, which JSON may have in capital letters.
sub as_sent
{
	my @spans = map { JSON::PP->new->decode(canonical($_)) } @_;
	$_->{spanId} = lc $_->{spanId} for map { @{ $_->{links} // [] } } @spans;
	return sort map { canonical($_) } @spans;
}

# The name of the first span of a request.
sub first_name { return (shift // {})->{request}{resourceSpans}[0]{scopeSpans}[0]{spans}[0]{name} // '' }

# Forget all spans, and what a collector has got.
my $collector;
sub forget
{
	forget_requests($collector);
	return sql('TRUNCATE fake.taking, fake.run');	# as sf_take_spans locks them
}

# --- the same spans in each encoding
my $hard = <<'SQL';
INSERT INTO fake.run (spans) VALUES (jsonb_build_array(
	'{"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "parentSpanId": "00f067aa0ba902b7",
	"name": "a \"name\"\\ with \n and \u0001 and Gr\u00fc\u00dfe \ud83d\ude00 </script>", "kind": 2,
	"startTimeUnixNano": "1790000000123456789", "endTimeUnixNano": "18446744073709551615", "flags": 257,
	"traceState": "a=b,c=d", "droppedAttributesCount": 4294967295, "droppedEventsCount": 3, "droppedLinksCount": 4,
	"attributes": [{"key": "s", "value": {"stringValue": ""}},
	{"key": "\u00fc", "value": {"intValue": "-9223372036854775808"}},
	{"key": "i", "value": {"intValue": "300"}}, {"key": "zero", "value": {"intValue": "0"}},
	{"key": "b", "value": {"boolValue": false}}, {"key": "t", "value": {"boolValue": true}},
	{"key": "d", "value": {"doubleValue": -1.5e-7}}, {"key": "none", "value": {}},
	{"key": "a", "value": {"arrayValue": {"values": [{"stringValue": "x"},
	{"arrayValue": {"values": [{"intValue": "1"}]}}]}}},
	{"key": "m", "value": {"kvlistValue": {"values": [{"key": "k", "value": {"stringValue": "v"}}]}}}],
	"events": [{"timeUnixNano": "1", "name": "e", "droppedAttributesCount": 1,
	"attributes": [{"key": "k", "value": {"stringValue": "v"}}]},
	{"timeUnixNano": "2", "name": "e2"}],
	"links": [{"traceId": "ffffffffffffffffffffffffffffffff", "spanId": "ABCDEF0123456789",
	"traceState": "x=y", "flags": 1,
	"droppedAttributesCount": 1, "attributes": [{"key": "k", "value": {"stringValue": "v"}}]}],
	"status": {"code": 2, "message": "failed: \u2028"}}'::jsonb,
	jsonb_build_object('traceId', md5('long'), 'spanId', '0000000000000001', 'kind', 1,
	'name', repeat(U&'W\00f6rter ', 30000),
	'startTimeUnixNano', '1', 'endTimeUnixNano', '2')));
SELECT fake.add('many', 50);
SQL
$collector = start_collector();
for my $protocol (qw(protobuf json))
{
	for my $compression (qw(gzip none))
	{
		my $gateway = export_to($collector, 'otlp-protocol' => $protocol, 'otlp-compression' => $compression,
			'otlp-instance' => 'one',
			config => "otlp-header = Authorization: Bearer of the file\notlp-header = X-Scope: a, b\n");
		forget();
		sql($hard);
		all_confirmed();
		my @requests = collected($collector);
		is(grep({ exists $_->{problem} } @requests), 0, 'the collector can decode each request');
		my ($first) = @requests;
		is($first->{path}, '/v1/traces', "$protocol, $compression: the path of traces");
		is($first->{protocol}, $protocol eq 'json' ? 'application/json' : 'application/x-protobuf', 'the content type');
		is($first->{headers}{'content-encoding'}, $compression eq 'gzip' ? 'gzip' : undef, 'the content encoding');
		is($first->{headers}{authorization}, 'Bearer of the file', 'a header of the settings');
		is($first->{headers}{'x-scope'}, 'a, b', 'and another one');
		like($first->{headers}{'user-agent'}, qr{^sfgateway/\d}, 'the user agent');
		cmp_ok($first->{plain}, $compression eq 'gzip' ? '>' : '==', $first->{bytes}, 'it is compressed, or not');
		my $expected =
		  JSON::PP->new->utf8->decode(sql('SELECT jsonb_agg(s) FROM fake.run, jsonb_array_elements(spans) AS s'));
		is_deeply([ as_sent(spans_of(@requests)) ], [ as_sent(@$expected) ], 'each span arrives as it was');
		my %resource = map { $_->{key} => $_->{value}{stringValue} }
		  @{ $first->{request}{resourceSpans}[0]{resource}{attributes} };
		like($resource{'service.version'}, qr/^\d+\.\d+\.\d+$/, 'the version of the service');
		is_deeply([ @resource{qw(service.name service.instance.id db.namespace)} ], [qw(sfflow one postgres)],
			'the resource');
		is_deeply($first->{request}{resourceSpans}[0]{scopeSpans}[0]{scope},
			{ name => 'sfflow', version => $resource{'service.version'} }, 'the scope');
		is(metric($gateway, 'spans_exported_total'), 52, 'the spans are counted');
		is(metric($gateway, 'executions_exported_total'), 2, 'and the executions');
		stop_gateway($gateway);
	}
}
is(grep({ exists $_->{problem} } collected($collector)), 0, 'the collector can decode each request');
# --- settings
sub refused
{
	my ($what, $pattern, @options) = @_;
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'sfgateway', '--dsn', 'x', @options ], '<', '/dev/null', '>', \$out, '2>', \$err);
	is($? >> 8, 2, "refused: $what");
	like($err, $pattern, 'with the reason');
	return;
}
refused('no URL', qr/does not begin with http/, '--otlp', 'localhost:4318');
refused('another scheme', qr/does not begin with http/, '--otlp', 'file:///etc/passwd');
refused('a port that is none', qr/is no URL/, '--otlp', 'http://localhost:x/');
refused('a password in the URL', qr/otlp-header/, '--otlp', 'http://u:p@localhost');
refused('a protocol', qr/protobuf or json/, '--otlp', 'http://localhost', '--otlp-protocol', 'grpc');
refused('a compression', qr/gzip or none/, '--otlp', 'http://localhost', '--otlp-compression', 'zstd');
refused('a CA that is not there', qr/otlp-ca-file: cannot read/, '--otlp', 'http://localhost', '--otlp-ca-file', '/nonexistent');
refused('half a certificate', qr/belong together/, '--otlp', 'http://localhost', '--otlp-key', '/etc/passwd');
refused('a header without a name', qr/NAME: VALUE/, '--otlp', 'http://localhost', '--otlp-header', 'secret of nobody');
refused('a header of two lines', qr/NAME: VALUE/, '--otlp', 'http://localhost', '--otlp-header', "X: a\r\nY: b");

# --- refusals: the one execution that the collector does not take, and no other
forget();
# An answer may take long on a busy machine.
my @patient = ('otlp-timeout' => '2min');
my $gateway = export_to($collector, @patient, 'otlp-header' => 'Authorization: Bearer of-the-command-line');
unlike(slurp_file("/proc/$gateway->{pid}/cmdline"), qr/of-the-command-line/, 'a header is not shown in the list of processes');
plan_answers($collector, map { { refuse => 'bad', message => 'no such span' } } 1 .. 40);
sql(q{SELECT fake.add(CASE WHEN i = 4 THEN 'bad' ELSE 'good' END) FROM generate_series(1, 8) AS i});
until_true('count(*) = 7 FROM fake.run WHERE confirmed = 1');
until_true('count(*) = 1 FROM fake.run WHERE reason IS NOT NULL');
is(sql('SELECT reason FROM fake.run WHERE reason IS NOT NULL'), 'status 400: no such span',
	'with the words of the collector');
is(sql('SELECT max(taken) FROM fake.run'), 1, 'nothing was taken twice');
is(metric($gateway, 'executions_refused_total'), 1, 'it is counted');
is(metric($gateway, 'spans_exported_total'), 7, 'beside the others');
like(gateway_log($gateway), qr/the collector refuses the spans of an execution.*no such span/, 'the log says so');

# --- a part of the spans
forget();
plan_answers($collector, { partial => 3, message => 'too old' });
sql(q{SELECT fake.add('partly', 10)});
all_confirmed();
like(gateway_log($gateway), qr/did not take all spans of a request","rejected":"3","reason":"too old"/, 'partial success is logged');
is(metric($gateway, 'spans_rejected_total'), 3, 'and counted');
is(metric($gateway, 'spans_exported_total'), 14, 'and the others are');

# --- a size that the collector does not take
forget();
plan_answers($collector, { status => 413 }, { status => 413 });
sql(q{SELECT fake.add('large', 100, 1000)});
all_confirmed();
my @large = grep { first_name($_) eq 'large' } collected($collector);
cmp_ok(scalar(grep { $_->{status} == 200 } @large), '>=', 1, 'smaller requests');
is(scalar(grep { $_->{name} eq 'large' } spans_of(@large)), 100, 'have all spans');

# --- later
forget();
plan_answers($collector, { status => 503, headers => { 'Retry-After' => 3 }, raw => 'busy' }, { status => 429 });
sql(q{SELECT fake.add('later')});
all_confirmed();
my @later = (collected($collector))[ -3 .. -1 ];
is(join(' ', map { $_->{status} } @later), '503 429 200', 'sent again until it is taken');
cmp_ok($later[1]{time} - $later[0]{time}, '>=', 3, 'after the time that the collector asks for');
cmp_ok($later[2]{time} - $later[1]{time}, '>=', 0.9, 'or a time that grows');
is(sql('SELECT max(taken) FROM fake.run'), 1, 'and not taken again meanwhile');
like(gateway_log($gateway), qr/spans cannot be exported","reason":"status 503: busy"/, 'the log has the reason');
like(gateway_log($gateway), qr/spans are exported again/, 'and the end');
forget();
plan_answers($collector, { status => 401 });
sql(q{SELECT fake.add('not allowed')});
all_confirmed();
like(gateway_log($gateway), qr/"level":"error"[^\n]*spans cannot be exported","reason":"status 401"/, 'a wrong token is an error');

# --- the collector dies and comes back: what is due stays, and no transaction is open
forget();
my $failed = metric($gateway, 'requests_failed_total');
stop_collector($collector);
sql(q{SELECT fake.add('patient') FROM generate_series(1, 30)});
ok(wait_for('failed requests', sub { metric($gateway, 'requests_failed_total') > $failed + 1 }), 'requests fail');
is(sql(q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sfgateway' AND xact_start IS NOT NULL}), 0,
	'no transaction is open');
is(sql('SELECT count(*) FROM fake.run WHERE confirmed > 0'), 0, 'nothing is lost');
ok(wait_for('a lag', sub { metric($gateway, 'lag_seconds') > 0 }), 'the lag grows');
is(curl($gateway, '/readyz')->{status}, 200, 'the gateway serves');
start_collector(folder => $collector->{folder}, port => $collector->{port});
all_confirmed();
is(scalar(grep { $_->{name} eq 'patient' } spans_of(collected($collector))), 30, 'each was exported once');
until_true(q{count(*) = 0 FROM fake.run WHERE confirmed <> 1});
ok(wait_for('no lag', sub { metric($gateway, 'lag_seconds') == 0 }), 'the lag is none');

# --- the database restarts while the collector answers: the confirmation follows
forget();
my $answer = "$collector->{folder}/go";
plan_answers($collector, { hold => $answer });
sql(q{SELECT fake.add('restart')});
ok(wait_for('a request', sub { first_name((asked($collector))[-1]) eq 'restart' }), 'the collector has the request');
$node->stop;
append_to_file($answer, '');
ok(wait_for('the answer', sub { first_name((collected($collector))[-1]) eq 'restart' }),
	'and answers while the database is down');
$node->start;
all_confirmed();
is(sql('SELECT taken, confirmed FROM fake.run'), '1|1', 'taken once, and confirmed when the database is back');
unlink $answer;

# --- the database refuses the confirmation for a while: the gateway asks until it takes it
forget();
sql('ALTER FUNCTION fake.sf_confirm_spans RENAME TO sf_confirm_nothing');
sql(q{SELECT fake.add('unconfirmed')});
ok(wait_for('an error', sub { gateway_log($gateway) =~ /does not take that spans were exported[^\n]*sf_confirm_spans/ }),
	'the log has the error of the database');
sql('ALTER FUNCTION fake.sf_confirm_nothing RENAME TO sf_confirm_spans');
all_confirmed();
is(sql('SELECT taken, confirmed FROM fake.run'), '1|1', 'taken once, and confirmed when the database takes it');

# --- the gateway is killed between the collector's answer and the confirmation
forget();
plan_answers($collector, { hold => $answer });
sql(q{SELECT fake.add('killed', 3)});
ok(wait_for('a request', sub { first_name((asked($collector))[-1]) eq 'killed' }), 'the collector has the request');
kill 'KILL', $gateway->{pid};
waitpid $gateway->{pid}, 0;
append_to_file($answer, '');
unlike(gateway_log($gateway), qr/Sanitizer|runtime error/, 'no sanitizer complains');
$gateway = export_to($collector, @patient);
sql(q{SELECT fake.add('next')});
until_true('confirmed = 1 FROM fake.run ORDER BY export_no DESC LIMIT 1');
is(sql('SELECT confirmed FROM fake.run ORDER BY export_no LIMIT 1'), 0, 'the lease holds');
sql('UPDATE fake.run SET lease_until = now()');
all_confirmed();
my @killed = grep { $_->{name} eq 'killed' } spans_of(collected($collector));
cmp_ok(scalar(@killed), '>=', 3, 'exported again after the lease');
is(scalar(keys %{ { map { canonical($_) => 1 } @killed } }), 3, 'with the same ids and content');
unlink $answer;

# --- a clean stop: the request under way is answered and confirmed, and nothing else is begun
forget();
plan_answers($collector, { hold => $answer });
sql(q{SELECT fake.add('stop', 1)});
ok(wait_for('a request', sub { first_name((asked($collector))[-1]) eq 'stop' }), 'the collector has the request');
kill 'TERM', $gateway->{pid};
ok(wait_for('the signal', sub { gateway_log($gateway) =~ /leaving when/ }), 'the gateway is asked to leave');
append_to_file($answer, '');
stop_gateway($gateway, 0);
is(sql('SELECT taken, confirmed FROM fake.run'), '1|1', 'what was sent is confirmed');
unlink $answer;

# --- how often an idle exporter asks, and with which lease
forget();
$gateway = export_to($collector, 'otlp-interval' => '2s');
until_true('count(*) >= 3 FROM fake.taking');
is(sql(q{SELECT count(*) FROM (SELECT at - lag(at) OVER (ORDER BY at) AS pause FROM fake.taking OFFSET 1) AS p
	WHERE pause < '1.9 s'}), 0, 'an idle exporter asks once per interval');
is(sql('SELECT DISTINCT lease FROM fake.taking'), '00:01:00', 'with a lease of a minute');
stop_gateway($gateway);

# --- memory, and large executions: each request is bounded
forget();
$gateway = export_to($collector, program => 'sfgateway', 'otlp-batch-bytes' => '100kB');
sql(q{SELECT fake.add('warm', 100, 200) FROM generate_series(1, 20)});
all_confirmed();
sub resident { return slurp_file("/proc/$gateway->{pid}/status") =~ /VmRSS:\s+(\d+)/ ? $1 : die 'no size' }
my $before = resident();
for my $round (1 .. 5)
{
	sql(q{SELECT fake.add('load', 100, 200) FROM generate_series(1, 20)});
	all_confirmed();
}
cmp_ok(resident() - $before, '<', 4096, 'memory does not grow over 10,000 spans') or diag $before, ' ', resident();
is(metric($gateway, 'spans_exported_total'), 12000, 'which are all exported');
forget();
sql(q{SELECT fake.add('whole', 3000, 200)});
all_confirmed();
my @whole = grep { first_name($_) eq 'whole' } collected($collector);
cmp_ok(scalar(@whole), '>', 5, 'an execution is sent in parts');
is(scalar(keys %{ { map { $_->{spanId} => 1 } spans_of(@whole) } }), 3000, 'which have all its spans');
cmp_ok((sort { $b <=> $a } map { $_->{plain} } @whole)[0], '<', 101 * 1024, 'none is larger than it may be');
is(sql('SELECT confirmed FROM fake.run'), 1, 'and it is confirmed once');
stop_gateway($gateway);
stop_collector($collector);

# --- TLS
my $tls = PostgreSQL::Test::Utils::tempdir();
sub make_certificate
{
	my ($name, $ca) = @_;
	my $by = $ca ? "-CA $tls/$ca.cert -CAkey $tls/$ca.key" : '';
	return system("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=$name -addext subjectAltName=IP:127.0.0.1"
		. " -days 2 $by -keyout $tls/$name.key -out $tls/$name.cert >$tls/log 2>&1") == 0 || die slurp_file("$tls/log");
}
make_certificate($_) for qw(collector client stranger);
$collector = start_collector(tls => [ "$tls/collector.cert", "$tls/collector.key", "$tls/client.cert" ]);
my %client = ('otlp-certificate' => "$tls/client.cert", 'otlp-key' => "$tls/client.key");
for my $wrong ([ 'a CA that is not that of the collector', %client, 'otlp-ca-file' => "$tls/stranger.cert" ],
	[ 'no certificate of its own', 'otlp-ca-file' => "$tls/collector.cert" ])
{
	my ($what, %how) = @$wrong;
	forget();
	$gateway = export_to($collector, %how);
	sql(q{SELECT fake.add('tls')});
	ok(wait_for('a failure', sub { gateway_log($gateway) =~ /spans cannot be exported/ }), "$what fails");
	stop_gateway($gateway);
	is(sql('SELECT confirmed FROM fake.run'), 0, 'and nothing is confirmed');
}
forget();
$gateway = export_to($collector, %client, 'otlp-ca-file' => "$tls/collector.cert");
sql(q{SELECT fake.add('tls')});
all_confirmed();
stop_gateway($gateway);
is(scalar(spans_of(collected($collector))), 1, 'with the right ones it is exported');
stop_collector($collector);

# --- a database without these functions, and one where the role may not call them
sql('CREATE ROLE nobody_here LOGIN; GRANT USAGE ON SCHEMA fake TO nobody_here;
	REVOKE EXECUTE ON FUNCTION fake.sf_take_spans FROM PUBLIC');
$collector = start_collector();
$gateway = export_to($collector, 'otlp-dsn' => $node->connstr('postgres') . ' user=nobody_here');
ok(wait_for('a failure', sub { gateway_log($gateway) =~ /spans cannot be taken from the database[^\n]*permission denied/ }),
	'the log says what is missing');
is(curl($gateway, '/readyz')->{status}, 200, 'and the gateway serves');
stop_gateway($gateway);
$node->stop;
done_testing();
