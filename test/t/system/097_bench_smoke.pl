# The benchmark runs, in small, so that it can't rot; how fast anything is is not judged here.
use strict;
use warnings;
use FindBin;
use PostgreSQL::Test::Utils;
use Test::More;

my ($out, $err);
my $ok = IPC::Run::run(["$FindBin::Bin/../../bench/run", '--smoke'], '>', \$out, '2>', \$err);
ok($ok, 'every item is measured') or diag($err);
for my $figure ('insert1', 'chain5', 'chain5-raw', 'choice20', 'fan1000', 'net100', 'net500', 'start', 'start_many',
	'idle p99', 'payload 64kB',
	'timers lateness p99', 'idle-cost WAL', 'cost long1 rows', 'cost retry1 WAL', 'memory growth', 'chain5 workers=2',
	'lists of 3000 p95', 'purge last by first', 'chain5 -waiting', 'chain5 +waiting', 'idle p95 -history',
		'idle p95 +history',
	'metrics p95', 'alerts p95', 'metrics +snapshot p95', 'idle p95 -snapshot', 'chain5 +snapshot', 'long1 +snapshot',
	'backlog last by first +snapshot', 'stored by live', 'chain5 with a limit', 'chain5 with five limits CPU',
		'single beside a queue p95')
{
	like($out, qr/^\Q$figure\E +[\d.]/m, "the table has $figure");
}

$ok = IPC::Run::run(["$FindBin::Bin/../../bench/scale", '--smoke'], '>', \$out, '2>', \$err);
ok($ok, 'much of everything runs') or diag($err);
like($out, qr/^\| \d+ \Q$_\E/m, "the table has $_") for 'owners', 'keys of a rate', 'machines', 'timers',
	'MB through ten states';
like($out, qr/^\| a net of \d+ jobs/m, 'and a net');

done_testing();
