# sfworker and names of hosts of databases: a name server that does not answer keeps no task from its heartbeats, and
# names are found as libpq finds them. test/tools/hosts.c has the names.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use IO::Socket::INET;
use PostgreSQL::Test::Utils;
use SfTest;
use SfWorker;
use Test::More;
use Time::HiRes qw(sleep time);

my $library = "$PostgreSQL::Test::Utils::tmp_check/hosts-$$.so";
system_or_bail('gcc', '-std=gnu11', '-O1', '-shared', '-fPIC', '-o', $library, "$FindBin::Bin/../../tools/hosts.c",
	'-ldl');
my $names = "$PostgreSQL::Test::Utils::tmp_check/hosts-$$.log";
append_to_file($names, '');

my $node = new_node('main', conf => "listen_addresses = '127.0.0.1'\n");
my $port = $node->port;
my $user = getpwuid $<;
activity_machine($node, 'shell', fields => '"HeartbeatSeconds": 3,');
activity_machine($node, 'sql');
activity_machine($node, 'http');

# Start a worker that has these names.
sub with_names
{
	my @options = @_;
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{HOSTS_LOG} = $names;
	return start_worker($node, '-p', $port, '-U', $user, '--connect-timeout', '5s', @options);
}

# Which names were looked up, by the thread of the loop or another one.
sub looked_up
{
	my $thread = shift;
	my %found = map { $_ => 1 } slurp_file($names) =~ /^$thread (\S+\.test)$/mg;
	return join ' ', sort keys %found;
}

my $config = "$PostgreSQL::Test::Utils::tmp_check/hosts-$$.conf";
append_to_file($config, <<"EOC");
[database dead]
conninfo = host=dead.test port=$port dbname=postgres
[database none]
conninfo = host=none.test port=$port dbname=postgres
[database two]
conninfo = host=two.test port=$port dbname=postgres user=$user
EOC
my $worker = with_names('-h', 'two.test', '-a', 'shell', '-a', 'sql', '-a', 'http', '-c', '4', '--config', $config);
my $long = $node->safe_psql('postgres', q{SELECT sf_start('shell', '{"Command": "sleep 14; echo 1"}')});
ok(wait_for('a command runs', sub { worker_log($worker) =~ /task begins kind=shell/ }), 'a name with two addresses');

# Run a statement in a database.
sub statement
{
	my $database = shift;
	return run_task($node, 'sql', qq({"Database": "$database", "Statement": "SELECT 1 AS one"}));
}
my $begun = time;
like(statement('dead'), qr/^FAILED\|\|sqlclient_unable_to_establish_sqlconnection\|.*no name server has answered/,
	'a name server does not answer: a task of its database fails');
cmp_ok(time - $begun, '<', 8, '... after the time for a connection');
like(statement('none'), qr/^FAILED\|\|sqlclient_unable_to_establish_sqlconnection\|.*host .*none\.test/,
	'one whose name is unknown, too');
is(statement('two'), 'SUCCEEDED|{"Rows": [{"one": 1}], "RowCount": 1}||', 'one with a name is found');
$begun = time;
like(run_task($node, 'http', '{"ApiEndpoint": "https://dead.test/", "Method": "GET"}'),
	qr/^FAILED\|\|States\.Http\.Socket/,
	'a request to a host without a name server fails');
cmp_ok(time - $begun, '<', 8, '... after the time for a connection');
is($node->safe_psql('postgres', "SELECT sf_await('$long', '60 s')"), 'SUCCEEDED',
	'a task beside them has its heartbeats');
my $dead = $node->safe_psql('postgres',
	q{SELECT sf_start('sql', '{"Database": "dead", "Statement": "SELECT 1", "TimeoutSeconds": 1}')});
$node->safe_psql('postgres', "SELECT sf_await('$dead', '60 s')");
is($node->safe_psql('postgres', "SELECT error FROM sf_executions WHERE execution_id = '$dead'"), 'States.Timeout',
	'a task ends while its name is looked up');
is(looked_up('main'), '', 'no name is looked up in the loop');
is(looked_up('thread'), 'dead.test none.test two.test', '... all are by threads');
$begun = time;
is(stop_worker($worker), 0, 'the worker leaves');
cmp_ok(time - $begun, '<', 5, '... without waiting for a name');

# The name of the workflows' own database.
$worker = with_names('-h', 'dead.test', '-a', 'shell');
ok(wait_for('it has tried', sub { worker_log($worker) =~ /cannot connect .*dead\.test.* has no address/ }, 30),
	'the own database is not found: it is tried again');
$begun = time;
is(stop_worker($worker), 0, 'the worker leaves when it is told');
cmp_ok(time - $begun, '<', 5, '... at once');

# One time limit holds for the name and the connection: a name takes two seconds, and what it leads to says nothing.
my $silent = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', Proto => 'tcp') or die "listen: $!";
$worker = with_names('-h', 'slow.test', '-p', $silent->sockport, '-a', 'shell');
$begun = time;
ok(wait_for('it has tried', sub { worker_log($worker) =~ /connecting takes too long/ }, 30), 'a server says nothing');
cmp_ok(time - $begun, '<', 6.5, '... and name and connection have one time limit');
is(stop_worker($worker), 0, 'the worker leaves');

# The first address of a host does not answer; neither does the first of a list.
my $dark = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.9', LocalPort => $port, Proto => 'tcp')
	or die "listen: $!";
for my $list ('two.test', '127.0.0.9,127.0.0.1')
{
	$worker = with_names('-h', $list, '-a', 'shell', '--connect-timeout', '1s');
	ok(wait_for('it is connected', sub { worker_log($worker) =~ / connected / }, 30), "$list: the next one is tried");
	like(worker_log($worker), qr/connecting takes too long/, '... after the first was waited for');
	is(stop_worker($worker), 0, '... the worker leaves');
}
no_surprises($node);
$node->stop;
done_testing();
