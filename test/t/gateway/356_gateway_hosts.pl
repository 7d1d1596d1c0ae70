# sfgateway and hosts of databases: a name server that does not answer stops nothing, names are found as libpq finds
# them, and a host that goes without a word is noticed. test/tools/hosts.c has the names.
# needs: node
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $library = "$PostgreSQL::Test::Utils::tmp_check/hosts-$$.so";
system_or_bail('gcc', '-std=gnu11', '-O1', '-shared', '-fPIC', '-o', $library, "$FindBin::Bin/../../tools/hosts.c",
	'-ldl');
my $names = "$PostgreSQL::Test::Utils::tmp_check/hosts-$$.log";
my @stopped;    # processes that the test has stopped by a signal
END { kill 'CONT', @stopped if @stopped }

my $node = new_node('main', conf => "listen_addresses = '127.0.0.1'\nsfflow.node_timeout = 1s\n");
my $port = $node->port;
my $there = "port=$port dbname=postgres";
$node->safe_psql('postgres', q{CREATE ROLE viewer LOGIN; CREATE ROLE gate LOGIN});

# Start a gateway that has these names.
sub with_names
{
	my (%how) = @_;
	unlink $names;
	append_to_file($names, '');
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{HOSTS_LOG} = $names;
	return start_gateway($node, %how, unready => 1, asan => 'verify_asan_link_order=0');
}

# How often a name was looked up, by which thread.
sub looked_up
{
	my ($thread, $name) = @_;
	return scalar(() = slurp_file($names) =~ /^\Q$thread $name\E$/mg);
}

# The longest time that the gateway takes to answer within some seconds.
sub slowest
{
	my ($gateway, $seconds) = @_;
	my ($slowest, $end) = (0, time + $seconds);
	while (time < $end)
	{
		my $begun = time;
		return 1000 if curl($gateway, '/healthz', '--max-time', 20)->{status} != 200;
		my $took = time - $begun;
		$slowest = $took if $took > $slowest;
		sleep 0.05;
	}
	return $slowest;
}

# --- nodes with names

my %address = (1 => 'dead.test', 2 => 'slow.test', 3 => 'two.test', 4 => 'none.test', 5 => '127.0.0.1',
	6 => 'dead.test,127.0.0.1');
# sf_add_node takes none that it cannot ask.
my $rows = join ', ', "(0, 'main', NULL)", map { "($_, 'node$_', 'host=$address{$_} $there')" } sort keys %address;
$node->safe_psql('postgres', <<"EOQ");
CREATE SCHEMA stub;
CREATE FUNCTION stub.sf_prometheus() RETURNS text LANGUAGE sql AS \$\$ SELECT '' \$\$;
CREATE FUNCTION stub.sf_node_addresses(OUT node int, OUT name text, OUT dsn text) RETURNS SETOF record LANGUAGE sql
	AS \$\$ VALUES $rows \$\$;
EOQ
my $gateway = with_names(schema => 'stub', nodes => 'on', 'connect-timeout' => '3s',
	'metrics-dsn' => $node->connstr('postgres') . ' user=postgres');
ok(wait_for('a name is looked up', sub { looked_up('thread', 'dead.test') || looked_up('main', 'dead.test') }),
	'a name server does not answer');
cmp_ok(slowest($gateway, 4), '<', 10, '... nobody waits for it');
my $up = sub { join ' ', curl($gateway, '/metrics')->{body} =~ /^sfgateway_node_up\{node="(\d)"\} 1$/mg };
ok(wait_for('nodes', sub { $up->() eq '2 3 5 6' }), 'nodes with an address are found, also one whose name takes long')
  or diag $up->(), gateway_log($gateway);
like(gateway_log($gateway), qr/"cannot connect","reason":"host \\"$_->[0]\\" has no address: $_->[1]"/,
	"... and the log says why $_->[0] is not")
  for [ 'dead.test', 'no name server has answered in time' ], [ 'none.test', 'Name or service not known' ];
is(looked_up('thread', 'dead.test'), 1, 'a name that is looked up already is not looked up again');
cmp_ok(looked_up('thread', $_), '>', 0, "$_ is looked up by a thread") for qw(slow.test two.test none.test);
is(join(' ', sort map { /^main (\S+\.test)/ ? $1 : () } split /\n/, slurp_file($names)), '', '... none in the loop');
is(looked_up('thread', '127.0.0.1'), 0, 'an address needs no thread');
my %set = map { $_ => 1 } slurp_file($names) =~ /^tcp (.*)$/mg;
is(join(', ', sort keys %set), 'count 3, idle 30, interval 10, user_timeout 60000',
	'a host that goes without a word is noticed in a minute, as the system is told');
my $begun = time;
stop_gateway($gateway);
cmp_ok(time - $begun, '<', 20, '... without waiting for the name');

# --- the gateway's own database, by a file of services; a role signs in there

my $services = "$PostgreSQL::Test::Utils::tmp_check/services-$$.conf";
append_to_file($services, "[shop]\nhost=two.test\nport=$port\ndbname=postgres\n");
{
	local $ENV{PGSERVICEFILE} = $services;
	$gateway = with_names(dsn => 'service=shop user=postgres tcp_user_timeout=7000', 'console-trust' => 'on');
}
ok(wait_for('the gateway is ready', sub { curl($gateway, '/readyz')->{status} == 200 }),
	'the host of a service is looked up');
my $signed_in = sign_in($gateway, 'viewer', 'secret');
ok(defined $signed_in, '... and a role signs in there');
is(looked_up('main', 'two.test'), 0, '... not in the loop');
like(slurp_file($names), qr/^tcp user_timeout 7000$/m, 'settings of the connection string win');
unlike(slurp_file($names), qr/^tcp user_timeout 60000$/m, '... over those of the gateway');
stop_gateway($gateway);

# --- more names than are looked up at the same time

$gateway = with_names(dsn => "$there user=postgres host=" . join(',', map { "dead$_.test" } 1 .. 100),
	'metrics-dsn' => "$there user=postgres host=late.test", 'connect-timeout' => '1s');
ok(wait_for('too many', sub {
	gateway_log($gateway) =~ /host \\"late.test\\" has no address: too many names are looked up at the same time/ }),
	'there are too many names: one more has no address');
cmp_ok(slowest($gateway, 3), '<', 10, '... and nobody waits');
is(scalar(() = slurp_file($names) =~ /^thread /mg), 80, '... while so many are looked up');
is(json(curl($gateway, '/console/login', '-H', 'Content-Type: application/json', '-H', "Origin: $gateway->{url}", '-d',
	'{"role": "viewer", "password": "secret"}')->{body})->{error}{message}, 'there is no connection to the database',
	'who signs in is told');
stop_gateway($gateway);

# --- the database accepts and says nothing, and nobody asks it for anything

$gateway = start_gateway($node, user => 'gate', 'connect-timeout' => '1s');
@stopped = split /\n/, $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE usename = 'gate'});
push @stopped, split /\n/, slurp_file($node->data_dir . '/postmaster.pid') =~ s/\n.*//sr;
kill 'STOP', @stopped;
ok(wait_for('not ready', sub { curl($gateway, '/readyz')->{status} == 503 }, 40),
	'the database says nothing: the gateway notices');
like(gateway_log($gateway), qr/"it has not answered in time"/, '... as it has asked');
kill 'CONT', @stopped;
@stopped = ();
ok(wait_for('ready', sub { curl($gateway, '/readyz')->{status} == 200 }), 'it goes on: the gateway is ready');
stop_gateway($gateway);

no_surprises($node);
$node->stop;
done_testing();
