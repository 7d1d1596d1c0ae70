# The export of spans: nothing is lost or given out twice, whichever side dies; several exporters share the work; who
# may take spans; what becomes of a dump; all of it with sfgateway and a collector.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfCollector;
use SfGateway;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 2\n");
my $context = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

sub sql { return $node->safe_psql('postgres', shift) }
sub taken { return sql(q{SELECT count(*), count(DISTINCT export_no) FROM } . shift) }

sql(q{SELECT sf_create_state_machine('plain', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');
	CREATE TABLE got (export_no bigint, spans jsonb, by text)});

# A run that ends after the query of the exporter has begun has all its spans.
my $gate = $node->background_psql('postgres');
$gate->query_safe('SELECT pg_advisory_lock(1)');
my $late = $node->background_psql('postgres');
$late->query_until(qr/begins/, <<'EOS');
\echo begins
CREATE TABLE late AS SELECT t.* FROM pg_advisory_lock(1) l, LATERAL sf_take_spans(100 + length(l::text), '1 hour') t;
EOS
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'advisory'}),
	'the query of an exporter has begun');
sql(qq{SELECT sf_start('plain', '{}', options => '{"name": "late", "trace": "$context"}')});
sql(q{SELECT sf_await('plain:late', '180 s')});
$gate->quit;
$late->query_safe('SELECT 1');
$late->quit;
is(sql('SELECT jsonb_array_length(spans) FROM late'), 2, 'a run that ended meanwhile is exported with each span');
sql('SELECT sf_confirm_spans(array_agg(export_no)) FROM late');

sql(qq{SELECT sf_start_many('plain', array_fill('{}'::jsonb, ARRAY[60]), NULL, options => '{"trace": "$context"}')});
sql(q{SELECT count(sf_await(execution_id, '60 s')) FROM sf_executions});

# Two exporters at a time.
my $one = $node->background_psql('postgres');
my $two = $node->background_psql('postgres');
$one->query_safe(q{BEGIN; INSERT INTO got SELECT export_no, spans, 'one' FROM sf_take_spans(20, '1 hour')});
$two->query_safe(q{BEGIN; INSERT INTO got SELECT export_no, spans, 'two' FROM sf_take_spans(20, '1 hour')});
$_->query_safe('COMMIT') for $one, $two;
is(taken('got'), '40|40', 'two exporters take different runs, and wait for nothing');
$_->quit for $one, $two;

# One that rolls back has taken nothing.
sql(q{BEGIN; SELECT count(*) FROM sf_take_spans(100, '1 hour'); ROLLBACK});
is(taken(q{sf_take_spans(100, '0')}), '20|20', 'a transaction that rolls back has taken nothing');

# The server dies after it has given spans out, and before they were confirmed.
sql(q{CREATE TABLE again AS SELECT * FROM sf_take_spans(100, '1 hour')});
$node->stop('immediate');
$node->start;
is(taken(q{sf_take_spans(100, '0')}), '0|0', 'a lease outlasts a crash');
sql(q{UPDATE _sfflow.trace_export SET lease_until = now() - interval '1 s'
	WHERE export_no IN (SELECT export_no FROM again)});
is(sql(q{SELECT count(*) FROM sf_take_spans(100, '1 hour') t JOIN again a USING (export_no)
	WHERE t.spans = a.spans}), 20,
	'when it is over, the same spans are given out');
is(sql(q{SELECT sf_confirm_spans(array_agg(export_no)) FROM again}), 20, 'they are confirmed');
is(sql(q{SELECT sf_confirm_spans(array_agg(export_no)) FROM again}), 0, '... once');
is(sql(q{SELECT sf_confirm_spans(NULL), sf_reject_spans(NULL, 'no')}), '0|0', 'nulls are none');
$node->stop('immediate');
$node->start;
is(sql('SELECT count(*) FROM _sfflow.trace_export'), 40, 'what was confirmed stays so over a crash');

# An execution that ends when the server dies is exported if it has ended.
sql(qq{SELECT sf_start_many('plain', array_fill('{}'::jsonb, ARRAY[300]), NULL, options => '{"trace": "$context"}')});
$node->stop('immediate');
$node->start;
recovered($node);
sql(q{SELECT count(sf_await(execution_id, '60 s')) FROM sf_executions});
is(sql(q{SELECT count(*) - count(DISTINCT x.execution_no) || ' ' || count(*) FROM _sfflow.trace_export x}), '0 340',
	'each run that has ended is to be exported, and once');

# Rights.
sql('CREATE ROLE exporter LOGIN');
like(($node->psql('postgres', 'SET ROLE exporter; SELECT * FROM sf_take_spans()'))[2],
	qr/permission denied for function sf_take_spans/,
	'a role without the right takes nothing');
sql('GRANT EXECUTE ON FUNCTION sf_take_spans, sf_confirm_spans, sf_reject_spans TO exporter');
is(sql(q{SET ROLE exporter; SELECT count(*) FROM sf_take_spans(5, '0'); SELECT sf_reject_spans('{}', 'x')}), "5\n0",
	'... one with it does');

# Damaged history keeps no other run from its export.
sql(q{UPDATE _sfflow.history SET body = '\x00'
	WHERE execution_no = (SELECT min(execution_no) FROM _sfflow.trace_export WHERE receives > 0)});
sql(q{UPDATE _sfflow.trace_export SET lease_until = now() WHERE status = 1});
is(taken(q{sf_take_spans(1000, '0')}), '339|339', 'a run whose history is damaged is left out');
like(sql(q{SELECT reason FROM _sfflow.rejected_trace_export}),
	qr/^its spans cannot be made: /, '... and rejected, with the reason');

# Those that go with their executions.
sql(q{SELECT sf_purge('0', 1000)});
is(sql('SELECT count(*) FROM _sfflow.trace_export'), 0, 'a purge takes the runs with it');

# A dump has what is due, and a copy exports nothing.
sql(qq{SELECT sf_start('plain', '{}', options => '{"name": "dumped", "trace": "$context"}')});
sql(q{SELECT sf_await('plain:dumped', '60 s')});
my $dump = "$PostgreSQL::Test::Utils::tmp_check/trace-$$.sql";
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'a dump');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('copy') ],
	'... is restored');
is($node->safe_psql('copy', 'SELECT count(*) FROM _sfflow.trace_export'), 1, '... with what was due');
is($node->safe_psql('copy', 'SELECT count(*) FROM sf_take_spans()'), 0, '... which it does not export');
$node->safe_psql('copy', 'SELECT sf_enable()');
is($node->safe_psql('copy', 'SELECT count(*) FROM sf_take_spans()'), 1, '... until it is driven');

# sfgateway exports what runs, while it and the server die; the collector has each span, and no other.
sql(q{SELECT sf_confirm_spans(array_agg(export_no)) FROM _sfflow.trace_export});
sql(q{SELECT sf_create_state_machine('tree', '{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true,
	"ItemProcessor": {"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"},
	"B": {"Type": "Task", "Resource": "sql:query", "Parameters": {"Statement": "SELECT 1", "Arguments": []},
	"End": true}}}}}}')});
my $collector = start_collector();
my $gateway = start_gateway($node, otlp => $collector->{url}, 'otlp-interval' => '200ms');
my $n = 0;
sub start_some
{
	for (1 .. 20)
	{
		my $options = '{"name": "' . $n++ . qq(", "trace": "$context"});
		sql("SELECT sf_start('tree', '[1, 2, 3]', options => '$options')");
	}
	return;
}
start_some();
kill 'KILL', $gateway->{pid};
waitpid $gateway->{pid}, 0;
start_some();
$gateway = start_gateway($node, otlp => $collector->{url}, 'otlp-interval' => '200ms');
start_some();
$node->stop('immediate');
$node->start;
start_some();
sql(q{SELECT count(sf_await(execution_id, '60 s')) FROM sf_executions WHERE state_machine = 'tree'});
# What the gateway had taken that was killed.
sql('UPDATE _sfflow.trace_export SET lease_until = now() WHERE status = 1');
ok($node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.waiting_trace_export'),
	'sfgateway exports all runs');
my %names;
my %ids;
push @{ $ids{ lc $_->{spanId} } }, $_->{name} for spans_of(collected($collector));
$names{ $_->[0] }++ for values %ids;
is_deeply(\%names, { tree => 80, Each => 80, 'Each iteration' => 240, A => 240, B => 240, 'sql:query' => 240 },
	'the collector has each span');
stop_gateway($gateway);
done_testing();
