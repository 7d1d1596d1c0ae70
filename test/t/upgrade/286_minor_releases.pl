# A library that was built with headers of a later minor release than the server's says so when it is loaded, although
# it calls functions that this server does not have.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfRelease;
use SfTest;
use Test::More;

my $node = own_server('main', '');
my $running = $node->safe_psql('postgres', 'SHOW server_version_num');
my $version = int($running / 10000) . '.' . ($running % 10000);
my $later = $running + 1;
my $today = PostgreSQL::Test::Utils::tempdir() . '/sfflow.so';
get_library($node, $today);
chomp(my $schema = $node->safe_psql('postgres', 'CREATE EXTENSION sfflow; SELECT library_schema FROM sf_version()'));

# A weak symbol that no server has, as those of base/version/minor.h in a server that is too old.
put_library($node, library_of('1.0.99', $schema, "-DSF_BUILT_FOR=$later", '-include',
	"$FindBin::Bin/../../fixtures/missing_symbol.h"));
$node->stop;
is($node->start(fail_ok => 1), 0, 'a server that is too old does not start with it');
my $needed = int($later / 10000) . '.' . ($later % 10000);
ok($node->log_contains(
	qr/this library of sfflow needs PostgreSQL \Q$needed\E or later, and the server is \Q$version\E/),
	'... in a sentence');
ok($node->log_contains(qr/HINT:  Update PostgreSQL, or install a library/), '... with what to do');
ok(!$node->log_contains(qr/undefined symbol/), '... and without a symbol');

put_library($node, $today);
$node->start;
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_health WHERE NOT ok'), '0',
	'with the library for it, it does');
$node->stop;
done_testing();
