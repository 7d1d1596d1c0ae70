# What an expression makes is bounded, early and with the error that says so, whatever the definition; and the
# process that evaluates it stays small and can be stopped.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $mb = 1024 * 1024;
my $node = new_node('main', conf => <<'EOC');
sfflow.max_payload_bytes = 4194304
EOC
$node->safe_psql('postgres', <<'EOS');
SELECT sf_disable();
CREATE FUNCTION peak() RETURNS integer LANGUAGE sql
	AS $$ SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s*([0-9]+) kB')::integer / 1024 $$;
CREATE FUNCTION times(n integer, one text, mark text DEFAULT ', ') RETURNS text LANGUAGE sql
	AS $$ SELECT string_agg(one, mark) FROM generate_series(1, n) $$;
EOS
my $n = 0;
# What evaluation may take: more than it does on a busy machine, but for what would not end without it.
our $time = '600s';

# Run a Pass state in a session of its own; gives status, error, the megabytes that it took, and the cause.
sub run_pass
{
	my ($fields, $input) = @_;
	return run_state(qq('{"Type": "Pass", "End": true}'::jsonb || ($fields)::jsonb), $input);
}

# The same with any state, an expression in SQL.
sub run_state
{
	my ($state, $input) = @_;
	my $name = 'm' . ++$n;
	my $out = $node->safe_psql('postgres', <<"EOS");
SET statement_timeout = '650 s';
SET sfflow.evaluation_timeout = '$time';
SELECT 1 FROM sf_create_state_machine('$name',
	json_build_object('StartAt', 'P', 'States', json_build_object('P', $state)));
SELECT 1 FROM sf_start('$name', $input, 'x');
SELECT 1 FROM sf_run('$name:x');
SELECT status, error, peak(), right(cause, 200) FROM sf_executions WHERE execution_id = '$name:x';
EOS
	return split /\|/, (split /\n/, $out)[-1], 4;
}

# Assert that a Pass state fails with an error and little memory. An expression of JSONata may fail since it takes too
# long.
sub bounded
{
	my ($what, $fields, $input, $error, $megabytes) = @_;
	local $time = $error eq 'States.QueryEvaluationError' ? '3s' : $time;
	my ($status, $got, $peak, $cause) = run_pass($fields, $input);
	is("$status $got", "FAILED $error", "$what: the error");
	cmp_ok($peak, '<', $megabytes, "$what: $peak MB");
	return $cause;
}

# JSONPath: fields of a Pass from an expression in SQL; a string of 4 MB to begin with.
my $big = q(jsonb_build_object('s', repeat('x', 4000000)));
my $limit = 'States.DataLimitExceeded';
my $path = sub { "jsonb_build_object('ResultPath', NULL, 'Parameters', jsonb_build_object('a.\$', $_[0]))" };

like(bounded('States.Format with its argument 250 times',
	$path->(q('States.Format(''' || times(250, '{}', '') || ''', ' || times(250, '$.s') || ')')),
	$big, $limit, 160), qr/more than 8 times the maximum number of bytes of a payload \(4194304\)/,
		'its cause names the limit');
bounded('calls side by side', $path->(q('States.Array(' || times(100, 'States.Format(''{}'', $.s)') || ')')), $big,
	$limit, 160);
bounded('calls in one another', $path->(q(repeat('States.JsonToString(', 9) || '$.s' || repeat(')', 9))),
	q(jsonb_build_object('s', repeat('"', 1900000))), $limit, 160);
bounded('States.Base64Encode nine times', $path->(q(repeat('States.Base64Encode(', 9) || '$.s' || repeat(')', 9))),
	$big, $limit, 160);
bounded('a hundred ranges', $path->(q('States.Array(' || times(100, 'States.ArrayRange(1, 999999, 1)') || ')')),
	q('{}'), $limit, 220);
bounded('numbers that are long as text', $path->(q('States.JsonToString($)')),
	q((SELECT jsonb_build_object('a', jsonb_agg(1e131071)) FROM generate_series(1, 20000))), $limit, 160);
bounded('the same in States.Format', $path->(q('States.Format(''{}'', $)')),
	q((SELECT jsonb_build_object('a', jsonb_agg(1e131071)) FROM generate_series(1, 20000))), $limit, 160);
bounded('a template with the input 144 times',
	q((SELECT jsonb_build_object('Parameters',
		jsonb_object_agg('k' || i, (SELECT jsonb_object_agg('m' || j || '.$', '$') FROM generate_series(1, 12) j)))
		FROM generate_series(1, 12) i)),
	$big, $limit, 160);
bounded('an array of all that is inside, a hundred times', $path->(q('States.Array(' || times(100, '$..*') || ')')),
	q((repeat('[', 20) || '"' || repeat('x', 1000000) || '"' || repeat(']', 20))::jsonb), $limit, 160);
my $cause = bounded('a path that leads nowhere in a large input', $path->(q('$.nothing')), $big, 'States.Runtime', 160);
cmp_ok($node->safe_psql('postgres', "SELECT length(cause) FROM sf_executions WHERE execution_id = 'm$n:x'"), '<', 34000,
	'does not repeat the input');

# JSONata.
my $jsonata = sub { "jsonb_build_object('QueryLanguage', 'JSONata', 'Output', '{% ' || $_[0] || ' %}')" };
my $query = 'States.QueryEvaluationError';
bounded('a JSONata template with the input 144 times',
	q((SELECT jsonb_build_object('QueryLanguage', 'JSONata', 'Output',
		jsonb_object_agg('k' || i, (SELECT jsonb_object_agg('m' || j, '{% $states.input %}')
		FROM generate_series(1, 12) j))) FROM generate_series(1, 12) i)),
	$big, $limit, 160);
bounded('one string a thousand times', $jsonata->(q('$map([1..1000], function($v) { $states.input.s })')), $big,
	$limit, 160);
my $grow = q($f := function($x, $n) { $n = 0 ? $x : $f({"a": $x, "b": $x}, $n - 1) };);
bounded('a tree that shares its branches', $jsonata->("'($grow \$f(1, 40))'"), q('{}'), $query, 100);
bounded('a smaller one', $jsonata->("'($grow \$f(1, 24))'"), q('{}'), $limit, 100);
bounded('its text', $jsonata->("'($grow \$string(\$f(1, 24)))'"), q('{}'), $query, 300);
my $nest = q($f := function($x, $n) { $n = 0 ? $x : $f([[$x, $x]], $n - 1) };);
bounded("its $_", $jsonata->("'($nest $_)'"), q('{}'), $query, 1300) for '$boolean($f(0, 40))', '$keys($f(0, 40))',
	'$spread($f(0, 40))', '$f(0, 40).a', '$f(0, 40) = $f(0, 40)';
bounded('$replace with a long text', $jsonata->(q('$replace($states.input.s, "x", $states.input.s)')),
	q(jsonb_build_object('s', repeat('x', 100000))), $query, 250);
bounded('$replace of a match by many', $jsonata->(q('$replace($states.input.s, /x+/, $join([1..100000].("$" & "0")))')),
	q(jsonb_build_object('s', repeat('x', 100000))), $query, 250);
bounded('$pad', $jsonata->(q('$pad("x", 2000000000)')), q('{}'), $query, 100);
bounded('$join', $jsonata->(q('$join([1..9000].$states.input.s)')), $big, $query, 300);

# ItemSelector keeps the context object of one item at a time, of each of which the input of the execution is a part.
my ($status, undef, $peak) = run_state(
	q('{"Type": "Map", "ItemsPath": "$.items", "ItemSelector": {"n.$": "$$.Execution.Input.n"}, "End": true,
	"ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Pass", "End": true}}}}'::jsonb),
	q((SELECT jsonb_build_object('n', 1, 's', repeat('x', 1000000), 'items', jsonb_agg(i))
		FROM generate_series(1, 1000) i)));
is($status, 'SUCCEEDED', 'ItemSelector of a thousand items beside an input of 1 MB');
cmp_ok($peak, '<', 160, "takes little memory: $peak MB");

# What fits is not refused: a payload as large as may be, of the values that take the most room as jsonb.
($status) = run_pass(q(jsonb_build_object('Parameters', jsonb_build_object('a.$', '$.l'))),
	q((SELECT jsonb_build_object('l', jsonb_agg(1)) FROM generate_series(1, 2000000))));
is($status, 'SUCCEEDED', 'two million numbers pass through a template');
($status) = run_pass($jsonata->(q('{"a": $states.input.l}')),
	q((SELECT jsonb_build_object('l', jsonb_agg(1)) FROM generate_series(1, 2000000))));
is($status, 'SUCCEEDED', 'and through JSONata');

$node->stop;
done_testing();
