package SfHostile;

# An owner who does what one owner may do to the others: a backlog of timers, an endless execution, thousands of rules
# that never match and are replaced all the time, limits with a key for each of thousands of customers, holds, tasks
# that fail, that sleep, that leave things behind. What he is refused does not end him.
use strict;
use warnings;
use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Utils;
use SfTest;

our @EXPORT = qw(admit_hostile start_hostile stop_hostile);

my %running;

# No pgbench outlives its test.
END { IPC::Run::kill_kill($_, grace => 1) for values %running }

# Make the role hostile with what stands around: sizes are the number of rules, keys of limits, and timers.
sub admit_hostile
{
	my ($node, $size) = @_;
	$node->safe_psql('postgres', <<"EOS");
CREATE ROLE hostile LOGIN;
CREATE SCHEMA hostile AUTHORIZATION hostile;
SET SESSION AUTHORIZATION hostile;
SET client_min_messages = error;
CREATE FUNCTION hostile.nothing(payload jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT NULL::jsonb';
CREATE FUNCTION hostile.work(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS \$\$
BEGIN
	CASE (payload->>'n')::integer % 4
	WHEN 0 THEN RAISE EXCEPTION 'bad';
	WHEN 1 THEN PERFORM pg_sleep(0.05);
	WHEN 2 THEN PERFORM set_config('work_mem', '64kB', false), pg_advisory_lock(random()::integer);
	ELSE PERFORM pg_notify('sf_activity', repeat('x', 1000));
	END CASE;
	RETURN NULL;
END \$\$;
SELECT sf_create_state_machine('hostile', '@{[ one_task('hostile.work', '"Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 3}]') ]}'),
	sf_create_state_machine('hostile_timers', '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 3600, "End": true}}}'),
	sf_create_state_machine('hostile_loop', '{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 0, "Next": "B"},
		"B": {"Type": "Choice", "Choices": [{"Variable": "\$.end", "IsPresent": true, "Next": "C"}], "Default": "A"}, "C": {"Type": "Succeed"}}}'),
	sf_create_state_machine('hostile_keys', '{"StartAt": "K", "States": {"K": {"Type": "Pass", "End": true}}}');
SELECT sf_set_limit('hostile_keys', rate => 1, per => '1 day', key => '\$.customer');
SELECT count(sf_start('hostile_timers', '{}')) FROM generate_series(1, $size);
SELECT count(sf_start('hostile_keys', jsonb_build_object('customer', n))) FROM generate_series(1, $size) AS n;
SELECT sf_start('hostile_loop', '{}', 'loop');
DO \$\$
BEGIN
	FOR i IN 1 .. $size LOOP
		BEGIN
			PERFORM sf_create_rule('hostile_' || i, '{"detail": {"name": ["never"]}}', 'sql:hostile.nothing');
		EXCEPTION WHEN OTHERS THEN
			RAISE LOG 'hostile is refused rule %: %', i, SQLERRM;
			EXIT;		-- as many as he may have
		END;
	END LOOP;
END \$\$;
EOS
	return;
}

my $script = <<'EOS';
\set n random(1, 1000)
DO $$
BEGIN
	PERFORM sf_start('hostile', jsonb_build_object('n', :n)) FROM generate_series(1, 2);
	PERFORM sf_start('hostile_keys', jsonb_build_object('customer', :n || '-' || clock_timestamp()));
EXCEPTION WHEN OTHERS THEN NULL;
END $$;
DO $$
BEGIN
	PERFORM sf_drop_rule('hostile_' || :n);
EXCEPTION WHEN OTHERS THEN NULL;
END $$;
DO $$
BEGIN
	PERFORM sf_create_rule('hostile_' || :n, '{"detail": {"name": ["never"]}}', 'sql:hostile.nothing');
EXCEPTION WHEN OTHERS THEN NULL;
END $$;
DO $$
BEGIN
	CASE :n % 4
	WHEN 0 THEN PERFORM sf_hold('hostile_timers', 'again and again');
	WHEN 1 THEN PERFORM sf_release('hostile_timers');
	WHEN 2 THEN PERFORM sf_set_limit('hostile', max_running => 1 + :n % 3);
	ELSE PERFORM sf_drop_limit('hostile');
	END CASE;
EXCEPTION WHEN OTHERS THEN NULL;
END $$;
EOS

# Have two sessions of his do that for some seconds, together some times a second (rate).
sub start_hostile
{
	my ($node, $seconds, $rate) = @_;
	my $file = "$PostgreSQL::Test::Utils::tmp_check/hostile-$$.sql";
	unlink $file;
	append_to_file($file, $script);
	my $log = "$PostgreSQL::Test::Utils::tmp_check/hostile-$$.log";
	$running{ $node->name } = IPC::Run::start([ 'pgbench', '-n', '-c', 2, '-R', $rate, '-T', $seconds, '-U', 'hostile', '-f', $file,
			'-h', $node->host, '-p', $node->port, 'postgres' ], '<', '/dev/null', '>&', $log);
	return;
}

# Tell whether his sessions are there: a crash of the server ends them.
sub hostile_runs
{
	my $node = shift;
	my $run = $running{ $node->name } or return 0;
	$run->pump_nb if $run->pumpable;
	return $run->pumpable;
}

# End his sessions.
sub stop_hostile
{
	my $node = shift;
	my $run = delete $running{ $node->name } or return;
	IPC::Run::kill_kill($run, grace => 1);
	return;
}

1;
