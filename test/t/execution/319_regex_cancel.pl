# A cancel that comes when the time of an evaluation is up, in a regular expression: it is a cancel.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main');
my $holder = $node->background_psql('postgres');
$holder->query_safe("SELECT pg_advisory_lock(hashtextextended('regex-over', 0))");

# Evaluate what takes minutes, with a limit of a tenth of a second, and do something when that is over.
sub evaluate
{
	my ($settings, $meanwhile) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	$session->query_until(qr/begun/, "SET sfflow.debug_point = 'regex-over:wait'; SET sfflow.evaluation_timeout = '100ms';
		$settings
		\\set VERBOSITY sqlstate
		\\echo begun
		SELECT sf_jsonata('\$match(\$pad(\"\", 200000, \"ab\"), /a(?=.*x)/)');\n");
	ok( $node->poll_query_until('postgres', 'SELECT count(*) = 1 FROM pg_locks
			WHERE locktype = $$advisory$$ AND NOT granted'),
		'the time is up');
	$meanwhile->();
	$holder->query_safe("SELECT pg_advisory_unlock(hashtextextended('regex-over', 0))");
	$session->query('SELECT 1');
	my $error = $session->{stderr};
	$session->quit;
	$holder->query_safe("SELECT pg_advisory_lock(hashtextextended('regex-over', 0))");
	return $error;
}

like(evaluate('', sub { }), qr/ERROR:\s+SF/, 'it ends with the error of the evaluation');
like(
	evaluate('', sub { $node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_locks
		WHERE locktype = 'advisory' AND NOT granted}) }),
	qr/ERROR:\s+57014/, 'a cancel is not lost');
like(evaluate("SET statement_timeout = '1s';", sub { $node->poll_query_until('postgres', q{SELECT
		clock_timestamp() > query_start + interval '2 s' FROM pg_stat_activity JOIN pg_locks USING (pid)
		WHERE locktype = 'advisory' AND NOT granted}) }), qr/ERROR:\s+57014/, 'nor is a statement_timeout');

$holder->quit;
$node->stop;
done_testing();
