# Events by key and rules: a rule emits an event that an execution waits for; a rule sees what is emitted, and starts
# machines that have received it by that; who sees what, and may emit what; chains end, also through waits.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.rule_attempts = 2\n");

sub sql { return $node->safe_psql('postgres', shift) }

sub start { return sql("SELECT sf_start('$_[0]', '{\"k\": \"$_[1]\"}', '$_[1]')") }

# Start one that ends by itself, and wait for that: its events have been emitted then.
sub run
{
	start(@_);
	sql("SELECT sf_await('$_[0]:$_[1]', '180 s')");
	return;
}

# The end of an execution, and what its last state has received.
sub outcome
{
	my ($id, $what) = @_;
	sql("SELECT sf_await('$id', '180 s')");
	return sql("SELECT status || ' ' || coalesce(output $what, '') FROM sf_executions WHERE execution_id = '$id'");
}

# No delivery waits.
sub delivered
{
	my $what = shift;
	ok($node->poll_query_until('postgres', 'SELECT sum(pending) = 0 FROM sf_rules'), "rules have delivered: $what");
	return;
}

sql(<<'EOS');
CREATE ROLE bank; CREATE ROLE shop;
SELECT sf_create_event('loaded'), sf_create_event('paid'), sf_create_event('loop'), sf_create_event('ping'),
	sf_create_event('pong');
SELECT sf_create_state_machine('load', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}'),
	sf_create_state_machine('report', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:loaded",
		"Parameters": {"Key.$": "$.k"}, "End": true}}}'),
	sf_create_state_machine('order', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:paid",
		"Parameters": {"Key.$": "$.detail.key"}, "ResultPath": "$.next", "End": true}}}'),
	sf_create_state_machine('emits', '{"StartAt": "E", "States": {"E": {"Type": "Task",
		"Resource": "sql:public.sf_emit",
		"Parameters": {"name": "paid", "key": "by-task", "payload": {"n": 1}, "id": "t1"}, "End": true}}}');
SELECT sf_create_rule('loaded', '{"source": ["aws.states"], "detail": {"status": ["SUCCEEDED"],
	"stateMachineArn": [{"suffix": ":load"}]}}', 'event:loaded',
	'{"key.$": "$.detail.name", "payload": {"status.$": "$.detail.status"}}');
EOS

# --- a status wakes a wait, in either order

start('report', 'early');
start('load', 'early');
is(outcome('report:early', q(#>> '{Payload,status}')), 'SUCCEEDED SUCCEEDED', 'a rule of a status ends a wait');
run('load', 'late');
delivered('the status');
start('report', 'late');
is(outcome('report:late', q(->> 'Key')), 'SUCCEEDED late', '... also one that begins later');
like(sql("SELECT string_agg(id, ' ') FROM sf_events WHERE name = 'loaded'"),
	qr/^[0-9a-f]{8}-\S{27} [0-9a-f]{8}-\S{27}$/, 'the id is that of the event that matched');

# --- rules see what is emitted

sql(<<'EOS');
CREATE TABLE seen (by text DEFAULT current_user, event jsonb);
GRANT INSERT ON seen TO PUBLIC;
CREATE FUNCTION note(event jsonb) RETURNS void LANGUAGE sql AS 'INSERT INTO public.seen (event) VALUES (event)';
SELECT sf_create_rule('order', '{"source": ["sfflow.events"], "detail-type": ["paid"],
	"detail": {"key": [{"prefix": "o"}]}}', 'order');
SELECT sf_create_rule('note', '{"detail": {"key": [{"exists": true}]}}', 'sql:public.note');
SELECT sf_emit('paid', 'o1', '{"amount": 1}', 'first'), sf_emit('paid', 'o1', '{"amount": 1}', 'first');
BEGIN; SAVEPOINT s; SELECT sf_emit('paid', 'o2'); ROLLBACK TO s; COMMIT;
SELECT sf_start('emits', '{}', 'e');
EOS
sql("SELECT sf_await('emits:e', '180 s')");
delivered('what was emitted');
my $arn = 'arn:aws:states:us-east-1:000000000000:execution:emits:e';
is(sql("SELECT string_agg(event ->> 'source' || ' ' || (event ->> 'detail-type') || ' ' || (event -> 'detail')::text
	|| ' ' || (event ->> 'resources'), E'\\n' ORDER BY event #>> '{detail,key}') FROM seen"),
	qq(sfflow.events paid {"id": "t1", "key": "by-task", "payload": {"n": 1}, "executionArn": "$arn"} ["$arn"]\n)
	. 'sfflow.events paid {"id": "first", "key": "o1", "payload": {"amount": 1}, "executionArn": null} []',
	'an event has name, key, id, payload and who emitted it');
is(sql("SELECT count(*) FROM sf_executions WHERE state_machine = 'order'"), '1',
	'a rule starts a machine, once for an id, and not for what was rolled back');
my $order = sql("SELECT execution_id FROM sf_executions WHERE state_machine = 'order'");
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_event_waits WHERE execution_id = '$order'"),
	'the start is the receipt: a wait in the execution goes on');
sql("SELECT sf_withdraw_event('paid', 'o1', 'first'), sf_emit('paid', 'o1', NULL, 'second')");
is(outcome($order, q(#>> '{next,Id}')), 'SUCCEEDED second', '... until the next event');
delivered('the second one');
ok($node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM sf_event_waits WHERE name = 'paid')),
	'... which has started the next execution');
sql("SELECT sf_emit('paid', 'o3')");
delivered('one without an id');
ok($node->poll_query_until('postgres', q(SELECT count(*) = 2 FROM sf_event_waits WHERE name = 'paid')),
	'... also of an event without an id');

# --- rights

sql(<<'EOS');
TRUNCATE seen;
SELECT sf_grant('CREATE', '*', 'bank'), sf_grant('CREATE', '*', 'shop');
SELECT sf_grant('EMIT', 'event:paid', 'bank'), sf_grant('RECEIVE', 'event:paid', 'shop');
SET ROLE bank;
SELECT sf_create_rule('bank', '{"source": ["sfflow.events"]}', 'sql:public.note');
SELECT sf_create_state_machine('bank', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_create_rule('pays', '{"detail": {"stateMachineArn": [{"suffix": ":bank"}], "status": ["SUCCEEDED"]}}',
	'event:paid', '{"key.$": "$.detail.name", "id": "once"}');
SET ROLE shop;
SELECT sf_create_rule('shop', '{"source": ["sfflow.events"]}', 'sql:public.note');
RESET ROLE;
SELECT sf_drop_rule('note'), sf_emit('paid', 'x1'), sf_emit('pong', 'x1');
EOS
delivered('to those who may know');
is(sql(q(SELECT string_agg(by || ' ' || (event ->> 'detail-type'), ', ') FROM seen)), 'shop paid',
	'a rule sees what its owner may RECEIVE; EMIT is not enough');
run('bank', 'b1');
delivered('by a role with EMIT');
is(sql("SELECT id FROM sf_events WHERE key = 'b1'"), 'once', 'a rule emits as its owner, with the id that it gives');
sql("SELECT sf_revoke('EMIT', 'event:paid', 'bank'), sf_grant('RECEIVE', 'event:paid', 'bank')");
start('bank', 'b2');
ok($node->poll_query_until('postgres', "SELECT dead = 1 FROM sf_rules WHERE rule_name = 'pays'"),
	'without the right it fails');
is(sql("SELECT last_cause FROM sf_rules WHERE rule_name = 'pays'"),
	'the owner of the rule has no right to emit event "paid"', '... and says so');
sql("SELECT sf_grant('EMIT', 'event:paid', 'bank'), sf_redeliver('pays')");
delivered('after the right was given');
is(sql("SELECT count(*) FROM sf_events WHERE key = 'b2'"), '1', '... and with it, it is emitted');

# --- chains end

sql(<<'EOS');
SELECT sf_create_rule('loop', '{"source": ["sfflow.events"], "detail-type": ["loop"]}', 'event:loop',
	'{"key.$": "$.detail.key"}');
SELECT sf_emit('loop', 'l');
EOS
ok($node->poll_query_until('postgres', "SELECT dead = 1 AND pending = 0 FROM sf_rules WHERE rule_name = 'loop'"),
	'a rule that emits what it matches ends');
is(sql("SELECT last_error FROM sf_rules WHERE rule_name = 'loop'"),
	'Sfflow.RuleChainTooLong', '... as a chain that is too long');
is(sql("SELECT count(*) FROM sf_events WHERE name = 'loop'"), '11', '... after the tenth rule');
is(sql("SELECT string_agg(depth::text, ' ' ORDER BY event_no) FROM _sfflow.emission e JOIN _sfflow.event_type t
	USING (event_type_no) WHERE t.name = 'loop'"), join(' ', 0 .. 10), '... which each event knows');

sql(<<'EOS');
SELECT sf_create_state_machine('player', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:ping",
	"Parameters": {"Key": "p"}, "Next": "E", "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "D"}]},
	"D": {"Type": "Succeed"}, "E": {"Type": "Task", "Resource": "sql:public.sf_emit",
	"Parameters": {"name": "pong", "key": "p"}, "Next": "W"}}}');
SELECT sf_create_rule('back', '{"source": ["sfflow.events"], "detail-type": ["pong"]}', 'event:ping',
	'{"key.$": "$.detail.key"}');
SELECT sf_start('player', '{}', 'p'), sf_emit('ping', 'p');
EOS
ok($node->poll_query_until('postgres', "SELECT dead = 1 AND pending = 0 FROM sf_rules WHERE rule_name = 'back'"),
	'so does one that goes through a wait');
is(sql("SELECT last_error || ' ' || (SELECT count(*) FROM sf_events WHERE name = 'ping')
	FROM sf_rules WHERE rule_name = 'back'"), 'Sfflow.RuleChainTooLong 11', '... after the tenth rule');
# --- names of what is started: one execution per key, whoever emits

sql(<<'EOS');
SELECT sf_create_event('step'),
	sf_create_state_machine('case', '{"StartAt": "First", "States": {
		"First": {"Type": "Pass", "Parameters": {"key.$": "$.detail.key", "n.$": "$.detail.payload"}, "Next": "Then"},
		"Then": {"Type": "Task", "Resource": "event:step", "Parameters": {"Key.$": "$.key"}, "ResultPath": "$.then",
			"Next": "Last"},
		"Last": {"Type": "Task", "Resource": "event:step", "Parameters": {"Key.$": "$.key"}, "ResultPath": "$.last",
			"End": true}}}');
SELECT sf_create_rule('case', '{"source": ["sfflow.events"], "detail-type": ["step"]}', 'case', NULL, '$.detail.key');
EOS
my @emitters = map { $node->background_psql('postgres') } 1 .. 3;
$_->query_safe("BEGIN; SELECT sf_emit('step', 'c' || k, to_jsonb($$)) FROM generate_series(1, 20) k") for @emitters;
$_->query_safe('COMMIT') for @emitters;
$_->quit for @emitters;
ok($node->poll_query_until('postgres', q(SELECT count(*) = 20 AND bool_and(status = 'SUCCEEDED') FROM sf_executions
	WHERE state_machine = 'case')), 'three emitters at once: one execution for each of twenty keys');
delivered('all steps');
is(sql(q(SELECT count(*), count(DISTINCT input #>> '{detail,id}') FILTER (WHERE output #>> '{then,Id}' <>
	output #>> '{last,Id}' AND input #>> '{detail,id}' NOT IN (output #>> '{then,Id}', output #>> '{last,Id}'))
	FROM sf_executions WHERE state_machine = 'case')), '20|20', '... which has received each of three events once');
sql(<<'EOS');
SELECT sf_create_rule('case', '{"source": ["sfflow.events"], "detail-type": ["step"]}', 'load', NULL,
	'States.Format(''case-{}'', $.detail.payload)', 'error');
SELECT sf_emit('step', 'x', '7'), sf_emit('step', 'y', '7'), sf_emit('step', 'z', '"two words"');
EOS
ok($node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM sf_executions WHERE execution_id = 'load:case-7')),
	'a function over the event names it');
ok($node->poll_query_until('postgres', q(SELECT dead = 2 FROM sf_rules WHERE rule_name = 'case')),
	'what is there already, and a name that is none, are errors');
is(sql(q(SELECT string_agg(cause, E'\n' ORDER BY cause) FROM sf_rule_deliveries WHERE rule_name = 'case')),
	"Execution Already Exists: 'load:case-7'\n"
	. 'execution name "case-two words" contains a character that is not allowed',
	'... which the delivery tells');
is(sql(q(SELECT execution_name || ' ' || if_exists FROM sf_rules WHERE rule_name = 'case')),
	q(States.Format('case-{}', $.detail.payload) error), '... and the view');

# --- what tasks put on EventBridge

sql(<<'EOS');
SELECT sf_aws_install();
SELECT sfflow_aws.put_rule('paid', '{"source": ["bank"], "detail": {"order": [{"exists": true}]}}', 'event:paid', NULL,
	'{"key.$": "$.detail.order", "payload.$": "$.detail.amount"}');
SELECT sf_create_state_machine('puts', '{"StartAt": "P", "States": {"P": {"Type": "Task",
	"Resource": "arn:aws:states:::events:putEvents", "Parameters": {"Entries": [
		{"Source": "bank", "DetailType": "paid", "Detail": {"order": "put", "amount": 12}},
		{"Source": "bank", "DetailType": "none", "Detail": {"amount": 12}}]}, "End": true}}}'),
	sf_create_state_machine('gets', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:paid",
		"Parameters": {"Key": "put"}, "End": true}}}');
SELECT sf_start('gets', '{}', 'g'), sf_start('puts', '{}', 'p');
EOS
is(outcome('puts:p', q(->> 'FailedEntryCount')), 'SUCCEEDED 0', 'a task puts events on a bus');
is(outcome('gets:g', q(->> 'Payload')), 'SUCCEEDED 12', '... a rule of which wakes a wait');
is(sql(q(SELECT (g.output -> 'Id') = (p.output #> '{Entries,0,EventId}') FROM sf_executions g, sf_executions p
	WHERE g.execution_id = 'gets:g' AND p.execution_id = 'puts:p')), 't', '... with the id of the entry');
is(sql('SELECT * FROM sf_check()'), '', 'everything is consistent');

done_testing();
