# What sf_aws_install made is dumped and restored: objects with all their bytes, results of queries, and whose they are.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main');
$node->safe_psql('postgres', 'CREATE DATABASE shop; CREATE ROLE keeper LOGIN; CREATE ROLE rival LOGIN');

# Run statements as a role.
sub as
{
	my ($role, $database, $sql) = @_;
	return $node->safe_psql($database, $sql, extra_params => [ '-U', $role ]);
}

$node->safe_psql('shop', <<'EOS');
CREATE EXTENSION sfflow;
SELECT sf_aws_install();
GRANT USAGE ON SCHEMA sfflow_aws TO keeper, rival;
EOS
# Every byte there is, over several chunks, with a part that was appended.
as('keeper', 'shop', <<'EOS');
SELECT sfflow_aws.create_bucket('kept'), sfflow_aws.create_bucket('open'), sfflow_aws.grant_bucket('open', 'rival');
SELECT sfflow_aws.put_object('kept', 'all/bytes',
	decode(repeat(string_agg(lpad(to_hex(n), 2, '0'), '' ORDER BY n), 2500), 'hex'), 'application/x-all')
	FROM generate_series(0, 255) AS n;
SELECT sfflow_aws.append_object('kept', 'all/bytes', '\x00ff0a0d5c');
SELECT sfflow_aws.put_object('open', 'list.json', '[1, 2]');
SELECT sf_create_state_machine('keep', '{"StartAt": "Query", "States": {
	"Query": {"Type": "Task", "Resource": "arn:aws:states:::athena:startQueryExecution.sync",
		"Parameters": {"QueryString": "SELECT 7 AS n, NULL AS nothing",
		"ResultConfiguration": {"OutputLocation": "s3://kept/q"}},
		"ResultPath": null, "Next": "Each"},
	"Each": {"Type": "Map", "End": true, "ItemReader": {"Resource": "arn:aws:states:::s3:getObject",
		"Parameters": {"Bucket": "open", "Key": "list.json"}},
		"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P",
			"States": {"P": {"Type": "Pass", "End": true}}}}}}');
SELECT sf_start('keep', '{}', 'before');
SELECT sf_await('keep:before', '180 s');
EOS

# All that there is, as text.
my $all = <<'EOS';
SELECT * FROM sfflow_aws.s3_bucket ORDER BY name;
SELECT * FROM sfflow_aws.s3_grant ORDER BY bucket;
SELECT o.*, md5(sfflow_aws.get_object(bucket, key)) FROM sfflow_aws.s3_object AS o ORDER BY bucket, key;
SELECT bucket, key, start, length(data) FROM sfflow_aws.s3_chunk ORDER BY bucket, key, start;
SELECT * FROM sfflow_aws.athena_query ORDER BY query_execution_id;
SELECT * FROM sfflow_aws.athena_row ORDER BY query_execution_id, n;
SELECT state_machine, status, error FROM sf_executions ORDER BY execution_id;
EOS
my $before = $node->safe_psql('shop', $all);
like($before, qr/^kept\|all\/bytes\|640005\|\w+-2\|application\/x-all\|/m, 'a large object is there');
like($before, qr/^[-0-9a-f]{36}\|-1\|\{n,nothing\}$/m, 'so is the result of a query');
like($before, qr/^keep\|SUCCEEDED\|$/m, 'workers ran a machine over them');

my $dump = $node->backup_dir . '/shop.dump';
mkdir $node->backup_dir;
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('shop') ], 'the database is dumped');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('restored'), $dump ], 'and restored');
is($node->safe_psql('restored', $all), $before, 'everything is as it was');

# The mappings work there, and rights are as before.
is(as('keeper', 'restored', q(SELECT sf_run(sf_start('keep', '{}', 'after')); SELECT output FROM sf_executions
	WHERE name = 'after')),
	"SUCCEEDED\n[1, 2]", 'a machine reads and writes in the copy');
is(as('rival', 'restored', q(SELECT string_agg(bucket || '/' || key, ' ') FROM sfflow_aws.s3_object; SELECT count(*)
	FROM sfflow_aws.athena_query)),
	"open/list.json\n0", 'another role sees what was granted to it');
my (undef, undef, $error) = $node->psql('restored', q(SELECT sfflow_aws.get_object('kept', 'all/bytes')),
	extra_params => [ '-U', 'rival' ]);
like($error, qr/S3\.S3Exception.*Access Denied/s, 'and no more');
is($node->safe_psql('restored', "SELECT sf_aws_uninstall(); SELECT to_regnamespace('sfflow_aws') IS NULL"), "\nt",
	'it can be removed in the copy');

$node->stop;
done_testing();
