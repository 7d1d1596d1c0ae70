# Many sessions do the same at once; one of them does it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main');

$node->safe_psql('postgres', <<'EOS');
CREATE TABLE ledger (execution text, redrive integer);
CREATE FUNCTION job(execution text, redrive integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO ledger VALUES (execution, redrive);
	IF redrive = 0 AND execution LIKE 'bad%' THEN PERFORM sf_raise('NotYet'); END IF;
END $$;
EOS
my $definition = one_task('public.job',
	'"Parameters": {"execution.$": "$$.Execution.Name", "redrive.$": "$$.Execution.RedriveCount"}');
$node->safe_psql('postgres', "SELECT sf_create_state_machine('race', \$def\$$definition\$def\$)");

# Run one statement in many sessions at once and count what they say.
sub many
{
	my ($sessions, $sql) = @_;
	my $file = "${PostgreSQL::Test::Utils::tmp_check}/race.sql";
	append_to_file($file, '');
	open my $out, '>', $file or die "$file: $!";
	print $out "$sql\n";
	close $out;
	my ($stdout, $stderr) = run_command(
		[ 'pgbench', '-n', '-c', $sessions, '-j', 2, '-t', 1, '-f', $file, '-h', $node->host, '-p', $node->port,
			'postgres' ]);
	my $notices = () = $stderr =~ /NOTICE:/g;
	my $errors = () = $stderr =~ /ERROR:/g;
	return ($notices, $errors, $stderr);
}

# One name, one run.
my ($notices, $errors, $text) = many(50, q{SELECT sf_start('race', '{}', 'same');});
is($errors, 0, 'no session fails') or diag($text);
is($notices, 49, '49 of 50 sessions are told that it is there');
ok(ended($node), 'the execution ends');
is($node->safe_psql('postgres', q{SELECT count(*) FROM ledger WHERE execution = 'same'}), '1', 'and has run once');
is($node->safe_psql('postgres', q{SELECT count(*), sum(start_requests) FROM sf_executions}), '1|50',
	'all 50 requests are counted');

# Two redrives at once: one.
for my $round (1 .. full(5, 50))
{
	$node->safe_psql('postgres', "SELECT sf_start('race', '{}', 'bad$round');
		SELECT sf_await('race:bad$round', '180 s')");
	($notices, $errors) = many(4, "SELECT sf_redrive('race:bad$round');");
	ended($node);
	is("$errors " . $node->safe_psql('postgres',
		"SELECT redrive_count, status FROM sf_executions WHERE execution_id = 'race:bad$round'"),
		'3 1|SUCCEEDED', "one of four redrives at once, round $round");
}
is($node->safe_psql('postgres', q{SELECT execution, redrive, count(*) FROM ledger GROUP BY 1, 2 HAVING count(*) > 1}),
	'', 'nothing ran twice');

# Stop against the commit of a task: whichever comes first, the record and the work agree.
$node->safe_psql('postgres', q{SELECT sf_start('race', '{}', 'stop' || n) FROM generate_series(1, 200) AS n});
$node->safe_psql('postgres', q{SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'});
ok(ended($node), 'all are over');
is($node->safe_psql('postgres', <<'EOS'), '', 'a job is a success exactly when its work is there');
SELECT e.execution_id, j.job_status, (SELECT count(*) FROM ledger WHERE execution = e.name)
FROM sf_executions AS e JOIN sf_jobs AS j USING (execution_id)
WHERE e.name LIKE 'stop%' AND (j.job_status = 'success')::int <> (SELECT count(*) FROM ledger WHERE execution = e.name)
EOS
# And a redrive runs only what did not commit.
$node->safe_psql('postgres', q{SELECT sf_redrive(execution_id) FROM sf_executions WHERE status = 'ABORTED'});
ok(ended($node), 'redriven ones end');
is($node->safe_psql('postgres', q{SELECT count(*), count(DISTINCT execution) FROM ledger WHERE execution LIKE 'stop%'}),
	'200|200', 'each has run exactly once in all');

# A start is part of its transaction.
my $session = $node->background_psql('postgres');
$session->query_safe(q{BEGIN; SELECT sf_start('race', '{}', 'later')});
is($node->safe_psql('postgres', q{SELECT count(*) FROM sf_executions WHERE name = 'later'}), '0',
	'not started before the commit');
$session->query_safe('COMMIT');
ok($node->poll_query_until('postgres', q{SELECT status = 'SUCCEEDED' FROM sf_executions WHERE name = 'later'}),
	'started by the commit');
$session->query_safe(q{BEGIN; SELECT sf_start('race', '{}', 'never'); ROLLBACK});
$session->quit;
is($node->safe_psql('postgres', q{SELECT count(*) FROM sf_executions WHERE name = 'never'}), '0',
	'rolled back, nothing ran');

no_surprises($node);
$node->stop;
done_testing();
