# Turns of workers that call targets of rules: what was claimed and not tried counts no attempt, slow targets keep a
# worker for a while only, a locked delivery keeps no other waiting, owners take turns, and no worker is woken for
# nothing.
# needs: rule
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);


my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.poll_interval = 1s\nsfflow.rule_attempts = 1\n");
sub sql { return $node->safe_psql('postgres', shift) }

sql(<<'EOS');
CREATE ROLE slow;
CREATE ROLE quick;
CREATE TABLE got (at timestamptz DEFAULT clock_timestamp(), who name DEFAULT current_user, name text);
GRANT INSERT ON got TO PUBLIC;
CREATE FUNCTION note(event jsonb) RETURNS void LANGUAGE sql AS $$ INSERT INTO public.got (name)
	VALUES (event #>> '{detail,name}') $$;
CREATE FUNCTION doze(event jsonb) RETURNS void LANGUAGE sql AS $$ INSERT INTO public.got (name)
	SELECT event #>> '{detail,name}' FROM pg_catalog.pg_sleep(1.5), pg_catalog.pg_advisory_xact_lock_shared(1) $$;
SELECT sf_create_state_machine('work', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_grant('READ', 'work', 'slow'), sf_grant('READ', 'work', 'quick');
EOS
sub rule
{
	my ($owner, $name, $pattern, $target) = @_;
	sql(qq(SET ROLE $owner; SELECT sf_create_rule('$name',
		'{"detail": {"status": ["SUCCEEDED"], "name": [{"prefix": "$pattern"}]}}', 'sql:public.$target')));
	return;
}
rule('quick', 'note', 'n', 'note');
rule('slow', 'doze', 's', 'doze');

# Start executions whose ends make deliveries, all at once.
sub work
{
	my ($name, $n) = @_;
	sql("SELECT count(sf_start('work', '{}', '$name' || n)) FROM generate_series(1, $n) AS n");
	$node->poll_query_until('postgres', "SELECT count(*) = $n FROM sf_executions WHERE name LIKE '$name%'
		AND status = 'SUCCEEDED'");
	return;
}

# --- the process ends when it has claimed

# Another process may claim them again after a second; it delivers them.
sql("ALTER SYSTEM SET sfflow.debug_point = 'deliver-claimed:wait'");
$node->restart;
my $claimed = $node->background_psql('postgres');
$claimed->query_safe(q{SELECT pg_advisory_lock(hashtextextended('deliver-claimed', 0))});
my $waiting = "FROM pg_stat_activity WHERE backend_type LIKE 'sfflow worker%' AND wait_event = 'advisory'";
work('n', 3);
ok($node->poll_query_until('postgres', "SELECT EXISTS (SELECT $waiting)
	AND NOT EXISTS (SELECT FROM _sfflow.new_delivery)"), 'they were claimed');
sql('ALTER SYSTEM RESET sfflow.debug_point; SELECT pg_reload_conf()');
is(sql("SELECT bool_and(pg_terminate_backend(pid)) $waiting"), 't', 'who has claimed them dies');
$claimed->quit;
ok($node->poll_query_until('postgres', 'SELECT count(*) = 3 FROM got'),
	'deliveries that were claimed and not tried are made, though there is one attempt for each');
ok($node->poll_query_until('postgres', "SELECT pending, delivered, dead FROM sf_rules WHERE rule_name = 'note'",
	'0|3|0'), '... and none is dead');

# --- one delivery: nothing for another worker

ok($node->poll_query_until('postgres', "SELECT count(*) >= 2 FROM pg_stat_activity
	WHERE backend_type LIKE 'sfflow worker%' AND state = 'idle'"), 'two workers are idle')
	or diag(sql('SELECT backend_type, state, query FROM pg_stat_activity'));
sql("TRUNCATE got");
sql("ALTER SYSTEM SET sfflow.poll_interval = '1h'; SELECT pg_reload_conf()");
# Those that have not heard of it look each second.
$node->poll_query_until('postgres', "SELECT coalesce(max(query_start) < clock_timestamp() - interval '3 s', true)
	FROM pg_stat_activity WHERE backend_type LIKE 'sfflow worker%'") or die 'workers poll';
# Of the workers that were there: one more begins, and looks, when the delivery has taken long.
my $looks = "SELECT count(*) FROM pg_stat_activity, (SELECT min(xact_start) AS since FROM pg_stat_activity
	WHERE query = 'sfflow: rules' AND state = 'active') AS delivery
	WHERE backend_type LIKE 'sfflow worker%' AND query = 'sfflow: rules' AND query_start >= since
	AND backend_start < since";
# The delivery ends when this says so.
my $holder = $node->background_psql('postgres', on_error_stop => 1);
$holder->query_safe('SELECT pg_advisory_lock(1)');
work('s', 1);
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE query = 'sfflow: rules'
	AND state = 'active' AND xact_start < clock_timestamp() - interval '0.2 s'") or die 'no delivery is under way';
is(sql($looks), '1', 'one delivery: no other worker looks for more');
$holder->query_safe('SELECT pg_advisory_unlock(1)');
$holder->quit;
ok($node->poll_query_until('postgres', 'SELECT count(*) = 1 FROM got'), 'it is made');
sql('ALTER SYSTEM RESET sfflow.poll_interval; SELECT pg_reload_conf()');

# --- slow targets

sql('ALTER SYSTEM SET sfflow.workers = 1; SELECT pg_reload_conf()');
$node->restart;
sql("TRUNCATE got");
sql(q(SELECT count(sf_start('work', '{}', name))
	FROM (SELECT 'slow' || generate_series(1, 20) AS name UNION ALL SELECT 'new' || generate_series(1, 40)) n));
ok($node->poll_query_until('postgres', "SELECT count(*) = 40 FROM got WHERE who = 'quick'"),
	'an owner with quick targets has its turn');
cmp_ok(sql("SELECT count(*) FROM got WHERE who = 'slow' AND at < (SELECT max(at) FROM got WHERE who = 'quick')"),
	'<', 20,
	'... before all slow ones of another owner were made, one after the other');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 60 FROM got'), 'all are made');
is(sql("SELECT string_agg(concat_ws(' ', pending, delivered, dead), ', ' ORDER BY rule_name) FROM sf_rules"),
	'0 21 0, 0 43 0', '... once');

# --- a delivery that is locked

sql('SELECT sf_disable()');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity
	WHERE datname = 'postgres' AND backend_type LIKE 'sfflow worker%'"), 'workers leave');
sql('TRUNCATE got');
sql("SELECT sf_start('work', '{}', 'slocked'), sf_start('work', '{}', 'nfree'), sf_run('work:slocked'),
	sf_run('work:nfree')");
sql("UPDATE _sfflow.rule_delivery SET status = 1,
	due_at = now() - CASE WHEN event #>> '{detail,name}' = 'slocked'
	THEN interval '1 min' ELSE interval '1 s' END");
$holder = $node->background_psql('postgres', on_error_stop => 1);
$holder->query_safe("BEGIN; SELECT 1 FROM _sfflow.rule_delivery WHERE event #>> '{detail,name}' = 'slocked'
	FOR UPDATE");
sql('SELECT sf_enable()');
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM got WHERE name = 'nfree'"),
	'a delivery that is to be tried again and is locked keeps no other owner waiting');
$holder->query_safe('COMMIT');
$holder->quit;
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM got WHERE name = 'slocked'"), '... and is made later');

no_surprises($node);
$node->stop;
done_testing();
