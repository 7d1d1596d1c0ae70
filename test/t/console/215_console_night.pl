# The console in a browser: an operator finds what failed in the night, redrives it and watches it end in at most four
# clicks. Actions on many executions, the keyboard, and what a role without rights sees.
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
in_browser($node, $gateway, 'night.py');
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
