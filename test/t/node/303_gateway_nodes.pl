# One sfgateway for three servers: each request of the AWS API is answered by the node that has what it names, lists
# have the rows of all, workers get the tasks of all. One is stopped, and one accepts and says nothing: requests for it
# get an error that names it, all others are served.
# needs: node move access
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my %node = map { $_ => new_node($_,
	conf => "sfflow.workers = 1\nsfflow.node_timeout = 3s\nlog_connections = on\n") } qw(c n1 n2);
my ($c, $n1, $n2) = @node{qw(c n1 n2)};
my @stopped;    # processes that the test has stopped by a signal
END { kill 'CONT', @stopped if @stopped }

sub on { my ($name, $query) = @_; return $node{$name}->safe_psql('postgres', $query) }

my $shell = '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "activity:shell", "End": true}}}';
my $pass = '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}';
my $map = '{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemsPath": "$.items", "End": true, "ItemProcessor":
	{"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P",
	"States": {"P": {"Type": "Pass", "End": true}}}}}}';
for (sort keys %node)
{
	on($_, <<"EOQ");
CREATE ROLE gate LOGIN; CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN;
GRANT alice TO gate;
SELECT sf_create_activity('shell');
SELECT sf_create_state_machine('shell', '$shell'), sf_create_state_machine('pass', '$pass'),
	sf_create_state_machine('map', '$map');
SELECT sf_grant(p, m, 'alice') FROM unnest('{READ,OPERATE,START}'::text[]) p, unnest('{shell,pass,map}'::text[]) m;
SELECT sf_grant('WORK', 'activity:shell', 'alice');
EOQ
}
# The gateway may act for bob on the coordinator alone.
on('c', q{GRANT bob TO gate; GRANT EXECUTE ON FUNCTION sf_access_key, sf_node_addresses TO gate;
	SELECT sf_grant('READ', 'pass', 'bob')});
on('c', 'SELECT sf_set_node(0)');
on('n1', 'SELECT sf_set_node(1)');
on('n2', 'SELECT sf_set_node(2)');
my %place = map { $_ => sprintf 'host=%s port=%d', $node{$_}->host, $node{$_}->port } keys %node;
my $own = JSON::PP->new->utf8;

# Start an execution of each machine on each node; the one of the map has three items.
for (sort keys %node)
{
	on($_, "SELECT sf_start('pass', '{}', '$_'), sf_start('map', '{\"items\": [1, 2, 3]}', '$_')");
	$node{$_}->poll_query_until('postgres',
		q{SELECT count(*) = 5 FROM sf_executions WHERE status = 'SUCCEEDED'}) or die;
}

my ($key) = on('c', q{SELECT access_key_id || ':' || secret_access_key FROM sf_create_access_key('alice')});
my $config = "[key AKIDBOB]\nrole = bob\nsecret = secret\n";

# Call an action by curl, which signs; gives its status and its answer.
sub aws
{
	my ($gateway, $action, $body, $as) = @_;
	my $answer = curl($gateway, '/', '--aws-sigv4', 'aws:amz:us-east-1:states', '--user', $as // $key,
		'-H', 'Content-Type: application/x-amz-json-1.0', '-H', "X-Amz-Target: AWSStepFunctions.$action", '-d',
			$own->encode($body));
	return { %$answer, json => json($answer->{body}) };
}
my $arn = 'arn:aws:states:us-east-1:000000000000';
sub execution { return { executionArn => "$arn:execution:$_[0]" } }

# Call it until a condition on the answer holds: a busy machine may need longer than a node has.
sub soon
{
	my ($holds, @call) = @_;
	my $answer;
	for (1 .. 100)
	{
		$answer = aws(@call);
		last if $holds->($answer);
		sleep 0.2;
	}
	return $answer;
}
sub is_ok { my $answer = shift; return $answer->{status} == 200 }
sub kind { my $answer = shift; return ref $answer->{json} ? $answer->{json}{__type} // 'none' : $answer->{body} }

# --- without the setting

my $single = start_gateway($c, user => 'gate', config => $config);
is(kind(aws($single, 'DescribeExecution', execution('pass:n1'))), 'ExecutionDoesNotExist',
	'without nodes there is one database');
is(on('n1', q{SELECT count(*) FROM pg_stat_activity WHERE usename = 'gate'}), '0',
	'... and no connection to another one');
stop_gateway($single);

# --- no nodes yet, then three

my $gateway = start_gateway($c, user => 'gate', nodes => 'on', config => $config,
	'metrics-dsn' => $c->connstr('postgres') . ' user=postgres');
is(kind(aws($gateway, 'DescribeExecution', execution('pass:n1'))), 'ExecutionDoesNotExist', 'no nodes are known');
is(aws($gateway, 'DescribeExecution', execution('pass:c'))->{json}{status}, 'SUCCEEDED',
	'... the coordinator is served');
stop_gateway($gateway);
on('c', "SELECT sf_add_node(0, 'main'), sf_add_node(1, 'north', '$place{n1}'), sf_add_node(2, 'south', '$place{n2}')");
$gateway = start_gateway($c, user => 'gate', nodes => 'on', config => $config,
	'metrics-dsn' => $c->connstr('postgres') . ' user=postgres');

for my $name (qw(c n1 n2))
{
	my $found = soon(\&is_ok, $gateway, 'DescribeExecution', execution("pass:$name"));
	is($found->{json}{name}, $name, "an execution of $name");
	is($found->{json}{status}, 'SUCCEEDED', '... as it is there');
	is(scalar @{ soon(\&is_ok, $gateway, 'GetExecutionHistory', execution("pass:$name"))->{json}{events} }, 4,
		'... with its history');
	my $runs = soon(\&is_ok, $gateway, 'ListMapRuns', execution("map:$name"))->{json}{mapRuns};
	is(scalar @$runs, 1, "a Map run of $name");
	my $run = { mapRunArn => $runs->[0]{mapRunArn} };
	is(soon(\&is_ok, $gateway, 'DescribeMapRun', $run)->{json}{itemCounts}{succeeded}, 3,
		'... and what it says of itself');
	is(scalar @{ soon(\&is_ok, $gateway, 'ListExecutions', $run)->{json}{executions} }, 3, '... and its executions');
}
is(kind(aws($gateway, 'DescribeExecution', execution('pass:nowhere'))), 'ExecutionDoesNotExist', 'one that is nowhere');
is(kind(aws($gateway, 'DescribeExecution', { executionArn => 'x' })), 'InvalidArn', 'no ARN');
is(kind(aws($gateway, 'DescribeExecution', {})), 'ValidationException', 'a request that names nothing');
is(aws($gateway, 'StartExecution', { stateMachineArn => "$arn:stateMachine:pass", name => 'begun' })->{status},
	200, 'a start');
is(on('c', q{SELECT count(*) FROM sf_executions WHERE name = 'begun'}), '1', '... is the coordinator\'s');
like(curl($gateway, '/metrics')->{body},
	qr/^sfgateway_node_up\{node="1"\} 1\nsfgateway_node_up\{node="2"\} 1$/m, 'metrics tell that nodes answer');

# --- as whom

is(aws($gateway, 'DescribeExecution', execution('pass:c'), 'AKIDBOB:secret')->{status}, 200,
	'a role on the coordinator');
my $barred = aws($gateway, 'DescribeExecution', execution('pass:n1'), 'AKIDBOB:secret');
is(kind($barred), 'AccessDeniedException', 'a role as which the gateway may not act on a node');
is($barred->{json}{message}, 'permission denied to answer as role "bob"', '... which is said');
like(gateway_log($gateway), qr/"a node cannot answer".*"node":"node 1 \(north\)"/, '... and where, in the log');
is(aws($gateway, 'ListExecutions', { stateMachineArn => "$arn:stateMachine:pass" },
	'AKIDBOB:secret')->{headers}{'x-sfflow-missing-nodes'},
	'node 1 (north), node 2 (south)', '... its lists lack these nodes');
on($_, q{GRANT bob TO gate}) for qw(n1 n2);
is(kind(aws($gateway, 'DescribeExecution', execution('pass:n1'), 'AKIDBOB:secret')), 'ExecutionDoesNotExist',
	'what the role may not see there does not exist');
on('n1', q{SELECT sf_grant('READ', 'pass', 'bob')});
is(aws($gateway, 'DescribeExecution', execution('pass:n1'), 'AKIDBOB:secret')->{status}, 200, '... until it may');
is(kind(aws($gateway, 'StopExecution', execution('pass:n1'), 'AKIDBOB:secret')), 'AccessDeniedException',
	'... which is all that it may');

# --- lists

for my $name (qw(n2 c n1))
{
	on($name, "SELECT sf_start('pass', '{}', format('$name-%s', n)) FROM generate_series(1, 5) n");
}
my ($token, @seen, $pages);
do
{
	my $page = soon(sub { is_ok($_[0]) && !exists $_[0]{headers}{'x-sfflow-missing-nodes'} }, $gateway,
		'ListExecutions',
		{ stateMachineArn => "$arn:stateMachine:pass", maxResults => 4, defined $token ? (nextToken => $token) : () });
	push @seen, @{ $page->{json}{executions} };
	$token = $page->{json}{nextToken};
	$pages++;
} while (defined $token && $pages < 20);
is($pages, 5, 'pages of a list');
is(scalar @seen, 19, '... have all executions');
is(scalar(keys %{ { map { $_->{executionArn} => 1 } @seen } }), 19, '... each of them once');
is(join(' ', map { $_->{startDate} } @seen), join(' ', sort { $b <=> $a } map { $_->{startDate} } @seen),
	'... the newest first');
ok(!grep({ exists $_->{pageKey} } @seen), '... without what pages are merged by');
is(kind(aws($gateway, 'ListExecutions', { stateMachineArn => "$arn:stateMachine:none" })),
	'StateMachineDoesNotExist', 'a list of no machine');
is(kind(aws($gateway, 'ListExecutions', { stateMachineArn => "$arn:stateMachine:pass", nextToken => 'x' })),
	'InvalidToken', 'a token that is none');
on('c', qq{SELECT sf_create_state_machine('here', '$pass'), sf_grant('READ', 'here', 'alice'), sf_start('here')});
my $here = aws($gateway, 'ListExecutions', { stateMachineArn => "$arn:stateMachine:here" });
is(scalar @{ $here->{json}{executions} }, 1, 'a machine that nodes do not have');
ok(!exists $here->{headers}{'x-sfflow-missing-nodes'}, '... which does not make them missing');

# --- tasks

my $work = { activityArn => "$arn:activity:shell", workerName => 'w' };
on($_, "SELECT sf_start('shell', '{\"of\": \"$_\"}', 'task')") for sort keys %node;
my %task;
for (1 .. 3)
{
	my $got = aws($gateway, 'GetActivityTask', $work)->{json};
	$task{ json($got->{input})->{of} } = $got->{taskToken};
}
is(join(' ', sort keys %task), 'c n1 n2', 'a worker gets the tasks of all nodes');
is(aws($gateway, 'SendTaskHeartbeat', { taskToken => $task{$_} })->{status}, 200, "a heartbeat of $_")
	for sort keys %task;
is(aws($gateway, 'SendTaskSuccess', { taskToken => $task{$_}, output => "\"$_\"" })->{status}, 200,
	"the answer for $_") for sort keys %task;
for (sort keys %task)
{
	$node{$_}->poll_query_until('postgres',
		q{SELECT status = 'SUCCEEDED' FROM sf_executions WHERE execution_id = 'shell:task'});
	is(on($_, q{SELECT output FROM sf_executions WHERE execution_id = 'shell:task'}), "\"$_\"", '... has come there');
}
is(kind(aws($gateway, 'SendTaskSuccess', { taskToken => $task{n1}, output => '1' })), 'TaskTimedOut',
	'a second answer');
is(kind(aws($gateway, 'SendTaskSuccess', { taskToken => 'x', output => '1' })), 'InvalidToken', 'no token');

# Workers that wait, and a task of each node: each wakes one.
my @waiting = senders($gateway, signed_request($gateway, $key, 'GetActivityTask', $own->encode($work)), 3);
is(read_within($_, 1), '', 'a worker waits') for @waiting;
my $begun = time;
on($_, "SELECT sf_start('shell', '{\"of\": \"$_\"}', 'waited')") for sort keys %node;
my %got = map { my $text = read_within($_, 30); $text =~ /\\"of\\": ?\\"(\w+)\\"/ ? ($1 => 1) : ($text => 1) } @waiting;
is(join(' ', sort keys %got), 'c n1 n2', 'workers that wait get the new tasks of all nodes');
cmp_ok(time - $begun, '<', 20, '... soon');
close $_ for @waiting;

# --- an execution that has moved

on('n2', "SELECT sf_add_node(1, 'north', '$place{n1}'), sf_add_node(2, 'south')");
on('n1', q{SELECT sf_start('shell', '{"of": "n1"}', jsonb_build_object('name', name, 'key', 'k'))
	FROM unnest('{moves,stays,later}'::text[]) name});
my (%moved, $last);
for (1 .. 3)
{
	my $got = soon(sub { exists $_[0]{json}{taskToken} }, $gateway, 'GetActivityTask', $work)->{json};
	$moved{$got->{taskToken}} = 1;
	$last = $got->{taskToken};
}
delete $moved{$last};
is(aws($gateway, 'DescribeExecution', execution('shell:moves'))->{json}{status}, 'RUNNING',
	'an execution, which moves then');
is(on('n2', q{CALL sf_move_key('k', 1)}), '3', '... with others');
is(on('n1', q{SELECT count(*) FROM sf_executions WHERE name = 'moves'}), '0', '... to another node');
is(aws($gateway, 'DescribeExecution', execution('shell:moves'))->{json}{status}, 'RUNNING', '... is found there');
is(aws($gateway, 'SendTaskSuccess', { taskToken => $_, output => '1' })->{status}, 200,
	'a token from before is answered') for sort keys %moved;
my $answered = q{SELECT count(*) FROM sf_executions
	WHERE status = 'SUCCEEDED' AND name IN ('moves', 'stays', 'later')};
ok($n2->poll_query_until('postgres', $answered, '2'), '... there');

# Its new node is down: only that node can say whether the task still waits.
my $answer = [ 'SendTaskSuccess', { taskToken => $last, output => '1' } ];
$n2->stop;
my $refused = soon(sub { ($_[0]{json}{message} // '') =~ /since/ || kind($_[0]) ne 'ServiceUnavailableException' },
	$gateway, @$answer);
is($refused->{status}, 503, '... not while the new node is down');
like($refused->{json}{message}, qr/^node 2 \(south\) has not answered since /, '... which is named');
$n2->start;
is(soon(sub { $_[0]{status} != 503 }, $gateway, @$answer)->{status}, 200, '... and again when it is back');
ok($n2->poll_query_until('postgres', $answered, '3'), '... there');
is(kind(soon(sub { $_[0]{status} != 503 }, $gateway, @$answer)), 'TaskTimedOut', 'a second answer');

# --- a node is down

on('n1', q{SELECT sf_start('shell', '{"of": "n1"}', 'open')});
my $held = aws($gateway, 'GetActivityTask', $work)->{json}{taskToken};
$n1->stop('immediate');
my $silent = qr/^node 1 \(north\) has not answered since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
my $down = soon(sub { ref $_[0]{json} && ($_[0]{json}{message} // '') =~ $silent }, $gateway,
	'DescribeExecution', execution('pass:n1'));
is($down->{status}, 503, 'a node is down: requests for it get an error');
is(kind($down), 'ServiceUnavailableException', '... of the service');
like($down->{json}{message}, $silent, '... that names the node');
$begun = time;
like(aws($gateway, $_->[0], $_->[1])->{json}{message}, $silent, "... so does $_->[0]") for [ 'StopExecution',
	execution('pass:n1') ],
  [ 'GetExecutionHistory', execution('pass:n1') ], [ 'SendTaskSuccess', { taskToken => $held, output => '1' } ];
cmp_ok(time - $begun, '<', 30, '... at once');
is(aws($gateway, 'DescribeExecution', execution("pass:$_"))->{json}{name}, $_, "$_ is served") for qw(c n2);
like(aws($gateway, 'DescribeExecution', execution('pass:nowhere'))->{json}{message}, $silent,
	'what is nowhere may be on the node that is down');
my $lacking = aws($gateway, 'ListExecutions', { stateMachineArn => "$arn:stateMachine:pass" });
is(scalar @{ $lacking->{json}{executions} }, 13, 'a list has the executions of the others');
is($lacking->{headers}{'x-sfflow-missing-nodes'}, 'node 1 (north)', '... and a header that names the node');
like(gateway_log($gateway), qr/"a list lacks nodes".*"nodes":"node 1 \(north\)"/, '... as the log does');
like(curl($gateway, '/metrics')->{body},
	qr/^sfgateway_node_up\{node="1"\} 0\nsfgateway_node_up\{node="2"\} 1$/m, 'metrics tell that it does not answer');
on('n2', q{SELECT sf_start('shell', '{"of": "n2"}', 'meanwhile')});
is(json(aws($gateway, 'GetActivityTask', $work)->{json}{input})->{of}, 'n2', 'workers get tasks of the others');
my ($waits) = senders($gateway, signed_request($gateway, $key, 'GetActivityTask', $own->encode($work)), 1);
is(read_within($waits, 1), '', '... and wait for more');
$n1->start;
is(soon(\&is_ok, $gateway, 'DescribeExecution', execution('pass:n1'))->{json}{name}, 'n1', 'it is back: it is served');
on('n1', q{SELECT sf_start('shell', '{"of": "n1"}', 'back')});
like(read_within($waits, 30), qr/\\"of\\": ?\\"n1\\"/, '... a worker that has waited meanwhile gets its task');
is(soon(\&is_ok, $gateway, 'SendTaskSuccess', { taskToken => $held, output => '1' })->{status}, 200,
	'... and an answer is taken');

# --- a node accepts and says nothing, with calls under way

@stopped = split /\n/, on('n2', q{SELECT pid FROM pg_stat_activity WHERE usename = 'gate'});
push @stopped, split /\n/, slurp_file($n2->data_dir . '/postmaster.pid') =~ s/\n.*//sr;
kill 'STOP', @stopped;
$begun = time;
my $hangs = aws($gateway, 'DescribeExecution', execution('pass:n2'));
my $took = time - $begun;
is($hangs->{status}, 503, 'a node says nothing: a request for it gets an error');
like($hangs->{json}{message}, qr/^node 2 \(south\) has not answered since /, '... that names it');
cmp_ok($took, '<', 30, '... after sfflow.node_timeout');
my @took;
for (1 .. 5)
{
	$begun = time;
	like(aws($gateway, 'DescribeExecution', execution('pass:n2'))->{json}{message},
		qr/^node 2 \(south\) has not answered since /, 'the next one, too');
	push @took, time - $begun;
}
# It waits for the node no more: a busy machine delays some of the requests, not each by sfflow.node_timeout.
cmp_ok((sort { $a <=> $b } @took)[0], '<', 2.5, '... at once');
is(aws($gateway, 'DescribeExecution', execution("pass:$_"))->{json}{name}, $_, "$_ is served") for qw(c n1);
kill 'CONT', @stopped;
@stopped = ();
is(soon(\&is_ok, $gateway, 'DescribeExecution', execution('pass:n2'))->{json}{name}, 'n2', 'it goes on: it is served');

# --- a node is dropped: the gateway looks again when one falls silent

on('c', 'SELECT sf_drop_node(2)');
$n1->stop;
my $dropped = q{SELECT count(*) FROM pg_stat_activity WHERE usename = 'gate'};
ok($n2->poll_query_until('postgres', $dropped, '0'), 'a node that was dropped has no connections');
$n1->start;
soon(\&is_ok, $gateway, 'DescribeExecution', execution('pass:n1'));
is(kind(aws($gateway, 'DescribeExecution', execution('pass:n2'))), 'ExecutionDoesNotExist', '... and is not asked');
stop_gateway($gateway);

# --- a start by key: the coordinator names the node

for (qw(c n1))
{
	on($_, <<"EOQ");
CREATE SCHEMA stub; GRANT USAGE ON SCHEMA stub TO gate;
CREATE TABLE stub.started (action text, request jsonb); GRANT ALL ON stub.started TO gate;
CREATE FUNCTION stub.sf_aws_api_as(role name, action text, request jsonb) RETURNS jsonb LANGUAGE plpgsql AS \$\$ BEGIN
	IF '$_' = 'c' AND request ? 'input' THEN
		RAISE EXCEPTION USING ERRCODE = 'SF041', MESSAGE = 'elsewhere', TABLE = request ->> 'input'; END IF;
	INSERT INTO stub.started VALUES (action, request);
	RETURN jsonb_build_object('executionArn', '$arn:execution:pass:' || (request ->> 'name')); END \$\$;
CREATE FUNCTION stub.sf_mcp_as(role name, method text, params jsonb) RETURNS SETOF jsonb LANGUAGE sql
	AS \$\$ SELECT params -> 'nodes' WHERE method = 'tools/call' \$\$;
EOQ
}
on('c', q{CREATE FUNCTION stub.sf_node_addresses(OUT node int, OUT name text,
	OUT dsn text) RETURNS SETOF record LANGUAGE sql SECURITY DEFINER
	AS $$ SELECT * FROM public.sf_node_addresses() $$});
$gateway = start_gateway($c, user => 'gate', schema => 'stub', nodes => 'on', config => $config, mcp => 'on');
is(soon(\&is_ok, $gateway, $_, { name => $_, input => '1' }, 'AKIDBOB:secret')->{status}, 200,
	"$_ of a key that is at home elsewhere")
  for qw(StartExecution StartSyncExecution);
is(on('n1', 'SELECT count(*) FROM stub.started'), '2', '... is made there');
is(aws($gateway, 'StartExecution', { name => 'x' }, 'AKIDBOB:secret')->{status}, 200, 'a start without a key');
is(on('c', 'SELECT count(*) FROM stub.started'), '1', '... is the coordinator\'s');
is(kind(aws($gateway, 'StartExecution', { name => 'y', input => '9' }, 'AKIDBOB:secret')),
	'ValidationException', 'a node that is not known');

# --- a node gives an answer that is none, and no error of the server: a node of another release, or libpq has the error

my $list = curl($gateway, '/mcp', map({ ('-H', $_) } 'Content-Type: application/json', 'Accept: application/json',
	'Authorization: Bearer AKIDBOB:secret'), '-d', $own->encode({ jsonrpc => '2.0', id => 1,
	method => 'tools/call', params => { name => 'tonight', arguments => {} } }));
is_deeply(json($list->{body})->{result}, [ { node => 1, name => 'north', error => 'it gave no answer' } ],
	'a node without a row has given no answer') or diag $list->{body};
stop_gateway($gateway);

done_testing;
