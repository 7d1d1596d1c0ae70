# A limit that was lowered: what open transactions have above it counts until they end, and a step that begins under it
# costs no more for what else is locked on the server.
# needs: limit
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use List::Util qw(min);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 1\nmax_locks_per_transaction = 300\n");
$node->safe_psql('postgres', <<'EOS');
SELECT sf_disable();
CREATE FUNCTION nothing() RETURNS void LANGUAGE sql AS '';
SELECT sf_create_state_machine('m', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.nothing",
	"End": true}}}'),
	sf_create_state_machine('same', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.nothing",
		"End": true}}}');
SELECT sf_set_limit('m/T', max_running => 4), sf_set_limit('same/T', max_running => 2);
SELECT count(sf_start(machine, '{}', n::text)) FROM generate_series(1, 1500) AS n,
	unnest(ARRAY['m', 'same']) AS machine;
EOS

# --- what is locked above the limit

my @sessions = map { $node->background_psql('postgres') } 1 .. 4;
$sessions[ $_ - 1 ]->query_safe("BEGIN; SELECT sf_run('m:$_')") for 1 .. 4;
$node->safe_psql('postgres', "SELECT sf_set_limit('m/T', max_running => 2)");
my $n = 5;
# Does one more begin?  What waits is stopped, so that the next one has none before it.
sub begins
{
	my $status = $node->safe_psql('postgres', "SELECT sf_run('m:$n')");
	$node->safe_psql('postgres', "SELECT sf_stop('m:$n')") if $status ne 'SUCCEEDED';
	$n++;
	return $status eq 'SUCCEEDED' ? 1 : 0;
}
for my $open (reverse 0 .. 4)
{
	is(begins(), $open < 2 ? 1 : 0, "$open open transactions have slots: "
		. ($open < 2 ? 'one more begins' : 'none begins'));
	is(begins(), $open < 2 ? 1 : 0, '... and the same at the next look');
	(shift @sessions)->query_safe('COMMIT') if @sessions;
}

# --- what it costs: beside many other locks, as much as under a limit that was not lowered

my $locks = $node->background_psql('postgres');
$locks->query_safe('SELECT count(pg_advisory_lock(n)) FROM generate_series(1, 20000) AS n');
is($node->safe_psql('postgres', "SELECT highest > max_running FROM _sfflow.run_limit WHERE name = 'm'"), 't',
	'slots above the limit may be in use still');
my $seconds = <<'EOS';
DO $$
DECLARE
	began timestamptz;
BEGIN
	FOR i IN 1 .. 5 LOOP
		began := clock_timestamp();
		-- in the order of the queue in which those of one transaction are from the beginning
		FOR n IN 100 * i .. 99 + 100 * i LOOP
			IF sf_run('NAME:' || n) <> 'SUCCEEDED' THEN
				RAISE 'NAME:% has not begun', n;
			END IF;
		END LOOP;
		RAISE INFO '%', extract(epoch FROM clock_timestamp() - began);
	END LOOP;
END $$;
EOS
my %least;
for my $name ('same', 'm')
{
	$node->safe_psql('postgres', "SELECT sf_run('$name:' || n) FROM generate_series(1, 99) AS n");
	my ($out, $err) = ('', '');
	$node->psql('postgres', $seconds =~ s/NAME/$name/r, stdout => \$out, stderr => \$err);
	$least{$name} = min($err =~ /INFO:\s+([\d.]+)/g);
}
note("a hundred steps take $least{same} s, under a lowered limit $least{m} s");
cmp_ok($least{m}, '<', 5 * $least{same}, 'a step under a lowered limit does not read all locks of the server');
$node->stop;

done_testing();
