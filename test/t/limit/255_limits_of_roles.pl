# GRANT and REVOKE of a role change for whose machines the limits and holds of a role are. The next look of the workers
# gives slots to what runs, takes them from what is not limited any more, and has what waits in vain go on: the same
# after a start of the server, and while owners and mappings change beside what runs.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('roles', conf => "sfflow.workers = 2\nsfflow.poll_interval = 1\nsfflow.max_workers = 4\n");
$node->safe_psql('postgres', <<'EOS');
CREATE ROLE one; CREATE ROLE two; CREATE ROLE team;
SELECT sf_grant('CREATE', '*', r) FROM unnest('{one,two,team}'::text[]) AS r;
SELECT sf_create_activity('desk'), sf_grant('WORK', 'activity:desk', 'public');
SELECT sf_map_resource('arn:aws:states:::job:run', 'activity:desk');
SET ROLE one;
SELECT sf_create_state_machine('night', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "arn:aws:states:::job:run", "End": true}}}');
SET ROLE team;
SELECT sf_set_limit('arn:aws:states:::job:run', max_running => 2);
EOS
my $shown = "SELECT concat_ws(' ', in_use, waiting) FROM sf_limits WHERE target = 'arn:aws:states:::job:run'";
my $counted = 'SELECT bool_and(counted) FROM _sfflow.run_limit';

sub becomes
{
	my ($expected, $what) = @_;
	ok($node->poll_query_until('postgres', $shown, $expected), "$what: $expected")
		or diag $node->safe_psql('postgres', $shown);
	ok($node->poll_query_until('postgres', $counted), '... and the limit is counted');
	is($node->safe_psql('postgres', 'SELECT string_agg(DISTINCT problem, $$ $$) FROM sf_check()'), '',
		'... the tables hold together');
}

$node->safe_psql('postgres', "SELECT sf_start('night', '{}', n::text) FROM generate_series(1, 3) n");
ok($node->poll_query_until('postgres', "SELECT count(*) = 3 FROM sf_tasks WHERE status = 'queued'"), 'three run');
becomes('0 0', 'the limit of another role');
$node->safe_psql('postgres', 'GRANT one TO team');
becomes('3 0', 'the role is a member now');
$node->safe_psql('postgres', "SELECT sf_start('night', '{}', n::text) FROM generate_series(4, 6) n");
becomes('3 3', 'others wait');
$node->safe_psql('postgres', 'REVOKE one FROM team');
ok($node->poll_query_until('postgres', "SELECT count(*) = 6 FROM sf_tasks WHERE status = 'queued'"),
	'what waited goes on when the role is no member any more');
becomes('0 0', 'the role is no member any more');

# A hold of the role.
$node->safe_psql('postgres', "GRANT one TO team; SET ROLE team; SELECT sf_drop_limit('arn:aws:states:::job:run'),
	sf_hold('arn:aws:states:::job:run')");
$node->safe_psql('postgres', "SELECT sf_start('night', '{}', 'held')");
ok($node->poll_query_until('postgres', 'SELECT waiting = 1 FROM sf_holds'), 'one is held');
$node->safe_psql('postgres', 'REVOKE one FROM team');
ok($node->poll_query_until('postgres', "SELECT count(*) = 7 FROM sf_tasks WHERE status = 'queued'"),
	'... and goes on when the hold is not for its role any more');
$node->safe_psql('postgres', "SET ROLE team; SELECT sf_release('arn:aws:states:::job:run'),
	sf_set_limit('arn:aws:states:::job:run', max_running => 2)");
becomes('0 0', 'set anew');

# No worker sees the change: it was made in another database while this one had none, and the server starts again.
$node->safe_psql('template1', 'GRANT one TO two; GRANT two TO team');
becomes('7 0', 'a member of a member, by a change in another database');
$node->append_conf('postgresql.conf', 'sfflow.workers = 0');
$node->restart;
$node->safe_psql('template1', 'REVOKE two FROM team');
$node->append_conf('postgresql.conf', 'sfflow.workers = 2');
$node->restart;
becomes('0 0', 'a change that no process has seen');

# Owners and mappings change while tasks begin and end.
$node->safe_psql('postgres', "SELECT count(sf_stop(execution_id)) FROM sf_executions WHERE status = 'RUNNING'");
$node->safe_psql('postgres', <<'EOS');
CREATE FUNCTION nap(x jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT x FROM pg_sleep(0.001)';
SELECT sf_unmap_resource('arn:aws:states:::job:run');
SELECT sf_create_activity('other'), sf_grant('WORK', 'activity:other', 'public');
SELECT sf_set_limit('activity:desk', max_running => 3), sf_set_limit('activity:other', max_running => 2),
	sf_set_limit('sql:public.nap', max_running => 2);
EOS
$node->safe_psql('postgres', "SET ROLE $_; SELECT sf_map_resource('arn:aws:states:::job:run', 'sql:public.nap')")
	for qw(one two);
my @answers = map { "SELECT count(sf_send_task_success(task_token, '{}'))
	FROM sf_get_activity_task('activity:$_', 'w')" } qw(desk other);
for my $round (1 .. full(40, 400))
{
	my $owner = $round % 2 ? 'one' : 'two';
	my $target = ('sql:public.nap', 'activity:desk', 'activity:other')[$round % 3];
	$node->safe_psql('postgres', "SELECT count(sf_start('night', '{}')) FROM generate_series(1, 5);
		SELECT sf_alter_owner('night', '$owner')");
	$node->safe_psql('postgres', "SET ROLE $owner; SELECT sf_map_resource('arn:aws:states:::job:run', '$target')");
	$node->safe_psql('postgres', join '; ', @answers);
}
ok($node->poll_query_until('postgres', $counted), 'after many changes beside what runs the limits are counted');
is($node->safe_psql('postgres', 'SELECT string_agg(DISTINCT problem || $$: $$ || detail, chr(10)) FROM sf_check()'), '',
	'... the tables hold together');
$node->safe_psql('postgres', "SET ROLE $_; SELECT sf_map_resource('arn:aws:states:::job:run', 'sql:public.nap')")
	for qw(one two);
for (1 .. 300)
{
	last if $node->safe_psql('postgres', join('; ', @answers)
		. "; SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'") =~ /t$/;
}
ok(ended($node), 'all end');
is($node->safe_psql('postgres', 'SELECT sum(in_use), sum(waiting) FROM sf_limits'), '0|0',
	'no slot is taken, and nothing waits');
no_surprises($node);
done_testing();
