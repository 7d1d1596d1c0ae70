# A job that crashes the server and runs only in the memory of a slice, after others of its net: it is found alone
# after a few crashes, however many jobs run before it, and fails; no other job is blamed.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main',
	conf => "sfflow.workers = 2\nsfflow.max_workers = 2\nsfflow.max_crashes = 2\nsfflow.slice_ms = 10000\n");
sub sql { return $node->safe_psql('postgres', shift) }
sql(<<'EOS');
CREATE TABLE ledger (execution text, job text);
-- A short task, as all workers know it; of the executions whose names begin with "bad",
-- the job "killer" crashes the server.
CREATE FUNCTION job(execution text, job text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF job = 'killer' AND execution ~ '^bad' THEN
		EXECUTE pg_catalog.format('COPY (SELECT 1) TO PROGRAM ''kill -9 %s''', pg_catalog.pg_backend_pid());
		PERFORM pg_catalog.pg_sleep(60);
	END IF;
	INSERT INTO public.ledger VALUES (execution, job);
	RETURN job;
END $$;
EOS

# A job, and what it comes after.
sub job
{
	my ($name, @after) = @_;
	my $after = join ', ', map { "\"$_\"" } @after;
	return qq("$name": {"Type": "Task", "Resource": "sql:public.job",
		"Parameters": {"execution.\$": "\$\$.Execution.Name", "job": "$name"}, "After": [$after]});
}

# The killer comes after a row of jobs; others come after it, or beside it.
my $jobs = join ', ', job('j1'), (map { job("j$_", 'j' . ($_ - 1)) } 2 .. 20), job('killer', 'j20'),
	job('then', 'killer'),
  job('beside', 'j1'), job('last', 'beside', 'j20');
sql("SELECT sf_create_state_machine('net',
	'{\"StartAt\": \"Net\", \"States\": {\"Net\": {\"Type\": \"JobNet\", \"End\": true, \"Jobs\": {$jobs}}}}')");
sql("SELECT sf_start('net', '{}', 'good$_'); SELECT sf_await('net:good$_', '180 s')") for 1 .. 4;
is(sql("SELECT count(*) FILTER (WHERE status = 'SUCCEEDED') FROM sf_executions"), '4', 'nets without a crash succeed');

# How often the server has crashed.
sub crashes { return scalar(() = slurp_file($node->logfile) =~ /terminated by signal 9/g) }

# The server may crash before the session has its answer.
try_sql($node, "SELECT sf_start('net', '{}', 'bad'), sf_start('net', '{}', 'good5')");
fails_alone($node, 'bad');
like(sql("SELECT cause FROM sf_executions WHERE name = 'bad'"), qr/'killer'/, '... and the error names the job');
is(sql("SELECT string_agg(job_id, ' ' ORDER BY job_id) FROM sf_jobs WHERE id = 'bad' AND job_status = 'failure'"),
	'killer', '... and that one alone has failed');
is(sql("SELECT string_agg(job_id, ' ') FROM sf_jobs WHERE id = 'bad' AND job_status = 'skip'"), 'then',
	'... what comes after it is skipped');
is(sql("SELECT count(*), count(DISTINCT job) FROM ledger WHERE execution = 'bad'"), '22|22',
	'... and each of the others ran once');
cmp_ok(crashes(), '<=', 5, 'it took few crashes');
cmp_ok(crashes(), '>=', 3, '... two of them alone');
is(sql("SELECT sf_await('net:good5', '180 s')"), 'SUCCEEDED', 'the net that ran meanwhile succeeds');

# the net is run by its rows since then; a new one is not, and nothing is left of the search
sql("SELECT sf_start('net', '{}', 'good6')");
is(sql("SELECT sf_await('net:good6', '180 s')"), 'SUCCEEDED', 'and so does one that begins later');
# A worker clears it after the commit that ends the execution.
ok($node->poll_query_until('postgres', "SELECT ok FROM sf_health WHERE item = 'suspects'"), 'no suspect is left');
is(sql('SELECT count(*) FROM sf_check()'), '0', 'the tables are in order');
$node->stop;
done_testing();
