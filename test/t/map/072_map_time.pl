# A Map whose states look at their item takes time in proportion to the items, however many there are.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 1
sfflow.max_workers = 1
sfflow.max_payload_bytes = 16777216
sfflow.max_history_events = 1000000
EOC

my %look = (
	JSONPath => '"QueryLanguage": "JSONPath", "Parameters": {"v.$": "$$.Map.Item.Value.id"}',
	JSONata => '"QueryLanguage": "JSONata", "Output": {"v": "{% $states.context.Map.Item.Value.id %}"}');

for my $language (sort keys %look)
{
	$node->safe_psql('postgres', qq{SELECT sf_create_state_machine('$language', '{"StartAt": "M", "States": {
		"M": {"Type": "Map", "ItemsPath": "\$.list", "End": true, "ItemProcessor": {"StartAt": "First", "States": {
			"First": {"Type": "Pass", "Result": {}, "Next": "Look"}, "Look": {"Type": "Pass", $look{$language},
				"End": true}}}}}}')});
}

# The milliseconds of CPU that the worker has used: on a busy machine a clock would measure the others.
sub cpu
{
	my $pid = $node->safe_psql('postgres', q{SELECT string_agg(pid::text, ' ') FROM pg_stat_activity
		WHERE backend_type = 'sfflow worker'});
	my @fields = split ' ', slurp_file("/proc/$pid/stat") =~ s/.*\) //sr;
	return 10 * ($fields[11] + $fields[12]);
}

# Milliseconds of CPU for a Map of so many items.
my $runs = 0;

sub took
{
	my ($language, $items) = @_;
	my $id = "$language:" . ++$runs;
	my $before = cpu();
	$node->safe_psql('postgres', qq{SELECT sf_start('$language', jsonb_build_object('list',
		(SELECT jsonb_agg(jsonb_build_object('id', n, 'text', repeat('x', 80))) FROM generate_series(1, $items) n)),
			'$runs')});
	is($node->safe_psql('postgres', "SELECT sf_await('$id', '10 min')"), 'SUCCEEDED',
		"$language: a Map of $items items");
	my $ms = cpu() - $before;
	my $last = $node->safe_psql('postgres',
		"SELECT output -> -1 ->> 'v' FROM sf_executions WHERE execution_id = '$id'");
	is($last, $items, "... has seen the last one, after $ms ms");
	return $ms;
}

# Four times the items take four times as long, and not sixteen times.
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'sfflow worker'")
	or die 'no worker';
for my $language (sort keys %look)
{
	my $ratio;
	for (1 .. 4)
	{
		my $few = took($language, 2000);
		$ratio = took($language, 8000) / ($few || 1);
		last if $ratio < 8;
	}
	cmp_ok($ratio, '<', 8, "$language: four times the items take less than eight times as long");
}

$node->stop;
done_testing();
