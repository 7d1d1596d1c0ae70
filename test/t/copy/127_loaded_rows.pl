# Rows that come into the tables by other ways than sfflow run nothing before sf_enable(), and a number that
# is drawn twice fails nobody's work.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', bare => 1, conf =>
	"wal_level = logical\nmax_wal_senders = 5\nmax_replication_slots = 5\nsfflow.poll_interval = 1\n");
my $dir = $PostgreSQL::Test::Utils::tmp_check;

my $tables = join ', ', map { "_sfflow.$_" }
  qw(state_machine state_machine_version privilege execution open_execution branch history map_run map_item
  	start_request task activity schedule resource_map);

# Make a database with machines that leave marks.
sub make_database
{
	my $name = shift;
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, <<'EOC');
CREATE EXTENSION sfflow;
CREATE TABLE marks (what text);
CREATE FUNCTION mark(what text) RETURNS void LANGUAGE sql AS 'INSERT INTO public.marks VALUES (what)';
CREATE FUNCTION begin_another(name text) RETURNS text LANGUAGE sql
	AS $$ SELECT public.sf_start('mark', '{"what": "another"}', name) $$;
EOC
	return;
}

sub make_machines
{
	my $name = shift;
	$node->safe_psql($name, <<'EOC');
SELECT sf_create_state_machine('mark', '{"StartAt": "T", "States": {
	"T": {"Type": "Task", "Resource": "sql:public.mark", "End": true}}}');
SELECT sf_create_state_machine('wait', '{"StartAt": "W", "States": {
	"W": {"Type": "Wait", "TimestampPath": "$.until", "Next": "T"},
	"T": {"Type": "Task", "Resource": "sql:public.mark", "Parameters": {"what.$": "$$.Execution.Name"},
		"End": true}}}');
SELECT sf_create_state_machine('parent', '{"StartAt": "W", "States": {
	"W": {"Type": "Wait", "TimestampPath": "$.until", "Next": "C"},
	"C": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2", "End": true,
		"Parameters": {"StateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:mark",
			"Input": {"what": "child"}}}}}');
SELECT sf_create_state_machine('starter', '{"StartAt": "W", "States": {
	"W": {"Type": "Wait", "TimestampPath": "$.until", "Next": "T"},
	"T": {"Type": "Task", "Resource": "sql:public.begin_another", "Parameters": {"name.$": "$$.Execution.Name"},
		"End": true}}}');
SELECT sf_create_state_machine('branches',
	'{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
	{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}},
	{"StartAt": "W", "States": {
		"W": {"Type": "Wait", "TimestampPath": "$.until", "Next": "M"},
		"M": {"Type": "Map", "ItemsPath": "$.items", "End": true, "ItemProcessor": {
			"StartAt": "I", "States": {"I": {"Type": "Wait", "Seconds": 1, "End": true}}}}}}]}}}');
EOC
	return;
}

sub health
{
	my ($name, $item) = @_;
	return $node->safe_psql($name, "SELECT ok, detail FROM sf_health WHERE item = '$item'");
}

# Assert that what is due in a database does not run, although workers may look.
sub rests
{
	my ($name, $why, $what) = @_;
	ok($node->poll_query_until($name, q(SELECT count(*) = 1 FROM sf_health WHERE item = 'driven' AND NOT ok)),
		"$what: not driven");
	like(health($name, 'driven'), $why, '... and sf_health says why');
	ok($node->poll_query_until($name, q(SELECT count(*) = 0 FROM sf_workers WHERE role <> 'launcher')),
		'... its workers have left');
	return;
}

# Empty the tables of a driven database. TRUNCATE may meet a worker that has locked some of the tables already, in a
# deadlock; it is tried again then.
sub empty
{
	my $name = shift;
	my $error;
	for (1 .. 20)
	{
		(my $rc, undef, $error) = $node->psql($name, "TRUNCATE $tables, public.marks");
		return if $rc == 0;
		last if $error !~ /deadlock detected/;
	}
	die "$name is not emptied: $error";
}

# A Wait may take a year at most.
my $later = $node->safe_psql('postgres',
	q(SELECT json_build_object('until', to_char(now() AT TIME ZONE 'UTC' + interval '1 hour',
	'YYYY-MM-DD"T"HH24:MI:SS"Z"'))));
my $past = '{"until": "2000-01-01T00:00:00Z"}';

# A dump's data, loaded into a driven database that was emptied.
make_database('shop');
make_machines('shop');
$node->safe_psql('shop', qq(
SELECT sf_disable();
SELECT sf_start('wait', '$past', 'w' || n) FROM generate_series(1, 5) n));
my $dump = "$dir/shop.dump";
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('shop') ], 'pg_dump');
my $inserts = "$dir/shop.sql";
$node->command_ok([ 'pg_dump', '--data-only', '--inserts', '-f', $inserts, $node->connstr('shop') ],
	'pg_dump --inserts');
$node->safe_psql('shop', q(SELECT sf_enable()));
ok(ended($node, 'shop'), 'the original runs on');
is($node->safe_psql('shop', 'SELECT count(*) FROM marks'), '5', 'and has done its work');

my %restore = (
	'data only' => [ 'pg_restore', '--exit-on-error', '--data-only', '-d', $node->connstr('shop'), $dump ],
	'one transaction' => [ 'pg_restore', '--exit-on-error', '--data-only', '-1', '-d', $node->connstr('shop'), $dump ],
	'without triggers' => [ 'pg_restore', '--exit-on-error', '--data-only', '--disable-triggers', '-d',
		$node->connstr('shop'), $dump ],
	'one transaction without triggers' => [ 'pg_restore', '--exit-on-error', '--data-only', '-1', '--disable-triggers',
		'-d', $node->connstr('shop'), $dump ],
	'section of data' => [ 'pg_restore', '--exit-on-error', '--section=data', '-d', $node->connstr('shop'), $dump ],
	'inserts' => [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $inserts, $node->connstr('shop') ]);
for my $how (sort keys %restore)
{
	empty('shop');
	like(health('shop', 'driven'), qr/^t\|/, "emptied, it is driven");
	$node->command_ok($restore{$how}, "restore: $how");
	rests('shop', qr/rows were loaded into the tables|triggers of _sfflow were disabled/, $how);
	is($node->safe_psql('shop', q(SELECT (SELECT count(*) FROM marks), count(*) FROM sf_executions
		WHERE status = 'RUNNING')), '0|5', '... nothing has run');
	$node->safe_psql('shop', 'SELECT sf_enable()');
	ok(ended($node, 'shop'), '... sf_enable() adopts it');
	is($node->safe_psql('shop', q(SELECT string_agg(what, ',' ORDER BY what) FROM marks)), 'w1,w2,w3,w4,w5',
		'... and it goes on');
	no_surprises($node, 'shop');
}

# A copy by a subscription: sequences do not come with it.
$node->safe_psql('shop', qq(SELECT sf_start('parent', '$later', 'p' || n) FROM generate_series(1, 3) n));
$node->safe_psql('shop', "CREATE PUBLICATION p FOR TABLE $tables");
make_database('moved');
$node->safe_psql('shop', q(SELECT pg_create_logical_replication_slot('s', 'pgoutput')));
$node->safe_psql('moved',
	sprintf(q(CREATE SUBSCRIPTION s CONNECTION '%s' PUBLICATION p WITH (create_slot = false, slot_name = 's')),
	$node->connstr('shop') =~ s/'/''/gr));
ok($node->poll_query_until('moved', q(SELECT count(*) = 8
	AND NOT EXISTS (SELECT FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's'))
	FROM sf_executions)), 'the tables are replicated');
like(health('moved', 'driven'), qr/^f\|restored/, 'the copy is not driven');
like(health('moved', 'sequences'), qr/^f\|.*execution_no is at 0, a row has \d+.*sf_enable\(\)/,
	'its sequences are behind, says sf_health');
like($node->safe_psql('moved', 'SELECT problem, detail FROM sf_check()'),
	qr/sequence_behind\|sequence _sfflow.execution_no is at 0/, '... and sf_check()');
$node->safe_psql('moved', q(ALTER SUBSCRIPTION s DISABLE; ALTER SUBSCRIPTION s SET (slot_name = NONE);
	DROP SUBSCRIPTION s));
$node->safe_psql('moved', q(SELECT sf_enable()));
like(health('moved', 'sequences'), qr/^t\|/, 'sf_enable() sets them right');
$node->safe_psql('moved', q(UPDATE _sfflow.branch SET due_at = now() WHERE due_at > now();
	SELECT sf_start('wait', '{"until": "2000-01-01T00:00:00Z"}', 'wake')));
ok(ended($node, 'moved'), 'what was under way goes on');
is($node->safe_psql('moved', q(SELECT status, count(*) FROM sf_executions GROUP BY status)), 'SUCCEEDED|12',
	'none has failed');
no_surprises($node, 'moved');

# A subscription that brings rows into a driven database. The process that sent rows to the one before may still be
# ending.
$node->poll_query_until('shop', 'SELECT count(*) = 1 FROM pg_replication_slots WHERE NOT active')
	or die 'the slot is in use';
$node->safe_psql('shop', 'SELECT pg_replication_slot_advance(slot_name, pg_current_wal_lsn())
	FROM pg_replication_slots');
empty('moved');
$node->safe_psql('moved',
	sprintf(q(CREATE SUBSCRIPTION s CONNECTION '%s' PUBLICATION p WITH )
	. q((create_slot = false, slot_name = 's', copy_data = false)),
	$node->connstr('shop') =~ s/'/''/gr));
like(health('moved', 'driven'), qr/^t\|/, 'emptied and subscribed to another database, it is driven');
$node->safe_psql('shop', qq(SELECT sf_disable(); SELECT sf_start('wait', '$past', 'replicated')));
ok($node->poll_query_until('moved', q(SELECT count(*) = 1 FROM _sfflow.execution
	WHERE execution_id = 'wait:replicated')), 'a row has come');
rests('moved', qr/a subscription writes the tables/, 'subscription');
is($node->safe_psql('moved', 'SELECT count(*) FROM marks'), '0', '... nothing has run');
$node->safe_psql('moved', q(ALTER SUBSCRIPTION s DISABLE; ALTER SUBSCRIPTION s SET (slot_name = NONE);
	DROP SUBSCRIPTION s));
$node->safe_psql('shop', q(SELECT sf_enable()));

# Numbers that are drawn twice: nothing fails, driving stops. A worker process that is only now starting finds the
# sequence behind before it draws from it.
make_database('twice');
make_machines('twice');
my @cases = (
	[ parent => 'execution_no', '{}' ],
	[ starter => 'execution_no', '{}' ],
	[ branches => 'branch_no', '{"items": [1, 2, 3]}' ]);
for my $case (@cases)
{
	my ($machine, $sequence, $input) = @$case;
	$node->safe_psql('twice', qq(SELECT sf_start('$machine', '$input'::jsonb || '$later', 'x')));
	ok($node->poll_query_until('twice', qq(SELECT count(*) = 1 FROM _sfflow.branch b JOIN _sfflow.execution e
		USING (execution_no)
		WHERE execution_id = '$machine:x' AND due_at > now())), "$machine: waits");
	$node->safe_psql('twice', qq(
		DO \$\$ BEGIN EXECUTE format('ALTER SEQUENCE _sfflow.$sequence RESTART WITH %s',
			(SELECT min(used) FROM (SELECT execution_no AS used FROM _sfflow.execution
				WHERE '$sequence' = 'execution_no'
				UNION ALL SELECT branch_no FROM _sfflow.branch WHERE branch_no > 0 AND '$sequence' = 'branch_no') u));
					END \$\$;
		UPDATE _sfflow.branch SET due_at = now() WHERE due_at > now()));
	ok($node->poll_query_until('twice', q(SELECT count(*) = 1 FROM sf_health WHERE item = 'driven'
		AND detail ~ 'drawn twice|sequence _sfflow.* is behind')),
		"$machine: a number is drawn twice, and driving stops");
	is($node->safe_psql('twice', "SELECT status FROM sf_executions WHERE execution_id = '$machine:x'"), 'RUNNING',
		'... the execution has not failed');
	$node->safe_psql('twice', 'SELECT sf_enable()');
	ok(ended($node, 'twice'), '... sf_enable() sets it right');
	is($node->safe_psql('twice', "SELECT status FROM sf_executions WHERE execution_id = '$machine:x'"), 'SUCCEEDED',
		'... and it goes on');
}
no_surprises($node, 'twice');

# In a session the caller learns of it, be it that starts or that advances an execution.
my $back = 'ALTER SEQUENCE _sfflow.execution_no RESTART WITH 1;';
my $hint = qr/ERROR:  23505: .*HINT:  A sequence of sfflow is behind its table.*sf_enable\(\)/s;
$node->safe_psql('twice', qq(SELECT sf_disable(); SELECT sf_start('parent', '$past', 'by-hand')));
for my $call (q(SELECT sf_start('mark', '{"what": "x"}')), q(SELECT sf_run('parent:by-hand')))
{
	my (undef, undef, $error) = $node->psql('twice', "\\set VERBOSITY verbose\n$back $call");
	like($error, $hint, "$call: the hint says what to do");
}
is($node->safe_psql('twice', q(SELECT status FROM sf_executions WHERE execution_id = 'parent:by-hand')), 'RUNNING',
	'... and nothing fails');
$node->safe_psql('twice', 'SELECT sf_enable()');
ok(ended($node, 'twice'), 'sf_enable() sets it right');
is($node->safe_psql('twice', q(SELECT status FROM sf_executions WHERE execution_id = 'parent:by-hand')), 'SUCCEEDED',
	'... and it goes on');
no_surprises($node, 'twice');

$node->stop;
done_testing();
