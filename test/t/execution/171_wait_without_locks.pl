# A session that waits for an execution holds no lock on the tables: a command that needs a table for itself
# would wait for it, workers behind that command, and the execution would not end.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('locks');
$node->safe_psql('postgres', q{
	CREATE ROLE reader LOGIN;
	SELECT sf_create_state_machine('waits',
		'{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 36000, "End": true}}}');
	SELECT sf_grant('READ', 'waits', 'reader');
	SELECT sf_start('waits', '{}', 'e');
});

# Let a session wait, run commands that need tables for themselves, end the wait; what it has printed.
sub locks_of_waiter
{
	my ($statement) = @_;
	my $session = $node->background_psql('postgres', extra_params => [ '-U', 'reader' ]);
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	$session->query_until(qr/begun/, "\\echo begun\n$statement;\n");
	# Between two waits it looks, with locks.
	my $locks = '';
	for (1 .. 1000)
	{
		$locks = $node->safe_psql('postgres',
			"SELECT coalesce(string_agg(DISTINCT l.relation::regclass::text, ', '), 'none') FROM pg_stat_activity a
				LEFT JOIN (pg_locks l JOIN pg_class c ON c.oid = l.relation
					AND c.relnamespace = '_sfflow'::regnamespace) ON l.pid = a.pid
			WHERE a.pid = $pid AND a.wait_event_type = 'Extension' AND a.state = 'active' HAVING count(*) > 0");
		last if $locks ne '';
	}
	$node->safe_psql('postgres', "SET lock_timeout = '180 s'; VACUUM FULL _sfflow.$_")
	  for $locks eq 'none' ? ('execution', 'state_machine', 'privilege', 'branch') : ();
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	$session->{run}->finish;
	return $locks;
}

is(locks_of_waiter(q{SELECT sf_await('waits:e', '5 min')}), 'none', 'sf_await holds no lock');
is(locks_of_waiter(q{CALL sf_wait('waits:e')}), 'none', 'CALL sf_wait holds none');
is(locks_of_waiter(q{BEGIN; SAVEPOINT a; CALL sf_wait('waits:e')}), 'none', '... in a subtransaction');

# What goes wrong while locks are noted leaves nothing behind.
my ($code, $out, $err) = $node->psql('postgres', q{
	DO $$
	DECLARE
		status text;
	BEGIN
		FOR i IN 1 .. 3 LOOP
			BEGIN
				PERFORM sf_await('waits:' || i, '1 s');
			EXCEPTION WHEN OTHERS THEN
				RAISE NOTICE '%', sqlerrm;
			END;
		END LOOP;
		CALL sf_wait('waits:e', '1 ms', status);
		RAISE NOTICE '%', status;
	END $$;
});
is($code, 0, 'errors are caught');
like($err, qr/"waits:3" does not exist.*RUNNING/s, 'and the session waits again');
my $log = slurp_file($node->logfile);
unlike($log, qr/WARNING|PANIC|terminated by signal/, 'nothing leaks');
$node->stop;
done_testing();
