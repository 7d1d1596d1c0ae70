# pg_cron really starts executions: in its own database, from another one, and not where it is missing.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# pg_cron works by the minute.
$PostgreSQL::Test::Utils::timeout_default = 180;

my $machine = q({"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}});

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q(
shared_preload_libraries = 'sfflow, pg_cron'
cron.database_name = 'postgres'
cron.use_background_workers = on
max_worker_processes = 32
));
$node->start;
$node->safe_psql('postgres', q(
CREATE DATABASE other;
CREATE EXTENSION sfflow;
CREATE ROLE night LOGIN;
));
$node->safe_psql('other', q(CREATE EXTENSION sfflow));
$node->safe_psql($_, "SET ROLE night; SELECT sf_create_state_machine('nightly', '$machine'),
	sf_create_state_machine('kathmandu', '$machine')")
  for qw(postgres other);

# Preloaded, but not created.
my (undef, undef, $error) = $node->psql('postgres',
	q(\set VERBOSITY verbose
	SELECT sf_schedule('every-minute', '* * * * *', 'nightly')));
like($error, qr/ERROR:  SF024: extension "pg_cron" is not installed/, 'pg_cron is missing: SQLSTATE');
like($error, qr/HINT:  Run CREATE EXTENSION pg_cron in this database/, 'and what to do');

# In its database.
$node->safe_psql('postgres', 'CREATE EXTENSION pg_cron; GRANT USAGE ON SCHEMA cron TO night');
$node->safe_psql('postgres', q(
SET ROLE night;
SELECT sf_schedule('every-minute', '* * * * *', 'nightly',
	'{"at": "<aws.scheduler.scheduled-time>"}');
SELECT sf_schedule('in-kathmandu', '* * * * *', 'kathmandu',
	'{"zone": true}', timezone => 'Asia/Kathmandu')));

# From another one: the hint is the call to make, as it stands.
(undef, undef, $error) = $node->psql('other', q(
SET ROLE night;
SELECT sf_schedule('every-minute', '* * * * *', 'nightly', '{"it''s": "<aws.scheduler.scheduled-time>"}')));
like($error, qr/pg_cron does not live in this database but in "postgres"/, 'pg_cron is elsewhere');
my ($call) = $error =~ /(SELECT cron\.schedule_in_database\(.*\);)/;
ok($call, 'the hint is a call') or diag($error);
$node->safe_psql('postgres', $call);

# At the next full minute all of them run, as the role that made them.
ok($node->poll_query_until('postgres', q(
	SELECT count(*) > 0 FROM sf_executions
	WHERE name = 'schedule-' || to_char((input ->> 'at')::timestamptz AT TIME ZONE 'UTC', 'YYYYMMDD"T"HH24MISS"Z"')
		AND requested_at >= (input ->> 'at')::timestamptz)),
	'pg_cron has started an execution, named by the time that it was for');
ok($node->poll_query_until('postgres', q(
	SELECT count(*) = 2 FROM sf_schedules WHERE last_execution_id LIKE state_machine || ':schedule-%')),
	'both schedules name the last execution, in any time zone');
ok($node->poll_query_until('other', q(
	SELECT count(*) > 0 FROM sf_executions
	WHERE name = 'schedule-' || to_char((input ->> 'it''s')::timestamptz AT TIME ZONE 'UTC',
		'YYYYMMDD"T"HH24MISS"Z"'))),
	'and one in the other database');
# pg_cron gives up a process that a busy machine has not started within ten seconds.
is($node->safe_psql('postgres', q(
	SELECT count(*) FROM cron.job_run_details
	WHERE status = 'failed' AND return_message IS DISTINCT FROM 'job startup timeout' OR username <> 'night')),
	'0', 'no run failed, all ran as their role');

# In a copy of the data directory pg_cron ticks as well, but nothing starts and nothing runs.
$node->append_conf('postgresql.conf', "wal_level = replica\nmax_wal_senders = 5\n");
$node->restart;
$node->safe_psql('postgres', q(
SELECT cron.schedule('run-due', '* * * * *', 'CALL sf_run_due()');
SELECT sf_create_activity('post'), sf_create_state_machine('outside',
	'{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "activity:post", "End": true}}}');
SELECT sf_start('outside', '{}', 'due')));
ok($node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM sf_tasks WHERE execution_id = 'outside:due')),
	'a task is queued');
$node->backup('base');
my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($node, 'base');
$copy->start;
$copy->safe_psql('postgres', q(SELECT sf_start('nightly', '{}', 'due')));
my $began = $copy->safe_psql('postgres', 'SELECT clock_timestamp()');
ok($copy->poll_query_until('postgres', qq(
	SELECT count(DISTINCT j.command) = 3 FROM cron.job_run_details r JOIN cron.job j USING (jobid)
	WHERE r.start_time > '$began' AND r.status = 'succeeded' AND j.database = 'postgres')),
		'pg_cron ticks in the copy');
is($copy->safe_psql('postgres', qq(SELECT count(*) FROM sf_executions WHERE requested_at > '$began')), '0',
	'it starts nothing');
is($copy->safe_psql('postgres', q(SELECT status FROM sf_executions WHERE execution_id = 'nightly:due')), 'RUNNING',
	'it runs nothing');
like(slurp_file($copy->logfile), qr/WARNING:  schedule "every-minute" starts nothing: the database is not driven/,
	'the log says so');
my ($out, $said);
(undef, $out, $said) = $copy->psql('postgres', q(SELECT * FROM sf_get_activity_task('post')));
is($out, '', 'nor are tasks handed out in the copy');
like($said, qr/NOTICE:  activity "post" hands nothing out: the database is not driven/, 'which is said');
$copy->stop;
isnt($node->safe_psql('postgres', q(SELECT task_token FROM sf_get_activity_task('post'))), '',
	'the original hands them out');
$node->stop;

# Not preloaded at all.
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'sfflow'");
$node->start;
(undef, undef, $error) = $node->psql('other',
	q(SELECT sf_schedule('every-minute', '* * * * *', 'nightly')));
like($error, qr/extension "pg_cron" is not installed/, 'without pg_cron: error');
$node->stop;

done_testing();
