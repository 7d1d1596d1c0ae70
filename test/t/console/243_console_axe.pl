# axe-core finds no barrier in any page of the console, in light and dark, wide and narrow.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfConsole;
use SfGateway;
use SfTest;
use Test::More;

my $axe = "$FindBin::Bin/../../console/node_modules/axe-core/axe.min.js";
plan skip_all => 'axe-core is MISSING: npm could not install it below test/console' unless -e $axe;
my $node = night_node();
my $gateway = start_gateway($node, program => 'sfgateway');
in_browser($node, $gateway, 'axe.py', "$PostgreSQL::Test::Utils::tmp_check/console", $axe);
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
