-- Events by key: types of events, events that were emitted, and the branches that wait for them: the feature event.

--@into tables
-- Events by key (docs/events.md). src/feature/event/event_by_key.h explains the protocol of emitters and waits.

CREATE SEQUENCE _sfflow.event_type_no AS integer;

-- Each backend keeps the types that it works with.
CREATE TABLE _sfflow.event_type (
	event_type_no integer NOT NULL DEFAULT nextval('_sfflow.event_type_no') PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	owner regrole NOT NULL,
	ttl interval NOT NULL,
	remember_ids interval NOT NULL,
	deliver text COLLATE "C" NOT NULL,	-- all or one
	created_at timestamptz NOT NULL,
	alert_unreceived boolean NOT NULL,	-- an event that ends and that no execution has received is an alert
	CONSTRAINT event_type_deliver CHECK (deliver IN (@RECEIVERS_WORDS@))
);
CREATE INDEX event_type_owner ON _sfflow.event_type (owner);

-- An event that has ended stays until its id may be used again. No index has receipt_noted, so that a sweep which sets
-- it writes none. sf_check() compares the columns with the status: a CHECK would nearly double what it costs to emit
-- one (docs/decisions/events-by-key.md).
CREATE SEQUENCE _sfflow.event_no;

CREATE TABLE _sfflow.emission (
	event_no bigint NOT NULL PRIMARY KEY,	-- drawn when the transaction has its number
	event_type_no integer NOT NULL,
	key text COLLATE "C" NOT NULL,
	id text COLLATE "C",				-- as given; NULL: sf- and event_no
	deliver text COLLATE "C" NOT NULL,
	receipt_noted boolean NOT NULL DEFAULT false,	-- of a type with alert_unreceived: it was received
	horizon xid8 NOT NULL,				-- who has drawn a lower number has a lower xid
	ttl interval NOT NULL,				-- from the first sweep on
	expires_at timestamptz,				-- set by the first sweep
	forget_at timestamptz,				-- likewise: the row may go then
	depth integer NOT NULL,				-- of the chain of rules that has led to it
	status smallint NOT NULL,			-- SfEmissionStatus
	alert smallint NOT NULL DEFAULT @EVENT_ALERT_NONE@,	-- SfEventAlert
	emitted_at timestamptz NOT NULL,
	payload jsonb
) WITH (fillfactor = 85);
CREATE INDEX emission_live ON _sfflow.emission (event_type_no, key, event_no)
	WHERE status IN (@EMISSIONS_LIVE@);
CREATE INDEX emission_fresh ON _sfflow.emission (event_type_no, key, event_no) WHERE status IN (@EMISSIONS_FRESH@);
CREATE UNIQUE INDEX emission_id ON _sfflow.emission (event_type_no, key, id) WHERE id IS NOT NULL;
CREATE INDEX emission_expires ON _sfflow.emission (expires_at) WHERE status = @EMISSION_SWEPT@;
CREATE INDEX emission_forget ON _sfflow.emission (forget_at) WHERE status IN (@EMISSIONS_ENDED@);
CREATE INDEX emission_unreceived ON _sfflow.emission (event_type_no) WHERE alert = @EVENT_ALERT_OPEN@;

-- A row per name that a branch in phase EXTERNAL waits for.
CREATE TABLE _sfflow.awaited_event (
	execution_no bigint NOT NULL,
	branch_no bigint NOT NULL,
	event_type_no integer NOT NULL,
	key text COLLATE "C" NOT NULL,
	generation integer NOT NULL,		-- of the branch
	ripe boolean NOT NULL,				-- an event was there when it began
	since timestamptz NOT NULL,
	max_events integer NOT NULL,
	gives_array boolean NOT NULL,		-- of events; else the one event itself
	filter jsonb,						-- an event pattern; NULL: any
	PRIMARY KEY (execution_no, branch_no, event_type_no)
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX awaited_event_key ON _sfflow.awaited_event (event_type_no, key, since, execution_no, branch_no);
CREATE INDEX awaited_event_ripe ON _sfflow.awaited_event (event_type_no, key, since, execution_no, branch_no)
	WHERE ripe;

-- What an execution has received: these, and of a type and key all up to a floor.
CREATE TABLE _sfflow.event_receipt (
	execution_no bigint NOT NULL,
	event_no bigint NOT NULL,
	depth integer NOT NULL DEFAULT 0,	-- of the chain of rules that has led to it
	by_start boolean NOT NULL DEFAULT false,	-- a rule has started the execution for it
	PRIMARY KEY (execution_no, event_no)
);
CREATE INDEX event_receipt_start ON _sfflow.event_receipt (event_no) WHERE by_start;

CREATE TABLE _sfflow.event_floor (
	execution_no bigint NOT NULL,
	event_type_no integer NOT NULL,
	key text COLLATE "C" NOT NULL,
	floor bigint NOT NULL,
	depth integer NOT NULL,				-- of the chain of rules that has led to one of them
	PRIMARY KEY (execution_no, event_type_no, key)
);

-- The same of events of another node, where the execution has been: kept for a move back.
CREATE TABLE _sfflow.event_floor_of_node (
	execution_no bigint NOT NULL,
	event_type_no integer NOT NULL,
	key text COLLATE "C" NOT NULL,
	node integer NOT NULL,
	floor bigint NOT NULL,
	depth integer NOT NULL,
	PRIMARY KEY (execution_no, event_type_no, key, node)
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.event_type_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.event_type', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.event_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.emission', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.awaited_event', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.event_receipt', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.event_floor', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.event_floor_of_node', '');

--@into named_objects
		UNION ALL SELECT @OBJECT_EVENT@, e.name FROM _sfflow.event_type e
--@into functions
-- Events by key.
CREATE FUNCTION @extschema@.sf_create_event(name text, ttl interval DEFAULT '1 day',
	remember_ids interval DEFAULT '7 days', deliver text DEFAULT 'all', alert_unreceived boolean DEFAULT false)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_create_event'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_create_event(text, interval, interval, text, boolean) IS
	'makes a type of events, which executions wait for by name and key';

CREATE FUNCTION @extschema@.sf_drop_event(name text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_event'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_event(text) IS
	'deletes a type of events that no execution waits for, with its events';

CREATE FUNCTION @extschema@.sf_emit(name text, key text, payload jsonb DEFAULT NULL, id text DEFAULT NULL,
	ttl interval DEFAULT NULL, deliver text DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME', 'sfflow_sf_emit'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_emit(text, text, jsonb, text, interval, text) IS
	'emits an event for executions that wait for its name and key, now or within its time to live; returns its id';

CREATE FUNCTION @extschema@.sf_emit_many(name text, events jsonb[]) RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_emit_many'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_emit_many(text, jsonb[]) IS
	'emits many events of a type, each an object with key, payload and id; returns how many are new';

CREATE FUNCTION @extschema@.sf_withdraw_event(name text, key text, id text) RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_sf_withdraw_event'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_withdraw_event(text, text, text) IS
	'has an event given to nobody from now on; false: it is not there any more';

-- The rows of an index each.
CREATE VIEW _sfflow.live_event AS
SELECT e.event_no, e.event_type_no, e.key, e.id, e.expires_at FROM _sfflow.emission e
WHERE e.status IN (@EMISSIONS_LIVE@);
CREATE VIEW _sfflow.swept_event AS
SELECT e.event_no, e.event_type_no, e.expires_at, e.receipt_noted FROM _sfflow.emission e
WHERE e.status = @EMISSION_SWEPT@;
CREATE VIEW _sfflow.ended_event AS
SELECT e.event_no, e.forget_at FROM _sfflow.emission e WHERE e.status IN (@EMISSIONS_ENDED@);
CREATE VIEW _sfflow.unreceived_event AS
SELECT e.event_no, e.event_type_no, e.key, e.expires_at FROM _sfflow.emission e
WHERE e.alert = @EVENT_ALERT_OPEN@;

-- The types of events that the reader owns, or has a right on.
CREATE VIEW _sfflow.known_event_type AS
SELECT t.event_type_no, t.name, t.owner, t.ttl, t.remember_ids, t.deliver, t.created_at, t.alert_unreceived,
	pg_has_role(t.owner, 'USAGE') OR t.name IN (
	SELECT g.object_name FROM _sfflow.granted g
		WHERE g.object_kind = @OBJECT_EVENT@ AND g.privilege = @PRIVILEGE_RECEIVE@) AS is_receiver
FROM _sfflow.event_type t
WHERE pg_has_role(t.owner, 'USAGE') OR t.name IN (
	SELECT g.object_name FROM _sfflow.granted g WHERE g.object_kind = @OBJECT_EVENT@);

CREATE VIEW @extschema@.sf_event_types WITH (security_barrier) AS
SELECT t.name, t.owner, t.ttl, t.remember_ids, t.deliver, t.created_at,
	(SELECT count(*) FROM _sfflow.live_event e WHERE e.event_type_no = t.event_type_no
		AND (e.expires_at IS NULL OR e.expires_at > clock_timestamp())) AS events,
	(SELECT count(*) FROM _sfflow.awaited_event w WHERE w.event_type_no = t.event_type_no) AS waits,
	t.alert_unreceived
FROM _sfflow.known_event_type t;
GRANT SELECT ON @extschema@.sf_event_types TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_event_types IS 'types of events, and how many events and waits of each there are';
COMMENT ON COLUMN @extschema@.sf_event_types.name IS 'name of the type';
COMMENT ON COLUMN @extschema@.sf_event_types.owner IS 'owner; its members may do everything with it';
COMMENT ON COLUMN @extschema@.sf_event_types.ttl IS 'how long an event can be received, from the first sweep after its commit';
COMMENT ON COLUMN @extschema@.sf_event_types.remember_ids IS 'how long the id of an event cannot be used again';
COMMENT ON COLUMN @extschema@.sf_event_types.deliver IS 'all: each execution that waits receives it; one: one of them does';
COMMENT ON COLUMN @extschema@.sf_event_types.created_at IS 'when it was created';
COMMENT ON COLUMN @extschema@.sf_event_types.events IS 'how many events can still be received';
COMMENT ON COLUMN @extschema@.sf_event_types.waits IS 'how many branches wait for an event of this type';
COMMENT ON COLUMN @extschema@.sf_event_types.alert_unreceived IS
	'whether an event that ends, and that no execution has received, is an alert';

CREATE VIEW @extschema@.sf_events WITH (security_barrier) AS
SELECT t.name, e.key, coalesce(e.id, 'sf-' || e.event_no) AS id, e.deliver, e.emitted_at, e.expires_at,
	(SELECT count(*) FROM _sfflow.event_receipt r WHERE r.event_no = e.event_no)
	+ (SELECT count(*) FROM _sfflow.event_floor f
		WHERE f.event_type_no = e.event_type_no AND f.key = e.key AND f.floor >= e.event_no) AS received, e.payload
FROM _sfflow.emission e
JOIN _sfflow.known_event_type t ON t.event_type_no = e.event_type_no AND t.is_receiver
WHERE e.status IN (@EMISSIONS_LIVE@) AND (e.expires_at IS NULL OR e.expires_at > clock_timestamp());
GRANT SELECT ON @extschema@.sf_events TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_events IS 'events that can still be received';
COMMENT ON COLUMN @extschema@.sf_events.name IS 'name of its type';
COMMENT ON COLUMN @extschema@.sf_events.key IS 'key, as sf_emit was given it';
COMMENT ON COLUMN @extschema@.sf_events.id IS 'id, as sf_emit has returned it';
COMMENT ON COLUMN @extschema@.sf_events.deliver IS 'all: each execution that waits receives it; one: one of them does';
COMMENT ON COLUMN @extschema@.sf_events.emitted_at IS 'when sf_emit was called';
COMMENT ON COLUMN @extschema@.sf_events.expires_at IS 'until when it can be received; null: no sweep has seen it yet';
COMMENT ON COLUMN @extschema@.sf_events.received IS 'how many executions have received it';
COMMENT ON COLUMN @extschema@.sf_events.payload IS 'payload';

CREATE VIEW @extschema@.sf_event_waits WITH (security_barrier) AS
SELECT t.name, w.key, e.execution_id, p.state, p.branch, w.since, w.filter,
	CASE WHEN w.gives_array THEN w.max_events END AS max_events
FROM _sfflow.awaited_event w
JOIN _sfflow.event_type t ON t.event_type_no = w.event_type_no
JOIN _sfflow.readable_execution e ON e.execution_no = w.execution_no
JOIN _sfflow.branch b ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no
	AND b.generation = w.generation AND b.phase = @PHASE_EXTERNAL@
CROSS JOIN LATERAL _sfflow.branch_names(b.execution_no, b.scope, b.state, b.iterations) p;
GRANT SELECT ON @extschema@.sf_event_waits TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_event_waits IS 'what waits for which events, since when';
COMMENT ON COLUMN @extschema@.sf_event_waits.name IS 'name of the type of events';
COMMENT ON COLUMN @extschema@.sf_event_waits.key IS 'key that the event has to have';
COMMENT ON COLUMN @extschema@.sf_event_waits.execution_id IS 'execution that waits';
COMMENT ON COLUMN @extschema@.sf_event_waits.state IS 'its state';
COMMENT ON COLUMN @extschema@.sf_event_waits.branch IS 'its branch, as sf_tasks shows it';
COMMENT ON COLUMN @extschema@.sf_event_waits.since IS 'since when';
COMMENT ON COLUMN @extschema@.sf_event_waits.filter IS 'pattern that the payload has to match; null: any';
COMMENT ON COLUMN @extschema@.sf_event_waits.max_events IS 'how many events it takes at most; null: one, which is no array';

--@into alerts
SELECT 'unreceived_event', t.name, NULL, NULL, u.since,
	format('event "%s": no execution has received %s, the last one of key "%s"', t.name,
		CASE u.count WHEN 1 THEN '1 event' ELSE u.count || ' events' END, u.key), 'event:' || t.name, true
FROM _sfflow.known_event_type t
CROSS JOIN LATERAL (
	SELECT count(*) AS count, min(e.expires_at) AS since, (array_agg(e.key ORDER BY e.event_no DESC))[1] AS key
	FROM _sfflow.unreceived_event e WHERE e.event_type_no = t.event_type_no) u
WHERE t.alert_unreceived AND t.is_receiver AND u.count > 0
UNION ALL
--@into checks
SELECT 'event_of_no_type', NULL, format('%s events of the type of number %s, which there is not', count(*),
	e.event_type_no)
FROM _sfflow.emission e
WHERE NOT EXISTS (SELECT FROM _sfflow.event_type t WHERE t.event_type_no = e.event_type_no)
GROUP BY e.event_type_no
UNION ALL
SELECT 'event_status_wrong', NULL, format('event %s has status %s and alert %s, and other columns tell otherwise',
	e.event_no, e.status, e.alert)
FROM _sfflow.emission e
WHERE CASE e.status WHEN @EMISSION_NEW@ THEN e.expires_at IS NOT NULL OR e.forget_at IS NOT NULL
	ELSE e.status NOT IN (@EMISSION_SEEN@, @EMISSION_SWEPT@, @EMISSIONS_ENDED@) OR e.expires_at IS NULL
		OR e.forget_at IS NULL END
	OR e.alert <> @EVENT_ALERT_NONE@ AND (e.alert NOT IN (@EVENT_ALERT_OPEN@, @EVENT_ALERT_ACKNOWLEDGED@)
		OR e.status <> @EMISSION_EXPIRED@)
UNION ALL
--@into named_role
UNION ALL SELECT owner FROM _sfflow.event_type
--@into sequence_use
UNION ALL
SELECT 'event_type_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	(SELECT max(event_type_no) FROM _sfflow.event_type)
FROM _sfflow.event_type_no s
UNION ALL
SELECT 'event_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END, (SELECT max(event_no) FROM _sfflow.emission WHERE event_no <= r.high)
FROM _sfflow.event_no s, _sfflow.number_range r
--@into auditable
SELECT @OBJECT_EVENT@, t.name FROM _sfflow.known_event_type t
UNION ALL
--@into rows_of_executions
	UNION ALL SELECT 'awaited_event', w.execution_no FROM _sfflow.awaited_event w
	UNION ALL SELECT 'event_receipt', r.execution_no FROM _sfflow.event_receipt r
	UNION ALL SELECT 'event_floor', f.execution_no FROM _sfflow.event_floor f
	UNION ALL SELECT 'event_floor_of_node', f.execution_no FROM _sfflow.event_floor_of_node f
--@into branch_checks
	SELECT 'event_wait_missing', b.execution_no, format('branch %s waits for events, and no row says for which', b.branch_no)
	FROM strand b
	JOIN head e ON e.execution_no = b.execution_no
	CROSS JOIN LATERAL _sfflow.branch_names(b.execution_no, b.scope, b.state, b.iterations) p
	WHERE e.status = @STATUS_RUNNING@ AND b.phase = @PHASE_EXTERNAL@ AND p.resource LIKE 'event:%'
		AND EXISTS (SELECT FROM _sfflow.event_type)
		AND NOT EXISTS (SELECT FROM _sfflow.awaited_event w WHERE w.execution_no = b.execution_no
			AND w.branch_no = b.branch_no AND w.generation = b.generation)
	UNION ALL
	SELECT 'event_wait_left', w.execution_no, format('branch %s does not wait for events, and a row says that it does',
		w.branch_no)
	FROM _sfflow.awaited_event w
	JOIN head e ON e.execution_no = w.execution_no
	WHERE NOT EXISTS (SELECT FROM strand b WHERE b.execution_no = w.execution_no AND b.branch_no = w.branch_no
		AND b.phase = @PHASE_EXTERNAL@ AND b.generation = w.generation)
	UNION ALL
--@into definition_kinds
	, (30, 'events', 'event', 'event:', @OBJECT_EVENT@, false, true, '{ttl,remember_ids,deliver,alert_unreceived}',
		'{"ttl": "1 day", "remember_ids": "7 days", "deliver": "all", "alert_unreceived": false}')
--@into definitions
UNION ALL
SELECT 'event', t.name, t.owner::oid, t.owner::oid, jsonb_build_object('ttl', t.ttl, 'remember_ids', t.remember_ids,
	'deliver', t.deliver, 'alert_unreceived', t.alert_unreceived)
FROM _sfflow.event_type t
--@into definition_forms
			WHEN 'event' THEN d.body || jsonb_build_object('ttl', (d.body ->> 'ttl')::interval,
				'remember_ids', (d.body ->> 'remember_ids')::interval)
--@into apply_definition
	WHEN 'event' THEN @extschema@.sf_create_event($2, ($4 ->> 'ttl')::interval, ($4 ->> 'remember_ids')::interval,
		$4 ->> 'deliver', ($4 ->> 'alert_unreceived')::boolean)::text
--@into remove_definition
	WHEN 'event' THEN @extschema@.sf_drop_event($2)::text
--@into console_may_release
	WHEN $1 LIKE 'event:%' THEN EXISTS (SELECT FROM @extschema@.sf_event_types t
		WHERE t.name = substr($1, 7) AND pg_has_role(t.owner, 'USAGE'))
--@into hold.waiting
	WHEN 'event' THEN (SELECT count(*) FROM _sfflow.awaited_event w
		JOIN _sfflow.event_type t ON t.event_type_no = w.event_type_no WHERE t.name = h.name)
--@into hold.visible
	WHEN 'event' THEN h.name IN (SELECT t.name FROM _sfflow.known_event_type t)
--@into aws_targets
		ELSIF target LIKE 'event:%' THEN
			PERFORM @extschema@.sf_emit(substr(target, 7), message->>'key', nullif(message->'payload', 'null'),
				coalesce(message->>'id', id));
--@into mcp.waits
	'events', (SELECT coalesce(jsonb_agg(to_jsonb(w) ORDER BY w.since), '[]') FROM (
		SELECT x.name, left(x.key, 200) AS key, x.state, x.since FROM @extschema@.sf_event_waits x
		WHERE x.execution_id = $1 ORDER BY x.since LIMIT 20) w),
