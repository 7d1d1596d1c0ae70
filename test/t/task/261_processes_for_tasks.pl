# Processes for tasks: announced tasks of an owner who has his share are run once he has less, and a long task does not
# count as its owner's turn.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;

my $setup = <<'EOS';
CREATE FUNCTION public.nap(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_sleep((payload->>'s')::float8); RETURN NULL; END $$;
CREATE FUNCTION public.gate(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;
EOS

# What the owners have, in one database.
sub machines
{
	my @roles = @_;
	return join '', map { <<"EOS" } @roles;
SET SESSION AUTHORIZATION $_;
SELECT sf_create_state_machine('${_}_nap', '@{[ one_task('public.nap') ]}'),
	sf_create_state_machine('${_}_gate', '@{[ one_task('public.gate') ]}');
RESET SESSION AUTHORIZATION;
EOS
}
my $roles = 'CREATE ROLE one LOGIN; CREATE ROLE other LOGIN;';
my $no_naps = q{SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING' AND state_machine ~ 'nap'};
my $waits_at_gate = q{FROM pg_stat_activity WHERE wait_event = 'advisory'};

# --- the share of an owner

my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 1
sfflow.max_workers = 5
sfflow.max_running_tasks_per_owner = 2
sfflow.poll_interval = 3600
fsync = off
EOC
$node->safe_psql('postgres', "$roles $setup" . machines('one', 'other'));
my $lock = $node->background_psql('postgres');
$lock->query_safe('SELECT pg_advisory_lock(1)');
$node->safe_psql('postgres', q{SELECT sf_start('one_gate', '{}', n::text) FROM generate_series(1, 6) AS n});
ok($node->poll_query_until('postgres', "SELECT count(*) = 2 $waits_at_gate"), 'as many tasks of an owner run as may');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 6 FROM _sfflow.branch WHERE task_payload IS NOT NULL}),
	'the others are announced');
is($node->safe_psql('postgres', q{SELECT sf_start('other_nap', '{"s": 0}', 'a');
	SELECT sf_await('other_nap:a', '60 s')}), "other_nap:a\nSUCCEEDED", 'those of another owner run beside them');
is($node->safe_psql('postgres', "SELECT count(*) $waits_at_gate"), '2', '... and no more of his');
$lock->quit;
ok(ended($node), 'they are run once he has less, and not found by a poll');

# --- a long task is not the owner's turn

# Have the worker be in a task of one owner that was short the last time; the execution that the other one starts then.
my $nap = 0.9;
sub start_beside_nap
{
	$node->safe_psql('postgres', q{SELECT sf_start('one_nap', '{"s": 0}'), sf_start('other_nap', '{"s": 0}')});
	$node->poll_query_until('postgres', $no_naps) or die 'an execution does not end';
	$node->safe_psql('postgres', qq{SELECT sf_start('one_nap', '{"s": $nap}')});
	# A look that comes too late does not see it.
	local $PostgreSQL::Test::Utils::timeout_default = 2;
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM sf_workers WHERE execution_id LIKE 'one_nap%'})
		or return;
	my $id = $node->safe_psql('postgres', q{SELECT sf_start('other_nap', '{"s": 0}')});
	local $PostgreSQL::Test::Utils::timeout_default = 180;
	$node->poll_query_until('postgres', $no_naps) or die 'an execution does not end';
	return $id;
}
$lock = $node->background_psql('postgres');
$lock->query_safe('SELECT pg_advisory_lock(1)');
$node->safe_psql('postgres', q{SELECT sf_start('other_gate', '{}')});
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_workers WHERE execution_id LIKE 'other_gate%'
	AND since < now() - interval '1.5 s'"), 'a task takes long');
# A disturbed machine gets another try.
my @ms;
for (1 .. 12)
{
	my $id = start_beside_nap() or next;
	@ms = sort { $a <=> $b } @ms,
	  $node->safe_psql('postgres', "SELECT round(1000 * extract(epoch FROM stopped_at - requested_at))
		FROM sf_executions WHERE execution_id = '$id'");
	last if @ms > 1 && $ms[1] < 500 * $nap;
}
note("milliseconds: @ms");
cmp_ok($ms[1], '<', 500 * $nap, 'what its owner has due does not wait for the nap of another one');
$lock->quit;
ok(ended($node), 'all end');
is($node->safe_psql('postgres', q{SELECT count(*) FROM sf_executions WHERE status <> 'SUCCEEDED'}), '0', '... well');
is($node->safe_psql('postgres', 'SELECT * FROM sf_check()'), '', 'the tables hold together');
$node->stop;
done_testing();
