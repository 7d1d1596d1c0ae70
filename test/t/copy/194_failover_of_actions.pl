# What operators did goes on at a standby that takes over in the middle: marks, a redrive of many and deliveries of
# rules. What had committed happens once; what had not, not at all.
# needs: hold rule
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $many = full(200, 2_000);
my $half = $many / 2;
my $node = new_node('main', conf => "sfflow.workers = 3\nwal_level = replica\nmax_wal_senders = 4\nhot_standby = on\n");
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE ledger (execution text, job text);
CREATE TABLE told (id text, name text, job text);
CREATE FUNCTION job(execution text, job text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF job = 'B' THEN RAISE EXCEPTION 'broken'; END IF;
	INSERT INTO public.ledger VALUES (execution, job);
END $$;
CREATE FUNCTION tell(event jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.told VALUES (event ->> 'id', event #>> '{detail,name}', event #>> '{detail,job}');
	PERFORM pg_catalog.pg_sleep(0.005);
END $$;
SELECT sf_create_state_machine('night', '{"StartAt": "A", "States": {
	"A": {"Type": "Task", "Resource": "sql:public.job", "ResultPath": null,
		"Parameters": {"execution.$": "$$.Execution.Name", "job": "A"}, "Next": "B"},
	"B": {"Type": "Task", "Resource": "sql:public.job", "ResultPath": "$.B",
		"Parameters": {"execution.$": "$$.Execution.Name", "job": "B"}, "Next": "C"},
	"C": {"Type": "Task", "Resource": "sql:public.job", "ResultPath": null,
		"Parameters": {"execution.$": "$$.Execution.Name", "job": "C"}, "End": true}}}');
SELECT sf_create_rule('tell', '{"source": ["sfflow.jobs"], "detail": {"job": ["C"]}}', 'sql:public.tell');
SQL
$node->safe_psql('postgres', "SELECT count(*)
	FROM sf_start_many('night', ARRAY(SELECT '{}'::jsonb FROM generate_series(1, $many)),
	ARRAY(SELECT n::text FROM generate_series(1, $many) AS n))");
ok($node->poll_query_until('postgres', "SELECT count(*) = $many FROM sf_executions WHERE status = 'FAILED'"),
	'all fail');

my $standby = standby_of($node, 'standby');

# Marks and a redrive that have committed, and others that have not.
my $mark = sub { return "SELECT count(sf_mark('night:' || n, 'B', 'success', '\"by hand\"'))
	FROM generate_series($_[0], $_[1]) AS n" };
is($node->safe_psql('postgres', $mark->(1, $half)), $half, 'half of them are marked');
my $session = $node->background_psql('postgres', on_error_stop => 0);
$session->query_safe('BEGIN');
is($session->query_safe($mark->($half + 1, $many)), $half, 'the others in a transaction that stays open');
is($session->query_safe("SELECT count(*) FROM sf_redrive_many('night', status => 'FAILED') WHERE outcome = 'redriven'"),
	$many, '... which redrives them all');
$node->wait_for_catchup($standby, 'write', $node->lsn('write'));
$node->stop('immediate');
eval { $session->quit };
$standby->promote;
ok($standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()'), 'the standby takes over');
is($standby->safe_psql('postgres', "SELECT status || ' ' || count(*) || ' ' || max(redrive_count) FROM sf_executions
	GROUP BY status"), "FAILED $many 0", 'no execution was redriven');
is($standby->safe_psql('postgres', "SELECT action || ' ' || count(*) FROM sf_audit WHERE action IN ('mark', 'redrive')
	GROUP BY action"), "mark $half", 'the marks that had committed are recorded');

# A second failover, while a redrive of many that has committed, and its deliveries, are under way.
my $third = standby_of($standby, 'third');
is($standby->safe_psql('postgres', "SELECT count(*) FROM sf_redrive_many('night') WHERE outcome = 'redriven'"), $many,
	'a redrive of many');
$standby->poll_query_until('postgres', 'SELECT count(*) > 0 FROM told');
$standby->wait_for_catchup($third, 'write', $standby->lsn('write'));
my $told = $standby->safe_psql('postgres', 'SELECT count(*) FROM told');
$standby->stop('immediate');
$third->promote;
note("$told of $half deliveries were made");
ok($third->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'"),
	'the next server goes on');
is($third->safe_psql('postgres', "SELECT status || ' ' || count(*) FROM sf_executions GROUP BY status ORDER BY status"),
	"FAILED $half\nSUCCEEDED $half", 'those that were marked succeed');
is($third->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE output ->> 'B' = 'by hand'"), $half,
	'with what the marks say');
is($third->safe_psql('postgres', 'SELECT max(redrive_count), min(redrive_count) FROM sf_executions'), '1|1',
	'each was redriven once');
is($third->safe_psql('postgres', "SELECT count(*), count(DISTINCT execution_id) FROM sf_audit
	WHERE action = 'redrive'"), "$many|$many", '... and recorded once');
is($third->safe_psql('postgres', 'SELECT job, count(*), count(DISTINCT execution) FROM ledger GROUP BY job
	ORDER BY job'), "A|$many|$many\nC|$half|$half", 'each job ran once');
# What was claimed when the server died is due again after its pause; not so long here.
ok( $third->poll_query_until('postgres', qq(
		WITH soon AS (UPDATE _sfflow.rule_delivery SET due_at = now() WHERE due_at > now() + interval '1 s')
		SELECT count(*) >= $half FROM told)), 'the rule is told');
is($third->safe_psql('postgres', "SELECT count(*), count(DISTINCT id), count(DISTINCT name) FROM told"),
	"$half|$half|$half", '... of each job once');
ok($third->poll_query_until('postgres', 'SELECT sum(pending) + sum(dead) = 0 FROM sf_rules'),
	'nothing is left to deliver');
is($third->safe_psql('postgres', 'SELECT count(*) FROM _sfflow.mark'), '0', 'the marks are used up');
is($third->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');
no_surprises($third);
$third->stop;
done_testing();
