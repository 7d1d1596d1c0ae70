# Two hostile owners on one worker: nothing of one reaches the other, and neither the superuser.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => "sfflow.workers = 1\nsfflow.max_workers = 1\n");

$node->safe_psql('postgres', <<'EOS');
CREATE ROLE mallory LOGIN;
CREATE ROLE eve LOGIN;
GRANT CREATE ON DATABASE postgres TO mallory, eve;
CREATE TABLE witness (n serial, who name, what text, seen text);
GRANT INSERT ON witness TO public;
GRANT USAGE ON SEQUENCE witness_n_seq TO public;
EOS

# Run SQL as one of the owners.
sub as
{
	my ($role, $sql) = @_;
	return $node->safe_psql('postgres', $sql, extra_params => [ '-U', $role ]);
}

# Run a function of an owner as a task, to its end, and return status, error and output.
sub run_task
{
	my ($role, $name, $body) = @_;
	as($role, <<"EOS");
CREATE SCHEMA IF NOT EXISTS $role;
CREATE FUNCTION $role.$name(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS \$f\$
$body
\$f\$;
SELECT sf_create_state_machine('$role-$name',
	'{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:$role.$name", "End": true}}}');
SELECT sf_start('$role-$name', '{}', 'x');
EOS
	as($role, "SELECT sf_await('$role-$name:x', '180 s')");
	return as($role, "SELECT status, error, output FROM sf_executions WHERE execution_id = '$role-$name:x'");
}

# What a session shows of another owner's doings.
my $look = <<'EOS';
BEGIN
	RETURN jsonb_build_object(
		'user', current_user,
		'search_path', current_setting('search_path'),
		'work_mem', current_setting('work_mem'),
		'own_setting', coalesce(nullif(current_setting('mallory.mark', true), ''), 'none'),
		'role', current_setting('role'),
		'temp_tables', (SELECT count(*) FROM pg_class WHERE relpersistence = 't' AND relkind = 'r'
			AND pg_table_is_visible(oid)),
		'prepared', (SELECT count(*) FROM pg_prepared_statements),
		'cursors', (SELECT count(*) FROM pg_cursors WHERE name LIKE 'held%'),
		'channels', (SELECT count(*) FROM pg_listening_channels()),
		'advisory', (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()));
END
EOS
my $clean = run_task('eve', 'before', $look);
like($clean, qr/SUCCEEDED.*"user": "eve"/, 'a task runs as its owner');

# A session that is left as dirty as can be.
like(run_task('mallory', 'dirty', <<'EOS'), qr/^SUCCEEDED/, 'mallory leaves a mess');
BEGIN
	PERFORM set_config('search_path', 'mallory, pg_temp, public', false);
	PERFORM set_config('work_mem', '77MB', false);
	PERFORM set_config('mallory.mark', 'here', false);
	CREATE TEMP TABLE witness (n integer, who name, what text, seen text);
	CREATE TEMP TABLE secrets AS SELECT 1 AS one;
	EXECUTE 'PREPARE stolen AS SELECT current_user';
	EXECUTE 'DECLARE held CURSOR WITH HOLD FOR SELECT 1';
	-- A background process has nobody to notify, so PostgreSQL refuses.
	BEGIN
		EXECUTE 'LISTEN mallory';
	EXCEPTION WHEN feature_not_supported THEN
		NULL;
	END;
	PERFORM pg_advisory_lock(4711);
	RETURN '{}';
END
EOS
is(run_task('eve', 'after', $look), $clean, 'eve finds the session as it was before');
is($node->safe_psql('postgres', 'SELECT pg_try_advisory_lock(4711)'), 't', 'advisory locks are gone too');

# What runs at commit runs as the owner: deferred triggers and held cursors.
as('mallory', <<'EOS');
CREATE FUNCTION mallory.who(what text) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.witness (who, what, seen) VALUES (current_user, what,
		(SELECT rolsuper FROM pg_roles WHERE rolname = current_user));
	RETURN 1;
END $$;
CREATE TABLE mallory.trap (i integer);
CREATE FUNCTION mallory.spring() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM mallory.who('deferred trigger'); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER late AFTER INSERT ON mallory.trap DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION mallory.spring();
EOS
run_task('mallory', 'late', <<'EOS');
BEGIN
	INSERT INTO mallory.trap VALUES (1);
	EXECUTE $$DECLARE held2 CURSOR WITH HOLD FOR SELECT mallory.who('held cursor') FROM generate_series(1, 3)$$;
	RETURN '{}';
END
EOS
is($node->safe_psql('postgres', q{SELECT count(*) FROM witness WHERE what = 'deferred trigger'}),
	'1', 'the deferred trigger fired');
is($node->safe_psql('postgres', q{SELECT DISTINCT who, seen FROM witness}),
	'mallory|false', 'at commit time too, everything ran as mallory');

# Ways to become somebody else.
for my $way (
	[ 'role', q{SET ROLE postgres} ],
	[ 'reset', q{RESET ROLE} ],
	[ 'session', q{SET SESSION AUTHORIZATION postgres} ],
	[ 'reset_session', q{RESET SESSION AUTHORIZATION} ],
	[ 'config', q{SELECT set_config('role', 'postgres', false)} ],
	[ 'other', q{SET ROLE eve} ])
{
	my ($name, $sql) = @$way;
	run_task('mallory', "become_$name",
		"BEGIN EXECUTE \$def\$$sql\$def\$; PERFORM mallory.who('after $name'); RETURN '{}'; END");
	unlike($node->safe_psql('postgres', "SELECT who FROM witness WHERE what = 'after $name'"),
		qr/^(?!mallory)./, "$sql makes nobody else");
	like(run_task('eve', "still_$name", $look), qr/"user": "eve"/, '… and the next task runs as eve');
}

# A function's owner must be allowed to execute it when it runs, not only when it was defined.
as('eve', q{CREATE FUNCTION eve.own(payload jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT payload';
	REVOKE EXECUTE ON FUNCTION eve.own FROM public; GRANT USAGE ON SCHEMA eve TO mallory});
as('mallory', q{SELECT sf_create_state_machine('borrow',
	'{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:eve.own", "End": true}}}');
	SELECT sf_start('borrow', '{}', 'x')});
as('mallory', q{SELECT sf_await('borrow:x', '180 s')});
like(as('mallory', q{SELECT status, error, cause FROM sf_executions WHERE execution_id = 'borrow:x'}),
	qr/^FAILED\|.*(insufficient_privilege|Permissions).*/, 'a function that is not mine is refused');

# Nobody sees or drives what is not theirs.
is(as('eve', q{SELECT count(*) FROM sf_executions WHERE state_machine LIKE 'mallory%'}), '0',
	'eve does not see executions of mallory');
my ($rc, $out, $err) = $node->psql('postgres', q{SELECT sf_stop('borrow:x')}, extra_params => [ '-U', 'eve' ]);
isnt($rc, 0, 'nor stop them');
($rc, $out, $err) = $node->psql('postgres', q{SELECT * FROM _sfflow.execution}, extra_params => [ '-U', 'eve' ]);
like($err, qr/permission denied/, 'and the tables are closed');

no_surprises($node);
$node->stop;
done_testing();
