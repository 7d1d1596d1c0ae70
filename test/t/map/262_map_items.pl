# Items of a Distributed Map that a program of sfworker reads: Parquet in the compressions that its writers use,
# compressed lines and values, manifests; a worker that dies while it reads. Nothing leaves this machine.
use strict;
use warnings;
use File::Copy;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;

my $modules = "$FindBin::Bin/../../clients/node_modules";
plan skip_all =>
	'hyparquet, hyparquet-compressors and csv-parse are MISSING: npm could not install them below test/clients'
  unless -d "$modules/hyparquet-compressors" && -d "$modules/csv-parse"
  	&& system('node --version >/dev/null 2>&1') == 0;

my $home = PostgreSQL::Test::Utils::tempdir();
chmod 0755, $home;
copy("$FindBin::Bin/../../../docs/examples/map-items.mjs", "$home/map-items.mjs") or die "copy: $!";
chmod 0755, "$home/map-items.mjs";
symlink $modules, "$home/node_modules" or die "symlink: $!";

my $node = new_node('main');
local @ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');
$node->safe_psql('postgres', <<'EOS');
SELECT sf_create_activity('items', '3 s');
SELECT sf_aws_install(services => '{parquet}');
SELECT sfflow_aws.create_bucket('lake');
SELECT sf_map_resource('arn:aws:states:::s3:getObject#' || type, 'activity:items')
	FROM unnest('{CSV,JSONL,MANIFEST}'::text[]) AS type;
EOS

# Store the bytes of an object.
sub store
{
	my ($key, $content) = @_;
	my $hex = unpack 'H*', $content;
	$node->safe_psql('postgres', "SELECT sfflow_aws.put_object('lake', '$key', decode('$hex', 'hex'))");
	return;
}

# Compress a text.
sub gzip
{
	my $text = shift;
	my $packed = '';
	IPC::Run::run([ 'gzip', '-c' ], '<', \$text, '>', \$packed) or die 'gzip';
	return $packed;
}

# Make a machine whose Map reads an object as a definition for Step Functions says; its items are the output.
sub machine
{
	my ($name, $config, %how) = @_;
	my $resource = $how{resource} // 'getObject';
	my $parameters = $how{parameters} // '{"Bucket": "lake", "Key.$": "$.key"}';
	my $fields = $how{fields} // '';
	$node->safe_psql('postgres', <<"EOS");
SELECT sf_create_state_machine('$name', \$m\${"StartAt": "Map", "States": {"Map": {"Type": "Map", "End": true, $fields
	"ItemReader": {"Resource": "arn:aws:states:::s3:$resource", "ReaderConfig": $config, "Parameters": $parameters},
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "Each", "States": {"Each": {"Type": "Pass", "End": true}}}}}}\$m\$);
EOS
	return;
}

my $worker = start_worker($node, '-a', 'items:program', '--program', "$home/map-items.mjs", '--pass-env', 'PG*');

# --- Parquet

machine('parquet', '{"InputType": "PARQUET"}');
is($node->safe_psql('postgres', q(SELECT count(*) FROM sf_validate((SELECT definition::text FROM sf_state_machines)))),
	'0', 'the validator has nothing to say');
for my $codec (qw(snappy gzip zstd))
{
	store($codec, slurp_file("$FindBin::Bin/../../fixtures/parquet/$codec.parquet"));
	like(run_task($node, 'parquet', qq({"key": "$codec"})),
		qr/^\QSUCCEEDED|[{"at": \E.*\Q, {"at": "2025-01-01T10:00:02.000Z", "id": 2, "day": "2025-01-03T00:00:00.000Z", "list": [2, 3], "paid": true, "amount": 0.14, "nested": {"a": 2, "b": "x"}, "customer": "customer 2"}]||\E$/,
		"Parquet with $codec");
}
machine('some', '{"InputType": "PARQUET", "MaxItems": 2}',
	fields => '"ItemSelector": {"id.$": "$$.Map.Item.Value.id"}, "ItemBatcher": {"MaxItemsPerBatch": 2},');
is(run_task($node, 'some', '{"key": "zstd"}'), 'SUCCEEDED|[{"Items": [{"id": 0}, {"id": 1}]}]||',
	'MaxItems, ItemSelector and ItemBatcher');
is(run_task($node, 'parquet', '{"key": "none"}'),
	q(FAILED||States.ItemReaderFailed|The specified key does not exist. Object: 'lake/none'.),
	'an object that is not there');
store('text', 'id,name');
like(run_task($node, 'parquet', '{"key": "text"}'), qr{^FAILED\|\|States\.ItemReaderFailed\|.+ Object: 'lake/text'\.$},
	'one that is no Parquet');
store('torn', substr(slurp_file("$FindBin::Bin/../../fixtures/parquet/zstd.parquet"), 40));
like(run_task($node, 'parquet', '{"key": "torn"}'), qr{^FAILED\|\|States\.ItemReaderFailed\|.+ Object: 'lake/torn'\.$},
	'one whose begin is missing');

# --- lists and manifests

store("year=2025/$_", slurp_file("$FindBin::Bin/../../fixtures/parquet/snappy.parquet")) for 'a', "it''s b";
store('year=2025/', '');
machine('all', '{"InputType": "PARQUET", "Transformation": "LOAD_AND_FLATTEN"}', resource => 'listObjectsV2',
	parameters => '{"Bucket": "lake", "Prefix": "year=2025/"}',
	fields => '"ItemSelector": {"id.$": "$$.Map.Item.Value.id"},');
is(run_task($node, 'all', '{}'), 'SUCCEEDED|[' . join(', ', map { qq({"id": $_}) } 0 .. 2, 0 .. 2) . ']||',
	'all objects of a list');
store('athena', "s3://lake/gzip\n\ns3://lake/zstd\r\n");
machine('athena', '{"InputType": "PARQUET", "ManifestType": "ATHENA_DATA"}',
	fields => '"ItemSelector": {"id.$": "$$.Map.Item.Value.id"},');
is(run_task($node, 'athena', '{"key": "athena"}'), 'SUCCEEDED|[' . join(', ', map { qq({"id": $_}) } 0 .. 2, 0 .. 2)
	. ']||', 'the files of a query of Athena');

store('inventory.csv.gz', gzip(qq("lake","a ""b"".txt","3"\n"lake","c,d","4"\n)));
store('manifest.json',
	'{"destinationBucket": "arn:aws:s3:::lake", "fileFormat": "CSV", "fileSchema": "Bucket, Key, Size", "files": '
	. '[{"key": "inventory.csv.gz"}]}');
machine('inventory', '{"InputType": "MANIFEST"}');
is(run_task($node, 'inventory', '{"key": "manifest.json"}'),
	'SUCCEEDED|[{"Key": "a \"b\".txt", "Size": "3", "Bucket": "lake"}, {"Key": "c,d", "Size": "4", "Bucket": '
		. '"lake"}]||', 'the compressed files of an inventory');
store('manifest.orc', '{"fileFormat": "ORC", "files": [{"key": "x"}]}');
store('x', 'ORC');
is(run_task($node, 'inventory', '{"key": "manifest.orc"}'),
	q(FAILED||States.ItemReaderFailed|ORC is not read. Object: 'lake/x'.), '... but not of ORC');

# --- compressed text

store('lines.gz', gzip(join '', map { qq({"n": $_, "big": 12345678901234567890, "t": "'\\\\u00e9"}\n) } 1 .. 3));
machine('lines', '{"InputType": "JSONL"}');
is(run_task($node, 'lines', '{"key": "lines.gz"}'), 'SUCCEEDED|['
	. join(', ', map { qq({"n": $_, "t": "'\\\\u00e9", "big": 12345678901234567890}) } 1 .. 3) . ']||',
	'compressed lines, with all digits');
machine('values', '{"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW", "CSVDelimiter": "SEMICOLON"}');
store('values.gz', gzip("\xEF\xBB\xBFa;b\n1;\"2\n3\"\n4\n\n5;6;7\n"));
is(run_task($node, 'values', '{"key": "values.gz"}'),
	'SUCCEEDED|[{"a": "1", "b": "2\n3"}, {"a": "4", "b": ""}, {"a": "5", "b": "6"}]||', 'compressed values');
store('plain', "a;b\n1;2\n");
is(run_task($node, 'values', '{"key": "plain"}'), 'SUCCEEDED|[{"a": "1", "b": "2"}]||', '... and plain ones');
store('values.gz', substr gzip("a;b\n1;2\n"), 0, 20);
like(run_task($node, 'values', '{"key": "values.gz"}'),
	qr{^FAILED\|\|States\.ItemReaderFailed\|.+ Object: 'lake/values\.gz'\.$}, '... of which the end is missing');
is(stop_worker($worker), 0, 'the worker leaves');

# --- many rows, a worker that dies in the middle, and one that nobody has started

my $rows = 30_000;
store('many.gz', gzip(join '', map { qq({"n": $_, "text": ") . 'x' x 200 . qq("}\n) } 1 .. $rows));
machine('many', '{"InputType": "JSONL"}',
	fields => '"ItemBatcher": {"MaxItemsPerBatch": 10000}, "ResultSelector": {"batches.$": "States.ArrayLength($)"},');
$worker = start_worker($node, '-a', 'items:program', '--program', "$home/map-items.mjs", '--pass-env', 'PG*');
my ($id, $sent);
# Where all items were there before a look at them has seen some, another execution is tried.
for my $try (1 .. 5)
{
	$id = $node->safe_psql('postgres', q(SELECT sf_start('many', '{"key": "many.gz"}')));
	wait_for('some items are there', sub { $node->safe_psql('postgres',
		"SELECT items > 0 FROM sf_map_runs WHERE execution_id = '$id'") eq 't' });
	stop_worker($worker, 'KILL');
	$sent = $node->safe_psql('postgres', "SELECT items FROM sf_map_runs WHERE execution_id = '$id'");
	last if $sent < $rows || $try == 5;
	$worker = start_worker($node, '-a', 'items:program', '--program', "$home/map-items.mjs", '--pass-env', 'PG*');
}
cmp_ok($sent, '<', $rows, "a worker is killed after $sent items");
$worker = start_worker($node, '-a', 'items:program', '--program', "$home/map-items.mjs", '--pass-env', 'PG*');
is($node->safe_psql('postgres', "SELECT sf_await('$id', '180 s')"), 'SUCCEEDED', 'the next one reads them all');
is($node->safe_psql('postgres', "SELECT output FROM sf_executions WHERE execution_id = '$id'"), '{"batches": 3}',
	'... and each is an item once');
is($node->safe_psql('postgres', "SELECT items, items_succeeded FROM sf_map_runs WHERE execution_id = '$id'"),
	"$rows|$rows", '... as the run says');
is(stop_worker($worker), 0, 'its worker leaves');

$id = $node->safe_psql('postgres', q(SELECT sf_start('some', '{"key": "zstd"}')));
wait_for('the task is queued', sub { $node->safe_psql('postgres',
	q(SELECT queued FROM sf_activities WHERE activity = 'items')) eq '1' });
is($node->safe_psql('postgres', "SELECT status, waiting_on FROM sf_executions WHERE execution_id = '$id'"),
	'RUNNING|task "Map" handed out', 'without a worker the Map waits');
$node->restart;
$worker = start_worker($node, '-a', 'items:program', '--program', "$home/map-items.mjs", '--pass-env', 'PG*');
is($node->safe_psql('postgres', "SELECT sf_await('$id', '180 s')"), 'SUCCEEDED',
	'... also over a restart of the server');
is(stop_worker($worker), 0, 'its worker leaves');

$node->stop;
done_testing();
