# Pages that compare runs: two executions beside each other, and the last runs of a machine as a grid, with the mouse
# and by keyboard.
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
in_browser($node, $gateway, 'compare.py', "$PostgreSQL::Test::Utils::tmp_check/console");
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
