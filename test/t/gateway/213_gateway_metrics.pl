# The metrics of sf_prometheus by sfgateway: promtool finds nothing to criticise, Prometheus scrapes them, its rules
# load. Debian's prometheus has both programs.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfGateway;
use SfTest;
use Test::More;

my $node = new_node('main');
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE metrics LOGIN;
CREATE ROLE nothing LOGIN;
CREATE FUNCTION fail(jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'no'; END $$;
SELECT sf_create_state_machine('good', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_create_state_machine('bad', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.fail",
	"End": true}}}');
SELECT sf_create_state_machine('never', '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}');
SELECT sf_grant('READ', 'good', 'metrics'), sf_grant('READ', 'bad', 'metrics'), sf_grant('READ', 'never', 'metrics');
SELECT sf_start('good', '{}') FROM generate_series(1, 20);
SELECT sf_start('bad', '{}') FROM generate_series(1, 3);
SQL
ended($node);
my $connstr = $node->connstr('postgres');
my $gateway = start_gateway($node, 'metrics-dsn' => "$connstr user=metrics",
	config => "metrics-token = token of Prometheus\n");
my @token = ('-H', 'Authorization: Bearer token of Prometheus');
is(curl($gateway, '/metrics')->{status}, 401, 'no metrics without the token');
is(curl($gateway, '/metrics', '-H', 'Authorization: Bearer x')->{status}, 401, 'nor with another one');
my $got = curl($gateway, '/metrics', @token);
is($got->{status}, 200, 'with it');
is($got->{headers}{'content-type'}, 'text/plain; version=0.0.4; charset=utf-8', 'their type');
my $text = $got->{body};
like($text, qr/^sfflow_executions_started_total\{state_machine="good"\} 20$/m, 'a counter');
like($text, qr/^sfflow_executions_failed_total\{state_machine="bad"\} 3$/m, 'of failures');
like($text, qr/^sfflow_executions_succeeded_total\{state_machine="bad"\} 0$/m, 'that is 0');
like($text, qr/^sfflow_execution_duration_seconds_bucket\{state_machine="good",le="86400"\} 20$/m, 'a bucket');
like($text, qr/^sfflow_execution_duration_seconds_bucket\{state_machine="good",le="\+Inf"\} 20$/m, 'the last one');
like($text, qr/^sfflow_execution_duration_seconds_count\{state_machine="good"\} 20$/m, 'is the count');
my ($sum) = $text =~ /^sfflow_execution_duration_seconds_sum\{state_machine="good"\} (\S+)$/m;
cmp_ok($sum, '>', 0, 'the sum');
my @buckets = $text =~ /^sfflow_execution_duration_seconds_bucket\{state_machine="good",le="[^"]+"\} (\d+)$/mg;
is(scalar @buckets, 18, 'all buckets');
is("@buckets", join(' ', sort { $a <=> $b } @buckets), 'are cumulative');
like($text, qr/^sfflow_health_problems \d+$/m, 'a gauge');

# What others may read.
is($node->safe_psql('postgres', 'SET ROLE nothing; SELECT sf_prometheus()') =~ /state_machine=/ ? 1 : 0, 0,
	'a role without READ sees no machine');


# promtool and Prometheus.
my ($out, $err) = ('', '');
ok(IPC::Run::run([ 'promtool', 'check', 'metrics' ], '<', \$text, '>', \$out, '2>', \$err), 'promtool finds nothing')
	or diag $out, $err;
is("$out$err", '', 'at all');
my $docs = "$FindBin::Bin/../../../docs/monitoring";
ok(IPC::Run::run([ 'promtool', 'check', 'rules', "$docs/alerts.yml" ], '<', '/dev/null', '>', \$out, '2>', \$err),
	'the rules are good') or diag $out, $err;
my $dashboard = json(slurp_file("$docs/dashboard.json"));
my @queries = map { $_->{expr} } map { @{ $_->{targets} } } @{ $dashboard->{panels} };
cmp_ok(@queries, '>', 4, 'the dashboard has queries');
for my $name (sort map { /\b(sfflow_\w+)/g } @queries, slurp_file("$docs/alerts.yml"))
{
	like($text, qr/^$name\b/m, "$name is a metric");
}

my $dir = PostgreSQL::Test::Utils::tempdir();
my $port = free_port();
append_to_file("$dir/token", 'token of Prometheus');
append_to_file("$dir/prometheus.yml", <<"YML");
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ["$docs/alerts.yml"]
scrape_configs:
- job_name: sfflow
  authorization: {credentials_file: $dir/token}
  static_configs: [{targets: ["127.0.0.1:$gateway->{port}"]}]
YML
my $prometheus = fork // die "fork: $!";
if ($prometheus == 0)
{
	open STDOUT, '>', "$dir/log";
	open STDERR, '>&', \*STDOUT;
	exec 'prometheus', "--config.file=$dir/prometheus.yml", "--storage.tsdb.path=$dir/data",
		"--web.listen-address=127.0.0.1:$port" or POSIX::_exit(98);
}

# Ask Prometheus; gives the value of the first series.
sub prometheus
{
	my $answer = json(curl($gateway, "http://127.0.0.1:$port/api/v1/query", '-G', '--data-urlencode',
		'query=' . shift)->{body});
	return ref $answer ? $answer->{data}{result}[0]{value}[1] : undef;
}
ok(wait_for('a scrape', sub { (prometheus('up') // 0) eq '1' }), 'Prometheus scrapes') or diag slurp_file("$dir/log");
# A scrape that takes longer than a second, as on a busy machine, has failed: what was there is not shown until the next
# one.
sub value_of
{
	my $query = shift;
	my $value;
	wait_for($query, sub { defined($value = prometheus($query)) });
	return $value;
}
is(value_of('sfflow_executions_started_total{state_machine="good"}'), '20', 'and has the counter');
is(value_of('sum(sfflow_execution_duration_seconds_count)'), '23', 'and the histogram');
my $median = value_of(
	'histogram_quantile(0.5, sum by (le) (sfflow_execution_duration_seconds_bucket{state_machine="good"}))');
cmp_ok($median // 0, '>', 0, 'whose median is a time');
# rate() needs two scrapes
ok(wait_for('a second scrape', sub { (prometheus('count_over_time(up[1m])') // 0) >= 2 }), 'and scrapes again');
ok(defined value_of($_), "the dashboard's query has a value: $_")
	for map { s/\[\$__rate_interval\]/[1m]/gr =~ s/\$state_machine/.*/gr } @queries;
kill 'TERM', $prometheus;
waitpid $prometheus, 0;
stop_gateway($gateway);
$node->stop;
done_testing();
