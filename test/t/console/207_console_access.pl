# The console without a mouse, without eyes, without colours: the order of the focus and that it is seen, what is said
# of changes, contrasts of pictures, motion, and narrow windows.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfConsole;
use SfGateway;
use SfTest;
use Test::More;

my $node = night_node();
my $gateway = start_gateway($node, program => 'sfgateway');
in_browser($node, $gateway, 'access.py');
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
