# Whatever is given to it, the server answers with a clear error, stays up and writes nothing.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.max_payload_bytes = 262144\n");

$node->safe_psql('postgres', <<'EOS');
CREATE ROLE clerk LOGIN;
CREATE FUNCTION echo(payload jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT payload';
CREATE FUNCTION big(payload jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT to_jsonb(repeat('x', 300000)) $$;
CREATE FUNCTION secret(payload jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT payload';
REVOKE EXECUTE ON FUNCTION secret FROM public;
EOS
my $pass = '{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}';
$node->safe_psql('postgres', "SELECT sf_create_state_machine('good', '$pass')");
$node->safe_psql('postgres', "SELECT sf_create_state_machine('path', '$pass', '\$.id')");
my $count = q{SELECT (SELECT count(*) FROM sf_state_machines), (SELECT count(*) FROM sf_executions),
	(SELECT count(*) FROM sf_history)};
my $before = $node->safe_psql('postgres', $count);

# Run a statement that must fail; give SQLSTATE and the rest of the message.
sub refused
{
	my ($name, $sql, $state, $text, %how) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET statement_timeout = '180s';\n$sql",
		extra_params => $how{as} ? [ '-U', $how{as} ] : []);
	$err =~ s/^.*?(?=ERROR|FATAL|PANIC|server closed)//s;
	like(substr($err, 0, 2000), qr/^ERROR:\s+$state:\s.*$text/s, $name);
	like(substr($err, 0, 4000), qr/^DETAIL: /m, "… with a detail") if $how{detail};
	like(substr($err, 0, 4000), qr/^HINT: /m, "… with a hint") if $how{hint};
	return;
}

# Definitions.
refused('malformed JSON', q~SELECT sf_create_state_machine('bad', '{"StartAt": ')~, '22P02', 'json');
refused('a definition that is no object', q{SELECT sf_create_state_machine('bad', '[]')}, 'SF001', '', detail => 1);
refused('a definition without states', q{SELECT sf_create_state_machine('bad', '{}')}, 'SF001', 'StartAt');
refused('a definition of 10 MB', <<'EOS', 'SF001|54000|54001|SF011', '');
SELECT sf_create_state_machine('bad', ('{"StartAt": "P", "Comment": "' || repeat('x', 10000000)
	|| '", "States": {"P": {"Type": "Nothing", "End": true}}}')::json)
EOS
refused('10,000 nested arrays in a definition', <<'EOS', '54001|SF001', '');
SELECT sf_create_state_machine('bad', ('{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true, "Result": '
	|| repeat('[', 10000) || repeat(']', 10000) || '}}, "Version": 3}')::json)
EOS
refused('10,000 nested objects in a definition', <<'EOS', '54001|SF001', '');
SELECT sf_create_state_machine('bad', ('{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true, "Result": '
	|| repeat('{"a":', 10000) || '1' || repeat('}', 10000) || '}}, "Version": 3}')::json)
EOS
refused('a million nested arrays in a definition', <<'EOS', '54001', '(stack depth|nested too deeply)', detail => 1);
SELECT count(*) FROM sf_validate('{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true, "Result": '
	|| repeat('[', 1000000) || repeat(']', 1000000) || '}}}')
EOS
is($node->safe_psql('postgres', q~SELECT count(*) > 0 FROM sf_validate('{"StartAt": ')~), 't',
	'sf_validate tells of malformed JSON in a row');

# Names.
refused('a name of 81 characters', "SELECT sf_create_state_machine(repeat('n', 81), '$pass')", 'SF002', '', hint => 0);
refused('an empty name', "SELECT sf_create_state_machine('', '$pass')", 'SF002', '');
for my $character (' ', '<', '>', '{', '}', '[', ']', '?', '*', '"', '#', '%', '\\', '^', '|', '~', '$', '&', ',', ';',
	':', '/', '`', "\t", "\x7f")
{
	my $label = sprintf 'a name with \\x%02x', ord $character;
	refused($label, "SELECT sf_start('good', '{}', \$n\$a${character}b\$n\$)", 'SF002', '');
}
is($node->safe_psql('postgres', q{SELECT sf_start('good', '{}', repeat('ü', 80))}), 'good:' . 'ü' x 80,
	'80 characters are no more than that in any script');
$node->safe_psql('postgres', q{SELECT sf_await('good:' || repeat('ü', 80), '180 s')});
$before = $node->safe_psql('postgres', $count);

# Things that are not there.
refused('an unknown machine', q{SELECT sf_start('nowhere')}, 'SF003', 'nowhere');
refused('an unknown version', q{SELECT sf_start('good/7')}, 'SF003', '');
refused('an unknown execution', "SELECT $_('good:nobody')", 'SF005', 'nobody')
	for qw(sf_stop sf_redrive sf_await sf_run);
refused('an execution id that is none', "SELECT $_('nonsense')", 'SF\d\d\d', '') for qw(sf_stop sf_redrive sf_await);
refused('an unknown option', "SELECT sf_create_state_machine('bad', '$pass', options => '{\"colour\": \"red\"}')",
	'SF012', 'colour');
refused('an unknown if_exists', q{SELECT sf_start('good', '{}', 'x', 'maybe')}, '22023|SF\d\d\d', 'maybe');

# NULLs.
refused('NULL as a machine', 'SELECT sf_start(NULL)', '22004', '');
refused('NULL as a name', "SELECT sf_create_state_machine(NULL, '$pass')", '22004', '');
refused('NULL as a definition', q{SELECT sf_create_state_machine('bad', NULL)}, '22004', '');
refused('NULL as an execution', "SELECT $_(NULL)", '22004', '') for qw(sf_stop sf_redrive sf_await sf_run);

# Payloads.
refused('an input over the limit', q{SELECT sf_start('good', to_jsonb(repeat('x', 300000)))}, 'SF011', '', hint => 1);
refused('the name is not in the input', qq{SELECT sf_start('path', '{"other": 1}')}, 'SF010', 'id');
is($node->safe_psql('postgres', $count), $before, 'nothing of all this was written');

# What goes wrong in an execution is its own failure, not the server's.
sub fails
{
	my ($name, $definition, $error, $cause, %how) = @_;
	my @as = (extra_params => $how{as} ? [ '-U', $how{as} ] : []);
	my $machine = $name =~ s/\W+/-/gr;
	$node->safe_psql('postgres', "SELECT sf_create_state_machine('$machine', \$j\$$definition\$j\$);
		SELECT sf_start('$machine', '" . ($how{input} // '{}') . "', 'x')", @as);
	is($node->safe_psql('postgres', "SELECT sf_await('$machine:x', '180 s')", @as), 'FAILED', $name);
	like($node->safe_psql('postgres', "SELECT error, cause FROM sf_executions WHERE execution_id = '$machine:x'", @as),
		qr/^$error\|.*$cause/s, '… says why');
	return;
}
fails('a function that does not exist', one_task('public.nothing'), '(undefined_function|States.Runtime)', 'nothing');
fails('a schema that does not exist', one_task('nowhere.nothing'),
	'(undefined_function|invalid_schema_name|States.Runtime)', 'nowhere');
fails('a function that the owner may not execute', one_task('public.secret'),
	'(insufficient_privilege|States.Permissions)', 'secret', as => 'clerk');
fails('a result over the limit', one_task('public.big'), 'States.DataLimitExceeded', 'size');
fails('an unknown resource',
	'{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "mail:send", "End": true}}}', '.*', 'mail:send');
fails('arguments that the function does not have', one_task('public.echo', '"Parameters": {"a": 1, "b.$": "$.no"}'),
	'States.(ParameterPathFailure|Runtime)', 'no');

# An evaluation without end meets a time limit.
refused('$..* over a million nodes', <<'EOS', '57014|SF015', '');
SET statement_timeout = '500ms';
WITH RECURSIVE tree(n, j) AS (SELECT 0, '1' UNION ALL SELECT n + 1, '[' || j || ',' || j || ']' FROM tree WHERE n < 18)
SELECT jsonb_array_length(sf_jsonpath('$..*..*..*', (SELECT j::jsonb FROM tree WHERE n = 18)))
EOS
refused('a path that is none', q{SELECT sf_jsonpath('$.[', '{}')}, 'SF014', '');
refused('a path of 100,000 steps', q{SELECT sf_jsonpath('$' || repeat('[?(@.a', 100000), '{}')}, 'SF\d\d\d|54001', '');
refused('an intrinsic nested 100,000 deep', q{SELECT sf_intrinsic(repeat('States.Array(', 100000), '{}')},
	'SF\d\d\d|54001', '');

is($node->safe_psql('postgres', q{SELECT sf_start('good', '{}', 'after')}), 'good:after', 'the server is up');
is($node->safe_psql('postgres', q{SELECT sf_await('good:after', '180 s')}), 'SUCCEEDED', 'and works');
unlike(slurp_file($node->logfile), qr/PANIC|was terminated by signal/, 'no process has crashed');
no_surprises($node);
$node->stop;
done_testing();
