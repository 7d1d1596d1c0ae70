# Alerts that time opens tell rules once each, whatever is killed: a worker in the middle of a look, the server, and the
# server for good, when a standby takes over.
# needs: rule
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep);

my $kills = full(3, 30);
my $alerts = 200;
srand(20250211);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', <<"EOC");
shared_preload_libraries = 'sfflow'
max_worker_processes = 32
restart_after_crash = on
sfflow.workers = 3
sfflow.poll_interval = 600s
sfflow.max_crashes = 100
EOC
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION sfflow');
sub sql { return $node->safe_psql('postgres', shift) }
sql(<<'EOQ');
CREATE TABLE told (id text, alert text, status text, target text);
CREATE FUNCTION tell(event jsonb) RETURNS void LANGUAGE sql AS
	$$ INSERT INTO public.told VALUES (event ->> 'id', event #>> '{detail,alert}', event #>> '{detail,status}',
		event #>> '{detail,target}') $$;
EOQ

# Let many activities have a task that has waited for ten minutes, of which no look has told.
sub open_alerts
{
	my $round = shift;
	return sql(qq(
		SELECT sf_create_activity('a$round-' || i) FROM generate_series(1, $alerts) AS i;
		SELECT sf_create_state_machine('m$round-' || i,
			json_build_object('StartAt', 'A', 'States', json_build_object('A',
			json_build_object('Type', 'Task', 'Resource', 'activity:a$round-' || i, 'End', true))))
				FROM generate_series(1, $alerts) AS i;
		SELECT sf_start('m$round-' || i) FROM generate_series(1, $alerts) AS i)) . wait_queued($round);
}

sub wait_queued
{
	my $round = shift;
	$node->poll_query_until('postgres', "SELECT count(*) = $alerts FROM sf_activities WHERE activity LIKE 'a$round-%'
		AND queued = 1")
	  or die 'the tasks are not queued';
	return sql(qq(UPDATE _sfflow.task SET scheduled_at = scheduled_at - interval '10 min'));
}

# --- no rule, no look; then the rule is told at once

open_alerts(0);
is(sql('SELECT count(*) FROM _sfflow.told_alert'), '0', 'without a rule nothing is looked for');
# PostgreSQL tells processes of the rule after the callbacks of its commit.
sql(q(SET sfflow.debug_point = 'wake:sleep=500';
	SELECT sf_create_rule('tell', '{"source": ["sfflow.alerts"]}', 'sql:public.tell')));
ok($node->poll_query_until('postgres', "SELECT count(*) = $alerts FROM told"),
	'what is open is told when there is a rule');

# --- kills in the middle: a look after a crash does not wait for its minute

for my $round (1 .. $kills)
{
	open_alerts($round);
	have_crash($node, $round);
	# once more, while the look or its deliveries are under way
	sleep(rand 0.3);
	kill_worker($node);
}
my $all = $alerts * ($kills + 1);
ok( $node->poll_query_until('postgres', qq(
		WITH soon AS (UPDATE _sfflow.rule_delivery SET due_at = now() WHERE due_at > now() + interval '1 s')
		SELECT count(DISTINCT target) = $all FROM told WHERE status = 'OPENED')), 'all are told in the end');
is(sql("SELECT count(*) FROM told WHERE status = 'OPENED'"), $all, 'each once');
ok($node->poll_query_until('postgres', 'SELECT sum(pending) + sum(dead) = 0 FROM sf_rules'),
	'nothing is left to deliver');

# --- a standby takes over: it tells of those that are new, and of no other

my $standby = standby_of($node, 'standby');
open_alerts('s');
$node->wait_for_catchup($standby, 'write', $node->lsn('write'));
$node->stop('immediate');
$standby->promote;
$all += $alerts;
ok($standby->poll_query_until('postgres', "SELECT count(*) = $all FROM told WHERE status = 'OPENED'"),
	'the standby tells of the others');
$standby->safe_psql('postgres', "SELECT sf_stop(execution_id) FROM sf_executions WHERE state_machine LIKE 'm0-%'");
is($standby->safe_psql('postgres', 'SELECT count(*)
	FROM (SELECT FROM told GROUP BY alert, status, target HAVING count(*) > 1) d'), '0', 'each once');
$standby->safe_psql('postgres', 'CALL sf_run_due()');
ok($standby->poll_query_until('postgres', "SELECT count(*) = $alerts FROM told WHERE status = 'CLEARED'"),
	'what is over is cleared');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');
$standby->stop;
done_testing();
