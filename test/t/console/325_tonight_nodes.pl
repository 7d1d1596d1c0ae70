# Tonight over three servers: what failed, is late, runs, is held and was planned on all nodes, with the node of each
# row and the rights of the role there; what was counted is summed. A node that is stopped is named.
# needs: node access hold limit mcp
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep);

my @names = qw(c n1 n2);
my %node = map { $_ => new_node($_, conf => "sfflow.workers = 1\nsfflow.node_timeout = 3s\n") } @names;
sub on { my ($name, $query) = @_; return $node{$name}->safe_psql('postgres', $query) }

my $fail = '{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "E", "Cause": "of ' . "%s" . '"}}}';
my $wait = '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 100000, "End": true}}}';
my $pass = '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}';
my $number = 0;
for (@names)
{
	my $definition = sprintf $fail, $_;
	on($_, <<"EOQ");
CREATE ROLE gate LOGIN; CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE carol LOGIN;
GRANT alice, bob TO gate;
SELECT sf_create_state_machine('fail', '$definition'), sf_create_state_machine('wait', '$wait'),
	sf_create_state_machine('pass', '$pass'), sf_create_state_machine('full', '$wait');
SELECT sf_grant(p, m, 'alice') FROM unnest('{READ,OPERATE}'::text[]) p, unnest('{fail,wait,pass,full}'::text[]) m;
SELECT sf_grant('READ', 'fail', 'carol');
EOQ
	on($_, 'SELECT sf_set_node(' . $number++ . ')');
}
on('n1', q{SELECT sf_grant('READ', m, 'bob') FROM unnest('{fail,wait}'::text[]) m});

# All start one after the other, so their times are in this order.
my @order;
for my $i (1 .. 2)
{
	for (@names)
	{
		on($_, "SELECT sf_start('fail', '{}', '$_$i')");
		on($_, "SELECT sf_start('wait', '{}', '$_$i'), sf_start('pass', '{}', '$_$i')");
		push @order, "$_$i";
	}
}
on('n2', q{SELECT sf_set_limit('full', max_running => 1)});
on('n2', "SELECT sf_start('full', '{}', '$_')") for qw(n2a n2b);
for (@names)
{
	$node{$_}->poll_query_until('postgres', q{SELECT count(*) = 4 FROM sf_executions
		WHERE execution_id ~ '^(fail|pass)' AND status <> 'RUNNING'}) or die;
	$node{$_}->poll_query_until('postgres',
		q{SELECT count(*) = 2 FROM sf_executions WHERE execution_id ~ '^wait' AND started_at IS NOT NULL}) or die;
}
$node{n2}->poll_query_until('postgres', q{SELECT waiting = 1 FROM sf_limits WHERE target = 'full'}) or die;
on('c', q{SELECT sf_hold('pass', reason => 'here')});
on('n1', q{SELECT sf_hold('pass', reason => 'there'), sf_hold('wait:n11', reason => 'one')});
my %place = map { $_ => sprintf 'host=%s port=%d', $node{$_}->host, $node{$_}->port } @names;
on('c', 'GRANT EXECUTE ON FUNCTION sf_access_key, sf_node_addresses TO gate');
my $config = "[key AKID]\nrole = alice\nsecret = secret\n";
my %how = (user => 'gate', nodes => 'on', config => $config, 'console-trust' => 'on', mcp => 'on');
my $gateway = start_gateway($node{c}, %how);
my $own = JSON::PP->new->canonical->utf8;

# Sign in; gives what sends the requests of the session.
sub session
{
	my $options = sign_in($gateway, shift, 'p');
	return sub {
		my ($action, $body) = @_;
		my $got = curl($gateway, "/console/api/$action", @$options, '-d', $own->encode($body // {}));
		diag $got->{body} if $got->{status} != 200;
		return json($got->{body});
	};
}

# The rows of a part of an answer, each with its node.
sub rows
{
	my ($list, @members) = @_;
	return [ map { my $row = $_; join ' ', $row->{node} // '-', map { $row->{$_} } @members } @$list ];
}

# Call a tool of agents; gives what it answers.
sub tool
{
	my ($name, $arguments) = @_;
	my $call = { name => $name, arguments => $arguments // {} };
	my $got = curl($gateway, '/mcp', '-H', 'Content-Type: application/json', '-H', 'Authorization: Bearer AKID:secret',
		'-d', $own->encode({ jsonrpc => '2.0', id => 1, method => 'tools/call', params => $call }));
	my $result = json($got->{body})->{result};
	diag $got->{body} if !$result || $result->{isError};
	return $result->{structuredContent} // {};
}

# Ask until an answer is as it should be: a busy machine may need longer than a node has.
sub soon
{
	my ($is_good, $call, @arguments) = @_;
	my $answer;
	for (1 .. 100)
	{
		$answer = $call->(@arguments);
		last if $is_good->($answer);
		sleep 0.2;
	}
	return $answer;
}
my $whole = sub { @{ $_[0]{nodes_missing} // ['?'] } == 0 };

# --- the coordinator alone, before it has nodes

my $alice = session('alice');
my $alone = $alice->('tonight');
is_deeply($alone->{kinds}, { failed => 2 }, 'without nodes Tonight has what the coordinator has');
is_deeply($alone->{nodes_missing}, [], '... and lacks none');
on('c', "SELECT sf_add_node(0, 'main'), sf_add_node(1, 'north', '$place{n1}'), sf_add_node(2, 'south', '$place{n2}')");
stop_gateway($gateway);
$gateway = start_gateway($node{c}, %how, port => $gateway->{port});
my ($bob, $carol);
($alice, $bob, $carol) = map { session($_) } qw(alice bob carol);

# --- rows

my $now = soon(sub { $whole->(@_) && @{ $_[0]{failed} } == 3 }, $alice, 'tonight');
is_deeply([ sort(rows($now->{failed}, qw(state_machine error n))->@*) ],
	[ '- fail E 2', 'north fail E 2', 'south fail E 2' ], 'what failed, by node');
is_deeply([ map { $_->{since} } @{ $now->{failed} } ], [ reverse sort map { $_->{since} } @{ $now->{failed} } ],
	'... the latest first');
is_deeply([ map { $_->{cause}{text} } sort { ($a->{node} // '') cmp ($b->{node} // '') } @{ $now->{failed} } ],
	[ 'of c', 'of n1', 'of n2' ], '... with its cause there');
is_deeply([ grep { $_->{node} && "@{ $_->{rights} }" ne 'OPERATE' } @{ $now->{failed} } ], [],
	'... and what the role may do there');
is_deeply($now->{cut}, [], 'no list of Tonight leaves rows out');
my $all = 0;
$all += $_ for values %{ $now->{kinds} };
for my $limit ($all, $all - 1)
{
	my $alerts = soon($whole, $alice, 'alerts', { limit => $limit });
	is(scalar @{ $alerts->{rows} }, $limit, "$limit alerts of all nodes");
	is_deeply($alerts->{cut}, $limit < $all ? ['rows'] : [], '... and whether there are more');
}
my %named = (c => '-', n1 => 'north', n2 => 'south');
is_deeply([ map { $_->{state_machine} eq 'wait' ? "$_->{execution_id}" : () } @{ $now->{running} } ],
	[ map { "wait:$_" } @order ], 'what runs, the longest first');
is_deeply([ grep { !/^\S+ full/ } rows($now->{running}, 'execution_id')->@* ],
	[ map { $named{s/.$//r} . " wait:$_" } @order ], '... with its node');
is_deeply([ sort(rows($now->{ended}, qw(state_machine further))->@*) ], [ '- pass 1', 'north pass 1', 'south pass 1' ],
	'what has ended well');
is_deeply([ sort(rows($now->{held}, qw(target reason may_release))->@*) ],
	[ '- pass here 1', 'north pass there 0', 'north wait:n11 one 1' ],
	'what is held; what is no execution is released on its node alone');
is_deeply(rows($now->{limits}, qw(target waiting may_change)), ['south full 1 0'], 'limits that are used up');
my $night = soon($whole, $alice, 'night');
is_deeply([ grep { /fail/ } sort(rows($night->{rows}, qw(name state n))->@*) ],
	[ '- fail FAILED 2', 'north fail FAILED 2', 'south fail FAILED 2' ], 'the night of all nodes');
is_deeply([ map { $_->{first_planned} } @{ $night->{rows} } ], [ sort map { $_->{first_planned} } @{ $night->{rows} } ],
	'... in the order of time');

# --- sums

is_deeply($now->{kinds}, { failed => 6 }, 'alerts are counted together');
is($now->{running_count}, 8, '... and what runs');
is_deeply([ map { "$_->{state_machine} $_->{started} $_->{failed}" } @{ $now->{machines} } ],
	[ 'fail 6 6', 'pass 6 0', 'wait 6 0', 'full 1 0' ], '... and starts and ends by machine');
my %hours;
for my $hour (@{ $now->{hours} }) { $hours{$_} += $hour->{$_} for qw(started succeeded failed aborted) }
is_deeply(\%hours, { started => 19, succeeded => 6, failed => 6, aborted => 0 }, '... and by hour');
my %seen;
is_deeply([ grep { $seen{ $_->{hour} }++ } @{ $now->{hours} } ], [], '... of which each is once');

# --- the tools of agents

my $told = tool('tonight');
is_deeply($told->{alerts}, { failed => 6 }, 'agents are told of tonight over all nodes');
is_deeply([ sort(rows($told->{failed}, 'executions')->@*) ], [ '- 2', 'north 2', 'south 2' ], '... with the nodes');
is($told->{running_count}, 8, '... and how much runs');
is_deeply($told->{nodes_missing}, [], '... of which none is missing');
my $failing = tool('late_or_failing');
is_deeply($failing->{counts}, { failed => 6 }, '... of alerts');
is_deeply([ sort map { $_->{execution_id} } @{ $failing->{alerts} } ], [ sort map { "fail:$_" } @order ], '... each');
is_deeply([ map { $_->{since} } @{ $failing->{alerts} } ],
	[ reverse sort map { $_->{since} } @{ $failing->{alerts} } ], '... the latest first');
ok(!$failing->{cut}, '... which is all');
my $cut = tool('late_or_failing', { limit => 4 });
is(scalar @{ $cut->{alerts} }, 4, '... or no more than asked for');
ok($cut->{cut}, '... with a word of it');
my $waiting = tool('waiting_on', { state_machine => 'wait' });
is_deeply([ map { $_->{execution_id} } @{ $waiting->{executions} } ], [ reverse map { "wait:$_" } @order ],
	'... of what runs, the newest first');
my $one = tool('waiting_on', { execution_id => 'wait:n11' });
is($one->{executions}[0]{execution_id}, 'wait:n11', '... or of one there');
my ($key, @listed);
do
{
	my $page = tool('list_executions', { state_machine => 'fail', limit => 4, $key ? (page_key => $key) : () });
	push @listed, map { $_->{execution_id} } @{ $page->{executions} };
	$key = $page->{next_page_key};
} while ($key && @listed < 20);
is_deeply(\@listed, [ reverse map { "fail:$_" } @order ], '... of executions, page by page');

# --- rights are those on the node

my $less = soon(sub { $whole->(@_) && @{ $_[0]{failed} } }, $bob, 'tonight');
ok($less->{sees}, 'a role that may read machines of another node alone sees something');
is_deeply(rows($less->{failed}, 'n'), ['north 2'], '... which is there');
is_deeply($less->{failed}[0]{rights}, [], '... where it may do nothing');
is($less->{running_count}, 2, '... and is all that is counted');
my $barred = $carol->('tonight');
is_deeply(rows($barred->{failed}, 'n'), ['- 2'], 'a role as which the gateway may not act on nodes');
is_deeply([ map { $_->{name} } @{ $barred->{nodes_missing} } ], [ 'north', 'south' ], '... is told which are missing');

# --- what is done with a failure is done there

my $executions = (grep { ($_->{node} // '') eq 'north' } @{ $now->{failed} })[0]{executions};
$alice->('acknowledge', { targets => [$_], kind => 'failed', reason => 'seen' }) for @$executions;
is_deeply([ sort(rows($alice->('tonight')->{failed}, 'n')->@*) ], [ '- 2', 'south 2' ],
	'failures of a node that are acknowledged');
is($alice->('release', { targets => ['wait:n11'] })->{rows}[0]{target}, 'wait:n11', 'an execution is released');
is_deeply([ sort(rows($alice->('tonight')->{held}, 'target')->@*) ], [ '- pass', 'north pass' ], '... there');

# --- a node is down

$node{n1}->stop('immediate');
my $down = soon(sub { ($_[0]{nodes_missing}[0]{error} // '') =~ /since/ }, $alice, 'tonight');
is($down->{nodes_missing}[0]{name}, 'north', 'a node is down: it is named');
is($down->{running_count}, 6, '... and the others are counted');
is($alice->('night')->{nodes_missing}[0]{name}, 'north', '... of the night, too');
is(tool('tonight')->{nodes_missing}[0]{name}, 'north', '... and agents are told');
$node{n1}->start;
is(soon($whole, $alice, 'tonight')->{running_count}, 8, 'it is back');
stop_gateway($gateway);

done_testing;
