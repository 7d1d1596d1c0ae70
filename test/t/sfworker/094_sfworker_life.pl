# The life of sfworker and of its tasks: heartbeats, refusals, leaving, lost connections, death.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IPC::Run ();
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('main');
my $dir = PostgreSQL::Test::Utils::tempdir();
activity_machine($node, 'shell', fields => '"HeartbeatSeconds": 45,');
activity_machine($node, 'leased', lease => '45 s', receives => 3);
activity_machine($node, 'retried', fields =>
	'"Retry": [{"ErrorEquals": ["Worker.Stopped"], "IntervalSeconds": 1, "MaxAttempts": 3}],');

# Start an execution of a command; gives its id.
sub start
{
	my ($machine, $name, $command) = @_;
	return $node->safe_psql('postgres', qq(SELECT sf_start('$machine',
		jsonb_build_object('Command', \$c\$$command\$c\$), '$name')));
}

# Await an execution; gives "status|output|error".
sub outcome
{
	my $id = shift;
	$node->safe_psql('postgres', "SELECT sf_await('$id', '180 s')");
	return $node->safe_psql('postgres', "SELECT status, output, error FROM sf_executions WHERE execution_id = '$id'");
}

# Tell whether processes with these arguments run.
sub alive
{
	my $pattern = shift;
	return scalar(() = processes($pattern));
}

# A command that goes on until a file is there.
sub until_there
{
	my ($file, $then) = @_;
	return "while ! test -e $dir/$file; do sleep 0.1; done; $then";
}

# Heartbeats: HeartbeatSeconds and the lease are outlived by a long command.
my $worker = start_worker($node, '-a', 'shell', '-a', 'leased:shell', '-a', 'retried:shell', '-c', '4', '--kill-after',
	'1s', '--name', 'first');
my $long = start('shell', 'long', until_there('outlived', 'echo kept alive'));
my $leased = start('leased', 'long', until_there('outlived', 'echo kept alive'));
for my $id ($long, $leased)
{
	ok(wait_for('the command runs', sub { worker_log($worker) =~ /task begins kind=shell execution=$id / }), "$id runs");
}
# They are so long that a busy machine does not make a heartbeat come too late.
sleep 46;
append_to_file("$dir/outlived", '');
is(outcome($long), 'SUCCEEDED|{"stdout": "kept alive\n"}|', 'a command outlives HeartbeatSeconds');
is(outcome($leased), 'SUCCEEDED|{"stdout": "kept alive\n"}|', 'and a lease');
is(scalar(() = worker_log($worker) =~ /execution=leased:long .*attempt=[2-9]/g), 0, 'and runs once');
is($node->safe_psql('postgres', "SELECT last_worker, in_flight FROM sf_activities WHERE activity = 'shell'"), 'first|0',
	'the queue knows its worker');

# A task that nobody waits for any more is ended, also one that does not listen.
my $stopped = start('shell', 'stopped', 'trap "" TERM; while :; do sleep 4.321; done');
ok(wait_for('the command runs', sub { alive('sleep 4.32[1]') }), 'a command runs');
$node->safe_psql('postgres', "SELECT sf_stop('$stopped')");
ok(wait_for('the command has ended', sub { !alive('sleep 4.32[1]') }), 'and is ended with its execution');
like(worker_log($worker), qr/a heartbeat is refused .*execution=shell:stopped/, 'because its heartbeat is refused');
like(worker_log($worker), qr/killing what does not end by itself .*execution=shell:stopped/, 'at last by KILL');

# So is one whose state has a time limit.
activity_machine($node, 'limited', activity => 'shell', fields => '"TimeoutSeconds": 1,', resource => 'activity:shell',
	made => 1);
my $limited = start('limited', 'late', 'exec sleep 5432.1');
is(outcome($limited), 'FAILED||States.Timeout', "a state's time limit");
ok(wait_for('the command has ended', sub { !alive('sleep 5432[.]1') }), 'ends the command');

# A role that may work, and no more.
$node->safe_psql('postgres', "CREATE ROLE batch LOGIN; SELECT sf_create_activity('granted'),
	sf_create_activity('forbidden'); SELECT sf_grant('WORK', 'activity:granted', 'batch')");
activity_machine($node, 'granted', made => 1);
my $granted = start('granted', 'one', 'echo granted');
ok($node->poll_query_until('postgres', "SELECT queued = 1 FROM sf_activities WHERE activity = 'granted'"),
	'a task is queued');
is(wait_worker(start_worker($node, '-a', 'granted:shell', '--once', '-U', 'batch')), 0, 'a role with WORK may work');
is(outcome($granted), 'SUCCEEDED|{"stdout": "granted\n"}|', 'and has done it');
is(wait_worker(start_worker($node, '-a', 'forbidden:shell', '--once', '-U', 'batch')), 1, 'but not elsewhere');

# Tokens: guessed, truncated, replayed.
$node->safe_psql('postgres', "SELECT sf_create_activity('by_hand'); SELECT sf_create_state_machine('by_hand',
	'{\"StartAt\": \"W\", \"States\": {\"W\": {\"Type\": \"Task\",
		\"Resource\": \"activity:by_hand\", \"End\": true}}}');
	SELECT sf_start('by_hand', '{}', 'one')");
my $token;
wait_for('the task is due', sub { $token = $node->safe_psql('postgres',
	"SELECT task_token FROM sf_get_activity_task('by_hand')") });
for my $bad ("x$token", substr($token, 0, -1), substr($token, 0, -2) . 'AA', '', 'guess', "$token'", "$token\n")
{
	my ($status, undef, $err) = $node->psql('postgres',
		"\\set VERBOSITY verbose\nSELECT sf_send_task_success(\$t\$$bad\$t\$, '1')");
	like($err, qr/ERROR:  SF0(?:19|20)/, 'a token that is none is refused');
}
$node->safe_psql('postgres', "SELECT sf_send_task_success('$token', '\"first\"')");
my (undef, undef, $replayed) = $node->psql('postgres',
	"\\set VERBOSITY verbose\nSELECT sf_send_task_success('$token', '\"second\"')");
like($replayed, qr/ERROR:  SF02[01]/, 'one that was used is refused');
is(outcome('by_hand:one'), 'SUCCEEDED|"first"|', 'and changes nothing');

# A lost connection: what runs goes on and is answered afterwards.
my $over = start('leased', 'over', "sleep 1; echo went on >> $dir/over; echo went on");
ok(wait_for('the command runs', sub { worker_log($worker) =~ /task begins kind=shell execution=leased:over/ }),
	'a command runs');
$node->stop('immediate');
ok(wait_for('the command has ended', sub { -e "$dir/over" }), 'it goes on while the server is away');
ok(wait_for('the worker has tried again', sub { worker_log($worker) =~ /cannot connect/ }),
	'while the worker tries to connect');
$node->start;
is(outcome($over), 'SUCCEEDED|{"stdout": "went on\n"}|', 'and is answered when the server is back');
$node->safe_psql('postgres', q(SELECT pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE application_name = 'sfworker'));
my $again = start('leased', 'again', 'echo again');
is(outcome($again), 'SUCCEEDED|{"stdout": "again\n"}|', 'a session that was ended is replaced');

# Leaving: a first signal drains, a second one stops.
my $last = start('leased', 'last', until_there('drain', 'echo drained'));
ok(wait_for('the command runs', sub { worker_log($worker) =~ /task begins kind=shell execution=leased:last/ }),
	'a command runs');
kill 'TERM', $worker->{pid};
ok(wait_for('the worker drains', sub { worker_log($worker) =~ /leaving when what runs has ended/ }),
	'the worker is asked to leave');
my $later = start('leased', 'later', 'echo later');
ok($node->poll_query_until('postgres', "SELECT queued = 1 FROM sf_activities WHERE activity = 'leased'"),
	'there is something new');
append_to_file("$dir/drain", '');
is(wait_worker($worker), 0, 'it leaves');
is(outcome($last), 'SUCCEEDED|{"stdout": "drained\n"}|', 'when the command has ended and is answered');
is($node->safe_psql('postgres', "SELECT queued FROM sf_activities WHERE activity = 'leased'"), '1',
	'and takes nothing new');

# Once: until nothing is left.
$worker = start_worker($node, '-a', 'leased:shell', '--once', '-c', '2');
is(wait_worker($worker), 0, 'once leaves by itself');
is(outcome($later), 'SUCCEEDED|{"stdout": "later\n"}|', 'when nothing is left');
start('leased', "many$_", "echo $_ >> $dir/many") for 1 .. 5;
wait_for('they are queued', sub { $node->safe_psql('postgres',
	"SELECT queued FROM sf_activities WHERE activity = 'leased'") eq '5' });
$worker = start_worker($node, '-a', 'leased:shell', '--once', '-c', '2');
is(wait_worker($worker), 0, 'once');
is(scalar(() = slurp_file("$dir/many") =~ /\n/g), 5, 'takes all that are there');
is(wait_worker(start_worker($node, '-a', 'unknown:shell', '--once')), 1, 'an activity that does not exist is told');
is(wait_worker(start_worker($node, '-a', 'shell', '--once', '-d', 'nowhere')), 1, 'so is a database that does not');

# A second signal: what runs is stopped and may be retried elsewhere.
$worker = start_worker($node, '-a', 'retried:shell', '--kill-after', '1s', '--log-format', 'json');
my $retried = start('retried', 'stopped',
	"test -e $dir/stopped && echo elsewhere && exit; touch $dir/stopped; sleep 60");
ok(wait_for('the command runs', sub { -e "$dir/stopped" }), 'a command runs');
kill 'TERM', $worker->{pid};
ok(wait_for('the worker drains', sub { worker_log($worker) =~ /leaving when what runs has ended/ }),
	'the worker is asked to leave');
is(stop_worker($worker), 0, 'and again');
my @lines = split /\n/, worker_log($worker);
is(scalar(grep {
	!/^\{"time":"[^"]+","level":"[a-z]+","pid":\d+,"message":"[^"]+"(?:,"\w+":"(?:[^"\\]|\\.)*")*\}$/ } @lines), 0,
	'its log is JSON, line by line');
$worker = start_worker($node, '-a', 'retried:shell', '-a', 'leased:shell');
is(outcome($retried), 'SUCCEEDED|{"stdout": "elsewhere\n"}|', 'another one does the work');

# Death: with a lease the task is handed out again, and the command has died with its worker.
my $killed = start('leased', 'killed',
	"test -e $dir/killed && echo by another && exit; touch $dir/killed; exec sleep 1234.5");
ok(wait_for('the command runs', sub { -e "$dir/killed" && alive('sleep 1234[.]5') }), 'a command runs');
is(stop_worker($worker, 'KILL'), 'signal 9', 'its worker is killed');
ok(wait_for('the command has ended', sub { !alive('sleep 1234[.]5') }), 'and it dies too');
# Its lease is over at once; the worker that sf_enable() rings for looks at it.
$node->safe_psql('postgres', q(BEGIN; UPDATE _sfflow.task SET lease_until = now() WHERE status = 1;
	UPDATE _sfflow.branch SET due_at = now() WHERE due_at > now(); COMMIT; SELECT sf_enable()));
$worker = start_worker($node, '-a', 'leased:shell');
is(outcome($killed), 'SUCCEEDED|{"stdout": "by another\n"}|', 'another worker gets the task');
is(stop_worker($worker), 0, 'and leaves');

# What it can say by itself.
my ($out, $err) = ('', '');
ok(IPC::Run::run([ 'sfworker', '--list', '-h', $node->host, '-p', $node->port, '-d', 'postgres' ], '>', \$out, '2>',
	\$err), 'a list');
like($out, qr/activity.*queued.*\n[\s\S]*\bleased\b/, 'of the activities');
ok(IPC::Run::run([ 'sfworker', '--help' ], '>', \$out, '2>', \$err), 'help');
IPC::Run::run([ 'sfworker', '--version' ], '>', \$out, '2>', \$err);
like($out, qr/^sfworker \(sfflow\) \d+\.\d+\.\d+$/m, 'a version');
is(IPC::Run::run([ 'sfworker', @$_ ], '<', \'', '>', \$out, '2>', \$err) || $? >> 8, 2, "wrong: @$_")
  for [ '--nonsense' ], [], [ '-a', 'x' ], [ '-a', 'shell', '-c', '0' ], [ '-a', 'shell', '--max-output', '-1' ],
  	[ '-a', 'shell', '--log-format', 'xml' ],
  [ '-a', 'shell', '--config', '/no/such/file' ], [ '-a', 'shell', 'a', 'b' ];
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables are as they must be');
$node->stop;
done_testing();
