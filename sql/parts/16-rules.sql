-- Tables of rules: what they are, what they are to deliver, and how rules led to executions.

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
	input jsonb
);
CREATE INDEX rule_of_owner ON _sfflow.rule (owner);
CREATE INDEX rule_alerts ON _sfflow.rule (rule_no) WHERE wants_alerts;

-- One row per role that has rules or had some. Its version is another one after each change of its rules, and is
-- never given twice: a backend that has the rules of this version has those of now (src/rule/watcher.c).
CREATE SEQUENCE _sfflow.rule_version;
CREATE TABLE _sfflow.rule_owner (
	owner regrole NOT NULL PRIMARY KEY,
	version bigint NOT NULL
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
	attempt integer NOT NULL,			-- how many there were; -1: claimed with others, and maybe not tried
	depth integer NOT NULL,				-- rules that led to the event, and this one
	due_at timestamptz,					-- NULL: it is dead
	created_at timestamptz NOT NULL,	-- when the transaction began
	failed_at timestamptz,				-- the last attempt: when, and how
	error text,
	cause text,
	event jsonb NOT NULL,
	PRIMARY KEY (rule_no, event_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- What was not tried yet: owners take turns. What is to be tried again.
CREATE INDEX rule_delivery_new ON _sfflow.rule_delivery (owner, due_at) WHERE attempt = 0 AND due_at IS NOT NULL;
CREATE INDEX rule_delivery_again ON _sfflow.rule_delivery (due_at) WHERE attempt <> 0 AND due_at IS NOT NULL;

-- Executions that a target of a rule started, or that were started by a task of such a one: how many
-- rules led to them.
CREATE TABLE _sfflow.rule_chain (
	execution_no bigint NOT NULL PRIMARY KEY,
	depth integer NOT NULL
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_version', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_owner', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_total', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_delivery', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.rule_chain', '');
