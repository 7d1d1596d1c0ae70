# An owner does to the others what he may: half of their executions take at most twice as long as without him, and none
# of them waits for a place that he has taken.
#
# Runs alone.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Utils;
use SfHostile;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.max_workers = 4\nfsync = off\n");
my $seconds = full(6, 30);
$node->safe_psql('postgres', <<"EOS");
CREATE ROLE victim LOGIN;
CREATE SCHEMA victim AUTHORIZATION victim;
SET SESSION AUTHORIZATION victim;
CREATE FUNCTION victim.job(payload jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT \$1';
SELECT sf_create_state_machine('victim', '{"StartAt": "A", "States": {
	"A": @{[ task('victim.job', 'B') ]}, "B": @{[ task('victim.job', 'C') ]}, "C": @{[ task('victim.job') ]}}}');
SELECT sf_create_state_machine('victim_limited', '{"StartAt": "A", "States": {"A": @{[ task('victim.job') ]}}}');
SELECT sf_set_limit('victim_limited', rate => 1000, per => '1 s', key => '\$.customer');
EOS

# How long an execution takes from its start to its end, for some seconds: the milliseconds of each.
sub measure
{
	my $label = shift;
	my $dir = PostgreSQL::Test::Utils::tempdir();
	append_to_file("$dir/script", <<'EOS');
\set n random(1, 100000000)
SELECT sf_start('victim', '{"n": 1}') AS id \gset
SELECT sf_await(:id);
SELECT sf_start('victim_limited', jsonb_build_object('customer', :n::integer)) AS id \gset
SELECT sf_await(:id);
EOS
	system_or_bail('pgbench', '-n', '-M', 'extended', '-c', 2, '-R', 100, '-T', $seconds, '-l', '--log-prefix', "$dir/log", '-U', 'victim', '-f', "$dir/script",
		'-h', $node->host, '-p', $node->port, 'postgres');
	# Each line: client, number, microseconds, … The time behind schedule is in it.
	my @times = map { (split)[2] / 1000 } map { split /\n/, slurp_file($_) } glob "$dir/log.*";
	note(sprintf('%s: %d pairs of executions, p50 %.1f ms, p95 %.1f ms', $label, scalar @times, percentile(0.5, @times), percentile(0.95, @times)));
	return @times;
}

measure('warm');
my @alone = measure('alone');
admit_hostile($node, full(5000, 20000));
start_hostile($node, $seconds + 60, 20);
my @beside = measure('beside the hostile owner');
ok(SfHostile::hostile_runs($node), 'he has gone on all the time');
stop_hostile($node);
push @alone, measure('without his sessions');
my ($alone, $beside) = map { percentile(0.5, @$_) } \@alone, \@beside;
# On a machine of two processors, a turn of another process is milliseconds.
cmp_ok($beside, '<=', 2 * $alone + 4, sprintf('p50 of the others: %.1f ms, without him %.1f ms', $beside, $alone));
cmp_ok(percentile(0.99, @beside), '<', 2000, sprintf('p99 of the others: %.1f ms', percentile(0.99, @beside)));
is($node->safe_psql('postgres', q{SELECT count(*) FROM sf_executions WHERE state_machine LIKE 'victim%' AND status <> 'SUCCEEDED'}), '0',
	'and nothing of theirs failed');
is($node->safe_psql('postgres', 'SELECT * FROM sf_check()'), '', 'the tables hold together');
$node->stop;
done_testing();
