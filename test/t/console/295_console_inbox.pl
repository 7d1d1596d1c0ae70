# The inbox of the console: tasks of people, by keyboard alone, what is refused at which field, what others do
# meanwhile, and axe-core in light and dark, wide and narrow.
# needs: human hold
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
in_browser($node, $gateway, 'inbox.py', "$PostgreSQL::Test::Utils::tmp_check/console", $axe);
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
