# The inbox of the console over three servers: the tasks of all nodes in one order, page by page, with the rights of the
# role on each; and one task, whose page and actions are those of the node that has it, also when its execution has
# moved.
# needs: node access human hold move mcp
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

# Wait for the task of an execution; gives its number.
sub task_of
{
	my ($name, $id) = @_;
	$node{$name}->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_human_tasks WHERE execution_id = '$id'")
	  or die;
	return on($name, "SELECT task FROM sf_human_tasks WHERE execution_id = '$id'");
}

# Wait until an execution has a status.
sub ends
{
	my ($name, $id, $status) = @_;
	return $node{$name}->poll_query_until('postgres',
		"SELECT status = '$status' FROM sf_executions WHERE execution_id = '$id'");
}

my $ask = '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:desk", "End": true}}}';
my $form = '{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}';
my $number = 0;
for (@names)
{
	on($_, <<"EOQ");
CREATE ROLE gate LOGIN; CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE carol LOGIN;
GRANT alice, bob TO gate;
SELECT sf_create_worklist('desk', '$form'), sf_create_state_machine('ask', '$ask');
SELECT sf_grant(p, 'human:desk', 'alice') FROM unnest('{DO,ASSIGN}'::text[]) p;
SELECT sf_grant('DO', 'human:desk', 'carol');
SELECT sf_grant('READ', 'ask', 'alice');
EOQ
	on($_, 'SELECT sf_set_node(' . $number++ . ')');
}
on('c', q{SELECT sf_grant('DO', 'human:desk', 'bob')});
on('n1', q{SELECT sf_create_worklist('back'), sf_grant('DO', 'human:back', 'bob')});

# The order of pages: priority, then when a task is due, then its number, whichever node it is on.
my @order = map { "ask:$_" } qw(n2high chigh n1due cdue c n1 n2 clow);
my @local = grep { /:c/ } @order;
my %more = (n2high => '{"Priority": 2, "Data": 7}',
	chigh => '{"Priority": 1}', n1due => '{"Due": "2025-02-05T02:00:00Z"}',
	cdue => '{"Due": "2025-02-05T03:00:00Z"}', clow => '{"Priority": -1}');
my %task;
for (map { s/^ask://r } reverse @order)
{
	my ($name) = /^(c|n1|n2)/;
	on($name, sprintf q{SELECT sf_start('ask', '%s', '%s')}, $more{$_} // '{}', $_);
	$task{$_} = task_of($name, "ask:$_");
}
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
		my $got = curl($gateway, "/console/api/$action", @$options, '-d', $own->encode($body));
		return { %$got, json => json($got->{body}) };
	};
}
sub ids { return [ map { $_->{execution_id} } @{ $_[0]{json}{rows} } ] }

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
my $whole = sub { @{ $_[0]{json}{nodes_missing} // ['?'] } == 0 };

# --- the coordinator alone, before it has nodes

my $alice = session('alice');
is_deeply(ids($alice->('inbox', {})), \@local, 'without nodes the inbox has the tasks of the coordinator');
on('c', "SELECT sf_add_node(0, 'main'), sf_add_node(1, 'north', '$place{n1}'), sf_add_node(2, 'south', '$place{n2}')");
stop_gateway($gateway);
$gateway = start_gateway($node{c}, %how, port => $gateway->{port});
my ($bob, $carol);
($alice, $bob, $carol) = map { session($_) } qw(alice bob carol);

# --- the inbox

my $inbox = soon(sub { $whole->(@_) && @{ $_[0]{json}{rows} } > 4 }, $alice, 'inbox', {});
is_deeply(ids($inbox), \@order, 'the inbox has the tasks of all nodes, the most urgent first') or diag $inbox->{body};
is_deeply([ map { $_->{node} } @{ $inbox->{json}{rows} }[ 0 .. 2 ] ], [ 'south', undef, 'north' ],
	'... with their nodes');
is_deeply($inbox->{json}{counts}, [ { worklist => 'desk', tasks => 8, mine => 0, open => 8, overdue => 2 } ],
	'... counted together');
is_deeply($inbox->{json}{readable}, [ sort @order ], '... and which executions the role may read');
for my $limit (1, 3, 8)
{
	my ($key, @pages);
	do
	{
		my $page = $alice->('inbox', { limit => $limit, $key ? (after => $key) : () });
		push @pages, ids($page);
		$key = $page->{json}{next};
	} while ($key && @pages < 20);
	is_deeply([ map { @$_ } @pages ], \@order, "pages of $limit have each task once, in this order");
	is(scalar(grep { @$_ > $limit } @pages), 0, '... and are no larger');
}
is_deeply(ids($alice->('inbox', { which => 'overdue' })), [ 'ask:n1due', 'ask:cdue' ],
	'what is overdue is that of all');
on('n2', q{SELECT sf_hold('human:desk', reason => 'later')});
my $held = soon(sub { @{ $_[0]{json}{held} } }, $alice, 'inbox', {});
is_deeply([ map { "$_->{node} $_->{target} $_->{reason}" } @{ $held->{json}{held} } ], ['south human:desk later'],
	'a worklist that is held on a node');
on('n2', q{SELECT sf_release('human:desk')});
my $less = $bob->('inbox', {});
is_deeply(ids($less), \@local, 'a role sees on each node what it may see there');
is_deeply([ map { $_->{worklist} } @{ $less->{json}{counts} } ], [ 'back', 'desk' ], '... and which worklists it may');
my $barred = $carol->('inbox', {});
is_deeply(ids($barred), \@local, 'a role as which the gateway may not act on nodes sees the coordinator\'s');
is_deeply([ map { $_->{name} } @{ $barred->{json}{nodes_missing} } ], [ 'north', 'south' ],
	'... and which are missing');

# --- the tool of agents

my $people = tool('waiting_for_people');
is_deeply([ map { $_->{execution_id} } @{ $people->{tasks} } ], \@order, 'agents are told of the tasks of all nodes')
  or diag explain $people;
is_deeply([ map { $_->{node} } @{ $people->{tasks} }[ 0 .. 2 ] ], [ 'south', undef, 'north' ], '... with their nodes');
is($people->{counts}[0]{tasks}, 8, '... counted together');
is($people->{tasks}[0]{data}, '7', '... and what people are shown') or diag explain $people->{tasks}[0];
is_deeply($people->{nodes_missing}, [], '... of which none is missing');
my ($key, @told);
do
{
	my $page = tool('waiting_for_people', { limit => 3, $key ? (page_key => $key) : () });
	push @told, map { $_->{execution_id} } @{ $page->{tasks} };
	$key = $page->{next_page_key};
} while ($key && @told < 20);
is_deeply(\@told, \@order, '... page by page');

# --- one task

sub events { return on(shift, "SELECT string_agg(action || ' ' || coalesce(done_by, '-'), ', ' ORDER BY at)
	FROM sf_human_task_events WHERE execution_id = '$_[0]'") }
for (qw(c n1 n2))
{
	my $both = { may_do => JSON::PP::true, may_assign => JSON::PP::true };
	my ($target, $task) = ([ $task{$_} ], { task => $task{$_} });
	my $page = $alice->('task', $task);
	is($page->{json}{task}{execution_id}, "ask:$_", "the page of a task of $_") or diag $page->{body};
	is_deeply($page->{json}{rights}, $both, '... and what the role may do');
	is($alice->('payload', { %$task, what => 'task' })->{status}, 200, '... its data');
	is($alice->('claim_task', { targets => $target })->{status}, 200, 'it is claimed');
	is($alice->('inbox', { which => 'mine' })->{json}{rows}[0]{claimed_by}, 'alice', '... which the inbox shows');
	is($alice->('release_task', { targets => $target })->{status}, 200, '... given back');
	is($alice->('assign_task', { targets => $target, role => 'alice' })->{status}, 200, '... assigned');
	my $wrong = $alice->('complete_task', { targets => $target, output => '{"a": "x"}' });
	is_deeply([ @{ $wrong->{json}{error} }{qw(sqlstate pointer problem)} ],
		[ 'SF061', '/a', 'is not of type "integer"' ],
		'an answer that does not fit the form is refused, with its place');
	my $right = $alice->('complete_task', { targets => $target, output => '{"a": 1}' });
	is($right->{status}, 200, '... one that fits is taken');
	is(events($_, "ask:$_"), 'CREATED -, CLAIMED alice, RELEASED alice, ASSIGNED alice, COMPLETED alice', '... there');
	ok(ends($_, "ask:$_", 'SUCCEEDED'), '... so the execution goes on');
	is($alice->('task', $task)->{body}, 'null', '... and the task is over');
}
is($alice->('fail_task', { targets => [ $task{n2high} ], error => 'No' })->{status}, 200, 'a task is failed');
ok(ends('n2', 'ask:n2high', 'FAILED'), '... so its execution fails');
is(on('n2', q{SELECT error FROM sf_executions WHERE execution_id = 'ask:n2high'}), 'No', '... there');
my $none = $alice->('claim_task', { targets => [ $task{n2high} ] });
is($none->{json}{error}{sqlstate}, 'SF063', '... and is over then, whichever node had it') or diag $none->{body};
is($alice->('claim_task', { targets => ['x'] })->{json}{error}{sqlstate}, '22P02', 'what is no number is no task');
is($bob->('task', { task => $task{n1due} })->{body}, 'null', 'a role that may not do it on its node knows of none');
is($carol->('task', { task => $task{n1due} })->{status}, 403, 'a role as which the gateway may not act is told so');
is($carol->('claim_task', { targets => [ $task{cdue} ] })->{status}, 200, '... and has the coordinator\'s');

# --- its execution has moved, so the task is not where its number says

on('n1', q{SELECT sf_start('ask', '{}', '{"key": "k", "name": "moved"}'::jsonb)});
my $moved = task_of('n1', 'ask:moved');
on('n2', "SELECT sf_add_node(1, 'north', '$place{n1}')");
on('n2', q{CALL sf_move_key('k', 1)});
is($alice->('task', { task => $moved })->{json}{task}{execution_id}, 'ask:moved', 'a task that has moved is found');
is($alice->('complete_task', { targets => [$moved], output => '{"a": 1}' })->{status}, 200, '... and answered');
is(events('n2', 'ask:moved'), 'CREATED -, COMPLETED alice', '... where it is');

# --- a node is down

$node{n1}->stop('immediate');
my $silent = qr/^node 1 \(north\) has not answered since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
my $down = soon(sub { ($_[0]{json}{error}{message} // '') =~ $silent }, $alice, 'complete_task',
	{ targets => [ $task{n1due} ], output => '{"a": 1}' });
like($down->{json}{error}{message}, $silent, 'an answer to a task whose node is down names the node');
is($down->{status}, 503, '... and is an error of the service');
is($alice->('task', { task => $task{chigh} })->{json}{task}{execution_id}, 'ask:chigh', 'others are served');
my $without = $alice->('inbox', {});
is_deeply(ids($without), [ grep { /:c./ } @order ], 'the inbox has the tasks of the others');
is($without->{json}{nodes_missing}[0]{name}, 'north', '... and names the node');
$node{n1}->start;
is(soon(sub { $_[0]{status} == 200 }, $alice, 'complete_task', { targets => [ $task{n1due} ], output => '{"a": 1}' })
	  ->{status}, 200, 'it is back: the task is answered');
stop_gateway($gateway);

done_testing;
