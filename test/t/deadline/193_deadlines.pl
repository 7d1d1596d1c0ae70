# Deadlines with workers: what is late is noticed at that moment, without waiting for the poll; the alert and the event
# of each are there once, although workers and servers are killed, and a standby takes over.
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
srand(20250210);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', <<"EOC");
shared_preload_libraries = 'sfflow'
max_worker_processes = 32
timezone = 'UTC'
restart_after_crash = on
sfflow.workers = 3
sfflow.poll_interval = 600s
sfflow.max_crashes = 100
EOC
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION sfflow');
sub sql { return $node->safe_psql('postgres', shift) }
sql(<<'EOQ');
CREATE TABLE told (id text, kind text, status text, target text);
CREATE FUNCTION tell(event jsonb) RETURNS void LANGUAGE sql AS
	$$ INSERT INTO public.told VALUES (event ->> 'id', event ->> 'source', event #>> '{detail,status}',
		event #>> '{detail,target}') $$;
SELECT sf_create_rule('tell', '{"source": ["sfflow.deadlines", "sfflow.alerts"]}', 'sql:public.tell');
SELECT sf_create_state_machine('moment', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_set_deadline('moment', start_by => (date_trunc('minute', clock_timestamp()) + interval '1 minute')::time);
EOQ
ok($node->poll_query_until('postgres', "SELECT next_check > now() FROM sf_deadlines WHERE target = 'moment'"),
	'a worker has looked at a new deadline');

# --- at the moment, while polls are ten minutes apart

ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM sf_late WHERE target = 'moment'"), 'it is raised');
cmp_ok(sql("SELECT extract(epoch FROM raised_at - deadline_at) FROM sf_late WHERE target = 'moment'"), '<', 120,
	'before a poll');
ok($node->poll_query_until('postgres', q(SELECT count(*) = 2 FROM told)),
	'rules are told of the deadline and of the alert');

# --- kills in the middle

# Have many deadlines pass that were not looked at: each has something that never started.
sub pass_deadlines
{
	my ($round, $n) = @_;
	return sql(qq(
		SELECT sf_create_state_machine('k$round-' || i,
			'{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}') FROM generate_series(1, $n) AS i;
		BEGIN;
		SELECT sf_set_deadline('k$round-' || i, (date_trunc('minute', now()) - interval '1 hour')::time)
			FROM generate_series(1, $n) AS i;
		UPDATE _sfflow.deadline SET checked_until = now() - interval '2 hours' WHERE target LIKE 'k$round-%';
		COMMIT));
}

for my $round (1 .. $kills)
{
	pass_deadlines($round, 30);
	sleep(rand 0.3);
	have_crash($node, $round);
}
ok($node->poll_query_until('postgres', "SELECT count(*) = 30 * $kills FROM sf_late WHERE target LIKE 'k%'"),
	'all are raised in the end');
ok($node->poll_query_until('postgres', "SELECT count(*) = 2 * 30 * $kills FROM told WHERE target LIKE 'k%'"),
	'... and told');
is(sql('SELECT count(*) FROM (SELECT FROM told GROUP BY kind, status, target HAVING count(*) > 1) d'), '0',
	'each once');
ok($node->poll_query_until('postgres', 'SELECT sum(pending) + sum(dead) = 0 FROM sf_rules'),
	'nothing is left to deliver');

# --- a standby takes over in the middle

my $standby = standby_of($node, 'standby');
pass_deadlines('s', 60);
$node->wait_for_catchup($standby, 'write', $node->lsn('write'));
$node->stop('immediate');
$standby->promote;
ok($standby->poll_query_until('postgres', "SELECT count(*) = 60 FROM sf_late WHERE target LIKE 'ks-%'"),
	'the standby raises the others');
ok($standby->poll_query_until('postgres', "SELECT count(*) = 120 FROM told WHERE target LIKE 'ks-%'"), '... and tells');
is($standby->safe_psql('postgres', 'SELECT count(*)
	FROM (SELECT FROM told GROUP BY kind, status, target HAVING count(*) > 1) d'), '0', 'each once');
is($standby->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');
$standby->stop;
done_testing();
