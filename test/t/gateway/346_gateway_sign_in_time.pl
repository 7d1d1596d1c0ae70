# A sign-in to sfgateway takes no longer than connect-timeout: one limit holds for looking the host's name up and for
# connecting. test/tools/hosts.c has the names.
# needs: node
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;
use Time::HiRes qw(time);

my $library = "$PostgreSQL::Test::Utils::tmp_check/hosts-$$.so";
system_or_bail('gcc', '-std=gnu11', '-O1', '-shared', '-fPIC', '-o', $library, "$FindBin::Bin/../../tools/hosts.c",
	'-ldl');
my $node = new_node('main');

# A server that accepts and says nothing, behind a name that takes two seconds.
my $silent = IO::Socket::INET->new(Listen => 50, LocalAddr => '127.0.0.1', Proto => 'tcp') or die "listen: $!";
my $gateway;
{
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{HOSTS_LOG} = "$PostgreSQL::Test::Utils::tmp_check/hosts-$$.log";
	$gateway = start_gateway($node, dsn => 'host=slow.test dbname=postgres user=postgres port=' . $silent->sockport,
		'connect-timeout' => '3s', unready => 1, asan => 'verify_asan_link_order=0');
}
my $begun = time;
my $answer = curl($gateway, '/console/login', '--max-time', 20, '-H', 'Content-Type: application/json', '-H',
	"Origin: $gateway->{url}", '-d', '{"role": "viewer", "password": "secret"}');
my $took = time - $begun;
is($answer->{status}, 503, 'who signs in is told that the database does not answer');
cmp_ok($took, '>', 2.5, '... after the time for a connection');
cmp_ok($took, '<', 4.2, '... which holds for its name, too');
like(gateway_log($gateway), qr/connecting takes too long/, '... and the log says why');
stop_gateway($gateway);
no_surprises($node);
$node->stop;
done_testing();
