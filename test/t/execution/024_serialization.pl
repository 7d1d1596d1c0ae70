# What cannot be serialized is rolled back and tried again, five times at most; then it is the error
# serialization_failure, for Retry and Catch. The same goes for a task whose work fails at the commit.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.max_workers = 6\nsfflow.slice_ms = 20\n");
my $port = $node->port;
my $host = $node->host;

# clash(seconds, until) raises until it has been called so often; far() does the same at the commit of
# a remote transaction. What is done at last is noted once.
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION postgres_fdw;
CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
CREATE USER MAPPING FOR CURRENT_USER SERVER here OPTIONS (password_required 'false');
CREATE SEQUENCE calls;
CREATE TABLE done (execution text);
CREATE FUNCTION clash(execution text, seconds float8, until integer, at_commit boolean) RETURNS void
	LANGUAGE plpgsql AS \$\$
BEGIN
	PERFORM pg_sleep(seconds);
	IF at_commit THEN
		INSERT INTO far VALUES (execution, until);
	ELSIF nextval('calls') < until THEN
		RAISE serialization_failure;
	END IF;
	INSERT INTO done VALUES (execution);
END \$\$;
CREATE TABLE near (execution text, until integer);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN
	IF nextval('public.calls') < NEW.until THEN
		RAISE serialization_failure;
	END IF;
	RETURN NULL;
END \$\$;
CREATE CONSTRAINT TRIGGER refuse AFTER INSERT
	ON near DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE FOREIGN TABLE far (execution text, until integer) SERVER here OPTIONS (schema_name 'public', table_name 'near');
SQL

# A machine of its own for each case, so that how long its task takes is known of it alone.
sub machine
{
	my $name = shift;
	$node->safe_psql('postgres', <<"SQL");
SELECT sf_create_state_machine('$name', \$m\${"StartAt": "Clash", "States": {
	"Clash": {"Type": "Task", "Resource": "sql:public.clash",
		"Catch": [{"ErrorEquals": ["40001"], "ResultPath": "\$.error", "Next": "Caught"}], "End": true},
	"Caught": {"Type": "Pass", "Parameters": {"caught.\$": "\$.error.Error"}, "End": true}}}\$m\$);
SQL
	return;
}

sub payload
{
	my ($name, $seconds, $until, $at_commit) = @_;
	return qq({"execution": "$name", "seconds": $seconds, "until": $until, "at_commit": $at_commit});
}

for my $at_commit ('false', 'true')
{
	for my $case ([ 'short', 0 ], [ 'long', 0.05 ])
	{
		my ($name, $seconds) = @$case;
		$name .= '-at-commit' if $at_commit eq 'true';
		machine($name);
		# The first run tells how long it takes.
		$node->safe_psql('postgres', "SELECT sf_start('$name', '" . payload($name, $seconds, 0, $at_commit)
			. "', 'first')");
		is($node->safe_psql('postgres', "SELECT sf_await('$name:first', '180 s')"), 'SUCCEEDED', "$name: once");

		$node->safe_psql('postgres', "ALTER SEQUENCE calls RESTART; DELETE FROM done");
		$node->safe_psql('postgres', "SELECT sf_start('$name', '" . payload($name, $seconds, 3, $at_commit)
			. "', 'twice')");
		is($node->safe_psql('postgres', "SELECT sf_await('$name:twice', '180 s')"), 'SUCCEEDED',
			"$name: the third try succeeds");
		is($node->safe_psql('postgres', "SELECT output, (SELECT count(*) FROM done) FROM sf_executions
			WHERE execution_id = '$name:twice'"),
			'null|1', "$name: nothing is caught, and it is done once");

		$node->safe_psql('postgres', "ALTER SEQUENCE calls RESTART; DELETE FROM done");
		$node->safe_psql('postgres', "SELECT sf_start('$name', '" . payload($name, $seconds, 1000, $at_commit)
			. "', 'always')");
		is($node->safe_psql('postgres', "SELECT sf_await('$name:always', '180 s')"), 'SUCCEEDED',
			"$name: it never succeeds");
		is($node->safe_psql('postgres', "SELECT output, (SELECT count(*) FROM done) FROM sf_executions
			WHERE execution_id = '$name:always'"),
			'{"caught": "serialization_failure"}|0', "$name: the error is caught, and nothing is done");
		cmp_ok($node->safe_psql('postgres', 'SELECT last_value FROM calls'), '>=', 5, "$name: after five tries");
		cmp_ok($node->safe_psql('postgres', 'SELECT last_value FROM calls'), '<=', 11, "$name: and few more");
	}
}

# In a session it is the same, unless the session's transaction keeps its snapshot: then only the session
# can try again.
$node->safe_psql('postgres', 'SELECT sf_disable()');
my @start = map { "SELECT sf_start('short', '" . payload('short', 0, $_, 'false') . "', 'session-$_')" } 3, 1000;
$node->safe_psql('postgres', 'ALTER SEQUENCE calls RESTART');
is($node->safe_psql('postgres', "$start[0]; SELECT sf_run('short:session-3')"), "short:session-3\nSUCCEEDED",
	'sf_run() tries again');
is($node->safe_psql('postgres', 'SELECT last_value FROM calls'), '3', 'as often as it takes');
$node->safe_psql('postgres', 'ALTER SEQUENCE calls RESTART');
my ($result, $stdout, $stderr) =
  $node->psql('postgres', "BEGIN ISOLATION LEVEL REPEATABLE READ; $start[1]; SELECT sf_run('short:session-1000')");
like($stderr, qr/ERROR:  could not serialize access in task "Clash" of execution "short:session-1000"/,
	'not so with a snapshot');
is($node->safe_psql('postgres', "$start[1]; SELECT sf_run('short:session-1000'); SELECT output FROM sf_executions
	WHERE execution_id = 'short:session-1000'"),
	qq(short:session-1000\nSUCCEEDED\n{"caught": "serialization_failure"}), 'and at last it is an error to be caught');

# A task that is newer than the snapshot of a transaction is not one that is gone.
my $old = $node->background_psql('postgres', on_error_stop => 0);
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM sf_executions');
my $token = $node->safe_psql('postgres', q{SELECT sf_create_activity('newer');
	SELECT sf_create_state_machine('newer', '{"StartAt": "T", "States": {"T": {"Type": "Task",
		"Resource": "activity:newer", "End": true}}}');
	SELECT sf_start('newer', '{}', 'x'); SELECT sf_run('newer:x');
	SELECT 'token ' || task_token FROM sf_get_activity_task('newer', 'me')}) =~ /^token (.+)$/m ? $1 : '';
$old->query("SELECT sf_send_task_success('$token', '1')");
like($old->{stderr}, qr/the task is newer than the snapshot of this transaction/, '... it can be answered in another one');
$old->quit;
is($node->safe_psql('postgres', "SELECT sf_send_task_success('$token', '1'); SELECT sf_run('newer:x')"), "\nSUCCEEDED",
	'... as it is');

no_surprises($node);
$node->stop;
done_testing();
