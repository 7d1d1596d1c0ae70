# Pages of the console in a browser while the database is restarted: they say since when it is down, and come back by
# themselves with their session.
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
my $gateway = start_gateway($node);
in_browser($node, $gateway, 'restart.py', "$PostgreSQL::Test::Utils::tmp_check/console",
	$node->data_dir, $node->logfile);
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
