# Clients leave transactions open in which they have asked for an archive's batch, acknowledged alerts or dropped a
# state machine. Workers go on purging what is another role's, and counting; and when the client has committed, nothing
# is left of what was purged or dropped.
# needs: archive metric
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;

my $node = new_node('main', conf => <<'EOC');
sfflow.purge_interval = 1s
sfflow.poll_interval = 1s
EOC

sub sql { return $node->safe_psql('postgres', shift) }

# Run a statement as a role, which does not wait for a lock for long.
sub as
{
	my ($role, $statement) = @_;
	return $node->safe_psql('postgres', "SET ROLE $role; SET lock_timeout = '10s'; $statement");
}

# Begin a transaction of mallory that stays open.
sub leave_open
{
	my ($statement) = @_;
	my $client = $node->background_psql('postgres');
	$client->query_safe('SET ROLE mallory');
	$client->query_safe("BEGIN; $statement");
	return $client;
}

# Make a machine of a role with executions that fail, and are purged after a time.
sub make
{
	my ($role, $machine, $options) = @_;
	as($role, "SELECT sf_create_state_machine('$machine', '{\"StartAt\": \"C\", \"States\": {
		\"C\": {\"Type\": \"Choice\", \"Default\": \"F\",
		\"Choices\": [{\"Variable\": \"\$.ok\", \"IsPresent\": true, \"Next\": \"S\"}]},
		\"S\": {\"Type\": \"Succeed\"}, \"F\": {\"Type\": \"Fail\", \"Error\": \"E\"}}}', options => '$options')");
	return;
}

sub start
{
	my ($role, $machine, $name) = @_;
	as($role, "SELECT sf_start('$machine', '{}', '$name')");
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions
		WHERE execution_id = '$machine:$name' AND status = 'RUNNING'") or die 'does not end';
	return;
}

# Assert that workers purge what is alice's.
sub purges
{
	my ($name, $what) = @_;
	start('alice', 'a_brief', $name);
	ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions
		WHERE execution_id = 'a_brief:$name'"), $what);
	return;
}

sql('CREATE ROLE mallory; CREATE ROLE alice');
as('mallory', "SELECT sf_create_activity('m_archive')");
as('alice', "SELECT sf_create_activity('a_archive')");
make('alice', 'a_brief', '{"retention": "1 s"}');
make('alice', 'a_archived', '{"retention": "1 s", "archive": "activity:a_archive"}');
make('mallory', 'm_archived', '{"retention": "1 s", "archive": "activity:m_archive"}');
make('mallory', 'm_brief', '{"retention": "4 s"}');

# An archive's batch.
start('alice', 'a_archived', 'x');
start('mallory', 'm_archived', 'x');
sleep 2;
my $client = leave_open("SELECT * FROM sf_take_archive_batch('m_archive')");
purges('archive', 'retention goes on beside a batch that is being taken');
is(as('alice', "SELECT executions, all_taken FROM sf_take_archive_batch('a_archive')"), '1|t',
	'so do other archives');
is(sql("SET lock_timeout = '10s'; CALL sf_purge_due()"), '0', 'and sf_purge_due');
$client->query_safe('ROLLBACK');

# An acknowledgement.
start('mallory', 'm_brief', '1');
$client->query_safe("BEGIN; SELECT sf_acknowledge('m_brief:1')");
purges('acknowledged', 'retention goes on beside an acknowledgement');
sleep 5;
is(sql("SELECT count(*) FROM sf_executions WHERE execution_id = 'm_brief:1'"), '1',
	'what is being acknowledged stays');
$client->query_safe('COMMIT');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE state_machine = 'm_brief'"),
	'... and goes then');
is(sql('SELECT count(*) FROM _sfflow.acknowledgement'), '0', '... with its acknowledgement');

# Whatever else a session has locked: a worker does not wait for long.
start('mallory', 'm_brief', '2');
my $locker = $node->background_psql('postgres');
$locker->query_safe('BEGIN; SELECT 1 FROM _sfflow.failure f JOIN _sfflow.execution e USING (execution_no)
	WHERE e.execution_id = \'m_brief:2\' FOR UPDATE OF f');
sleep 5;
purges('locked', 'retention goes on beside a lock of a row that it would delete');
unlike(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/lock timeout/, 'the log does not fill');
$locker->query_safe('COMMIT');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE state_machine = 'm_brief'"),
	'... and the row goes then');

# The drop of a machine.
make('mallory', 'm_dropped', '{}');
make('mallory', 'm_kept', '{}');
make('alice', 'a_dropped', '{}');
make('alice', 'a_counted', '{}');
start($_->[0], $_->[1], 'x') for ['mallory', 'm_dropped'], ['mallory', 'm_kept'], ['alice', 'a_dropped'],
	['alice', 'a_counted'];
my $counted = "SELECT count(*) = 0 FROM _sfflow.metric_increment";
ok($node->poll_query_until('postgres', $counted), 'increments are folded');
my $number = sql("SELECT machine_no FROM _sfflow.state_machine WHERE name = 'm_dropped'");
my $other = leave_open("SELECT sf_drop_state_machine('m_kept', force => true)");
$client->query_safe("BEGIN; SELECT sf_drop_state_machine('m_dropped', force => true)");
is(as('alice', "SELECT sf_drop_state_machine('a_dropped', force => true)"), '', 'another drop goes on beside a drop');
start('alice', 'a_counted', 'y');
ok($node->poll_query_until('postgres', $counted), 'so do folds');
purges('dropped', 'and retention');
$client->query_safe('COMMIT');
$other->query_safe('ROLLBACK');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM _sfflow.metric_total WHERE machine_no = $number"),
	'the counters of a machine that was dropped are deleted');
is(sql('SELECT count(*) FROM (SELECT machine_no FROM _sfflow.metric_total UNION SELECT machine_no
	FROM _sfflow.metric_hour) c WHERE machine_no NOT IN (SELECT machine_no FROM _sfflow.state_machine)'), '0',
	'... of each');
is(sql("SELECT state_machine, executions_started FROM sf_metrics WHERE state_machine IN ('m_kept', 'a_counted')
	ORDER BY 1"), "a_counted|2\nm_kept|1", 'those of others stay');

$_->quit for $client, $other, $locker;
no_surprises($node);
done_testing();
