# Ten thousand executions (two thousand, unless in full size) are redriven by one call within a minute; two calls at
# once redrive each of them once; a server that dies in the middle of a call has redriven none.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $many = full(2_000, 10_000);
my $node = new_node('main', conf => "sfflow.workers = 2\n");
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE broken (n integer);
INSERT INTO broken VALUES (1);
CREATE FUNCTION fails(payload jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM broken) THEN RAISE EXCEPTION 'broken'; END IF;
END $$;
SELECT sf_create_state_machine('night', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "sql:public.fails", "End": true}}}');
SQL
$node->safe_psql('postgres', "SELECT count(*)
	FROM sf_start_many('night', ARRAY(SELECT jsonb_build_object('n', n) FROM generate_series(1, $many) AS n))");

# Wait until as many executions have a status.
sub all_are
{
	my ($status, $what) = @_;
	ok($node->poll_query_until('postgres', "SELECT count(*) = $many FROM sf_executions WHERE status = '$status'"),
		$what);
	return;
}
all_are('FAILED', 'all fail');

# The server dies before the call has ended.
my $session = $node->background_psql('postgres', on_error_stop => 0);
$session->query_safe('BEGIN');
is($session->query_safe("SELECT count(*) FROM sf_redrive_many('night') WHERE outcome = 'redriven'"), $many,
	'one call for all');
$node->stop('immediate');
eval { $session->quit };
$node->start;
is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE status = 'FAILED') || ' ' || max(redrive_count)
	FROM sf_executions"), "$many 0", 'the server has died: none is redriven');
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_audit WHERE action = 'redrive'"), '0', '... nor recorded');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');

# Two calls at once, while workers make each execution fail again at once: both have listed all of them when the first
# one is redriven.
my $gate = $node->background_psql('postgres');
$gate->query_safe('BEGIN; LOCK TABLE _sfflow.execution IN EXCLUSIVE MODE');
my @sessions = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 2;
$_->query_until(qr/go/,
	"\\echo go\nSELECT outcome || ' ' || count(*) FROM sf_redrive_many('night') GROUP BY outcome;\n") for @sessions;
$node->poll_query_until('postgres', "SELECT count(*) = 2 FROM pg_locks l JOIN pg_stat_activity a USING (pid)
	WHERE l.relation = '_sfflow.execution'::regclass AND l.mode = 'RowShareLock' AND NOT l.granted
		AND a.query LIKE '%sf_redrive_many%'") or die 'they do not meet';
my $begin = time;
$gate->query_safe('COMMIT');
$gate->quit;
my @outcomes = map { $_->query_safe('SELECT 1'); $_->quit; 1 } @sessions;
my $took = time - $begin;
cmp_ok($took, '<', 60, sprintf('%d redriven in %.1f s', $many, $took));
all_are('FAILED', 'they have failed again');
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE redrive_count = 1"), $many,
	'each was redriven once');
is($node->safe_psql('postgres', "SELECT count(*) || ' ' || count(DISTINCT execution_id) FROM sf_audit
	WHERE action = 'redrive'"), "$many $many", 'and recorded once');

$node->safe_psql('postgres', 'DELETE FROM broken');
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_redrive_many('night') WHERE outcome = 'redriven'"), $many,
	'the cause is repaired');
all_are('SUCCEEDED', 'all succeed');
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'the tables hold together');
no_surprises($node);
$node->stop;
done_testing();
