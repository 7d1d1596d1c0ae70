# A machine is given to another role while workers run its executions: a task that runs ends as it began,
# what comes after it runs as the new owner, and nothing is left in the old owner's queue.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('owner');
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE leaver;
CREATE ROLE heir;
CREATE SCHEMA work;
GRANT USAGE ON SCHEMA work TO public;
CREATE TABLE work.gate ();
CREATE FUNCTION work.wait() RETURNS text LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
	LOCK TABLE work.gate IN ACCESS SHARE MODE;
	RETURN current_user;
END $$;
GRANT SELECT ON work.gate TO public;
CREATE FUNCTION work.who() RETURNS text LANGUAGE sql AS 'SELECT current_user::text';
SET SESSION AUTHORIZATION leaver;
SELECT sf_create_state_machine('long', '{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:work.wait", "Parameters": {}, "ResultPath": "$.a", "Next": "B"},
	"B": {"Type": "Task", "Resource": "sql:work.who", "Parameters": {}, "ResultPath": "$.b", "End": true}}}');
SELECT sf_create_state_machine('waits', '{"StartAt": "A", "States": {
	"A": {"Type": "Parallel", "End": true, "Branches": [
		{"StartAt": "W", "States": {"W": {"Type": "Wait", "TimestampPath": "$.at", "Next": "B"},
			"B": {"Type": "Task", "Resource": "sql:work.who", "Parameters": {}, "End": true}}},
		{"StartAt": "D", "States": {"D": {"Type": "Task", "Resource": "sql:work.who", "Parameters": {},
			"End": true}}}]}}}');
SQL

# One execution is inside its task, others wait for a time that comes when the test says so.
my $gate = $node->background_psql('postgres');
$gate->query_safe('BEGIN; LOCK TABLE work.gate IN ACCESS EXCLUSIVE MODE');
$node->safe_psql('postgres', q{SELECT sf_start('long', name => 'l')});
$node->safe_psql('postgres', q{SELECT count(sf_start('waits',
	jsonb_build_object('at', to_char(now() AT TIME ZONE 'UTC' + interval '1 hour',
	'YYYY-MM-DD"T"HH24:MI:SS"Z"')), i::text)) FROM generate_series(1, 20) i});
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM sf_workers WHERE execution_id = 'long:l'})
	or die 'the task does not run';
$node->poll_query_until('postgres', q{SELECT count(*) = 20 FROM _sfflow.branch b JOIN _sfflow.execution e
	USING (execution_no)
	WHERE e.execution_id LIKE 'waits:%' AND b.phase = } . phase('WAIT')) or die 'they do not wait';

is($node->safe_psql('postgres', q{SELECT sf_reassign_owned('leaver', 'heir')}), '2', 'two machines go to another role');
$gate->query_safe('COMMIT');
$gate->quit;
# The worker that sf_enable() rings for looks at the timers.
$node->safe_psql('postgres', q{UPDATE _sfflow.branch SET due_at = now() WHERE due_at > now() + interval '30 min';
	SELECT sf_enable()});
is($node->safe_psql('postgres', q{SELECT sf_await('long:l', '180 s')}), 'SUCCEEDED', 'what ran ends well');
is($node->safe_psql('postgres', q{SELECT output ->> 'a', output ->> 'b' FROM sf_executions
	WHERE execution_id = 'long:l'}), 'leaver|heir',
	'as the old owner, and goes on as the new one');
ok(ended($node), 'what waited ends');
is($node->safe_psql('postgres', q{SELECT status, output ->> 0, count(*) FROM sf_executions WHERE state_machine = 'waits'
	GROUP BY 1, 2}),
	'SUCCEEDED|heir|20', 'as the new owner');
is($node->safe_psql('postgres', q{SELECT count(*) FROM _sfflow.branch}), '0', 'nothing is left');
$node->safe_psql('postgres', q{DROP OWNED BY leaver; DROP ROLE leaver});
is($node->safe_psql('postgres', q{SELECT count(*) FROM sf_check()}), '0', 'nothing is wrong');
$node->stop;
done_testing();
