# Runs of schedules that did not come, because the server was down or pg_cron stood still, are dealt with as the
# schedule says; so are runs that are due while the one before runs, and those of a time that is over (sf_backfill).
# pg_cron never calls here; the test does, with times of its own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

$PostgreSQL::Test::Utils::timeout_default = 180;

my $node = new_node('main', conf => <<'EOC');
shared_preload_libraries = 'sfflow, pg_cron'
cron.database_name = 'postgres'
cron.use_background_workers = on
cron.launch_active_jobs = off
EOC
sub sql { return $node->safe_psql('postgres', shift) }

# An expression that matches once a day, at the minute of an hour ago: no test runs into it.
my ($minute, $hour) = split / /, sql(q(SELECT extract(minute FROM now() - interval '1 hour') || ' '
	|| extract(hour FROM now() - interval '1 hour')));
my $daily = "$minute $hour * * *";
sql(<<'EOQ');
CREATE EXTENSION pg_cron;
SELECT sf_create_state_machine(m, '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}')
FROM unnest('{once,all,all_at_once,none,off,gone,bad,closed,later}'::text[]) AS m;
SELECT sf_create_state_machine(m, '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 100000, "End": true}}}')
FROM unnest('{left_out,queued,beside,filled}'::text[]) AS m;
SELECT sf_create_calendar('never', '{"Weekdays": []}');
EOQ

# Make a schedule of the machine with its name; with an age, as if that had been so long ago.
sub schedule
{
	my ($name, $more, $age) = @_;
	my (undef, undef, $error) = $node->psql('postgres',
		"SELECT sf_schedule('$name', '$daily', '$name', timezone => 'UTC'$more)");
	unlike($error, qr/ERROR/, "schedule $name");
	sql("UPDATE _sfflow.schedule SET changed_at = now() - interval '$age' WHERE name = '$name'") if $age;
	return;
}

# The times that an execution of a machine was started for, in days before the latest one that was due, and what was
# noted.
sub days_of
{
	my $machine = shift;
	return sql(qq(SELECT coalesce(string_agg(extract(day FROM _sfflow.schedule_latest('$daily', 'UTC', now())
		- to_timestamp(name || '+00', '"schedule-"YYYYMMDD"T"HH24MISS"Z"TZH'))::text, ' ' ORDER BY name), '')
			FROM sf_executions WHERE state_machine = '$machine'));
}

sub noted
{
	my $name = shift;
	return sql(qq(SELECT coalesce(string_agg(status, ' ' ORDER BY started_at), '') FROM sf_schedule_runs
		WHERE schedule_name = '$name'));
}

# --- the server was down

schedule('once', '');
schedule('all', q(, missed => 'run_all'));
schedule('all_at_once', q(, missed => 'run_all', overlap => 'parallel'));
schedule('none', q(, missed => 'skip'));
schedule('off', '');
schedule('gone', '');
schedule('bad', '');
schedule('closed', q(, calendar => 'never'));
schedule('later', q(, starts => now() + interval '1 day'));
sql(q(SELECT cron.alter_job(cron_job_id, active => false) FROM _sfflow.schedule WHERE name = 'off';
	SELECT cron.unschedule(cron_job_id) FROM _sfflow.schedule WHERE name = 'gone';
	SELECT sf_drop_state_machine('bad')));
# They are three and a half days old from one transaction on, which reads the alerts itself: a worker that looks for
# missed runs, as it does each minute, finds none before.
is(sql(q(BEGIN;
	UPDATE _sfflow.schedule SET changed_at = now() - interval '3 days 12 hours';
	SELECT (SELECT count(*) FROM sf_executions), (SELECT count(*) FROM sf_alerts WHERE kind = 'missed_run');
	COMMIT)), '0|6',
	'nothing has run; alerts: six schedules miss runs, one was switched off, one has no days, one begins later');
$node->restart;
ok($node->poll_query_until('postgres', q(SELECT count(*) = 9 AND bool_and(status = 'SUCCEEDED')
	AND (SELECT count(*) >= 2 FROM sf_schedule_runs WHERE schedule_name IN ('none', 'bad')) FROM sf_executions)),
	'after the start workers deal with them');
is(days_of('once'), '0', 'run_once: the latest one runs');
is(days_of('all'), '3 2 1 0', 'run_all: all run');
is(sql(q(SELECT count(*) FROM sf_executions a JOIN sf_executions b ON b.state_machine = 'all' AND b.name > a.name
	WHERE a.state_machine = 'all' AND a.stopped_at > b.requested_at)), '0', '... one after the other');
is(days_of('all_at_once'), '3 2 1 0', '... or in parallel');
is(days_of('none') . noted('none'), 'missed', 'skip: none runs, which is noted');
is(days_of($_) . noted($_), '', "none of $_") for qw(off gone closed later);
is(noted('bad'), 'failed', 'a run that cannot start is noted');
like(sql(q(SELECT state || ' ' || problem FROM sf_schedules WHERE schedule_name = 'bad')),
	qr/^failing state machine "bad" does not exist/, '... and shown');
is(sql(q(SELECT string_agg(substring(detail from '"(.*?)"'), ' ' ORDER BY detail) FROM sf_alerts
	WHERE kind = 'missed_run')), 'bad gone none', 'alerts: those that did not run');
is(sql(q(SELECT string_agg(DISTINCT state, ' ') FROM sf_schedules
	WHERE schedule_name IN ('once', 'all', 'all_at_once'))), 'active', 'the others are well');

# What was dealt with is not dealt with again; a look in two days finds two more.
sql(q(SELECT _sfflow.look_at_schedules(now())));
is(noted('once') . noted('all_at_once') . noted('bad'), 'succeeded' . 'succeeded succeeded succeeded succeeded'
	. 'failed', 'nothing runs twice, nor is it noted twice');
sql(q(SELECT _sfflow.look_at_schedules(now() + interval '2 days')));
is(days_of('once'), '0 -2', 'run_once, two days later');
is(days_of('all_at_once'), '3 2 1 0 -1 -2', 'run_all, two days later');
is(noted('none'), 'missed missed', 'skip, two days later');
is(sql(q(SELECT count(*) FROM _sfflow.schedule WHERE name = 'off' AND handled_until > now() + interval '1 day')), '1',
	'a schedule that was switched off will not run for that time later');
# pg_cron calls again, before a look: what was missed comes first.
sql(qq(SELECT _sfflow.run_schedule_at('all_at_once',
	_sfflow.schedule_latest('$daily', 'UTC', now()) + interval '4 days 1 s')));
is(days_of('all_at_once'), '3 2 1 0 -1 -2 -3 -4', 'a call deals with what was missed before');
sql(qq(SELECT _sfflow.run_schedule_at('none',
	_sfflow.schedule_latest('$daily', 'UTC', now()) + interval '4 days 1 s')));
is(days_of('none') . ' ' . noted('none'), '-4 missed missed missed succeeded', '... and runs itself');
is(sql(q(SELECT count(*) FROM sf_alerts WHERE kind = 'missed_run' AND detail LIKE '%"none"%')), '0',
	'... which ends the alert');

# --- more often than a look takes a run for missed: one run makes up for one downtime

# Days ahead, where neither workers nor pg_cron find anything; the other schedules have nothing to make up for there.
sql(q(UPDATE _sfflow.schedule SET handled_until = '2040-01-01'));
my $then = sql(q(SELECT date_trunc('minute', now() + interval '20 days')));
for my $often (qw(often steady))
{
	my $state = $often eq 'often' ? '"Type": "Pass"' : '"Type": "Wait", "Seconds": 100000';
	sql(qq(SELECT sf_create_state_machine('$often', '{"StartAt": "S", "States": {"S": {$state, "End": true}}}')));
	# In one transaction, so that no worker finds a run between the two.
	sql(qq(BEGIN; SELECT sf_schedule('$often', '* * * * *', '$often', timezone => 'UTC');
		UPDATE _sfflow.schedule SET handled_until = '$then' WHERE name = '$often'; COMMIT));
}
sub minutes_of
{
	my $machine = shift;
	return sql(qq(SELECT coalesce(string_agg((extract(epoch
		FROM to_timestamp(name || '+00', '"schedule-"YYYYMMDD"T"HH24MISS"Z"TZH') - '$then') / 60)::integer::text, ' '
		ORDER BY name), '')
		FROM sf_executions WHERE state_machine = '$machine'));
}
sub look_after { return sql("SELECT _sfflow.look_at_schedules('$then'::timestamptz + interval '$_[0]')") }
sub call_after { return sql("SELECT _sfflow.run_schedule_at('$_[0]', '$then'::timestamptz + interval '$_[1]')") }
call_after('steady', '5 min 1 s');
is(minutes_of('steady') . noted('steady'), '5succeeded',
	'run_once: a call is the run that makes up for what was missed, and is not left out for it');
sql(qq(UPDATE _sfflow.schedule SET handled_until = '$then'::timestamptz + interval '1 day' WHERE name = 'steady'));
look_after('5 min 30 s');
is(minutes_of('often'), '5', 'run_once: a look runs the latest run that was due');
look_after($_) for '6 min 1 s', '7 min 1 s';
is(minutes_of('often'), '5', '... and later looks none of the same downtime');
call_after('often', '6 min 59 s');
is(minutes_of('often'), '5 6', '... the next one is that of pg_cron');
call_after('often', '5 min 59 s');
is(minutes_of('often'), '5 6', '... and one that comes late is the same');
look_after('12 min');
is(minutes_of('often'), '5 6 12', 'the next downtime is made up for, too');

# On the days when clocks are set: an hour that comes twice, and one that does not come.
for ([ 'autumn', '2030-11-03 00:50-04', '2030-11-03 03:10-05', '20301103T080000Z' ],
	[ 'spring', '2030-03-10 00:50-05', '2030-03-10 04:10-04', '20300310T080000Z' ])
{
	my ($name, $from, $to, $run) = @$_;
	sql(qq(SELECT sf_create_state_machine('$name',
		'{"StartAt": "S", "States": {"S": {"Type": "Pass", "End": true}}}')));
	sql(qq(BEGIN; SELECT sf_schedule('$name', '*/30 * * * *', '$name', timezone => 'America/New_York');
		UPDATE _sfflow.schedule SET handled_until = '$from' WHERE name = '$name';
		SELECT _sfflow.look_at_schedules('$to'); COMMIT));
	is(sql("SELECT string_agg(name, ' ') FROM sf_executions WHERE state_machine = '$name'"), "schedule-$run",
		"$name: one run after a downtime over the change of clocks");
	sql(qq(UPDATE _sfflow.schedule SET handled_until = '2031-01-01' WHERE name = '$name'));
}

# --- the one before runs

sql(q(UPDATE _sfflow.schedule SET handled_until = now() + interval '10 days'));
# since the last time that was due, so that none of theirs was missed
schedule('left_out', '', '1 minute');
schedule('queued', q(, overlap => 'queue'), '1 minute');
schedule('beside', q(, overlap => 'parallel'), '1 minute');
sub call
{
	my ($name, $days) = @_;
	return sql(qq(SELECT _sfflow.run_schedule_at('$name',
		_sfflow.schedule_latest('$daily', 'UTC', now()) + interval '$days days 1 s')));
}
for my $name (qw(left_out queued beside))
{
	like(call($name, 0), qr/^$name:schedule-/, "$name: the first run");
	like(call($name, 0), qr/^$name:schedule-/, '... delivered again, is the same');
	is(call($name, $_) =~ /^$name:/ ? 'runs' : '', $name eq 'beside' ? 'runs' : '', "... $_ days later") for 1 .. 2;
}
is(days_of('left_out') . ' ' . noted('left_out'), '0 succeeded succeeded overlap overlap', 'skip');
is(days_of('queued') . ' ' . noted('queued'), '0 succeeded succeeded queued queued', 'queue');
is(days_of('beside'), '0 -1 -2', 'parallel');
sql(q(SELECT sf_stop(execution_id) FROM sf_executions WHERE state_machine IN ('left_out', 'queued')));
like(call('left_out', 3), qr/^left_out:/, 'skip: the next one runs again');
ok($node->poll_query_until('postgres', q(SELECT count(*) = 2 FROM sf_executions WHERE state_machine = 'queued')),
	'queue: when one ends, the next one starts');
is(call('queued', 3), '', '... and one more waits behind those that wait');
sql(q(SELECT sf_stop(execution_id) FROM sf_executions WHERE state_machine = 'queued' AND status = 'RUNNING'));
ok($node->poll_query_until('postgres', q(SELECT count(*) = 3 FROM sf_executions WHERE state_machine = 'queued')),
	'... in order');
is(days_of('queued'), '0 -1 -2', '... the earliest first');

# Runs that wait outlive the server.
$node->stop('immediate');
$node->start;
sql(q(SELECT sf_stop(execution_id) FROM sf_executions WHERE state_machine = 'queued' AND status = 'RUNNING'));
ok($node->poll_query_until('postgres', q(SELECT count(*) = 4 FROM sf_executions WHERE state_machine = 'queued')),
	'runs wait across a crash');
is(sql('SELECT count(*) FROM _sfflow.pending_run'), '0', 'none waits any more');

# --- sf_backfill

schedule('filled', q(, overlap => 'queue', missed => 'skip'), '3 days 12 hours');
my $range = "now() - interval '6 days 12 hours', now() + interval '3 days'";
is(sql("SELECT sf_backfill('filled', $range, 2)"), '7', 'seven days, none in the future');
is(sql("SELECT sf_backfill('filled', $range, 2)"), '0', 'twice is once');
for my $left (reverse 0 .. 6)
{
	ok($node->poll_query_until('postgres',
		qq(SELECT count(*) = least(2, $left + 1)
		AND (SELECT count(*) FROM sf_executions WHERE state_machine = 'filled') >= least(9 - $left - 1, 7)
		FROM sf_executions WHERE state_machine = 'filled' AND status = 'RUNNING')),
			"two run while more wait; $left are left after this one") or last;
	sql(q(SELECT sf_stop(execution_id) FROM sf_executions WHERE state_machine = 'filled' AND status = 'RUNNING'
		ORDER BY name LIMIT 1));
}
is(days_of('filled'), '6 5 4 3 2 1 0', 'all have run');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.pending_run'), 'none waits any more');
is(sql("SELECT sf_backfill('filled', $range, 2)"), '0', '... nor is any run again');
is(sql(q(SELECT last_execution_id IS NULL FROM sf_schedules WHERE schedule_name = 'filled')), 't',
	'none of them counts as a run before');

no_surprises($node);
# --- a calendar whose days take too long to find, as all do here, is given up

sql(q(SELECT sf_disable(), sf_create_calendar('daily', '{}'),
	sf_create_state_machine('dear', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}')));
schedule('dear', q(, calendar => 'daily'), '2 days');
sql(q(UPDATE _sfflow.calendar SET changed_at = now() - interval '2 days' WHERE name = 'daily'));
sql(q(SET sfflow.debug_point = 'calendar_budget:ms=0'; SELECT _sfflow.look_at_schedules(now())));
is(sql(q(SELECT message FROM _sfflow.schedule_run WHERE schedule = 'dear')),
	'finding the days of its calendars takes too long', 'a schedule whose calendar takes too long is given up');
sql(q(SELECT _sfflow.look_at_schedules(now())));
is(noted('dear'), 'failed succeeded', '... until there is time');

done_testing();
