# The console and agents over three servers: what names an execution is answered by the node that has it, with the
# rights of the role there. One node is stopped: what it may have gets an error that names it, all others are served.
# needs: node access hold
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

my %node = map { $_ => new_node($_, conf => "sfflow.workers = 1\nsfflow.node_timeout = 3s\n") } qw(c n1 n2);
sub on { my ($name, $query) = @_; return $node{$name}->safe_psql('postgres', $query) }

my $pass = '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}';
my $wait = '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 100000, "End": true}}}';
my $work = '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.work", "Next": "M"}, "M": {
	"Type": "Map", "Items": [1, 2], "ToleratedFailureCount": 2, "ItemProcessor": {
	"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "F", "States": {
	"F": {"Type": "Fail"}}}, "QueryLanguage": "JSONata", "End": true}}}';
my $number = 0;
for (qw(c n1 n2))
{
	on($_, <<"EOQ");
CREATE ROLE gate LOGIN; CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE carol LOGIN;
CREATE ROLE dave LOGIN;
GRANT alice, bob, dave TO gate;
CREATE FUNCTION work(jsonb) RETURNS jsonb LANGUAGE sql RETURN \$1;
SELECT sf_create_state_machine('pass', '$pass'), sf_create_state_machine('wait', '$wait'),
	sf_create_state_machine('work', '$work');
SELECT sf_grant(p, m, 'alice') FROM unnest('{READ,OPERATE,START}'::text[]) p, unnest('{pass,wait,work}'::text[]) m;
SELECT sf_grant('READ', m, 'bob'), sf_grant('READ', m, 'carol') FROM unnest('{pass,wait}'::text[]) m;
EOQ
	on($_, "SELECT sf_set_node($number)");
	on($_, qq[SELECT sf_start('pass', '{"of": "$_"}', '$_')]);
	on($_, "SELECT sf_start(m, '{}', '$_') FROM unnest('{wait,work}'::text[]) m");
	$node{$_}->poll_query_until('postgres', q{SELECT count(*) = 2 FROM sf_executions
		WHERE execution_id IN ('pass:' || name, 'work:' || name) AND status = 'SUCCEEDED'}) or die;
	$number++;
}
my %place = map { $_ => sprintf 'host=%s port=%d', $node{$_}->host, $node{$_}->port } keys %node;
on('c', 'GRANT EXECUTE ON FUNCTION sf_access_key, sf_node_addresses TO gate');
on('c', "SELECT sf_add_node(0, 'main'), sf_add_node(1, 'north', '$place{n1}'), sf_add_node(2, 'south', '$place{n2}')");
my $config = "[key AKIDALICE]\nrole = alice\nsecret = secret\n[key AKIDBOB]\nrole = bob\nsecret = secret\n";
my $gateway = start_gateway($node{c}, user => 'gate', nodes => 'on', config => $config, 'console-trust' => 'on',
	mcp => 'on', 'mcp-write' => 'stop');
my $own = JSON::PP->new->canonical->utf8;
my @json = ('-H', 'Content-Type: application/json');

# Sign in; gives what sends the requests of the session.
sub session
{
	my $options = sign_in($gateway, shift, 'p');
	return sub {
		my ($action, $body) = @_;
		my $got = curl($gateway, "/console/api/$action", @$options, '-d', $own->encode($body));
		return { %$got, json => json($got->{body}) };
	};
}

# Call something until it has a status: a busy machine may need longer than a node has.
sub soon
{
	my ($status, $call, @arguments) = @_;
	my $answer;
	for (1 .. 100)
	{
		$answer = $call->(@arguments);
		last if $answer->{status} == $status;
		sleep 0.2;
	}
	return $answer;
}
my ($alice, $bob, $carol, $dave) = map { session($_) } qw(alice bob carol dave);

# --- pages of an execution

for (qw(c n1 n2))
{
	my $id = { execution_id => "pass:$_" };
	my $page = soon(200, $alice, 'execution', $id);
	is($page->{json}{execution}{input}{text}, qq({"of": "$_"}), "the page of an execution of $_");
	is_deeply($page->{json}{rights}{pass}, [ 'START', 'OPERATE' ], '... and what the role may do');
	is($alice->('events', $id)->{json}{rows}[0]{type}, 'ExecutionStarted', '... its history');
	my $picture = $alice->('layout', { target => "pass:$_" });
	is($picture->{json}{states}[0]{name}, 'P', '... its picture') or diag $picture->{body};
	is($alice->('payload', { %$id, what => 'input' })->{json}{text}, qq({"of": "$_"}), '... its input');
	my $work = { execution_id => "work:$_" };
	my $jobs = $alice->('jobs', $work);
	is_deeply([ map { "$_->{job_id} $_->{job_status}" } @{ $jobs->{json}{rows} } ], ['T success'],
		'... the jobs of one with a Task') or diag $jobs->{body};
	my $times = $alice->('timeline', $work);
	is_deeply([ map { "$_->{state} $_->{status}" } @{ $times->{json}{rows} } ], [ 'T success', 'M success' ],
		'... its timeline') or diag $times->{body};
	is($times->{json}{usual}{T}{runs}, 1, '... how long its jobs take there');
	is($alice->('state', { %$work, state => 'T' })->{json}{visits}[0]{job_id}, 'T', '... a state of it');
	my $items = on($_, qq{SELECT string_agg(execution_id, ' ' ORDER BY execution_id COLLATE "C") FROM sf_executions
		WHERE parent_execution_id = 'work:$_'});
	my $listed = $alice->('executions', { parent => "work:$_" });
	is(join(' ', sort map { $_->{execution_id} } @{ $listed->{json}{rows} }), $items, '... the items of its Map');
	like($items, qr/^work\S+ work\S+$/, '... which are two');
}
my $none = $alice->('execution', { execution_id => 'pass:nowhere' });
is($none->{status}, 404, 'an execution that is nowhere') or diag $none->{body};
is($none->{json}{error}{sqlstate}, 'SF005', '... does not exist');
is_deeply($alice->('jobs', { execution_id => 'pass:nowhere' })->{json}{rows}, [], '... and has no jobs');
is($alice->('machine', { state_machine => 'pass' })->{status}, 200, 'machines are the coordinator\'s');

# --- actions, with the rights of the role there

is($bob->('execution', { execution_id => 'wait:n1' })->{json}{execution}{status}, 'RUNNING', 'a reader reads');
my %refused;
for (qw(c n1))
{
	my $answer = $bob->('stop', { targets => ["wait:$_"] });
	$refused{$_} = $answer->{status} . ' ' . $answer->{body} =~ s/wait:$_/wait:it/gr;
}
like($refused{c}, qr/^403 .*42501/, '... and may not stop');
is($refused{n1}, $refused{c}, '... which another node refuses in the same words');
for my $action (['execution', 'execution_id'], ['stop', 'targets'])
{
	my ($name, $member) = @$action;
	for (qw(c n1))
	{
		my $answer = $dave->($name, { $member => $member eq 'targets' ? ["pass:$_"] : "pass:$_" });
		$refused{$_} = $answer->{status} . ' ' . $answer->{body} =~ s/pass:$_/pass:it/gr;
	}
	like($refused{c}, qr/^404 .*SF005/, "$name of an execution that the role may not read: there is none");
	is($refused{n1}, $refused{c}, '... nor on another node');
}
is(on('n1', q{SELECT status FROM sf_executions WHERE execution_id = 'wait:n1'}), 'RUNNING', '... which is not done');
on('n1', q{SELECT sf_grant('OPERATE', 'wait', 'bob')});
is($bob->('stop', { targets => ['wait:n1'], reason => 'enough' })->{json}{rows}[0]{target}, 'wait:n1',
	'until the role may, on this node');
is(on('n1', q{SELECT status || ' ' || cause FROM sf_executions WHERE execution_id = 'wait:n1'}), 'ABORTED enough',
	'... so it is stopped');
is(on('n1', q{SELECT role FROM sf_audit WHERE execution_id = 'wait:n1' AND action = 'stop'}), 'bob',
	'... by the role');
is($bob->('plan', { execution_id => 'wait:n1' })->{status}, 200, 'what a redrive would run');
is(on('n1', q{SELECT status FROM sf_executions WHERE execution_id = 'wait:n1'}), 'ABORTED',
	'... is tried and taken back');
is($alice->('redrive', { targets => ['wait:n1'] })->{status}, 200, 'a redrive');
is(on('n1', q{SELECT status FROM sf_executions WHERE execution_id = 'wait:n1'}), 'RUNNING', '... is done there');
is($alice->('hold', { targets => ['wait:n2'], reason => 'later' })->{status}, 200, 'a hold');
is(on('n2', q{SELECT target FROM sf_holds}), 'wait:n2', '... is there');
is($alice->('execution', { execution_id => 'wait:n2' })->{json}{held}[0]{held_by}, 'alice', '... as the page tells');
is($alice->('hold', { targets => ['wait'] })->{status}, 200, 'a hold of a machine');
is(on('c', q{SELECT target FROM sf_holds}), 'wait', '... is the coordinator\'s');
my $barred = $carol->('execution', { execution_id => 'pass:n1' });
like($barred->{json}{error}{message}, qr/permission denied to answer as role "carol"/,
	'a role as which the gateway may not act on nodes');
is($barred->{status}, 403, '... is refused');
is($carol->('execution', { execution_id => 'pass:c' })->{status}, 200, '... has the coordinator\'s executions');

# --- the function by which a node answers

sub as_gate
{
	my ($query) = @_;
	my ($out, $err);
	$node{n2}->psql('postgres', "SET SESSION AUTHORIZATION gate; $query", stdout => \$out, stderr => \$err);
	return $out . $err;
}
my $stop = q('stop', '{"targets": ["wait:n2"]}');
like(as_gate(q{SELECT sf_console_api_as('alice', 'execution', '{"execution_id": "pass:n2"}')}), qr/"pass:n2"/,
	'a member of the role is answered');
like(as_gate("SELECT sf_console_api_as('carol', $stop, true)"), qr/permission denied to answer as role "carol"/,
	'another one is not');
like(as_gate("SELECT sf_console_api_as('nobody', $stop, true)"), qr/permission denied to answer as role "nobody"/,
	'... as of a role that is not there');
like(as_gate("SELECT sf_console_api_as('bob', $stop, true)"), qr/permission denied for state machine "wait"/,
	'the rights are those of the role');
like(as_gate("SELECT sf_console_api_as('alice', $stop)"), qr/in a read-only transaction/,
	'what writes must be said to');
like(as_gate("BEGIN READ ONLY; SELECT sf_console_api_as('alice', $stop, true)"), qr/in a read-only transaction/,
	'... and does not in a transaction that reads');
on('n2', 'CREATE FUNCTION lent() RETURNS jsonb LANGUAGE sql SECURITY DEFINER '
	  . "RETURN sf_console_api_as('alice', $stop, true)");
like(as_gate('SELECT lent()'), qr/cannot be called within a security-definer function/,
	'not in a function with the rights of its owner');
like(as_gate(q{SELECT sf_console_api_as('alice', NULL, '{}')}), qr/argument action must not be null/, 'no action');
is(on('n2', q{SELECT status FROM sf_executions WHERE execution_id = 'wait:n2'}), 'RUNNING', 'nothing is done');

# --- agents

sub tool
{
	my ($key, $name, $arguments) = @_;
	my $call = { name => $name, arguments => $arguments };
	my $got = curl($gateway, '/mcp', @json, '-H', 'Accept: application/json', '-H',
		"Authorization: Bearer $key:secret", '-d',
		$own->encode({ jsonrpc => '2.0', id => 1, method => 'tools/call', params => $call }));
	return json($got->{body})->{result};
}
for (qw(c n1 n2))
{
	my $answer = tool('AKIDALICE', 'execution_status', { execution_id => "pass:$_" });
	is($answer->{structuredContent}{status}, 'SUCCEEDED', "an agent asks for an execution of $_")
	  or diag explain $answer;
}
like(tool('AKIDALICE', 'execution_status', { execution_id => 'pass:nowhere' })->{content}[0]{text},
	qr/there is no execution "pass:nowhere"/, '... for one that is nowhere');
ok(tool('AKIDALICE', 'list_executions', {})->{structuredContent}{executions}, '... for a list');
ok(tool('AKIDBOB', 'stop', { execution_id => 'wait:n2' })->{isError}, '... and cannot stop without the right');
is(tool('AKIDALICE', 'stop', { execution_id => 'wait:n2' })->{structuredContent}{status}, 'ABORTED', '... and with it');
is(on('n2', q{SELECT status FROM sf_executions WHERE execution_id = 'wait:n2'}), 'ABORTED', '... there');

# --- a node is down

my $other = { targets => ['schedule:none'], kind => 'missed_run' };
my $refusal = $alice->('acknowledge', $other);
$node{n1}->stop('immediate');
my $silent = qr/^node 1 \(north\) has not answered since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
my $down = soon(503, $alice, 'execution', { execution_id => 'pass:n1' });
$down = $alice->('execution', { execution_id => 'pass:n1' })
  for grep { $down->{json}{error}{message} !~ $silent } 1 .. 20;
like($down->{json}{error}{message}, $silent, 'a page of an execution whose node is down names the node');
is($down->{status}, 503, '... and is an error of the service');
my $begun = time;
is($alice->('execution', { execution_id => "pass:$_" })->{status}, 200, "$_ is served") for qw(c n2);
is($alice->('tonight', {})->{status}, 200, '... and so are the lists');
is($alice->('acknowledge', $other)->{body}, $refusal->{body}, '... and alerts of what is no execution');
cmp_ok(time - $begun, '<', 20, '... at once');
like(tool('AKIDALICE', 'execution_status', { execution_id => 'pass:n1' })->{content}[0]{text}, $silent,
	'agents are told, too');
$node{n1}->start;
is(soon(200, $alice, 'execution', { execution_id => 'pass:n1' })->{status}, 200, 'it is back: it is served');

# --- the role loses its password on the coordinator: its session ends, whichever node has the execution

on('c', 'ALTER ROLE alice NOLOGIN');
is($alice->('execution', { execution_id => 'pass:n2' })->{status}, 401, 'a role that may not log in any more');
stop_gateway($gateway);

done_testing;
