# A crash in the middle of a net whose jobs run in memory: the jobs run in their order afterwards, each once.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 1\nsfflow.max_workers = 4\nsfflow.slice_ms = 10000\n");
$node->safe_psql('postgres', <<'EOS');
CREATE TABLE gate (open boolean);
CREATE TABLE ledger (job text, at timestamptz);
-- Only the first, the middle and the last job write: a slice has room for few subtransactions.
CREATE FUNCTION job(name text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF name = 'last' THEN
		WHILE NOT (SELECT open FROM public.gate) LOOP PERFORM pg_sleep(0.05); END LOOP;
	END IF;
	IF name !~ '^m\d' THEN
		INSERT INTO public.ledger VALUES (name, clock_timestamp());
	END IF;
	RETURN name;
END $$;
EOS

# A job, and the jobs that it comes after.
sub job
{
	my ($name, @after) = @_;
	my $after = join ', ', map { "\"$_\"" } @after;
	return qq("$name": {"Type": "Task", "Resource": "sql:public.job", "Parameters": {"name": "$name"},
		"After": [$after]});
}

# In the end, "last" has a row that waits for "middle" while the slice runs both in memory.
sub try_net
{
	my ($machine, $between) = @_;
	my $jobs = join ', ', job('first'), (map { job("m$_", 'first') } 1 .. $between), job('middle', 'first'),
		job('last', 'first', 'middle');
	$node->safe_psql('postgres', "TRUNCATE gate; TRUNCATE ledger; INSERT INTO gate VALUES (false);"
		  . "SELECT sf_create_state_machine('$machine',
		  	'{\"StartAt\": \"Net\", \"States\": {\"Net\": {\"Type\": \"JobNet\",
		  		\"End\": true, \"Jobs\": {$jobs}}}}')");
	$node->safe_psql('postgres', "SELECT sf_start('$machine', '{}', 'x')");
	my $step = "SELECT pid FROM sf_workers WHERE job_id ~ 'last'";
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($step) AS t")
		or die "$machine: the last job does not run";
	is($node->safe_psql('postgres', "SELECT string_agg(job, ' ') FROM ledger"), 'first',
		"$machine: the other jobs run in the slice of the last one");
	my $pid = $node->safe_psql('postgres', $step);
	kill 'KILL', $pid;
	wait_gone($pid);
	ok(recovered($node), "$machine: the server is back after a crash");
	$node->safe_psql('postgres', 'UPDATE gate SET open = true');
	is($node->safe_psql('postgres', "SELECT sf_await('$machine:x', '180 s')"), 'SUCCEEDED', "$machine: the net ends");
	is($node->safe_psql('postgres', "SELECT string_agg(job, ' ' ORDER BY at) FROM ledger"), 'first middle last',
		"$machine: its jobs run in their order, once");
	return;
}

try_net('small', 0);
try_net('large', 70);
no_surprises($node);
$node->stop;
done_testing();
