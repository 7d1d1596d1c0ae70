# Past the end of tables that owners share (docs/reliability.md): of branches that lack memory, and of suspects of
# crashes. Who fills one takes no place of another owner's. A turn comes to more branches than are noted for a crash:
# the last ones are.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.slice_ms = 10s\nfsync = off\nwal_level = replica\n");

# --- 150 branches of one owner never have enough memory, and one of another owner

$node->safe_psql('postgres', <<'EOS');
CREATE FUNCTION meet(no bigint, first integer, body bytea) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM _sfflow.history_events(no, first, now(), body, NULL, NULL) AS e WHERE e.state = 1) THEN
		RAISE EXCEPTION 'there is not enough' USING ERRCODE = '53200';
	END IF;
	RETURN no;
END $$;
CREATE INDEX met ON _sfflow.history (meet(execution_no, first_id, body));
CREATE ROLE many;
CREATE ROLE few;
EOS

# Start executions of an owner, the second state of which meets a shortage.
sub start
{
	my ($role, $count) = @_;
	return $node->safe_psql('postgres', <<"EOS");
SET SESSION AUTHORIZATION $role;
SELECT sf_create_state_machine('$role', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"},
	"B": {"Type": "Pass", "End": true}}}');
SELECT count(*) FROM sf_start_many('$role', ARRAY(SELECT '{}'::jsonb FROM generate_series(1, $count)));
EOS
}
my $put_off = q{SELECT count(*) FROM _sfflow.branch WHERE owner = 'many'::regrole AND due_at > clock_timestamp()};
start('many', 150);
ok($node->poll_query_until('postgres', "SELECT ($put_off) > 70"), 'more branches are put off than places are there');
start('few', 1);
# The pause doubles with each try: it is this long after the fourth one that is counted.
ok($node->poll_query_until('postgres', q{SELECT due_at > clock_timestamp() + interval '2.5 s' FROM _sfflow.branch
	WHERE owner = 'few'::regrole}),
	'the tries of the other owner are counted');
$node->safe_psql('postgres', 'DROP INDEX _sfflow.met');
ok(ended($node), 'all of them end once there is enough');
is($node->safe_psql('postgres', q{SELECT count(*) FROM sf_executions WHERE status <> 'SUCCEEDED'}), '0', '... well');
no_surprises($node);

# --- a turn with more branches than are noted for a crash

# As src/worker/fault/poison.c and fault.h have it, which say by a number when that changes
my ($magic, $most, $keys, $slots) = (0x53465034, 1024, 64, 258);
my ($suspect, $note) = ('L L q q l l l C x3', "L L L L (q q)[$keys]");

my $path = $node->data_dir . '/pg_stat_tmp/sfflow.poison';

# All wait for a limit of one, then run in one turn; the task of the last one waits for a lock.
my $queued = 120;
$node->safe_psql('postgres', <<'EOS');
CREATE FUNCTION waits() RETURNS void LANGUAGE sql AS 'SELECT pg_advisory_xact_lock_shared(1)';
SELECT sf_create_activity('act');
SELECT sf_create_state_machine('queue', '{"StartAt": "C", "States": {
	"C": {"Type": "Choice", "Choices": [{"Variable": "$.to", "StringEquals": "act", "Next": "A"}, {"Variable": "$.to",
		"StringEquals": "lock", "Next": "L"}], "Default": "E"},
	"A": {"Type": "Task", "Resource": "activity:act", "End": true},
	"L": {"Type": "Task", "Resource": "sql:public.waits", "Parameters": {}, "End": true},
	"E": {"Type": "Succeed"}}}');
SELECT sf_start('queue', '{"to": "lock"}', 'known' || n) FROM generate_series(1, 2) AS n;
EOS
ok(ended($node), 'the task is known to be short');
$node->safe_psql('postgres', q{SELECT sf_set_limit('queue', max_running => 1),
	sf_start('queue', '{"to": "act"}', 'first')});
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM _sfflow.limit_slot}), 'one runs');
$node->safe_psql('postgres', qq{SELECT sf_start('queue', jsonb_build_object('to', CASE n WHEN $queued THEN 'lock'
	ELSE 'end' END), n::text) FROM generate_series(1, $queued) AS n});
ok($node->poll_query_until('postgres', "SELECT count(*) = $queued FROM _sfflow.parked"), 'all others wait');
my $lock = $node->background_psql('postgres', on_error_stop => 0);
$lock->query_safe('SELECT pg_advisory_lock(1)');
$node->safe_psql('postgres', q{SELECT sf_send_task_success(task_token, '1') FROM sf_get_activity_task('act')});
my $in_lock = q{SELECT pid FROM pg_stat_activity WHERE wait_event = 'advisory'};
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($in_lock) AS p"),
	'the last one has come to its task');
my @last = split /\n/, $node->safe_psql('postgres',
	"SELECT execution_no FROM sf_executions JOIN _sfflow.execution USING (execution_id) WHERE state_machine = 'queue'
	ORDER BY execution_no DESC LIMIT 60");
my $at = 8 + $most * length(pack $suspect, (0) x 8);
my @largest = (0) x 4;
for my $slot (0 .. $slots - 1)
{
	my @found = unpack $note, substr slurp_file($path), $at + $slot * length(pack $note, (0) x (4 + 2 * $keys));
	@largest = @found if $found[3] > $largest[3];
}
cmp_ok($largest[3], '>', $keys, 'the turn has come to more branches than are noted');
my %noted = map { $largest[ 4 + 2 * $_ ] => 1 } 0 .. $keys - 1;
is(scalar(keys %noted), $keys, '... of which the last ones are');
is(scalar(grep { $noted{$_} } @last), scalar(@last), '... in the order of the queue');
my $pid = $node->safe_psql('postgres', $in_lock);
kill 'KILL', $pid;
wait_gone($pid);
ok(recovered($node), 'the server is back after a crash');
$lock->{run}->finish;
ok(ended($node), 'all end');
is($node->safe_psql('postgres', q{SELECT count(*) FROM sf_executions WHERE status <> 'SUCCEEDED'}), '0', '... well');
is($node->safe_psql('postgres', 'SELECT * FROM sf_check()'), '', 'the tables hold together');

# --- the file of a crash: 1,024 suspects, of which one is another owner's, and a note of 64 branches more

# Write the file: suspects and notes, each a list.
sub write_file
{
	my ($suspects, @notes) = @_;
	my $file = pack('L l', $magic, scalar @$suspects);
	$file .= pack($suspect, @{ $suspects->[$_] // [ (0) x 8 ] }) for 0 .. $most - 1;
	$file .= pack($note, @{ $notes[$_] // [ (0) x (4 + 2 * $keys) ] }) for 0 .. $slots - 1;
	is(length $file, -s $path, 'the file has the size that is known');
	open my $handle, '+<:raw', $path or die "cannot open $path: $!";
	print {$handle} $file or die "cannot write $path: $!";
	close $handle or die "cannot write $path: $!";
	return;
}

# Read the suspects.
sub read_suspects
{
	my $file = slurp_file($path);
	my ($number, $count) = unpack 'L l', $file;
	is($number, $magic, 'the file is of the version that is known');
	return map { [ unpack $suspect, substr $file, 8 + $_ * length(pack $suspect, (0) x 8) ] } 0 .. $count - 1;
}

# Have the notes of a crash of an owner become suspects; those that are released and of an owner.
sub crash_of
{
	my ($owner, $suspects, $wanted) = @_;
	$node->stop;
	write_file($suspects, [ 1, $owner, 0, $keys, map { (5000 + $_, 0) } 1 .. $keys ]);
	$node->start;
	my @all = read_suspects();
	return (scalar(grep { $_->[1] == $wanted } @all), scalar @all);
}

# On a standby nothing runs the suspects, and nothing looks whether their executions are there.
$node->append_conf('postgresql.conf', 'hot_standby = on');
open my $signal, '>', $node->data_dir . '/standby.signal' or die "cannot write a file: $!";
close $signal or die "cannot write a file: $!";
my ($one, $other) = (100, 200);
my @full = map { [ 1, $_ == 1 ? $other : $one, $_, 0, 1, 0, 2, 1 ] } 1 .. $most;
is_deeply([ crash_of($one, \@full, $other) ], [ 1, $most ],
	'a crash of who has all places but one leaves that one to the other owner');
is_deeply([ crash_of($other, \@full, $other) ], [ 1 + $keys, $most ], 'a crash of the other owner gives him places');
my @single = map { [ 1, 1000 + $_, $_, 0, 1, 0, 2, 1 ] } 1 .. $most;
is_deeply([ crash_of($one, \@single, $one) ], [ 0, $most ], 'who has none takes none of those who have one');
$node->stop;
done_testing();
