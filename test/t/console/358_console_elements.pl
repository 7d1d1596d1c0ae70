# Elements of the console by themselves, in a browser: lists whose rows have the same key, dialogs that Escape closes,
# names with characters that cannot be seen, keys of an input method and of the browser; and answers that come when
# their session, their page, their tab or their dialog is over.
# needs: hold human limit
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
in_browser($node, $gateway, 'elements.py');
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
