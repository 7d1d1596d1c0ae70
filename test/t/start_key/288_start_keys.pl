# Keys of starts under races: five sessions start executions of four keys and roll back, two workers begin them and
# fail, and the server is killed. In the end each execution has run the newest input that was committed for it, of each
# key one waited at a time, and with single and fifo one ran at a time, in the order of the starts.
# In one round no transaction that ends an execution gets the lock of its key: a worker looks later.
# SFFLOW_START_ROUNDS and SFFLOW_START_SEED say how many rounds, and which.
# needs: start_key
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfSessions;
use SfTest;
use Test::More;

my $rounds = $ENV{SFFLOW_START_ROUNDS} // full(2, 40);
my $seed = $ENV{SFFLOW_START_SEED} // int(rand(1e9));
srand($seed);
note("SFFLOW_START_SEED=$seed");

my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 2
sfflow.poll_interval = 1s
sfflow.max_crashes = 1000
max_prepared_transactions = 30
EOC

sub sql { return $node->safe_psql('postgres', shift) }

# A task that takes up to three milliseconds, and whose slice is rolled back at times. A call is noted while the row of
# its key is locked: the calls of a key have numbers in the order of their commits.
sql(<<'EOS');
CREATE TABLE worked (execution_id text, began_at timestamptz, ended_at timestamptz);
CREATE FUNCTION work(id text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE began_at timestamptz := clock_timestamp();
BEGIN
	PERFORM pg_sleep(random() * 0.003);
	IF random() < 0.08 THEN RAISE 'rolled back' USING ERRCODE = '40001'; END IF;
	INSERT INTO worked VALUES (id, began_at, clock_timestamp());
END $$;
CREATE TABLE call (id bigint GENERATED ALWAYS AS IDENTITY, n text, key text, execution_id text);
CREATE FUNCTION start(machine text, k text, n text) RETURNS void LANGUAGE sql AS $$
	WITH s AS MATERIALIZED (SELECT sf_start(machine, jsonb_build_object('k', k, 'n', n)) AS id)
	INSERT INTO call (n, key, execution_id) SELECT n, k, s.id FROM s $$;
CREATE FUNCTION machine(name text, mode jsonb) RETURNS integer LANGUAGE sql AS $f$
	SELECT sf_create_state_machine(name, '{"StartAt": "W", "States": {"W": {"Type": "Task",
		"Resource": "sql:public.work",
		"Parameters": {"id.$": "States.Format(''{}:{}'', $$.StateMachine.Name, $$.Execution.Name)"}, "End": true}}}',
			options => jsonb_build_object('start_key', '{"key": "$.k"}' || mode)) $f$;
SELECT machine('debounce', '{"mode": "debounce", "delay": 0.02, "max_delay": 0.2}'), machine('single',
	'{"mode": "single"}'),
	machine('keep', '{"mode": "single", "waiting": "keep"}'), machine('fifo', '{"mode": "fifo"}');
-- executions by key, with the time of those before and after
CREATE VIEW ran AS
SELECT e.execution_id, e.state_machine AS machine, e.input ->> 'k' AS key, e.input ->> 'n' AS n, e.status,
	e.requested_at,
	e.started_at, w.began_at, (SELECT h.details -> 'input' ->> 'n' FROM sf_history h
		WHERE h.execution_id = e.execution_id AND h.id = 1) AS began_with,
	lag(e.started_at) OVER line AS last_started_at, lag(w.ended_at) OVER line AS last_ended_at, lag(w.began_at)
		OVER line AS last_began_at
FROM sf_executions e LEFT JOIN worked w ON w.execution_id = e.execution_id
	JOIN _sfflow.execution x ON x.execution_id = e.execution_id
		JOIN _sfflow.keyed_start k ON k.execution_no = x.execution_no
WINDOW line AS (PARTITION BY e.state_machine, k.key ORDER BY k.entered_at);
EOS

sub chance { return rand() < shift }

sub nap { return chance(0.5) ? sprintf("SELECT pg_sleep(%.4f);\n", rand(0.003)) : '' }

# A transaction of a session.
sub transaction
{
	my ($name, @machines) = @_;
	my $text = 'BEGIN ISOLATION LEVEL ' . (chance(0.3) ? 'REPEATABLE READ' : 'READ COMMITTED') . ";\n";
	$text .= 'SELECT count(*) FROM call WHERE id = 0;' . nap() if chance(0.4);
	my $savepoint = chance(0.1);
	$text .= "SAVEPOINT s;\n" if $savepoint;
	$text .= sprintf("SELECT start('%s', 'k%d', '%s');\n", $machines[ rand @machines ], rand(4), $name);
	$text .= "ROLLBACK TO s;\n" if $savepoint && chance(0.5);
	$text .= nap();
	return "${text}ROLLBACK;\n" if chance(0.15);
	return "${text}COMMIT;\n" unless chance(0.03);
	my $end = chance(0.3) ? 'ROLLBACK' : 'COMMIT';
	return "${text}PREPARE TRANSACTION '$name';\n" . nap() . "$end PREPARED '$name';\n";
}

my ($transactions, $kills, $alone, %errors) = (0, 0, 0);

# Five sessions, and maybe a crash beside them.
sub round_of
{
	my ($round, $count, $kill, @machines) = @_;
	my @scripts = map { my $n = $_; [ map { transaction("r$round-$n-$_", @machines) } 1 .. $count ] } 1 .. 5;
	my @sessions = race($node, \@scripts, kill_after => $kill ? int((0.1 + rand(0.8)) * 5 * $count) : 0);
	$kills++ if $kill;
	$alone += alone(@sessions);
	for my $session (@sessions)
	{
		$transactions += @{ $session->{ends} };
		$errors{$_}++ for @{ $session->{errors} };
	}
	end_prepared($node);
	return $node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM _sfflow.execution WHERE status = 0');
}

# What is wrong with what has run.
my %wrong = (
	older => q(SELECT count(*) FROM ran r WHERE machine <> 'keep' AND (n, began_with) IS DISTINCT FROM
		((SELECT c.n FROM call c WHERE c.execution_id = r.execution_id ORDER BY c.id DESC LIMIT 1), n)),
	kept => q(SELECT count(*) FROM ran r WHERE machine = 'keep' AND (n, began_with) IS DISTINCT FROM
		((SELECT c.n FROM call c WHERE c.execution_id = r.execution_id ORDER BY c.id LIMIT 1), n)),
	waiting => q(SELECT count(*) FROM ran WHERE machine <> 'fifo' AND last_started_at > requested_at),
	# With debounce those that have begun run beside each other, and the task of one may be rolled back and begin again.
	order => q(SELECT count(*) FROM ran WHERE last_started_at > started_at
		OR (machine <> 'debounce' AND last_began_at > began_at)),
	together => q(SELECT count(*) FROM ran WHERE machine <> 'debounce' AND last_ended_at > began_at),
	never => q(SELECT count(*) FROM ran WHERE began_with IS NULL),
	lost => q(SELECT count(*) FROM call c WHERE NOT EXISTS (SELECT FROM sf_executions e
		WHERE e.execution_id = c.execution_id)));

for my $round (1 .. $rounds)
{
	ok(round_of($round, 200, $round % 2 == 0, qw(debounce single keep fifo)), "round $round: all of it ends");
}
sql("ALTER SYSTEM SET sfflow.debug_point = 'start-key-busy:mutate'; SELECT pg_reload_conf()");
ok(round_of('busy', 50, 0, qw(debounce single keep fifo)), '... also where a worker looks later for what comes next');
sql('ALTER SYSTEM RESET sfflow.debug_point; SELECT pg_reload_conf()');
my %found = map { $_ => sql($wrong{$_}) } keys %wrong;
note("$transactions transactions, $kills crashes, " . join(', ', map { "$errors{$_} x $_" } sort keys %errors));
note(sql(q(SELECT string_agg(format('%s: %s calls, %s executions', machine, calls, executions), '; ' ORDER BY machine)
	FROM (SELECT split_part(execution_id, ':', 1) AS machine, count(*) AS calls,
		count(DISTINCT execution_id) AS executions
	FROM call GROUP BY 1) m)));
is($alone, 0, 'each session has raced with others');
is($found{older}, '0', 'no execution ran an older input than the last that was committed for it');
is($found{kept}, '0', '... and with waiting "keep" none a newer one than its first');
is($found{waiting}, '0', 'of no key did two wait at a time');
is($found{order}, '0', 'none began before one that was started earlier');
is($found{together}, '0', 'with single and fifo no two of a key ran at a time');
is($found{never} + $found{lost}, 0, 'each call has an execution that began');
cmp_ok(sql(q(SELECT count(*) FROM call WHERE execution_id LIKE 'debounce:%')), '>',
	sql(q(SELECT count(DISTINCT execution_id) FROM call WHERE execution_id LIKE 'debounce:%')), 'starts were replaced');
is(join(' ', grep { !/^(40001|40P01|25P02|42704|57P0\d|08006)$/ } sort keys %errors),
	'', 'no other errors than those of such races');
is(sql('SELECT count(*) FROM sf_start_keys'), '0', 'no line has anything left');
is(sql('SELECT * FROM sf_check()'), '', 'the tables hold together');

$node->stop;
done_testing();
