# Tasks of people with workers and with several sessions: two claims at once, an answer beside a stop, beside a
# time-out and beside the drop of its worklist; four eyes by logins, also of what a parent or a schedule starts; a
# crash; a dump; a purge.
# needs: human rule
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\n");

sub sql { return $node->safe_psql('postgres', shift) }

my $task;

# What is said of a task that is over, or not to be known.
sub over { return "$_[0] task $task does not exist, or is over" }

# Wait until an execution waits for people; returns the number of its task.
sub task_of
{
	my $id = shift;
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_human_tasks WHERE execution_id = '$id'")
	  or die "$id has no task";
	return sql("SELECT task FROM sf_human_tasks WHERE execution_id = '$id'");
}

sub begin
{
	my ($machine, $name) = @_;
	sql("SELECT sf_start('$machine', '{}', '$name')");
	return task_of("$machine:$name");
}

# Begin an execution whose task times out, and have a session call something of the task in a transaction before it
# does. A machine that took too long for that gets more time. Returns the execution.
sub begin_in_time
{
	my ($session, $name, $call) = @_;
	for my $seconds (2, 10, 60)
	{
		my $id = "short:$name-$seconds";
		sql(qq(SELECT sf_start('short', '{"seconds": $seconds}', '$name-$seconds')));
		my $found = "SELECT task FROM sf_human_tasks WHERE execution_id = '$id'";
		$node->poll_query_until('postgres', "SELECT status <> 'RUNNING' OR EXISTS ($found) FROM sf_executions
			WHERE execution_id = '$id'") or die "$id has no task";
		$task = sql($found);
		next if $task eq '';
		return $id if !$call;
		$session->query("BEGIN; SELECT $call($task);");
		return $id if $session->query('SELECT 1') eq '1';
		$session->query('ROLLBACK');
	}
	die "no task in time: $name";
}

# The end of an execution, and who has completed its task.
sub outcome
{
	my $id = shift;
	sql("SELECT sf_await('$id', '180 s')");
	return sql("SELECT concat_ws(' ', status, output ->> 'By', error) FROM sf_executions WHERE execution_id = '$id'");
}

# The SQLSTATE and the message of what a login calls; or "allowed".
sub refusal
{
	my ($login, $call) = @_;
	my ($code, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT $call",
		extra_params => [ '-U', $login ]);
	return $code == 0 ? 'allowed' : $err =~ /ERROR:\s+(\w+): (.*)/ ? "$1 $2" : $err;
}

# Have a login call something while an open transaction of another one has called something else; then that ends. What
# the
# first one is told.
sub beside
{
	my ($first, $second, $end) = @_;
	my ($one, $two) = map { $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U',
		$_ ]) } 'anna', 'bob';
	$one->query_safe("SET client_min_messages = error; BEGIN; SELECT $first");
	my $pid = $two->query_safe('SELECT pg_backend_pid()');
	$two->query_until(qr/begun/, "\\set VERBOSITY verbose\n\\echo begun\nSELECT $second;\n\\echo done\n");
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $pid AND wait_event_type = 'Lock'")
	  or die 'the second session does not wait';
	$one->query_safe($end);
	$two->query_until(qr/done/, "\\echo\n");
	my $told = $two->{stderr} =~ /ERROR:\s+(\w+: .*)/ ? $1 : 'allowed';
	$_->quit for $one, $two;
	return $told;
}

sql(<<'EOS');
CREATE ROLE anna LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE carla LOGIN; CREATE ROLE clerks; GRANT clerks TO anna, bob;
SELECT sf_create_worklist('approve');
SELECT sf_grant('DO', 'human:approve', 'anna'), sf_grant('DO', 'human:approve', 'bob'), sf_grant('ASSIGN',
	'human:approve', 'anna'),
	sf_grant('DO', 'human:approve', 'clerks');
SELECT sf_create_state_machine('order', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:approve",
	"Parameters": {"Title": "x"}, "End": true}}}');
SELECT sf_create_state_machine('short', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:approve",
	"Parameters": {"Title": "x"}, "TimeoutSecondsPath": "$.seconds", "End": true}}}');
SELECT sf_create_state_machine('eyes', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:approve",
	"Parameters": {"Title": "x", "NotBy": ["starter"]}, "End": true}}}');
SELECT sf_create_state_machine('parent', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "arn:aws:states:::states:startExecution.sync:2", "Parameters": {"StateMachineArn": "eyes",
		"Name": "child",
	"Input": {}}, "OutputPath": "$.Output", "End": true}}}');
SELECT sf_grant(p, m, r) FROM unnest('{START,OPERATE,READ}'::text[]) p, unnest('{order,short,eyes,parent}'::text[]) m,
	unnest('{anna,bob,clerks}'::text[]) r;
EOS

# --- with workers

$task = begin('order', 'plain');
is(refusal('carla', "sf_complete_task($task)"), over('SF063'),
	'who has no right does not know the task');
is(refusal('anna', "sf_complete_task($task)"), 'allowed', 'a task is completed');
is(outcome('order:plain'), 'SUCCEEDED anna', '... and its execution goes on');

# --- two at once

$task = begin('order', 'claims');
is(beside("sf_claim_task($task)", "sf_claim_task($task)", 'COMMIT'), qq(SF062: task $task is claimed by "anna"),
	'of two claims the first one holds');
is(sql("SELECT claimed_by FROM sf_human_tasks WHERE task = $task"), 'anna', '... and nobody else has it');
sql("SELECT sf_release_task($task)");
is(beside("sf_claim_task($task)", "sf_claim_task($task)", 'ROLLBACK'), 'allowed',
	'a claim that is rolled back never was');
is(sql("SELECT claimed_by FROM sf_human_tasks WHERE task = $task"), 'bob', '... so the other one has the task');
sql("SELECT sf_release_task($task)");
is(beside("sf_complete_task($task)", "sf_complete_task($task)", 'COMMIT'), over('SF063:'),
	'of two answers the first one holds');
is(outcome('order:claims'), 'SUCCEEDED anna', '... and is the result');
$task = begin('order', 'claimed');
is(beside("sf_complete_task($task)", "sf_claim_task($task)", 'COMMIT'), over('SF063:'),
	'a claim beside an answer');
$task = begin('order', 'assigned');
is(beside("sf_assign_task($task, 'anna')", "sf_complete_task($task)", 'COMMIT'),
	qq(SF062: task $task is claimed by "anna"),
	'an answer beside an assignment to somebody else');
is(refusal('anna', "sf_complete_task($task)"), 'allowed', '... who completes it');

# --- beside a stop, a time-out

$task = begin('order', 'stopped');
is(beside("sf_stop('order:stopped')", "sf_complete_task($task)", 'COMMIT'), over('SF063:'),
	'an answer beside a stop');
is(outcome('order:stopped'), 'ABORTED', '... is not taken');
my $session = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'anna' ]);
my $id = begin_in_time($session, 'answered', 'sf_complete_task');
$node->poll_query_until('postgres', "SELECT clock_timestamp() > b.deadline FROM _sfflow.branch b
	JOIN _sfflow.execution e ON e.execution_no = b.execution_no WHERE e.execution_id = '$id'");
is(sql("SELECT status FROM sf_executions WHERE execution_id = '$id'"), 'RUNNING',
	'a time-out waits for an answer that is not committed');
$session->query_safe('COMMIT');
is(outcome($id), 'SUCCEEDED anna', '... which counts');
is(outcome(begin_in_time($session, 'late')), 'FAILED States.Timeout', 'a task that nobody answers times out');
is(refusal('anna', "sf_complete_task($task)"), over('SF063'),
	'... and cannot be answered then');

# A claim that stays open keeps workers from this branch alone, and no longer than it is open.
$id = begin_in_time($session, 'open', 'sf_claim_task');
$node->poll_query_until('postgres', "SELECT clock_timestamp() > b.deadline + '1 s' FROM _sfflow.branch b
	JOIN _sfflow.execution e ON e.execution_no = b.execution_no WHERE e.execution_id = '$id'");
is(sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'sfflow%' AND wait_event_type = 'Lock'"), '0',
	'no worker waits for a claim that stays open');
$session->query_safe('COMMIT');
is(outcome($id), 'FAILED States.Timeout', '... and the task times out when it ends');

# --- four eyes by logins

$node->safe_psql('postgres', "SET ROLE clerks; SELECT sf_start('eyes', '{}', 'clerk')",
	extra_params => [ '-U', 'anna' ]);
$task = task_of('eyes:clerk');
is(refusal('anna', "sf_complete_task($task)"), qq(42501 task $task must not be done by "anna"),
	'SET ROLE hides no starter');
is($node->psql('postgres', "SET ROLE clerks; SELECT sf_complete_task($task)", extra_params => [ '-U', 'bob' ]), 3,
	'nor does another one do it as the role that has started it');
is(refusal('bob', "sf_complete_task($task)"), 'allowed', '... but as himself');
$node->safe_psql('postgres', "SELECT sf_start('parent', '{}', 'p')", extra_params => [ '-U', 'anna' ]);
$task = task_of('eyes:child');
is(refusal('anna', "sf_complete_task($task)"), qq(42501 task $task must not be done by "anna"),
	'the starter of a child is that of its parent');
is(refusal('bob', "sf_complete_task($task)"), 'allowed', '... not somebody else');
is(outcome('parent:p'), 'SUCCEEDED bob', 'the parent has the result');
$node->safe_psql('postgres', "SELECT sf_start('eyes', '{}', 'clerk', if_exists => 'restart')",
	extra_params => [ '-U', 'bob' ]);
$task = task_of('eyes:clerk');
is(refusal('bob', "sf_complete_task($task)"), qq(42501 task $task must not be done by "bob"),
	'who starts an execution anew is its starter');

$node->safe_psql(
	'postgres',
	q(SELECT sf_create_rule('next', '{"detail": {"name": ["rule"], "status": ["SUCCEEDED"]}}',
		'eyes', '{}', '$.detail.name')),
	extra_params => [ '-U', 'anna' ]);
$task = begin('order', 'rule');
is(refusal('bob', "sf_complete_task($task)"), 'allowed', 'a task ends, of which a rule knows');
$task = task_of('eyes:rule');
is(refusal('anna', "sf_complete_task($task)"), qq(42501 task $task must not be done by "anna"),
	'the starter of what a rule starts is its owner');
is(refusal('bob', "sf_complete_task($task)"), 'allowed', '... not somebody else');
sql("SELECT sf_drop_rule('next')");

# What a schedule starts has its owner for its starter: pg_cron calls as it, and workers make up for what was missed.
sql(q(INSERT INTO _sfflow.schedule (name, owner, cron, state_machine, input, cron_job_id, changed_at, created_at)
	SELECT 'daily', 'anna'::regrole, '0 3 * * *', 'eyes', '{}', 0, t, t
	FROM (SELECT now() - interval '3 days' AS t) x));
for my $run ([ 'by pg_cron', "SELECT _sfflow.run_schedule('daily')", 'anna' ],
	[ 'by a worker', "SELECT _sfflow.run_schedule_at('daily', now() + '1 day')", undef ])
{
	my ($how, $call, $login) = @$run;
	$node->safe_psql('postgres', $call, $login ? (extra_params => [ '-U', $login ]) : ());
	$task = task_of(sql("SELECT last_execution_id FROM _sfflow.schedule WHERE name = 'daily'"));
	is(refusal('anna', "sf_complete_task($task)"), qq(42501 task $task must not be done by "anna"),
		"the starter of what a schedule starts is its owner, $how");
	is(refusal('bob', "sf_complete_task($task)"), 'allowed', '... not somebody else');
}
sql('DELETE FROM _sfflow.schedule');

# --- worklists that are dropped

sql("SELECT sf_create_worklist('brief')");
sql(<<'EOS');
SELECT sf_create_state_machine('brief', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "human:brief", "End": true}}}');
EOS
my $one = $node->background_psql('postgres');
$one->query_safe("BEGIN; SELECT sf_start('brief', '{}', 'b'); SELECT sf_run('brief:b')");
my $two = $node->background_psql('postgres', on_error_stop => 0);
my $pid = $two->query_safe('SELECT pg_backend_pid()');
$two->query_until(qr/begun/, "\\echo begun\nSELECT sf_drop_worklist('brief');\n\\echo done\n");
$node->poll_query_until('postgres',
	"SELECT count(*) = 1 FROM pg_stat_activity WHERE pid = $pid AND wait_event_type = 'Lock'");
$one->query_safe('COMMIT');
$two->query_until(qr/done/, "\\echo\n");
like($two->{stderr}, qr/worklist "brief" has 1 tasks that wait/,
	'a worklist is not dropped beside a task that begins to wait in it');
$_->quit for $one, $two, $session;

# --- a crash, a dump, a purge

$task = begin('order', 'crash');
is(refusal('bob', "sf_claim_task($task)"), 'allowed', 'a task is claimed');
$node->stop('immediate');
$node->start;
is(refusal('anna', "sf_complete_task($task)"), qq(SF062 task $task is claimed by "bob"), '... also after a crash');
sql('DROP OWNED BY bob');
sql("SELECT sf_revoke(p, m, 'bob') FROM unnest('{START,OPERATE,READ}'::text[]) p,
	unnest('{order,short,eyes,parent}'::text[]) m");
sql("SELECT sf_revoke('DO', 'human:approve', 'bob')");
sql('DROP ROLE bob');
is(sql("SELECT claimed_by FROM sf_human_tasks WHERE task = $task"), 'bob',
	'a role that has claimed a task is dropped, the claim stays');
is(refusal('anna', "sf_release_task($task)"), 'allowed', '... until it is released');
is(sql('SELECT * FROM sf_check()'), '', 'all is sound');
my $dump = "$PostgreSQL::Test::Utils::tmp_check/human.sql";
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'a dump');
sql('CREATE DATABASE copy');
$node->command_ok([ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('copy') ], '... is restored');
$node->safe_psql('copy', 'SELECT sf_enable()');
$node->safe_psql('copy', "SELECT sf_complete_task($task)");
is($node->safe_psql('copy', "SELECT sf_await('order:crash', '180 s')"), 'SUCCEEDED', 'a restored task is answered');
is($node->safe_psql('copy', 'SELECT * FROM sf_check()'), '', '... and all is sound');
sql("SELECT sf_stop(execution_id) FROM sf_executions WHERE status = 'RUNNING'");
sql("SELECT sf_purge('0 s')");
is(sql('SELECT (SELECT count(*) FROM _sfflow.human_task) + (SELECT count(*) FROM _sfflow.human_task_role)
	+ (SELECT count(*) FROM _sfflow.human_task_event) + (SELECT count(*) FROM _sfflow.human_starter)'), '0',
		'a purge leaves nothing of the executions');

$node->stop;
done_testing();
