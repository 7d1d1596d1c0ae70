# Each execution that fails leaves a line in the server's log, when that is committed, without what it works on.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main');
$node->safe_psql('postgres', q(
CREATE FUNCTION fail(x text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sf_raise('Bad' || x, 'the secret is ' || x);
END $$;
SELECT sf_create_state_machine('m', '{"StartAt": "Load", "States": {"Load": {"Type": "Task",
	"Resource": "sql:public.fail", "End": true}}}');
SELECT sf_create_state_machine('late', '{"StartAt": "Nap", "TimeoutSeconds": 1, "States": {"Nap": {"Type": "Wait",
	"Seconds": 3600, "End": true}}}');
SELECT sf_create_state_machine('stopped', '{"StartAt": "Nap", "States": {"Nap": {"Type": "Wait",
	"Seconds": 3600, "End": true}}}');
SELECT sf_create_state_machine('good', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');));

# What the log holds since the last call. A worker writes the line of an execution after its commit, so that a client
# may see the end first: wait for a text, if one is given.
my $offset = 0;
sub log_since
{
	my $wanted = shift;
	my $text = '';
	for (1 .. 1800)
	{
		my $new = slurp_file($node->logfile, $offset);
		$offset += length $new;
		$text .= $new;
		last if !defined $wanted || $text =~ /LOG:  \Q$wanted\E/;
		Time::HiRes::sleep(0.1);
	}
	return $text;
}

# Lines about executions in a text, without what stands before them.
sub failures
{
	return map { /LOG:  (.*execution.*)/ ? $1 : () } split /\n/, shift;
}

# Wait until an execution has ended.
sub await_end
{
	my $id = shift;
	return $node->safe_psql('postgres', "SELECT sf_await('$id', '3 min')");
}

log_since();
$node->safe_psql('postgres', q(SELECT sf_start('m', '{"x": "mellon"}', 'a')));
is(await_end('m:a'), 'FAILED', 'an execution fails');
my $text = log_since('execution "m:a"');
is_deeply([ failures($text) ], ['execution "m:a" of database "postgres" failed in state "Load": Badmellon'],
	'the log has a line');
unlike($text, qr/the secret is/, 'without the cause');

$node->safe_psql('postgres', q(SELECT sf_start('late', '{}', 'a')));
is(await_end('late:a'), 'TIMED_OUT', 'one times out');
is_deeply([ failures(log_since('execution "late:a"')) ],
	['execution "late:a" of database "postgres" timed out in state "Nap"'], 'so has this');

$node->safe_psql('postgres', q(SELECT sf_start('stopped', '{}', 'a')));
$node->safe_psql('postgres', q(SELECT sf_stop('stopped:a', 'Enough')));
$node->safe_psql('postgres', q(SELECT sf_start('good', '{}', 'a')));
is(await_end('good:a'), 'SUCCEEDED', 'one succeeds');
is_deeply([ failures(log_since()) ], [], 'neither that nor one that was stopped has a line');

# In a session: when it commits, and not when it rolls back, whole or in part; never with the statement.
$node->safe_psql('postgres', q(
SET log_min_error_statement = log;
BEGIN; SELECT sf_start('m', '{"x": "gone"}', 'gone'); SELECT sf_run('m:gone'); ROLLBACK;
BEGIN; SAVEPOINT s; SELECT sf_start('m', '{"x": "part"}', 'part'); SELECT sf_run('m:part'); ROLLBACK TO s;
SELECT sf_start('m', '{"x": "here"}', 'here'); SAVEPOINT s; SELECT sf_run('m:here') AS "mellon"; RELEASE s; COMMIT;));
$text = log_since();
is_deeply([ failures($text) ], ['execution "m:here" of database "postgres" failed in state "Load": Badhere'],
	'a session logs what it commits');
unlike($text, qr/STATEMENT:/, 'without its statement');

# Newlines and endless names.
$node->safe_psql('postgres', q(SELECT sf_start('m',
	jsonb_build_object('x', E'\nLOG:  forged execution ' || repeat('y', 1000)), 'long')));
is(await_end('m:long'), 'FAILED', 'the name of an error is long');
$text = log_since('execution "m:long"');
unlike($text, qr/^LOG:  forged/m, 'it forges no line');
unlike($text, qr/y{300}/, 'and is cut');

# Many at once: ten lines a second, then how many more.
$node->safe_psql('postgres', q(BEGIN; SELECT sf_start('m', '{"x": "many"}', 'many' || n) FROM generate_series(1, 100) n;
SELECT sf_run('m:many' || n) FROM generate_series(1, 100) n; COMMIT));
my ($lines, $more) = (0, 0);
for (1 .. 1800)
{
	for (failures(log_since()))
	{
		$lines++ if /"m:many\d+"/;
		$more += $1 if /^(\d+) more executions failed/;
	}
	last if $lines + $more >= 100;
	Time::HiRes::sleep(0.1);
}
is($lines + $more, 100, 'each of a hundred is logged or counted');
cmp_ok($lines, '<=', 40, 'few are logged');

# Switched off.
$node->safe_psql('postgres', q(SET sfflow.log_failures = off; SELECT sf_start('m', '{"x": "quiet"}', 'quiet'),
	sf_run('m:quiet')));
is_deeply([ failures(log_since()) ], [], 'a superuser can switch it off');
$node->stop;
done_testing();
