# The examples of the README run, one after the other, as they stand there.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main');
my @examples = slurp_file("$FindBin::Bin/../../README.md") =~ /^```sql\n(.*?)^```/msg;
cmp_ok(scalar @examples, '>', 3, 'the README has examples');

for my $example (@examples)
{
	my ($rc, $out, $err) = $node->psql('postgres', $example, on_error_stop => 1);
	is($rc, 0, 'example: ' . ($example =~ /\A(.*)$/m)[0]) or diag($err);
}

is($node->safe_psql('postgres', 'SELECT execution_id, status, redrive_count FROM sf_executions ORDER BY 1'),
	"order:A-1|SUCCEEDED|0\norder:A-2|SUCCEEDED|1", 'and do what it says');
is($node->safe_psql('postgres', 'SELECT * FROM stock ORDER BY 1'), "chair|8\nlamp|3", 'to the data too');

no_surprises($node);
$node->stop;
done_testing();
