# The AWS API answers with the rights of one role: of the caller, or of the role that sf_aws_api_as is given, which
# nothing that runs within the call can leave. Secrets of access keys reach no role but the one that was given them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main');
$node->safe_psql('postgres', <<'EOS');
CREATE ROLE gateway LOGIN;
CREATE ROLE batch LOGIN;
CREATE ROLE other LOGIN;
GRANT batch TO gateway;
GRANT EXECUTE ON FUNCTION sf_access_key TO gateway;
GRANT CREATE ON SCHEMA public TO batch, other;
EOS

# Run SQL as a role; returns what it printed, or its error with the SQLSTATE.
sub as
{
	my ($role, $sql) = @_;
	my (undef, $out, $error) = $node->psql('postgres', $sql,
		extra_params => [ '-U', $role, '-v', 'VERBOSITY=verbose' ]);
	return $error =~ /ERROR:  (.*)$/m ? $1 : $out;
}

# --- keys

my ($id, $secret) = split /\|/, as('batch', q(SELECT * FROM sf_create_access_key('batch')));
like($id, qr/^AKIA[A-Z2-7]{16}$/, 'an id');
like($secret, qr{^[A-Za-z0-9+/]{40}$}, 'a secret');
is(as('gateway', "SELECT * FROM sf_access_key('$id')"), "batch|$secret", 'the gateway gets role and secret of a key');
is(as('gateway', "SELECT * FROM sf_access_key('AKIA')"), '', '... no row of one that is not there');
for my $role ('batch', 'other')
{
	like(as($role, "SELECT * FROM sf_access_key('$id')"), qr/^42501: permission denied for function sf_access_key/,
		"$role does not");
	like(as($role, 'SELECT * FROM _sfflow.access_key'), qr/^42501:/, '... nor through the table');
}
like(as('gateway', 'SELECT * FROM _sfflow.access_key'), qr/^42501:/, 'not even the gateway reads the table');
is(as('batch', 'SELECT access_key_id, role FROM sf_access_keys'), "$id|batch", 'a role sees its keys');
is(as('other', 'SELECT count(*) FROM sf_access_keys'), '0', '... others do not');
unlike(as('gateway', 'SELECT k FROM sf_access_keys k'), qr/\Q$secret\E/, '... without the secret');
like(as('other', q(SELECT sf_create_access_key('batch'))),
	qr/^42501: permission denied to make an access key of role "batch"/, 'a key of another role is refused');
like(as('other', "SELECT sf_drop_access_key('$id')"), qr/^42704: access key "$id" does not exist/,
	'... and not dropped');
like(as('postgres', 'DROP ROLE batch'), qr/^2BP01: role "batch" cannot be dropped/,
	'a role with a key cannot be dropped');

# --- whom one may answer as

my $list = q('ListStateMachines');
is(as('gateway', "SELECT sf_aws_api_as('batch', $list)"), '{"stateMachines": []}',
	'the gateway answers as a role that it is a member of');
for my $role ('other', 'postgres', 'nobody')
{
	like(as('gateway', "SELECT sf_aws_api_as('$role', $list)"), qr/^42501: permission denied to answer as role "$role"/,
		"... and not as $role");
}
like(as('gateway', "SET ROLE batch; SELECT sf_aws_api_as('other', $list)"), qr/^42501:/,
	'... whatever role it has set');

# What is created belongs to the role, and no other one sees it.
my $definition = '{\"StartAt\":\"P\",\"States\":{\"P\":{\"Type\":\"Pass\",\"End\":true}}}';
as('gateway', qq(SELECT sf_aws_api_as('batch', 'CreateStateMachine',
	'{"name":"mine","definition":"$definition","roleArn":"arn:aws:iam::000000000000:role/r"}')));
is($node->safe_psql('postgres', q(SELECT owner FROM sf_state_machines)), 'batch', 'the role owns what it creates');
like(as('other', q(SELECT sf_aws_api('StartExecution', '{"stateMachineArn":"arn:aws:states:::stateMachine:mine"}'))),
	qr/^SF003: State Machine Does Not Exist/, 'for another role it does not exist');
is(as('other', "SELECT sf_aws_api($list)"), '{"stateMachines": []}', '... also in lists');
$node->safe_psql('postgres', q(CREATE ROLE guest LOGIN; SELECT sf_grant('CREATE', '*', 'batch'),
	sf_revoke('CREATE', '*', 'public')));
as('batch', q(SELECT sf_aws_api('CreateActivity', '{"name": "act"}')));
my @refused = map { as('guest', qq(SELECT sf_aws_api('CreateActivity',
	'{"name": "$_", "encryptionConfiguration": {"type": "CUSTOMER_MANAGED_KMS_KEY", "kmsKeyId": "k"}}'))) } 'act',
	'none';
like($refused[0], qr/^42501:/, 'a role that may not create activities is refused');
is($refused[0], $refused[1], '... whether the activity is there or not');
$node->safe_psql('postgres', q(SELECT sf_grant('CREATE', '*', 'public'), sf_revoke('CREATE', '*', 'batch')));
like(as('gateway', q(SELECT current_user)), qr/^gateway$/, 'the gateway is itself again');
is(as('gateway', "BEGIN; SELECT sf_aws_api_as('batch', 'MakeCoffee'); ROLLBACK; SELECT current_user") =~ /SF060/
	? 'refused' : '', 'refused', 'an error');
is($node->safe_psql('postgres',
	<<'EOS', extra_params => [ '-U', 'gateway' ]), 'gateway', '... leaves the gateway itself');
DO $$ BEGIN PERFORM sf_aws_api_as('batch', 'MakeCoffee'); EXCEPTION WHEN OTHERS THEN NULL; END $$;
SELECT current_user;
EOS

# --- what reads cannot write: a view in the place of a table writes when it is read

my $trap = <<'EOS';
BEGIN;
CREATE SEQUENCE public.seen;
ALTER TABLE _sfflow.version_publication RENAME TO kept;
CREATE FUNCTION public.look() RETURNS boolean LANGUAGE sql AS $f$ SELECT nextval('public.seen') > 0 $f$;
CREATE VIEW _sfflow.version_publication AS SELECT * FROM _sfflow.kept WHERE public.look();
SELECT %s
EOS
my $versions = q('ListStateMachineVersions', '{"stateMachineArn":"arn:aws:states:::stateMachine:mine"}');
like(as('postgres', sprintf $trap, "sf_aws_api_as('postgres', $versions)"),
	qr/^25006: cannot execute nextval\(\) in a read-only transaction/, 'an action that reads cannot write');
like(as('postgres', sprintf $trap, "sf_aws_api_as('postgres', $list) IS NOT NULL, nextval('public.seen')"), qr/^t\|1$/,
	'... the transaction can, after it');

# --- attacks from within: functions of the role, run by TestState

as('batch', <<'EOS');
CREATE FUNCTION public.attack(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $f$
DECLARE
	got text;
BEGIN
	EXECUTE payload ->> 'statement' INTO got;
	RETURN to_jsonb(concat_ws(' ', current_user, got));
EXCEPTION WHEN OTHERS THEN
	RETURN to_jsonb(concat_ws(' ', current_user, sqlstate, sqlerrm));
END $f$;
EOS

# What a function of the role batch is told when it tries a statement within a call as batch.
sub attack
{
	my $statement = shift;
	return as('gateway', qq(SELECT sf_aws_api_as('batch', 'TestState',
		jsonb_build_object('definition', '{"Type":"Task","Resource":"sql:public.attack","End":true}',
		'input', jsonb_build_object('statement', \$s\$$statement\$s\$)::text)) ->> 'output'));
}
is(attack('SELECT session_user'), '"batch gateway"', 'a function within a call runs as the role of the call');
for my $statement ('RESET ROLE', 'SET ROLE gateway', 'SET ROLE none', q(SELECT set_config('role', 'gateway', false)),
	'SET SESSION AUTHORIZATION gateway', 'RESET SESSION AUTHORIZATION',
	'SET LOCAL ROLE gateway')
{
	like(attack($statement), qr/^"batch 42501 cannot set parameter|^"batch 42501/, "$statement is refused");
}
like(attack(q(SELECT sf_aws_api_as('batch', 'ListStateMachines')::text)), qr/cannot be called within/,
	'sf_aws_api_as is refused');
like(attack(qq(SELECT sf_access_key('$id')::text)), qr/^"batch 42501/, 'secrets are refused');
like(attack('SELECT secret FROM _sfflow.access_key'), qr/^"batch 42501/, '... also in the table');

# What a function leaves in the session does not reach the next role: the gateway is the same session for both.
$node->safe_psql('postgres', 'GRANT other TO gateway; CREATE SEQUENCE public.numbers;
	GRANT USAGE ON SEQUENCE public.numbers TO batch, other');
my $test = q('TestState', jsonb_build_object('definition', '{"Type":"Task","Resource":"sql:public.attack","End":true}',
	'input', jsonb_build_object('statement', %s)::text));
my $call_as = sub { my ($role, $statement) = @_; return "SELECT sf_aws_api_as('$role', "
	. sprintf($test, "\$s\$$statement\$s\$") . ") ->> 'output';" };
my $locks = q(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid(););
like(as('gateway', $call_as->('batch', 'SELECT pg_advisory_lock(1)') . $locks), qr/^0$/m,
	'an advisory lock of the session ends with the call');
# The timer of PostgreSQL signals the process and its group: the second signal may come after the first error.
my $fails = $call_as->('batch', 'SELECT concat(pg_advisory_lock(2),
	pg_sleep(60))') =~ s/^SELECT/SET statement_timeout = '1s'; DO \$d\$ BEGIN BEGIN PERFORM/r;
$fails .= ' EXCEPTION WHEN query_canceled THEN NULL; END; PERFORM pg_sleep(0.2);
	EXCEPTION WHEN query_canceled THEN NULL; END $d$; ';
is(as('gateway', $fails . $locks), '0', '... also after an error');
like(as('gateway', 'SELECT pg_advisory_lock(3);' . $call_as->('batch', 'SELECT 1') . $locks), qr/^1$/m,
	'... one that the session had before stays');
like(as('gateway', 'BEGIN; SELECT pg_advisory_xact_lock(4);' . $call_as->('batch', 'SELECT 1') . $locks), qr/^1$/m,
	'... and one of its transaction');
my $draw = $call_as->('batch', q(SELECT nextval('public.numbers')));
like(as('gateway', $draw . $call_as->('other', 'SELECT lastval()')), qr/55000 lastval is not yet defined/,
	'the next role does not see the value of a sequence');
my $seeded = $call_as->('batch', 'SELECT setseed(0.5)') . $call_as->('other', 'SELECT random()');
isnt(as('gateway', $seeded), as('gateway', $seeded), '... and draws numbers of its own');

# One that catches the cancel of statement_timeout is cancelled again.
as('batch', <<'EOS');
CREATE FUNCTION public.stubborn() RETURNS int LANGUAGE plpgsql AS $f$
BEGIN
	BEGIN
		PERFORM pg_sleep(60);
	EXCEPTION WHEN query_canceled THEN NULL;
	END;
	PERFORM pg_sleep(60);
	RETURN 1;
END $f$;
EOS
my $began = time;
like(as('gateway', "SET statement_timeout = '1s';" . $call_as->('batch', 'SELECT public.stubborn()')),
	qr/^57014: canceling statement/, 'a call that catches its timeout ends all the same');
cmp_ok(time - $began, '<', 55, '... soon');
# On a busy machine a call may take longer than a short timeout: then it gets a longer one.
my $told;
for my $seconds (2, 10, 40)
{
	$told = as('gateway', "SET statement_timeout = '${seconds}s';" . $call_as->('batch', 'SELECT 1')
		. "SET statement_timeout = 0; SELECT pg_sleep($seconds + 1), 7");
	last if $told =~ /7$/;
}
like($told, qr/7$/, '... and no timer is left behind by one that ends in time');

# A key would be another way into a role: batch is a member of vault, and the one who makes a machine of batch run is
# not.
$node->safe_psql('postgres', 'CREATE ROLE vault; GRANT vault TO batch');
my ($own) = split /\|/, as('batch', q(SELECT * FROM sf_create_access_key('vault')));
like(attack(q(SELECT sf_create_access_key('vault')::text)),
	qr/^"batch 42501 sf_create_access_key\(\) cannot be called within/, 'keys are not made within a call');
like(attack(qq(SELECT sf_drop_access_key('$own')::text)),
	qr/^"batch 42501 sf_drop_access_key\(\) cannot be called within/, '... and not dropped');

# A task of a worker, whose session user is a superuser.
as('batch', q(SELECT sf_create_state_machine('task',
	'{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:public.attack", "End": true}}}')));
as('batch', q(SELECT sf_start('task',
	'{"statement": "SELECT sf_aws_api_as(''postgres'', ''ListStateMachines'')::text"}', 'a')));
is(as('batch', q(SELECT sf_await('task:a', '60 s'))), 'SUCCEEDED', 'a task has run');
like(as('batch', q(SELECT output FROM sf_executions WHERE execution_id = 'task:a')),
	qr/^"batch 42501 sf_aws_api_as\(\) cannot be called/, '... and could not answer as the superuser');

for my $case ([ 'b', q(sf_create_access_key(''vault'')) ], [ 'c', "sf_drop_access_key(''$own'')" ])
{
	my ($name, $call) = @$case;
	as('batch', qq(SELECT sf_start('task', '{"statement": "SELECT ${call}::text"}', '$name')));
	is(as('batch', qq(SELECT sf_await('task:$name', '60 s'))), 'SUCCEEDED', "a task has run: $call");
	like(as('batch', qq(SELECT output FROM sf_executions WHERE execution_id = 'task:$name')),
		qr/^"batch 42501 sf_\w+_access_key\(\) cannot be called/, '... and was refused');
}
is(as('batch', q(SELECT string_agg(access_key_id, ' ') FROM sf_access_keys WHERE role::text = 'vault')), $own,
	'the role has the keys that it had');
is(as('batch', "SELECT sf_drop_access_key('$own')"), '', '... which its member drops by itself');

# A security-definer function.
as('batch', q(CREATE FUNCTION public.definer() RETURNS jsonb LANGUAGE sql SECURITY DEFINER
	AS $$ SELECT sf_aws_api_as('gateway', 'ListStateMachines') $$));
like(as('gateway', 'SELECT public.definer()'), qr/^42501: sf_aws_api_as\(\) cannot be called/,
	'nor could a security-definer function as its caller');

# --- the end of a key

is(as('batch', "SELECT sf_drop_access_key('$id')"), '', 'a key is dropped');
is(as('gateway', "SELECT * FROM sf_access_key('$id')"), '', '... it is gone');
$node->safe_psql('postgres', q(CREATE ROLE old; CREATE ROLE new; SELECT sf_create_access_key('old');
	SELECT sf_reassign_owned('old', 'new'); DROP ROLE old));
is($node->safe_psql('postgres', 'SELECT count(*) FROM sf_access_keys'), '0',
	'keys of a role end when what it owns is given to another one');

# --- a dump has keys, tags and what is published

$node->safe_psql('postgres', <<'EOS');
SELECT sf_create_access_key('batch');
SELECT sf_aws_api('TagResource', '{"resourceArn": "arn:aws:states:::stateMachine:mine", "tags": [{"key": "a",
	"value": "b"}]}');
CREATE DATABASE copy;
EOS
my $all = q(SELECT (SELECT string_agg(k::text, ' ') FROM _sfflow.access_key k),
	(SELECT string_agg(t::text, ' ') FROM _sfflow.aws_resource t),
	(SELECT string_agg(p::text, ' ' ORDER BY machine_no) FROM _sfflow.version_publication p),
		has_function_privilege('gateway', 'sf_access_key(text)', 'EXECUTE'));
my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-h', $node->host, '-p', $node->port, '-f', $dump, 'postgres' ], 'a dump');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-h', $node->host, '-p', $node->port, '-f', $dump, 'copy' ],
	'is restored');
is($node->safe_psql('copy', $all), $node->safe_psql('postgres', $all),
	'keys, tags, publication and the right of the gateway are the same');

$node->stop;
done_testing();
