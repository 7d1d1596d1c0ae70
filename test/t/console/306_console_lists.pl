# The lists of the console over three servers: the rows of all in one order, page by page, with the rights of the role
# on each. A node that is stopped, or says nothing, is named, and the others answer.
# needs: node access label
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

my @stopped;
END { kill 'CONT', @stopped if @stopped }

my @names = qw(c n1 n2);
my %node = map { $_ => new_node($_, conf => "sfflow.workers = 1\n") } @names;
sub on { my ($name, $query) = @_; return $node{$name}->safe_psql('postgres', $query) }

my $fail = '{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "E", "Cause": "of ' . "%s" . '"}}}';
my $wait = '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 100000, "End": true}}}';
my $number = 0;
for (@names)
{
	my $definition = sprintf $fail, $_;
	on($_, <<"EOQ");
CREATE ROLE gate LOGIN; CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE carol LOGIN;
GRANT alice, bob TO gate;
SELECT sf_create_state_machine('fail', '$definition', options => '{"labels": {"of": "\$.of"}}'),
	sf_create_state_machine('wait', '$wait'), sf_create_state_machine('other', '$wait');
SELECT sf_grant(p, m, 'alice') FROM unnest('{READ,OPERATE}'::text[]) p, unnest('{fail,wait}'::text[]) m;
SELECT sf_grant('READ', 'wait', 'carol');
EOQ
	on($_, 'SELECT sf_set_node(' . $number++ . ')');
}
on('c', q{SELECT sf_grant('READ', 'wait', 'bob')});
on('n1', q{SELECT sf_grant('READ', m, 'bob') FROM unnest('{wait,other}'::text[]) m});

# All start one after the other, so their times are in this order: fail:c1, fail:n11, fail:n21, fail:c2, ...
my @started;
for my $i (1 .. 4)
{
	for (@names)
	{
		on($_, qq{SELECT sf_start('fail', '{"of": "$_"}', '$_$i')});
		unshift @started, "fail:$_$i";
	}
}
for (@names)
{
	on($_, "SELECT sf_start('wait', '{}', '$_'), sf_start('other', '{}', '$_')");
	$node{$_}->poll_query_until('postgres', q{SELECT count(*) = 4 FROM sf_alerts WHERE kind = 'failed'}) or die;
}
my %place = map { $_ => sprintf 'host=%s port=%d', $node{$_}->host, $node{$_}->port } @names;
on('c', 'GRANT EXECUTE ON FUNCTION sf_access_key, sf_node_addresses TO gate');
my $gateway = start_gateway($node{c}, user => 'gate', nodes => 'on', 'console-trust' => 'on');
my $own = JSON::PP->new->canonical->utf8;

# Sign in; gives what sends the requests of the session.
my %options;
sub session
{
	my $role = shift;
	my $options = $options{$role} = sign_in($gateway, $role, 'p');
	return sub {
		my ($action, $body) = @_;
		my $got = curl($gateway, "/console/api/$action", @$options, '-d', $own->encode($body));
		diag $got->{body} if $got->{status} != 200;
		return json($got->{body});
	};
}
sub ids { return [ map { $_->{execution_id} } @{ $_[0]{rows} } ] }

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
my ($alice, $bob, $carol) = map { session($_) } qw(alice bob carol);

# --- the coordinator alone, before it has nodes

my $alone = $alice->('executions', { state_machine => 'fail' });
is_deeply(ids($alone), [ grep { /:c/ } @started ], 'without nodes a list has the executions of the coordinator');
is_deeply($alone->{nodes_missing}, [], '... and lacks none');

on('c', "SELECT sf_add_node(0, 'main'), sf_add_node(1, 'north', '$place{n1}'), sf_add_node(2, 'south', '$place{n2}')");
stop_gateway($gateway);
# On each of the other nodes a role has one of the two connections.
$gateway = start_gateway($node{c}, user => 'gate', nodes => 'on', 'console-trust' => 'on', port => $gateway->{port},
	'database-connections' => 2);
($alice, $bob, $carol) = map { session($_) } qw(alice bob carol);
my $whole = sub { @{ $_[0]{nodes_missing} // ['?'] } == 0 && @{ $_[0]{rows} } > 4 };

# --- executions

my $all = soon($whole, $alice, 'executions', { state_machine => 'fail' });
is_deeply(ids($all), \@started, 'a list has the executions of all nodes, the newest first');
is_deeply([ map { $_->{node} } @{ $all->{rows} }[ 0 .. 2 ] ], [ 'south', 'north', undef ], '... with their nodes');
is($all->{next}, undef, '... on one page');
is_deeply($all->{rows}[0]{rights}, ['OPERATE'], '... and what the role may do there');
is_deeply($all->{rows}[0]{labels}, { of => 'n2' }, '... and their labels');
is_deeply($all->{rights}{fail}, ['OPERATE'], '... as on the coordinator');
for my $limit (1, 5, 6, 12)
{
	my ($key, @pages);
	do
	{
		my $page = $alice->('executions',
			{ state_machine => 'fail', limit => $limit, $key ? (key => $key) : () });
		push @pages, ids($page);
		$key = $page->{next};
	} while ($key && @pages < 20);
	is_deeply([ map { @$_ } @pages ], \@started, "pages of $limit have each execution once, in this order");
	is(scalar(grep { @$_ > $limit } @pages), 0, '... and are no larger');
	cmp_ok(scalar @pages, '<=', 12 / $limit + 1, '... and no more than that takes');
}
is_deeply(ids($alice->('executions', { state_machine => 'fail', labels => { of => 'n1' } })),
	[ grep { /:n1/ } @started ], 'a filter is that of all nodes');
my $search = $alice->('executions', { text => 'of n2', limit => 2 });
is_deeply(ids($search), [ (grep { /:n2/ } @started)[ 0, 1 ] ], 'a search looks into the executions of all');
cmp_ok($search->{looked}, '>=', 6, '... and says into how many');
is_deeply(ids($alice->('executions', { text => 'of n2', limit => 2, key => $search->{next} })),
	[ (grep { /:n2/ } @started)[ 2, 3 ] ], '... and goes on');
is($alice->('executions', { path => '$[' })->{error}{sqlstate}, 'SF012', 'what is wrong with a filter is an error');

# --- alerts

my $alerts = $alice->('alerts', {});
is_deeply([ sort map { $_->{execution_id} } @{ $alerts->{rows} } ], [ sort @started ], 'alerts of all nodes');
is_deeply([ map { $_->{since} } @{ $alerts->{rows} } ], [ reverse sort map { $_->{since} } @{ $alerts->{rows} } ],
	'... the newest first');
is_deeply({ map { $_->{node} // '-' => 1 } @{ $alerts->{rows} } }, { '-' => 1, north => 1, south => 1 },
	'... with their nodes');
is_deeply(ids($alice->('alerts', { limit => 3 })), [ (ids($alerts)->@*)[ 0 .. 2 ] ], '... and no more than asked for');
$alice->('acknowledge', { targets => ['fail:n14'], kind => 'failed', reason => 'seen' });
my $acknowledged = $alice->('alerts', {});
is_deeply([ sort(ids($acknowledged)->@*) ], [ sort grep { $_ ne 'fail:n14' } @started ], 'one that is acknowledged');
is_deeply([ $acknowledged->{acknowledged}[0]->@{qw(execution_id node)} ], [ 'fail:n14', 'north' ],
	'... is among those, with its node');

# --- rights are those on the node

my $less = soon(sub { @{ $_[0]{rows} } == 3 }, $bob, 'executions', {});
is_deeply([ sort(ids($less)->@*) ], [ 'other:n1', 'wait:c', 'wait:n1' ],
	'a role sees on each node what it may see there');
is_deeply($less->{nodes_missing}, [], '... and lacks no node, where it may see nothing');
my $barred = $carol->('executions', {});
is_deeply(ids($barred), ['wait:c'], 'a role as which the gateway may not act on nodes sees the coordinator\'s');
is_deeply([ map { "$_->{node} $_->{name}" } @{ $barred->{nodes_missing} } ], [ '1 north', '2 south' ],
	'... and which nodes are missing');
like($barred->{nodes_missing}[0]{error}, qr/^permission denied to answer as role "carol"/, '... and why');

# --- a node is down

$node{n1}->stop('immediate');
my $down = soon(sub { ($_[0]{nodes_missing}[0]{error} // '') =~ /since/ }, $alice, 'executions',
	{ state_machine => 'fail' });
is_deeply(ids($down), [ grep { !/:n1/ } @started ], 'a node is down: the list has the executions of the others');
is(scalar @{ $down->{nodes_missing} }, 1, '... and lacks one');
is("$down->{nodes_missing}[0]{node} $down->{nodes_missing}[0]{name}", '1 north', '... which is named');
like($down->{nodes_missing}[0]{error}, qr/^it has not answered since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
	'... and since when');
my $took = 99;
for (1 .. 5)
{
	my $begun = time;
	$alice->('executions', { state_machine => 'fail' });
	$took = time - $begun if time - $begun < $took;
}
cmp_ok($took, '<', 2, '... at once');
note sprintf 'a list without a node that is down took %.3f s', $took;
is($alice->('alerts', {})->{nodes_missing}[0]{name}, 'north', 'alerts name it, too');
$node{n1}->start;
is_deeply(ids(soon($whole, $alice, 'executions', { state_machine => 'fail' })), \@started, 'it is back');

# --- a node is slow: its calls wait for a lock

# Send requests of alice at the same time, while all of n1 that reads executions waits; look whether the first one has
# waited there for some seconds, do something, let n1 go on, and give the answers.
sub meanwhile
{
	my ($seconds, $do, @requests) = @_;
	my $lock = $node{n1}->background_psql('postgres');
	$lock->query_safe('BEGIN; LOCK TABLE _sfflow.execution IN ACCESS EXCLUSIVE MODE');
	my @out = ('') x @requests;
	my @sent = map {
		my ($action, $body) = $requests[$_]->@*;
		IPC::Run::start([ 'curl', '-sS', '--max-time', 90, '-w', '%{http_code}', $options{alice}->@*, '-d',
			$own->encode($body), "$gateway->{url}/console/api/$action" ], '<', '/dev/null', '>', \$out[$_])
	} 0 .. $#requests;
	ok($node{n1}->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE usename = 'gate'
		AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > '$seconds s'"), 'a node is slow');
	$do->();
	$lock->query_safe('COMMIT');
	$lock->quit;
	$_->finish for @sent;
	return map { /^(.*)(\d\d\d)\z/s ? { status => $2, json => json($1) } : { status => $_ } } @out;
}
my $filter = { state_machine => 'fail' };
my @slow;
for (1 .. 10)
{
	# A busy machine may need longer than a node has to say that it is there.
	@slow = meanwhile(4, sub { }, ([ 'executions', $filter ]) x 2);
	last unless grep { ($_->{json}{nodes_missing}[0]{error} // '') =~ /since/ } @slow;
}
is_deeply(ids($_->{json}), \@started, 'a list waits for it, also for the connection of the role') for @slow;

# --- the coordinator goes while a node is slow: pages learn it at once when the node has answered

my $answered;
@slow = meanwhile(1, sub {
	$node{c}->stop('immediate');
	wait_for('the session has lost its connection',
		sub { gateway_log($gateway) =~ /"connection lost","user":"alice"/ });
	$answered = time;
}, [ 'executions', $filter ], [ 'execution', { execution_id => 'wait:nowhere' } ]);
cmp_ok(time - $answered, '<', 20, 'the coordinator goes while a node is slow: pages do not wait for it');
is($_->{status}, 503, '... and tell so') for @slow;
$node{c}->start;
is_deeply(ids(soon($whole, $alice, 'executions', $filter)), \@started, '... and go on when it is back');

# --- a node says nothing

@stopped = split /\n/, on('n2', q{SELECT pid FROM pg_stat_activity WHERE usename = 'gate'});
push @stopped, split /\n/, slurp_file($node{n2}->data_dir . '/postmaster.pid') =~ s/\n.*//sr;
kill 'STOP', @stopped;
my $begun = time;
my $hangs = $alice->('executions', { state_machine => 'fail' });
$took = time - $begun;
is_deeply(ids($hangs), [ grep { !/:n2/ } @started ], 'a node says nothing: the list has the executions of the others');
is($hangs->{nodes_missing}[0]{name}, 'south', '... and names it');
cmp_ok($took, '<', 15, '... when the time that it has is over');
note sprintf 'a list with a node that says nothing took %.3f s', $took;
kill 'CONT', @stopped;
@stopped = ();
is_deeply(ids(soon($whole, $alice, 'executions', { state_machine => 'fail' })), \@started, '... until it does again');

# --- the session ends with the role, also for a list

on('c', 'ALTER ROLE alice NOLOGIN');
is($alice->('executions', {})->{error}{message}, 'sign in again, because your role was altered',
	'a role that may not log in any more has no list');
stop_gateway($gateway);

done_testing;
