# A Map whose states look at their item takes time in proportion to the items, however many there are.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use SfTest;
use Test::More;

my $node = new_node('main', conf => <<'EOC');
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

# Milliseconds for a Map of so many items.
my $runs = 0;

sub took
{
	my ($language, $items) = @_;
	my $id = "$language:" . ++$runs;
	$node->safe_psql('postgres', qq{SELECT sf_start('$language', jsonb_build_object('list',
		(SELECT jsonb_agg(jsonb_build_object('id', n, 'text', repeat('x', 80))) FROM generate_series(1, $items) n)),
			'$runs')});
	is($node->safe_psql('postgres', "SELECT sf_await('$id', '10 min')"), 'SUCCEEDED',
		"$language: a Map of $items items");
	my ($last, $ms) = split /\|/, $node->safe_psql('postgres', qq{SELECT output -> -1 ->> 'v',
		round(extract(epoch FROM stopped_at - started_at) * 1000) FROM sf_executions WHERE execution_id = '$id'});
	is($last, $items, "... has seen the last one, after $ms ms");
	return $ms;
}

# Four times the items take four times as long, and not sixteen times. A busy machine may slow one try down.
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
