# sf_drop_state_machine of a machine with more executions than the call deletes: workers delete the others,
# while executions of the same ids start in a new machine, over a crash, and in a restored dump.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $many = 40000;
my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.purge_interval = '1d'\n");
my $definition = '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}';
$node->safe_psql('postgres', "SELECT sf_create_state_machine('many', '$definition')");

# Executions of years, as rows.
$node->safe_psql('postgres', <<"EOS");
INSERT INTO _sfflow.execution (execution_no, machine_no, version, status, requested_at, started_at, stopped_at,
	execution_id, input)
SELECT nextval('_sfflow.execution_no'), m.machine_no, 1, 1, now() - interval '1 ms' * i, now(), now(), 'many:' || i,
	'{"old": true}'
FROM generate_series(1, $many) AS i, _sfflow.state_machine AS m;
SELECT sf_enable();
EOS
$node->safe_psql('postgres', "SELECT sf_drop_state_machine('many', true)");
my $left = $many - 10000;
is($node->safe_psql('postgres', 'SELECT count(*) FROM _sfflow.execution'), $left,
	'the call leaves the other executions');

# A dump in this state.
my $dump = $node->basedir . '/dump.sql';
run_log([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', $dump ]) or die 'no dump';
$node->safe_psql('postgres', 'CREATE DATABASE copy');
run_log([ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('copy'), '-f', $dump, '-o', '/dev/null' ])
	or die 'no restore';
$node->safe_psql('copy', 'SELECT sf_enable()');
is($node->safe_psql('copy', 'SELECT problem, detail FROM sf_check()'), '', 'a restored dump holds together');
is($node->safe_psql('copy', 'CALL sf_purge_due()'), $left, '... and its purge goes on');
is($node->safe_psql('copy', 'SELECT (SELECT count(*) FROM _sfflow.execution),
	(SELECT count(*) FROM _sfflow.dropped_machine)'), '0|0', '... to the end');
$node->safe_psql('copy', 'SELECT sf_disable()');

# Starts of the same ids by two sessions, while workers purge, and a crash in between.
$node->safe_psql('postgres', "SELECT sf_create_state_machine('many', '$definition')");
my $starts = $node->basedir . '/starts.sql';
append_to_file($starts, join '', map { "SELECT sf_start('many', '{\"new\": true}', '" . (10001 + 7 * $_ % $left)
	. "');\n" } 1 .. 1500);
$node->append_conf('postgresql.conf', "sfflow.purge_interval = '1s'\n");
$node->reload;
my @starters = map {
	my %s = (err => '');
	$s{run} = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-f', $starts, '-o', '/dev/null' ],
		'2>', \$s{err});
	\%s
} 1 .. 2;
$_->{run}->finish for @starters;
is(join('', map { grep { /ERROR/ } split /^/, $_->{err} } @starters), '', 'starts of the same ids are not refused');
$node->stop('immediate');
$node->start;
$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.dropped_machine')
  or die 'the purge does not end';
is($node->safe_psql('postgres', q(SELECT count(*), count(*) FILTER (WHERE input = '{"new": true}')
	FROM _sfflow.execution)), '1500|1500', 'workers delete the old executions and no new one');
is($node->safe_psql('postgres', 'SELECT problem, detail FROM sf_check()'), '', 'the tables hold together');
unlike(slurp_file($node->logfile), qr/deadlock detected|ERROR:  (?!terminating)/, 'no error in the log');
$node->stop;
done_testing();
