# What time brings for tasks of people, with workers: rules are told once when a task is due and when it is for more
# roles, also over a crash; such a role sees and does the task from then on; a task that is done in time is not due.
# needs: human rule
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\n");

sub sql { return $node->safe_psql('postgres', shift) }

# The statuses of a task that were told, but for that it was created.
sub told
{
	my $name = shift;
	return sql("SELECT string_agg(status, ' ' ORDER BY status) FROM told WHERE name = '$name' AND status <> 'CREATED'");
}

sub start
{
	my ($name, $parameters) = @_;
	sql("SELECT sf_start('ask', '$parameters', '$name')");
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM sf_human_tasks WHERE execution_id = 'ask:$name'")
	  or die "$name has no task";
	return;
}

sql(<<'EOS');
CREATE ROLE clerk; CREATE ROLE lead;
CREATE TABLE told (name text, status text, change text);
CREATE FUNCTION tell(payload jsonb) RETURNS void LANGUAGE sql AS $$
	INSERT INTO public.told SELECT d ->> 'name', d ->> 'status', d ->> 'change'
		FROM (SELECT payload -> 'detail' AS d) x $$;
SELECT sf_create_worklist('ask'), sf_grant('DO', 'human:ask', r) FROM unnest('{clerk,lead}'::text[]) r;
SELECT sf_create_rule('tell', '{"source": ["sfflow.tasks"]}', 'sql:public.tell');
SELECT sf_create_state_machine('ask', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:ask",
	"End": true}}}');
EOS

# Wait until rules were told that often of a task.
sub wait_told
{
	my ($name, $times) = @_;
	$node->poll_query_until('postgres', "SELECT count(*) = $times FROM told WHERE name = '$name'")
	  or die "$name was not told $times times";
	return;
}

# --- in time, and late

start('done', '{"Due": 3600}');
sql("SELECT sf_complete_task(task) FROM sf_human_tasks WHERE execution_id = 'ask:done'");
start('late', '{"Due": 1, "Roles": ["clerk"], "Escalate": [{"After": 2, "Roles": ["lead"]}]}');
wait_told('late', 3);
is(told('late'), 'DUE ESCALATED', 'rules are told of what time brings');
is(sql("SELECT change FROM told WHERE status = 'ESCALATED'"), '{"roles": ["lead"]}', '... with the roles');
my $task = "FROM sf_human_tasks WHERE execution_id = 'ask:late'";
is(sql("SET ROLE lead; SELECT count(*) $task"), '1', 'the task is for more roles');
is(sql("SELECT roles $task"), '{clerk,lead}', '... all of which are shown');
sql("SET ROLE lead; SELECT sf_complete_task(task) $task");
is(sql("SELECT sf_await('ask:late', '180 s')"), 'SUCCEEDED', '... and may do it');
wait_told('late', 4);
wait_told('done', 2);
is(told('done'), 'COMPLETED', 'a task that is done in time is never due');

# --- over a crash

start('crash', '{"Due": 3, "Roles": ["clerk"], "Escalate": [{"After": 3, "Roles": ["lead"]}]}');
$node->stop('immediate');
$node->start;
wait_told('crash', 3);
$node->stop('immediate');
$node->start;
sql('SELECT sf_change_task(task, due => clock_timestamp()) FROM sf_human_tasks');
wait_told('crash', 5);
is(told('crash'), 'CHANGED DUE DUE ESCALATED', 'once over a crash, and again when it gets another time');
is(sql('SELECT * FROM sf_check()'), '', 'all is sound');
is(sql('SELECT count(*) FROM _sfflow.human_task WHERE sweep_at IS NOT NULL'), '0', 'no sweep is to come any more');

$node->stop;
done_testing();
