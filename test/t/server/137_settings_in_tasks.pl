# No setting that an owner may change keeps an execution from ending, ends a worker, or changes what the engine works
# out: each is set by its function, by ALTER ROLE, and some for the database and the whole server.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use SfTest;
use Test::More;

my $node = new_node('main', conf => <<'EOC');
sfflow.workers = 3
sfflow.max_workers = 6
log_min_messages = warning
log_statement = none
EOC

# What owners run: it asks the engine for results, and starts an execution by itself.
$node->safe_psql('postgres', <<'EOC');
CREATE SCHEMA lab;
GRANT USAGE ON SCHEMA lab TO PUBLIC;
CREATE FUNCTION lab.results() RETURNS jsonb LANGUAGE sql AS $$
SELECT jsonb_build_object(
	'arithmetic', public.sf_jsonata('[$sum([0.1, 0.2, 1e300]), $round(2.5), 1/3, $formatNumber(1234.5, "#,##0.00")]',
		'{}'),
	'time', public.sf_jsonata('[$fromMillis(1738713600123), $toMillis("2025-02-05T00:00:00Z")]', '{}'),
	'text', public.sf_jsonata('[$uppercase("straße"), $split("a,b", ","), "é" & 1, $match("ab12", /[0-9]+/).match]',
		'{}'),
	'valid', (SELECT count(*) FROM public.sf_validate('{"StartAt": "A", "States": {"A": {"Type": "Wait",
		"Timestamp": "2025-02-05T00:00:00Z", "End": true}}}')))
$$;
CREATE TABLE lab.settings (no serial PRIMARY KEY, name text, value text, super boolean, way text, expected text);
CREATE FUNCTION lab.quiet(command text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN true;
EXCEPTION WHEN OTHERS THEN
	RETURN false;
END $$;
EOC

# Each value that is worth a try: the ends of its range, each of an enum, what is likely to hurt.
$node->safe_psql('postgres', <<'EOC');
WITH allowed AS (
	SELECT name, vartype, min_val, max_val, enumvals, boot_val, reset_val, context = 'superuser' AS super
	FROM pg_settings
	-- sfflow.debug_point is not listed; sfflow's own limits do what they say
	WHERE context IN ('user', 'superuser') AND name !~ '^sfflow\.|^role$|^session_authorization$|^is_superuser$'
), tried AS (
	SELECT name, super, v.value FROM allowed, LATERAL (
		SELECT unnest(ARRAY['on', 'off']) AS value WHERE vartype = 'bool'
		UNION SELECT unnest(ARRAY[min_val, max_val]) WHERE vartype IN ('integer', 'real')
		UNION SELECT CASE WHEN min_val::numeric <= 1 AND max_val::numeric >= 1 THEN '1' END
			WHERE vartype IN ('integer', 'real')
		UNION SELECT unnest(enumvals) WHERE vartype = 'enum'
		UNION SELECT unnest(ARRAY['', boot_val, 'C', 'German, DMY', 'nowhere']) WHERE vartype = 'string') AS v
	WHERE v.value IS NOT NULL)
INSERT INTO lab.settings (name, value, super, way)
SELECT name, value, super, way FROM tried, unnest(ARRAY['function', 'role']) AS way ORDER BY name, value, way;
EOC

# A role, a function and a machine for each; those that PostgreSQL refuses are left out.
$node->safe_psql('postgres', <<'EOC');
SET client_min_messages = error;
DO $do$
DECLARE
	s lab.settings;
	owner text;
	made boolean;
BEGIN
	CREATE ROLE plain;
	GRANT CREATE, USAGE ON SCHEMA lab TO plain;
	CREATE ROLE mighty SUPERUSER;
	FOR s IN SELECT * FROM lab.settings ORDER BY no LOOP
		owner := CASE s.way WHEN 'role' THEN 'owner' || s.no WHEN 'function' THEN CASE WHEN s.super THEN 'mighty'
			ELSE 'plain' END END;
		IF s.way = 'role' THEN
			EXECUTE format('CREATE ROLE %I %s', owner, CASE WHEN s.super THEN 'SUPERUSER' ELSE '' END);
			made := lab.quiet(format('ALTER ROLE %I SET %s = %L', owner, s.name, s.value));
		ELSE
			made := true;
		END IF;
		IF made THEN
			made := lab.quiet(format($f$CREATE FUNCTION lab.f%s(setting text, value text) RETURNS jsonb
				LANGUAGE plpgsql %s AS $$
				BEGIN
					PERFORM set_config(setting, value, false);
					PERFORM set_config(setting, value, true);
					RETURN lab.results();
				EXCEPTION WHEN SQLSTATE '22023' OR SQLSTATE '25001' OR SQLSTATE '42501' OR SQLSTATE '55P02'
					OR SQLSTATE '0A000' OR SQLSTATE '42704' THEN
					RETURN lab.results(); -- not a value that may be set now
				END $$; ALTER FUNCTION lab.f%s(text, text) OWNER TO %I$f$,
				s.no, CASE s.way WHEN 'function' THEN format('SET %s = %L', s.name, s.value) ELSE '' END, s.no, owner));
		END IF;
		IF NOT made THEN
			DELETE FROM lab.settings WHERE no = s.no;
			CONTINUE;
		END IF;
		EXECUTE format('SET LOCAL ROLE %I', owner);
		PERFORM sf_create_state_machine('m' || s.no, format('{"StartAt": "Before", "States": {
			"Before": {"Type": "Pass", "Parameters": {"setting": %s, "value": %s}, "Next": "T"},
			"T": {"Type": "Task", "Resource": "sql:lab.f%s", "ResultPath": "$.results", "Next": "After"},
			"After": {"Type": "Pass", "QueryLanguage": "JSONata", "End": true,
				"Output": {"results": "{%% $states.input.results %%}",
				"more": "{%% [1/3, $uppercase(\"straße\"), $fromMillis(1738713600123)] %%}"}}}}',
			to_json(s.name), to_json(s.value), s.no)::json);
		RESET ROLE;
	END LOOP;
END $do$;
CREATE ROLE witness;
SET ROLE witness;
SELECT sf_create_state_machine('witness',
	'{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:lab.results", "End": true}}}');
EOC
my $cases = $node->safe_psql('postgres', 'SELECT count(*) FROM lab.settings');
cmp_ok($cases, '>', 800, "$cases settings and values to try");
my $expected = $node->safe_psql('postgres', 'SELECT lab.results()');

# All together, twice: a worker that has run one runs others after it.
for my $round (1 .. full(1, 3))
{
	$node->safe_psql('postgres', "SELECT sf_start('m' || no, '{}', 'r$round') FROM lab.settings");
	$node->safe_psql('postgres', "SELECT sf_start('witness', '{}', 'r$round-' || n) FROM generate_series(1, 50) AS n");
	ok(ended($node), "every execution ends, round $round");
}
is( $node->safe_psql('postgres',
	<<'EOC'), '', 'whatever an owner sets, its executions succeed, but for a stack that is too small');
SELECT s.name, s.value, s.way, x.status, x.error, left(x.cause, 200) FROM sf_executions AS x
LEFT JOIN lab.settings AS s ON x.state_machine = 'm' || s.no
WHERE x.status <> 'SUCCEEDED' AND NOT (s.name = 'max_stack_depth' AND s.value = '100'
	AND x.error = 'statement_too_complex')
EOC
is( $node->safe_psql('postgres', <<"EOC"), '', '... and what the engine works out is the same');
SELECT s.name, s.value, s.way, x.output FROM sf_executions AS x JOIN lab.settings AS s ON x.state_machine = 'm' || s.no
WHERE x.status = 'SUCCEEDED' AND x.output <> jsonb_build_object('results', lab.results(),
	'more', jsonb_build_array(0.3333333333333333::float8, 'STRASSE', '2025-02-05T00:00:00.123Z'))
	AND x.output <> jsonb_build_object('results', lab.results(), 'more',
		sf_jsonata('[1/3, \$uppercase("straße"), \$fromMillis(1738713600123)]', '{}'))
EOC
is( $node->safe_psql('postgres', "SELECT count(*), bool_and(output = lab.results()) FROM sf_executions
	WHERE state_machine = 'witness' AND status = 'SUCCEEDED'"),
	full(50, 150) . '|t', '... and so it is for an owner who sets nothing');

# What would end a worker, from every source.
my @fatal = ('exit_on_error = on');
push @fatal, 'transaction_timeout = 100'
  if $node->safe_psql('postgres', "SELECT count(*) FROM pg_settings WHERE name = 'transaction_timeout'");
$node->safe_psql('postgres', <<'EOC');
CREATE FUNCTION lab.slip() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_sleep(0.3);
	PERFORM 1 / 0;
EXCEPTION WHEN division_by_zero THEN
	RETURN current_setting('exit_on_error') || ' ' || coalesce(current_setting('transaction_timeout', true), '0');
END $$;
SELECT sf_create_state_machine('slip', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:lab.slip",
	"End": true}}}');
EOC
for my $fatal (@fatal)
{
	my ($name) = split / /, $fatal;
	my $n = 0;
	for my $way ('ALTER ROLE witness', 'ALTER DATABASE postgres', 'ALTER SYSTEM', 'ALTER FUNCTION lab.slip()',
		'ALTER ROLE CURRENT_USER', 'ALTER ROLE ALL')
	{
		# a session of the test has to live on itself
		local $ENV{PGOPTIONS} = '-c exit_on_error=off' . (@fatal > 1 ? ' -c transaction_timeout=0' : '');
		$node->safe_psql('postgres', "$way SET $fatal");
		$node->reload;
		# workers that connected before and such as connect now
		$node->safe_psql('postgres', "SELECT sf_start('slip', '{}', '$name-" . $n++ . "')") for 1 .. 2;
		ok(ended($node), "$way SET $fatal: every execution ends");
		$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid, 10000) FROM sf_workers
			WHERE role <> 'launcher'");
		$node->safe_psql('postgres', "SELECT sf_start('slip', '{}', '$name-" . $n++ . "')");
		ok(ended($node), '... also in workers that connect then');
		my $reset = $way eq 'ALTER SYSTEM' ? "ALTER SYSTEM RESET $name" : "$way RESET $name";
		$node->safe_psql('postgres', $reset);
		$node->reload;
	}
}
is( $node->safe_psql('postgres', "SELECT status, output, count(*) FROM sf_executions WHERE state_machine = 'slip'
	GROUP BY 1, 2"),
	'SUCCEEDED|"off 0"|' . 18 * @fatal, 'exit_on_error and transaction_timeout are off in every task');

# What is for sessions, set while workers live and while they do not: tasks see it, workers do not mind.
$node->safe_psql('postgres', <<'EOC');
CREATE FUNCTION lab.seen() RETURNS text LANGUAGE sql AS $$
SELECT concat_ws(' ', current_setting('default_transaction_isolation'),
	current_setting('default_transaction_read_only'),
	current_setting('lock_timeout'), current_setting('statement_timeout'), current_setting('search_path'),
	current_setting('transaction_isolation'), current_setting('transaction_read_only')) $$;
SELECT sf_create_state_machine('seen', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:lab.seen",
	"End": true}}}');
EOC
my @sessions = ("default_transaction_isolation = 'serializable'", 'default_transaction_read_only = on',
	"lock_timeout = '7ms'", "statement_timeout = '9ms'", 'search_path = lab');
for my $round (1 .. 2)
{
	local $ENV{PGOPTIONS} = "-c statement_timeout=0 -c default_transaction_read_only=off -c "
		. "default_transaction_isolation=read\\ committed -c search_path=public";
	$node->safe_psql('postgres', "ALTER SYSTEM SET $_") for @sessions;
	$node->reload;
	$node->poll_query_until('postgres', "SELECT reset_val = '7' FROM pg_settings WHERE name = 'lock_timeout'")
		or die 'no reload';
	# sessions of the test wait for locks as long as it takes
	$ENV{PGOPTIONS} .= ' -c lock_timeout=0';
	# workers that connected before and such as connect now
	$node->safe_psql('postgres', "SELECT sf_start('seen', '{}', 'reload-$round')");
	is($node->safe_psql('postgres', "SELECT sf_await('seen:reload-$round', '180 s')"), 'SUCCEEDED',
		"the server's settings for sessions change, round $round");
	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid, 10000) FROM sf_workers WHERE role <> 'launcher'");
	$node->safe_psql('postgres', "SELECT sf_start('seen', '{}', 'anew-$round')");
	ok(ended($node), '... and workers connect');
	$node->safe_psql('postgres', 'ALTER SYSTEM RESET ' . s/ .*//r) for @sessions;
	$node->reload;
	$node->safe_psql('postgres', "SELECT sf_start('seen', '{}', 'reset-$round')");
	ok(ended($node), '... and when it has them no longer');
}
is( $node->safe_psql('postgres', "SELECT status, output FROM sf_executions WHERE state_machine = 'seen'
	AND execution_id LIKE 'seen:anew%'"),
	join("\n", ('SUCCEEDED|"serializable on 7ms 9ms lab read committed off"') x 2),
		'a task sees the settings of sessions in a transaction of the worker');
is( $node->safe_psql('postgres', "SELECT DISTINCT status FROM sf_executions WHERE state_machine = 'seen'"), 'SUCCEEDED',
	'... and every execution succeeds');
no_surprises($node);
my $log = slurp_file($node->logfile);
unlike($log, qr/terminating any other active server processes|sfflow worker ends while/, 'no worker ended');

# In a client's session they stay as the session has them.
$node->safe_psql('postgres', 'SELECT sf_disable(); ALTER FUNCTION lab.slip() SET exit_on_error = on');
$node->safe_psql('postgres', "SELECT sf_start('slip', '{}', 'by-hand')");
is($node->safe_psql('postgres', "SELECT sf_run('slip:by-hand')"), 'SUCCEEDED', 'sf_run in a session');
is( $node->safe_psql('postgres', q{SELECT output FROM sf_executions WHERE execution_id = 'slip:by-hand'}), '"off 0"',
	'... is not ended by an error');

$node->stop;
done_testing();
