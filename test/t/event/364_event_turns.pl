# An owner has many waits whose filters match nothing, and many events: matching them takes many sweeps, between which
# others receive their events.
# needs: event
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes;

my $node = new_node('main', conf => "sfflow.workers = 1\nsfflow.max_workers = 1\n");

sub sql { return $node->safe_psql('postgres', shift) }

my ($waits, $events) = (1000, 1000);
sql(<<'EOS');
CREATE ROLE busy LOGIN;
CREATE ROLE quiet LOGIN;
SELECT sf_grant('CREATE', '*', 'busy'), sf_grant('CREATE', '*', 'quiet');
EOS
for my $role ('busy', 'quiet')
{
	my $filter = $role eq 'busy' ? '"Filter": {"a": ["never"]},' : '';
	sql(<<"EOS");
SET ROLE $role;
SELECT sf_create_event('of_$role', alert_unreceived => false);
SELECT sf_create_state_machine('$role', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:of_$role",
	"Parameters": {$filter "Key": "k"}, "End": true}}}');
EOS
}
sql("SET ROLE busy; SELECT sf_start_many('busy', array_agg('{}'::jsonb)) FROM generate_series(1, $waits)");
sql("SET ROLE quiet; SELECT sf_start('quiet', '{}', 'x')");
my $all = $waits + 1;
$node->poll_query_until('postgres', "SELECT count(*) = $all FROM sf_event_waits") or BAIL_OUT('not all wait');

# The events of both come at once; the sweep sees those of the busy one first.
sql(<<"EOS");
SELECT sf_emit_many('of_busy', array_agg(jsonb_build_object('key', 'k', 'payload', '{"a": "x"}'::jsonb)))
	FROM generate_series(1, $events);
EOS
sql("SELECT sf_emit('of_quiet', 'k')");
# In one snapshot: the one has received its event, and the others are not matched yet.
my $left;
for (1 .. 3000)
{
	$left = sql("SELECT count(*) FROM _sfflow.emission e WHERE e.status < 2
		AND (SELECT status = 'SUCCEEDED' FROM sf_executions WHERE execution_id = 'quiet:x')
		HAVING (SELECT status = 'SUCCEEDED' FROM sf_executions WHERE execution_id = 'quiet:x')");
	last if $left ne '';
	Time::HiRes::sleep(0.01);
}
cmp_ok($left, '>=', $events / 2, 'another one receives its event while most events of the first are not matched');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.emission WHERE status < 2'),
	'... which all are in the end');
is(sql('SELECT count(*) FROM _sfflow.awaited_event WHERE NOT ripe'), $waits, '... with all waits');
# All of them still receive what matches.
sql(q{SELECT sf_emit('of_busy', 'k', '{"a": "never"}')});
ok(ended($node), 'each wait receives an event that matches');
is(sql('SELECT count(*) FROM sf_check()'), '0', 'nothing is wrong');

$node->stop;
done_testing();
