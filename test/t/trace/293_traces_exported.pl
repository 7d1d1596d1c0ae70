# Traces from one end to the other: an execution that a session starts within its trace, and one of the AWS API, run a
# SQL task, a child and a command of sfworker; sfgateway exports them, and a collector has one tree for each.
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

my $node = new_node('main');
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE exporter LOGIN;
GRANT EXECUTE ON FUNCTION sf_take_spans, sf_confirm_spans, sf_reject_spans TO exporter;
CREATE ROLE stranger LOGIN;
CREATE SCHEMA shop;
CREATE FUNCTION shop.charge(amount integer) RETURNS integer LANGUAGE sql AS 'SELECT $1';
SELECT sf_create_activity('mail', '30 s', 3);
SELECT sf_create_state_machine('child', '{"StartAt": "Inner", "States": {
	"Inner": {"Type": "Task", "Resource": "sql:shop.charge", "Parameters": {"amount": 1}, "End": true}}}');
SELECT sf_create_state_machine('order', '{"StartAt": "Charge", "States": {
	"Charge": {"Type": "Task", "Resource": "sql:shop.charge", "Parameters": {"amount": 2}, "Next": "Child"},
	"Child": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync",
		"Parameters": {"StateMachineArn": "child", "Name.$": "$$.Execution.Name"}, "Next": "Mail"},
	"Mail": {"Type": "Task", "Resource": "activity:mail", "Parameters": {"Command": ["echo", "sent"]}, "End": true}}}');
SQL
my ($id, $secret) = split /\|/, $node->safe_psql('postgres',
	q{SELECT access_key_id, secret_access_key FROM sf_create_access_key('postgres')});
my $worker = start_worker($node, '-a', 'mail:shell');
my $collector = start_collector();
my %export = (otlp => $collector->{url}, 'otlp-interval' => '200ms', 'otlp-timeout' => '2min',
	'otlp-dsn' => $node->connstr('postgres') . ' user=exporter');
my $gateway = start_gateway($node, %export);

# Wait until the database has nothing to export.
sub all_exported
{
	ended($node);
	return ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.trace_export'), 'all is exported');
}

# The spans of a trace, by their names.
sub trace_of
{
	my $trace = shift;
	return grep { $_->{traceId} eq $trace } spans_of(collected($collector));
}

# Check the spans of one run of the machine with its child, below a span of the caller.
sub check_tree
{
	my ($what, $trace, $caller) = @_;
	my @spans = trace_of($trace);
	my %by_id = map { $_->{spanId} => $_ } @spans;
	is(scalar(keys %by_id), scalar(@spans), "$what: each span arrives once");
	# Write where a span is: the names from the caller's on.
	my $path = sub {
		my $span = shift;
		my @names = $span->{name};
		while (my $parent = $by_id{ $span->{parentSpanId} // '' })
		{
			$span = $parent;
			unshift @names, $span->{name};
		}
		return join ' > ', ($span->{parentSpanId} // '') eq $caller ? 'caller' : 'nothing', @names;
	};
	my $order = 'caller > order';
	my $child = "$order > Child > arn:aws:states:::states:startExecution.sync";
	my @expected = ($order, "$order > Charge", "$order > Charge > SELECT shop.charge", "$order > Child", $child,
		"$child > child", "$child > child > Inner", "$child > child > Inner > SELECT shop.charge",
		"$order > Mail", "$order > Mail > send mail", "$order > Mail > send mail > process mail");
	is(join("\n", sort map { $path->($_) } @spans), join("\n", sort @expected),
		"$what: one tree from the caller to the command of sfworker");
	return;
}

# --- a session within a trace
my $trace = '4bf92f3577b34da6a3ce929d0e0e4736';
$node->safe_psql('postgres', qq{BEGIN; SET LOCAL sfflow.traceparent = '00-$trace-00f067aa0ba902b7-01';
	SELECT sf_start('order', '{}', 'session'); COMMIT});
all_exported();
check_tree('a session', $trace, '00f067aa0ba902b7');
is($node->safe_psql('postgres', q{SELECT status FROM sf_executions WHERE execution_id = 'order:session'}), 'SUCCEEDED',
	'the execution succeeds');

# --- the AWS API
my $started = curl($gateway, '/', '--aws-sigv4', 'aws:amz:us-east-1:states', '--user', "$id:$secret",
	'-H', 'Content-Type: application/x-amz-json-1.0', '-H', 'X-Amz-Target: AWSStepFunctions.StartExecution',
	'-d', JSON::PP->new->encode({ stateMachineArn => 'arn:aws:states:us-east-1:000000000000:stateMachine:order',
		name => 'amazon', input => '{}',
		traceHeader => 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1' }));
is($started->{status}, 200, 'a client of the AWS API starts an execution') or diag $started->{body};
all_exported();
check_tree('the AWS API', '5759e988bd862e3fe1be46a994272793', '53995c3f42cd8ad8');

# --- the gateway is killed while the collector has the request: the same spans again, after the lease
my $answer = "$collector->{folder}/go";
forget_requests($collector);
plan_answers($collector, { hold => $answer });
my $again = '0af7651916cd43dd8448eb211c80319c';
sub start_child
{
	my $options = qq({"trace": "00-$again-b7ad6b7169203331-01"});
	return $node->safe_psql('postgres', "SELECT sf_start('child', '{}', options => '$options')");
}
start_child();
ok(wait_for('a request', sub { scalar asked($collector) }), 'the collector has a request');
kill 'KILL', $gateway->{pid};
waitpid $gateway->{pid}, 0;
append_to_file($answer, '');
ok(wait_for('the request', sub { scalar collected($collector) }), 'which it takes after the gateway was killed');
$gateway = start_gateway($node, %export);
is($node->safe_psql('postgres', 'SELECT count(*) FROM _sfflow.trace_export WHERE lease_until > now()'), 1,
	'the run is due, and leased');
$node->safe_psql('postgres', 'UPDATE _sfflow.trace_export SET lease_until = now() WHERE status = 1');
all_exported();
my @twice = trace_of($again);
my %different = map { canonical($_) => 1 } @twice;
is(scalar(@twice), 6, 'its spans come again');
is(scalar(keys %different), 3, 'and are the same');

# --- what a collector refuses
forget_requests($collector);
plan_answers($collector, { refuse => 'child', message => 'not here' });
start_child();
ok($node->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM sf_health WHERE item = 'traces' AND detail LIKE '%not here'}),
	'sf_health tells what the collector has refused');
stop_gateway($gateway);

# --- a role without the right
$gateway = start_gateway($node, %export, 'otlp-dsn' => $node->connstr('postgres') . ' user=stranger');
ok(wait_for('a failure', sub { gateway_log($gateway) =~ /spans cannot be taken from the database[^\n]*permission denied/ }),
	'a role without the right takes no spans');
stop_gateway($gateway);
is(stop_worker($worker), 0, 'sfworker leaves');
no_surprises($node);
$node->stop;
done_testing();
