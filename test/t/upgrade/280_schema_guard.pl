# Library and schema of different versions never work together: each call says what to do, nothing crashes, nothing is
# driven, and everything goes on as soon as they are the same. A patch release needs a restart and nothing else.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfRelease;
use SfTest;
use Test::More;

$PostgreSQL::Test::Utils::timeout_default = 180;

my $node = own_server('main', "log_line_prefix = '%m [%p] %b %d '\nautovacuum = off");

# Print the only value of a query.
sub value
{
	my ($database, $sql) = @_;
	return $node->safe_psql($database, $sql);
}

my $update = qr/ALTER EXTENSION sfflow UPDATE/;
my $restart = qr/restart the server/;
# An execution waits for 2 seconds, or for as many as its input says.
my $machine = q(SELECT sf_create_state_machine('m',
	'{"StartAt": "C", "States": {
	"C": {"Type": "Choice", "Choices": [{"Variable": "$.wait", "IsPresent": true, "Next": "L"}], "Default": "W"},
	"L": {"Type": "Wait", "SecondsPath": "$.wait", "Next": "P"},
	"W": {"Type": "Wait", "Seconds": 2, "Next": "P"},
	"P": {"Type": "Pass", "Result": 42, "End": true}}}'));

$node->safe_psql('postgres', 'CREATE DATABASE late; CREATE DATABASE early');
for my $database ('early', 'late')
{
	$node->safe_psql($database, 'CREATE EXTENSION sfflow');
	$node->safe_psql($database, $machine);
}
my ($version) = value('early', q(SELECT extversion FROM pg_extension WHERE extname = 'sfflow'));
my ($release, $schema) = split /\|/, value('early', 'SELECT release, library_schema FROM sf_version()');
is(value('early', 'SELECT library_schema = database_schema AND advice IS NULL FROM sf_version()'), 't',
	'a new installation fits');
is(value('early', q(SELECT ok, detail FROM sf_health WHERE item = 'version')), "t|release $release, schema $schema",
	'says sf_health');
like(value('early', 'SELECT sf_prometheus()'), qr/^sfflow_schema_differs 0$/m, 'and the metrics');

# --- a patch release: install, restart, nothing else

value('early', q(SELECT sf_start('m', '{}', 'patched')));
put_library($node, library_of("$version.99", $schema));
is(value('early', 'SELECT release FROM sf_version()'), $release, 'the running server keeps its library');
$node->restart;
is(value('early', 'SELECT release, advice IS NULL FROM sf_version()'), "$version.99|t",
	'a patch release is there after a restart');
value('early', q(SELECT sf_await('m:patched', '120 s')));
is(value('early', q(SELECT status FROM sf_executions WHERE name = 'patched')), 'SUCCEEDED',
	'... and drives');

# --- a new schema is installed, and the extension updated before the restart: the library is too old

put_library($node, library_of('9.9.0', $schema + 1));
put_update($node, $version, '9.9', $schema + 1,
	'ALTER TABLE _sfflow.calendar ADD COLUMN note text; ALTER TABLE _sfflow.calendar DROP COLUMN note;');
value('early', q(SELECT sf_start('m', '{}', 'e' || n) FROM generate_series(1, 20) n));
# These wait until the test makes them due: none of them may end before the database stops being driven.
value('late', q(SELECT sf_start('m', '{"wait": 86400}', 'l' || n) FROM generate_series(1, 20) n));

my $session = <<'EOS';
\set ON_ERROR_STOP 0
\set VERBOSITY sqlstate
SELECT 'before ' || (sf_start('m', '{}', 'before') IS NOT NULL);
BEGIN;
ALTER EXTENSION sfflow UPDATE;
SELECT 'inside ' || (sf_start('m', '{}', 'inside') IS NOT NULL);
ROLLBACK;
SELECT 'after ' || (sf_start('m', '{}', 'after') IS NOT NULL);
EOS
my $both;
IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr('early') ], '<', \$session, '>&', \$both);
like($both, qr/before true.*SF070.*after true/s,
	'a session sees at once which schema there is, also when an update is rolled back');

value('early', 'ALTER EXTENSION sfflow UPDATE');
refuses_all($node, 'early', $restart, 'older library');
is(value('late', q(SELECT bool_and(ok) FROM sf_health)), 't',
	'the other database goes on with the library that is loaded');

# --- after the restart that database works, and the other one has to be updated

$node->restart;
ok($node->poll_query_until('early', q(SELECT count(*) = 20 FROM sf_executions WHERE name ~ '^e'
	AND status = 'SUCCEEDED')), 'after a restart what waited goes on');
refuses_all($node, 'late', $update, 'newer library');
my @before = split /\n/, value('late', 'SELECT execution_no, status FROM _sfflow.execution ORDER BY 1');
ok($node->log_contains(
	qr/sfflow does not drive database "late": the library is of schema \d+, and the database has schema \d+/),
	'the log says why nothing is driven');
is(value('late', q(WITH due AS (UPDATE _sfflow.branch SET due_at = now() - interval '1 s' RETURNING 1)
	SELECT count(*) FROM due)), '20', 'all executions are due');
is(join(',', split /\n/, value('late', 'SELECT execution_no, status FROM _sfflow.execution ORDER BY 1')),
	join(',', @before), 'no execution was touched');

# --- a dump of the older schema in tables of the newer one

my $dump = PostgreSQL::Test::Utils::tempdir() . '/late.sql';
$node->command_ok([ 'pg_dump', '-d', $node->connstr('late'), '-f', $dump ], 'the older schema can be dumped');
value('postgres', 'CREATE DATABASE loaded');
$node->safe_psql('loaded', slurp_file($dump));
like(value('loaded', q(SELECT detail FROM sf_health WHERE item = 'driven' AND NOT ok)),
	qr/the rows are of schema $schema.*CREATE EXTENSION sfflow VERSION/,
	'loaded into the newer one, it is not driven, and sf_health says what to do');
my (undef, undef, $error) = $node->psql('loaded', "\\set VERBOSITY verbose\nSELECT sf_enable()");
like($error, qr/SF070: sf_enable\(\) cannot adopt rows of another schema.*schema $schema/s, 'sf_enable() refuses it');
value('postgres', 'CREATE DATABASE loaded_well');
$node->safe_psql('loaded_well', "CREATE EXTENSION sfflow VERSION '$version'");
$node->safe_psql('loaded_well', slurp_file($dump) =~ s/^CREATE EXTENSION IF NOT EXISTS sfflow.*$//mr);
value('loaded_well', 'ALTER EXTENSION sfflow UPDATE');
value('loaded_well', 'SELECT sf_enable()');
ok($node->poll_query_until('loaded_well', q(SELECT count(*) = 20 FROM sf_executions WHERE status = 'SUCCEEDED')),
	'the way that it says works');

# --- the update

value('late', 'ALTER EXTENSION sfflow UPDATE');
ok($node->poll_query_until('late', q(SELECT count(*) = 20 FROM sf_executions WHERE status = 'SUCCEEDED')),
	'after the update everything goes on');
is(value('late', 'SELECT count(*) FROM sf_check()'), '0', 'and nothing is wrong');
is(value('late', q(SELECT count(*) FROM sf_health WHERE NOT ok)), '0', 'nor ill');
is(value('late', 'SELECT number FROM _sfflow.schema_of_rows'), $schema + 1, 'the rows are of the new schema');

ok(!$node->log_contains(qr/terminated by signal|PANIC|ERROR:  XX000/), 'nothing has crashed');
$node->stop;
done_testing();
