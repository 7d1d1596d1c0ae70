# A session notes that nothing runs above a lowered limit any more, while executions are moved under that limit: they
# stay counted.
# needs: limit
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

# Whoever notes it, the session or the probe of the database, waits at the debug point while a session holds its lock.
my $node = new_node('main', conf => "sfflow.workers = 0\nsfflow.debug_point = 'limit-lowered:wait'\n");

$node->safe_psql('postgres', <<'EOS');
SELECT sf_create_activity('desk');
CREATE FUNCTION machine(state text) RETURNS integer LANGUAGE sql AS $$
	SELECT sf_create_state_machine('moved', format('{"StartAt": "%s", "States": {"%1$s": {"Type": "Task",
		"Resource": "activity:desk", "End": true}}}', state)::json, or_replace => true) $$;
SELECT machine('Free');
SELECT sf_start('moved', '{}', n::text), sf_run('moved:' || n) FROM generate_series(1, 6) n;
SELECT machine('Tight');
SELECT sf_set_limit('moved/Tight', max_running => 1);
EOS

# Put executions under the limit.
sub move
{
	my ($from, $to) = @_;

	$node->safe_psql('postgres',
		qq{SELECT sf_migrate('moved:' || n, 2, '{"Free": "Tight"}') FROM generate_series($from, $to) n});
	return;
}

# Three have run above the limit, and have ended long after it was set. The session waits from before that is so.
move(1, 3);
$node->safe_psql('postgres', "SELECT sf_stop('moved:' || n) FROM generate_series(1, 3) n");
my $lock = $node->background_psql('postgres');
$lock->query_safe(q{SELECT pg_advisory_lock(hashtextextended('limit-lowered', 0))});
$node->safe_psql('postgres', "UPDATE _sfflow.run_limit SET set_at = set_at - interval '5 minutes'");
is($node->safe_psql('postgres', 'SELECT highest >= 3 FROM _sfflow.run_limit'), 't', 'slots were used above the limit');

my $session = $node->background_psql('postgres');
$session->query_until(qr/begun/, "\\echo begun\nCALL sf_run_due();\n");
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory'
	AND NOT granted}), 'a session has seen that nothing runs above the limit');
move(4, 6);
$lock->quit;
$session->query_safe('SELECT 1');
$session->quit;
is($node->safe_psql('postgres', 'SELECT in_use FROM sf_limits'), '3', 'three run under the limit of one');
is($node->safe_psql('postgres', 'SELECT highest >= (SELECT max(slot) FROM _sfflow.limit_slot) FROM _sfflow.run_limit'),
	't', 'the limit knows the greatest number in use');
is($node->safe_psql('postgres', 'SELECT string_agg(problem, $$ $$) FROM sf_check()'), '', 'the tables hold together');

# So a further one waits until all of them have ended.
$node->safe_psql('postgres', q{SELECT sf_start('moved', '{}', '7'), sf_run('moved:7');
	SELECT sf_stop('moved:4'), sf_run('moved:7')});
is($node->safe_psql('postgres', 'SELECT in_use, waiting FROM sf_limits'), '2|1', 'a further one waits for all of them');

# When they have, the next look notes it.
$node->safe_psql('postgres', q{SELECT sf_stop('moved:' || n) FROM generate_series(5, 7) n});
$node->safe_psql('postgres', 'CALL sf_run_due()');
ok($node->poll_query_until('postgres', 'SELECT highest = 1 FROM _sfflow.run_limit'),
	'nothing runs above the limit any more');
$node->stop;
done_testing();
