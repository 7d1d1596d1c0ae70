# Lists and sums over three servers: pages merged by key, counters and histograms summed, each role with what it may see
# on each of them. One is stopped, and one accepts and says nothing: the others answer, and a row tells who is missing.
# needs: node label
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my %node = map { $_ => new_node($_, conf => "sfflow.workers = 1\nlog_connections = on\n") } qw(c n1 n2);
my $c = $node{c};
my $stopped;    # a postmaster that a test has stopped by a signal
END { kill 'CONT', $stopped if $stopped }

# Where a server is, for another one.
my $passfile = "$PostgreSQL::Test::Utils::tmp_check/passwords";
sub dsn { return sprintf 'host=%s port=%d passfile=%s', $_[0]->host, $_[0]->port, $passfile }

sub sql { return $c->safe_psql('postgres', $_[0]) }
sub error_of { my (undef, undef, $error) = $c->psql('postgres', $_[0]); return $error }

# Ask until a condition on the answer holds, for a minute: a busy machine may need longer than a node has.
sub answers_soon
{
	my ($query, $wanted, $what) = @_;
	my $got;
	for (1 .. 40)
	{
		$got = sql($query);
		last if $got eq $wanted;
	}
	return is($got, $wanted, $what);
}

# --- which nodes there are

sql(sprintf q{SELECT sf_add_node(0, 'c'), sf_add_node(1, 'n1', '%s'), sf_add_node(2, 'n2', '%s')},
	map { dsn($node{$_}) } qw(n1 n2));
is(sql('SELECT node, name, dsn IS NULL, state FROM sf_nodes ORDER BY node'),
	"0|c|t|here\n1|n1|f|unknown\n2|n2|f|unknown", 'nodes that were not asked yet');
like(error_of(qq{SELECT sf_add_node(3, 'x', 'host=a $_')}), qr/argument dsn is not one of a node: it must not have \w+/,
	"a dsn with $_") for 'password=secret', 'user=postgres', q(options=-cwork_mem=1MB);
like(error_of(q{SELECT sf_add_node(3, 'x', 'here and there')}), qr/is not one of a node: missing "="/, 'a dsn that is none');
like(error_of(q{SELECT sf_add_node(3, 'n1', 'host=a')}), qr/node 1 has this name already/, 'a name twice');
like(error_of(q{SELECT sf_add_node(3, 'x')}), qr/node 0 has this name already, or is this database/, 'this database twice');
like(error_of(q{SELECT sf_add_node(40000, 'x', 'host=a')}), qr/must be a number from 0 to 32767/, 'a number too large');
like(error_of(q{SELECT sf_drop_node(9)}), qr/node 9 does not exist/, 'one that is not there');

# --- executions of each

for (sort keys %node)
{
	$node{$_}->safe_psql('postgres', <<'EOQ');
CREATE ROLE alice LOGIN PASSWORD 'a'; CREATE ROLE bob LOGIN PASSWORD 'b';
CREATE FUNCTION work(input jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN
	PERFORM pg_sleep((input ->> 'seconds')::float8);
	IF input ? 'bad' THEN RAISE 'it is bad'; END IF; RETURN '{}'; END $$;
EOQ
	$node{$_}->safe_psql('postgres', sprintf q{SELECT sf_create_state_machine('m', '%s')}, one_task('work'));
}
# In turns, so that each page has rows of all.
for my $n (1 .. 5)
{
	$node{$_}->safe_psql('postgres',
		qq{SELECT sf_start('m', '{"seconds": 0.00$n}', '$_-' || n) FROM generate_series(2 * $n - 1, 2 * $n) n})
	  for qw(n2 c n1);
}
$node{$_}->safe_psql('postgres', q{SELECT sf_start('m', '{"seconds": 0, "bad": 1}', 'bad')}) for qw(c n2);
ended($node{$_}) for qw(c n1 n2);

answers_soon('SELECT node, ok, node_error FROM sf_all_executions() WHERE ok IS NOT NULL', "0|t|\n1|t|\n2|t|",
	'all answer');
is(sql('SELECT string_agg(state, $$ $$ ORDER BY node), bool_and(answered_at IS NOT NULL) FROM sf_nodes'),
	'here answers answers|t', '... which sf_nodes tells');

# All pages of a size, one after the other: names, newest first.
sub pages
{
	my ($size, $more) = @_;
	my (@names, $key);
	for (1 .. 100)
	{
		my $after = defined $key ? "'$key'" : 'NULL';
		my @rows = split /\n/, sql("SELECT coalesce(ok::text, 'row'), name, page_key
			FROM sf_all_executions(page_size => $size, after_key => $after$more)");
		# A page without one of the nodes is asked for again.
		next if grep { /^false/ } @rows;
		@rows = map { [ split /\|/ ] } grep { /^row/ } @rows;
		return @names if !@rows;
		push @names, map { $_->[1] } @rows;
		$key = $rows[-1][2];
	}
	return;
}
my @wanted = ('bad', 'bad');
for my $n (reverse 1 .. 5)
{
	push @wanted, map { ("$_-" . 2 * $n, "$_-" . (2 * $n - 1)) } qw(n1 c n2);
}
is_deeply([ pages(7, '') ], \@wanted, 'pages of 7, each row once, the newest first');
is_deeply([ pages(1, q(, status => 'FAILED')) ], [ 'bad', 'bad' ], 'pages of 1 of a status');
like(error_of(q{SELECT * FROM sf_all_executions(status => 'GONE')}), qr/argument status must not be "GONE"/,
	'what is wrong is an error, and no row per node');

# --- jobs, alerts, the night

answers_soon(q{SELECT node, ok, job_id, job_status, execution_id FROM sf_all_jobs(job_status => 'failure')},
	"2||T|failure|m:bad\n0||T|failure|m:bad\n0|t|||\n1|t|||\n2|t|||", 'jobs');
$node{$_}->safe_psql('postgres', q{SELECT sf_set_labels('m:bad', '{"team": "x"}')}) for qw(c n2);
answers_soon(q{SELECT node, execution_id FROM sf_all_executions('{"team": "x"}'::jsonb) WHERE ok IS NULL},
	"2|m:bad\n0|m:bad", 'executions with a label');
answers_soon(q{SELECT node, ok, kind, execution_id FROM sf_all_alerts()},
	"2||failed|m:bad\n0||failed|m:bad\n0|t||\n1|t||\n2|t||", 'alerts');
answers_soon(q{SELECT count(*) FILTER (WHERE state = 'SUCCEEDED'), count(*) FILTER (WHERE state = 'FAILED'),
	count(DISTINCT node) FILTER (WHERE ok IS NULL), bool_and(took >= '0') FROM sf_all_night()}, '30|2|3|t',
	'the night');

# --- an answer that is none

$node{n1}->safe_psql('postgres', 'CREATE DATABASE odd');
$node{n1}->safe_psql('odd', q{CREATE SCHEMA _sfflow; CREATE FUNCTION _sfflow.node_alerts(jsonb) RETURNS jsonb
	LANGUAGE sql AS 'SELECT NULL::jsonb'; CREATE FUNCTION _sfflow.node_number(jsonb) RETURNS jsonb
	LANGUAGE sql AS $$SELECT '-5'::jsonb$$});
sql(sprintf q{SELECT sf_add_node(3, 'odd', '%s')}, dsn($node{n1}) . ' dbname=odd');
is(sql('SELECT node_error FROM sf_all_alerts() WHERE node = 3'), 'a row of its answer is null',
	'a node whose answer is null has not answered');
sql('SELECT sf_drop_node(3)');

# --- metrics: what three servers have counted is what one would have

my @of_one = map { [ split /\|/, $node{$_}->safe_psql('postgres', q{SELECT executions_started, executions_failed,
	(SELECT encode(time_histogram, 'hex') FROM _sfflow.metric_sum) FROM sf_metrics}) ] } qw(c n1 n2);
my ($started, $failed) = (0, 0);
$started += $_->[0], $failed += $_->[1] for @of_one;
is("$started $failed", '32 2', 'what each has counted');
my $histograms = join ', ', map { "('\\x$_->[2]')" } @of_one;
my $percentiles = sql("SELECT array_to_string(_sfflow.histogram_percentiles(_sfflow.histogram_sum(h::bytea)), '|')
	FROM (VALUES $histograms) v (h)");
answers_soon(q{SELECT nodes, executions_started, executions_failed, execution_time_ms_p50, execution_time_ms_p95,
	execution_time_ms_p99 FROM sf_all_metrics() WHERE ok IS NULL}, "3|32|2|$percentiles",
	'counters and histograms are summed');

# --- roles

$node{n1}->safe_psql('postgres', q{SELECT sf_grant('READ', 'm', 'alice')});
$node{n2}->safe_psql('postgres', q{SELECT sf_grant('READ', 'm', 'bob')});
append_to_file($passfile, "*:*:*:alice:a\n");
chmod 0600, $passfile;
for (qw(n1 n2))
{
	my $hba = slurp_file($node{$_}->data_dir . '/pg_hba.conf');
	unlink $node{$_}->data_dir . '/pg_hba.conf';
	$node{$_}->append_conf('pg_hba.conf', "local all alice,bob scram-sha-256\n$hba");
	$node{$_}->reload;
}
my $at = -s $node{n1}->logfile;
answers_soon(q{SET ROLE alice; SELECT count(*) FILTER (WHERE node = 1 AND ok IS NULL),
	count(*) FILTER (WHERE ok IS NULL), count(*) FILTER (WHERE ok) FROM sf_all_executions()}, '10|10|3',
	'a role sees on each node what it may see there');
my @users = slurp_file($node{n1}->logfile, $at) =~ /connection authorized: user=(\w+)/g;
is(join(' ', sort { $a cmp $b } keys %{ { map { $_ => 1 } @users } }), 'alice',
	'... where it has logged in by its own name');
is(sql(q{SET ROLE alice; SELECT count(*) FROM sf_nodes WHERE dsn IS NOT NULL}), '0',
	'... and does not see where they are');

# bob has no password in that file: no session of another role answers him, in the same session as before.
answers_soon(q{SET ROLE alice; SELECT count(*) FILTER (WHERE ok) FROM sf_all_alerts(); SET ROLE bob;
	SELECT count(*) FILTER (WHERE ok IS NULL), string_agg(node_error, ' ') LIKE '%password%' FROM sf_all_executions()},
	"3\n0|t", 'a role without a password gets no answer by the connection of another one');
like(error_of("SET ROLE alice; SELECT $_"), qr/permission denied for function/, "$_ is for administrators")
  for q{sf_add_node(7, 'x', 'host=a')}, 'sf_drop_node(1)', 'sf_node_addresses()';

# --- a node that is down, and one that accepts and says nothing

# Milliseconds of the quickest of some calls, with what they say of the nodes.
sub timed
{
	my ($wanted) = @_;
	my ($best, $said);
	for (1 .. 20)
	{
		($said, my $ms) = split /#/, sql(q{SELECT
			string_agg(node || ':' || ok, ' ' ORDER BY node) FILTER (WHERE ok IS NOT NULL) || ' '
			|| count(DISTINCT node) FILTER (WHERE ok IS NULL) || '#'
			|| round(1000 * extract(epoch FROM clock_timestamp() - now())) FROM sf_all_executions()});
		$best = $ms if $said eq $wanted && (!defined $best || $ms < $best);
		last if defined $best && $best < 2000;
	}
	return ($said, $best // 1e9);
}

$node{n1}->stop;
my ($said, $ms) = timed('0:true 1:false 2:true 2');
is($said, '0:true 1:false 2:true 2', 'one is down: the others answer');
cmp_ok($ms, '<', 2000, "... within two seconds ($ms ms)");
like(sql('SELECT state, answered_at < failed_at, error FROM sf_nodes WHERE node = 1'), qr/^silent\|t\|.*(refused|No such file)/,
	'... which sf_nodes tells');

$stopped = slurp_file($node{n2}->data_dir . '/postmaster.pid') =~ /^(\d+)/ ? $1 : die;
kill 'STOP', $stopped;
($said, $ms) = timed('0:true 1:false 2:false 1');
is($said, '0:true 1:false 2:false 1', 'one more accepts and says nothing: this one answers');
cmp_ok($ms, '<', 2000, "... within two seconds ($ms ms)");
is(sql(q{SELECT node_error FROM sf_all_alerts() WHERE node = 2 AND NOT ok}), 'it has not answered within 1500 ms',
	'... and says how long it has waited');
is(sql(q{SELECT nodes, executions_failed FROM sf_all_metrics() WHERE ok IS NULL}), '1|1',
	'... sums are those of who has answered');
like(error_of(q{SET sfflow.node_timeout = '10min'; SET statement_timeout = '200ms';
	SELECT count(*) FROM sf_all_executions()}), qr/canceling statement due to statement timeout/, 'who waits for it can be cancelled');

kill 'CONT', $stopped;
undef $stopped;
$node{n1}->start;
answers_soon('SELECT count(*) FILTER (WHERE ok), count(DISTINCT node) FROM sf_all_executions()', '3|3',
	'both are there again');
is(sql('SELECT string_agg(state, $$ $$ ORDER BY node) FROM sf_nodes'), 'here answers answers',
	'... which sf_nodes tells');

sql('SELECT sf_drop_node(1)');
is(sql('SELECT string_agg(node::text, $$ $$ ORDER BY node) FROM sf_all_executions() WHERE ok'), '0 2',
	'one that was dropped is not asked');
$_->stop for values %node;
done_testing;
