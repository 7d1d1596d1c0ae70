# An archive is read back with DuckDB by the statements that docs/how-to/archive.md prints.
# needs: archive
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use IPC::Run ();
use PostgreSQL::Test::Utils;
use SfArchive;
use SfTest;
use SfWorker;
use Test::More;

my $clients = "$FindBin::Bin/../../clients";
plan skip_all => 'the tests of @duckdb/node-api are MISSING: npm could not install it below test/clients'
  unless -d "$clients/node_modules/\@duckdb/node-api";
my $node = new_node('main', conf => 'sfflow.purge_interval = 1s');
my ($folder, $parquet) = map { tempdir(CLEANUP => 1) } 1 .. 2;
keeping_machine($node, 'order');
start_old($node, 'order', q{SELECT jsonb_build_object('total', i) || CASE WHEN i % 10 = 0 THEN '{"fail": true}'
	ELSE '{}' END::jsonb FROM generate_series(1, 30) i});
my $name = $node->safe_psql('postgres', q{SELECT min(name) FROM sf_executions});
my $history = $node->safe_psql('postgres', qq{SELECT string_agg(type, ' ' ORDER BY id) FROM sf_history
	WHERE execution_id = 'order:$name'});
is(wait_worker(start_worker($node, '-a', 'keep:archive', '--archive', $folder, '--once')), 0, 'the archive is written');
my ($file) = glob "$folder/data/*";
system('cp', $file, $file =~ s/\.jsonl/-left.jsonl/r) == 0 or die 'cp';	# as a crash leaves it, without a manifest

# The page with the names of this test.
my $page = slurp_file("$FindBin::Bin/../../../docs/how-to/archive.md");
is($page =~ s/name = '…'/name = '$name'/, 1, 'the page asks for one history');
is($page =~ s/NegativeTotal' *;/No';/, 1, '... and for one error');
append_to_file("$folder.md", $page);
my ($out, $err) = ('', '');
ok(IPC::Run::run([ 'node', "$clients/archive-reader.mjs", "$folder.md", $folder, $parquet ], '<', '/dev/null',
	'>', \$out, '2>', \$err, IPC::Run::timeout(120)), 'the statements of the page run') or diag $err;
unlink "$folder.md";
my $result = JSON::PP->new->utf8->decode($out);
my (undef, $statuses, $totals, $events, $states) = @{ $result->{answers} };
is_deeply({ map { $_->{status} => $_->{'count_star()'} } @$statuses }, { SUCCEEDED => 27, FAILED => 3 },
	'executions by status: those that manifests name');
is(join(' ', sort map { $_->{total} } @$totals), '10 20 30', 'a value of inputs');
is(join(' ', map { $_->{type} } sort { $a->{id} <=> $b->{id} } @$events), $history, 'the history of one');
is_deeply({ map { $_->{state} => $_->{'count_star()'} } @$states }, { C => 30, P => 27, F => 3 }, 'times of states');
my ($month) = map { $_->{month} } @{ $result->{months} };
like($month, qr/^\d{4}-\d\d$/, 'Parquet has a folder for each month');
my %written;
$written{ $_->{status} } += $_->{n} for @{ $result->{months} };
is_deeply(\%written, { SUCCEEDED => 27, FAILED => 3 }, '... with all executions');
no_surprises($node);
$node->stop;
done_testing();
