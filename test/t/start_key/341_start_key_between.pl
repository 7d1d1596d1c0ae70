# Keys of starts where another session comes between two steps of one: a redrive between the looks of an end, or between
# the begins of a slice, and starts that stay open beside a sweep. No worker runs: sessions make the slices and sweeps.
# needs: start_key
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "shared_preload_libraries = ''\n");

sub sql { return $node->safe_psql('postgres', shift) }

# What stands in the line of a key.
sub line
{
	my $key = shift;
	return sql(qq(SELECT coalesce(string_agg(concat_ws(' ', name, place), ', ' ORDER BY rank), 'empty')
		FROM sf_start_keys JOIN sf_executions USING (execution_id) WHERE start_key = '$key'));
}

# Begin a statement in a session; done() waits for its end.
sub begin
{
	my ($session, $query) = @_;
	return $session->query_until(qr/begun/, "\\echo begun\n$query;\n\\echo ended\n");
}

sub done { my $session = shift; return $session->query_until(qr/ended/, '') }

# Wait until so many sessions wait for a debug point.
sub at_point
{
	my ($point, $count) = @_;
	return ok($node->poll_query_until('postgres', "SELECT count(*) = $count FROM pg_locks WHERE NOT granted
		AND locktype = 'advisory' AND ((classid::bigint << 32) | objid::bigint) = hashtextextended('$point', 0)"),
		"$count wait at $point");
}

# Executions fail, end or wait, as their input says.
sql(<<'EOS');
SELECT sf_create_state_machine('line', '{"StartAt": "C", "States": {
	"C": {"Type": "Choice", "Choices": [{"Variable": "$.do", "StringEquals": "fail", "Next": "F"},
		{"Variable": "$.do", "StringEquals": "wait", "Next": "W"}], "Default": "S"},
	"F": {"Type": "Fail", "Error": "No"}, "W": {"Type": "Wait", "Seconds": 86400, "End": true},
	"S": {"Type": "Succeed"}}}', options => '{"start_key": {"key": "$.k", "mode": "fifo"}}');
CREATE FUNCTION go(k text, name text, what text) RETURNS text LANGUAGE sql AS $$
	SELECT sf_start('line', jsonb_build_object('k', k, 'do', what), name) $$;
EOS
my ($one, $two, $three) = map { $node->background_psql('postgres') } 1 .. 3;
$_->query_safe('SET client_min_messages = warning') for $one, $two, $three;

# --- a redrive while the end of another execution looks whether the key is needed

sql(q(SELECT go('end', 'a', 'fail'); CALL sf_run_due(); SELECT go('end', 'b', 'end')));
is(line('end'), 'b waiting', 'one is over, and another one is to end');
$two->query_safe(q(SELECT pg_advisory_lock(hashtextextended('start-key-forget', 0))));
$one->query_safe(q(SET sfflow.debug_point = 'start-key-forget:wait'));
begin($one, 'CALL sf_run_due()');
at_point('start-key-forget', 1);
$two->query_safe(q(SELECT sf_redrive('line:a')));
$two->query_safe(q(SELECT pg_advisory_unlock(hashtextextended('start-key-forget', 0))));
done($one);
$one->query_safe('RESET sfflow.debug_point');
is(sql('SELECT problem FROM sf_check()'), '', 'the row of the key is there for the one that is redriven');
sql('CALL sf_run_due()');
is(sql(q(SELECT status || ' ' || redrive_count FROM sf_executions WHERE execution_id = 'line:a')), 'FAILED 1',
	'... which goes on');

# --- a redrive while a slice is to take the same execution after another one has begun

# The slice has read which branches are due; then the first of the key is stopped, and redriven when the second has
# begun.
sql(q(SELECT go('slice', 'c', 'wait'); CALL sf_run_due(); SELECT sf_stop('line:c')));
sql(q(SELECT go('slice', 'd', 'wait')));
sql(q(SELECT sf_redrive('line:c')));
is(line('slice'), 'c waiting, d waiting', 'two are due');
$two->query_safe(q(SELECT pg_advisory_lock(hashtextextended('claim', 0))));
$one->query_safe(q(SET sfflow.debug_point = 'claim:wait'));
begin($one, 'CALL sf_run_due()');
at_point('claim', 1);
begin($three, q(SELECT pg_advisory_lock(hashtextextended('claim', 0))));
at_point('claim', 2);
$two->query_safe(q(SELECT sf_stop('line:c')));
$two->query_safe(q(SELECT pg_advisory_unlock(hashtextextended('claim', 0))));
done($three);
at_point('claim', 1);
$two->query_safe(q(SELECT sf_redrive('line:c')));
$three->query_safe(q(SELECT pg_advisory_unlock(hashtextextended('claim', 0))));
done($one);
$one->query_safe('RESET sfflow.debug_point');
sql('CALL sf_run_due()');
is(line('slice'), 'c waiting, d running', 'one of them runs');
is(sql('SELECT problem FROM sf_check()'), '', 'the tables hold together');
sql(q(SELECT sf_stop('line:d'); CALL sf_run_due()));
is(line('slice'), 'c running', '... and then the other one');
sql(q(SELECT sf_stop('line:c')));

# --- ends beside starts that stay open

# More of them than a sweep looks at together, with lower numbers.
sql(q(SELECT go('many' || n, 'many' || n, 'wait') FROM generate_series(1, 250) n));
sql(q(SELECT go('few', 'e', 'wait'); SELECT go('few', 'f', 'wait'); CALL sf_run_due()));
is(line('few'), 'e running, f waiting', 'one waits for another one');
$two->query_safe(q(BEGIN; SELECT go('many' || n, NULL, 'wait') FROM generate_series(1, 250) n));
$three->query_safe(q(BEGIN; SELECT go('few', 'g', 'wait')));
sql(q(SELECT count(sf_stop('line:many' || n)) FROM generate_series(1, 250) n; SELECT sf_stop('line:e')));
is(sql(q(SELECT count(*) FROM sf_start_keys WHERE place = 'ended')), '251',
	'executions end beside starts of their keys');
$three->query_safe('COMMIT');
sql('CALL sf_run_due(); CALL sf_run_due()');
is(line('few'), 'f running, g waiting', 'the next one of a key whose start has ended runs');
$two->query_safe('ROLLBACK');
sql('CALL sf_run_due()');
is(sql(q(SELECT count(*) FROM sf_start_keys WHERE start_key LIKE 'many%')), '0', '... and the others are told later');
sql(q(SELECT sf_stop('line:' || n) FROM unnest('{f,g}'::text[]) n; CALL sf_run_due()));

# One is redriven, in a transaction that stays open, before a sweep has come to it.
sql(q(SELECT go('open', 'h', 'wait'); SELECT go('other', 'j', 'wait'); SELECT go('other', 'l', 'wait');
	CALL sf_run_due()));
$two->query_safe(q(BEGIN; SELECT go('open', 'i', 'wait'), go('other', 'k', 'wait')));
sql(q(SELECT sf_stop('line:h'), sf_stop('line:j')));
$two->query_safe('ROLLBACK');
is(line('open') . '; ' . line('other'), 'h ended; j ended, l waiting', 'the next ones are to be told');
$one->query_safe(q(BEGIN; SELECT sf_redrive('line:h')));
my ($out, undef) = $node->psql('postgres', q(SET statement_timeout = '60s'; CALL sf_run_due()));
is($out, 0, 'a sweep does not wait for a redrive');
is(line('other'), 'l running', '... and tells the next one of another key');
$one->query_safe('COMMIT');
sql('CALL sf_run_due()');
is(line('open'), 'h running', 'the one that was redriven goes on');

is(sql('SELECT problem FROM sf_check()'), '', 'the tables hold together');
$_->quit for $one, $two, $three;
$node->stop;
done_testing();
