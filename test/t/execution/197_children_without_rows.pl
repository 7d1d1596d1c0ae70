# Children that a slice runs before they have rows: a task of one is found by the branch that began it. It is cancelled
# when a sibling of that branch fails, and ends its process sfflow.max_crashes times at most.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);


my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 2
sfflow.max_workers = 2
sfflow.max_crashes = 3
sfflow.poll_interval = 1s
# A short task that a busy machine delays by more than this counts as long, and its child gets a row.
sfflow.slice_ms = 10000
EOC
sub sql { return $node->safe_psql('postgres', shift) }
sql(<<'EOS');
CREATE SEQUENCE calls;
CREATE TABLE mood (what text);
-- A short task, as all workers know it, until there is a mood.
CREATE FUNCTION task(i integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM public.mood WHERE what = 'sleeps') THEN
		PERFORM nextval('public.calls');
		PERFORM pg_sleep(600);
	ELSIF EXISTS (SELECT FROM public.mood WHERE what = 'dies') AND i = 2 THEN
		PERFORM nextval('public.calls');
		PERFORM pg_terminate_backend(pg_backend_pid());
		PERFORM pg_sleep(60);
	END IF;
	RETURN i;
END $$;
-- One branch has a row, since it waits; then it begins a Map, whose items have none. The other one fails meanwhile.
SELECT sf_create_state_machine('beside',
	'{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
	{"StartAt": "Rest", "States": {
		"Rest": {"Type": "Wait", "Seconds": 1, "Next": "Items"},
		"Items": {"Type": "Map", "ItemsPath": "$.items", "End": true, "ItemProcessor": {"StartAt": "Item", "States": {
			"Item": {"Type": "Task", "Resource": "sql:public.task", "Parameters": {"i.$": "$"}, "End": true}}}}}},
	{"StartAt": "Later", "States": {
		"Later": {"Type": "Wait", "SecondsPath": "$.seconds", "Next": "Which"},
		"Which": {"Type": "Choice", "Choices": [{"Variable": "$.bad", "BooleanEquals": true, "Next": "Bad"}],
			"Default": "Good"},
		"Bad": {"Type": "Fail", "Error": "Sibling"},
		"Good": {"Type": "Pass", "End": true}}}]}}}');
SELECT sf_create_state_machine('items', '{"StartAt": "Items", "States": {"Items": {"Type": "Map",
	"ItemsPath": "$.items", "End": true,
	"ItemProcessor": {"StartAt": "Item", "States": {
		"Item": {"Type": "Task", "Resource": "sql:public.task", "Parameters": {"i.$": "$"}, "End": true}}}}}}');
EOS

# Start an execution; all workers learn that its tasks are short.
sub warm_up
{
	my $machine = shift;
	for my $n (1 .. 6)
	{
		sql(qq(SELECT sf_start('$machine', '{"items": [0, 1], "seconds": 0, "bad": false}', 'warm$n')));
		sql("SELECT sf_await('$machine:warm$n', '180 s')");
	}
	return;
}

# --- a sibling fails

warm_up('beside');
sql("INSERT INTO mood VALUES ('sleeps')");
sql(q(SELECT sf_start('beside', '{"items": [1, 2], "seconds": 86400, "bad": true}', 'x')));
ok($node->poll_query_until('postgres', 'SELECT is_called FROM calls'), 'the task of a child runs');
is(sql("SELECT count(*) FROM _sfflow.branch JOIN _sfflow.execution USING (execution_no)
	WHERE execution_id = 'beside:x'"), '3', '... which has no row: those are of the state and its branches');
# Now the other branch goes on, which has waited until then.
is(sql("WITH due AS (UPDATE _sfflow.branch b SET due_at = now() FROM _sfflow.execution e
	WHERE e.execution_no = b.execution_no AND e.execution_id = 'beside:x'
	AND b.due_at BETWEEN now() + '1 h' AND now() + '2 d'
	RETURNING 1) SELECT count(*) FROM due"), '1', '... beside one that waits');
my $began = time;
ok($node->poll_query_until('postgres', "SELECT status = 'FAILED' FROM sf_executions WHERE execution_id = 'beside:x'"),
	'when the other branch fails, the execution does');
cmp_ok(time - $began, '<', 120, '... soon: the task was cancelled');
is(sql("SELECT error FROM sf_executions WHERE execution_id = 'beside:x'"), 'Sibling', '... with that error');
is(sql('SELECT last_value FROM calls'), '1', '... and no other child began its task');
sql('TRUNCATE mood');

# --- a task ends its process

warm_up('items');
sql("INSERT INTO mood VALUES ('dies')");
sql("ALTER SEQUENCE calls RESTART");
sql(q(SELECT sf_start('items', '{"items": [1, 2, 3]}', 'x')));
ok($node->poll_query_until('postgres', "SELECT status = 'FAILED' FROM sf_executions WHERE execution_id = 'items:x'"),
	'a child whose task ends its process fails');
is(sql("SELECT error FROM sf_executions WHERE execution_id = 'items:x'"), 'States.Runtime',
	'... with the error for that');
cmp_ok(sql('SELECT last_value FROM calls'), '<=', 4,
	'... after three times, and one more while it was not known which child it was');
cmp_ok(sql('SELECT last_value FROM calls'), '>=', 3, '... not earlier');
no_surprises($node);
$node->stop;
done_testing();
