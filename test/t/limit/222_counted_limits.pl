# What runs already when a limit is set counts for it: also what a transaction began that is open at that moment, and
# commits while polls are ten minutes apart.
# needs: deadline limit
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.max_workers = 4\nsfflow.poll_interval = 600\n");
# Does a query return true long before the next poll?
sub soon
{
	my ($query, $until) = (shift, time + 120);
	sleep 0.1 until $node->safe_psql('postgres', $query) eq 't' || time > $until;
	return time <= $until;
}
sub sql { return $node->safe_psql('postgres', shift) }
sql(<<'EOS');
SELECT sf_create_activity('desk');
SELECT sf_create_state_machine('desk', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 600, "Next": "A"},
	"A": {"Type": "Task", "Resource": "activity:desk", "End": true}}}');
SELECT sf_create_state_machine('late', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_start('desk', '{}', 'beside' || n) FROM generate_series(1, 4) AS n;
EOS
ok(soon("SELECT count(*) = 4 FROM sf_executions WHERE waiting_on IS NOT NULL"), 'all wait');

# Executions come to the activity in a transaction beside which a limit is set.
my $session = $node->background_psql('postgres');
sub begin_beside
{
	my ($before, $max, $highest, @names) = @_;
	$session->query_safe('BEGIN; ' . join '; ', map { "SELECT sf_run('desk:$_', true)" } @names);
	sql("$before SELECT sf_set_limit('activity:desk', max_running => $max)");
	sleep 2;
	is(sql("SELECT in_use FROM sf_limits WHERE target = 'activity:desk'"), '0', 'what is not committed is not seen');
	$session->query_safe('COMMIT');
	ok(soon("SELECT in_use = 2 FROM sf_limits WHERE target = 'activity:desk'"),
		'... and counts soon after it has committed');
	ok(soon('SELECT bool_and(counted) FROM _sfflow.run_limit'), '... when it is known that all counts');
	is(sql('SELECT highest FROM _sfflow.run_limit'), $highest, '... in free slots first');
}
begin_beside('', 1, 2, 'beside1', 'beside2');
sql("SELECT sf_stop('desk:beside1'), sf_stop('desk:beside2'), sf_drop_limit('activity:desk')");

# ... and where looks meet another transaction that has the row of the limit locked.
sql("SELECT sf_start('desk', '{}', 'locked' || n) FROM generate_series(1, 2) AS n");
ok(soon("SELECT count(*) = 2 FROM sf_executions WHERE name LIKE 'locked%' AND waiting_on IS NOT NULL"),
	'two more wait');
my $other = $node->background_psql('postgres');
$session->query_safe("BEGIN; SELECT sf_run('desk:locked' || n, true) FROM generate_series(1, 2) AS n");
sql("SELECT sf_set_limit('activity:desk', max_running => 5)");
$other->query_safe('BEGIN; SELECT limit_no FROM _sfflow.run_limit FOR UPDATE');
sleep 1;
$other->query_safe('COMMIT');
$session->query_safe('COMMIT');
ok(soon('SELECT bool_and(counted) FROM _sfflow.run_limit'), 'a look that another transaction prevents comes again');
$other->quit;
sql("SELECT sf_stop('desk:locked1'), sf_stop('desk:locked2'), sf_drop_limit('activity:desk')");

# So it is with the look at a deadline that is new, too.
begin_beside("SELECT sf_set_deadline('late', '00:00');", 5, 5, 'beside3', 'beside4');

# A step that begins without the limit before other processes are told of it, and after a look that has seen it.
sql("SELECT sf_stop('desk:beside3'), sf_stop('desk:beside4'), sf_drop_limit('activity:desk')");
sql("SELECT sf_start('desk', '{}', 'unaware' || n) FROM generate_series(1, 2) AS n");
$session->query_safe("SELECT sf_run('desk:unaware1', true), sf_stop('desk:unaware1')");
my $setter = $node->background_psql('postgres');
$setter->query_safe("SET sfflow.debug_point = 'wake:sleep=4000'");
$setter->query_until(qr/sets/, "\\echo sets\nSELECT sf_set_limit('activity:desk', max_running => 1);\n");
ok(soon('SELECT count(*) = 1 FROM _sfflow.run_limit'), 'a limit is committed, and not told of yet');
sql('CALL sf_run_due(0)');
$session->query_safe("BEGIN; SELECT sf_run('desk:unaware2', true)");
$setter->query_safe('RESET sfflow.debug_point');
sql('CALL sf_run_due(0)');
$session->query_safe('COMMIT');
ok(soon('SELECT bool_and(counted) FROM _sfflow.run_limit'), 'it is known that all counts');
is(sql("SELECT in_use FROM sf_limits WHERE target = 'activity:desk'"), '1',
	'... also what has begun without the limit');

# A look notes that a limit which was lowered long ago is not exceeded any more, but for one that a session is setting.
sql("UPDATE _sfflow.run_limit SET highest = max_running + 1, set_at = now() - interval '1 hour'");
$session->query_safe("BEGIN; SELECT sf_set_limit('activity:desk', max_running => 2)");
is($node->psql('postgres', "SET statement_timeout = '60s'; CALL sf_run_due(0)"), 0,
	'a look waits for no session that sets a limit');
$session->query_safe('ROLLBACK');
sql('CALL sf_run_due(0)');
is(sql('SELECT highest - max_running FROM _sfflow.run_limit'), '0', '... and notes it later');
$setter->quit;
$session->quit;
is(sql('SELECT count(*) FROM sf_check()'), '0', 'the tables are in order');
$node->stop;
done_testing();
