# Templates are imported as they come: those of CDK that test/templates/cdk-programs.mjs made, and templates in YAML.
# Each machine, each resource that is missing, and each proposal is compared with test/templates/expected.txt. Proposals
# run.
use strict;
use warnings;
use utf8;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Basename qw(basename);
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $dir = "$FindBin::Bin/../../templates";
my $node = new_node('main', conf => "client_min_messages = error\n");
$node->safe_psql('postgres', 'SELECT sf_disable()');
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION tell(template text, given jsonb) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	BEGIN
		PERFORM sf_import(template, given);
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
		RETURN NEXT concat_ws(' | ', 'refused: ' || sqlstate, sqlerrm, nullif(detail, ''));
	END;
	RETURN QUERY SELECT format('%s: %s', state_machine, definition) FROM sf_state_machines WHERE is_current ORDER BY 1;
	RETURN QUERY SELECT format('  %s: %s at %s', m.resource, m.proposal, array_to_string(m.locations, ' '))
		FROM sf_missing_resources(template, given) AS m;
END $$;
SQL

my %given = ('required-parameter' => '{"Name": "worker"}', 'import-value' => '{"shared-worker": "sql:shop.work"}',
	'definition-file' => q({"Filed045ADEC8.Definition": "StartAt: A\nStates: {A: {Type: Succeed}}"}));
my $told = '';
my @files = sort glob "$dir/cdk/*.json $dir/*.yaml";
cmp_ok(@files, '>', 30, 'there are templates');
for my $file (@files)
{
	my ($name) = basename($file) =~ /^(.*)\./;
	my $text = slurp_file($file);
	for my $given ('{}', $given{$name} // ())
	{
		my ($status, $out, $err) = $node->psql('postgres',
			"BEGIN; SELECT tell(\$t\$$text\$t\$, \$g\$$given\$g\$); ROLLBACK");
		is($err, '', "$name with $given");
		$told .= "== $name" . ($given eq '{}' ? '' : " with $given") . "\n$out\n";
	}
}
open my $out, '>', "$PostgreSQL::Test::Utils::tmp_check/templates.txt" or die "templates.txt: $!\n";
print $out $told;
close $out or die "templates.txt: $!\n";
ok($told eq slurp_file("$dir/expected.txt"), 'all is as expected.txt has it')
  or diag("diff $dir/expected.txt $PostgreSQL::Test::Utils::tmp_check/templates.txt");

# What is proposed for activities, aliases and rules does what it says, and is then missed no more.
for my $name (qw(activity alias-and-version rule-events))
{
	my $text = slurp_file("$dir/cdk/$name.json");
	my $left = $node->safe_psql('postgres', <<"SQL");
BEGIN;
SELECT sf_import(\$t\$$text\$t\$) \\g /dev/null
SELECT sf_aws_install() \\g /dev/null
SELECT proposal FROM sf_missing_resources(\$t\$$text\$t\$) \\gexec
SELECT resource FROM sf_missing_resources(\$t\$$text\$t\$);
SQL
	unlike($left, qr/Activity|Alias|aws\.states|Failures/, "$name: what was proposed is there") or diag($left);
}

no_surprises($node);
done_testing();
