# A move of much: a departure has as many executions as a number allows, or one with all that it has started; the
# session that brings them keeps no more than one answer in memory.
# needs: move
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $children = 600;				# a departure has 500 executions, or one family
my $most_growth = 200 * 1024;	# kB
my $conf = "sfflow.workers = 2\nsfflow.node_timeout = 30s\nshared_buffers = 16MB\nfsync = off\n";
my ($s, $t) = map { new_node($_, conf => $conf) } qw(n1 n2);

sub on { my ($node, $query) = @_; return $node->safe_psql('postgres', $query) }

my %dsn = (s => sprintf('host=%s port=%d', $s->host, $s->port), t => sprintf('host=%s port=%d', $t->host, $t->port));
on($s, qq{SELECT sf_set_node(1), sf_add_node(1, 's'), sf_add_node(2, 't', '$dsn{t}')});
on($t, qq{SELECT sf_set_node(2), sf_add_node(2, 't'), sf_add_node(1, 's', '$dsn{s}')});
on($_, <<'EOQ') for $s, $t;
SELECT sf_create_state_machine('map', '{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemsPath": "$.items",
	"End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
	"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 86400, "End": true}}}}}}');
SELECT sf_create_state_machine('one', '{"StartAt": "W", "States": {
	"W": {"Type": "Wait", "Seconds": 86400, "End": true}}}');
EOQ

# --- families

my $waits = 'SELECT count(*) FROM _sfflow.branch WHERE due_at > now() AND phase = ' . phase('WAIT');
on($s, qq{SELECT sf_start('map',
	jsonb_build_object('items', (SELECT jsonb_agg(n) FROM generate_series(1, $children) n)),
	format('{"name": "m%s", "key": "families"}', m)::jsonb) FROM generate_series(1, 2) m});
on($s, q{SELECT sf_start('one', '{}', format('{"name": "o%s", "key": "families"}', n)::jsonb)
	FROM generate_series(1, 600) n});
$s->poll_query_until('postgres', $waits, 2 * $children + 600) or die 'they do not wait';
is(on($t, q{CALL sf_move_key('families', 1)}), 2 * $children + 602, 'all come');
# a row of each is written by the transaction with which it leaves
is(on($s, q{SELECT string_agg(n::text, ' ' ORDER BY n)
		FROM (SELECT count(*) AS n FROM _sfflow.moved_execution GROUP BY xmin::text) x}),
	'100 500 601 601', 'a departure has one family, or as many executions as a number allows');
is(on($t, $waits), 2 * $children + 600, '... and all wait there');

# --- memory

on($s, q{SELECT sf_start('one',
	jsonb_build_object('x', (SELECT string_agg(md5(n::text || i), '') FROM generate_series(1, 32000) i)),
	format('{"name": "large%s", "key": "large"}', n)::jsonb) FROM generate_series(1, 32) n});
$s->poll_query_until('postgres', $waits, 32) or die 'they do not wait';
my $session = $t->background_psql('postgres');
my $pid = $session->query_safe('SELECT pg_backend_pid()');

# The most memory of its own that the session has had; kB.
sub peak { return slurp_file("/proc/$pid/status") =~ /^VmHWM:\s+(\d+) kB/m ? $1 : die 'no VmHWM' }

# the first departure has it load what it needs, and touch shared memory
$session->query_safe(q{CALL sf_move_key('families', 1)});
my $before = peak();
is($session->query_safe(q{CALL sf_move_key('large', 1)}), '32', 'executions with 32 MB of inputs come');
my $after = peak();
cmp_ok($after - $before, '<', $most_growth, "the session has grown from $before to $after kB");
$session->quit;
is(on($_, 'SELECT count(*) FROM sf_check()'), '0', 'sf_check') for $s, $t;
$_->stop for $s, $t;
done_testing;
