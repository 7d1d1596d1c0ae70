# What a task makes in a temporary schema ends with it: in a worker, which serves other owners next, and in a connection
# in which tasks of several roles run one after another.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 1\nsfflow.max_workers = 1\n");
$node->safe_psql('postgres', 'CREATE ROLE eve LOGIN; CREATE ROLE root SUPERUSER LOGIN; CREATE ROLE bob LOGIN;
	GRANT CREATE ON SCHEMA public TO bob');
$node->safe_psql('postgres', "\\i $FindBin::Bin/../../fixtures/temporary_objects.sql");

# A task that carries out a statement of a kind; the schema of the worker has the name that it has there.
$node->safe_psql('postgres', <<'EOP');
CREATE FUNCTION kinds.make(statement text, way text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE kinds.spell(statement, way, kinds.real_name());
	RETURN (SELECT string_agg(DISTINCT catalogue::text, ' ') FROM kinds.temporary_rows());
END $$;
CREATE TABLE kinds.seen (who text);
GRANT INSERT, SELECT ON kinds.seen TO PUBLIC;
EOP
my $machine = q(SELECT sf_create_state_machine('%s',
	'{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "%s", "End": true}}}'));
for my $role ('eve', 'root')
{
	$node->safe_psql('postgres', sprintf($machine, "make-$role", 'sql:kinds.make'), extra_params => [ '-U', $role ]);
}

# Run an execution in the worker; returns its status and output.
sub in_worker
{
	my ($role, $name, $machine, $input) = @_;
	return $node->safe_psql('postgres',
		<<"EOP", extra_params => [ '-U', $role, '-v', 'ON_ERROR_STOP=1', '-q' ]) =~ s/^.*\n(?=.)//sr;
SELECT sf_start('$machine', \$input\$$input\$input\$, '$name');
SELECT sf_await('$machine:$name', '60 s');
SELECT concat_ws(' ', status, error, cause, output) FROM sf_executions WHERE execution_id = '$machine:$name';
EOP
}

# --- a worker: each kind, by each spelling

$node->safe_psql('postgres', sprintf($machine, 'first', 'sql:query'), extra_params => [ '-U', 'eve' ]);
like(in_worker('eve', 'a', 'first', '{"Statement": "CREATE TEMP TABLE t AS SELECT 1 AS a"}'), qr/^SUCCEEDED/,
	'the worker has a temporary schema');
my $all = $node->safe_psql('postgres', <<'EOP');
SELECT CASE WHEN by_root THEN 'root' ELSE 'eve' END, kind || ' by ' || way,
	json_build_object('statement', text, 'way', way)
FROM kinds.statement, unnest(ARRAY['pg_temp', 'real name', 'search_path']) AS way ORDER BY kind, way
EOP
for my $line (split /\n/, $all)
{
	my ($role, $kind, $input) = split /\|/, $line, 3;
	like(in_worker($role, $kind =~ tr/ /_/r, "make-$role", $input), qr/^SUCCEEDED "[a-z]/,
		"$kind: a task of a worker makes it in the temporary schema");
	is($node->safe_psql('postgres', 'SELECT * FROM kinds.temporary_rows()'), '', '... and it is gone with the task');
}

# The attack: a domain with the name of bob's own, which bob's function would use. Its check would run as bob.
$node->safe_psql('postgres', <<'EOP', extra_params => [ '-U', 'bob' ]);
CREATE DOMAIN public.day AS text;
CREATE FUNCTION public.plan(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ DECLARE d day; BEGIN d := 'monday';
	RETURN to_jsonb(d); END $$;
EOP
$node->safe_psql('postgres', <<'EOP', extra_params => [ '-U', 'eve' ]);
CREATE FUNCTION kinds.steal(text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO kinds.seen
	VALUES (current_user); RETURN true; END $$;
CREATE FUNCTION kinds.plant(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN SET search_path = pg_temp; CREATE DOMAIN day AS text CHECK (kinds.steal(VALUE)); RETURN '{}'; END $$;
EOP
$node->safe_psql('postgres', sprintf($machine, 'plant', 'sql:kinds.plant'), extra_params => [ '-U', 'eve' ]);
$node->safe_psql('postgres', sprintf($machine, 'plan', 'sql:public.plan'), extra_params => [ '-U', 'bob' ]);
like(in_worker('eve', 'a', 'plant', '{}'), qr/^SUCCEEDED/, 'a domain through the search_path');
like(in_worker('bob', 'a', 'plan', '{}'), qr/^SUCCEEDED "monday"$/,
	'... and then a task of another owner, which uses a domain of that name');
is($node->safe_psql('postgres', 'SELECT * FROM kinds.seen'), '', '... runs nothing of the first one');

# --- a connection that answers for several roles

$node->safe_psql('postgres', 'CREATE ROLE gateway LOGIN; GRANT eve, bob TO gateway;
	GRANT CREATE ON SCHEMA public TO eve, gateway');
my $definition = '{\"StartAt\":\"T\",\"States\":{\"T\":{\"Type\":\"Task\",\"Resource\":\"sql:query\",\"End\":true}}}';
for my $role ('eve', 'bob', 'gateway')
{
	$node->safe_psql('postgres', qq(SELECT sf_aws_api('CreateStateMachine',
		'{"name": "now-$role", "type": "EXPRESS", "definition": "$definition",
		"roleArn": "arn:aws:iam::000000000000:role/r"}')),
		extra_params => [ '-U', $role ]);
}

# A call in which a role's task runs a statement; gives the rows, or the error.
sub call
{
	my ($role, $statement) = @_;
	return <<"EOP";
SELECT concat_ws(' ', a ->> 'error', a ->> 'cause', a #>> '{output}')
	FROM sf_aws_api_as('$role', 'StartSyncExecution', jsonb_build_object(
	'stateMachineArn', 'arn:aws:states:us-east-1:000000000000:stateMachine:now-$role', 'input',
		jsonb_build_object('Statement', \$s\$$statement\$s\$)::text)) AS a;
EOP
}

# Calls of one connection, each of which commits; returns the answers.
sub calls
{
	return split /\n/, $node->safe_psql('postgres', join('', @_), extra_params => [ '-U', 'gateway' ]);
}
my $refused = qr/insufficient_privilege.*(temporary|security-restricted)/;
my $overload = 'CREATE FUNCTION pg_temp.fmt(integer) RETURNS text LANGUAGE sql AS $f$ SELECT current_user::text $f$';
my @answers = calls(call('eve', $overload), call('bob', 'SELECT pg_temp.fmt(1)'),
	'SELECT count(*) FROM kinds.temporary_rows();');
like($answers[0], $refused, 'a function in pg_temp is refused in a synchronous execution');
like($answers[1], qr/does not exist/, '... and not there for the next role');
is($answers[2], '0', '... and nothing is left');
@answers = calls("CREATE FUNCTION pg_temp.fmt(numeric) RETURNS text LANGUAGE sql AS 'SELECT ''mine''';",
	call('eve', $overload), 'SELECT pg_temp.fmt(1);');
like($answers[0], $refused, 'an overload of the connection\'s own function is refused');
is($answers[1], 'mine', '... which is the one that is called');
@answers = calls(call('gateway', $overload), call('gateway', 'CREATE TEMP TABLE stock (a integer)'),
	call('gateway', 'PREPARE p AS SELECT 1'), call('bob', 'SELECT 1 AS a'),
	'SELECT count(*) FROM pg_prepared_statements;', 'SELECT count(*) FROM kinds.temporary_rows();');
like($answers[$_], $refused, "also of the connection's own role: $_") for 0 .. 2;
like($answers[3], qr/"a":1/, '... and the next role finds nothing of it');
is("@answers[4, 5]", '0 0', '... since nothing is left');

# --- sf_run of a superuser, which commits or not

for my $end ('COMMIT', 'ROLLBACK')
{
	my $out = $node->safe_psql('postgres', <<"EOP");
CREATE FUNCTION pg_temp.fmt(numeric) RETURNS text LANGUAGE sql AS 'SELECT ''mine''';
CREATE TEMP TABLE kept AS SELECT 7 AS a;
BEGIN;
SELECT sf_start('first', jsonb_build_object('Statement', \$s\$$overload\$s\$), 'run-$end');
SELECT sf_run('first:run-$end');
$end;
SELECT pg_temp.fmt(1), a FROM kept;
EOP
	like($out, qr/^FAILED$/m, "sf_run and $end: the task is refused");
	like($out, qr/^mine\|7$/m, '... and the session has what it had');
}

# A session that is ended in the middle of a guest's task drops its temporary tables as ever.
my $session = $node->background_psql('postgres', extra_params => [ '-U', 'root' ]);
$session->query_safe('CREATE TEMP TABLE of_the_session AS SELECT 1 AS a');
$session->query_until(qr/begun/, <<'EOP');
\echo begun
BEGIN;
SELECT sf_start('first', '{"Statement": "SELECT pg_sleep(600)"}', 'ended');
SELECT sf_run('first:ended');
EOP
$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'))
	or die 'the task does not sleep';
my $pid = $node->safe_psql('postgres', q(SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'));
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
ok($node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $pid)"),
	'a session is ended in a task');
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_class WHERE relname = 'of_the_session')), '0',
	'... and its temporary tables are dropped');
$session->{run}->finish;

no_surprises($node);
$node->stop;
done_testing();
