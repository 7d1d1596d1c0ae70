# Each page of the console in a browser, in light and dark, wide and narrow: names, contrast, nothing wider than the
# window; with SFFLOW_PICTURES=1 pictures of them are in console/ of the folder that holds the test's data. Payloads
# that are hostile or large; 25,000 events within 500 ms, at best.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfConsole;
use SfGateway;
use SfTest;
use Test::More;

my $node = night_node();
my $gateway = start_gateway($node, program => 'sfgateway');
in_browser($node, $gateway, 'pages.py', "$PostgreSQL::Test::Utils::tmp_check/console");
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
