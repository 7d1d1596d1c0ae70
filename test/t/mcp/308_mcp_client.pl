# The Model Context Protocol's own client for JavaScript at sfgateway's endpoint for agents: with an access key, without
# one, and one that looks for OAuth. docs/mcp.md tells what it finds.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;

my $clients = "$FindBin::Bin/../../clients";
plan skip_all => 'the tests of @modelcontextprotocol/sdk are MISSING: npm could not install it below test/clients'
  unless -d "$clients/node_modules/\@modelcontextprotocol/sdk";
my $node = new_node('main');
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE gateway LOGIN;
GRANT EXECUTE ON FUNCTION sf_access_key TO gateway;
CREATE ROLE reader LOGIN;
GRANT reader TO gateway;
CREATE FUNCTION public.load(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS
	$$BEGIN RAISE EXCEPTION 'the file is empty'; END$$;
SELECT sf_create_state_machine('nightly',
	'{"StartAt": "Load", "States": {"Load": {"Type": "Task", "Resource": "sql:public.load", "End": true}}}');
SELECT sf_grant('READ', 'nightly', 'reader');
SELECT sf_start('nightly', '{}', 'bad');
SQL
is($node->safe_psql('postgres', q(SELECT sf_await('nightly:bad', '3 min'))), 'FAILED', 'an execution fails');
my $key = $node->safe_psql('postgres', q(SELECT * FROM sf_create_access_key('reader'))) =~ s/\|/:/r;
my $gateway = start_gateway($node, user => 'gateway', mcp => 'on');
my ($out, $err) = ('', '');
my $good = IPC::Run::run([ 'node', "$clients/agent.mjs", "$gateway->{url}/mcp", $key ], '<', '/dev/null', '>', \$out,
	'2>', \$err, IPC::Run::timeout(120));
for (split /\n/, $out)
{
	if (/^(not )?ok \d+ - (.*)/) { ok(!$1, $2) }
	elsif (/^# got/) { diag $_ }
	elsif (/^#/) { note $_ }
}
ok($good, 'the client ends orderly') or diag $err;
like($out, qr/^1\.\.\d+$/m, 'and did everything');
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
