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

my $node = new_node('main', conf => "sfflow.workers = 1\nsfflow.max_workers = 1\n");

sub sql { return $node->safe_psql('postgres', shift) }

my ($keys, $waits, $events) = (4, 400, 1000);
sql(<<'EOS');
CREATE ROLE busy LOGIN;
CREATE ROLE quiet LOGIN;
SELECT sf_grant('CREATE', '*', 'busy'), sf_grant('CREATE', '*', 'quiet');
CREATE FUNCTION public.left_over(jsonb) RETURNS jsonb LANGUAGE sql SECURITY DEFINER AS $$
	SELECT to_jsonb(count(*)) FROM _sfflow.emission WHERE key LIKE 'k%' AND status < 2 $$;
SET ROLE busy;
SELECT sf_create_event('of_busy');
SELECT sf_create_state_machine('busy', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:of_busy",
	"Parameters": {"Filter": {"a": ["never"]}, "Key.$": "$"}, "End": true}}}');
SET ROLE quiet;
SELECT sf_create_event('of_quiet');
SELECT sf_create_state_machine('quiet', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:of_quiet",
	"Parameters": {"Key": "x"}, "Next": "L"},
	"L": {"Type": "Task", "Resource": "sql:public.left_over", "End": true}}}');
EOS
sql(<<"EOS");
SET ROLE busy;
SELECT sf_start_many('busy', array_agg(to_jsonb('k' || n % $keys))) FROM generate_series(1, $keys * $waits) n;
EOS
sql("SET ROLE quiet; SELECT sf_start('quiet', '{}', 'x')");
my $all = $keys * $waits + 1;
$node->poll_query_until('postgres', "SELECT count(*) = $all FROM sf_event_waits") or BAIL_OUT('not all wait');

# The events of both come at once, and the keys of the busy one are the first.
sql(<<"EOS");
BEGIN;
SELECT sf_emit_many('of_busy', array_agg(jsonb_build_object('key', 'k' || n % $keys, 'payload', '{"a": "x"}'::jsonb)))
	FROM generate_series(1, $keys * $events) n;
SELECT sf_emit('of_quiet', 'x');
COMMIT;
EOS
is(sql("SELECT sf_await('quiet:x', '180 s')"), 'SUCCEEDED', 'another one receives its event');
# What it has counted then.
is(sql("SELECT output FROM sf_executions WHERE execution_id = 'quiet:x'"), $keys * $events,
	'... while no key of the first is matched');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.emission WHERE status < 2'),
	'... which all are in the end');
is(sql('SELECT count(*) FROM _sfflow.awaited_event WHERE NOT ripe'), $keys * $waits, '... with all waits');
# All of them still receive what matches.
sql(qq(SELECT sf_emit('of_busy', 'k' || n, '{"a": "never"}') FROM generate_series(0, $keys - 1) n));
ok(ended($node), 'each wait receives an event that matches');
is(sql('SELECT count(*) FROM sf_check()'), '0', 'nothing is wrong');

$node->stop;
done_testing();
