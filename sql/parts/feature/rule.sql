-- Rules: what is to happen when a status changes, what they are to deliver, and how they led to executions.

--@into tables
CREATE SEQUENCE _sfflow.rule_no;

-- pattern: an event pattern of EventBridge; input: a template, NULL: the event itself. A rule that is dropped and
-- made again has another number: what was to be delivered by the former is nothing to the latter.
CREATE TABLE _sfflow.rule (
	rule_no bigint NOT NULL DEFAULT nextval('_sfflow.rule_no') PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	owner regrole NOT NULL,
	target text NOT NULL,
	created_at timestamptz NOT NULL,
	bytes integer NOT NULL,				-- of pattern and input as text: counts for a quota of the owner
	wants_alerts boolean NOT NULL,		-- its pattern may match events of alerts
	pattern jsonb NOT NULL,
	input jsonb,
	execution_name text,				-- of what it starts: a path or a function over the event; NULL: made
	if_exists text COLLATE "C",			-- what becomes of one of that name that is there
	CONSTRAINT rule_if_exists CHECK (if_exists IN (@IF_EXISTS_WORDS@)
		AND (execution_name IS NULL) = (if_exists IS NULL))
);
CREATE INDEX rule_of_owner ON _sfflow.rule (owner);
CREATE INDEX rule_alerts ON _sfflow.rule (rule_no) WHERE wants_alerts;

-- One row per role that has rules or had some. Its revision is another one after each change of its rules, and is
-- never given twice: a backend that has the rules of this revision has those of now (src/feature/rule/watcher.c).
CREATE SEQUENCE _sfflow.rule_revision;
CREATE TABLE _sfflow.rule_owner (
	owner regrole NOT NULL PRIMARY KEY,
	revision bigint NOT NULL
) WITH (fillfactor = 50);

-- Deliveries of a rule that were made: the sum of its rows. A process adds to any row that no other one has
-- locked, or makes another row, so that none waits. The rows have no key; logical replication finds one by all columns.
CREATE TABLE _sfflow.rule_total (
	rule_no bigint NOT NULL,
	delivered bigint NOT NULL
) WITH (fillfactor = 10);
CREATE INDEX rule_total_rule ON _sfflow.rule_total (rule_no);
ALTER TABLE _sfflow.rule_total REPLICA IDENTITY FULL;

-- One row per event and rule that it matches, until the target was called, or the row was dropped.
CREATE TABLE _sfflow.rule_delivery (
	rule_no bigint NOT NULL,
	event_id text COLLATE "C" NOT NULL,
	owner regrole NOT NULL,				-- of the rule
	attempt integer NOT NULL,			-- how many there were that count, with that of a row that is CLAIMED
	depth integer NOT NULL,				-- rules that led to the event, and this one
	due_at timestamptz,					-- NEW: since when; DEAD: NULL
	created_at timestamptz NOT NULL,	-- when the transaction began
	failed_at timestamptz,				-- the last attempt: when, and how
	error text,
	cause text,
	event jsonb NOT NULL,
	status smallint NOT NULL DEFAULT @DELIVERY_NEW@,	-- SfDeliveryStatus
	unmatched boolean NOT NULL DEFAULT false,	-- the attempt finds out whether the event matches
	PRIMARY KEY (rule_no, event_id),
	CONSTRAINT rule_delivery_status CHECK (CASE
		WHEN status IN (@DELIVERY_NEW@, @DELIVERY_CLAIMED_WITH_OTHERS@) THEN attempt = 0 AND due_at IS NOT NULL
		WHEN status = @DELIVERY_CLAIMED@ THEN attempt > 0 AND due_at IS NOT NULL
		WHEN status = @DELIVERY_RETRY@ THEN attempt > 0 AND due_at IS NOT NULL AND failed_at IS NOT NULL
		ELSE status = @DELIVERY_DEAD@ AND due_at IS NULL AND failed_at IS NOT NULL END),
	CONSTRAINT rule_delivery_failed CHECK (failed_at IS NOT NULL OR num_nonnulls(error, cause) = 0)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- What was not tried yet: owners take turns. What is claimed, or to be tried again.
CREATE INDEX rule_delivery_new ON _sfflow.rule_delivery (owner, due_at) WHERE status = @DELIVERY_NEW@;
CREATE INDEX rule_delivery_again ON _sfflow.rule_delivery (due_at) WHERE status IN (@DELIVERIES_AGAIN@);

-- Executions that a target of a rule started, or that were started by a task of such a one: how many
-- rules led to them.
CREATE TABLE _sfflow.rule_chain (
	execution_no bigint NOT NULL PRIMARY KEY,
	depth integer NOT NULL
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_revision', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_owner', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_total', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_delivery', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_chain', '');

-- Alerts that time opens and clears, as rules were told of them: one row per alert that is open, while a rule
-- wants to know. object: the execution, the activity, the schedule or the machine. since: -infinity if it is
-- not known. machine_no, owner: for the rules that are told of its end, when what it is of is gone.
CREATE TABLE _sfflow.told_alert (
	kind text COLLATE "C" NOT NULL,
	object text COLLATE "C" NOT NULL,
	since timestamptz NOT NULL,
	execution_no bigint,
	machine_no integer,
	owner regrole,
	target text,						-- of an alert of no execution, as sf_alerts has it
	PRIMARY KEY (kind, object, since),
	CONSTRAINT told_alert_target CHECK ((target IS NULL) = (execution_no IS NOT NULL))
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.told_alert', '');

--@into functions
-- The rows of an index each.
CREATE VIEW _sfflow.new_delivery AS
SELECT d.rule_no, d.event_id, d.owner, d.due_at FROM _sfflow.rule_delivery d WHERE d.status = @DELIVERY_NEW@;
CREATE VIEW _sfflow.delivery_again AS
SELECT d.rule_no, d.event_id, d.owner, d.due_at FROM _sfflow.rule_delivery d WHERE d.status IN (@DELIVERIES_AGAIN@);

CREATE FUNCTION @extschema@.sf_create_rule(name text, pattern jsonb, target text, input jsonb DEFAULT NULL) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_create_rule'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_create_rule(text, jsonb, text, jsonb) IS
	'call a target for each change of a status whose event matches a pattern';

CREATE FUNCTION @extschema@.sf_create_rule(name text, pattern jsonb, target text, input jsonb, execution_name text,
	if_exists text DEFAULT 'skip') RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_create_rule'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_create_rule(text, jsonb, text, jsonb, text, text) IS
	'start an execution that the event names, for each event that matches a pattern';

-- What a rule starts, for C: sf_start in whatever schema it is, as start_scheduled.
CREATE FUNCTION _sfflow.start_by_rule(state_machine text, input jsonb, name text, if_exists text) RETURNS text
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN @extschema@.sf_start($1, $2, $3, $4);

CREATE FUNCTION @extschema@.sf_drop_rule(name text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_rule'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_rule(text) IS 'remove a rule with its deliveries';

CREATE FUNCTION @extschema@.sf_redeliver(rule text, event_id text DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_redeliver'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_redeliver(text, text) IS 'try dead deliveries of a rule anew; returns how many';

CREATE FUNCTION @extschema@.sf_discard_deliveries(rule text, event_id text DEFAULT NULL) RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_discard_deliveries'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_discard_deliveries(text, text) IS
	'delete dead deliveries of a rule; returns how many';

CREATE FUNCTION @extschema@.sf_test_event_pattern(pattern jsonb, event jsonb) RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_sf_test_event_pattern'
LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_test_event_pattern(jsonb, jsonb) IS 'does an event match an event pattern?';

-- For rules of the stand-in of EventBridge: check the template of an input for a target; make the input of an event.
CREATE FUNCTION _sfflow.check_rule_input(target text, input jsonb) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_check_rule_input'
LANGUAGE C STABLE;

CREATE FUNCTION _sfflow.rule_input(input jsonb, event jsonb) RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_rule_input'
LANGUAGE C STABLE STRICT;

-- For tests: what workers do once a minute if a rule wants to know of alerts.
CREATE FUNCTION _sfflow.check_alerts() RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_check_alerts'
LANGUAGE C VOLATILE;

-- A rule is visible to members of its owner. last_error: of the deliveries that there are.
CREATE VIEW @extschema@.sf_rules WITH (security_barrier) AS
SELECT r.name AS rule_name, pg_get_userbyid(r.owner) AS owner, r.pattern, r.target, r.input, d.pending,
	(SELECT coalesce(sum(t.delivered), 0)::bigint FROM _sfflow.rule_total t WHERE t.rule_no = r.rule_no) AS delivered,
		d.dead,
	e.error AS last_error, e.cause AS last_cause, e.failed_at AS last_failed_at, r.created_at, r.execution_name,
	CASE WHEN r.execution_name IS NOT NULL THEN coalesce(r.if_exists, 'skip') END AS if_exists
FROM _sfflow.rule r
CROSS JOIN LATERAL (
	SELECT count(*) FILTER (WHERE x.status <> @DELIVERY_DEAD@) AS pending,
		count(*) FILTER (WHERE x.status = @DELIVERY_DEAD@) AS dead
	FROM _sfflow.rule_delivery x WHERE x.rule_no = r.rule_no) d
LEFT JOIN LATERAL (
	SELECT x.error, x.cause, x.failed_at
	FROM _sfflow.rule_delivery x WHERE x.rule_no = r.rule_no AND x.failed_at IS NOT NULL
	ORDER BY x.failed_at DESC LIMIT 1) e ON true
WHERE r.owner = ANY (ARRAY(SELECT o.owner FROM _sfflow.rule_owner o WHERE pg_has_role(o.owner, 'USAGE')));
GRANT SELECT ON @extschema@.sf_rules TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_rules IS 'rules, and how many of their deliveries wait, were made, and are dead';

CREATE VIEW @extschema@.sf_rule_deliveries WITH (security_barrier) AS
SELECT r.name AS rule_name, d.event_id, CASE d.status WHEN @DELIVERY_DEAD@ THEN 'DEAD' ELSE 'PENDING' END AS status,
	d.attempt AS attempts,
	CASE WHEN d.status <> @DELIVERY_NEW@ THEN d.due_at END AS next_attempt, d.error, d.cause, d.failed_at,
	d.event, d.created_at
FROM _sfflow.rule_delivery d
JOIN _sfflow.rule r ON r.rule_no = d.rule_no
WHERE r.owner = ANY (ARRAY(SELECT o.owner FROM _sfflow.rule_owner o WHERE pg_has_role(o.owner, 'USAGE')));
GRANT SELECT ON @extschema@.sf_rule_deliveries TO PUBLIC;
COMMENT ON VIEW @extschema@.sf_rule_deliveries IS 'deliveries of rules that wait or are dead';

COMMENT ON COLUMN @extschema@.sf_rules.rule_name IS 'the rule';
COMMENT ON COLUMN @extschema@.sf_rules.owner IS 'the role that owns it, which its target is called as';
COMMENT ON COLUMN @extschema@.sf_rules.pattern IS 'event pattern: events that match are delivered';
COMMENT ON COLUMN @extschema@.sf_rules.target IS
	'what is called: a machine, sql:function, activity:name, event:name or notify:channel';
COMMENT ON COLUMN @extschema@.sf_rules.input IS 'template of the input of the target; null: the event';
COMMENT ON COLUMN @extschema@.sf_rules.pending IS 'deliveries that wait for their first or next attempt';
COMMENT ON COLUMN @extschema@.sf_rules.delivered IS 'deliveries that were made';
COMMENT ON COLUMN @extschema@.sf_rules.dead IS 'deliveries that are not tried any more';
COMMENT ON COLUMN @extschema@.sf_rules.last_error IS
	'error of the last attempt that failed, of a delivery that is pending or dead';
COMMENT ON COLUMN @extschema@.sf_rules.last_cause IS 'cause of it';
COMMENT ON COLUMN @extschema@.sf_rules.last_failed_at IS 'when that was';
COMMENT ON COLUMN @extschema@.sf_rules.created_at IS 'when the rule was created';
COMMENT ON COLUMN @extschema@.sf_rules.execution_name IS
	'path or function over the event, which names what is started; null: it is named after rule and event';
COMMENT ON COLUMN @extschema@.sf_rules.if_exists IS 'what becomes of an execution of that name, as in sf_start';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.rule_name IS 'the rule';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.event_id IS 'id of the event';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.status IS 'PENDING, or DEAD: not tried any more';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.attempts IS 'how many attempts there were';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.next_attempt IS
	'when it is tried again; null before the first attempt, and if it is dead';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.error IS 'error of the last attempt that failed';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.cause IS 'cause of it';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.failed_at IS 'when that was';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.event IS 'the event';
COMMENT ON COLUMN @extschema@.sf_rule_deliveries.created_at IS 'when the transaction of the change began';

--@into named_role
UNION ALL SELECT owner FROM _sfflow.rule
--@into sequence_use
UNION ALL
SELECT 'rule_no', s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END,
	greatest((SELECT max(rule_no) FROM _sfflow.rule WHERE rule_no <= r.high),
		(SELECT max(rule_no) FROM _sfflow.rule_delivery WHERE rule_no <= r.high))
FROM _sfflow.rule_no s, _sfflow.number_range r
--@into rows_of_executions
	UNION ALL SELECT 'rule_chain', c.execution_no FROM _sfflow.rule_chain c
--@into auditable
SELECT @OBJECT_RULE@, r.name FROM _sfflow.rule r WHERE pg_has_role(r.owner, 'USAGE')
UNION ALL
--@into definition_kinds
	, (100, 'rules', 'rule', 'rule:', NULL, false, true, '{pattern,target,input,execution_name,if_exists}',
		'{"if_exists": "skip"}')
--@into definitions
UNION ALL
SELECT 'rule', r.name, r.owner::oid, r.owner::oid, jsonb_build_object('pattern', r.pattern, 'target', r.target,
	'input', r.input, 'execution_name', r.execution_name,
	'if_exists', coalesce(r.if_exists, 'skip'))
FROM _sfflow.rule r
--@into definition_forms
			WHEN 'rule' THEN d.body || jsonb_build_object('if_exists', CASE WHEN d.body ->> 'execution_name' IS NULL
				THEN 'skip' ELSE d.body ->> 'if_exists' END)
--@into apply_definition
	WHEN 'rule' THEN @extschema@.sf_create_rule($2, $4 -> 'pattern', $4 ->> 'target', $4 -> 'input',
		$4 ->> 'execution_name', $4 ->> 'if_exists')::text
--@into remove_definition
	WHEN 'rule' THEN @extschema@.sf_drop_rule($2)::text
--@into console
-- rules {rule}: rules, and deliveries that wait or are dead, of one rule or of all.
CREATE FUNCTION _sfflow.console_rules(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN _sfflow.console_bounded(jsonb_build_object(
	'rows', (SELECT coalesce(jsonb_agg(to_jsonb(r) ORDER BY r.rule_name), '[]') FROM (
		SELECT x.rule_name, x.owner, pg_has_role(x.owner, 'USAGE') AS may_edit,
			_sfflow.console_cut(x.pattern::text, 4000) AS pattern, x.target,
			_sfflow.console_cut(x.input::text, 4000) AS input, x.pending, x.delivered, x.dead,
				left(x.last_error, 500) AS last_error,
			_sfflow.console_cut(x.last_cause, 1000) AS last_cause, x.last_failed_at, x.created_at
		FROM @extschema@.sf_rules x ORDER BY x.rule_name LIMIT _sfflow.console_limit($1, 200, 500) + 1) r),
	'deliveries', (
		SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.status, d.failed_at DESC NULLS LAST, d.created_at, d.event_id),
			'[]') FROM (
		SELECT x.rule_name, x.event_id, x.status, x.attempts, x.next_attempt, left(x.error, 500) AS error,
			_sfflow.console_cut(x.cause, 1000) AS cause, x.failed_at, x.created_at,
				_sfflow.console_cut(x.event::text, 4000) AS event
		FROM @extschema@.sf_rule_deliveries x WHERE $1 ->> 'rule' IS NULL OR x.rule_name = $1 ->> 'rule'
		ORDER BY x.status, x.failed_at DESC NULLS LAST, x.created_at, x.event_id LIMIT 100 + 1) d),
	'may_create', _sfflow.may_create()),
	jsonb_build_object('rows', _sfflow.console_limit($1, 200, 500), 'deliveries', 100));

-- test_pattern {pattern, event}: does an event match?
CREATE FUNCTION _sfflow.console_test_pattern(q jsonb) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN jsonb_build_object('matches', @extschema@.sf_test_event_pattern(($1 ->> 'pattern')::jsonb,
	($1 ->> 'event')::jsonb));

-- create_rule {name, pattern, target, input, replace}: pattern and input are JSON text. A name that is taken is
-- refused, unless the rule is to be replaced; it keeps then how it names the executions that it
-- starts.
CREATE FUNCTION _sfflow.console_create_rule(q jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	former record;
BEGIN
	SELECT r.execution_name, r.if_exists INTO former FROM @extschema@.sf_rules r WHERE r.rule_name = q ->> 'name';
	IF FOUND AND NOT coalesce((q ->> 'replace')::boolean, false) THEN
		RAISE EXCEPTION 'there is a rule "%" already', q ->> 'name' USING ERRCODE = 'SF012';
	END IF;
	IF former.execution_name IS NULL OR q ->> 'target' ~ '^(sql|activity|event|notify):' THEN
		PERFORM @extschema@.sf_create_rule(q ->> 'name', (q ->> 'pattern')::jsonb, q ->> 'target',
			nullif(q ->> 'input', '')::jsonb);
	ELSE
		PERFORM @extschema@.sf_create_rule(q ->> 'name', (q ->> 'pattern')::jsonb, q ->> 'target',
			nullif(q ->> 'input', '')::jsonb, former.execution_name, former.if_exists);
	END IF;
	RETURN jsonb_build_object('created', '');
END
$$;
--@into console_one
	WHEN 'drop_rule' THEN @extschema@.sf_drop_rule($2)::text
	WHEN 'redeliver' THEN @extschema@.sf_redeliver($2, $3 ->> 'event_id')::text
	WHEN 'discard' THEN @extschema@.sf_discard_deliveries($2, $3 ->> 'event_id')::text
--@into console_answers
		WHEN 'rules' THEN answer := _sfflow.console_rules(request);
		WHEN 'test_pattern' THEN answer := _sfflow.console_test_pattern(request);
		WHEN 'create_rule' THEN answer := _sfflow.console_create_rule(request);
--@into public_functions
		check_rule_input, console_create_rule, console_rules, console_test_pattern, rule_input, start_by_rule,
--@into import.parts
		WHEN 'rule' THEN EXISTS (SELECT FROM @extschema@.sf_rules AS r WHERE r.rule_name = $2)
