# pg_upgrade with executions under way: nothing works in the servers that it runs. From one version to another:
# test/platforms/pg_upgrade, which this runs with one.
use strict;
use warnings;
use File::Basename qw(dirname);
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my ($bindir) = map { dirname($_) } grep { -x $_ } map { "$_/pg_upgrade" } split /:/, $ENV{PATH};
my ($out, $err);
my $result = IPC::Run::run([ "$FindBin::Bin/../../platforms/pg_upgrade", $bindir, $bindir ], '>', \$out, '2>', \$err);
note($out);
is($err, '', 'no errors');
is($1, 'ok', $2) while $out =~ /^(ok|not ok) \d+ - (.*)$/mg;
ok($result, 'all checks passed') or diag($out);

# The server as pg_upgrade runs it refuses what would be lost.
my $node = new_node('main');
$node->safe_psql('postgres', "ALTER SYSTEM SET sfflow.databases = 'none'");
$node->restart;
$node->safe_psql('postgres', q(SELECT sf_create_state_machine('m',
	'{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
	SELECT sf_start('m', '{}', 'x')));
$node->safe_psql('postgres', 'ALTER SYSTEM RESET sfflow.databases');
$node->stop;
system_or_bail('pg_ctl', '-w', '-D', $node->data_dir, '-l', $node->logfile, '-o', '-b', 'start');
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'sfflow%')), '0',
	'no launcher, no worker');
for my $call (q(SELECT sf_start('m')), q(SELECT sf_run('m:x')), q(SELECT * FROM sf_step('m:x')), 'CALL sf_run_due()')
{
	my (undef, undef, $error) = $node->psql('postgres', "\\set VERBOSITY verbose\n$call");
	like($error, qr/ERROR:  SF016: cannot execute sf_\w+\(\) while pg_upgrade runs this server/, "$call is refused");
}
like($node->safe_psql('postgres', q(SELECT detail FROM sf_health WHERE item = 'driven' AND NOT ok)),
	qr/pg_upgrade runs this server/, 'sf_health says so');
is($node->safe_psql('postgres', q(SELECT status FROM sf_executions)), 'RUNNING', 'nothing has run');
system_or_bail('pg_ctl', '-w', '-D', $node->data_dir, '-m', 'fast', 'stop');
$node->start;
ok(ended($node), 'started as usual, it goes on');
$node->stop;

done_testing();
