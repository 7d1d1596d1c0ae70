# Workers purge by the option retention of machines and the setting sfflow.retention, also beside work, and
# hand executions to the archive function of their machine first.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.purge_interval = 1s");
my $definition = q({"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}});
$node->safe_psql('postgres', <<"EOS");
CREATE ROLE keeper LOGIN;
CREATE TABLE archived (id text, who name);
GRANT INSERT, SELECT ON archived TO keeper;
CREATE FUNCTION archive(payload jsonb) RETURNS void LANGUAGE sql SET search_path = public AS '
	INSERT INTO archived SELECT i, current_user FROM jsonb_array_elements_text(payload -> ''executions'') AS i';
SELECT sf_create_state_machine('short', '$definition', options => '{"retention": "1 hour"}');
SELECT sf_create_state_machine('long', '$definition', options => '{"retention": "1 year"}');
SELECT sf_create_state_machine('plain', '$definition');
SET ROLE keeper;
SELECT sf_create_state_machine('kept', '$definition',
	options => '{"retention": "1 hour", "archive": "sql:public.archive"}');
RESET ROLE;
CREATE ROLE other LOGIN;
CREATE FUNCTION other_archive(payload jsonb) RETURNS void LANGUAGE sql AS '';
SET ROLE other;
SELECT sf_create_state_machine('behind', '$definition',
	options => '{"retention": "1 hour", "archive": "sql:public.other_archive"}');
EOS

# Executions of a machine that ended two hours ago.
sub end_old
{
	my ($machine, $n) = @_;
	$node->safe_psql('postgres', "SELECT
		FROM sf_start_many('$machine', 'SELECT jsonb_build_object() FROM generate_series(1, $n)')");
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE state_machine = '$machine'
		AND status = 'RUNNING'");
	$node->safe_psql('postgres', "UPDATE _sfflow.execution SET requested_at = requested_at - interval '2 hours',
		stopped_at = stopped_at - interval '2 hours'
		WHERE execution_id LIKE '$machine:%'");
	return;
}

sub count_of
{
	return $node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE state_machine = '$_[0]'");
}

end_old($_, 1300) for qw(long plain kept short);
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions
	WHERE state_machine IN ('short', 'kept')"), 'workers purge');
is(count_of('long'), 1300, 'what is not old enough stays');
is(count_of('plain'), 1300, 'without retention all stay');
is($node->safe_psql('postgres', 'SELECT count(DISTINCT id), min(who) FROM archived'), '1300|keeper',
	'the archive function got each, as the owner of the machine');

$node->safe_psql('postgres', "ALTER SYSTEM SET sfflow.retention = '1h'");
$node->reload;
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE state_machine = 'plain'"),
	'the setting is for machines without the option');
is(count_of('long'), 1300, 'and only for them');

# What still runs, or has just ended, when the purge comes by goes when it is old enough.
$node->safe_psql('postgres', q(SELECT sf_create_state_machine('brief',
	'{"StartAt": "W", "States": {"W": {"Type": "Wait", "SecondsPath": "$.seconds", "End": true}}}',
	options => '{"retention": "2 seconds"}')));
$node->safe_psql('postgres', q(SELECT sf_start('brief', jsonb_build_object('seconds', s), 's' || s)
	FROM unnest('{100000,0}'::integer[]) AS s));
ok($node->poll_query_until('postgres', q(SELECT string_agg(name, ' ') = 's100000' FROM sf_executions
	WHERE state_machine = 'brief')), 'the purge comes by one that runs');
$node->safe_psql('postgres', q(SELECT sf_start('brief', '{"seconds": 0}', 'later')));
ok($node->poll_query_until('postgres', q(SELECT string_agg(name, ' ') = 's100000' FROM sf_executions
	WHERE state_machine = 'brief')), '... and goes on behind it');
$node->safe_psql('postgres', q(SELECT sf_stop('brief:s100000')));
ok($node->poll_query_until('postgres', q(SELECT count(*) = 0 FROM sf_executions WHERE state_machine = 'brief')),
	'... which goes when it has ended');

# An error keeps them; the log says so.
my $at = -s $node->logfile;
$node->safe_psql('postgres', "REVOKE INSERT ON archived FROM keeper");
end_old('kept', 10);
ok($node->wait_for_log(
	qr/executions of state machine "kept" are not purged: its archive function failed with insufficient_privilege/,
	$at), 'an archive function that fails is logged');
is(count_of('kept'), 10, 'and its executions stay');
end_old('behind', 10);
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE state_machine = 'behind'"),
	'the machine of another owner behind it is purged');
$node->safe_psql('postgres', q(CREATE OR REPLACE FUNCTION archive(payload jsonb) RETURNS void LANGUAGE plpgsql AS
	$$ BEGIN RAISE 'cancelled' USING ERRCODE = '57014'; END $$));
end_old('behind', 10);
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE state_machine = 'behind'"),
	'also where the function ends the transaction');
is(count_of('kept'), 10, 'whose executions stay, too');
$node->safe_psql('postgres', q(CREATE OR REPLACE FUNCTION archive(payload jsonb) RETURNS void LANGUAGE sql
	SET search_path = public AS
	'INSERT INTO archived SELECT i, current_user FROM jsonb_array_elements_text(payload -> ''executions'') AS i'));
$node->safe_psql('postgres', "GRANT INSERT ON archived TO keeper");
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE state_machine = 'kept'"),
	'until it does not fail');

# One that takes long keeps only other archive functions waiting.
$node->safe_psql('postgres', q(CREATE OR REPLACE FUNCTION archive(payload jsonb) RETURNS void
	LANGUAGE sql AS 'SELECT pg_advisory_xact_lock(7)'));
my $holder = $node->background_psql('postgres');
$holder->query_safe('SELECT pg_advisory_lock(7)');
end_old('kept', 10);
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"),
	'an archive function takes long');
end_old($_, 700) for qw(short plain behind);
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions
	WHERE state_machine IN ('short', 'plain')"), 'meanwhile other machines are purged');
is(count_of('behind'), 700, 'but for those that have an archive function, too');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"), 1,
	'it still runs');
is(count_of('kept'), 10, 'its executions are there');
$holder->query_safe('SELECT pg_advisory_unlock(7)');
$holder->quit;
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions
	WHERE state_machine IN ('kept', 'behind')"), 'when it is over, all are purged');

is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), 0, 'sf_check');
my ($code, $out, $err) = $node->psql('postgres', 'SET ROLE keeper; CALL sf_purge_due()');
like($err, qr/permission denied for procedure sf_purge_due/, 'only an administrator may call sf_purge_due');
$node->stop;
done_testing();
