# Answers of sfworker that the database does not take at once: they are tried for as long as it may take them, and the
# task is kept alive meanwhile; texts that its encoding lacks.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;
use Time::HiRes qw(sleep);

$ENV{PGCLIENTENCODING} = 'UTF8';
my $node = new_node('main');
activity_machine($node, 'shell', fields => '"HeartbeatSeconds": 12,');

# Start an execution of a command.
sub start
{
	my ($name, $command) = @_;
	return $node->safe_psql('postgres',
		qq(SELECT sf_start('shell', jsonb_build_object('Command', \$c\$$command\$c\$), '$name')));
}

# Await an execution; gives "status|output|error".
sub outcome
{
	my $id = shift;
	$node->safe_psql('postgres', "SELECT sf_await('$id', '180 s')");
	return $node->safe_psql('postgres', "SELECT status, output, error FROM sf_executions WHERE execution_id = '$id'");
}

# Have the database take no successes, as if it had no memory left; heartbeats it takes.
sub refuse
{
	$node->safe_psql('postgres', <<'SQL');
BEGIN;
ALTER FUNCTION sf_send_task_success(text, jsonb) RENAME TO kept_success;
CREATE FUNCTION sf_send_task_success(task_token text, output jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'no memory left' USING ERRCODE = 'out_of_memory';
END $$;
COMMIT;
SQL
	return;
}

# Have it take them again.
sub accept_again
{
	$node->safe_psql('postgres', <<'SQL');
BEGIN;
DROP FUNCTION sf_send_task_success(text, jsonb);
ALTER FUNCTION kept_success(text, jsonb) RENAME TO sf_send_task_success;
COMMIT;
SQL
	return;
}

# The number of lines of a worker's log that match.
sub lines
{
	my ($worker, $pattern) = @_;
	return scalar(() = worker_log($worker) =~ /$pattern/g);
}

# A database that takes no answers for half a minute, longer than HeartbeatSeconds.
refuse();
my @ids = map { start("refused$_", "echo $_") } 1 .. 5;
my $worker = start_worker($node, '-a', 'shell', '-c', '2');
ok(wait_for('two answers were tried', sub { lines($worker, 'an answer could not be given') == 2 }),
	'answers are refused');
sleep 28;
is(lines($worker, 'task begins'), 2, 'no more tasks are taken than may run');
is(lines($worker, 'an answer could not be given'), 2, 'each is logged once');
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE status = 'RUNNING'"), '5', 'all wait');
accept_again();
is(outcome($ids[$_ - 1]), "SUCCEEDED|$_|", "answer $_ is given when the database takes it") for 1 .. 5;
is(lines($worker, 'the answer is given'), 2, '... which is logged');
is(lines($worker, 'task begins'), 5, '... and each ran once');

# One that nobody waits for any more is given up; the other is waited for when the worker leaves.
refuse();
my ($stopped, $kept) = (start('stopped', 'echo stopped'), start('kept', 'echo kept'));
ok(wait_for('two answers were tried', sub { lines($worker, 'an answer could not be given') == 4 }),
	'answers are refused again');
$node->safe_psql('postgres', "SELECT sf_stop('$stopped')");
ok(wait_for('one is given up', sub { lines($worker, 'the answer is refused .*execution=shell:stopped ') == 1 }),
	'an answer is given up when its task is over');
kill 'TERM', $worker->{pid};
ok(wait_for('the worker drains', sub { lines($worker, 'leaving when what runs has ended') }),
	'the worker is asked to leave');
sleep 1;
ok(kill(0, $worker->{pid}), 'it stays while it has an answer');
accept_again();
is(wait_worker($worker), 0, 'and leaves when the answer is given');
is(outcome($kept), 'SUCCEEDED|{"stdout": "kept\n"}|', '... as it was');
no_surprises($node);

# A file with bytes, which commands print.
my $dir = PostgreSQL::Test::Utils::tempdir();
my $files = 0;
sub file_of
{
	my $path = "$dir/" . ++$files;
	append_to_file($path, shift);
	return $path;
}

# Databases in other encodings. LATIN1 has u umlaut, but neither U+591C nor U+FFFD, which stands for what is no text.
my ($umlaut, $night) = ("\xC3\xBC", "\xE5\xA4\x9C");
my $told = file_of(qq({"Error": "$night.Error", "Cause": "$umlaut$night"}));
my $program = file_of("#!/bin/sh\ncat $told\nexit 1\n");
chmod 0755, $program;
for my $encoding (qw(LATIN1 EUC_JP))
{
	my $database = lc $encoding;
	$node->safe_psql('postgres',
		"CREATE DATABASE $database ENCODING '$encoding' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
	$node->safe_psql($database, 'CREATE EXTENSION sfflow');
	activity_machine($node, $_, database => $database) for qw(shell program);
	$worker = start_worker($node, '-d', $database, '-a', 'shell', '-a', 'program', '--program', $program,
		'--max-stderr', '32000');

	# Print bytes; gives "status|output|error|cause".
	my $prints = sub {
		my ($bytes, $then) = @_;
		return run_task($node, 'shell', sprintf('{"Command": "cat %s %s"}', file_of($bytes), $then // ''), $database);
	};
	my $fails_with = sub { return $prints->(shift, '>&2; exit 1') };
	if ($encoding eq 'LATIN1')
	{
		is($fails_with->("Bl${umlaut}te $night$night \xE2\x80\xA6 \xFF"),
			"FAILED||Shell.ExitCode.1|Bl${umlaut}te ?? ? ?", 'of a cause what the encoding lacks is replaced');
		is(run_task($node, 'program', '{}', $database), "FAILED||?.Error|$umlaut?", '... and of an error');
		is($fails_with->(join('', map { "\xE5\xA4" . chr } 0x80 .. 0xA0) . $umlaut),
			'FAILED||Shell.ExitCode.1|' . '?' x 34, '... and if there are many, what is not ASCII');
		like($prints->($_), qr/^FAILED\|\|Shell\.InvalidOutput\|.*(?:0xe5 0xa4 0x9c|Unicode)/,
			"an output with such a character: $_")
		  for qq(["$night"]), '["\u591c"]', $night;
	}
	else
	{
		like($fails_with->("\xC3\xA9" x 16_000), qr/^FAILED\|\|Shell\.ExitCode\.1\|\?{16000}$/,
			'a cause that is longer in the encoding than the database takes');
		is($fails_with->($night), "FAILED||Shell.ExitCode.1|$night", 'one that it has stays as it is');
	}
	unlike(worker_log($worker), qr/an answer could not be given/, "$encoding: no answer has to wait");
	is(stop_worker($worker), 0, "$encoding: the worker leaves");
}
$node->stop;
done_testing();
