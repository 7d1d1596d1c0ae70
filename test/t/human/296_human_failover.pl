# Tasks of people outlast what becomes of the server: a standby is promoted while tasks are claimed, transactions in
# which a task is claimed or completed are prepared and finished after a crash, and rules are told once that a task is
# for more roles.
# needs: human rule
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfCopies;
use SfTest;
use Test::More;

my $primary = new_original('primary', "sfflow.workers = 2\nmax_prepared_transactions = 5\n");
my $node = $primary;

sub sql { return $node->safe_psql('postgres', shift) }

# Begin an execution and wait until its task waits; returns the task's number.
sub begin
{
	my ($name, $parameters) = @_;
	sql("SELECT sf_start('ask', '" . ($parameters // '{}') . "', '$name')");
	return task_of($name);
}

sub task_of
{
	my $name = shift;
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_human_tasks WHERE execution_id = 'ask:$name'")
	  or die "$name has no task";
	return sql("SELECT task FROM sf_human_tasks WHERE execution_id = 'ask:$name'");
}

# The SQLSTATE and the message of what a login calls; or "allowed".
sub refusal
{
	my ($login, $call) = @_;
	my ($code, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT $call",
		extra_params => [ '-U', $login ]);
	return $code == 0 ? 'allowed' : $err =~ /ERROR:\s+(\w+): (.*)/ ? "$1 $2" : $err;
}

# How an execution ends, and who has done its task.
sub outcome
{
	my $name = shift;
	sql("SELECT sf_await('ask:$name', '180 s')");
	return sql("SELECT concat_ws(' ', status, output ->> 'By') FROM sf_executions WHERE execution_id = 'ask:$name'");
}

sql(<<'EOQ');
CREATE ROLE anna LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE lead LOGIN;
CREATE TABLE told (name text, status text);
CREATE FUNCTION tell(payload jsonb) RETURNS void LANGUAGE sql AS $$
	INSERT INTO public.told SELECT payload -> 'detail' ->> 'name', payload -> 'detail' ->> 'status' $$;
SELECT sf_create_worklist('ask'), sf_grant('DO', 'human:ask', r) FROM unnest('{anna,bob,lead}'::text[]) r;
SELECT sf_create_rule('tell', '{"source": ["sfflow.tasks"], "detail": {"status": ["ESCALATED"]}}', 'sql:public.tell');
SELECT sf_create_state_machine('ask', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "human:ask",
	"End": true}}}');
EOQ

# --- prepared transactions, over a crash

my %task = map { $_ => begin($_) } qw(claimed unclaimed completed taken);
for my $prepared ([ claimed => "sf_claim_task($task{claimed})" ], [ unclaimed => "sf_claim_task($task{unclaimed})" ],
	[ completed => "sf_complete_task($task{completed})" ], [ taken => "sf_complete_task($task{taken})" ])
{
	my ($gid, $call) = @$prepared;
	$node->safe_psql('postgres', "BEGIN; SELECT $call; PREPARE TRANSACTION '$gid'", extra_params => [ '-U', 'anna' ]);
}
is(sql("SELECT count(claimed_by) || ' of ' || count(*) FROM sf_list_human_tasks()"), '0 of 4',
	'what is prepared is not seen');
$node->stop('immediate');
$node->start;
like(
	(
		$node->psql('postgres', "SET lock_timeout = '200ms'; SELECT sf_claim_task($task{claimed})",
			extra_params => [ '-U', 'bob' ]))[2],
	qr/lock timeout/,
	'a claim waits for one that is prepared, also after a crash');
$node->safe_psql('postgres', "$_->[0] PREPARED '$_->[1]'", extra_params => [ '-U', 'anna' ])
  for [ COMMIT => 'claimed' ], [ ROLLBACK => 'unclaimed' ], [ COMMIT => 'completed' ], [ ROLLBACK => 'taken' ];
is(refusal('bob', "sf_claim_task($task{claimed})"), qq(SF062 task $task{claimed} is claimed by "anna"),
	'a claim that was prepared holds');
is(refusal('bob', "sf_claim_task($task{unclaimed})"), 'allowed', '... and one that was rolled back never was');
is(outcome('completed'), 'SUCCEEDED anna', 'an answer that was prepared counts');
is(refusal('bob', "sf_complete_task($task{taken})"), 'allowed', '... and one that was rolled back never was');
is(outcome('taken'), 'SUCCEEDED bob', '... so that another one answers');

# --- a standby is promoted

sql("SELECT sf_hold('human:ask')");
my %late = (past => '{"Roles": ["anna"], "Escalate": [{"After": 0, "Roles": ["lead"]}]}',
	future => '{"Roles": ["anna"], "Escalate": [{"After": 86400, "Roles": ["lead"]}]}');
$task{$_} = begin($_, $late{$_}) for sort keys %late;
$node->poll_query_until('postgres', 'SELECT count(*) = 1 FROM told') or die 'the rule was not told';
$primary->backup('base');
my $standby = new_copy('standby', $primary, 'base', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby);
my $page = "SELECT string_agg(concat_ws(' ', task, claimed_by, roles), ', ') FROM sf_list_human_tasks()";
my $before = sql($page);
$node = $standby;
is(sql($page), $before, 'a standby lists what there is to do');
is(sql("SELECT (tasks, mine, open, overdue)::text FROM sf_count_human_tasks()"), '(4,0,2,0)', '... and counts it');
$primary->stop('immediate');
$standby->promote;
settled($standby);
is(sql($page), $before, 'promoted: the claims are there, and the roles');
is(refusal('bob', "sf_complete_task($task{claimed})"), qq(SF062 task $task{claimed} is claimed by "anna"),
	'... and hold');
is(refusal('lead', "sf_claim_task($task{past})"), 'SF065 worklist "ask" is held', '... so does the hold');
is(refusal('anna', "sf_complete_task($task{claimed})"), 'allowed', 'who has claimed a task completes it');
is(outcome('claimed'), 'SUCCEEDED anna', '... and its execution goes on');
sql("SELECT sf_release('human:ask')");
is(refusal('lead', "sf_claim_task($task{past})"), 'allowed', 'a role that Escalate has added claims');
is(refusal('lead', "sf_claim_task($task{future})"), qq(42501 task $task{future} is not for "lead"),
	'... and not before its time');
sql("UPDATE _sfflow.human_task_role SET from_at = clock_timestamp() WHERE from_at > clock_timestamp();
	UPDATE _sfflow.human_task SET sweep_at = clock_timestamp() WHERE sweep_at IS NOT NULL");
$node->stop('immediate');
$node->start;
sql('CALL sf_run_due()');
$node->poll_query_until('postgres', 'SELECT count(*) = 2 FROM told') or die 'the rule was not told';
is(sql("SELECT string_agg(name || ' ' || status, ', ' ORDER BY name) FROM told"), 'future ESCALATED, past ESCALATED',
	'rules are told once of each');
is(refusal('lead', "sf_complete_task($task{future})"), 'allowed', '... and it may do the other task then');

# --- roles that are dropped

like(($node->psql('postgres', 'DROP ROLE lead'))[2], qr/cannot be dropped/, 'a role that a task names is not dropped');
$node->safe_psql('postgres', "SELECT sf_complete_task($task{past})", extra_params => [ '-U', 'lead' ]);
is(outcome('past'), 'SUCCEEDED lead', 'its last task is done');
sql("SELECT sf_revoke('DO', 'human:ask', 'lead'); DROP ROLE lead");
is(sql("SELECT string_agg(DISTINCT done_by, ' ') FROM sf_human_task_events
	WHERE task = $task{past} AND done_by IS NOT NULL"),
	'lead', '... and its name stays');
is(sql('SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');
$node->stop;
done_testing();
