-- Tables: private to the extension; functions and views are the contract.
--
-- Here: state machines, their versions and aliases; resources that stand for others; documents that were applied.

CREATE SEQUENCE _sfflow.machine_no AS integer;

-- One row per state machine; its definition is in the versions.
CREATE TABLE _sfflow.state_machine (
	machine_no integer NOT NULL DEFAULT nextval('_sfflow.machine_no') PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	owner regrole NOT NULL,
	current_version integer NOT NULL,
	created_at timestamptz NOT NULL
);
CREATE INDEX state_machine_owner ON _sfflow.state_machine (owner);

-- A version never changes; programs are cached by this key.
CREATE TABLE _sfflow.state_machine_version (
	machine_no integer NOT NULL,
	version integer NOT NULL,
	definition json NOT NULL,
	execution_id_path text,
	options jsonb NOT NULL,
	created_at timestamptz NOT NULL,
	PRIMARY KEY (machine_no, version)
);

-- Names for versions, which sf_start may be given. routes: versions with the percentage of starts of each.
CREATE TABLE _sfflow.machine_alias (
	machine_no integer NOT NULL,
	alias text COLLATE "C" NOT NULL,
	routes jsonb NOT NULL,				-- {"3": 90, "4": 10}
	set_at timestamptz NOT NULL,
	created_at timestamptz NOT NULL,
	description text,					-- given by the AWS API
	PRIMARY KEY (machine_no, alias)
);

-- State machines that were dropped and still have executions, which no view shows. The purge deletes them, in batches
-- by requested_at, and then the row.
CREATE TABLE _sfflow.dropped_machine (
	machine_no integer NOT NULL PRIMARY KEY,
	name text COLLATE "C" NOT NULL,
	dropped_at timestamptz NOT NULL,
	requested_at timestamptz NOT NULL,	-- those requested until then have gone,
	passed_over boolean NOT NULL		-- but for some that were locked
);

-- Resource names that stand for others; role 0 is not used.
CREATE TABLE _sfflow.resource_map (
	owner regrole NOT NULL,
	pattern text COLLATE "C" NOT NULL,
	resource text NOT NULL,
	PRIMARY KEY (owner, pattern)
);

-- The last document of each name that a role has given to sf_apply with a revision. Names are text: the rows
-- outlive the roles.
CREATE TABLE _sfflow.applied_definitions (
	role text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,		-- of the document; '': it has none
	revision bigint NOT NULL,
	digest text NOT NULL,
	applied_at timestamptz NOT NULL,
	PRIMARY KEY (role, name)
);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.machine_no', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.state_machine', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.state_machine_version', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.machine_alias', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.dropped_machine', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.resource_map', '');
SELECT pg_catalog.pg_extension_config_dump('_sfflow.applied_definitions', '');
