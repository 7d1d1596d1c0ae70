-- What agents are told of the tools: what each is for, which arguments it has and what it answers.

--@into agents
-- The tools: what a client is told of each, but for the names. An argument or a member of an answer is described as
-- NAME TYPE TEXT, a line each; ! marks arguments that must be there and members that always are.
CREATE FUNCTION _sfflow.mcp_tools(
	OUT name text,
	OUT writes boolean,
	OUT title text,
	OUT description text,
	OUT arguments text,
	OUT answer text)
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 20
BEGIN ATOMIC
	VALUES
	('tonight', false, 'What is going on tonight?',
		'What failed and why, what is late, what runs, what is held and what comes next, as far as the role may read it. Begin here.',
		'since string Look at what began after this time (ISO 8601); default: 24 hours ago.',
		'now! string The time of the answer.
		alerts! object How many alerts there are of each kind.
		running_count! integer How many executions run.
		failed! array Failures that nobody has settled, those of one state machine with one error together.
		late! array What is late, stuck or slow.
		running! array What runs, the longest first.
		succeeded! array What has succeeded last, a row per state machine.
		next! array Schedules, the next run first.
		held! array What operators have held.
		limits! array Limits for which something waits.
		deadlines! array Deadlines.
		unwell! array What is wrong with sfflow itself.
		state_machines! array Counts of starts and ends by state machine.
		cut! boolean Something was left out.'),
	('late_or_failing', false, 'What is late, and what has failed?',
		'The open alerts: executions that failed or timed out, are late, overdue, stuck or slow, and missed runs of schedules.',
		'state_machine string Only those of this state machine.
		limit integer How many alerts at most (30, at most 100).',
		'counts! object How many alerts there are of each kind.
		alerts! array The alerts, the latest first.
		cut! boolean There are more alerts.'),
	('why_did_it_fail', false, 'Why did this execution fail?',
		'The error and cause of an execution, the jobs that failed with their inputs, the one that caused it first, how often the same error was met, and the last good execution before it.',
		'execution_id! string Id of the execution, as "nightly:2025-02-05".',
		'execution_id! string The execution.
		state_machine! string Its state machine.
		version! integer Version of the state machine.
		status! string RUNNING, SUCCEEDED, FAILED, TIMED_OUT or ABORTED.
		failed! boolean It has ended without success.
		error string Name of the error.
		cause string What the error says.
		started_at string When it began.
		stopped_at string When it ended.
		redrive_count! integer How often it was redriven.
		failed_jobs! array Jobs with errors, the one with that of the execution first.
		aborted_jobs! integer How many jobs were ended because of the failure.
		failed_item object An item of a Distributed Map that failed.
		same_error! integer How many executions of the state machine have this error, itself included, up to 100.
		last_good object The last execution before this one that succeeded.
		operators_did! array What operators did to it last.
		cut! boolean Something was left out.'),
	('compare_with_last_good', false, 'What changed since the last good run?',
		'The jobs in which an execution differs from the last one before it that succeeded: status, error, attempts, duration, and JSON pointers at what inputs and outputs differ in.',
		'execution_id! string Id of the execution.
		good_execution_id string Compare with this execution instead.',
		'this! object The execution.
		good! object The one that it is compared with.
		same_jobs! integer How many jobs do not differ.
		different_jobs! integer How many jobs differ.
		jobs! array Jobs that differ: members that begin with good_ are of the other execution.
		cut! boolean More jobs differ.'),
	('list_executions', false, 'Which executions are there?',
		'A page of executions, the newest first, by state machine, status, error, name, time or labels.',
		'state_machine string Only those of this state machine.
		status string RUNNING, SUCCEEDED, FAILED, TIMED_OUT or ABORTED.
		error string Only those that failed with an error of this name.
		name_prefix string Only those whose names begin so.
		requested_after string Requested after this time (ISO 8601).
		requested_before string Requested before this time (ISO 8601).
		limit integer How many at most (20, at most 50).
		page_key string next_page_key of the page before.'
--@slot mcp.list_arguments
		,
		'executions! array The executions.
		next_page_key string page_key of the next page.
		cut! boolean There is another page.'),
	('execution_status', false, 'How far is this execution?',
		'Status, input, output and progress of an execution, and its jobs with their status.',
		'execution_id! string Id of the execution.
		jobs_after integer next_jobs_after of the answer before.
		limit integer How many jobs at most (50, at most 100).',
		'execution_id! string The execution.
		state_machine! string Its state machine.
		version! integer Version of the state machine.
		name! string Its name.
		status! string RUNNING, SUCCEEDED, FAILED, TIMED_OUT or ABORTED.
		error string Name of the error.
		cause string What the error says.
		input! string The input, as JSON text.
		output string The output, as JSON text.
		requested_at! string When it was requested.
		started_at string When it began.
		stopped_at string When it ended.
		took_ms integer Milliseconds for which it ran.
		usual_ms object How long executions of the state machine take: median and 95th percentile.
		redrive_count! integer How often it was redriven.
		parent_execution_id string The execution that started it.
		labels object Its labels.
		waiting_on string What it waits for.
		progress object How far it is, and when it will end by what is usual.
		job_counts! object How many jobs there are of each status.
		jobs! array The jobs.
		next_jobs_after integer jobs_after of the next page of jobs.
		map_runs! array Runs of Distributed Maps.
		cut! boolean Something was left out.'),
	('waiting_on', false, 'What is it waiting for?',
		'What running executions wait for; of one execution also its tasks, limits, events and holds.',
		'execution_id string Only this execution, in detail.
		state_machine string Only those of this state machine.
		limit integer How many executions at most (25, at most 100).',
		'executions! array Executions, and what each waits for.
		tasks array Tasks that are under way or wait for a worker.
		limits array Limits that it waits for, and who has the slots.
		events array Events that it waits for.
		held array Holds of the execution and its state machine.
		cut! boolean There are more executions.'),
--@slot mcp.questions
	('what_would_redrive_run', false, 'What would a redrive run?',
		'The jobs that would run if the execution were redriven now, found by a redrive that is taken back. Nothing runs. It needs the right to redrive.',
		'execution_id! string Id of the execution.
		from_state string Redrive from this state, instead of where it failed.',
		'goes_on_with string What the execution would go on with.
		fails_again! boolean Only Fail states would run, which fail again.
		runs! array Jobs that would run.
		runs_count! integer How many.
		at_most! boolean A Choice or a Catch decides, so that not all of them may run.
		kept_count! integer How many jobs have succeeded and would not run again.
		more! array Jobs of Maps that have not begun, by state.
		cut! boolean Something was left out.'),
	('list_state_machines', false, 'Which state machines are there?',
		'State machines that the role may read, with counts of their executions and how long they take.',
		'after string next_after of the page before.
		limit integer How many at most (50, at most 100).',
		'state_machines! array The state machines by name.
		next_after string after of the next page.
		cut! boolean There is another page.'),
	('state_machine_definition', false, 'What does this state machine do?',
		'The definition of a state machine in the Amazon States Language, its versions and aliases.',
		'state_machine! string Name of the state machine.
		version integer Version; default: the current one.
		offset integer next_offset of the answer before.',
		'state_machine! string The state machine.
		version! integer The version.
		is_current! boolean It is the current version.
		owner! string Role that owns the state machine.
		created_at! string When the version was made.
		execution_id_path string Where names of executions stand in the input.
		options object Options of the version.
		definition! string The definition, as JSON text.
		characters! integer How long it is.
		next_offset integer offset of what comes next.
		versions! array The latest versions.
		aliases! array Aliases.
		cut! boolean This is not the whole definition.'),
	('redrive', true, 'Redrive an execution',
		'Has an execution that failed go on where it failed, or from a state. Ask what_would_redrive_run first.',
		'execution_id! string Id of the execution.
		from_state string Go on from this state.
		input any Input of that state.',
		'execution_id! string The execution.
		redrive_count! integer How often it was redriven.'),
	('stop', true, 'Stop an execution',
		'Ends an execution as ABORTED. What has run is not undone.',
		'execution_id! string Id of the execution.
		error string Name of an error.
		reason string Why.',
		'execution_id! string The execution.
		status! string Its status.'),
	('start', true, 'Start an execution',
		'Starts an execution of a state machine.',
		'state_machine! string Name of the state machine.
		input any Input; default {}.
		name string Name of the execution, which must be new.',
		'execution_id! string The execution.')
--@slot mcp.orders
	;
END;

-- A schema of JSON for lines of NAME TYPE TEXT.
CREATE FUNCTION _sfflow.mcp_schema(lines text, closed boolean) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
	SELECT jsonb_build_object('type', 'object',
		'properties', coalesce(jsonb_object_agg(rtrim(l.part[1], '!'), CASE WHEN l.part[2] = 'any' THEN '{}'::jsonb
			ELSE jsonb_build_object('type', l.part[2]) END || jsonb_build_object('description', l.part[3])), '{}'),
		'required', coalesce(jsonb_agg(rtrim(l.part[1], '!') ORDER BY l.n) FILTER (WHERE l.part[1] LIKE '%!'), '[]'))
		|| CASE WHEN $2 THEN '{"additionalProperties": false}'::jsonb ELSE '{}' END
	FROM (
		SELECT x.n, regexp_match(x.line, '^\s*(\S+) (\S+) (.*)$') AS part
		FROM regexp_split_to_table($1, '\n') WITH ORDINALITY AS x(line, n)) l);

-- The tools as a client gets them; of those that write the named ones.
CREATE FUNCTION _sfflow.mcp_tool_list(writing text[]) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
	SELECT jsonb_agg(jsonb_build_object('name', t.name, 'title', t.title, 'description', t.description,
		'inputSchema', _sfflow.mcp_schema(t.arguments, true), 'outputSchema', _sfflow.mcp_schema(t.answer, false),
		'annotations', jsonb_build_object('title', t.title, 'readOnlyHint', NOT t.writes, 'destructiveHint',
			t.name = 'stop', 'idempotentHint', NOT t.writes OR t.name IN ('stop', 'hold', 'release'),
			'openWorldHint', false))
		ORDER BY t.n)
	FROM _sfflow.mcp_tools() WITH ORDINALITY AS t(name, writes, title, description, arguments, answer, n)
	WHERE NOT t.writes OR t.name = ANY ($1));

-- Check the arguments of a tool by its schema. A member that is null is as good as none.
CREATE FUNCTION _sfflow.mcp_check(tool text, schema jsonb, arguments jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	member text;
	value jsonb;
	wanted text;
BEGIN
	FOR member, value IN SELECT * FROM jsonb_each(arguments) LOOP
		wanted := schema #>> ARRAY['properties', member, 'type'];
		IF NOT schema -> 'properties' ? member THEN
			RAISE EXCEPTION 'tool "%" has no argument "%"', tool, left(member, 100)
				USING ERRCODE = 'SF012', HINT = format('Its arguments: %s.', (
					SELECT coalesce(string_agg(k, ', '), 'none') FROM jsonb_object_keys(schema -> 'properties') AS k));
		ELSIF jsonb_typeof(value) <> replace(wanted, 'integer', 'number')
			OR wanted = 'integer' AND value::text !~ '^-?\d{1,9}$' THEN
			RAISE EXCEPTION 'argument "%" of tool "%" must be of type %', member, tool, wanted USING ERRCODE = 'SF012';
		END IF;
	END LOOP;
	FOR member IN SELECT jsonb_array_elements_text(schema -> 'required') LOOP
		IF NOT arguments ? member THEN
			RAISE EXCEPTION 'tool "%" needs the argument "%"', tool, member USING ERRCODE = 'SF012';
		END IF;
	END LOOP;
END
$$;
