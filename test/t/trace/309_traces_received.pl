# A trace with OpenTelemetry's own packages at both ends: a caller that its SDK traces starts an execution by HTTP. That
# runs a SQL task, a child and a command of sfworker; a receiver made of its own classes of the protocol gets one tree,
# with the caller's span at the root.
# needs: trace
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfCollector;
use SfGateway;
use SfTest;
use SfWorker;
use Test::More;

my $clients = "$FindBin::Bin/../../clients";
plan skip_all => 'the tests of @opentelemetry/otlp-transformer are MISSING: npm could not install it below test/clients'
  unless -d "$clients/node_modules/\@opentelemetry/otlp-transformer";
my $node = new_node('main');
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE exporter LOGIN;
GRANT EXECUTE ON FUNCTION sf_take_spans, sf_confirm_spans, sf_reject_spans TO exporter;
CREATE SCHEMA shop;
CREATE FUNCTION shop.charge(amount integer) RETURNS integer LANGUAGE sql AS 'SELECT $1';
SELECT sf_create_activity('mail', '30 s', 3);
SELECT sf_create_state_machine('child', '{"StartAt": "Inner", "States": {
	"Inner": {"Type": "Task", "Resource": "sql:shop.charge", "Parameters": {"amount": 1}, "End": true}}}');
SELECT sf_create_state_machine('order', '{"StartAt": "Charge", "States": {
	"Charge": {"Type": "Task", "Resource": "sql:shop.charge", "Parameters": {"amount": 2}, "Next": "Child"},
	"Child": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync",
		"Parameters": {"StateMachineArn": "child"}, "Next": "Mail"},
	"Mail": {"Type": "Task", "Resource": "activity:mail",
		"Parameters": {"Command": ["sh", "-c", "echo $TRACEPARENT"]}, "End": true}}}');
SQL
my ($id, $secret) = split /\|/, $node->safe_psql('postgres',
	q{SELECT access_key_id, secret_access_key FROM sf_create_access_key('postgres')});
my $worker = start_worker($node, '-a', 'mail:shell');
my $receiver = start_collector(program => [ 'node', "$clients/otlp-receiver.mjs" ]);
my $gateway = start_gateway($node, otlp => $receiver->{url}, 'otlp-interval' => '200ms',
	'otlp-dsn' => $node->connstr('postgres') . ' user=exporter');

my ($out, $err) = ('', '');
my $called;
{
	local @ENV{qw(AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION AWS_EC2_METADATA_DISABLED)} =
	  ($id, $secret, 'us-east-1', 'true');
	$called = IPC::Run::run([ 'node', "$clients/traced-caller.mjs", $gateway->{url}, 'order', $receiver->{url} ],
		'<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(60));
}
ok($called, 'a caller starts an execution within its span') or diag $err;
my ($trace, $caller) = split ' ', $out;
is($node->safe_psql('postgres', q{SELECT sf_await('order:caller', '1 min')}), 'SUCCEEDED', 'the execution succeeds');
is($node->safe_psql('postgres', q{SELECT trace_id || ' ' || parent_span_id FROM sf_traces
	WHERE execution_id = 'order:caller'}), "$trace $caller", 'it is part of the trace of the caller');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.trace_export'), 'all is exported');

my @requests = collected($receiver);
is(join(' ', grep { $_ != 200 } map { $_->{status} } @requests), '', 'the receiver decodes all')
  or diag explain [ map { $_->{problem} // () } @requests ];
my %span = map { $_->{spanId} => $_ } grep { $_->{traceId} eq $trace } spans_of(@requests);

# Write where a span is: the names from the root on.
sub path
{
	my $span = shift;
	my $parent = $span{ $span->{parentSpanId} // '' };
	return ($parent ? path($parent) . ' > ' : defined $span->{parentSpanId} ? '? > ' : '') . $span->{name};
}
my $order = 'checkout > order';
my $child = "$order > Child > arn:aws:states:::states:startExecution.sync > child";
is(join("\n", sort map { path($_) } values %span), join("\n", sort 'checkout', $order, "$order > Charge",
	"$order > Charge > SELECT shop.charge", "$order > Child", $child =~ s/ > child$//r, $child, "$child > Inner",
	"$child > Inner > SELECT shop.charge", "$order > Mail", "$order > Mail > send mail",
	"$order > Mail > send mail > process mail"), 'one tree, from the caller to the command');
my ($command) = grep { $_->{name} eq 'process mail' } values %span;
like($node->safe_psql('postgres', q{SELECT output FROM sf_executions WHERE execution_id = 'order:caller'}),
	qr/00-$trace-$command->{spanId}-01/, 'the command was told the span of its own');
stop_gateway($gateway);
stop_collector($receiver);
is(stop_worker($worker), 0, 'sfworker leaves');
no_surprises($node);
$node->stop;
done_testing();
