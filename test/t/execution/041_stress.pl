# Random machines under random stops, redrives, restarts and killed workers: in the end every execution
# has ended, the tables hold together, and the ledger holds what the histories say.
#
# Tasks take no time or a third of a second, fail now and then, and write a row of the ledger each time
# that they commit. Branches wait some milliseconds; Parallel and Map are nested in both failure modes.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $executions = full(120, 1000);
my $seconds = full(12, 120);

my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 4
sfflow.max_workers = 12
sfflow.max_running_tasks = 6
EOC

$node->safe_psql('postgres', <<'EOS');
CREATE TABLE ledger (execution text, state text);
CREATE TABLE setting (calm boolean);
INSERT INTO setting VALUES (false);
-- A task: mostly short, at times long, at times failing. Says when to go on.
CREATE FUNCTION work(execution text, state text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
	dice float8 := random();
	calm boolean := (SELECT s.calm FROM setting AS s);
BEGIN
	INSERT INTO ledger VALUES (regexp_replace(execution, '^.*:execution:', ''), state);
	IF state LIKE 'Long%' AND NOT calm THEN PERFORM pg_sleep(0.35 * random()); END IF;
	IF dice < 0.04 AND NOT calm THEN PERFORM sf_raise('Fatal'); END IF;
	IF dice < 0.08 AND NOT calm THEN PERFORM sf_raise('Flaky'); END IF;
	RETURN json_build_object('at', to_json(clock_timestamp() + 0.05 * random() * interval '1 s'));
END $$;
-- What an operator may meet and tries again later.
CREATE FUNCTION operate(action int, id text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	CASE WHEN action < 3 THEN PERFORM sf_stop(id, 'Enough');
		WHEN action < 9 THEN PERFORM sf_redrive(id);
		WHEN action < 10 THEN PERFORM sf_start(split_part(id, ':', 1), '{}', split_part(id, ':', 2), 'restart');
		ELSE PERFORM sf_start(split_part(id, ':', 1), '{}', split_part(id, ':', 2)); END CASE;
EXCEPTION WHEN OTHERS THEN
	-- class SF: not redrivable, running, a task that has not stopped yet
	IF SQLSTATE NOT LIKE 'SF%' THEN
		RAISE LOG 'unexpected: % % on %, action %', SQLSTATE, SQLERRM, id, action;
	END IF;
END $$;
EOS

# A machine with both levels of nesting; Retry and Catch where children are aborted.
sub definition
{
	my ($mode, $more) = @_;
	my $parameters = '"Parameters": {"execution.$": "$$.Execution.Id", "state.$": "$$.State.Name"}, '
	  . '"Retry": [{"ErrorEquals": ["Flaky"], "IntervalSeconds": 1, "MaxAttempts": 2}]';
	my $task = sub { task('public.work', $_[0], $parameters . ($_[1] // ', "ResultPath": "$.t"')) };
	my $pause = '{"Type": "Wait", "TimestampPath": "$.t.at", "Next": "%s"}';
	my $inner = '{"Type": "Parallel", "ResultPath": null, "Next": "Short3", "Branches": ['
	  . '{"StartAt": "Long1", "States": {"Long1": ' . $task->('P1') . ', "P1": ' . sprintf($pause, 'Short1')
	  	. ', "Short1": ' . $task->() . '}},'
	  . '{"StartAt": "Short2", "States": {"Short2": ' . $task->('P2') . ', "P2": ' . sprintf($pause, 'Long2')
	  	. ', "Long2": ' . $task->() . '}}]}';
	my $map = '{"Type": "Map", "ItemsPath": "$.items", "MaxConcurrency": 2, "ResultPath": null, "Next": "Last", '
	  . "$more \"ItemProcessor\": {\"StartAt\": \"Inner\", \"States\": {\"Inner\": $inner, \"Short3\": " . $task->()
	  	. '}}}';
	return qq({"FailureMode": "$mode", "StartAt": "First", "States": {"First": ) . $task->('Items')
	  . ', "Items": {"Type": "Pass", "Result": [{}, {}, {}], "ResultPath": "$.items", "Next": "Outer"}, '
	  . '"Outer": {"Type": "Parallel", "ResultPath": null, "End": true, "Branches": ['
	  . "{\"StartAt\": \"Map\", \"States\": {\"Map\": $map, \"Last\": " . $task->() . '}},'
	  . '{"StartAt": "Beside", "States": {"Beside": ' . $task->('P3') . ', "P3": ' . sprintf($pause, 'Long3')
	  	. ', "Long3": ' . $task->() . '}}]}}}';
}

my %machine = (
	drain => definition('DRAIN', ''),
	abort => definition('ABORT', ''),
	caught => definition('ABORT', '"Retry": [{"ErrorEquals": ["Fatal"], "IntervalSeconds": 1, "MaxAttempts": 1}], '
		  . '"Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Last"}],'));
for my $name (sort keys %machine)
{
	$node->safe_psql('postgres', "SELECT sf_create_state_machine('$name', \$def\$$machine{$name}\$def\$)");
}
$node->safe_psql('postgres', "SELECT sf_create_state_machine('silent', \$def\$$machine{caught}\$def\$,
	options => '{\"history\": \"NONE\"}')");
my @names = (sort(keys %machine), 'silent');
$node->safe_psql('postgres',
	"SELECT sf_start(m, '{}', 'x' || n) FROM unnest('{" . join(',', @names)
		. "}'::text[]) AS m, generate_series(1, $executions / 4) AS n");

# Operators: they may meet anything but an error that is not of class SF.
my $script = "${PostgreSQL::Test::Utils::tmp_check}/operate.sql";
append_to_file($script, <<"EOS");
\\set action random(0, 11)
\\set n random(1, @{[int($executions / 4)]})
\\set m random(1, 4)
SELECT operate(:action, ('{@{[join ',', @names]}}'::text[])[:m] || ':x' || :n);
\\sleep 10 ms
EOS
my @pgbench = ('pgbench', '-n', '-c', 4, '-j', 2, '-T', $seconds, '-f', $script, '-h', $node->host, '-p', $node->port,
	'postgres');
my $operators = IPC::Run::start(\@pgbench, '>', \my $out, '2>', \my $err);
my $end = time + $seconds;
my $kills = 0;
while (time < $end)
{
	$kills += $node->safe_psql('postgres',
		q{SELECT count(pg_terminate_backend(pid))
			FROM (SELECT pid FROM sf_workers WHERE role <> 'launcher' ORDER BY random() LIMIT 1) AS w});
	sleep 0.5;
}
$operators->finish;
is($?, 0, 'operators met no error that they did not expect') or diag($err);
note("$kills workers killed");

# Calm: no failures, no stops. What is there runs to its end.
$node->safe_psql('postgres', 'UPDATE setting SET calm = true');
for my $round (1 .. 3)
{
	my $ended = ended($node);
	ok($ended, "everything ends, round $round")
	  or diag($node->safe_psql('postgres',
	  	q{SELECT execution_id, waiting_on FROM sf_executions WHERE status = 'RUNNING'}));
	last unless $ended;
	$node->safe_psql('postgres',
		q{SELECT sf_redrive(execution_id) FROM sf_executions WHERE status NOT IN ('RUNNING', 'SUCCEEDED')});
}
is($node->safe_psql('postgres', 'SELECT status, count(*) FROM sf_executions GROUP BY 1'), "SUCCEEDED|$executions",
	'all have succeeded');
no_surprises($node);

# A task that committed is in the history as succeeded. Only where its outcome was given up with all of
# its branch (ABORT and a new attempt, a restart) it may have been announced and left without an end.
is($node->safe_psql('postgres', <<'EOS'), '', 'the ledger holds what the histories say');
WITH said AS (
	SELECT execution_id, state, count(*) FILTER (WHERE type = 'TaskSucceeded') AS succeeded,
		count(*) FILTER (WHERE type = 'TaskStarted') - count(*) FILTER (WHERE type = 'TaskFailed') AS begun
	FROM sf_history WHERE state IS NOT NULL AND execution_id NOT LIKE 'silent:%' GROUP BY 1, 2)
SELECT * FROM said JOIN sf_executions AS e USING (execution_id)
	CROSS JOIN LATERAL (SELECT count(*) AS rows FROM ledger AS l WHERE l.execution = e.execution_id
		AND l.state = said.state) AS l
WHERE rows NOT BETWEEN succeeded AND begun
EOS

my $log = slurp_file($node->logfile);
# the worker that is to be ended may have ended just before
my @unexpected = grep { /(ERROR|WARNING|PANIC|LOG):  / && !/LOG:  (?!unexpected|sfflow makes branch)/ &&
	!/WARNING:  PID \d+ is not a PostgreSQL backend process/ } split /\n/, $log;
is(join("\n", @unexpected), '', 'nothing unexpected in the log');
$node->stop;
done_testing();
