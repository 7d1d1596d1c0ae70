# A start that stays open keeps others of its key, and of its name, waiting, and no worker: what starts them is put off,
# children of executions, deliveries of rules and runs of schedules, and tried again.
# needs: start_key rule schedule
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

# One worker, which is found to wait if it does.
my $node = new_node('main', conf => <<'EOC');
shared_preload_libraries = 'sfflow, pg_cron'
cron.database_name = 'postgres'
cron.use_background_workers = on
cron.launch_active_jobs = off
sfflow.workers = 1
sfflow.max_workers = 1
sfflow.poll_interval = '1h'
EOC

sub sql { return $node->safe_psql('postgres', shift) }

# Wait for a query to give true.
sub holds
{
	my ($query, $name) = @_;
	return ok($node->poll_query_until('postgres', $query), $name);
}

my $others = 0;

# The worker has time for another execution.
sub goes_on
{
	my $name = shift;
	$others++;
	sql(qq(SELECT sf_start('told', '{}', 'other$others')));
	return holds(qq(SELECT status = 'SUCCEEDED' FROM sf_executions WHERE execution_id = 'told:other$others'), $name);
}

# An expression that matches once a day, at the minute of an hour ago: no test runs into it.
my ($minute, $hour) = split / /, sql(q(SELECT extract(minute FROM now() - interval '1 hour') || ' '
	|| extract(hour FROM now() - interval '1 hour')));
sql(<<"EOS");
CREATE EXTENSION pg_cron;
SELECT sf_create_state_machine('line', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}',
	options => '{"start_key": {"key": "\$.k", "mode": "fifo"}}');
SELECT sf_create_state_machine('told', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_create_state_machine('parent', '{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemsPath": "\$.keys",
	"End": true, "ItemProcessor": {"StartAt": "C", "States": {"C": {"Type": "Task", "End": true,
		"Resource": "arn:aws:states:::states:startExecution.sync:2", "Parameters": {"StateMachineArn": "line",
			"Input": {"k.\$": "\$"}}}}}}}}');
SELECT sf_create_state_machine('named', '{"StartAt": "C", "States": {"C": {"Type": "Task", "End": true,
	"Resource": "arn:aws:states:::states:startExecution", "Parameters": {"StateMachineArn": "line",
		"Name": "taken", "Input": {}}}}}');
EOS
my $open = $node->background_psql('postgres');
$open->query_safe('SET client_min_messages = warning');

# --- children

$open->query_safe(q(BEGIN; SELECT sf_start('line', '{"k": "open"}', 'first'), sf_start('line', '{}', 'taken')));
sql(q(SELECT sf_start('parent', '{"keys": ["a", "open", "b", "open", "c"]}', 'p'), sf_start('named', '{}', 'n')));
holds(q(SELECT count(*) = 3 AND bool_and(status = 'SUCCEEDED') FROM sf_executions
	WHERE state_machine = 'line' AND input ->> 'k' IN ('a', 'b', 'c')),
	'children of other keys begin beside a start that stays open');
goes_on('... and so do others');
is(sql(q(SELECT string_agg(status, ' ') FROM sf_executions WHERE execution_id IN ('parent:p', 'named:n'))),
	'RUNNING RUNNING', '... and those that start children of the same key, or name, wait');
$open->query_safe('COMMIT');
holds(q(SELECT status = 'SUCCEEDED' FROM sf_executions WHERE execution_id = 'parent:p'),
	'when the start has committed, the children are started');
holds(q(SELECT status = 'FAILED' AND error = 'StepFunctions.ExecutionAlreadyExistsException' FROM sf_executions
	WHERE execution_id = 'named:n'), '... but not one whose name it has taken');

# --- deliveries of rules

sql(q(SELECT sf_create_rule('keyed', '{"source": ["aws.states"], "detail": {"status": ["SUCCEEDED"],
	"name": ["ring"]}}', 'line', '{"k": "ring"}')));
$open->query_safe(q(BEGIN; SELECT sf_start('line', '{"k": "ring"}', 'second')));
sql(q(SELECT sf_start('told', '{}', 'ring')));
holds(q(SELECT count(*) = 1 FROM sf_rule_deliveries WHERE rule_name = 'keyed' AND next_attempt > clock_timestamp()
	+ interval '1.5 s'), 'a delivery whose target needs the key is put off');
goes_on('... and others go on');
is(sql(q(SELECT attempts || ' ' || coalesce(error, '-') FROM sf_rule_deliveries)), '0 -', '... and that is no attempt');
$open->query_safe('COMMIT');
holds(q(SELECT count(*) = 1 AND bool_and(status = 'SUCCEEDED') FROM sf_executions
	WHERE state_machine = 'line' AND name LIKE 'keyed-%'), 'when the start has committed, it is made');
holds('SELECT count(*) = 0 FROM sf_rule_deliveries', '... once');

# --- runs of schedules

sql(qq(SELECT sf_schedule('daily', '$minute $hour * * *', 'line', '{"k": "day"}', timezone => 'UTC')));
$open->query_safe(q(BEGIN; SELECT sf_start('line', '{"k": "day"}', 'third')));
# As if it had been made so long ago: one run was missed.
sql(q(UPDATE _sfflow.schedule SET changed_at = now() - interval '1 day 12 hours'));
my $look = q(SET statement_timeout = '120s'; SELECT _sfflow.look_at_schedules(now()));
is(sql($look), 't', 'a run that needs the key is left to a later look');
goes_on('... and others go on');
is(sql(q(SELECT count(*) FROM sf_schedule_runs)), '0', '... and that is no failure');
$open->query_safe('COMMIT');
is(sql($look), 'f', 'when the start has committed, a look starts it');
holds(q(SELECT count(*) = 1 AND bool_and(status = 'SUCCEEDED') FROM sf_executions
	WHERE state_machine = 'line' AND name LIKE 'schedule-%'), '... once');
is(sql(q(SELECT string_agg(status, ' ') FROM sf_schedule_runs)), 'succeeded', '... which is noted');

# --- quotas

# A start that raises is counted by no quota: else a few of them would use it up.
sql('DO $$ BEGIN EXECUTE format(\'ALTER ROLE %I SET sfflow.max_starts_per_owner = 5\', current_user); END $$');
is(sql(<<'EOS'), "begins", 'starts that fail leave the quota to others');
DO $$
BEGIN
	FOR i IN 1 .. 20 LOOP
		BEGIN
			PERFORM sf_start('line', jsonb_build_object('k', repeat('x', 300)));
			RAISE 'a key of 300 characters was taken';
		EXCEPTION WHEN SQLSTATE 'SF010' THEN NULL;
		END;
	END LOOP;
END $$;
SELECT split_part(sf_start('line', '{"k": "counted"}', 'begins'), ':', 2);
EOS
sql('DO $$ BEGIN EXECUTE format(\'ALTER ROLE %I RESET sfflow.max_starts_per_owner\', current_user); END $$');

is(sql('SELECT * FROM sf_check()'), '', 'the tables hold together');
$open->quit;
$node->stop;
done_testing();
