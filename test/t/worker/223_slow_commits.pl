# Where a commit takes a second, a worker counts as stuck after each turn, another one replaces it, and it leaves.
# Executions go on nevertheless, and so they do beside deliveries of rules that take as long.
# needs: rule
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;


my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 2
sfflow.max_workers = 6
sfflow.poll_interval = 3600
EOC
sub sql { return $node->safe_psql('postgres', shift) }
sql(<<'EOS');
CREATE FUNCTION job() RETURNS void LANGUAGE sql AS 'SELECT pg_sleep(0.2)';
CREATE FUNCTION tell(event jsonb) RETURNS void LANGUAGE sql AS 'SELECT pg_sleep(1.2)';
SELECT sf_create_state_machine('slow', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:public.job",
	"End": true}}}');
SELECT sf_create_state_machine('told', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_start('slow', '{}', 'before');
SELECT sf_await('slow:before', '60 s');
EOS

# Beside deliveries
sql(q(SELECT sf_create_rule('each', '{"source": ["aws.states"], "detail": {"status": ["SUCCEEDED"]}}',
	'sql:public.tell')));
sql(q(SELECT count(*) FROM sf_start_many('told', 'SELECT ''{}''::jsonb FROM generate_series(1, 60)')));
$node->poll_query_until('postgres', q(SELECT count(*) >= 20 FROM _sfflow.rule_delivery)) or die 'no deliveries';
sql(q(SELECT sf_start('slow', '{}', 'beside')));
is(sql(q(SELECT sf_await('slow:beside', '120 s'))), 'SUCCEEDED', 'an execution ends beside slow deliveries');
cmp_ok(sql('SELECT count(*) FROM _sfflow.rule_delivery'), '>', 0, '... of which some are still to be made');
sql(q(SELECT sf_discard_deliveries('each')));
sql(q(SELECT sf_drop_rule('each')));

# Slow commits
sql(q(ALTER SYSTEM SET sfflow.debug_point = 'committed:sleep=1000'));
sql('SELECT pg_reload_conf()');
$node->poll_query_until('postgres', q(SELECT current_setting('sfflow.debug_point') <> '')) or die 'no reload';
foreach my $n (1 .. 4)
{
	sql(qq(SELECT sf_start('slow', '{}', 'after$n')));
	sql(qq(SELECT sf_stop('slow:after$n')));
	sql(qq(SELECT sf_redrive('slow:after$n')));
	is(sql(qq(SELECT sf_await('slow:after$n', '120 s'))), 'SUCCEEDED',
		"an execution ends where each commit takes a second ($n)");
}

$node->stop;
done_testing();
