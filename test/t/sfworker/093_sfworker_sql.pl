# Statements run by sfworker: in a transaction of their own, in another database, as another role.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;

my $node = new_node('main');
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE loader;
CREATE DATABASE warehouse;
CREATE TABLE night (id integer PRIMARY KEY, amount numeric, at timestamptz);
CREATE TABLE answered (token text);
-- commits on the way, so no transaction of a workflow can call it
CREATE PROCEDURE load(INOUT rows integer) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. rows LOOP
		INSERT INTO night VALUES (i, i * 1.10);
		COMMIT;
	END LOOP;
END $$;
-- does its work and answers in one transaction: exactly once
CREATE FUNCTION work_once() RETURNS void LANGUAGE sql AS $$
	INSERT INTO answered VALUES ('once');
	SELECT sf_send_task_success(current_setting('sfworker.task_token'), '{"by": "itself"}');
$$;
SQL
$node->safe_psql('warehouse', 'CREATE TABLE facts (x text); GRANT INSERT ON facts TO loader');
activity_machine($node, 'sql');
my $config = "$PostgreSQL::Test::Utils::tmp_check/sfworker-$$.conf";
append_to_file($config, <<"EOC");
activity = sql
concurrency = 4
max-output = 50kB

[database default]
conninfo = @{[ $node->connstr('postgres') ]}

[database warehouse]
conninfo = @{[ $node->connstr('warehouse') ]}
role = loader

[database nowhere]
conninfo = host=/no/such/directory
EOC
my $worker = start_worker($node, '--config', $config);

# Run a task and compare "status|output|error|cause".
sub gives
{
	my ($payload, $expected, $what) = @_;
	my $got = run_task($node, 'sql', $payload);
	return ref $expected ? like($got, $expected, $what) : is($got, $expected, $what);
}

gives('{"Statement": "CALL load($1)", "Arguments": [3]}', 'SUCCEEDED|{"Rows": [{"rows": 3}], "RowCount": 1}||',
	'a procedure that commits');
gives('{"Statement": "VACUUM night"}', 'SUCCEEDED|{"Rows": [], "RowCount": 0}||', 'what cannot run in a transaction');
# It waits for older snapshots, that of sf_await too.
my $index = $node->safe_psql('postgres',
	q(SELECT sf_start('sql', '{"Statement": "CREATE INDEX CONCURRENTLY ON night (amount)"}')));
ok($node->poll_query_until('postgres', "SELECT status = 'SUCCEEDED' FROM sf_executions WHERE execution_id = '$index'"),
	'an index that keeps nobody waiting');
gives('{"Statement": "UPDATE night SET at = $1::timestamptz WHERE id >= $2", "Arguments": ["2025-02-05 02:00+00", 2]}',
	'SUCCEEDED|{"Rows": [], "RowCount": 2}||', 'the number of rows that a statement changed');
gives('{"Statement": "SELECT *, at IS NULL AS open, \'{\"a\": [1]}\'::jsonb AS j, at::text AS s FROM night WHERE '
	. 'id IN (1, 2) ORDER BY id"}',
	'SUCCEEDED|{"Rows": [{"j": {"a": [1]}, "s": null, "at": null, "id": 1, "open": true, "amount": 1.10}, '
	  . '{"j": {"a": [1]}, "s": "2025-02-05 02:00:00+00", "at": "2025-02-05T02:00:00+00:00", "id": 2, "open": '
	  	. 'false, "amount": 2.20}], "RowCount": 2}||',
	'rows in JSON');
gives(q({"Statement": "SELECT $1::text AS a, $2::text AS b", "Arguments": ["'; DROP TABLE night; -- \\" $1", null]}),
	q(SUCCEEDED|{"Rows": [{"a": "'; DROP TABLE night; -- \" $1", "b": null}], "RowCount": 1}||),
		'arguments stay arguments');
gives('{"Statement": "SELECT $1::jsonb -> 1 AS a", "Arguments": [[1, {"b": 2.50}]]}',
	'SUCCEEDED|{"Rows": [{"a": {"b": 2.50}}], "RowCount": 1}||', 'also JSON');
gives('{"Statement": "SELECT 1; DROP TABLE night"}', qr/^FAILED\|\|syntax_error\|.*cannot insert multiple commands/,
	'one statement, not two');
gives('{"Statement": "INSERT INTO night VALUES (1)"}',
	qr/^FAILED\|\|unique_violation\|\{"sqlstate":"23505", "message":".*", "detail":"Key \(id\)=\(1\) already exists\."\}/,
	'an error has the name of its condition');
gives('{"Statement": "SELECT repeat(\'x\', 1000) FROM generate_series(1, 100000)"}',
	qr/^FAILED\|\|States\.DataLimitExceeded\|/, 'rows that are too large');
gives('{"Statement": "SELECT pg_sleep(60)", "TimeoutSeconds": 0.5}', qr/^FAILED\|\|States\.Timeout\|/, 'a time limit');
ok($node->poll_query_until('postgres', q(SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%'
	AND state = 'active' AND pid <> pg_backend_pid())),
	'ends the statement in the server');
gives('{"Statement": "COPY night TO STDOUT"}', qr/^FAILED\|\|Sql\.InvalidParameters\|COPY/,
	'there is nobody to copy to');
gives('{"Statement": "COPY night FROM STDIN"}', qr/^FAILED\|\|Sql\.InvalidParameters\|COPY/, 'or from');
gives('{"Statement": ""}', 'SUCCEEDED|{"Rows": [], "RowCount": 0}||', 'nothing gives nothing');
gives('{"Statement": "SELECT pg_terminate_backend(pg_backend_pid())"}',
	qr/^FAILED\|\|(?:admin_shutdown|connection_failure)\|/, 'a session that ends');

# Where, and as whom, is the worker's business.
gives('{"Database": "warehouse", "Statement": "INSERT INTO facts VALUES (current_user) RETURNING current_user AS '
	. 'x, current_database() AS d"}',
	'SUCCEEDED|{"Rows": [{"d": "warehouse", "x": "loader"}], "RowCount": 1}||', 'another database, as another role');
gives('{"Database": "warehouse", "Statement": "SELECT * FROM facts"}', qr/^FAILED\|\|insufficient_privilege\|/,
	'with no more than its rights');
gives('{"Database": "nowhere", "Statement": "SELECT 1"}', qr/^FAILED\|\|sqlclient_unable_to_establish_sqlconnection\|./,
	'one that does not answer');
gives('{"Database": "dbname=postgres", "Statement": "SELECT 1"}',
	'FAILED||Sql.InvalidParameters|the worker has no database "dbname=postgres"',
	'a payload names no connection');
gives('{"Arguments": []}', 'FAILED||Sql.InvalidParameters|Statement is missing', 'no statement');
gives('{"Statement": "SELECT 1", "Arguments": {}}', qr/^FAILED\|\|Sql\.InvalidParameters\|/, 'no array');

# Sessions know who they are for, and nothing of each other.
gives('{"Statement": "SET search_path = nowhere"}', qr/^SUCCEEDED/, 'what one session sets');
gives('{"Statement": "SELECT current_setting(\'search_path\') AS p, current_setting(\'sfworker.state\') AS s, '
	. 'current_setting(\'sfworker.attempt\') AS a, current_setting(\'sfworker.resource\') AS r, '
	. 'current_setting(\'sfworker.execution_id\') LIKE \'sql:%\' AS e"}',
	'SUCCEEDED|{"Rows": [{"a": "1", "e": true, "p": "\"$user\", public", "r": "activity:sql", "s": "Work"}], '
		. '"RowCount": 1}||', 'does not reach the next');
gives('{"Statement": "SELECT work_once()"}', 'SUCCEEDED|{"by": "itself"}||', 'a statement that answers by itself');
is($node->safe_psql('postgres', 'SELECT count(*) FROM answered'), '1', 'has done its work once');

my ($status, $said) = dry_run('{"Database": "warehouse", "Statement": "DROP DATABASE postgres"}', '--config', $config);
is($said, qq({"database":"warehouse","statement":"DROP DATABASE postgres","arguments":0,"decision":"allowed"}\n),
	'what would be run');

is(stop_worker($worker), 0, 'the worker leaves');
unlike(worker_log($worker), qr/an answer could not be given/, 'and has answered everything');
$node->stop;
done_testing();
