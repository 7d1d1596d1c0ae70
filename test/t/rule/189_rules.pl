# Rules with workers: a target is called soon after the commit; deliveries that fail, end their process or take long
# hold up no others; each event is delivered once although workers and servers are killed; a dump takes rules along.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $kills = $ENV{SFFLOW_RULE_KILLS} // full(3, 200);
srand(20250205);

my $node = new_node('main',
	conf => "sfflow.workers = 3\nsfflow.poll_interval = 1s\nsfflow.rule_attempts = 100\nsfflow.max_crashes = 100\n");
$node->safe_psql('postgres', <<'EOS');
CREATE ROLE shop LOGIN;
CREATE TABLE ledger (event text, name text, who name DEFAULT current_user);
GRANT INSERT, SELECT ON ledger TO shop;
CREATE FUNCTION note(event jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.ledger VALUES (event ->> 'id', event #>> '{detail,name}');
	PERFORM pg_catalog.pg_sleep(0.002);
END $$;
CREATE FUNCTION kill_self(event jsonb) RETURNS void
	LANGUAGE sql AS 'SELECT pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid())';
CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused at commit'; END $$;
CREATE TABLE strict (event text);
CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT
	ON strict DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION at_commit();
CREATE FUNCTION strict(event jsonb) RETURNS void LANGUAGE sql AS 'INSERT INTO public.strict VALUES (event ->> ''id'')';
CREATE FUNCTION hang(event jsonb) RETURNS void LANGUAGE sql AS 'SELECT pg_catalog.pg_sleep(600)';
SELECT sf_create_state_machine('loner', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_create_rule('kills', '{"detail": {"name": ["kill"], "status": ["RUNNING"]}}', 'sql:public.kill_self'),
	sf_create_rule('strict', '{"detail": {"name": ["strict"], "status": ["RUNNING"]}}', 'sql:public.strict'),
	sf_create_rule('hangs', '{"detail": {"name": ["hang"], "status": ["RUNNING"]}}', 'sql:public.hang');
SET SESSION AUTHORIZATION shop;
SELECT sf_create_state_machine('work', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:query",
	"Parameters": {"Statement": "SELECT 1"}, "End": true}}}');
SELECT sf_create_state_machine('after', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_create_rule('note', '{"source": ["aws.states"], "detail": {"stateMachineArn": [{"suffix": ":work"}],
	"status": ["SUCCEEDED"]}}', 'sql:public.note'),
	sf_create_rule('next', '{"source": ["sfflow.jobs"], "detail": {"stateMachineArn": [{"suffix": ":work"}]}}',
		'after');
EOS

# --- called soon, as the owner of the rule

$node->safe_psql('postgres', "SELECT sf_start('work', '{}', 'first')");
ok($node->poll_query_until('postgres', 'SELECT sum(delivered) = 2 AND sum(pending) = 0 FROM sf_rules'),
	'workers deliver');
is($node->safe_psql('postgres', 'SELECT name, who FROM ledger'), 'first|shop', '... as the owner of the rule');

# --- targets that fail at the commit, end their process, or hang

$node->safe_psql('postgres', "SELECT sf_start('loner', '{}', name) FROM unnest(ARRAY['strict', 'kill', 'hang']) AS name;
	SELECT sf_start('work', '{}', 'beside')");
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ledger WHERE name = 'beside'"),
	'deliveries beside them are made');
ok($node->poll_query_until('postgres', "SELECT last_cause ~ 'refused at commit' FROM sf_rules
	WHERE rule_name = 'strict'"), 'an error of the commit is shown');
ok($node->poll_query_until('postgres', "SELECT attempts >= 2 FROM sf_rule_deliveries WHERE rule_name = 'kills'"),
	'an attempt that ends its process counts');
ok($node->poll_query_until('postgres', "SELECT count(*) >= 1 FROM pg_stat_activity
	WHERE backend_type LIKE 'sfflow worker%' AND wait_event = 'PgSleep'"), 'one hangs');
$node->safe_psql('postgres', "SELECT sf_start('work', '{}', 'behind')");
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ledger WHERE name = 'behind'"),
	'... and the others go on');
$node->safe_psql('postgres', "SELECT sf_drop_rule(name) FROM unnest(ARRAY['strict', 'kills', 'hangs']) AS name");
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_rules'), '2', 'a rule can be dropped while its target hangs');

# --- kills

$node->safe_psql('postgres', "TRUNCATE ledger");
my $started = 3;
for my $n (1 .. $kills)
{
	$node->safe_psql('postgres', "SELECT count(*)
		FROM (SELECT sf_start('work', '{}', 'k$n-' || i) FROM generate_series(1, 20) AS i) AS s");
	$started += 20;
	sleep(rand(0.15));
	my $pid = $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'sfflow worker%'
		ORDER BY (query = 'sfflow: rules') DESC, random() LIMIT 1");
	next unless $pid =~ /^\d+$/;
	kill 'KILL', $pid;
	wait_gone($pid);
	recovered($node) or BAIL_OUT('no recovery');
}
# What was claimed when the server died is due again after its pause; not so long here.
$node->poll_query_until('postgres',
	<<'EOS') or diag($node->safe_psql('postgres', 'TABLE sf_rules; TABLE sf_rule_deliveries'));
WITH soon AS (UPDATE _sfflow.rule_delivery SET due_at = now() WHERE due_at > now() + interval '1 s')
SELECT count(*) = 0 FROM sf_rule_deliveries
WHERE NOT EXISTS (SELECT FROM sf_executions WHERE status = 'RUNNING')
HAVING NOT EXISTS (SELECT FROM sf_executions WHERE status = 'RUNNING')
EOS
my $events = $started - 3;
is($node->safe_psql('postgres', "SELECT count(*), count(DISTINCT event), count(DISTINCT name) FROM ledger"),
	"$events|$events|$events", "each event once, over $kills kills");
is($node->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE status = 'SUCCEEDED') FROM sf_executions
	WHERE state_machine = 'after'"), "$started|$started", '... also where the target is a machine');
is($node->safe_psql('postgres', "SELECT rule_name, pending, delivered, dead FROM sf_rules ORDER BY rule_name"),
	"next|0|$started|0\nnote|0|$started|0", '... and the counters say so');
no_surprises($node);

# --- a dump

$node->safe_psql('postgres', 'SELECT sf_disable()');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity
	WHERE datname = 'postgres' AND backend_type LIKE 'sfflow worker%'"), 'workers leave');
$node->safe_psql('postgres', "SELECT sf_start('work', '{}', 'dumped'), sf_run('work:dumped')");
my $dump = $node->basedir . '/dump.sql';
command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'a dump');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('copy') ], 'is restored');
is($node->safe_psql('copy', 'SELECT rule_name, owner, pending, delivered FROM sf_rules ORDER BY rule_name'),
	"next|shop|1|$started\nnote|shop|1|$started", 'with its rules and their deliveries');
sleep(1.5);
is($node->safe_psql('copy', "SELECT count(*) FROM ledger WHERE name = 'dumped'"), '0', 'which are not made');
$node->safe_psql('copy', 'SELECT sf_enable()');
ok($node->poll_query_until('copy', "SELECT count(*) = 1 FROM ledger WHERE name = 'dumped'"), '... before sf_enable()');

$node->stop;
done_testing();
