-- Tasks of people: worklists, and the branches that wait for people: the feature human.

--@into tables
-- Tasks of people (docs/human-tasks.md).

CREATE SEQUENCE _sfflow.worklist_no AS integer;

CREATE TABLE _sfflow.worklist (
	worklist_no integer NOT NULL DEFAULT nextval('_sfflow.worklist_no') PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	owner regrole NOT NULL,
	description text,
	form jsonb,							-- a JSON Schema for the output; NULL: any
	created_at timestamptz NOT NULL
);
CREATE INDEX worklist_owner ON _sfflow.worklist (owner);

CREATE SEQUENCE _sfflow.human_task_no;

-- A row per branch in phase EXTERNAL that waits for people.
CREATE TABLE _sfflow.human_task (
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	task_no bigint NOT NULL UNIQUE,
	generation integer NOT NULL,		-- of the branch
	worklist_no integer NOT NULL,
	priority integer NOT NULL,
	created_at timestamptz NOT NULL,
	due_at timestamptz,
	sweep_at timestamptz,				-- when a sweep is to tell rules of either; NULL: never
	due_told boolean NOT NULL,			-- rules were told that due_at is over
	roles_told_at timestamptz NOT NULL,	-- up to when rules were told that the task is for more roles
	claimed_at timestamptz,
	claimed_by text,					-- a role, or the person for whom a program with ACT acts: it outlives the role
	state text NOT NULL,				-- name of the state, when it began
	title text NOT NULL,
	not_starter boolean NOT NULL,		-- not by who has started the execution
	not_states text[] NOT NULL,			-- nor by who has completed one of these
	data jsonb,
	form jsonb,							-- as it was when the task began
	for_all boolean NOT NULL,			-- with the right DO: no role is named from the beginning on
	PRIMARY KEY (execution_no, branch_no),
	CONSTRAINT human_task_claimed CHECK ((claimed_at IS NULL) = (claimed_by IS NULL)),
	CONSTRAINT human_task_due_told CHECK (due_at IS NOT NULL OR NOT due_told)
) WITH (fillfactor = 85);
-- The order of pages (src/feature/human/human_task_list.c); one direction, so that a page begins by one comparison of
-- rows.
CREATE INDEX human_task_order ON _sfflow.human_task (worklist_no, for_all, (-priority), (coalesce(due_at, 'infinity')),
	task_no);
CREATE INDEX human_task_claimed ON _sfflow.human_task (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX human_task_sweep ON _sfflow.human_task (sweep_at) WHERE sweep_at IS NOT NULL;

-- The roles that a task is for, unless it is for all with the right DO.
CREATE TABLE _sfflow.human_task_role (
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	role regrole NOT NULL,
	from_at timestamptz,				-- by Escalate; NULL: from the beginning on
	PRIMARY KEY (execution_no, branch_no, role)
);
CREATE INDEX human_task_role_role ON _sfflow.human_task_role (role);

-- What was done with tasks, by whom. Names are text: the rows outlive the roles.
CREATE TABLE _sfflow.human_task_event (
	execution_no bigint NOT NULL,
	task_no bigint NOT NULL,
	at timestamptz NOT NULL,
	action text COLLATE "C" NOT NULL,
	worklist text COLLATE "C" NOT NULL,
	state text NOT NULL,				-- name that it had then
	state_now text NOT NULL,			-- ... and has in the version of the execution: NotBy is of this one
	role text,
	login text,
	is_relayed boolean NOT NULL,		-- the login called for role, which was another one, as sfgateway does
	actor text,
	comment text,
	details jsonb,
	PRIMARY KEY (execution_no, task_no, at, action),
	CONSTRAINT human_task_event_action CHECK (action IN (@HUMAN_ACTION_NAMES@))
);
CREATE INDEX human_task_event_worklist ON _sfflow.human_task_event (worklist, at);

-- The login of sf_start where it is not the role that calls.
CREATE TABLE _sfflow.human_starter (
	execution_no bigint NOT NULL PRIMARY KEY,
	login regrole NOT NULL,
	is_relayed boolean NOT NULL			-- as in human_task_event
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.worklist_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.worklist', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.human_task_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.human_task', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.human_task_role', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.human_task_event', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.human_starter', '');

--@into named_objects
		UNION ALL SELECT @OBJECT_WORKLIST@, w.name FROM _sfflow.worklist w
--@into functions
-- Tasks of people.
CREATE FUNCTION @extschema@.sf_create_worklist(name text, form jsonb DEFAULT NULL, options jsonb DEFAULT '{}')
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_create_worklist'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_create_worklist(text, jsonb, jsonb) IS
	'makes a list of tasks for people, or gives one of the caller another form';

CREATE FUNCTION @extschema@.sf_drop_worklist(name text)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_worklist'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_worklist(text) IS
	'deletes a worklist without open tasks';

CREATE FUNCTION @extschema@.sf_claim_task(task bigint, actor text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_claim_task'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_claim_task(bigint, text) IS
	'takes a task of people for the caller, or for the person for whom it acts';

CREATE FUNCTION @extschema@.sf_release_task(task bigint, actor text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_release_task'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_release_task(bigint, text) IS
	'gives a task of people back that the caller has claimed';

CREATE FUNCTION @extschema@.sf_complete_task(task bigint, output jsonb DEFAULT '{}', comment text DEFAULT NULL,
	actor text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_complete_task'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_complete_task(bigint, jsonb, text, text) IS
	'answers a task of people, which nobody else has claimed, with an output that fits its form';

CREATE FUNCTION @extschema@.sf_fail_task(task bigint, error text DEFAULT NULL, cause text DEFAULT NULL,
	actor text DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_fail_task'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_fail_task(bigint, text, text, text) IS
	'has a task of people fail with an error, which Retry and Catch of its state see';

CREATE FUNCTION @extschema@.sf_assign_task(task bigint, role text)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_assign_task'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_assign_task(bigint, text) IS
	'gives a task of people to a role, whoever has claimed it; null: to nobody';

CREATE FUNCTION @extschema@.sf_change_task(task bigint, roles text[] DEFAULT NULL, due timestamptz DEFAULT NULL,
	priority integer DEFAULT NULL)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_change_task'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_change_task(bigint, text[], timestamptz, integer) IS
	'gives a task of people other roles, another time by which it is due, or another priority; null: as it is';

CREATE FUNCTION @extschema@.sf_list_human_tasks(worklist text DEFAULT NULL, which text DEFAULT NULL,
	page_size integer DEFAULT NULL, after_key text DEFAULT NULL, actor text DEFAULT NULL,
	OUT task bigint,
	OUT worklist text,
	OUT execution_id text,
	OUT state text,
	OUT title text,
	OUT priority integer,
	OUT created_at timestamptz,
	OUT due_at timestamptz,
	OUT claimed_by text,
	OUT claimed_at timestamptz,
	OUT roles text[],
	OUT not_by text[],
	OUT page_key text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_list_human_tasks'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 100;
COMMENT ON FUNCTION @extschema@.sf_list_human_tasks(text, text, integer, text, text) IS
	'a page of the tasks that wait for people, the most urgent first; page_key of its last row is after_key of the next page';

CREATE FUNCTION @extschema@.sf_count_human_tasks(actor text DEFAULT NULL,
	OUT worklist text,
	OUT tasks bigint,
	OUT mine bigint,
	OUT open bigint,
	OUT overdue bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_count_human_tasks'
LANGUAGE C STABLE PARALLEL RESTRICTED COST 1000 ROWS 10;
COMMENT ON FUNCTION @extschema@.sf_count_human_tasks(text) IS
	'how many rows sf_list_human_tasks has for each worklist: of all, and by what its argument which chooses';

-- The worklists that the reader owns, or has a right on. Who may assign tasks, or act for others, sees all of a list.
CREATE VIEW _sfflow.known_worklist AS
SELECT w.worklist_no, w.name, w.owner, w.description, w.form, w.created_at,
	pg_has_role(w.owner, 'USAGE') OR w.name IN (
	SELECT g.object_name FROM _sfflow.granted g
		WHERE g.object_kind = @OBJECT_WORKLIST@ AND g.privilege IN (@PRIVILEGE_ASSIGN@, @PRIVILEGE_ACT@)) AS sees_all
FROM _sfflow.worklist w
WHERE pg_has_role(w.owner, 'USAGE') OR w.name IN (
	SELECT g.object_name FROM _sfflow.granted g WHERE g.object_kind = @OBJECT_WORKLIST@);

CREATE VIEW @extschema@.sf_worklists WITH (security_barrier) AS
SELECT w.name, w.owner, w.description, w.form, w.created_at, c.tasks, c.unclaimed
FROM _sfflow.known_worklist w
CROSS JOIN LATERAL (
	SELECT count(*) AS tasks, count(*) FILTER (WHERE t.claimed_by IS NULL) AS unclaimed
	FROM _sfflow.human_task t WHERE t.worklist_no = w.worklist_no) c;
GRANT SELECT ON @extschema@.sf_worklists TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_worklists IS 'worklists, and how many tasks wait in each';
COMMENT ON COLUMN @extschema@.sf_worklists.name IS 'name of the worklist';
COMMENT ON COLUMN @extschema@.sf_worklists.owner IS 'owner; its members may do everything with it';
COMMENT ON COLUMN @extschema@.sf_worklists.description IS 'what it is for';
COMMENT ON COLUMN @extschema@.sf_worklists.form IS 'JSON Schema that the output of a new task has to fit; null: any output does';
COMMENT ON COLUMN @extschema@.sf_worklists.created_at IS 'when it was created';
COMMENT ON COLUMN @extschema@.sf_worklists.tasks IS 'how many tasks wait for people';
COMMENT ON COLUMN @extschema@.sf_worklists.unclaimed IS 'how many of them nobody has claimed';

-- Who must not do a task, as NotBy has it; of a machine with a state "starter", once for both.
CREATE FUNCTION _sfflow.human_not_by(not_starter boolean, not_states text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN $1 THEN 'starter'::text || array_remove($2, 'starter') ELSE $2 END;

-- A row goes with the wait of its branch, so that it says all: branches and programs are not looked at.
CREATE VIEW @extschema@.sf_human_tasks WITH (security_barrier) AS
SELECT t.task_no AS task, w.name AS worklist, e.execution_id, t.state, t.title, t.priority, t.created_at, t.due_at,
	t.claimed_by, t.claimed_at, ARRAY(SELECT r.role::text FROM _sfflow.human_task_role r
		WHERE r.execution_no = t.execution_no AND r.branch_no = t.branch_no
			AND (r.from_at IS NULL OR r.from_at <= clock_timestamp()) ORDER BY r.role::text) AS roles,
	_sfflow.human_not_by(t.not_starter, t.not_states) AS not_by, t.data, t.form
FROM _sfflow.known_worklist w
JOIN _sfflow.human_task t ON t.worklist_no = w.worklist_no
JOIN _sfflow.execution e ON e.execution_no = t.execution_no
WHERE w.sees_all OR t.for_all OR EXISTS (SELECT FROM _sfflow.human_task_role r
	WHERE r.execution_no = t.execution_no AND r.branch_no = t.branch_no
		AND (r.from_at IS NULL OR r.from_at <= clock_timestamp()) AND pg_has_role(r.role, 'USAGE'));
GRANT SELECT ON @extschema@.sf_human_tasks TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_human_tasks IS 'tasks that wait for people, as far as the reader may do or assign them';
COMMENT ON COLUMN @extschema@.sf_human_tasks.task IS 'number of the task, for sf_claim_task and the like';
COMMENT ON COLUMN @extschema@.sf_human_tasks.worklist IS 'name of the worklist';
COMMENT ON COLUMN @extschema@.sf_human_tasks.execution_id IS 'execution that waits';
COMMENT ON COLUMN @extschema@.sf_human_tasks.state IS 'its state';
COMMENT ON COLUMN @extschema@.sf_human_tasks.title IS 'what is to be done';
COMMENT ON COLUMN @extschema@.sf_human_tasks.priority IS 'of two tasks the one with the greater number comes first';
COMMENT ON COLUMN @extschema@.sf_human_tasks.created_at IS 'when the state began to wait';
COMMENT ON COLUMN @extschema@.sf_human_tasks.due_at IS 'when it is to be done; null: not said';
COMMENT ON COLUMN @extschema@.sf_human_tasks.claimed_by IS 'who has claimed it, a role or the person for whom a program acts; null: nobody';
COMMENT ON COLUMN @extschema@.sf_human_tasks.claimed_at IS 'since when';
COMMENT ON COLUMN @extschema@.sf_human_tasks.roles IS 'the roles that it is for by now; empty: all with the right DO';
COMMENT ON COLUMN @extschema@.sf_human_tasks.not_by IS 'who must not do it: starter, and those who completed these states';
COMMENT ON COLUMN @extschema@.sf_human_tasks.data IS 'what people are shown';
COMMENT ON COLUMN @extschema@.sf_human_tasks.form IS 'JSON Schema that the output has to fit; null: any output does';

CREATE VIEW @extschema@.sf_human_task_events WITH (security_barrier) AS
SELECT h.task_no AS task, h.worklist, e.execution_id, h.state, h.at, h.action,
	coalesce(h.actor, h.role) AS done_by, h.role, h.login, h.comment, h.details
FROM _sfflow.known_worklist w
JOIN _sfflow.human_task_event h ON h.worklist = w.name
JOIN _sfflow.execution e ON e.execution_no = h.execution_no
WHERE w.sees_all;
GRANT SELECT ON @extschema@.sf_human_task_events TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_human_task_events IS 'what has become of tasks of people, for those who may assign them or act for others';
COMMENT ON COLUMN @extschema@.sf_human_task_events.task IS 'number of the task';
COMMENT ON COLUMN @extschema@.sf_human_task_events.worklist IS 'name of its worklist';
COMMENT ON COLUMN @extschema@.sf_human_task_events.execution_id IS 'its execution';
COMMENT ON COLUMN @extschema@.sf_human_task_events.state IS 'name that its state had then';
COMMENT ON COLUMN @extschema@.sf_human_task_events.at IS 'when it happened';
COMMENT ON COLUMN @extschema@.sf_human_task_events.action IS 'CREATED, CLAIMED, RELEASED, ASSIGNED, CHANGED, DUE, ESCALATED, COMPLETED, FAILED or CANCELLED';
COMMENT ON COLUMN @extschema@.sf_human_task_events.done_by IS 'who did it, a role or the person for whom a program acted; null: time, or the execution';
COMMENT ON COLUMN @extschema@.sf_human_task_events.role IS 'role that called';
COMMENT ON COLUMN @extschema@.sf_human_task_events.login IS 'login of its session';
COMMENT ON COLUMN @extschema@.sf_human_task_events.comment IS 'comment, or the cause of a failure';
COMMENT ON COLUMN @extschema@.sf_human_task_events.details IS 'what was changed, the roles that were added, or the error; else null';

-- What the caller may do with a task, and why not; null: it may not know of it.
CREATE FUNCTION _sfflow.human_task_rights(task bigint) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_human_task_rights'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;

--@into console
-- Which worklists are held, or whether one is.
CREATE FUNCTION _sfflow.console_held_worklists(worklist text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT coalesce(jsonb_agg(h.held), '[]') FROM jsonb_array_elements(_sfflow.console_holds(1000)) AS h(held)
	WHERE h.held ->> 'target' LIKE 'human:%' AND ($1 IS NULL OR h.held ->> 'target' = 'human:' || $1));

-- inbox {which, worklist, after, limit}: a page of sf_list_human_tasks, what there is to count, and worklists that are
-- held; readable: executions of the page that the caller may read.
CREATE FUNCTION _sfflow.console_inbox(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	WITH page AS MATERIALIZED (
		SELECT x.n, x.task, x.worklist, x.execution_id, x.state, x.title, x.priority, x.created_at, x.due_at,
			x.claimed_by, x.claimed_at, x.page_key
		FROM @extschema@.sf_list_human_tasks($1 ->> 'worklist', $1 ->> 'which',
			_sfflow.console_limit($1, 50, 500) + 1, $1 ->> 'after') WITH ORDINALITY
			AS x(task, worklist, execution_id, state, title, priority, created_at, due_at, claimed_by, claimed_at,
				roles, not_by, page_key, n)
	)
	SELECT jsonb_build_object(
		'rows', (SELECT coalesce(jsonb_agg(to_jsonb(p) - 'n' ORDER BY p.n), '[]') FROM page p
			WHERE p.n <= _sfflow.console_limit($1, 50, 500)),
		'next', (SELECT max(CASE p.n WHEN _sfflow.console_limit($1, 50, 500) THEN p.page_key END) FROM page p
			HAVING count(*) > _sfflow.console_limit($1, 50, 500)),
		'counts', (SELECT coalesce(jsonb_agg(to_jsonb(c) ORDER BY c.worklist), '[]')
			FROM @extschema@.sf_count_human_tasks() c),
		'held', _sfflow.console_held_worklists(NULL),
		'readable', (SELECT coalesce(jsonb_agg(DISTINCT e.execution_id), '[]') FROM page p
			CROSS JOIN LATERAL (SELECT x.execution_id FROM @extschema@.sf_executions x
				WHERE x.execution_id = p.execution_id OFFSET 0) e)));

-- task {task}: a task of people with its form, and what the caller may do with it.
CREATE FUNCTION _sfflow.console_task(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object(
		'task', to_jsonb(t) || jsonb_build_object('data', _sfflow.console_cut(t.data::text, 20000)),
		'rights', _sfflow.human_task_rights(t.task),
		'held', _sfflow.console_held_worklists(t.worklist),
		'may_read', EXISTS (SELECT FROM @extschema@.sf_executions e WHERE e.execution_id = t.execution_id))
	FROM @extschema@.sf_human_tasks t WHERE t.task = ($1 ->> 'task')::bigint);
--@into named_role
UNION ALL SELECT owner FROM _sfflow.worklist
UNION ALL SELECT role FROM _sfflow.human_task_role
--@into sequence_use
UNION ALL
SELECT 'worklist_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END, (SELECT max(worklist_no) FROM _sfflow.worklist)
FROM _sfflow.worklist_no s
UNION ALL
SELECT 'human_task_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END, (SELECT max(task_no) FROM _sfflow.human_task WHERE task_no <= r.high)
FROM _sfflow.human_task_no s, _sfflow.number_range r
--@into auditable
SELECT @OBJECT_WORKLIST@, w.name FROM _sfflow.known_worklist w
UNION ALL
--@into rows_of_executions
	UNION ALL SELECT 'human_task', t.execution_no FROM _sfflow.human_task t
	UNION ALL SELECT 'human_task_role', r.execution_no FROM _sfflow.human_task_role r
	UNION ALL SELECT 'human_task_event', h.execution_no FROM _sfflow.human_task_event h
	UNION ALL SELECT 'human_starter', h.execution_no FROM _sfflow.human_starter h
--@into branch_checks
	SELECT 'human_task_missing', b.execution_no, format('branch %s waits for people, and no row says for whom', b.branch_no)
	FROM strand b
	JOIN head e ON e.execution_no = b.execution_no
	CROSS JOIN LATERAL _sfflow.branch_names(b.execution_no, b.scope, b.state, b.iterations) p
	WHERE e.status = @STATUS_RUNNING@ AND b.phase = @PHASE_EXTERNAL@ AND p.resource LIKE 'human:%'
		AND EXISTS (SELECT FROM _sfflow.worklist)
		AND NOT EXISTS (SELECT FROM _sfflow.human_task t WHERE t.execution_no = b.execution_no
			AND t.branch_no = b.branch_no AND t.generation = b.generation)
	UNION ALL
	SELECT 'human_task_left', t.execution_no, format('branch %s does not wait for people, and task %s says that it does',
		t.branch_no, t.task_no)
	FROM _sfflow.human_task t
	JOIN head e ON e.execution_no = t.execution_no
	WHERE NOT EXISTS (SELECT FROM strand b WHERE b.execution_no = t.execution_no AND b.branch_no = t.branch_no
		AND b.phase = @PHASE_EXTERNAL@ AND b.generation = t.generation)
	UNION ALL
--@into alerts
SELECT 'task_due', e.execution_id COLLATE "C", e.execution_no, e.execution_id, t.due_at,
	format('state "%s": task %s of worklist "%s" is not done%s', t.state, t.task_no, w.name,
		CASE WHEN t.claimed_by IS NULL THEN '' ELSE format(', "%s" has claimed it', t.claimed_by) END), NULL, false
FROM _sfflow.human_task t
JOIN _sfflow.worklist w ON w.worklist_no = t.worklist_no
CROSS JOIN LATERAL (SELECT x.* FROM _sfflow.readable_execution x WHERE x.execution_no = t.execution_no OFFSET 0) e
WHERE t.due_at < now() AND e.status = @STATUS_RUNNING@
UNION ALL
--@into definition_kinds
	, (40, 'worklists', 'worklist', 'human:', @OBJECT_WORKLIST@, false, true, '{form,description}', '{}')
--@into definitions
UNION ALL
SELECT 'worklist', w.name, w.owner::oid, w.owner::oid, jsonb_build_object('form', w.form, 'description', w.description)
FROM _sfflow.worklist w
--@into apply_definition
	WHEN 'worklist' THEN @extschema@.sf_create_worklist($2, $4 -> 'form',
		CASE WHEN $4 ->> 'description' IS NULL THEN '{}'
			ELSE jsonb_build_object('description', $4 -> 'description') END)::text
--@into remove_definition
	WHEN 'worklist' THEN @extschema@.sf_drop_worklist($2)::text
--@into console_one
	WHEN 'claim_task' THEN @extschema@.sf_claim_task($2::bigint)::text
	WHEN 'release_task' THEN @extschema@.sf_release_task($2::bigint)::text
	WHEN 'complete_task' THEN @extschema@.sf_complete_task($2::bigint, ($3 ->> 'output')::jsonb, $3 ->> 'comment')::text
	WHEN 'fail_task' THEN @extschema@.sf_fail_task($2::bigint, nullif($3 ->> 'error', ''),
		nullif($3 ->> 'cause', ''))::text
	WHEN 'assign_task' THEN @extschema@.sf_assign_task($2::bigint, $3 ->> 'role')::text
--@into console_answers
		WHEN 'inbox' THEN answer := _sfflow.console_inbox(request);
		WHEN 'task' THEN answer := _sfflow.console_task(request);
		WHEN 'claim_task', 'release_task', 'complete_task', 'fail_task', 'assign_task' THEN
			answer := _sfflow.console_each(action, request);
--@into console_may_release
	WHEN $1 LIKE 'human:%' THEN EXISTS (SELECT FROM @extschema@.sf_worklists w
		WHERE w.name = substr($1, 7) AND pg_has_role(w.owner, 'USAGE'))
--@into console_payload
		UNION ALL
		SELECT t.data::text FROM @extschema@.sf_human_tasks t
		WHERE t.task = ($1 ->> 'task')::bigint AND $1 ->> 'what' = 'task'
--@into hold.waiting
	WHEN 'human' THEN (SELECT count(*) FROM _sfflow.human_task t
		JOIN _sfflow.worklist w ON w.worklist_no = t.worklist_no WHERE w.name = h.name AND t.claimed_by IS NULL)
--@into hold.visible
	WHEN 'human' THEN h.name IN (SELECT w.name FROM _sfflow.worklist w WHERE pg_has_role(w.owner, 'USAGE')
		UNION ALL SELECT g.object_name FROM _sfflow.granted g WHERE g.object_kind = @OBJECT_WORKLIST@)
--@into public_functions
		console_held_worklists, console_inbox, console_task, human_not_by, human_task_rights,
--@into mcp.questions
	('waiting_for_people', false, 'Which decisions wait for people?',
		'A page of the tasks of people that the role may do or assign, the most urgent first. People claim and complete them; no tool does.',
		'worklist string Only those of this worklist.
		which string mine, open (that the role may claim), overdue or all; default: all.
		limit integer How many at most (20, at most 50).
		page_key string next_page_key of the page before.',
		'counts! array How many tasks wait in each worklist.
		tasks! array The tasks: title, due_at, who has claimed it, for which roles it is; data is what people are shown.
		held! array Worklists that are held.
		next_page_key string page_key of the next page.
		cut! boolean There is another page.'),
--@into mcp.answers
-- waiting_for_people {worklist, which, limit, page_key}
CREATE FUNCTION _sfflow.mcp_waiting_for_people(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN (
	SELECT jsonb_build_object('counts', i.d -> 'counts', 'tasks', (
			SELECT coalesce(jsonb_agg(r.task || jsonb_build_object('title', _sfflow.mcp_text(r.task ->> 'title', 300),
				'roles', to_jsonb(t.roles), 'not_by', to_jsonb(t.not_by), 'data', _sfflow.mcp_text(t.data::text, 500))
				ORDER BY r.n), '[]')
			FROM jsonb_array_elements(i.d -> 'rows') WITH ORDINALITY AS r(task, n)
			LEFT JOIN LATERAL (
				SELECT x.roles, x.not_by, x.data FROM @extschema@.sf_human_tasks x
				WHERE x.task = (r.task ->> 'task')::bigint OFFSET 0) t ON true),
		'held', i.d -> 'held', 'next_page_key', i.d -> 'next', 'cut', i.d ->> 'next' IS NOT NULL)
	FROM (
		SELECT _sfflow.console_inbox($1 || jsonb_build_object('limit', _sfflow.console_limit($1, 20, 50),
			'after', $1 -> 'page_key')) AS d OFFSET 0) i);
--@into mcp.calls
		WHEN 'waiting_for_people' THEN answer := _sfflow.mcp_waiting_for_people(arguments);
--@into mcp.node.parts
	WHEN 'waiting_for_people' THEN _sfflow.mcp_waiting_for_people($2)
--@into public_functions
		mcp_waiting_for_people,
