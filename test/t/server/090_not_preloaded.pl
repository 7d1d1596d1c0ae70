# Without preloading, everything works through sf_step, sf_run and sf_run_due.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
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
  . task('public.job', 'B', '"Parameters": {"job": "A"}') . ', "B": '
  	. task('public.job', undef, '"Parameters": {"job": "B"}') . '}}';
$node->safe_psql('postgres', "SELECT sf_create_state_machine('two', \$def\$$two\$def\$)");

is($node->safe_psql('postgres', q{SELECT sf_start('two', '{}', 'step')}), 'two:step', 'sf_start');
is($node->safe_psql('postgres', q{SELECT state, next_state, status FROM sf_step('two:step')}), 'A|B|RUNNING',
	'one step');
is($node->safe_psql('postgres', q{TABLE ledger}), 'A', 'has done its work');
is($node->safe_psql('postgres', q{SELECT sf_run('two:step')}), 'SUCCEEDED', 'sf_run does the rest');

$node->safe_psql('postgres', q{SELECT sf_start('two', '{}', 'due' || n) FROM generate_series(1, 20) AS n});
$node->safe_psql('postgres', q{CALL sf_run_due()});
is($node->safe_psql('postgres', q{SELECT status, count(*) FROM sf_executions GROUP BY 1}), 'SUCCEEDED|21',
	'sf_run_due runs all that is due');
is($node->safe_psql('postgres', q{SELECT job, count(*) FROM ledger GROUP BY 1 ORDER BY 1}), "A|21\nB|21", 'once each');

# sf_disable() stops that as well, and says so.
my $db = 'postgres';
$node->safe_psql($db, q{SELECT sf_disable(); SELECT sf_start('two', '{}', 'off')});
my (undef, undef, $warning) = $node->psql($db, '\\set VERBOSITY verbose
	CALL sf_run_due()');
like($warning,
	qr/WARNING:  SF016: sf_run_due\(\) runs nothing: the database is not driven\nDETAIL:  switched off by sf_disable/,
	'switched off, sf_run_due runs nothing');
is($node->safe_psql($db, q{SELECT status FROM sf_executions WHERE execution_id = 'two:off'}), 'RUNNING', 'indeed');
$node->safe_psql($db, 'SELECT sf_enable(); CALL sf_run_due()');
is($node->safe_psql($db, q{SELECT status FROM sf_executions WHERE execution_id = 'two:off'}), 'SUCCEEDED',
	'switched on, it does');

# A task that is the victim of a deadlock with what the task before it has locked: the slice lets go of
# everything and is tried again. The task is the one that finds the deadlock: it waits for its second row when the other
# session already waits for its first one, and that session looks for deadlocks when all is over.
$node->safe_psql($db, <<'EOS');
CREATE ROLE run_shop;
ALTER ROLE run_shop SET deadlock_timeout = '100ms';
CREATE TABLE stock (id integer PRIMARY KEY, n integer);
INSERT INTO stock VALUES (1, 0), (2, 0);
GRANT SELECT, UPDATE ON stock TO run_shop;
CREATE FUNCTION book(id integer) RETURNS void LANGUAGE sql
AS $$ SELECT pg_advisory_xact_lock_shared(id); UPDATE stock SET n = n + 1 WHERE stock.id = book.id $$;
SET SESSION AUTHORIZATION run_shop;
SELECT sf_create_state_machine('booking', json_build_object('StartAt', 'One', 'States', json_build_object(
	'One', json_build_object('Type', 'Task', 'Resource', 'sql:public.book', 'Parameters', json_build_object('id', 1),
		'Next', 'Two'),
	'Two', json_build_object('Type', 'Task', 'Resource', 'sql:public.book', 'Parameters', json_build_object('id', 2),
		'End', true))));
SELECT sf_start('booking', name => '1');
EOS
my $other = $node->background_psql($db);
my $runner = $node->background_psql($db);
my $gate = $node->background_psql($db);

# Wait until a statement of another session waits for a lock.
sub waits_for
{
	my ($kind, $statement, $name) = @_;
	return ok($node->poll_query_until($db, "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
		AND wait_event = '$kind' AND query LIKE '$statement%'"), $name);
}
$gate->query_safe('SELECT pg_advisory_lock(2)');
$other->query_safe(q{SET deadlock_timeout = '180s'; BEGIN; UPDATE stock SET n = n + 10 WHERE id = 2});
$runner->query_until(qr/begun/, "\\echo begun\nCALL sf_run_due();\n\\echo done\n");
waits_for('advisory', 'CALL', 'sf_run_due has its first row');
$other->query_until(qr/asked/, "\\echo asked\nUPDATE stock SET n = n + 10 WHERE id = 1;\n\\echo updated\n");
waits_for('transactionid', 'UPDATE', '... for which another session waits');
$gate->query_safe('SELECT pg_advisory_unlock(2)');
$other->query_until(qr/updated/, '');
$other->query_safe('COMMIT');
$runner->query_until(qr/done/, '');
$_->quit for $other, $runner, $gate;
ok($node->poll_query_until($db, 'SELECT deadlocks > 0 FROM pg_stat_database WHERE datname = current_database()'),
	'there was a deadlock');
is($node->safe_psql($db, 'SELECT * FROM stock ORDER BY id'), "1|11\n2|11", 'both have done their work');
is($node->safe_psql($db, q{SELECT status FROM sf_executions WHERE execution_id = 'booking:1'}), 'SUCCEEDED',
	'without a failure');

# What needs workers says so.
like($node->safe_psql('postgres', q{SELECT string_agg(detail, ' ') FROM sf_health WHERE NOT ok}), qr/preload/,
	'sf_health names the missing preload');

no_surprises($node);
$node->stop;
done_testing();
