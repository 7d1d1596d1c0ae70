# Owners take turns: who has thousands of due branches does not keep others waiting, whether work
# is rung for or found in the tables, whether a worker or sf_run_due() does it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 1\nsfflow.max_workers = 3\nsfflow.slice_ms = 5\nfsync = off\n");
my $backlog = 8000;

# A step takes a millisecond, so that the backlog lasts for some seconds.
my $short = q({"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "sql:query", "End": true,
	"Parameters": {"Statement": "SELECT pg_sleep(0.001)"}}}});
my $timer = q({"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 1, "End": true}}});
for my $role (qw(many few late))
{
	my $definition = $role eq 'late' ? $timer : $short;
	$node->safe_psql('postgres', <<"SQL");
CREATE ROLE $role;
SET SESSION AUTHORIZATION $role;
SELECT sf_create_state_machine('$role', '$definition');
SQL
}

# Start a backlog for one owner, and one execution of each of some others as soon as it is there.
sub flood
{
	my ($label, @others) = @_;
	$node->safe_psql('postgres', join ';', "SELECT count(sf_start('many', '{}', '$label-' || n))
		FROM generate_series(1, $backlog) n", map { "SELECT sf_start('$_', '{}', '$label')" } @others);
	return;
}

# How many of the backlog ended before an execution of somebody else did, from a point in time on.
sub overtook
{
	my ($execution, $since) = @_;
	return $node->safe_psql('postgres', <<"SQL");
SELECT count(*) FROM sf_executions many, sf_executions e
WHERE e.execution_id = '$execution' AND many.state_machine = 'many'
	AND many.stopped_at BETWEEN $since AND e.stopped_at
SQL
}

# Forget what is left of a backlog.
sub forget
{
	$node->safe_psql('postgres', q{SET client_min_messages = warning;
		SELECT sf_drop_state_machine('many', force => true)});
	# A branch that a worker had locked is deleted by that worker.
	$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM sf_check()')
		or die 'rows are left of what was dropped';
	$node->safe_psql('postgres', "SET SESSION AUTHORIZATION many; SELECT sf_create_state_machine('many', '$short')");
	return;
}

# Let the worker learn that the steps are short.
$node->safe_psql('postgres', "SELECT sf_start('$_', '{}', 'first')") for qw(many few late);
ok(ended($node), 'a first execution of each');

# By a bell: more keys than the ring holds, then one.
# A busy machine may run the backlog before the session has started the one.
my ($left, $first);
for my $try (1 .. 4)
{
	forget() if $try > 1;
	flood("bell$try", 'few');
	is($node->safe_psql('postgres', qq{SELECT sf_await('few:bell$try', '180 s')}), 'SUCCEEDED',
		"one execution beside a backlog, try $try");
	$left = $node->safe_psql('postgres', <<"SQL");
SELECT count(*) FROM sf_executions many, sf_executions e WHERE e.execution_id = 'few:bell$try'
	AND many.state_machine = 'many' AND (many.stopped_at IS NULL OR many.stopped_at > e.requested_at)
SQL
	$first = overtook("few:bell$try", 'e.requested_at');
	last if $left > $backlog / 2 && $first < $backlog / 8;
}
cmp_ok($left, '>', $backlog / 2, "$left were before it");
cmp_ok($first, '<', $backlog / 8, 'few of them went first');

# In the same transaction, where they were the first.
forget();
$node->safe_psql('postgres', "SELECT count(sf_start('many', '{}', 'same-' || n)) FROM generate_series(1, $backlog) n;
	SELECT sf_start('few', '{}', 'same')");
is($node->safe_psql('postgres', q{SELECT sf_await('few:same', '180 s')}), 'SUCCEEDED', 'the last one of a transaction');
cmp_ok(overtook('few:same', 'e.requested_at'), '<', $backlog / 2, 'most were before it, and are after it now');

# By the due index, after a restart: the oldest are all of one owner.
forget();
$node->safe_psql('postgres', 'SELECT sf_disable()');
flood('index', 'few', 'late');
$node->restart;
my $since = $node->safe_psql('postgres',
	"SELECT quote_literal(clock_timestamp()::text) || '::timestamptz' FROM sf_enable()");
is($node->safe_psql('postgres', q{SELECT sf_await('few:index', '180 s')}), 'SUCCEEDED',
	'one execution behind a backlog');
cmp_ok(overtook('few:index', $since), '<', $backlog / 8, 'few of it went first');

# A timer that rings meanwhile is heard.
is($node->safe_psql('postgres', q{SELECT sf_await('late:index', '180 s')}), 'SUCCEEDED',
	'a timer rings beside a backlog');
cmp_ok(overtook('late:index', $since), '<', $backlog * 0.75, 'most of it has not gone first');

# Without workers: a call gives each owner a share of its steps.
forget();
$node->append_conf('postgresql.conf', "sfflow.databases = 'none'\n");
$node->restart;
flood('tick', 'few');
$node->safe_psql('postgres', 'CALL sf_run_due(20)');
is($node->safe_psql('postgres', q{SELECT status FROM sf_executions WHERE execution_id = 'few:tick'}), 'SUCCEEDED',
	'sf_run_due() comes to all owners');

# Nothing of it harms the tables.
no_surprises($node);
$node->stop('immediate');
done_testing();
