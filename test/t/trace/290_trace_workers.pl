# Traces with workers, sfworker and sfgateway: commands and requests get the span of what the worker does, which is a
# span when the execution has ended; starts by the AWS API say what they are part of; children of a Distributed Map are
# below it; what has no trace costs nothing.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use SfWorker;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\n");
my $context = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 a=1';

sub sql { return $node->safe_psql('postgres', shift) }

# Start an execution with the trace, and wait for its end; gives its output.
sub run_traced
{
	my ($machine, $name, $input) = @_;
	my $id = sql(qq{SELECT sf_start('$machine', \$i\$$input\$i\$,
		options => '{"name": "$name", "trace": "$context"}')});
	sql("SELECT sf_await('$id', '60 s')");
	return sql("SELECT coalesce(output::text, error || ': ' || cause) FROM sf_executions
		WHERE execution_id = '$id'");
}

# The spans of the runs that are due, which are delivered by that: rows of kind, name, id and parent.
sub take
{
	return map { [ split /\|/ ] } split /\n/, sql(q{WITH taken AS MATERIALIZED (SELECT * FROM sf_take_spans()),
		confirmed AS MATERIALIZED (SELECT sf_confirm_spans(array_agg(export_no)) AS n FROM taken)
		SELECT s ->> 'kind', s ->> 'name', s ->> 'spanId', s ->> 'parentSpanId'
		FROM taken, jsonb_array_elements(spans) s, confirmed WHERE confirmed.n > 0});
}

# What has no trace.
activity_machine($node, 'shell');
my $worker = start_worker($node, '-a', 'shell');
sql(q{CREATE FUNCTION work(n integer) RETURNS integer LANGUAGE sql AS 'SELECT n';
	SELECT sf_create_state_machine('plain', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:work",
		"Parameters": {"n": 1}, "Next": "B"}, "B": {"Type": "Pass", "End": true}}}')});
my $used = q{SELECT seq_scan + coalesce(idx_scan, 0) + n_tup_ins FROM pg_stat_all_tables
	WHERE relid = '_sfflow.trace_export'::regclass};
my $before = sql($used);
sql(q{SELECT sf_start_many('plain', array_fill('{}'::jsonb, ARRAY[200]))});
sql(q{SELECT count(sf_await(execution_id, '60 s')) FROM sf_executions});
like(run_task($node, 'shell', '{"Command": "echo \"<$TRACEPARENT>\""}'), qr/^SUCCEEDED\|.*<>/,
	'a command without a trace has none');
is(sql(q{SELECT count(*) FROM _sfflow.execution WHERE trace IS NOT NULL}), 0, '... no execution has');
sql('SELECT pg_stat_force_next_flush()');
ok($node->poll_query_until('postgres', q{SELECT n_tup_ins >= 201 FROM pg_stat_all_tables
	WHERE relid = '_sfflow.execution'::regclass}), 'the executions are counted');
# Workers look whether sequences are ahead of all rows, now and then.
cmp_ok(sql($used) - $before, '<', 20,
	'... and the runs to be exported were not looked at for each of them, or written');

# A command.
my $output = run_traced('shell', 'one', '{"Command": "echo \"$TRACEPARENT $TRACESTATE\""}');
my ($id) = $output =~ /00-4bf92f3577b34da6a3ce929d0e0e4736-([0-9a-f]{16})-01 a=1/;
ok($id, 'a command gets the context');
my @spans = take();
is(join(', ', map { "$_->[0] $_->[1]" } @spans), '2 shell, 1 Work, 4 send shell, 5 process shell', 'its spans');
is($spans[3][2], $id, '... that of what the worker does is the one that the command was told');
is($spans[3][3], $spans[2][2], '... below the attempt');
is(scalar(take()), 0, 'they were delivered');
$output = run_traced('shell', 'env', '{"Command": "echo \"$TRACEPARENT\"", "Env": {"TRACEPARENT": "mine"}}');
like($output, qr/00-4bf92f35/, 'a payload does not replace it');
is(stop_worker($worker), 0, 'the worker leaves');

# A command that fails, and is tried again.
activity_machine($node, 'again', activity => 'shell', resource => 'activity:shell', made => 1,
	fields => '"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1, "IntervalSeconds": 0}],');
take();
$worker = start_worker($node, '-a', 'shell');
run_traced('again', 'one', '{"Command": "exit 3"}');
@spans = take();
is(join(', ', map { $_->[1] } @spans),
	'again, Work, send shell, process shell, send shell, process shell', 'each attempt is a span');
is(scalar(keys %{ { map { $_->[2] => 1 } @spans } }), 6, '... with an id of its own');
stop_worker($worker);

# A request.
my $listener = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', Proto => 'tcp', ReuseAddr => 1)
  or die "listen: $!";
my $port = $listener->sockport;
activity_machine($node, 'calls', activity => 'http', resource => 'arn:aws:states:::http:invoke');
sql(q{SELECT sf_map_resource('arn:aws:states:::http:invoke', 'activity:http')});
$worker = start_worker($node, '-a', 'http', '--allow', "127.0.0.1:$port");
sub request
{
	my ($name, $headers) = @_;
	sql(qq{SELECT sf_start('calls', '{"ApiEndpoint": "http://127.0.0.1:$port/", "Method": "GET", "Headers": $headers}',
		options => '{"name": "$name", "trace": "$context"}')});
	my $client = $listener->accept or return '';
	my $head = '';
	while (my $line = <$client>) { last if $line eq "\r\n"; $head .= $line }
	print $client "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
	close $client;
	sql("SELECT sf_await('calls:$name', '60 s')");
	return $head;
}
my $head = request('one', '{}');
($id) = $head =~ /^traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-([0-9a-f]{16})-01\r$/mi;
ok($id, 'a request gets the context');
like($head, qr/^tracestate: a=1\r$/mi, '... and the tracestate');
@spans = take();
is((map { $_->[2] } grep { $_->[1] eq 'arn:aws:states:::http:invoke' } @spans)[0], $id,
	'... of the attempt at its task');
$head = request('own', '{"Traceparent": "mine"}');
like($head, qr/^traceparent: mine\r$/mi, 'a traceparent of the payload stays');
unlike($head, qr/^traceparent: 00|^tracestate/mi, '... and is the only one');
stop_worker($worker);

# Children of a Distributed Map.
sql(q{SELECT sf_create_state_machine('many', '{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true,
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "A", "States":
	{"A": {"Type": "Task", "Resource": "sql:work", "Parameters": {"n": 1}, "End": true}}}}}}')});
take();
run_traced('many', 'one', '[1, 2, 3]');
@spans = take();
my %spans = map { $_->[2] => $_ } @spans;
is(join(', ', sort map { $_->[1] } @spans),
	'A, A, A, Each, SELECT work, SELECT work, SELECT work, many, many, many, many',
	'a Distributed Map and its children');
my @children = grep { $_->[1] eq 'many' && $spans{ $_->[3] } && $spans{ $_->[3] }[1] eq 'Each' } @spans;
is(scalar(@children), 3, '... which are below it');

# Starts by the AWS API, whose header says what they are part of.
sql(q{CREATE ROLE caller LOGIN; SELECT sf_grant('START', 'plain', 'caller')});
my $gateway = start_gateway($node, config => "[key AKIDFILE]\nrole = caller\nsecret = secret\n");
sub start_by_api
{
	my ($name, $body, @headers) = @_;
	curl($gateway, '/', '--aws-sigv4', 'aws:amz:us-east-1:states', '--user', 'AKIDFILE:secret',
		'-H', 'Content-Type: application/x-amz-json-1.0', '-H', 'X-Amz-Target: AWSStepFunctions.StartExecution',
		(map { ('-H', $_) } @headers), '-d',
		qq({"stateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:plain", "name": "$name"$body}));
	return sql("SELECT trace FROM _sfflow.execution WHERE execution_id = 'plain:$name'");
}
my $amazon = 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1';
my $theirs = '00-5759e988bd862e3fe1be46a994272793-53995c3f42cd8ad8-01';
is(start_by_api('api-1', '', "X-Amzn-Trace-Id: $amazon"), $theirs,
	'a start by the AWS API has the trace of its header');
is(start_by_api('api-2', '', "X-Amzn-Trace-Id: Root=1-0", "traceparent: $theirs"), $theirs, '... of W3C, too');
is(start_by_api('api-3', qq(, "traceHeader": "$amazon"), 'traceparent: ' . $context =~ s/ .*//r), $theirs,
	'... unless the request has its own');
is(start_by_api('api-4', '', 'X-Amzn-Trace-Id: ' . 'x' x 300), '', '... and one that is none is passed over');

# More than a run may have.
sql(q{SELECT sf_create_state_machine('long', '{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true,
	"ItemProcessor": {"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}}}}')});
sql(qq{SELECT sf_start('long', (SELECT jsonb_agg(n) FROM generate_series(1, 3000) n),
	options => '{"name": "one", "trace": "$context"}')});
is(sql("SELECT sf_await('long:one', '120 s')"), 'SUCCEEDED', 'a Map of many items');
is(sql(q{SELECT jsonb_array_length(spans), spans #> '{0,attributes}' @>
	'[{"key": "sfflow.dropped_spans", "value": {"intValue": "1002"}}]'
	FROM sf_take_spans() ORDER BY export_no DESC LIMIT 1}), '5000|t',
	'... has so many spans, and says how many are left out');
no_surprises($node);
done_testing();
