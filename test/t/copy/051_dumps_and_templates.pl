# A dump that is restored, and a template copy, fire nothing until sf_enable() adopts them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', <<'EOC');
shared_preload_libraries = 'sfflow'
max_worker_processes = 16
EOC
$node->start;

$node->safe_psql('postgres', 'CREATE DATABASE shop');
$node->safe_psql('shop', <<'EOC');
CREATE EXTENSION sfflow;
CREATE TABLE ledger (what text);
CREATE FUNCTION note(what text) RETURNS void LANGUAGE sql AS $$ INSERT INTO public.ledger VALUES (what) $$;
SELECT sf_create_state_machine('m', '{"StartAt": "W", "States": {
	"W": {"Type": "Wait", "TimestampPath": "$.at", "Next": "T"},
	"T": {"Type": "Task", "Resource": "sql:public.note", "Parameters": {"what.$": "$.what"}, "End": true}}}');
SELECT sf_start('m', '{"at": "2000-01-01T00:00:00Z", "what": "done"}', 'done');
SELECT sf_await('m:done', '180 s');
-- Due in the copies as soon as they are there, and before the original gets to it.
SELECT sf_disable();
SELECT sf_start('m', '{"at": "2000-01-01T00:00:00Z", "what": "open"}', 'open');
EOC

my $dump = $node->backup_dir . '/shop.dump';
mkdir $node->backup_dir;
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('shop') ], 'the database is dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('restored'), $dump ], 'and restored');
patiently($node, 'CREATE DATABASE copy TEMPLATE shop');

sub sql
{
	my ($database, $statement) = @_;
	return $node->safe_psql($database, $statement);
}

# The original is driven again, and has run what was open.
sql('shop', 'SELECT sf_enable()');
is(sql('shop', "SELECT sf_await('m:open', '180 s')"), 'SUCCEEDED', 'the original goes on');

my %why = (restored => qr/restored from a dump/, copy => qr/copy of another database/);
for my $database (sort keys %why)
{
	like(sql($database, "SELECT detail FROM sf_health WHERE item = 'driven' AND NOT ok"),
		$why{$database}, "$database: not driven, and sf_health says why");
	# Something new in the copy rings the bell; it is not driven all the same.
	sql($database, q(SELECT sf_start('m', '{"at": "2000-01-01T00:00:00Z", "what": "new"}', 'new')));
	is(sql($database, "SELECT sf_await('m:new', '1 s')"), 'RUNNING', "$database: nothing runs by itself");
	is(sql($database, 'SELECT string_agg(what, \',\' ORDER BY what) FROM ledger'), 'done', "$database: nothing ran");
	is(sql($database, "SELECT sf_run('m:new')"), 'SUCCEEDED', "$database: a session can advance what it likes");
	sql($database, 'SELECT sf_enable()');
	is(sql($database, "SELECT sf_await('m:open', '180 s')"), 'SUCCEEDED', "$database: adopted, it goes on");
	is(sql($database, 'SELECT count(*) FROM sf_check()'), '0', "$database: the tables are in order");
}
is(sql('shop', 'SELECT string_agg(what, \',\' ORDER BY what) FROM ledger'), 'done,open', 'the original is left alone');

# A restored installation can make new machines and executions; numbers go on after the old ones.
sql('restored', q(SELECT sf_start('m', '{"at": "2000-01-01T00:00:00Z", "what": "later"}', 'later')));
is(sql('restored', "SELECT sf_await('m:later', '180 s')"), 'SUCCEEDED', 'new executions run in the restored copy');

$node->stop;
done_testing();
