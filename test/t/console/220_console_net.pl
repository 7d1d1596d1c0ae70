# The critical path of a net in the picture of an execution, in a browser.
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
in_browser($node, $gateway, 'net.py', "$PostgreSQL::Test::Utils::tmp_check/console");
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
