-- Views: status as tables. A caller sees the rows of machines that it owns or may READ.
--
-- Each view is a security barrier over the private tables, filtered by _sfflow.can_read, which looks
-- rights up once a machine and query. Comparison with an execution id is leakproof, so it still
-- reaches the index. What takes the program to be shown (names of states, details of events, jobs)
-- comes from functions of one execution, joined laterally.

CREATE FUNCTION _sfflow.can_read(machine text, owner regrole) RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_can_read'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10;

-- Machines that the reader may see, found by set: the rights are read once, however many rows a query compares
-- with them.
CREATE VIEW _sfflow.granted AS
SELECT p.object_kind, p.object_name, p.privilege
FROM _sfflow.privilege p WHERE NOT p.is_revoked AND (p.role = 0::regrole OR pg_has_role(p.role, 'USAGE'));

CREATE VIEW _sfflow.readable_machine AS
SELECT m.machine_no, m.name, m.owner
FROM _sfflow.state_machine m
WHERE pg_has_role(m.owner, 'USAGE') OR (SELECT pg_has_role(n.nspowner, 'USAGE') FROM pg_namespace n
	WHERE n.nspname = '_sfflow')
	OR m.name IN (SELECT g.object_name FROM _sfflow.granted g
		WHERE g.object_kind = @OBJECT_STATE_MACHINE@ AND g.privilege = @PRIVILEGE_READ@);

-- The activities of which the reader may WORK tasks.
CREATE VIEW _sfflow.workable_activity AS
SELECT t.activity_no, t.name, t.owner, t.lease, t.max_receive_count, t.created_at, t.last_polled_at, t.last_worker
FROM _sfflow.activity t
WHERE pg_has_role(t.owner, 'USAGE') OR t.name IN (
	SELECT g.object_name FROM _sfflow.granted g
	WHERE g.object_kind = @OBJECT_ACTIVITY@ AND g.privilege = @PRIVILEGE_WORK@);

-- The stored numbers of the event types whose names are LIKE one of the patterns.
CREATE FUNCTION _sfflow.history_event_types(VARIADIC patterns text[]) RETURNS smallint[]
AS 'MODULE_PATHNAME', 'sfflow_history_event_types'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

-- The events of a row of _sfflow.history, or those of some types; without documents none has any. A
-- payload that an earlier event holds is not repeated: payload_from names that event.
CREATE FUNCTION _sfflow.history_events(
	execution_no bigint,
	first_id integer,
	at timestamptz,
	body bytea,
	documents jsonb[],
	types smallint[],
	OUT id integer,
	OUT previous_id integer,
	OUT version integer,
	OUT type smallint,
	OUT state integer,
	OUT payload_from integer,
	OUT at timestamptz,
	OUT iterations integer[],
	OUT payload jsonb,
	OUT extra jsonb)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_history_events'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20 ROWS 25;

-- The payload that an event of a row holds.
CREATE FUNCTION _sfflow.history_event_payload(execution_no bigint, first_id integer, body bytea, documents jsonb[],
	id integer) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_history_event_payload'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 20;

CREATE VIEW _sfflow.history_event AS
SELECT h.execution_no, e.*
FROM _sfflow.history h
CROSS JOIN LATERAL _sfflow.history_events(h.execution_no, h.first_id, h.at, h.body, h.documents, NULL) e;

CREATE FUNCTION _sfflow.history(
	execution_no bigint,
	OUT id integer,
	OUT previous_event_id integer,
	OUT "timestamp" timestamptz,
	OUT type text,
	OUT state text,
	OUT details jsonb)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_history'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000 ROWS 100;

CREATE FUNCTION _sfflow.waiting_on(execution_no bigint) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_waiting_on'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;

CREATE FUNCTION _sfflow.branch_names(
	execution_no bigint,
	scope integer,
	state_no integer,
	iterations integer[],
	OUT state text,
	OUT type text,
	OUT resource text,
	OUT branch text)
AS 'MODULE_PATHNAME', 'sfflow_branch_names'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000;

CREATE FUNCTION _sfflow.map_run_arn(execution_no bigint, state_no integer, uuid text) RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_map_run_arn'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000;

CREATE FUNCTION _sfflow.jobs(
	execution_no bigint,
	OUT job_id text,
	OUT job_status text,
	OUT attempts integer,
	OUT started_at timestamptz,
	OUT stopped_at timestamptz,
	OUT input_event integer,
	OUT output_event integer,
	OUT error text,
	OUT cause text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_jobs'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000 ROWS 20;

CREATE FUNCTION _sfflow.job_relations(
	machine_no integer,
	version integer,
	OUT job_id text,
	OUT pre_job_id text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_job_relations'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000 ROWS 20;

CREATE VIEW @extschema@.sf_state_machines WITH (security_barrier) AS
SELECT m.name AS state_machine, v.version, v.version = m.current_version AS is_current, m.owner,
	v.definition, v.execution_id_path, v.options, v.created_at
FROM _sfflow.state_machine m
JOIN _sfflow.state_machine_version v ON v.machine_no = m.machine_no
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_state_machines IS 'state machines, one row per version';
COMMENT ON COLUMN @extschema@.sf_state_machines.state_machine IS 'its name';
COMMENT ON COLUMN @extschema@.sf_state_machines.version IS 'counts from 1';
COMMENT ON COLUMN @extschema@.sf_state_machines.is_current IS 'whether sf_start of the machine starts this version';
COMMENT ON COLUMN @extschema@.sf_state_machines.owner IS 'the role as which tasks run';
COMMENT ON COLUMN @extschema@.sf_state_machines.definition IS 'the text as it was given';
COMMENT ON COLUMN @extschema@.sf_state_machines.execution_id_path IS 'where the input holds the name of an execution';
COMMENT ON COLUMN @extschema@.sf_state_machines.options IS 'as given to sf_create_state_machine';
COMMENT ON COLUMN @extschema@.sf_state_machines.created_at IS 'when this version was made';

-- Executions that the reader may see, each with its machine's name. OFFSET 0 keeps the planner from
-- joining the other way round, which checks rights of machines that the query does not need.
CREATE VIEW _sfflow.readable_execution AS
SELECT e.execution_no, e.machine_no, e.version, e.redrive_count, e.start_requests, e.parent_execution_no,
	e.parent_branch_no, e.parent_generation, e.map_run_no, e.map_index, e.map_items, e.requested_at,
	e.requested_by, e.priority, e.qualifier, e.trace_header, e.execution_id, e.status, e.last_event_id,
	e.started_at, e.stopped_at, e.last_redriven_at, e.idle_us, e.output, e.error, e.cause, e.input,
	m.name AS state_machine, e.labels
FROM _sfflow.execution e
CROSS JOIN LATERAL (
	SELECT s.name, s.owner FROM _sfflow.state_machine s WHERE s.machine_no = e.machine_no OFFSET 0) m
WHERE _sfflow.can_read(m.name, m.owner);

-- Executions as a list shows them. can_read stands in a CASE that names the execution, too: then it is
-- asked once per execution found, and not once per machine.
CREATE VIEW _sfflow.listed_execution AS
SELECT e.execution_no, e.machine_no, e.version, e.redrive_count, e.start_requests, e.parent_execution_no,
	e.parent_branch_no, e.parent_generation, e.map_run_no, e.map_index, e.map_items, e.requested_at,
	e.requested_by, e.priority, e.qualifier, e.trace_header, e.execution_id, e.status, e.last_event_id,
	e.started_at, e.stopped_at, e.last_redriven_at, e.idle_us, e.output, e.error, e.cause, e.input,
	m.name AS state_machine, p.execution_id AS parent_execution_id, e.labels
FROM _sfflow.execution e
JOIN _sfflow.state_machine m ON m.machine_no = e.machine_no
LEFT JOIN _sfflow.execution p ON p.execution_no = e.parent_execution_no
WHERE CASE WHEN e.execution_no IS NOT NULL THEN _sfflow.can_read(m.name, m.owner) END;

-- The numbers of the newest executions that the caller may read and that fulfil conditions; without a number of them
-- NULL.
CREATE FUNCTION _sfflow.newest(
	state_machine text,
	status text,
	"from" timestamptz,
	after timestamptz,
	before timestamptz,
	until timestamptz,
	most integer)
RETURNS bigint[]
AS 'MODULE_PATHNAME', 'sfflow_newest'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000;

-- Is an execution on a page? The planner asks is_on_page_support what this becomes: src/api/view/newest_functions.c.
CREATE FUNCTION _sfflow.is_on_page_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'sfflow_is_on_page_support'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION _sfflow.is_on_page(execution_no bigint, page bigint[]) RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_is_on_page'
LANGUAGE C STABLE PARALLEL SAFE
SUPPORT _sfflow.is_on_page_support;

-- Four parts, each with the table that finds its executions: what has succeeded, what has not begun yet, what a hold
-- keeps from beginning, and what is open. A condition on status or error leaves out the parts that cannot fulfil it.
CREATE VIEW @extschema@.sf_executions WITH (security_barrier) AS
SELECT e.execution_id, e.state_machine, e.version,
	substr(e.execution_id, length(e.state_machine) + 2) AS name,
	e.status_name AS status,
	e.input, e.output, e.error_name AS error, e.cause, e.requested_at, e.started_at, e.stopped_at,
	e.redrive_count, e.last_redriven_at, e.start_requests, e.parent_execution_id,
	CASE WHEN e.status = @STATUS_RUNNING@ THEN _sfflow.waiting_on(e.execution_no) END AS waiting_on,
	e.labels
FROM (
	SELECT l.*, 'SUCCEEDED'::text AS status_name, NULL::text AS error_name
	FROM _sfflow.listed_execution l WHERE l.status = @STATUS_SUCCEEDED@
	UNION ALL
	SELECT l.*, 'RUNNING', NULL::text
	FROM _sfflow.branch b
	JOIN _sfflow.listed_execution l ON l.execution_no = b.execution_no
	WHERE b.branch_no = @BRANCH_ROOT@ AND b.due_at IS NOT NULL AND l.status = @STATUS_RUNNING@ AND l.started_at IS NULL
	UNION ALL
	SELECT l.*, 'RUNNING', NULL::text
	FROM _sfflow.parked w
	JOIN _sfflow.branch b ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no
	JOIN _sfflow.listed_execution l ON l.execution_no = w.execution_no
	WHERE w.branch_no = @BRANCH_ROOT@ AND b.place = @BRANCH_PLACE_PARKED@ AND l.status = @STATUS_RUNNING@
		AND l.started_at IS NULL
	UNION ALL
	SELECT l.*, s.name, o.error
	FROM (VALUES @STATUS_ROWS@) s (status, name)
	JOIN _sfflow.open_execution o ON o.status = s.status
	JOIN _sfflow.listed_execution l ON l.execution_no = o.execution_no AND l.machine_no = o.machine_no
		AND l.requested_at = o.requested_at AND l.status = o.status) e
WHERE _sfflow.is_on_page(e.execution_no, (SELECT _sfflow.newest(NULL, NULL, NULL, NULL, NULL, NULL, NULL)));
COMMENT ON VIEW @extschema@.sf_executions IS
	'executions, and what each running one waits for; pages of the newest: ORDER BY requested_at DESC LIMIT n, or sf_list_executions';
COMMENT ON COLUMN @extschema@.sf_executions.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_executions.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_executions.version IS 'the version of the state machine that runs';
COMMENT ON COLUMN @extschema@.sf_executions.name IS 'its name within the machine';
COMMENT ON COLUMN @extschema@.sf_executions.status IS 'RUNNING, SUCCEEDED, FAILED, TIMED_OUT or ABORTED';
COMMENT ON COLUMN @extschema@.sf_executions.input IS 'as given to sf_start';
COMMENT ON COLUMN @extschema@.sf_executions.output IS 'if it succeeded';
COMMENT ON COLUMN @extschema@.sf_executions.error IS 'the name of the error that ended it';
COMMENT ON COLUMN @extschema@.sf_executions.cause IS 'what the error said';
COMMENT ON COLUMN @extschema@.sf_executions.requested_at IS 'when sf_start was called';
COMMENT ON COLUMN @extschema@.sf_executions.started_at IS 'when a worker first took it up; null before';
COMMENT ON COLUMN @extschema@.sf_executions.stopped_at IS 'when it ended';
COMMENT ON COLUMN @extschema@.sf_executions.redrive_count IS 'how often it was redriven';
COMMENT ON COLUMN @extschema@.sf_executions.last_redriven_at IS 'when it was redriven last';
COMMENT ON COLUMN @extschema@.sf_executions.start_requests IS 'calls of sf_start for this name, the first one included';
COMMENT ON COLUMN @extschema@.sf_executions.parent_execution_id IS 'the execution that started it as its child';
COMMENT ON COLUMN @extschema@.sf_executions.waiting_on IS 'what it waits for while it runs, as text for people';
COMMENT ON COLUMN @extschema@.sf_executions.labels IS 'its labels: texts by name; null: none';

-- The same as pages, in the order of requested_at, which no plan of a query over the view has to sort.
CREATE FUNCTION @extschema@.sf_list_executions(
	state_machine text DEFAULT NULL,
	status text DEFAULT NULL,
	error text DEFAULT NULL,
	name_prefix text DEFAULT NULL,
	owner text DEFAULT NULL,
	parent_execution_id text DEFAULT NULL,
	requested_after timestamptz DEFAULT NULL,
	requested_before timestamptz DEFAULT NULL,
	page_size integer DEFAULT NULL,
	after_key text DEFAULT NULL,
	without_items boolean DEFAULT NULL,
	OUT execution_id text,
	OUT state_machine text,
	OUT name text,
	OUT status text,
	OUT error text,
	OUT requested_at timestamptz,
	OUT started_at timestamptz,
	OUT stopped_at timestamptz,
	OUT page_key text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_list_executions'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 100;
COMMENT ON FUNCTION @extschema@.sf_list_executions(text, text, text, text, text, text, timestamptz, timestamptz,
	integer, text, boolean) IS
	'a page of executions, the newest first; page_key of its last row is after_key of the next page';

CREATE VIEW @extschema@.sf_jobs WITH (security_barrier) AS
SELECT e.execution_id, e.state_machine, substr(e.execution_id, length(e.state_machine) + 2) AS id,
	j.job_id, j.job_status, j.attempts, j.started_at, j.stopped_at,
	(SELECT _sfflow.history_event_payload(h.execution_no, h.first_id, h.body, h.documents, j.input_event)
	 FROM _sfflow.history h WHERE h.execution_no = e.execution_no AND h.first_id <= j.input_event
	 ORDER BY h.first_id DESC LIMIT 1) AS input,
	(SELECT _sfflow.history_event_payload(h.execution_no, h.first_id, h.body, h.documents, j.output_event)
	 FROM _sfflow.history h WHERE h.execution_no = e.execution_no AND h.first_id <= j.output_event
	 ORDER BY h.first_id DESC LIMIT 1) AS output,
	j.error, j.cause
FROM _sfflow.readable_execution e
CROSS JOIN LATERAL _sfflow.jobs(e.execution_no) j;
COMMENT ON VIEW @extschema@.sf_jobs IS 'every Task state of an execution, with its status';
COMMENT ON COLUMN @extschema@.sf_jobs.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_jobs.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_jobs.id IS 'the name of the execution';
COMMENT ON COLUMN @extschema@.sf_jobs.job_id IS
	'the name of the Task state, in a Map with the index of the iteration: Load[7]';
COMMENT ON COLUMN @extschema@.sf_jobs.job_status IS 'entry, running, success, failure or skip';
COMMENT ON COLUMN @extschema@.sf_jobs.attempts IS
	'how often the task was scheduled since the last start of the execution';
COMMENT ON COLUMN @extschema@.sf_jobs.started_at IS 'when its last visit began';
COMMENT ON COLUMN @extschema@.sf_jobs.stopped_at IS 'when its last visit ended';
COMMENT ON COLUMN @extschema@.sf_jobs.input IS 'of the last visit';
COMMENT ON COLUMN @extschema@.sf_jobs.output IS 'of the last visit';
COMMENT ON COLUMN @extschema@.sf_jobs.error IS 'of the last attempt';
COMMENT ON COLUMN @extschema@.sf_jobs.cause IS 'of the last attempt';

CREATE VIEW @extschema@.sf_job_relations WITH (security_barrier) AS
SELECT m.name AS state_machine, v.version, r.job_id, r.pre_job_id
FROM _sfflow.state_machine m
JOIN _sfflow.state_machine_version v ON v.machine_no = m.machine_no
CROSS JOIN LATERAL _sfflow.job_relations(v.machine_no, v.version) r
WHERE _sfflow.can_read(m.name, m.owner);
COMMENT ON VIEW @extschema@.sf_job_relations IS 'which job directly precedes which; null: none';
COMMENT ON COLUMN @extschema@.sf_job_relations.state_machine IS 'the state machine';
COMMENT ON COLUMN @extschema@.sf_job_relations.version IS 'the version of the state machine';
COMMENT ON COLUMN @extschema@.sf_job_relations.job_id IS 'a Task state';
COMMENT ON COLUMN @extschema@.sf_job_relations.pre_job_id IS 'a Task state that directly precedes it; null: none';

CREATE VIEW @extschema@.sf_history WITH (security_barrier) AS
SELECT e.execution_id, h.id, h.previous_event_id, h."timestamp", h.type, h.state, h.details
FROM _sfflow.readable_execution e
CROSS JOIN LATERAL _sfflow.history(e.execution_no) h;
COMMENT ON VIEW @extschema@.sf_history IS
	'the events of executions, as GetExecutionHistory of Step Functions returns them';
COMMENT ON COLUMN @extschema@.sf_history.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_history.id IS '1, 2, 3 ... without gaps';
COMMENT ON COLUMN @extschema@.sf_history.previous_event_id IS 'the event that led to this one; 0: none';
COMMENT ON COLUMN @extschema@.sf_history."timestamp" IS 'when it happened';
COMMENT ON COLUMN @extschema@.sf_history.type IS 'TaskStateEntered and so on, as in Step Functions';
COMMENT ON COLUMN @extschema@.sf_history.state IS 'the name of its state; null for events of the execution';
COMMENT ON COLUMN @extschema@.sf_history.details IS 'the details of the event, with the names of Step Functions';

-- Only a branch in phase EXTERNAL (src/store/branch/branch.h) has a row in task.
CREATE VIEW @extschema@.sf_tasks WITH (security_barrier) AS
SELECT e.execution_id, p.state, p.branch, p.resource,
	CASE WHEN b.place = @BRANCH_PLACE_PARKED@ THEN 'held'
		WHEN b.phase = @PHASE_RUN@ THEN 'retrying' WHEN b.phase = @PHASE_ANNOUNCED@ THEN 'running'
		WHEN b.phase IN (@PHASE_ANSWERED@, @PHASE_KEPT@) THEN 'answered'
		WHEN t.status = @TASK_STATUS_QUEUED@ THEN 'queued'
		WHEN t.status = @TASK_STATUS_TOKEN@ THEN 'waiting' WHEN t.status = @TASK_STATUS_ANSWERED@ THEN 'answered'
		WHEN t.status = @TASK_STATUS_DEAD@ THEN 'dead' ELSE 'running'
	END AS status,
	b.attempt,
	CASE WHEN b.phase = @PHASE_RUN@ THEN b.due_at
		ELSE coalesce(t.scheduled_at, b.started_at, b.entered_at) END AS scheduled_at,
	CASE WHEN t.status IS NOT NULL THEN t.started_at WHEN b.phase <> @PHASE_RUN@ THEN b.started_at END AS started_at,
	coalesce(t.started_at + t.timeout_ms * interval '1 ms', b.deadline) AS deadline, t.heartbeat_at,
	coalesce(t.worker, (SELECT w.pid::text FROM _sfflow.workers() w
		WHERE w.execution_no = b.execution_no AND w.branch_no = b.branch_no LIMIT 1)) AS worker
FROM _sfflow.branch b
JOIN _sfflow.readable_execution e ON e.execution_no = b.execution_no
LEFT JOIN _sfflow.task t
	ON t.execution_no = b.execution_no AND t.branch_no = b.branch_no AND b.phase = @PHASE_EXTERNAL@
CROSS JOIN LATERAL _sfflow.branch_names(b.execution_no, b.scope, b.state, b.iterations) p
WHERE b.phase IN (@PHASE_RUN@, @PHASE_ANNOUNCED@, @PHASE_EXTERNAL@, @PHASE_ANSWERED@, @PHASE_KEPT@)
	AND e.status = @STATUS_RUNNING@ AND p.type = 'Task';
COMMENT ON VIEW @extschema@.sf_tasks IS 'tasks that run, wait for an answer or for a retry';
COMMENT ON COLUMN @extschema@.sf_tasks.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_tasks.state IS 'the name of the Task state';
COMMENT ON COLUMN @extschema@.sf_tasks.branch IS
	'path to its branch or iteration, Fork[0]/Stores[7]; empty at the top level';
COMMENT ON COLUMN @extschema@.sf_tasks.resource IS 'as written in the definition';
COMMENT ON COLUMN @extschema@.sf_tasks.status IS 'running, queued, waiting, answered or retrying';
COMMENT ON COLUMN @extschema@.sf_tasks.attempt IS '0 for the first attempt of this visit';
COMMENT ON COLUMN @extschema@.sf_tasks.scheduled_at IS 'when it was scheduled; for a retry, when it will be';
COMMENT ON COLUMN @extschema@.sf_tasks.started_at IS 'when it was begun or taken';
COMMENT ON COLUMN @extschema@.sf_tasks.deadline IS 'when it times out';
COMMENT ON COLUMN @extschema@.sf_tasks.heartbeat_at IS 'when its program was last heard of';
COMMENT ON COLUMN @extschema@.sf_tasks.worker IS 'the name of the program that took it; for a SQL task the process id';

-- The task of a branch that was aborted keeps its row; only one whose branch is in phase EXTERNAL waits
-- for an answer.
CREATE VIEW @extschema@.sf_activities WITH (security_barrier) AS
SELECT a.name AS activity, a.owner, q.queued, q.oldest_queued_at, q.in_flight, a.last_polled_at,
	a.last_worker
FROM _sfflow.workable_activity a
CROSS JOIN LATERAL (
	SELECT count(*) FILTER (WHERE t.status = @TASK_STATUS_QUEUED@) AS queued,
		min(t.scheduled_at) FILTER (WHERE t.status = @TASK_STATUS_QUEUED@) AS oldest_queued_at,
		count(*) FILTER (WHERE t.status = @TASK_STATUS_TAKEN@) AS in_flight
	FROM _sfflow.task t
	JOIN _sfflow.branch b ON b.execution_no = t.execution_no AND b.branch_no = t.branch_no
		AND b.generation = t.generation AND b.phase = @PHASE_EXTERNAL@
	JOIN _sfflow.execution e ON e.execution_no = t.execution_no AND e.status = @STATUS_RUNNING@
	WHERE t.activity_no = a.activity_no) q;
COMMENT ON VIEW @extschema@.sf_activities IS 'activities, and how many tasks wait in each';
COMMENT ON COLUMN @extschema@.sf_activities.activity IS 'its name';
COMMENT ON COLUMN @extschema@.sf_activities.owner IS 'the role that owns it';
COMMENT ON COLUMN @extschema@.sf_activities.queued IS 'tasks that no program has taken';
COMMENT ON COLUMN @extschema@.sf_activities.oldest_queued_at IS 'since when the oldest of them waits';
COMMENT ON COLUMN @extschema@.sf_activities.in_flight IS 'tasks that were taken and not yet answered';
COMMENT ON COLUMN @extschema@.sf_activities.last_polled_at IS 'when a program last asked for tasks';
COMMENT ON COLUMN @extschema@.sf_activities.last_worker IS 'the name of that program';

CREATE VIEW @extschema@.sf_dead_letters WITH (security_barrier) AS
SELECT e.execution_id, p.state, p.branch, p.resource, t.input, b.error, b.cause, t.receives,
	coalesce(t.lease_until, t.heartbeat_at, t.started_at) AS died_at
FROM _sfflow.task t
JOIN _sfflow.readable_execution e ON e.execution_no = t.execution_no
JOIN _sfflow.branch b ON b.execution_no = t.execution_no AND b.branch_no = t.branch_no
CROSS JOIN LATERAL _sfflow.branch_names(b.execution_no, b.scope, t.state, b.iterations) p
WHERE t.status = @TASK_STATUS_DEAD@ AND b.phase = @PHASE_FAILED@ AND b.state = t.state;
COMMENT ON VIEW @extschema@.sf_dead_letters IS 'tasks that programs took as often as allowed and never answered';
COMMENT ON COLUMN @extschema@.sf_dead_letters.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_dead_letters.state IS 'the name of the Task state';
COMMENT ON COLUMN @extschema@.sf_dead_letters.branch IS 'path to its branch or iteration';
COMMENT ON COLUMN @extschema@.sf_dead_letters.resource IS 'as written in the definition';
COMMENT ON COLUMN @extschema@.sf_dead_letters.input IS 'what the program was given';
COMMENT ON COLUMN @extschema@.sf_dead_letters.error IS 'Sfflow.MaxReceiveCount';
COMMENT ON COLUMN @extschema@.sf_dead_letters.cause IS 'what the error says';
COMMENT ON COLUMN @extschema@.sf_dead_letters.receives IS 'how often a program took it';
COMMENT ON COLUMN @extschema@.sf_dead_letters.died_at IS 'when it was given up';

-- status and counters: src/store/map_run/map_run.h
CREATE VIEW @extschema@.sf_map_runs WITH (security_barrier) AS
SELECT e.execution_id, p.state, _sfflow.map_run_arn(e.execution_no, r.state, r.uuid) AS map_run_arn,
	(ARRAY[@STATUS_NAMES@])[r.status + 1] AS status,
	r.total AS items, r.items_succeeded, r.items_failed,
	r.children AS executions, r.children - r.succeeded - r.failed - r.timed_out - r.aborted AS running,
	r.succeeded, r.failed, r.timed_out, r.aborted, r.redrive_count, r.started_at, r.stopped_at
FROM _sfflow.map_run r
JOIN _sfflow.readable_execution e ON e.execution_no = r.execution_no
CROSS JOIN LATERAL _sfflow.branch_names(r.execution_no, 0, r.state, NULL) p;
COMMENT ON VIEW @extschema@.sf_map_runs IS 'runs of Distributed Map states, with their progress';
COMMENT ON COLUMN @extschema@.sf_map_runs.execution_id IS 'the execution, machine:name';
COMMENT ON COLUMN @extschema@.sf_map_runs.state IS 'the name of the Map state';
COMMENT ON COLUMN @extschema@.sf_map_runs.map_run_arn IS 'its name in the way of AWS';
COMMENT ON COLUMN @extschema@.sf_map_runs.status IS 'RUNNING, SUCCEEDED, FAILED, TIMED_OUT or ABORTED';
COMMENT ON COLUMN @extschema@.sf_map_runs.items IS 'items that were read';
COMMENT ON COLUMN @extschema@.sf_map_runs.items_succeeded IS 'items in child executions that succeeded';
COMMENT ON COLUMN @extschema@.sf_map_runs.items_failed IS 'items in child executions that did not';
COMMENT ON COLUMN @extschema@.sf_map_runs.executions IS 'child executions that were begun';
COMMENT ON COLUMN @extschema@.sf_map_runs.running IS 'of these, how many run';
COMMENT ON COLUMN @extschema@.sf_map_runs.succeeded IS 'how many succeeded';
COMMENT ON COLUMN @extschema@.sf_map_runs.failed IS 'how many failed';
COMMENT ON COLUMN @extschema@.sf_map_runs.timed_out IS 'how many timed out';
COMMENT ON COLUMN @extschema@.sf_map_runs.aborted IS 'how many were aborted';
COMMENT ON COLUMN @extschema@.sf_map_runs.redrive_count IS 'how often it was redriven';
COMMENT ON COLUMN @extschema@.sf_map_runs.started_at IS 'when it began';
COMMENT ON COLUMN @extschema@.sf_map_runs.stopped_at IS 'when it ended';

CREATE VIEW @extschema@.sf_start_requests WITH (security_barrier) AS
SELECT e.execution_id, r.requested_at, r.requested_by, r.outcome, r.input_differs
FROM _sfflow.start_request r
JOIN _sfflow.readable_execution e ON e.execution_no = r.execution_no;
COMMENT ON VIEW @extschema@.sf_start_requests IS 'calls of @extschema@.sf_start that found an execution';
COMMENT ON COLUMN @extschema@.sf_start_requests.execution_id IS 'the execution that was there';
COMMENT ON COLUMN @extschema@.sf_start_requests.requested_at IS 'when sf_start was called';
COMMENT ON COLUMN @extschema@.sf_start_requests.requested_by IS 'the role that called';
COMMENT ON COLUMN @extschema@.sf_start_requests.outcome IS 'running, succeeded, redriven, skipped, restarted, replaced ...';
COMMENT ON COLUMN @extschema@.sf_start_requests.input_differs IS
	'whether the call had another input than the execution';

GRANT SELECT ON @extschema@.sf_state_machines, @extschema@.sf_executions, @extschema@.sf_jobs,
	@extschema@.sf_job_relations, @extschema@.sf_history, @extschema@.sf_tasks, @extschema@.sf_activities,
	@extschema@.sf_dead_letters, @extschema@.sf_map_runs, @extschema@.sf_start_requests
	TO PUBLIC;

-- The branches that a feature keeps, such as a hold, or a limit.
CREATE VIEW _sfflow.parked_branch AS
SELECT w.feature, w.object_no, w.queue, w.since, b.execution_no, b.branch_no
FROM _sfflow.parked w
JOIN _sfflow.branch b ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no
JOIN _sfflow.execution e ON e.execution_no = w.execution_no AND e.status = @STATUS_RUNNING@
WHERE b.place = @BRANCH_PLACE_PARKED@;
