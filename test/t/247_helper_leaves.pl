# A process that has helped in one database stays there for a minute, for the next time. It leaves when its place,
# which is the last one, is wanted in another database for helping there.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use SfTest;
use Test::More;

my $linger = 60;	# seconds: SF_HELPER_LINGER_MS
my $node = new_node('main', conf => "sfflow.workers = 2\nsfflow.max_workers = 4\nfsync = off\n");
$node->safe_psql('postgres', 'CREATE ROLE one LOGIN; CREATE ROLE other LOGIN; CREATE DATABASE elsewhere');

# Both databases have one worker, and two owners.
for my $database (qw(elsewhere postgres))
{
	$node->safe_psql($database, 'CREATE EXTENSION IF NOT EXISTS sfflow');
	$node->safe_psql($database, <<"EOS2") for qw(one other);
CREATE SCHEMA $_ AUTHORIZATION $_;
SET SESSION AUTHORIZATION $_;
CREATE FUNCTION $_.nap(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS \$\$
BEGIN PERFORM pg_sleep((payload->>'s')::float8); RETURN NULL; END \$\$;
SELECT sf_create_state_machine('$_', '@{[ one_task("$_.nap") ]}');
EOS2
	ok($node->poll_query_until($database, q{SELECT count(*) = 1 FROM sf_workers WHERE role = 'worker'}),
		"$database has one worker");
}

# A task that waits for a lock has the third of the four places.
my $session = $node->background_psql('elsewhere');
$session->query_safe('SELECT pg_advisory_lock(7)');
$node->safe_psql('elsewhere', <<"EOS2");
CREATE FUNCTION waits(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS \$\$
BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END \$\$;
SELECT sf_create_state_machine('waits', '@{[ one_task('public.waits') ]}');
SELECT sf_start('waits', '{}');
EOS2
ok($node->poll_query_until('elsewhere', q{SELECT count(*) = 1 FROM sf_workers WHERE role = 'task'
	AND execution_id IS NOT NULL}),
	'a task runs in a process for tasks');

# Start an execution of an owner.
sub start
{
	my ($database, $role, $seconds) = @_;
	return $node->safe_psql($database, "SET SESSION AUTHORIZATION $role;
		SELECT sf_start('$role', '{\"s\": $seconds}')");
}

# Wait for the ends of naps in a database.
sub naps_end
{
	return $node->poll_query_until(shift, q{SELECT count(*) = 0 FROM sf_executions WHERE status = 'RUNNING'
		AND state_machine <> 'waits'}) || die 'an execution does not end';
}

# Have the worker of a database sleep in a task that was short the last time, so that another owner's task wants a
# process that helps (t/251). A busy machine may be too late for that.
sub want_help
{
	my $database = shift;
	for my $role (qw(one other))
	{
		start($database, $role, 0);
		naps_end($database);
	}
	start($database, 'one', 0.9);
	# it sleeps, or has slept already
	$node->poll_query_until($database, q{SELECT (SELECT count(*) FROM sf_workers WHERE execution_id LIKE 'one%') > 0
		OR (SELECT count(*) FROM sf_executions WHERE status = 'RUNNING' AND state_machine = 'one') = 0});
	start($database, 'other', 0);
	return naps_end($database);
}

# Is a process there that has helped, and that would have left by now for anything else?
sub stays
{
	want_help('postgres');
	return $node->safe_psql('postgres', q{SELECT pg_sleep(4);
		SELECT pid || '|' || since FROM sf_workers WHERE role = 'task' AND state = 'idle'}) =~ /(\d+)\|(.*)/ ? ($1, $2) : ();
}

my ($stayed, $left);
for (1 .. 20)
{
	my ($helper, $since) = stays() or next;
	$stayed++;
	# until it has left for what is wanted, or for having waited too long
	do { want_help('elsewhere') }
	  until $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE pid = $helper") eq '0';
	$left = $node->safe_psql('postgres', "SELECT extract(epoch FROM clock_timestamp() - '$since') < $linger") eq 't';
	last if $left || $stayed == 3;
}
ok($stayed, 'a process that helped stays');
ok($left, 'it leaves for another database before it would have left by itself');
$session->query_safe('SELECT pg_advisory_unlock(7)');
$session->quit;
for my $database (qw(elsewhere postgres))
{
	ok(ended($node, $database), "$database: all executions end");
	is($node->safe_psql($database, 'SELECT * FROM sf_check()'), '', '... and the tables hold together');
}
$node->stop;
done_testing();
