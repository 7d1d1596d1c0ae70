# Graphviz reads what sf_graph draws: every state is a node, Parallel and Map are boxes around theirs,
# and an execution's states have the colours of the legend.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main');
$node->safe_psql('postgres', <<'EOS');
SELECT sf_disable();
SELECT sf_create_state_machine('night', '{"StartAt": "Load", "States": {
	"Load": {"Type": "Pass", "Next": "Both <&> \"all\""},
	"Both <&> \"all\"": {"Type": "Parallel", "FailureMode": "DRAIN", "Next": "Rows", "Branches": [
		{"StartAt": "Left", "States": {"Left": {"Type": "Pass", "End": true}}},
		{"StartAt": "日本語", "States": {"日本語": {"Type": "Pass", "End": true}}}]},
	"Rows": {"Type": "Map", "ItemsPath": "$", "Next": "Ok?", "ItemProcessor": {"StartAt": "Row",
		"States": {"Row": {"Type": "Pass", "End": true}}}},
	"Ok?": {"Type": "Choice", "Choices": [{"Variable": "$[0].no", "IsPresent": true, "Next": "Never"}],
		"Default": "Bad"},
	"Never": {"Type": "Succeed"},
	"Bad": {"Type": "Fail", "Error": "Bad"}}}');
EOS
$node->safe_psql('postgres', "BEGIN; SELECT sf_start('night', '{}', 'a'); SELECT sf_run('night:a'); COMMIT");

for my $target ('night', 'night:a')
{
	my $dot = $node->safe_psql('postgres', "SELECT sf_graph('$target', 'dot')");
	my ($svg, $err);
	my $ok = IPC::Run::run([ 'dot', '-Tsvg' ], '<', \$dot, '>', \$svg, '2>', \$err);
	ok($ok && $svg =~ /<svg/, "$target: Graphviz draws it") or diag $err;
	is($err, '', "$target: without a complaint");
	my %titles = map { $_ => 1 } $svg =~ m{<text[^>]*>([^<]*)</text>}g;
	my $all = join ' ', keys %titles;
	like($all, qr/\Q$_\E/, "$target: $_ is there")
	  for 'Load', 'Left', '日本語', 'Row', 'Ok?', 'Bad', 'Never';
	cmp_ok(() = $svg =~ /class="cluster"/g, '>=', 3, "$target: Parallel and Map are boxes");
}

my $colours = sub {
	my $dot = $node->safe_psql('postgres', "SELECT sf_graph('night:a', 'dot')");
	return $dot =~ /fillcolor="?([#\w]+)/g;
};
my %different = map { $_ => 1 } $colours->();
cmp_ok(scalar keys %different, '>=', 3, 'what succeeded, failed and was not reached have colours of their own');
like($node->safe_psql('postgres', "SELECT sf_graph('night:a', 'dot')"), qr/legend/i, 'and there is a legend');
$node->stop;
done_testing();
