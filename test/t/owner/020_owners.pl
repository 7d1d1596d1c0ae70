# Two owners on one worker: nothing that the code of one does reaches the other, or the superuser as
# whom the worker connects.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', <<'CONF');
shared_preload_libraries = 'sfflow'
sfflow.workers = 1
sfflow.max_workers = 2
work_mem = '4MB'
CONF
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION sfflow;
CREATE ROLE eve;
CREATE ROLE bob;
CREATE SCHEMA eve AUTHORIZATION eve;
CREATE SCHEMA bob AUTHORIZATION bob;
GRANT USAGE ON SCHEMA eve TO PUBLIC;
SQL

# What eve tries. Each is a state of her machine; what fails is caught, and she goes on.
my %attempts = (
	TempTable => 'CREATE TEMP TABLE account AS SELECT 666 AS balance',
	TempGrant => 'DO $$BEGIN CREATE TEMP TABLE gift AS SELECT 1 AS a; GRANT ALL ON gift TO PUBLIC; END$$',
	TempFunction => 'CREATE FUNCTION pg_temp.lower(text) RETURNS text LANGUAGE sql AS $$ SELECT $_$eve$_$ $$',
	SearchPath => 'SELECT set_config(name, setting, false) FROM (VALUES (\'search_path\', \'eve, pg_catalog\'),'
	  . ' (\'work_mem\', \'9MB\'), (\'eve.secret\', \'known\')) AS s (name, setting)',
	Prepare => 'PREPARE stolen AS SELECT 1',
	HoldCursor => 'DECLARE later CURSOR WITH HOLD FOR SELECT eve.take_over(\'cursor\')',
	Deferred => 'INSERT INTO eve.bait VALUES (1)',
	Listen => 'LISTEN sf_activity',
	Lock => 'SELECT pg_advisory_lock(4711), pg_advisory_lock_shared(4712)',
	Seed => 'SELECT setseed(0.25)',
	Role => 'SET ROLE postgres',
	RoleNone => 'SET ROLE NONE',
	RoleConfig => 'SELECT set_config(\'role\', \'bob\', false)',
	Authorization => 'SET SESSION AUTHORIZATION postgres',
	ResetRole => 'DO $$BEGIN RESET ROLE; RESET SESSION AUTHORIZATION; END$$',
	Direct => 'ALTER ROLE eve SUPERUSER',
	Tables => 'UPDATE _sfflow.execution SET status = 1',
	Discard => 'DISCARD ALL',
	Other => 'SELECT * FROM bob.account');
my @names = sort keys %attempts;
my @states = map {
	my ($name, $next) = ($names[$_], $names[ $_ + 1 ] // 'Done');
	my $statement = $attempts{$name} =~ s/"/\\"/gr;
	my $end = qq("ResultPath": "\$.$name", "Next": "$next");
	qq("$name": {"Type": "Task", "Resource": "sql:query", "Parameters": {"Statement": "$statement"}, $end,
	"Catch": [{"ErrorEquals": ["States.ALL"], $end}]});
} 0 .. $#names;
my $machine = qq({"StartAt": "$names[0]", "States": {) . join(",\n", @states) . qq(, "Done": {"Type": "Task",
	"Resource": "sql:query", "Parameters": {"Statement": "SELECT pg_backend_pid() AS pid"}, "ResultPath": "\$.Done",
		"End": true}}});
$machine =~ s/'/''/g;

$node->safe_psql('postgres', <<"SQL");
SET SESSION AUTHORIZATION eve;
CREATE TABLE eve.loot (how text, who text);
CREATE TABLE eve.bait (id integer);
CREATE FUNCTION eve.take_over(how text) RETURNS integer LANGUAGE plpgsql AS \$\$
BEGIN
	INSERT INTO eve.loot VALUES (how, current_user);
	EXECUTE 'ALTER ROLE eve SUPERUSER';
	INSERT INTO eve.loot VALUES (how, 'WON');
	RETURN 1;
EXCEPTION WHEN insufficient_privilege THEN
	INSERT INTO eve.loot VALUES (how, current_user);
	RETURN 0;
END \$\$;
CREATE FUNCTION eve.spring() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN PERFORM eve.take_over('trigger'); RETURN NULL; END \$\$;
CREATE CONSTRAINT TRIGGER spring AFTER INSERT ON eve.bait DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION eve.spring();
-- Found in the place of pg_catalog.now(), if eve's search_path were bob's.
CREATE FUNCTION eve.now() RETURNS timestamptz LANGUAGE sql AS \$\$ SELECT eve.take_over('now');
	SELECT timestamptz '-infinity' \$\$;
SELECT sf_create_state_machine('eve', '$machine');

RESET SESSION AUTHORIZATION;
SET SESSION AUTHORIZATION bob;
CREATE TABLE bob.account AS SELECT 100 AS balance;
CREATE FUNCTION bob.look() RETURNS jsonb LANGUAGE sql AS \$\$
	SELECT jsonb_build_object(
		'pid', pg_backend_pid(),
		'user', current_user,
		'search_path', current_setting('search_path'),
		'work_mem', current_setting('work_mem'),
		'secret', coalesce(current_setting('eve.secret', true), ''),
		'balance', (SELECT balance FROM account),
		'gift', to_regclass('gift'),
		'function', to_regprocedure('pg_temp.lower(text)'),
		'lower', lower('BOB'),
		'now', isfinite(now()),
		'prepared', (SELECT count(*) FROM pg_prepared_statements),
		'cursors', (SELECT count(*) FROM pg_cursors WHERE name = 'later'),
		'listening', (SELECT count(*) FROM pg_listening_channels()),
		'locks', (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),
		'random', random())
\$\$;
SELECT sf_create_state_machine('bob',
	'{"StartAt": "Look", "States": {"Look": {"Type": "Task", "Resource": "sql:bob.look", "Parameters": {},
		"End": true}}}');
SQL

# They take turns, alone and together, until both have been in one process.
my $turns = 0;
my $met = 0;
until ($met || $turns == 50)
{
	$turns++;
	my $names = join ', ', map { "('eve', 'e$turns.$_'), ('bob', 'b$turns.$_')" } 1 .. 5;
	$node->safe_psql('postgres', "SELECT sf_start(machine, '{}', name) FROM (VALUES $names) AS s (machine, name)");
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'")
	  or die 'executions do not end';
	$met = $node->safe_psql('postgres', <<'SQL') > 0;
SELECT count(*) FROM sf_executions AS b JOIN sf_executions AS e
	ON b.output -> 'pid' = e.output #> '{Done,Rows,0,pid}' AND e.stopped_at < b.stopped_at
WHERE b.state_machine = 'bob' AND e.state_machine = 'eve'
SQL
}
ok($met, "bob's code ran in a process where eve's had run ($turns turns)");

is($node->safe_psql('postgres', "SELECT DISTINCT status FROM sf_executions"), 'SUCCEEDED', 'all of them ended');
is( $node->safe_psql('postgres', <<'SQL'),
SELECT DISTINCT output - '{pid,random}'::text[] FROM sf_executions WHERE state_machine = 'bob'
SQL
	'{"now": true, "gift": null, "user": "bob", "locks": 0, "lower": "bob", "secret": "", "balance": 100, '
	  . '"cursors": 0, "function": null, "prepared": 0, "work_mem": "4MB", "listening": 0, '
	  . '"search_path": "\"$user\", public"}',
	'bob sees the session as if it were his alone');
is( $node->safe_psql('postgres', <<'SQL'),
SELECT count(*) - count(DISTINCT output -> 'random') FROM sf_executions WHERE state_machine = 'bob'
SQL
	'0', 'and no number of his was foretold');

# How each attempt ended: the error's name, or ok.
sub outcome
{
	my $name = shift;
	return $node->safe_psql('postgres', <<"SQL");
SELECT DISTINCT coalesce(output #>> '{$name,Error}', 'ok') FROM sf_executions WHERE state_machine = 'eve'
SQL
}
is(outcome($_), 'insufficient_privilege', "$_ is refused")
	for qw(Role RoleNone RoleConfig Authorization ResetRole Direct Tables Other);
is(outcome('Listen'), 'feature_not_supported', 'Listen is refused');
is(outcome('Discard'), 'active_sql_transaction', 'Discard is refused');
is(outcome($_), 'ok', "$_ is allowed, and gone with the task")
  for qw(TempTable TempGrant TempFunction SearchPath Prepare HoldCursor Lock Seed);
is(outcome('Deferred'), 'ok', 'a deferred trigger runs before the task ends');

is($node->safe_psql('postgres', "SELECT rolsuper FROM pg_roles WHERE rolname = 'eve'"), 'f', 'eve is no superuser');
is($node->safe_psql('postgres', 'SELECT DISTINCT how, who FROM eve.loot'), 'trigger|eve',
	"her trigger ran as herself, her cursor at no commit, her now() for nobody");
is($node->safe_psql('postgres', 'SELECT balance FROM bob.account'), '100', "bob's account is untouched");
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_check()'), '0', 'sf_check() finds nothing');

$node->stop;
done_testing();
