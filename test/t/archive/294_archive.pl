# sfworker --archive writes executions into a folder before they are deleted: each once, whenever the program, a second
# one or the server dies, and whether there is room or not.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use IPC::Run ();
use PostgreSQL::Test::Utils;
use SfArchive;
use SfTest;
use SfWorker;
use Test::More;
use Time::HiRes qw(sleep);

my $node = new_node('main', conf => "sfflow.purge_interval = 1s\nsfflow.max_payload_bytes = 64MB");
$node->safe_psql('postgres', 'CREATE ROLE archiver LOGIN');
keeping_machine($node, 'order');
$node->safe_psql('postgres', "SELECT sf_grant('WORK', 'activity:keep', 'archiver')");
my (@ids, $folder);

# An empty archive, and no batches before it.
sub new_archive
{
	$folder = tempdir(CLEANUP => 1);
	@ids = ();
	$node->safe_psql('postgres', 'DELETE FROM _sfflow.archive_batch WHERE confirmed_at IS NOT NULL');
	return;
}

# Old executions with names of their own, which are to be in the archive.
sub add_old
{
	my ($n) = @_;
	start_old($node, 'order', "SELECT jsonb_build_object('n', i) || CASE WHEN i % 7 = 0 THEN '{\"fail\": true}'
		ELSE '{}' END::jsonb FROM generate_series(1, $n) i");
	note_ids();
	return;
}

# What is in the database is to be in the archive.
sub note_ids
{
	my %known = map { $_ => 1 } @ids, split /\n/, $node->safe_psql('postgres', "SELECT execution_id FROM sf_executions
		WHERE name <> 'today'");
	@ids = sort keys %known;
	return;
}

# Start a program that archives, as a role that has nothing but WORK.
sub start_archiver
{
	return start_worker($node, '-U', 'archiver', '-a', 'keep:archive', '--archive', $folder, @_);
}

# Archive what is there, and wait for the end; gives the exit status.
sub archive_once
{
	return wait_worker(start_archiver('--once', @_));
}

# The log of a program that may not have begun yet.
sub logged
{
	my ($worker) = @_;
	return -e $worker->{log} ? worker_log($worker) : '';
}

# How many executions are there that are to be archived.
sub count_old
{
	return $node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE name <> 'today'");
}

# Wait until there are none.
sub all_gone
{
	return $node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE name <> 'today'");
}

# How many batches wait for their confirmation.
sub open_batches
{
	return $node->safe_psql('postgres', 'SELECT count(*) FROM sf_archive_batches WHERE confirmed_at IS NULL');
}

# --- what is there ---

new_archive();
add_old(1000);
$node->safe_psql('postgres', "SELECT sf_start('order', '{}', 'today')");
sleep 2;
is(count_old(), 1000, 'workers purge nothing that is to be archived');
is(archive_once('--archive-executions', 300), 0, 'a program archives what is old enough');
is_archived($node, $folder, \@ids, 'in some files');
cmp_ok(scalar(my @files = glob "$folder/manifests/*.json"), '>=', 2, 'each has a manifest');
is(join(' ', glob "$folder/tmp/*"), '', 'no other file is left');
is($node->safe_psql('postgres', q(SELECT string_agg(name, ' ') FROM sf_executions)), 'today',
	'what is not old enough stays');
my ($failed) = grep { $_->{status} eq 'FAILED' } read_archive($folder);
is("$failed->{error} $failed->{events}[-1]{type} $failed->{events}[-1]{details}{error}", 'No ExecutionFailed No',
	'one that failed is there with its error');
is(archive_once(), 0, 'again: nothing is due');

# --- children, Distributed Maps, redriven ones, large ones ---

new_archive();
$node->safe_psql('postgres', q(SELECT sf_create_state_machine('parent', '{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2",
		"Parameters": {"StateMachineArn": "order", "Input": {"child": true}}, "ResultPath": null, "Next": "M"},
	"M": {"Type": "Map", "ItemsPath": "$.list", "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED",
		"ExecutionType": "STANDARD"}, "StartAt": "I", "States": {"I": {"Type": "Pass", "End": true}}}, "End": true}}}',
	options => '{"retention": "1 hour", "archive": "activity:keep"}')));
$node->safe_psql('postgres', q(SELECT sf_start('parent', '{"list": [1, 2, 3, 4, 5]}', 'p');
	SELECT sf_start('order', '{"fail": 1}', 'twice');));
$node->safe_psql('postgres', q(SELECT sf_await('order:twice', '60 s'), sf_redrive('order:twice')));
my $large = 3_000_000;
$node->safe_psql('postgres', "SELECT sf_start('order', jsonb_build_object('text', repeat('0123456789', $large / 10)),
	'large')");
ok(ended($node), 'executions of all kinds end');
make_old($node, "e.execution_id NOT LIKE '%:today'");
$node->safe_psql('postgres', q(SELECT sf_set_labels('order:twice', '{"kind": "redriven"}')));
note_ids();
is(scalar @ids, 9, 'a parent, its child, five items, and others');
is(archive_once(), 0, 'they are archived');
is(count_old(), 5, 'items go after the execution that has them');
# What was passed over is looked at again in a tenth of the retention.
$node->safe_psql('postgres', 'DELETE FROM _sfflow.purge_position');
is(archive_once(), 0, 'they do');
is_archived($node, $folder, \@ids, 'of all kinds');
my %archived = map { $_->{execution_id} => $_ } read_archive($folder);
is($archived{'order:twice'}{redrive_count} . ' ' . join(' ', map { $_->{type} } grep { $_->{type} =~ /^Execution/ }
	@{ $archived{'order:twice'}{events} }), '1 ExecutionStarted ExecutionFailed ExecutionRedriven ExecutionFailed',
	'the history of one that was redriven is whole');
is($archived{'order:twice'}{labels}{kind}, 'redriven', 'its labels are there');
is($archived{'order:large'}{output}{text}, "($large characters)", 'a large one is whole');
my ($child) = grep { $_->{state_machine} eq 'order' && $_->{input}{child} } values %archived;
is($child->{parent_execution_id}, 'parent:p', 'a child names its parent');

# --- death at chosen moments ---

# Have a program wait where it is about to confirm, and end it there; the session of the server ends, too.
sub kill_before_confirmation
{
	$node->safe_psql('postgres', "ALTER ROLE archiver SET sfflow.debug_point = 'archive-confirm:wait'");
	my $holder = $node->background_psql('postgres');
	$holder->query_safe("SELECT pg_advisory_lock(hashtextextended('archive-confirm', 0))");
	my $worker = start_archiver();
	ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks
		WHERE locktype = 'advisory' AND NOT granted"), 'a program is about to confirm');
	is(stop_worker($worker, 'KILL'), 'signal 9', '... and dies');
	$node->safe_psql('postgres', 'ALTER ROLE archiver RESET sfflow.debug_point');
	$holder->query_safe("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'archiver'");
	$holder->quit;
	return;
}

new_archive();
add_old(20);
kill_before_confirmation();
is(scalar(my @written = archived_ids($folder)), 20, 'its batch is in the archive');
is(count_old(), 20, 'and in the database');
my ($before) = glob "$folder/data/*";
add_old(5);
is(archive_once(), 0, 'another one goes on');
is_archived($node, $folder, \@ids, 'after a death before the confirmation');
ok(-e $before, 'the same file was written again');
is(scalar(@files = glob "$folder/data/*"), 2, 'and one for what came later');

# With the file in the archive, and no manifest.
new_archive();
add_old(20);
mkdir "$folder/$_" for qw(data manifests tmp);
chmod 0500, "$folder/manifests";
my $worker = start_archiver();
ok(wait_for('an attempt', sub { logged($worker) =~ /cannot write a batch.*manifests/ }), 'a manifest cannot be written');
is(scalar(@files = glob "$folder/data/*"), 1, 'when the file is there');
is(count_old(), 20, 'nothing is deleted');
stop_worker($worker, 'KILL');
chmod 0700, "$folder/manifests";
is(archive_once(), 0, 'another program goes on');
is_archived($node, $folder, \@ids, 'after a death before the manifest');
is(scalar(@files = glob "$folder/data/*"), 1, 'the file is the same');

# The server dies between the deletion and its commit.
new_archive();
add_old(20);
$node->safe_psql('postgres', "ALTER ROLE archiver SET sfflow.debug_point = 'archive-confirmed:crash'");
$worker = start_archiver();
ok(wait_for('a crash', sub { logged($worker) =~ /cannot confirm a batch/ }), 'the server dies with the confirmation');
# The program stands still until it cannot crash the server once more.
kill 'STOP', $worker->{pid};
ok(wait_for('the server', sub { defined try_sql($node, 'ALTER ROLE archiver RESET sfflow.debug_point') }),
	'it comes back');
ok(recovered($node) && defined try_sql($node, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE usename = 'archiver'"), 'without the debug point');
kill 'CONT', $worker->{pid};
ok(all_gone(),
	'the program goes on by itself');
is(stop_worker($worker), 0, 'and leaves when it is told to');
is_archived($node, $folder, \@ids, 'after a crash of the server');

# --- death at any moment, two at a time ---

new_archive();
add_old(full(1500, 20_000));
my $kills = 0;
for my $round (1 .. full(15, 100))
{
	my @workers = map { start_archiver('--archive-executions', 37) } 1, 2;
	sleep 0.05 + rand 0.35;
	$kills += stop_worker($_, 'KILL') eq 'signal 9' for @workers;
}
is($kills, 2 * full(15, 100), 'programs die at random');
note(count_old() . " are left");
my @both = map { start_archiver('--once', '--archive-executions', 37) } 1, 2;
wait_worker($_) for @both;
is(archive_once(), 0, 'the rest is archived');
is_archived($node, $folder, \@ids, 'after many deaths');
is(open_batches(), 0, 'no batch is open');
is(join(' ', glob "$folder/tmp/*"), '', 'nothing is left of those that died');

# --- no room, no folder ---

new_archive();
add_old(300);
my $limited = start_archiver({ program => limited() });
ok(wait_for('an attempt', sub { logged($limited) =~ /cannot write a batch.*File too large/ }), 'there is no room');
is(stop_worker($limited), 0, 'the program leaves, before an attempt or after one');
is(count_old(), 300, 'nothing is deleted');
is(join(' ', glob "$folder/data/* $folder/tmp/*"), '', 'nothing is left');
rename $folder, "$folder.away" or die;
$worker = start_archiver();
ok(wait_for('an attempt', sub { logged($worker) =~ /cannot archive.*cannot find folder/ }), 'the folder is not mounted');
is(open_batches(), 1, 'the batch of the first program waits');
rename "$folder.away", $folder or die;
ok(all_gone(),
	'when it is there the program goes on by itself');
stop_worker($worker);
is_archived($node, $folder, \@ids, 'after a time without room');

# A program that may write small files only.
sub limited
{
	my $path = "$PostgreSQL::Test::Utils::tmp_check/limited-$$";
	append_to_file($path, "#!/bin/bash\nulimit -f 1\nexec sfworker \"\$@\" 2> >(cat >&2)\n");
	chmod 0700, $path;
	return $path;
}

# --- memory, options ---

new_archive();
$node->safe_psql('postgres', "SELECT FROM sf_start_many('order',
	'SELECT jsonb_build_object(''text'', repeat(md5(i::text), 31250)) FROM generate_series(1, 40) i')");
ok(ended($node), 'forty of a megabyte end');
make_old($node, "e.execution_id NOT LIKE '%:today'");
note_ids();
$worker = start_archiver();
ok(all_gone(), 'they are archived');
my ($peak) = slurp_file("/proc/$worker->{pid}/status") =~ /VmHWM:\s+(\d+) kB/;
note("sfworker had $peak kB at most");
cmp_ok($peak, '<', 60_000, 'a batch of 160 megabytes is never in memory');
stop_worker($worker);
is_archived($node, $folder, \@ids, 'of large ones');

# The configuration file.
new_archive();
add_old(3);
my $conf = "$PostgreSQL::Test::Utils::tmp_check/archive-$$.conf";
append_to_file($conf, "activity = keep:archive\narchive = $folder\narchive-executions = 2\nusername = archiver\n");
is(wait_worker(start_worker($node, '--config', $conf, '--once')), 0, 'a file has the same keys');
is_archived($node, $folder, \@ids, 'by a file of settings');

# Options that do not go together, and rights.
sub refusal
{
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'sfworker', @_ ], '<', '/dev/null', '>', \$out, '2>', \$err);
	return ($? >> 8) . " $err";
}
like(refusal('-a', 'keep:archive'), qr/^2 .*needs a folder, or s3:/, 'an archive needs a target');
like(refusal('-a', 'shell', '--archive', $folder), qr/^2 .*needs one activity, of kind archive/,
	'and an activity of its kind');
like(refusal(qw(-a keep:archive -a shell --archive), $folder), qr/^2 .*needs one activity, of kind archive/,
	'... alone');
$node->safe_psql('postgres', "SELECT sf_revoke('WORK', 'activity:keep', 'archiver')");
add_old(3);
is(archive_once(), 1, 'without WORK nothing is handed out');
is(count_old(), 3, 'nothing is deleted');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), 0, 'sf_check');
$node->stop;
done_testing();
