-- What operators did: one row per action, but for starts, which the rows of executions tell.

-- Roles by name: the row outlives the role. Rows go with the execution, with the object, or by their age.
CREATE TABLE _sfflow.audit (
	at timestamptz NOT NULL,
	action text NOT NULL,
	object_kind "char" NOT NULL,		-- SfObjectKind; ALL: the database
	object_name text COLLATE "C" NOT NULL,
	execution_no bigint,				-- NULL: of the object itself
	target text COLLATE "C" NOT NULL,				-- as an operator writes it
	role text COLLATE "C" NOT NULL,
	session_role text COLLATE "C" NOT NULL,
	reason text,
	details jsonb,
	CONSTRAINT audit_object_kind CHECK (object_kind IN (@OBJECT_LETTERS@))
);

-- Its rows have no key; logical replication finds a deleted one by all its columns.
ALTER TABLE _sfflow.audit REPLICA IDENTITY FULL;
-- Pages of all objects, the newest first; and what is old enough to be deleted.
CREATE INDEX audit_at ON _sfflow.audit (at);
CREATE INDEX audit_object ON _sfflow.audit (object_kind, object_name, at);
CREATE INDEX audit_execution ON _sfflow.audit (execution_no) WHERE execution_no IS NOT NULL;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.audit', '');
