# Pictures of a net of 60 jobs and of a machine of 300 states in a browser: zoom, overview, search of a state, keys; and
# names that are wider than most.
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
in_browser($node, $gateway, 'large_pictures.py', "$PostgreSQL::Test::Utils::tmp_check/console");
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
