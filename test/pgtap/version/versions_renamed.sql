-- States that have other names in the version to which an execution is moved: what has happened in them stays theirs.
-- needs: hold
BEGIN;
SELECT plan(62);

CREATE TABLE renamed_ready (ready boolean);
CREATE TABLE renamed_ran (job text);
CREATE FUNCTION renamed_task(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	IF payload ? 'bad' AND NOT EXISTS (SELECT FROM renamed_ready) THEN
		RAISE 'not yet';
	END IF;
	INSERT INTO renamed_ran VALUES (payload ->> 'job');
	RETURN payload;
END $$;
-- TASK(name) and BAD(name) are Tasks of a name, up to the comma before what follows.
CREATE FUNCTION pg_temp.define(machine text, definition text) RETURNS integer LANGUAGE sql AS $$
	SELECT sf_create_state_machine(machine, regexp_replace(regexp_replace(definition,
		'TASK\((.*?)\)', format('"\1": {"Type": "Task", "Resource": "sql:%s.renamed_task", "Parameters": {"job": "\1"}',
			current_schema), 'g'),
		'BAD\((.*?)\)', format('"\1": {"Type": "Task", "Resource": "sql:%s.renamed_task", "Parameters": {"job": "\1", '
			'"bad": 1}', current_schema), 'g')::json,
		or_replace => true) $$;
CREATE FUNCTION pg_temp.jobs(execution text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', job_id, job_status, attempts), ', ' ORDER BY id) FROM sf_jobs
	WHERE execution_id = execution $$;
CREATE FUNCTION pg_temp.states(execution text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', s ->> 'name', s ->> 'status'), ', ' ORDER BY (s ->> 'id')::integer)
	FROM jsonb_array_elements(sf_graph_status(execution)) s $$;
CREATE FUNCTION pg_temp.spans(execution text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', job_id, status), ', ' ORDER BY first_event) FROM _sfflow.spans(execution, NULL,
		true, 0, 1000) $$;
CREATE FUNCTION pg_temp.events(execution text, state_no integer) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', state, type), ', ' ORDER BY id) FROM _sfflow.history_event_page(execution, NULL,
		NULL, state_no, NULL, NULL, NULL, 1000) $$;

-- A task, a pause, a task. In version 3 another state has a name of version 1; version 4 has the names of version 1,
-- exchanged.
SELECT pg_temp.define('steps', '{"StartAt": "Load", "States": {TASK(Load), "Next": "Nap"}, "Nap": {"Type": "Wait",
	"Seconds": 60, "Next": "Report"},
	BAD(Report), "End": true}}}') \g /dev/null
SELECT pg_temp.define('steps', '{"StartAt": "Fetch", "States": {TASK(Fetch), "Next": "Rest"}, "Rest": {"Type": "Wait",
	"Seconds": 60, "Next": "Summary"},
	BAD(Summary), "End": true}}}') \g /dev/null
SELECT pg_temp.define('steps', '{"StartAt": "Read", "States": {TASK(Load), "End": true}, BAD(Total), "Next": "Load"},
	"Rest": {"Type": "Wait", "Seconds": 60, "Next": "Total"}, TASK(Read), "Next": "Rest"}}}') \g /dev/null
SELECT pg_temp.define('steps', '{"StartAt": "Report", "States": {TASK(Report), "Next": "Nap"}, "Nap": {"Type": "Wait",
	"Seconds": 60, "Next": "Load"},
	BAD(Load), "End": true}}}') \g /dev/null
SELECT sf_start('steps/1', name => name) FROM unnest('{a, back, swap, same, again}'::text[]) name \g /dev/null
SELECT sf_run('steps:' || name) FROM unnest('{a, back, swap, same, again}'::text[]) name \g /dev/null
SELECT is(pg_temp.jobs('steps:a'), 'Load success 1, Report entry 0', 'before it is moved');
SELECT throws_ok($$ SELECT sf_migrate('steps:a', 2, '{"Nap": "Rest", "Load": "Fetsch"}') $$, 'SF012',
	'argument state_map gives "Load" the name "Fetsch", which is no state or job of version 2',
	'a name that is not there is refused');
SELECT sf_migrate('steps:a', 2, '{"Load": "Fetch", "Nap": "Rest", "Report": "Summary"}') \g /dev/null
SELECT is(pg_temp.jobs('steps:a'), 'Fetch success 1, Summary entry 0', 'jobs have their new names');
SELECT is(pg_temp.states('steps:a'), 'Fetch success, Rest running, Summary entry', 'states too');
SELECT is(pg_temp.spans('steps:a'), 'Fetch success, Rest running', 'and what the console shows');
SELECT matches(pg_temp.events('steps:a', 0), '^Load TaskStateEntered, .*, Load TaskStateExited$',
	'the events of a state are those of its former name');
SELECT results_eq($$ SELECT done, total FROM sf_progress('steps:a') $$, 'VALUES (1, 2)', 'one of two jobs is done');
SELECT is((SELECT details FROM sf_history WHERE execution_id = 'steps:a' AND type = 'ExecutionMigrated'),
	'{"fromVersion": 1, "toVersion": 2, "stateMap": {"Load": "Fetch", "Nap": "Rest", "Report": "Summary"}}',
	'the history has the map');
SELECT is((SELECT details FROM sf_audit WHERE action = 'migrate' AND target = 'steps:a'),
	'{"fromVersion": 1, "toVersion": 2, "stateMap": {"Load": "Fetch", "Nap": "Rest", "Report": "Summary"}}',
	'... and so does the audit');
SELECT is((SELECT jsonb_path_query_first(sf_aws_api('GetExecutionHistory',
	'{"executionArn": "arn:aws:states:us-east-1:000000000000:execution:steps:a", "reverseOrder": true,
		"maxResults": 1}'),
	'$.events[0].executionMigratedEventDetails.stateMap')), '{"Load": "Fetch", "Nap": "Rest", "Report": "Summary"}',
	'... for the AWS API, too');
SELECT sf_migrate('steps:a', 3, '{"Fetch": "Read", "Summary": "Total", "Rest": "Rest"}') \g /dev/null
SELECT is(pg_temp.jobs('steps:a'), 'Load entry 0, Total entry 0, Read success 1', 'after a second move, too');
SELECT is(pg_temp.states('steps:a'), 'Load entry, Total entry, Rest running, Read success',
	'... the state that has the first name is another one');
SELECT is(pg_temp.spans('steps:a'), 'Read success, Rest running', '... for the console');
SELECT is((SELECT details FROM sf_history WHERE execution_id = 'steps:a' AND type = 'ExecutionMigrated'
		ORDER BY id DESC LIMIT 1),
	'{"fromVersion": 2, "toVersion": 3, "stateMap": {"Fetch": "Read", "Summary": "Total"}}',
	'a name that stays is not in the map');
SELECT is(sf_run('steps:a', skip_waits => true), 'FAILED', 'it goes on and fails');
SELECT is(pg_temp.jobs('steps:a'), 'Load skip 0, Total failure 1, Read success 1',
	'the job that fails has its new name');

-- A redrive, in the version and in another one: the former names are found by the way of both moves.
INSERT INTO renamed_ready VALUES (true);
SELECT is(sf_redrive('steps:a', from_state => 'Read'), 1,
	'a redrive from a state, with the input that it had under its first name');
SELECT is(sf_run('steps:a', skip_waits => true), 'SUCCEEDED', '... runs');
SELECT is(pg_temp.jobs('steps:a'), 'Load success 1, Total success 2, Read success 2',
	'... and adds to what has happened');

-- Back to the version in which it began, under the other's name: events of the same version have numbers that changed.
SELECT sf_migrate('steps:back', 2, '{"Load": "Fetch", "Nap": "Rest", "Report": "Summary"}') \g /dev/null
SELECT sf_migrate('steps:back', 1, '{"Fetch": "Load", "Rest": "Nap", "Summary": "Report"}') \g /dev/null
SELECT is(pg_temp.jobs('steps:back'), 'Load success 1, Report entry 0', 'there and back again');
SELECT sf_migrate('steps:swap', 4, '{"Load": "Report", "Report": "Load"}') \g /dev/null
SELECT is(pg_temp.jobs('steps:swap'), 'Report success 1, Load entry 0', 'names that are exchanged');
SELECT is(pg_temp.spans('steps:swap'), 'Report success, Nap running', '... for the console');
SELECT sf_migrate('steps:swap', 1) \g /dev/null
SELECT is(pg_temp.jobs('steps:swap'), 'Load skip 0, Report success 1',
	'... which another move leaves so, in the version in which they were not');
SELECT is(pg_temp.spans('steps:swap'), 'Report success, Nap running', '... for the console');
SELECT matches(pg_temp.events('steps:swap', 2), '^Load TaskStateEntered, .*, Load TaskStateExited$',
	'... and its events');
SELECT sf_migrate('steps:same', 4, '{"Load": "Load"}') \g /dev/null
SELECT is((SELECT details FROM sf_history WHERE execution_id = 'steps:same' AND type = 'ExecutionMigrated'),
	'{"fromVersion": 1, "toVersion": 4}', 'a map that renames nothing is not recorded');
-- A restart begins anew, and forgets the names of before.
SELECT sf_migrate('steps:again', 4, '{"Load": "Report", "Report": "Load"}') \g /dev/null
DELETE FROM renamed_ready;
SELECT is(sf_run('steps:again', skip_waits => true), 'FAILED', 'one that fails after it was moved');
SELECT is(sf_start('steps/1', name => 'again', if_exists => 'restart'), 'steps:again',
	'... is begun anew in the first version');
SELECT sf_run('steps:again') \g /dev/null
SELECT is(pg_temp.jobs('steps:again'), 'Load success 1, Report entry 0', '... whose names count');
SELECT is(pg_temp.spans('steps:again'), 'Load success, Nap running', '... for the console');

-- Failed, moved, and redriven in a third version, which the redrive itself names.
SELECT pg_temp.define('late', '{"StartAt": "A", "States": {TASK(A), "Next": "B"}, BAD(B), "End": true}}}') \g /dev/null
SELECT pg_temp.define('late', '{"StartAt": "C", "States": {TASK(C), "Next": "D"}, BAD(D), "End": true}}}') \g /dev/null
SELECT pg_temp.define('late', '{"StartAt": "New", "States": {TASK(New), "Next": "D"}, BAD(D), "Next": "C"}, TASK(C),
	"End": true}}}') \g /dev/null
SELECT sf_start('late/1', '{"x": 7}', name => name) FROM unnest('{a, b}'::text[]) name \g /dev/null
SELECT sf_run('late:' || name) FROM unnest('{a, b}'::text[]) name \g /dev/null
SELECT sf_migrate('late:' || name, 2, '{"A": "C", "B": "D"}') FROM unnest('{a, b}'::text[]) name \g /dev/null
SELECT is(pg_temp.jobs('late:a'), 'C success 1, D failure 1', 'what failed has its new name');
INSERT INTO renamed_ready VALUES (true);
SELECT is(sf_redrive('late:a', version => 3), 1, 'redriven in a further version');
SELECT is(pg_temp.jobs('late:a'), 'New skip 0, D entry 1, C success 1', '... its jobs are known there');
SELECT is(sf_run('late:a'), 'SUCCEEDED', '... to the end');
SELECT is(sf_redrive('late:b', from_state => 'C', version => 3), 1, 'redriven from a state in a further version');
SELECT is(sf_run('late:b'), 'SUCCEEDED', '... to the end');
SELECT is((SELECT input FROM sf_jobs WHERE execution_id = 'late:b' AND job_id = 'C'), '{"x": 7}',
	'... of its former name');

-- Marks of jobs that no branch has come to: two names are exchanged.
DELETE FROM renamed_ready;
SELECT pg_temp.define('marked', '{"StartAt": "Nap", "States": {"Nap": {"Type": "Wait", "Seconds": 60, "Next": "A"},
	BAD(A), "Next": "B"}, BAD(B), "End": true}}}') \g /dev/null
SELECT pg_temp.define('marked', '{"StartAt": "Nap", "States": {"Nap": {"Type": "Wait", "Seconds": 60, "Next": "B"},
	BAD(B), "Next": "A"}, BAD(A), "End": true}}}') \g /dev/null
SELECT sf_start('marked/1', name => 'a'), sf_run('marked:a'), sf_mark('marked:a', 'A', 'success', '"first"'),
	sf_mark('marked:a', 'B', 'skip') \g /dev/null
SELECT sf_migrate('marked:a', 2, '{"A": "B", "B": "A"}') \g /dev/null
SELECT is(sf_run('marked:a', skip_waits => true), 'SUCCEEDED', 'marks stay with their jobs');
SELECT is((SELECT string_agg(concat_ws(' ', job_id, job_status, output), ', ' ORDER BY id) FROM sf_jobs
		WHERE execution_id = 'marked:a'),
	'B success "first", A skip "first"', '... which have other names');
SELECT is((SELECT string_agg(state || ' ' || (details ->> 'job'), ', ' ORDER BY id) FROM sf_history
		WHERE execution_id = 'marked:a' AND type = 'TaskStateMarked' AND id >
	(SELECT id FROM sf_history WHERE execution_id = 'marked:a' AND type = 'ExecutionMigrated')), 'B B, A A',
	'... in the history, too');

-- Holds of states: two names are exchanged, two states become one.
SELECT pg_temp.define('held', '{"StartAt": "Nap", "States": {"Nap": {"Type": "Wait", "Seconds": 60, "Next": "A"},
	TASK(A), "Next": "B"}, TASK(B), "End": true}}}') \g /dev/null
SELECT pg_temp.define('held', '{"StartAt": "Nap", "States": {"Nap": {"Type": "Wait", "Seconds": 60, "Next": "B"},
	TASK(B), "Next": "A"}, TASK(A), "End": true}}}') \g /dev/null
SELECT pg_temp.define('held', '{"StartAt": "Nap", "States": {"Nap": {"Type": "Wait", "Seconds": 60, "Next": "C"},
	TASK(C), "End": true}}}') \g /dev/null
SELECT sf_start('held/1', name => 'a'), sf_run('held:a'), sf_hold('held:a', 'A', 'first'),
	sf_hold('held:a', 'B', 'second') \g /dev/null
SELECT is(sf_run('held:a', skip_waits => true), 'RUNNING', 'the first state is held');
SELECT sf_migrate('held:a', 2, '{"A": "B", "B": "A"}') \g /dev/null
SELECT is((SELECT string_agg(concat_ws(' ', target, state, reason, waiting), ', ' ORDER BY reason) FROM sf_holds),
	'held:a B first 1, held:a A second 0',
	'holds stay with their states, which have other names');
SELECT throws_ok($$ SELECT sf_hold('held:a', 'Nothing') $$, 'SF012');
SELECT is(sf_release('held:a', 'B'), 1::bigint, 'the first state is released by its new name');
SELECT is(sf_run('held:a'), 'RUNNING', '... and the second one is held by its own');
SELECT sf_hold('held:a', 'B', 'again') \g /dev/null
SELECT sf_migrate('held:a', 3, '{"A": "C", "B": "C"}') \g /dev/null
SELECT is((SELECT count(*) || ' ' || min(state) FROM sf_holds), '1 C',
	'one of two holds is left where their states become one');
SELECT is(sf_run('held:a'), 'RUNNING', '... which is held');
SELECT is(sf_release('held:a', 'C'), 1::bigint, '... until that is released');
SELECT is(sf_run('held:a'), 'SUCCEEDED', '... to the end');

-- Jobs in Maps within Maps.
SELECT pg_temp.define('maps', '{"StartAt": "Each", "States": {"Each": {"Type": "Map", "ItemsPath": "$", "End": true,
	"ItemProcessor": {"StartAt": "Row", "States": {
	"Row": {"Type": "Map", "ItemsPath": "$", "Next": "Nap", "ItemProcessor": {"StartAt": "Cell", "States": {TASK(Cell),
		"End": true}}}},
	"Nap": {"Type": "Wait", "Seconds": 60, "Next": "Sum"}, TASK(Sum), "End": true}}}}}}') \g /dev/null
SELECT pg_temp.define('maps', '{"StartAt": "All", "States": {"All": {"Type": "Map", "ItemsPath": "$", "End": true,
	"ItemProcessor": {"StartAt": "Line", "States": {
	TASK(Total), "End": true}, "Nap": {"Type": "Wait", "Seconds": 60, "Next": "Total"},
	"Line": {"Type": "Map", "ItemsPath": "$", "Next": "Nap", "ItemProcessor": {"StartAt": "Field",
		"States": {TASK(Field), "End": true}}}}}}}}}') \g /dev/null
SELECT sf_start('maps/1', '[[1, 2], [3]]', 'a'), sf_run('maps:a') \g /dev/null
SELECT sf_mark('maps:a', 'Sum[1]', 'skip') \g /dev/null
SELECT sf_migrate('maps:a', 2, '{"Each": "All", "Row": "Line", "Cell": "Field", "Sum": "Total"}') \g /dev/null
SELECT is(pg_temp.jobs('maps:a'), 'Total[0] entry 0, Total[1] skip 0, Line[0]/Field[0] success 1, Line[0]/Field[1] '
	'success 1, Line[1]/Field[0] success 1',
	'jobs of iterations');
SELECT is(pg_temp.states('maps:a'), 'All running, Total entry, Nap running, Line success, Field success',
	'... and the states');
SELECT is(sf_run('maps:a', skip_waits => true), 'SUCCEEDED');
SELECT is(pg_temp.jobs('maps:a'), 'Total[0] success 1, Total[1] skip 0, Line[0]/Field[0] success 1, Line[0]/Field[1] '
	'success 1, Line[1]/Field[0] success 1',
	'... with the job of an iteration that was marked under its former name');

-- A net with jobs of more than one state.
SELECT pg_temp.define('net', '{"StartAt": "N", "States": {"N": {"Type": "JobNet", "End": true, "Jobs": {TASK(Load)},
	BAD(Sum), "After": ["Load"]},
	"Flow": {"StartAt": "Print", "States": {TASK(Print), "End": true}}}, "Last": {"StartAt": "Mail",
		"States": {TASK(Mail), "End": true}}, "After": ["Sum"]}}}}}') \g /dev/null
SELECT pg_temp.define('net', '{"StartAt": "Night", "States": {"Night": {"Type": "JobNet", "End": true, "Jobs": {
	"End": {"StartAt": "Post", "States": {TASK(Post), "End": true}}, "After": ["Total"]},
	"Paper": {"StartAt": "Print", "States": {TASK(Print), "End": true}}}, BAD(Total), "After": ["Files"]},
		TASK(Files)}}}}}') \g /dev/null
DELETE FROM renamed_ready;
SELECT sf_start('net/1', name => 'a'), sf_run('net:a') \g /dev/null
SELECT is(pg_temp.jobs('net:a'), 'Load success 1, Sum failure 1, Print success 1, Mail skip 0', 'a job fails');
SELECT sf_migrate('net:a', 2, '{"N": "Night", "Load": "Files", "Sum": "Total", "Flow": "Paper", "Last": "End",
	"Mail": "Post"}') \g /dev/null
SELECT is(pg_temp.jobs('net:a'), 'Post skip 0, Print success 1, Total failure 1, Files success 1',
	'the jobs have their new names');
INSERT INTO renamed_ready VALUES (true);
SELECT sf_redrive('net:a') \g /dev/null
SELECT is(pg_temp.jobs('net:a'), 'Post entry 0, Print success 1, Total entry 1, Files success 1',
	'... after a redrive, too');
SELECT is(sf_run('net:a'), 'SUCCEEDED');
SELECT is(pg_temp.jobs('net:a'), 'Post success 1, Print success 1, Total success 2, Files success 1',
	'... and at the end');

-- Children of a Distributed Map keep their version, where the Map has another number and another name than in that of
-- the parent.
SELECT pg_temp.define('parent', '{"StartAt": "Items", "States": {"Items": {"Type": "Map", "ItemsPath": "$", "End": true,
	"ItemProcessor":
	{"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "One", "States": {TASK(One),
		"Next": "Nap"},
	"Nap": {"Type": "Wait", "Seconds": 60, "End": true}}}}}}') \g /dev/null
SELECT pg_temp.define('parent', '{"StartAt": "Begin", "States": {TASK(Begin), "Next": "Pieces"},
	"Pieces": {"Type": "Map", "ItemsPath": "$", "End": true, "ItemProcessor":
	{"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "One", "States": {TASK(One),
		"Next": "Nap"},
	"Nap": {"Type": "Wait", "Seconds": 60, "End": true}}}}}}') \g /dev/null
SELECT sf_start('parent/1', '[1, 2]', 'a'), sf_run('parent:a') \g /dev/null
SELECT execution_id AS child FROM sf_executions WHERE execution_id LIKE 'parent/%' ORDER BY 1 LIMIT 1 \gset
SELECT is(pg_temp.jobs(:'child'), 'One success 1', 'the job of a child');
SELECT sf_migrate('parent:a', 2, '{"Items": "Pieces"}') \g /dev/null
SELECT is(pg_temp.jobs(:'child'), 'One success 1', '... when its parent has moved');
SELECT is(pg_temp.states(:'child'), 'Items unknown, One success, Nap running', '... and its states');

SELECT is_empty('SELECT * FROM sf_check()', 'the tables hold together');
SELECT * FROM finish();
ROLLBACK;
