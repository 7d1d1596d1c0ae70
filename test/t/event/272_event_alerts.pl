# The alert of events that end and that no execution has received: of types that ask for it; told to rules;
# acknowledged; not of what a wait, or the start by a rule, has received.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep);

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.poll_interval = '1 s'\n");

sub sql { return $node->safe_psql('postgres', shift) }

# Look until a query says so: a new session looks for what has ended at once, a worker once a minute.
sub look_until
{
	my $query = shift;
	for (1 .. 300)
	{
		sql('CALL sf_run_due() \g /dev/null');
		return 1 if sql($query) eq 't';
		sleep 0.1;
	}
	return 0;
}

# Look until events of a type have ended.
sub has_ended
{
	my ($name, $count) = @_;
	look_until("SELECT count(*) = $count FROM _sfflow.emission e JOIN _sfflow.event_type t
		USING (event_type_no) WHERE t.name = '$name' AND e.status > 2") or die "no $count events of $name have ended";
	return;
}

sql(<<'EOS');
CREATE ROLE receiver; CREATE ROLE stranger;
SELECT sf_create_event('watched', '1 s', alert_unreceived => true), sf_create_event('quiet', '1 s'),
	sf_create_event('starts', '1 h', alert_unreceived => true);
SELECT sf_grant('RECEIVE', 'event:watched', 'receiver');
SELECT sf_create_state_machine('wait', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:watched",
	"Parameters": {"Key": "got"}, "End": true}}}'),
	sf_create_state_machine('begin', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_create_rule('begin', '{"source": ["sfflow.events"], "detail-type": ["starts"]}', 'begin');
CREATE TABLE told (event jsonb);
CREATE FUNCTION tell(event jsonb) RETURNS void LANGUAGE sql AS 'INSERT INTO public.told VALUES (event)';
SELECT sf_create_rule('tell', '{"source": ["sfflow.alerts"], "detail": {"alert": ["unreceived_event"]}}',
	'sql:public.tell');
SELECT sf_start('wait', '{}', 'w');
EOS
# It waits before there is an event, which ends a second later.
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_event_waits WHERE key = 'got'") or die 'nothing waits';
sql("SELECT sf_emit('quiet', 'k', id => 'i'), sf_emit('watched', 'got'), sf_emit('starts', 's', id => 'i')");
is(sql("SELECT sf_await('wait:w', '180 s')"), 'SUCCEEDED', 'an event is received');
# This one ends when it has started an execution.
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_executions WHERE state_machine = 'begin'")
  or die 'no execution was started';
look_until("WITH over AS (UPDATE _sfflow.emission SET expires_at = now() WHERE key = 's' AND status = 2
	RETURNING 1) SELECT count(*) = 1 FROM over") or die 'no sweep has come to it';
has_ended($_, 1) for 'quiet', 'starts';
look_until(q(SELECT count(*) = 0 FROM _sfflow.emission e JOIN _sfflow.event_type t
	USING (event_type_no) WHERE t.name = 'watched')) or die 'what was received stays';
is(sql('SELECT count(*) FROM sf_alerts'), '0',
	'no alert of what was received, has started an execution, or is of another type');

sql("SELECT sf_emit('watched', 'first'), sf_emit('watched', 'second', id => 's')");
has_ended('watched', 2);
is(sql('SELECT kind, target, detail FROM sf_alerts'),
	'unreceived_event|event:watched|event "watched": no execution has received 2 events, the last one of key "second"',
	'events that end are an alert, one for the type');
is(sql("SET ROLE receiver; SELECT count(*) FROM sf_alerts; SET ROLE stranger; SELECT count(*) FROM sf_alerts"), "1\n0",
	'... for those who may receive them');
sql('DO $$ BEGIN WHILE _sfflow.check_alerts() LOOP END LOOP; END $$');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 1 FROM told'), '... which rules are told of');
is(sql("SELECT event #>> '{detail,target}' || ' ' || (event #>> '{detail,status}') FROM told"), 'event:watched OPENED',
	'... with its target');
is(sql("SELECT sf_acknowledge('event:watched', 'unreceived_event')"), '1', 'it is acknowledged');
is(sql("SELECT sf_acknowledge('event:watched') || ' ' || (SELECT count(*) FROM sf_alerts)"), '0 0', '... and is gone');
sql("SELECT sf_emit('watched', 'third')");
ok(look_until(q(SELECT count(*) = 1 FROM sf_alerts WHERE detail LIKE '% 1 event, %"third"')),
	'the next one is an alert again');
is(sql('SELECT * FROM sf_check()'), '', 'everything is consistent');

$node->stop;
done_testing();
