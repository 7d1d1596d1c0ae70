# A task that ends its own process: by an error of level FATAL, by a signal to itself. Its execution fails after
# sfflow.max_crashes of them, and all others go on. The ends that an administrator asks for are not counted.
# needs: hold limit
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 2
sfflow.max_workers = 4
sfflow.max_crashes = 3
sfflow.poll_interval = 1
max_prepared_transactions = 5
EOC
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE run (execution text, at timestamptz DEFAULT clock_timestamp());
CREATE SEQUENCE calls;
CREATE FUNCTION note(execution text) RETURNS text LANGUAGE sql AS
	$$ SELECT nextval('calls'); INSERT INTO run VALUES (execution) RETURNING execution $$;
-- superusers may do this to themselves
CREATE FUNCTION terminate(execution text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	PERFORM note(execution);
	PERFORM pg_terminate_backend(pg_backend_pid());
	PERFORM pg_sleep(60);
	RETURN true;
END $$;
CREATE FUNCTION terminate_from_program(execution text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	PERFORM note(execution);
	EXECUTE format('COPY (SELECT 1) TO PROGRAM ''kill %s''', pg_backend_pid());
	PERFORM pg_sleep(60);
	RETURN true;
END $$;
-- a short task, as all workers know it, until it is told to end its process
CREATE TABLE moody (execution text, angry boolean);
CREATE FUNCTION moody(execution text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM moody AS m WHERE m.angry AND m.execution = $1) THEN
		PERFORM terminate(execution);
	END IF;
	PERFORM note(execution);
	RETURN true;
END $$;
CREATE FUNCTION sleeper(execution text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	PERFORM note(execution);
	PERFORM pg_sleep(600) WHERE NOT EXISTS (SELECT FROM moody AS m WHERE m.execution = 'awake');
	RETURN true;
END $$;
-- ends its process once its execution is held, so that it does not begin again, or once it is told
CREATE FUNCTION brink(execution text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	WHILE NOT EXISTS (SELECT FROM sf_holds WHERE target = 'brink:' || execution)
		AND NOT EXISTS (SELECT FROM moody AS m WHERE m.execution = 'brink') LOOP
		PERFORM pg_sleep(0.05);
	END LOOP;
	RETURN terminate(execution);
END $$;
CREATE ROLE tenant;
GRANT CREATE ON SCHEMA public TO tenant;
GRANT INSERT, SELECT ON run TO tenant;
GRANT USAGE ON SEQUENCE calls TO tenant;
EOC

# Create a machine of one task for a function, as a role.
sub machine
{
	my ($name, $function, $role) = @_;
	my $definition = one_task("public.$function", '"Parameters": {"execution.$": "$$.Execution.Name"}');
	$node->safe_psql('postgres',
		($role ? "SET ROLE $role; " : '') . "SELECT sf_create_state_machine('$name', '$definition')");
	return;
}
machine($_, $_) for qw(terminate terminate_from_program moody sleeper brink);
machine('tenants', 'note', 'tenant');
machine('limited', 'terminate');

# Tell how the executions of a machine ended.
sub ends
{
	my $machine = shift;
	return $node->safe_psql('postgres',
		"SELECT name, status, error, cause FROM sf_executions WHERE state_machine = '$machine' ORDER BY name");
}

my $cause = "States.Runtime|The worker process ended 3 times while it ran this step. State: 'T'.";
for my $way (qw(terminate terminate_from_program))
{
	$node->safe_psql('postgres', <<"EOC");
SELECT sf_start('$way', '{}', '$way' || n) FROM generate_series(1, 3) AS n;
SELECT sf_start('tenants', '{}', '$way' || n) FROM generate_series(1, 20) AS n;
EOC
	ok(ended($node), "$way: every execution ends");
	is(ends($way), join("\n", map { "$way$_|FAILED|$cause" } 1 .. 3), '... that of the task by States.Runtime');
	is($node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE name ~ '^$way\\d'
		AND status = 'SUCCEEDED'"),
		'20', '... those of another owner with success');
}
is($node->safe_psql('postgres', "SELECT last_value >= 18 FROM calls"), 't', 'each of these tasks ran three times');

# Taken from the queue of a limit.
$node->safe_psql('postgres', <<'EOC');
SELECT sf_set_limit('limited', max_running => 1);
SELECT sf_start('limited', '{}', 'limited' || n) FROM generate_series(1, 3) AS n;
EOC
ok(ended($node), 'with a limit every execution ends, too');
is(ends('limited'), join("\n", map { "limited$_|FAILED|$cause" } 1 .. 3), '... by States.Runtime');
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_check()"), '0', '... and leaves the tables in order');

# In a slice with other executions of its owner, which are not blamed.
$node->safe_psql('postgres', "SELECT sf_start('moody', '{}', 'calm' || n) FROM generate_series(1, 20) AS n");
ok(ended($node), 'a short task is known to be short');
$node->safe_psql('postgres', <<'EOC');
INSERT INTO moody VALUES ('angry', true);
SELECT sf_start('moody', '{}', 'between' || n) FROM generate_series(1, 20) AS n;
SELECT sf_start('moody', '{}', 'angry');
SELECT sf_start('moody', '{}', 'after' || n) FROM generate_series(1, 20) AS n;
EOC
ok(ended($node), 'one ends its process in the middle of a slice');
is($node->safe_psql('postgres', "SELECT error, cause FROM sf_executions WHERE execution_id = 'moody:angry'"), $cause,
	'... and fails');
is($node->safe_psql('postgres', "SELECT count(*) FROM sf_executions WHERE state_machine = 'moody'
	AND status = 'SUCCEEDED'"),
	'60', '... alone');
is($node->safe_psql('postgres', "SELECT count(*), count(DISTINCT execution) FROM run
	WHERE execution ~ 'calm|between|after'"),
	'60|60', '... and the others ran once');

# Redriven, it gets as many chances again.
$node->safe_psql('postgres', "UPDATE moody SET angry = false; SELECT sf_redrive('moody:angry')");
is($node->safe_psql('postgres', "SELECT sf_await('moody:angry', '180 s')"), 'SUCCEEDED', 'a redrive runs it again');

# An administrator may do so as often as it takes.
$node->safe_psql('postgres', "SELECT sf_start('sleeper', '{}', 's')");
for my $n (1 .. 4)
{
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
	  or die 'no task sleeps';
	$node->safe_psql('postgres', "INSERT INTO moody VALUES ('awake')") if $n == 4;
	$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
		WHERE wait_event = 'PgSleep'});
}
is($node->safe_psql('postgres', "SELECT sf_await('sleeper:s', '180 s')"), 'SUCCEEDED',
	'ends that an administrator asks for are not counted');
is($node->safe_psql('postgres', "SELECT count(*) FROM run WHERE execution = 's'"), '1',
	'... and the task ran once in the end');

# Suspects that are kept in the file, and whose executions end without another run of theirs.
sub suspects
{
	my $n = shift;
	return "SELECT get_byte(pg_read_binary_file('pg_stat_tmp/sfflow.poison', 4, 1), 0) = $n";
}

# Start an execution, and have it end one worker and be held.
sub bring_to_brink
{
	my $name = shift;
	$node->safe_psql('postgres', "SELECT sf_start('brink', '{}', '$name')");
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'})
	  or die 'no task waits';
	$node->safe_psql('postgres', "SELECT sf_hold('brink:$name')");
	return $node->poll_query_until('postgres', suspects(1));
}

ok($node->poll_query_until('postgres', suspects(0)), 'what has run is no suspect');
ok(bring_to_brink('stopped'), 'one that has ended a worker, and is held, is one');
is($node->safe_psql('postgres', "SELECT sf_stop('brink:stopped')") && $node->safe_psql('postgres', suspects(0)),
	't', '... until it is stopped');
my $before = $node->safe_psql('postgres', 'SELECT last_value FROM calls');
$node->safe_psql('postgres', <<'EOC');
INSERT INTO moody VALUES ('brink');
SELECT sf_release('brink:stopped'), sf_redrive('brink:stopped');
EOC
is($node->safe_psql('postgres', "SELECT sf_await('brink:stopped', '180 s')"), 'FAILED',
	'... and redriven it ends workers again');
is($node->safe_psql('postgres', 'SELECT last_value FROM calls') - $before, 3, '... as often as at first');
$node->safe_psql('postgres', "DELETE FROM moody WHERE execution = 'brink'");
ok(bring_to_brink('prepared'), 'another one');
$node->safe_psql('postgres', "BEGIN; SELECT sf_stop('brink:prepared'); PREPARE TRANSACTION 'stop'");
is($node->safe_psql('postgres', suspects(1)), 't', '... is one while the transaction that stops it is prepared');
$node->safe_psql('postgres', "COMMIT PREPARED 'stop'");
ok($node->poll_query_until('postgres', suspects(0)), '... until a worker looks after the commit, which tells no one');
ok(bring_to_brink('gone'), 'a third one');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', suspects(1)), 't', '... is one after a crash');
$node->safe_psql('postgres', "SELECT sf_drop_state_machine('brink', true)");
ok($node->poll_query_until('postgres', suspects(0)), '... until it is deleted');

no_surprises($node);
my $log = slurp_file($node->logfile);
unlike($log, qr/terminating any other active server processes/, 'the server never crashed');
like($log, qr/LOG:  sfflow worker ends while it runs branch \d+ of execution \d+\n.*DETAIL:  That has happened 2 times in a row/,
	'the log tells of the ends');

$node->stop;
done_testing();
