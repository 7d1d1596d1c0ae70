# One sfworker for three servers: it takes tasks of all, answers where it took them, and goes on while one is down.
# needs: node
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;

my %node = map { $_ => new_node($_, conf => "sfflow.workers = 1\n") } qw(c n1 n2);
activity_machine($node{$_}, 'shell') for sort keys %node;

sub start
{
	my ($on, $name, $command) = @_;
	return $node{$on}->safe_psql('postgres',
		qq(SELECT sf_start('shell', jsonb_build_object('Command', '$command'), '$name')));
}

sub outcome
{
	my ($on, $id) = @_;
	$node{$on}->safe_psql('postgres', "SELECT sf_await('$id', '120 s')");
	return $node{$on}->safe_psql('postgres', "SELECT status, output FROM sf_executions WHERE execution_id = '$id'");
}

my @nodes = map { ('--node', sprintf 'host=%s port=%d dbname=postgres', $node{$_}->host, $node{$_}->port) } qw(n1 n2);
my $worker = start_worker($node{c}, '-a', 'shell', @nodes, '--name', 'all');
my %id = map { $_ => start($_, 'one', "echo $_") } sort keys %node;
is(outcome($_, $id{$_}), qq(SUCCEEDED|{"stdout": "$_\\n"}), "a task of $_") for sort keys %node;
is($node{$_}->safe_psql('postgres', 'SELECT last_worker, in_flight FROM sf_activities'), 'all|0', "$_ knows the worker")
  for sort keys %node;
is(scalar(subprocesses($worker->{pid})), 3, 'a process for each');

# One is down: the others are served, and it is when it is back.
$node{n1}->stop('immediate');
my $other = start('n2', 'meanwhile', 'echo meanwhile');
is(outcome('n2', $other), qq(SUCCEEDED|{"stdout": "meanwhile\\n"}), 'a node is down: the others are served');
ok(wait_for('the worker has tried again', sub { worker_log($worker) =~ /cannot connect/ }), '... the worker tries to connect');
$node{n1}->start;
is(outcome('n1', start('n1', 'back', 'echo back')), qq(SUCCEEDED|{"stdout": "back\\n"}), 'and when it is back it is');

# A process that is killed is started again.
my ($victim) = subprocesses($worker->{pid});
kill 'KILL', $victim;
ok(wait_for('another one is there', sub {
	my @now = subprocesses($worker->{pid});
	@now == 3 && !grep { $_ == $victim } @now;
}), 'a process that was killed is started again');
is(outcome($_, start($_, 'again', "echo again")), qq(SUCCEEDED|{"stdout": "again\\n"}), "... and $_ is served")
  for sort keys %node;

# Leaving: what runs on each is drained.
%id = map { $_ => start($_, 'last', 'sleep 1; echo drained') } sort keys %node;
ok(wait_for('all commands run', sub { 3 == (() = worker_log($worker) =~ /task begins kind=shell execution=shell:last/g) }),
	'a command runs on each');
is(stop_worker($worker), 0, 'the worker leaves');
is(outcome($_, $id{$_}), qq(SUCCEEDED|{"stdout": "drained\\n"}), "... when what it does of $_ has ended")
  for sort keys %node;

# With --once it leaves when no node has a task left, and tells by its status that one did not answer.
$id{$_} = start($_, 'once', 'echo once') for sort keys %node;
is(wait_worker(start_worker($node{c}, '-a', 'shell', @nodes, '--once')), 0, '--once ends');
is(outcome($_, $id{$_}), qq(SUCCEEDED|{"stdout": "once\\n"}), "... and has done the task of $_") for sort keys %node;
$node{n2}->stop;
is(wait_worker(start_worker($node{c}, '-a', 'shell', @nodes, '--once')), 1, '... and says that a node was down');

# What does not go together.
for ([ [ '--list' ], 'list' ], [ [ '-a', 'x:archive', '--archive', '/tmp' ], 'archive' ])
{
	my ($options, $what) = @$_;
	my $refused = start_worker($node{c}, @$options, @nodes);
	is(wait_worker($refused), 2, "$what is for one database");
	like(worker_log($refused), qr/--node does not go with --$what/, '... which is said');
}
$_->stop for @node{qw(c n1)};
done_testing;
