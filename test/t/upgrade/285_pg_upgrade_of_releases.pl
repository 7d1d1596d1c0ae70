# pg_upgrade of a cluster that has the schema of a release that is out, below today's library: it passes, calls are
# refused before the update and work after it. From one major version to another: test/platforms/pg_upgrade, which this
# runs with one.
use strict;
use warnings;
use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$FindBin::Bin/../../..";
my ($current) = slurp_file("$top/sfflow.control") =~ /^default_version = '([^']*)'/m;
my @frozen = grep { $_ ne $current } map { m{frozen/([\d.]+)$} } glob "$top/test/frozen/*";
my ($bindir) = map { dirname($_) } grep { -x $_ } map { "$_/pg_upgrade" } split /:/, $ENV{PATH};

cmp_ok(scalar @frozen, '>', 0, 'a release is out');
for my $version (@frozen)
{
	my ($out, $err);
	my $result = IPC::Run::run([ "$top/test/platforms/pg_upgrade", '--from', $version, $bindir, $bindir ],
		'>', \$out, '2>', \$err);
	note($out);
	is($err, '', "$version: no errors");
	is($1, 'ok', $2) while $out =~ /^(ok|not ok) \d+ - (.*)$/mg;
	ok($result, '... all checks passed') or diag($out);
}
done_testing();
