# What pg_cron cannot run is refused when the schedule is made; what fails later shows.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

# The tests' servers listen on no TCP port; pg_cron connects to localhost unless told otherwise.
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q(
shared_preload_libraries = 'sfflow, pg_cron'
cron.database_name = 'postgres'
max_worker_processes = 32
timezone = 'UTC'
sfflow.poll_interval = '1h'
));
$node->start;
$node->safe_psql('postgres', q(
CREATE EXTENSION sfflow;
CREATE EXTENSION pg_cron;
CREATE ROLE night LOGIN;
CREATE ROLE team;
CREATE ROLE busy LOGIN CONNECTION LIMIT 0;
CREATE ROLE away LOGIN;
GRANT USAGE ON SCHEMA cron TO PUBLIC;
GRANT team TO night;));
$node->safe_psql('postgres', qq(SET ROLE $_;
	SELECT sf_create_state_machine('of_$_', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');))
  for qw(night team busy away);
$node->safe_psql('postgres', 'REVOKE CONNECT ON DATABASE postgres FROM PUBLIC;
	GRANT CONNECT ON DATABASE postgres TO night, team, busy');

# What a role is told that makes a schedule; "made" if nothing.
sub schedule
{
	my ($role, $name) = @_;
	my ($status, undef, $stderr) = $node->psql('postgres', qq(\\set VERBOSITY verbose
SET ROLE $role; SELECT sf_schedule('$name', '* * * * *', 'of_$role', '{"at": "<aws.scheduler.scheduled-time>"}')));
	return $stderr =~ s/^LOCATION:.*\n?//mgr;
}

# Refused: certain to fail.
like(schedule('team', 's'),
	qr/ERROR:  SF024: pg_cron cannot run jobs of role team, which may not log in\nHINT:  ALTER ROLE team LOGIN;/,
	'an owner that may not log in');
like(schedule('busy', 's'), qr/ERROR:  SF024: .* role busy, which may not log in\nDETAIL:  Its connection limit is 0/,
	'a connection limit of 0');
like(schedule('away', 's'),
	qr/ERROR:  SF024: .* role away, which may not connect to database postgres\nHINT:  GRANT CONNECT/,
	'no right to connect');
like(schedule('night', 's'),
	qr/ERROR:  SF024: pg_cron connects to "localhost" for each run, where this server does not listen\nHINT:  Set cron.use_background_workers/,
	'a server that does not listen');
is($node->safe_psql('postgres', 'SELECT count(*) FROM cron.job'), '0', 'no job was made');

# With a way in whether which works cannot be known: a warning.
$node->append_conf('postgresql.conf', "cron.host = '" . $node->host . "'");
$node->restart;
like(schedule('night', 'good'),
	qr/WARNING:  01000: pg_cron logs in to "\S+" as role night.*\nDETAIL:  .*pg_hba.*\nHINT:  .*cron.use_background_workers/, 'a connection is warned of');
schedule('night', 'broken');
$node->safe_psql('postgres', q(UPDATE _sfflow.schedule SET state_machine = 'no_such_machine' WHERE name = 'broken'));
is($node->safe_psql('postgres', q(SELECT string_agg(DISTINCT state, ',') FROM sf_schedules)), 'active',
	'both are active');

# At the next full minute one runs, and one does not.
ok($node->poll_query_until('postgres', q(
	SELECT count(*) > 0 FROM sf_schedule_runs r JOIN sf_executions e USING (execution_id)
	WHERE r.schedule_name = 'good' AND r.status = 'succeeded' AND r.cron_run_id IS NOT NULL AND r.error IS NULL
		AND r.scheduled_for = (e.input ->> 'at')::timestamptz AND r.started_at >= r.scheduled_for
			AND r.ended_at >= r.started_at)),
	'a run is there with its execution');
ok($node->poll_query_until('postgres', q(
	SELECT count(*) > 0 FROM sf_schedule_runs
	WHERE schedule_name = 'broken' AND status = 'failed'
		AND error LIKE '%state machine "no_such_machine" does not exist%' AND execution_id IS NULL)),
	'a run that failed is there with its error');
is($node->safe_psql('postgres', q(SELECT state, problem LIKE '%does not exist%' FROM sf_schedules
	WHERE schedule_name = 'broken')), 'failing|t',
	'its schedule is failing');
is($node->safe_psql('postgres', q(SELECT state, problem FROM sf_schedules WHERE schedule_name = 'good')), 'active|',
	'the other is active');
like($node->safe_psql('postgres', q(SELECT detail || ' since '
	|| (since BETWEEN (SELECT created_at FROM _sfflow.schedule WHERE name = 'broken') AND now())::text
	FROM sf_alerts WHERE kind = 'missed_run' AND detail LIKE '%"broken"%')),
	qr/^schedule "broken" fails: ERROR:.*does not exist.* since true\z/s,
		'and an alert, though the next run comes within a minute');
like($node->safe_psql('postgres', 'SELECT sf_prometheus()'), qr/^sfflow_schedules_failing 1$/m,
	'... which Prometheus counts');
is($node->safe_psql('postgres', q(SELECT l ->> 'kind'
	FROM jsonb_array_elements(sf_console_api('tonight', '{}') -> 'late') l WHERE l ->> 'detail' LIKE '%"broken"%')),
	'missed_run',
	'... and the console has');

# As if it had been some minutes.
my $later = q(UPDATE _sfflow.schedule SET changed_at = changed_at - interval '10 min',
	handled_until = handled_until - interval '10 min');
# In one transaction: pg_cron may call meanwhile.
like($node->safe_psql('postgres', "BEGIN; $later WHERE name = 'broken';
	SELECT detail FROM sf_alerts WHERE kind = 'missed_run' AND detail LIKE '%\"broken\"%'; COMMIT"),
	qr/^schedule "broken" has not run: ERROR:.*does not exist/, 'then it tells so');
$node->safe_psql('postgres', "SELECT sf_unschedule('broken')");
is($node->safe_psql('postgres', q(SELECT count(*) FROM sf_alerts WHERE kind = 'missed_run'
	AND detail LIKE '%"broken"%')), '0',
	'until the schedule is gone');

# The owner's right to log in is taken away: pg_cron logs it, and it shows.
$node->safe_psql('postgres', 'ALTER ROLE night NOLOGIN');
ok($node->poll_query_until('postgres', q(SELECT state = 'failing' AND problem LIKE '%connection failed%'
	FROM sf_schedules WHERE schedule_name = 'good')),
	'a schedule that cannot log in any more is failing');
# Workers make up for each run, so that none is missed.
ok($node->poll_query_until('postgres', q(SELECT count(*) > 1 FROM sf_schedule_runs WHERE schedule_name = 'good'
	AND status = 'failed')), 'run after run');
$node->safe_psql('postgres', $later);
$node->safe_psql('postgres', q(SELECT _sfflow.look_at_schedules(now())));
is($node->safe_psql('postgres', q(SELECT missed_at IS NULL FROM _sfflow.schedule_status('good'))), 't',
	'a worker makes up for what was missed');
like($node->safe_psql('postgres', q(SELECT detail FROM sf_alerts WHERE kind = 'missed_run')),
	qr/^schedule "good" fails: .*connection failed/, '... and the alert stays');
like($node->safe_psql('postgres', "BEGIN; $later; SELECT detail FROM sf_alerts WHERE kind = 'missed_run'; COMMIT"),
	qr/^schedule "good" has not run: .*connection failed/, 'and an alert');
is($node->safe_psql('postgres', q(SELECT count(*) > 0 FROM sf_schedule_runs WHERE status = 'failed'
	AND error LIKE '%connection failed%')), 't', 'with its runs');

# What an operator does by hand.
$node->safe_psql('postgres', q(SELECT cron.alter_job(cron_job_id, active => false) FROM _sfflow.schedule));
is($node->safe_psql('postgres', q(SELECT active, state, problem FROM sf_schedules)), 'f|inactive|',
	'a job that was switched off');
is($node->safe_psql('postgres', q(SELECT count(*) FROM sf_alerts WHERE kind = 'missed_run')), '0', 'misses nothing');
$node->safe_psql('postgres', q(DELETE FROM cron.job));
is($node->safe_psql('postgres', q(SELECT active, state, problem FROM sf_schedules)),
	'f|gone|its pg_cron job does not exist', 'one that is gone');
is($node->safe_psql('postgres', q(SELECT count(*) FROM sf_alerts WHERE kind = 'missed_run')), '1', 'does');
$node->stop;

# With background workers there is nothing to warn of but the role.
$node->append_conf('postgresql.conf', 'cron.use_background_workers = on');
$node->start;
like(schedule('night', 'good'), qr/SF024: .*may not log in/, 'the role has to be one that may log in all the same');
$node->safe_psql('postgres', 'ALTER ROLE night LOGIN');
is(schedule('night', 'good'), '', 'no connection, no warning');
$node->stop;
done_testing();
