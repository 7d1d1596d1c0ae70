# Databases in any encoding of a server: sfflow is created there, and a workflow runs with texts of its own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

$PostgreSQL::Test::Utils::timeout_default = 180;

my $node = new_node('main', bare => 1);

# A word that the encoding has, in UTF-8.
my %word = (
	EUC_JP => "\xe5\xa4\x9c",
	EUC_JIS_2004 => "\xe5\xa4\x9c",
	EUC_KR => "\xeb\xb0\xa4",
	EUC_CN => "\xe5\xa4\x9c",
	EUC_TW => "\xe5\xa4\x9c",
	LATIN1 => "Bl\xc3\xbcte",
	KOI8R => "\xd0\xbd\xd0\xbe\xd1\x87\xd1\x8c",
	SQL_ASCII => 'night');

for my $encoding (sort keys %word)
{
	my $database = lc $encoding;
	my $word = $word{$encoding};
	local $ENV{PGCLIENTENCODING} = $encoding eq 'SQL_ASCII' ? 'SQL_ASCII' : 'UTF8';
	$node->safe_psql('postgres',
		"CREATE DATABASE $database ENCODING '$encoding' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
	my ($rc, undef, $error) = $node->psql($database, 'CREATE EXTENSION sfflow');
	is($error, '', "$encoding: CREATE EXTENSION") or next;
	$node->safe_psql($database, <<"EOS");
CREATE FUNCTION fail(word text) RETURNS void LANGUAGE plpgsql
	AS \$\$ BEGIN RAISE EXCEPTION '%', repeat(word, 10000); END \$\$;
SELECT sf_create_state_machine('flow', '{"StartAt": "Say", "States": {
	"Say": {"Type": "Pass", "Parameters": {"text.\$": "States.Format(''{}!'', \$.word)"}, "Next": "Fail"},
	"Fail": {"Type": "Task", "Resource": "sql:fail", "Parameters": {"word.\$": "\$.text"},
		"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "End", "ResultPath": "\$.caught"}], "End": true},
	"End": {"Type": "Succeed"}}}');
SELECT sf_start('flow', '{"word": "$word"}', 'here'), sf_run('flow:here');
SELECT sf_start('flow', '{"word": "$word"}', 'workers');
EOS
	is($node->safe_psql($database, "SELECT sf_await('flow:workers', '180 s')"), 'SUCCEEDED',
		"$encoding: workers run a workflow");
	is($node->safe_psql($database, "SELECT DISTINCT output ->> 'text',
		left((output #>> '{caught,Cause}')::json ->> 'message', 12) LIKE '$word!%' FROM sf_executions"),
		"$word!|t", "$encoding: its texts are whole");
	is($node->safe_psql($database, "SELECT count(DISTINCT convert_to(details::text, 'UTF8')) > 5 FROM sf_history"), 't',
		"$encoding: so is its history");
	($rc, undef, $error) = $node->psql($database, "SELECT sf_redrive('flow:here')");
	like($error, qr/ERROR:  Execution is SUCCEEDED.*HINT:  sf_start/s, "$encoding: so are messages");
}

$node->stop;
done_testing();
