# Without preloading, everything works through sf_step, sf_run and sf_run_due.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', bare => 1, conf => "shared_preload_libraries = ''\n");
$node->safe_psql('postgres', 'CREATE EXTENSION sfflow');
$node->safe_psql('postgres', <<'EOS');
CREATE TABLE ledger (job text);
CREATE FUNCTION job(job text) RETURNS void LANGUAGE sql AS 'INSERT INTO ledger VALUES (job)';
EOS
my $two = '{"StartAt": "A", "States": {"A": '
  . task('public.job', 'B', '"Parameters": {"job": "A"}') . ', "B": ' . task('public.job', undef, '"Parameters": {"job": "B"}') . '}}';
$node->safe_psql('postgres', "SELECT sf_create_state_machine('two', \$def\$$two\$def\$)");

is($node->safe_psql('postgres', q{SELECT sf_start('two', '{}', 'step')}), 'two:step', 'sf_start');
is($node->safe_psql('postgres', q{SELECT state, next_state, status FROM sf_step('two:step')}), 'A|B|RUNNING', 'one step');
is($node->safe_psql('postgres', q{TABLE ledger}), 'A', 'has done its work');
is($node->safe_psql('postgres', q{SELECT sf_run('two:step')}), 'SUCCEEDED', 'sf_run does the rest');

$node->safe_psql('postgres', q{SELECT sf_start('two', '{}', 'due' || n) FROM generate_series(1, 20) AS n});
$node->safe_psql('postgres', q{CALL sf_run_due()});
is($node->safe_psql('postgres', q{SELECT status, count(*) FROM sf_executions GROUP BY 1}), 'SUCCEEDED|21', 'sf_run_due runs all that is due');
is($node->safe_psql('postgres', q{SELECT job, count(*) FROM ledger GROUP BY 1 ORDER BY 1}), "A|21\nB|21", 'once each');

# What needs workers says so.
like($node->safe_psql('postgres', q{SELECT string_agg(detail, ' ') FROM sf_health WHERE NOT ok}), qr/preload/, 'sf_health names the missing preload');

no_surprises($node);
$node->stop;
done_testing();
