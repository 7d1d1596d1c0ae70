# Names and keys have locks of their own: who keeps that of one, in a transaction that stays open, keeps no other's.
# And who emits an event waits for a while only for who drops its type.
# needs: event
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 1\n");

sub sql { return $node->safe_psql('postgres', shift) }

# Two texts that a hash of PostgreSQL does not tell apart: among so many there are some.
my ($one, $other) = split /\|/, sql(<<'EOS');
SELECT min(n), max(n) FROM (SELECT 'n' || i AS n FROM generate_series(1, 400000) i) t
GROUP BY hashtext(n COLLATE "C") HAVING count(*) > 1 LIMIT 1
EOS
ok($other, "a hash of 32 bits is the same for $one and $other");
sql("SELECT sf_create_event('$one'), sf_create_event('$other')");

my $holder = $node->background_psql('postgres', on_error_die => 1);
$holder->query_safe("BEGIN; SELECT sf_drop_event('$one')");
is(sql("SET lock_timeout = '5s'; SELECT sf_emit('$other', 'k', id => 'e')"), 'e',
	'an open drop of the one does not have who emits the other wait');
# What emits the one itself waits, for no longer than it is told to.
my ($rc, $out, $err) = $node->psql('postgres',
	"\\set VERBOSITY verbose\nSET lock_timeout = '100ms'; SELECT sf_emit('$one', 'k')");
like($err, qr/ERROR:  55P03: event "$one" is being dropped by another transaction/, 'who emits it is told to try again');
($rc, $out, $err) = $node->psql('postgres',
	"\\set VERBOSITY verbose\nSET statement_timeout = '60s'; SELECT sf_emit('$one', 'k')");
like($err, qr/ERROR:  55P03: event "$one" is being dropped by another transaction/, '... also without a lock_timeout');
$holder->query_safe('ROLLBACK');
is(sql("SELECT sf_emit('$one', 'k', id => 'e')"), 'e', '... and emits it when that has ended');

# Keys of events.
my $keys = sql(<<"EOS");
BEGIN;
SELECT sf_withdraw_event('$other', '$one', 'x'), sf_withdraw_event('$other', '$other', 'x');
SELECT count(DISTINCT (classid, objid)) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'
	AND mode = 'ShareLock';
COMMIT;
EOS
like($keys, qr/^2$/m, 'keys have two locks');

$holder->quit;
$node->stop;
done_testing();
