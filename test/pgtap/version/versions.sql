-- Versions of a state machine: starts by number and by alias, differences, and executions that move to another version.
-- needs: hold
BEGIN;
SELECT plan(98);

CREATE FUNCTION pg_temp.define(name text, definition json) RETURNS integer LANGUAGE sql AS $$
	SELECT sf_create_state_machine(name, definition, or_replace => true) $$;
CREATE FUNCTION pg_temp.say(word text, extra text DEFAULT '', start text DEFAULT 'A') RETURNS json LANGUAGE sql AS $$
	SELECT format('{"StartAt": "%s", "States": {"A": {"Type": "Pass", "Result": "%s", "End": true}%s}}', start, word,
		extra)::json $$;

SELECT is(pg_temp.define('m', pg_temp.say('one')), 1, 'version 1');
SELECT is(pg_temp.define('m', pg_temp.say('two')), 2, 'version 2');
SELECT is(pg_temp.define('m', pg_temp.say('three')), 3, 'version 3');

-- Starts by number.
SELECT is(sf_start('m', name => 'current'), 'm:current');
SELECT is(sf_start('m/1', name => 'slash'), 'm:slash');
SELECT is(sf_start('m', name => 'argument', version => 2), 'm:argument');
SELECT results_eq($$ SELECT name COLLATE "default", version FROM sf_executions WHERE state_machine = 'm' ORDER BY 1 $$,
	$$ VALUES ('argument', 2), ('current', 3), ('slash', 1) $$, 'the version that was asked for');
SELECT throws_ok($$ SELECT sf_start('m', version => 4) $$, 'SF003', 'state machine "m" has no version 4');
SELECT throws_ok($$ SELECT sf_start('m/0') $$, 'SF003', 'state machine "m" has no version or alias "0"');
SELECT throws_ok($$ SELECT sf_start('m', version => 0) $$, 'SF012', 'argument version must be 1 or more, not 0');
SELECT throws_ok($$ SELECT sf_start('m/1', version => 2) $$, 'SF012',
	'argument version must not be given for "m/1", which names one');

-- Aliases.
SELECT lives_ok($$ SELECT sf_set_alias('m', 'prod', '{"2": 100}') $$, 'an alias');
SELECT is(sf_start('m/prod', name => 'alias'), 'm:alias');
SELECT is((SELECT version FROM sf_executions WHERE execution_id = 'm:alias'), 2, 'an alias names a version');
SELECT lives_ok($$ SELECT sf_set_alias('m', 'prod', '{"3": 30, "1": 70}') $$, 'it is moved to two versions');
SELECT results_eq($$ SELECT state_machine COLLATE "default", alias COLLATE "default", version, percent FROM sf_aliases
	ORDER BY version $$,
	$$ VALUES ('m', 'prod', 1, 70), ('m', 'prod', 3, 30) $$, 'the view sf_aliases');
SELECT is((SELECT count(*) FROM sf_start_many('m/prod', array_fill('{}'::jsonb, ARRAY[1000]))), 1000::bigint,
	'a thousand starts');
SELECT ok(abs((SELECT count(*) FROM sf_executions WHERE state_machine = 'm' AND version = 1) - 701) < 75,
	'of which 70 percent are of version 1');
SELECT is((SELECT count(*) FROM sf_executions WHERE state_machine = 'm' AND version IN (1, 3)), 1002::bigint,
	'and the others of version 3');
SELECT is(sf_start('m/prod', name => 'alias'), 'm:alias', 'an execution that is there keeps its version');
SELECT is((SELECT version FROM sf_executions WHERE execution_id = 'm:alias'), 2, '... 2');
SELECT is(sf_run('m:alias'), 'SUCCEEDED');
SELECT is((SELECT output FROM sf_executions WHERE execution_id = 'm:alias'), '"two"', 'it ran what version 2 says');
SELECT is(sf_start('arn:aws:states:us-east-1:123456789012:stateMachine:m:prod', name => 'arn'), 'm:arn',
	'an ARN with an alias');
SELECT lives_ok($$ SELECT sf_graph('m/prod') $$, 'other functions take an alias, too');
SELECT throws_ok($$ SELECT sf_start('m/prud') $$, 'SF003', 'state machine "m" has no version or alias "prud"');
SELECT throws_ok($$ SELECT sf_set_alias('m', '7', '{"1": 100}') $$, 'SF002', 'alias "7" must not be a number');
SELECT throws_ok($$ SELECT sf_set_alias('m', 'a/b', '{"1": 100}') $$, 'SF002',
	'alias "a/b" contains a character that is not allowed');
SELECT throws_ok($$ SELECT sf_set_alias('m', 'bad', '{"1": 90}') $$, 'SF012',
	'argument versions must add up to 100 percent, not 90');
SELECT throws_ok($$ SELECT sf_set_alias('m', 'bad', '{"4": 100}') $$, 'SF012',
	'argument versions has "4", which is no version of state machine "m"');
SELECT throws_ok($$ SELECT sf_set_alias('m', 'bad', '{"01": 100}') $$, 'SF012',
	'argument versions has "01", which is no version of state machine "m"');
SELECT throws_ok($$ SELECT sf_set_alias('m', 'bad', '{"1": 100.5}') $$, 'SF012',
	'argument versions must give version 1 an integer from 0 to 100');
SELECT lives_ok($$ SELECT sf_set_alias('m', 'whole', '{"1": 60.0, "2": 4e1}') $$,
	'an integer may be written as another number');
SELECT results_eq($$ SELECT version, percent FROM sf_aliases WHERE alias = 'whole' ORDER BY version $$,
	$$ VALUES (1, 60), (2, 40) $$, '... and is shown');
SELECT sf_drop_alias('m', 'whole') \g /dev/null
SELECT throws_ok($$ SELECT sf_set_alias('m', 'bad', '{}') $$, 'SF012', 'argument versions must have 1 to 10 versions');
SELECT throws_ok($$ SELECT sf_set_alias('m', 'bad', '[1]') $$, 'SF012', 'argument versions must be a JSON object');
SELECT throws_ok($$ SELECT sf_drop_alias('m', 'prd') $$, 'SF003', 'state machine "m" has no version or alias "prd"');
SELECT lives_ok($$ SELECT sf_drop_alias('m', 'prod') $$, 'dropped');
SELECT is_empty($$ SELECT FROM sf_aliases $$, 'and gone');

-- What two versions differ in.
SELECT pg_temp.define('m',
	pg_temp.say('three', ', "B/~": {"Type": "Choice", "Choices": [{"Variable": "$", "IsNull": true, "Next": "A"}], '
		'"Default": "A"}', 'B/~')) \g /dev/null
SELECT pg_temp.define('m',
	pg_temp.say('four', ', "B/~": {"Type": "Choice", "Choices": [{"Variable": "$.x", "IsNull": true, "Next": "A"}, '
		'{"Variable": "$", "IsNull": false, "Next": "A"}]}', 'B/~')) \g /dev/null
SELECT set_eq($$ SELECT * FROM sf_diff_versions('m', 4, 5) $$, $$ VALUES ('/States/A/Result', 'changed',
		'"three"'::jsonb, '"four"'::jsonb),
	('/States/B~1~0/Choices/0/Variable', 'changed', '"$"', '"$.x"'),
	('/States/B~1~0/Choices/1', 'added', NULL, '{"Next": "A", "IsNull": false, "Variable": "$"}'),
	('/States/B~1~0/Default', 'removed', '"A"', NULL) $$, 'by pointer');
SELECT is_empty($$ SELECT FROM sf_diff_versions('m', 2, 2) $$, 'a version does not differ from itself');
SELECT throws_ok($$ SELECT sf_diff_versions('m', 1, 9) $$, 'SF003', 'state machine "m" has no version 9');

-- Executions that move.
SELECT pg_temp.define('move', '{"StartAt": "Both", "States": {
	"Both": {"Type": "Parallel", "Next": "Last", "Branches": [
		{"StartAt": "Left", "States": {"Left": {"Type": "Pass", "End": true}}},
		{"StartAt": "Nap", "States": {"Nap": {"Type": "Wait", "Seconds": 60, "Next": "Bad"}, "Bad": {"Type": "Fail",
			"Error": "Old"}}}]},
	"Last": {"Type": "Pass", "Result": "old", "End": true}}}') \g /dev/null
SELECT pg_temp.define('move', '{"StartAt": "First", "States": {
	"First": {"Type": "Pass", "Next": "Both"},
	"Both": {"Type": "Parallel", "Next": "Last", "Branches": [
		{"StartAt": "LeftNow", "States": {"LeftNow": {"Type": "Pass", "End": true}}},
		{"StartAt": "Rest", "States": {"Rest": {"Type": "Wait", "Seconds": 1, "Next": "Good"}, "Good": {"Type": "Pass",
			"Result": "good", "End": true}}}]},
	"Last": {"Type": "Pass", "Result": "new", "End": true}}}') \g /dev/null
SELECT is(sf_start('move/1', name => 'a'), 'move:a');
SELECT is(sf_run('move:a'), 'RUNNING', 'it rests in a branch');
SELECT throws_ok($$ SELECT sf_migrate('move:a', 3) $$, 'SF003', 'state machine "move" has no version 3');
SELECT throws_ok($$ SELECT sf_migrate('move:a', 2) $$, 'SF012',
	'execution "move:a" cannot be migrated from version 1 to version 2');
SELECT throws_ok($$ SELECT sf_migrate('move:a', 2, '{"Nup": "Rest"}') $$, 'SF012',
	'argument state_map has "Nup", which is no state or job of the execution''s version');
SELECT throws_ok($$ SELECT sf_migrate('move:a', 2, '{"Nap": "Good"}') $$, 'SF012',
	'execution "move:a" cannot be migrated from version 1 to version 2');
SELECT throws_ok($$ SELECT sf_migrate('move:a', 2, '{"Nap": "Last"}') $$, 'SF012',
	'execution "move:a" cannot be migrated from version 1 to version 2');
SELECT is((SELECT version FROM sf_executions WHERE execution_id = 'move:a'), 1, 'what is refused changes nothing');
SELECT lives_ok($$ SELECT sf_migrate('move:a', 2, '{"Nap": "Rest"}') $$, 'with the name that the state has there');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT is(sf_run('move:a', skip_waits => true), 'SUCCEEDED', 'it goes on in the other version');
SELECT is((SELECT output FROM sf_executions WHERE execution_id = 'move:a'), '"new"', 'to its end');
SELECT is((SELECT details FROM sf_history WHERE execution_id = 'move:a' AND type = 'ExecutionMigrated'),
	'{"toVersion": 2, "fromVersion": 1, "stateMap": {"Nap": "Rest"}}', 'the history says so');
SELECT throws_ok($$ SELECT sf_migrate('move:a', 1) $$, 'SF008',
	'execution "move:a" has SUCCEEDED and cannot be migrated to another version');

-- A redrive in another version.
SELECT pg_temp.define('fix', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": 1, "Next": "B"},
	"B": {"Type": "Task", "Resource": "sql:pg_temp.nothing", "End": true}}}') \g /dev/null
SELECT pg_temp.define('fix', '{"StartAt": "B", "States": {"B": {"Type": "Pass", "Next": "C"}, "C": {"Type": "Pass",
	"End": true}}}') \g /dev/null
SELECT sf_start('fix/1', name => i) FROM unnest('{x, y}'::text[]) AS i \g /dev/null
SELECT is(sf_run('fix:x'), 'FAILED', 'one fails');
SELECT is(sf_run('fix:y'), 'FAILED', '... so does the other');
SELECT is(sf_redrive('fix:x', version => 2), 1);
SELECT is(sf_run('fix:x'), 'SUCCEEDED', 'in the version that is mended');
SELECT is(sf_redrive('fix:y', from_state => 'B', version => 2), 1,
	'also from a state, with the input that it had in the other version');
SELECT is(sf_run('fix:y'), 'SUCCEEDED');
SELECT is((SELECT output FROM sf_executions WHERE execution_id = 'fix:y'), '1', 'which is its output');
-- A child execution by an alias.
SELECT pg_temp.define('parent', '{"StartAt": "C", "States": {"C": {"Type": "Task",
	"Resource": "arn:aws:states:::states:startExecution.sync:2",
	"Parameters": {"StateMachineArn.$": "$.machine"}, "OutputPath": "$.Output", "End": true}}}') \g /dev/null
SELECT sf_set_alias('m', 'old', '{"1": 100}') \g /dev/null
SELECT sf_start('parent', '{"machine": "m/old"}', 'alias'), sf_start('parent', '{"machine": "m/nix"}', 'none')
	\g /dev/null
SELECT sf_run('parent:alias') \g /dev/null
SELECT sf_run(execution_id) FROM sf_executions WHERE parent_execution_id = 'parent:alias' \g /dev/null
SELECT sf_run('parent:alias'), sf_run('parent:none') \g /dev/null
SELECT is((SELECT output FROM sf_executions WHERE execution_id = 'parent:alias'), '"one"',
	'a child is of the version that the alias names');
SELECT is((SELECT error FROM sf_executions WHERE execution_id = 'parent:none'),
	'StepFunctions.StateMachineDoesNotExistException', 'an alias that is not there is an error');

-- Versions that begin at different places, started together.
SELECT pg_temp.define('mixed', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": 1, "End": true}}}')
	\g /dev/null
SELECT pg_temp.define('mixed', '{"StartAt": "B", "States": {"Z": {"Type": "Succeed"}, "B": {"Type": "Pass", "Result": 2,
	"Next": "Z"}}}') \g /dev/null
SELECT sf_set_alias('mixed', 'both', '{"1": 50, "2": 50}') \g /dev/null
SELECT is((SELECT count(*) FROM sf_start_many('mixed/both', array_fill('{}'::jsonb, ARRAY[60]))), 60::bigint,
	'sixty starts of two versions');
SELECT is((SELECT string_agg(DISTINCT sf_run(execution_id), ' ') FROM sf_executions WHERE state_machine = 'mixed'),
	'SUCCEEDED', 'all run');
SELECT is((SELECT count(*) FROM sf_executions WHERE state_machine = 'mixed' AND output = to_jsonb(version)), 60::bigint,
	'each from the first state of its version');

-- What has happened in one version is shown by the names of the other one.
SELECT pg_temp.define('shown', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:query",
	"Parameters": {"Statement": "SELECT 1/0"}, "End": true}}}') \g /dev/null
SELECT pg_temp.define('shown', '{"StartAt": "New", "States": {"New": {"Type": "Task", "Resource": "sql:query",
	"Parameters": {"Statement": "SELECT 0"}, "Next": "T"},
	"T": {"Type": "Task", "Resource": "sql:query", "Parameters": {"Statement": "SELECT 1"}, "End": true}}}')
	\g /dev/null
SELECT sf_start('shown/1', name => 's') \g /dev/null
SELECT is(sf_run('shown:s'), 'FAILED');
SELECT is(sf_redrive('shown:s', version => 2), 1);
SELECT results_eq($$ SELECT job_id COLLATE "default", job_status COLLATE "default" FROM sf_jobs
	WHERE execution_id = 'shown:s' ORDER BY id $$, $$ VALUES ('New', 'skip'), ('T', 'entry') $$,
	'a job of the former version keeps its name');
SELECT is(sf_run('shown:s'), 'SUCCEEDED');
SELECT is((SELECT attempts FROM sf_jobs WHERE execution_id = 'shown:s' AND job_id = 'T'), 2, '... and its attempts');

-- A task that has begun, and an execution that has not.
SELECT sf_create_activity('moved-activity') \g /dev/null
SELECT pg_temp.define('kind', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "activity:moved-activity",
	"End": true}}}') \g /dev/null
SELECT pg_temp.define('kind', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:query",
	"Parameters": {"Statement": "SELECT 1"}, "End": true}}}') \g /dev/null
SELECT sf_start('kind/1', name => 'k'), sf_run('kind:k'), sf_start('kind/1', name => 'new') \g /dev/null
SELECT throws_ok($$ SELECT sf_migrate('kind:k', 2) $$, 'SF012',
	'execution "kind:k" cannot be migrated from version 1 to version 2');
SELECT sf_migrate('kind:new', 2), sf_run('kind:new') \g /dev/null
SELECT is((SELECT type FROM sf_history WHERE execution_id = 'kind:new' AND id = 1), 'ExecutionStarted',
	'a history begins with the start');

-- A Distributed Map whose children run: they stay in their version, and its run goes on in the other one, where its
-- state has a number that the former version does not have.
CREATE FUNCTION pg_temp.map(before text, more text, after text) RETURNS json LANGUAGE sql AS $$
	SELECT format('{"StartAt": %s, "States": {%s "Items": {"Type": "Map", "ItemsPath": "$.items",
		%s "FailureMode": "DRAIN", "ItemProcessor":
		{"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Nap",
			"States": {"Nap": {"Type": "Wait", "Seconds": 60, "Next": "Which"},
		"Which": {"Type": "Choice", "Choices": [{"Variable": "$", "NumericEquals": 2, "Next": "Bad"}],
			"Default": "Good"},
		"Bad": {"Type": "Fail", "Error": "Bad"}, "Good": {"Type": "Succeed"}}}, %s}}}',
		CASE before WHEN '' THEN '"Items"' ELSE '"P1"' END, before, more, after)::json $$;
SELECT string_agg(format('"P%s": {"Type": "Pass", "Next": %s},', n, CASE n WHEN 9 THEN '"Items"' ELSE format('"P%s"',
			n + 1) END), ' ') AS passes FROM generate_series(1, 9) n \gset
SELECT pg_temp.define('items', pg_temp.map('', '', '"End": true')) \g /dev/null
SELECT pg_temp.define('items',
	pg_temp.map(:'passes', '', '"Next": "Last"}, "Last": {"Type": "Pass", "Result": "new", "End": true')) \g /dev/null
SELECT pg_temp.define('items',
	pg_temp.map('', '"ResultWriter": {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "b"}},',
		'"End": true')) \g /dev/null
SELECT sf_start('items/1', '{"items": [1, 3]}', name => 'good'), sf_start('items/1', '{"items": [1, 2]}', name => 'bad')
	\g /dev/null
SELECT is(sf_run('items:good'), 'RUNNING', 'the children of one rest');
SELECT is(sf_run('items:bad'), 'RUNNING', '... and those of another one');
SELECT throws_ok($$ SELECT sf_migrate('items:good', 3) $$, 'SF012', NULL,
	'a Map that writes its results otherwise is another one');
SELECT sf_migrate('items:good', 2), sf_migrate('items:bad', 2) \g /dev/null
SELECT set_eq($$ SELECT DISTINCT version FROM _sfflow.execution WHERE map_run_no IS NOT NULL
	AND execution_id LIKE 'items/%' $$, 'VALUES (1)', 'the children stay in their version');
SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT is(sf_run('items:good', skip_waits => true), 'SUCCEEDED', 'they end, and so does the Map');
SELECT is((SELECT output FROM sf_executions WHERE execution_id = 'items:good'), '"new"',
	'... which goes on in the other version');
SELECT is(sf_run('items:bad', skip_waits => true), 'FAILED', 'one that fails');
SELECT is((SELECT error FROM sf_executions WHERE execution_id = 'items:bad'), 'States.ExceedToleratedFailureThreshold',
	'... fails the Map');
SELECT set_eq($$ SELECT state, succeeded, failed FROM sf_map_runs WHERE execution_id LIKE 'items:%' $$,
	$$ VALUES ('Items'::text, 2::bigint, 0::bigint), ('Items', 1, 1) $$, 'the runs count them');

SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
-- Jobs of a net that have other names and other numbers: those that have run stay done.
CREATE FUNCTION version_job(payload jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF payload ? 'bad' AND (SELECT count(*) FROM version_ready) = 0 THEN
		RAISE 'not yet';
	END IF;
	INSERT INTO version_ran VALUES (payload ->> 'name');
	RETURN payload ->> 'name';
END $$;
CREATE TABLE version_ready (ready boolean);
CREATE TABLE version_ran (name text, n serial);
CREATE FUNCTION pg_temp.job(name text, more text DEFAULT '', payload text DEFAULT '') RETURNS text LANGUAGE sql AS $$
	SELECT format('"%s": {"Type": "Task", "Resource": "sql:%s.version_job", "Parameters": {"name": "%s"%s}%s}', name,
		current_schema, name, payload, more) $$;
CREATE FUNCTION pg_temp.flow(name text, task text, more text) RETURNS text LANGUAGE sql AS $$
	SELECT format('"%s": {"StartAt": "%s", "States": {%s}%s}', name, task, pg_temp.job(task, ', "End": true'), more) $$;
CREATE FUNCTION pg_temp.net(jobs text) RETURNS integer LANGUAGE sql AS $$
	SELECT pg_temp.define('nets', format('{"StartAt": "N", "States": {"N": {"Type": "JobNet", "Jobs": {%s},
			"End": true}}}', jobs)::json) $$;
SELECT pg_temp.net(concat_ws(', ', pg_temp.job('Load'), pg_temp.job('Sum', ', "After": ["Load"]', ', "bad": 1'),
	pg_temp.flow('Flow', 'Print', ', "After": ["Load", {"Job": "Sum", "On": ["success"]}]'))) \g /dev/null
SELECT pg_temp.net(concat_ws(', ', pg_temp.flow('Paper', 'Print', ', "After": ["Total", "Files"]'),
		pg_temp.job('Total', ', "Priority": 5, "After": ["Files"]', ', "bad": 1'),
	pg_temp.job('Files'))) \g /dev/null
SELECT pg_temp.net(concat_ws(', ', pg_temp.job('Load'), pg_temp.job('Sum', '', ', "bad": 1'),
		pg_temp.flow('Flow', 'Print', ', "After": ["Load", "Sum"]'))) \g /dev/null
SELECT sf_start('nets', name => 'a', version => 1), sf_run('nets:a') \g /dev/null
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'nets:a'), 'FAILED', 'a job fails');
CREATE FUNCTION pg_temp.refused(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	told text;
BEGIN
	EXECUTE call;
	RETURN 'moved';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS told = PG_EXCEPTION_DETAIL;
	RETURN told;
END $$;
SELECT matches(pg_temp.refused($$ SELECT sf_migrate('nets:a', 2) $$), 'State "N" of version 2 has no job "Load".',
	'a job that has no name there');
SELECT matches(pg_temp.refused($$ SELECT sf_migrate('nets:a', 2, '{"Load": "Files", "Sum": "Files",
			"Flow": "Paper"}') $$), 'Two jobs of state "N" become "Files".', 'two of one name');
SELECT matches(pg_temp.refused($$ SELECT sf_migrate('nets:a', 3) $$),
	'Job "Sum" of state "N" waits for other jobs in version 3.', 'other predecessors');
SELECT throws_ok($$ SELECT sf_migrate('nets:a', 2, '{"Flaw": "Paper"}') $$, 'SF012',
	'argument state_map has "Flaw", which is no state or job of the execution''s version');
SELECT sf_migrate('nets:a', 2, '{"Load": "Files", "Sum": "Total", "Flow": "Paper"}') \g /dev/null
INSERT INTO version_ready VALUES (true);
TRUNCATE version_ran;
SELECT sf_redrive('nets:a'), sf_run('nets:a') \g /dev/null
SELECT is((SELECT string_agg(name, ' ' ORDER BY n) FROM version_ran), 'Total Print', 'it goes on behind what is done');
SELECT is((SELECT status || ' ' || output FROM sf_executions WHERE execution_id = 'nets:a'),
	'SUCCEEDED {"Files": "Load", "Paper": "Print", "Total": "Total"}', 'to the end');
SELECT is_empty($$ SELECT * FROM sf_check() $$, 'the tables hold together');

-- A hold of a state that a later version does not have, or calls otherwise, can be released.
SELECT pg_temp.define('held', '{"StartAt": "Old", "States": {"Old": {"Type": "Pass", "End": true}}}') \g /dev/null
SELECT sf_start('held', name => 'x'), sf_start('held', name => 'y'), sf_hold('held/Old'), sf_hold('held:y', 'Old'),
	sf_run('held:x'), sf_run('held:y') \g /dev/null
SELECT pg_temp.define('held', '{"StartAt": "New", "States": {"New": {"Type": "Pass", "End": true}}}') \g /dev/null
SELECT sf_migrate('held:' || name, 2, '{"Old": "New"}') FROM unnest('{x,y}'::text[]) name \g /dev/null
SELECT is(sf_run('held:x'), 'SUCCEEDED', 'a hold of the machine''s state does not hold the new one');
SELECT is(sf_run('held:y'), 'RUNNING', '... that of the execution''s state does');
SELECT is(sf_release('held/Old') + sf_release('held:y', 'New'), 1::bigint, 'both can be released');
SELECT is(sf_run('held:y'), 'SUCCEEDED', 'it goes on in the new version');

SELECT * FROM finish();
ROLLBACK;
