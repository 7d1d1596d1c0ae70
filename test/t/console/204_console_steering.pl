# The console in a browser: a page offers an action to the roles that may do it, and to no others; schedules, rules,
# limits and deadlines. Errors, and what comes late.
# needs: deadline hold label limit rule
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
in_browser($node, $gateway, 'steer.py');
in_browser($node, $gateway, 'errors.py');
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
