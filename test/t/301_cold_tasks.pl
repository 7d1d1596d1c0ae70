# The first run of a resource in a process takes longer than the others. It does not make the task a long one: that
# would have a transaction, and a new process, for each run, in which it is the first again.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use SfTest;
use Test::More;

my $node = new_node('main', conf => <<'EOC');
sfflow.slice_ms = 100
sfflow.workers = 1
fsync = off
EOC

# The first call in a process takes longer than a slice. The row of a call has the number of the transaction.
$node->safe_psql('postgres', <<'EOS');
CREATE TABLE public.met (pid integer, name text);
CREATE TABLE public.ran (execution text, machine text, xid xid, is_first boolean);
CREATE FUNCTION public.work(id text, name text, cold float8, warm float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	is_first boolean := NOT EXISTS (SELECT FROM public.met m WHERE m.pid = pg_backend_pid() AND m.name = work.name);
BEGIN
	INSERT INTO public.met SELECT pg_backend_pid(), work.name WHERE is_first;
	PERFORM pg_sleep(CASE WHEN is_first THEN cold ELSE warm END);
	INSERT INTO public.ran VALUES (id, name, pg_current_xact_id()::xid, is_first);
END $$;
CREATE FUNCTION public.slow_start(payload jsonb) RETURNS void LANGUAGE sql
	AS $$ SELECT public.work(payload ->> 'id', 'slow_start', 0.3, 0) $$;
CREATE FUNCTION public.slow(payload jsonb) RETURNS void LANGUAGE sql
	AS $$ SELECT public.work(payload ->> 'id', 'slow', 1.5, 1.5) $$;
SELECT sf_create_state_machine(m, format('{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "sql:public.%s",
	"Parameters": {"id.$": "$$.Execution.Name"}, "End": true}}}', m)::json) FROM unnest('{slow_start,slow}'::text[]) m;
EOS

# Run an execution to its end by processes that have run nothing before.
sub run_cold
{
	my ($machine, $name) = @_;
	my @pids = split /\n/, $node->safe_psql('postgres', q(SELECT pid FROM sf_workers WHERE role <> 'launcher'
		AND pid IS NOT NULL));
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($_)") for @pids;
	wait_gone($_) for @pids;
	$node->safe_psql('postgres', "SELECT sf_start('$machine', '{}', '$name')");
	$node->poll_query_until('postgres', "SELECT sf_await('$machine:$name', '10 s') = 'SUCCEEDED'")
	  or die "$machine:$name does not end";
	return;
}

# Of which executions of a machine did the task have a transaction of its own, and how many were first calls?
sub long_ones
{
	my $machine = shift;
	return $node->safe_psql('postgres', qq(SELECT coalesce(string_agg(e.name, ' ' ORDER BY e.name)
		FILTER (WHERE r.xid <> x.xmin), 'none') || ' of ' || count(*) || ', '
		|| count(*) FILTER (WHERE r.is_first) || ' cold'
		FROM public.ran r JOIN sf_executions e ON e.state_machine = r.machine AND e.name = r.execution
		JOIN _sfflow.execution x USING (execution_id)
		WHERE e.state_machine = '$machine'));
}

run_cold('slow_start', $_) for 1 .. 6;
is(long_ones('slow_start'), '1 of 6, 6 cold', 'a task that is slow only in new processes is long the first time only');
run_cold('slow', $_) for 1 .. 3;
is(long_ones('slow'), '1 2 3 of 3, 3 cold', 'one that is much slower is long in each of them');

# In a process that has run the task before, the duration counts.
$node->safe_psql('postgres', q(CREATE OR REPLACE FUNCTION public.slow_start(payload jsonb) RETURNS void LANGUAGE sql
	AS $$ SELECT public.work(payload ->> 'id', 'slow_start', 0.3, 0.3) $$));
for my $name (7 .. 30)
{
	$node->safe_psql('postgres', "SELECT sf_start('slow_start', '{}', '$name')");
	$node->poll_query_until('postgres', "SELECT sf_await('slow_start:$name', '10 s') = 'SUCCEEDED'")
	  or die "slow_start:$name does not end";
	last if long_ones('slow_start') =~ /^1 \d+ of/;
}
like(long_ones('slow_start'), qr/^1 \d+ of/, 'a run that is not the first one counts');
done_testing();
