# What is changed with a preview, actions on all executions that a filter has, searches inside of executions and views
# in the address, in a browser: by keyboard, and with axe-core. Answers that overtake each other, errors, and what was
# entered when a page is drawn anew.
# needs: hold label limit trace rule
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
in_browser($node, $gateway, 'edit.py', "$PostgreSQL::Test::Utils::tmp_check/console", $axe);
in_browser($node, $gateway, 'many.py', "$PostgreSQL::Test::Utils::tmp_check/console", $axe);
in_browser($node, $gateway, 'races.py');
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
