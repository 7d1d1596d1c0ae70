-- Tables: what tells copies apart, and what the rows are of.

-- Which copy of the database is driven.  Not dumped: a copy that lacks the
-- row, or holds another one, is driven only after sf_enable().
CREATE TABLE _sfflow.instance (
	only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
	system_identifier bigint NOT NULL,
	database_oid oid NOT NULL,
	incarnation bigint NOT NULL,		-- id of the data directory: src/copy/instance.h
	enabled boolean NOT NULL,
	stopped_because text,				-- not enabled, and not by sf_disable(): why
	changed_at timestamptz NOT NULL,
	node integer,						-- of sf_set_node(): whose numbers it draws; NULL: it is alone
	CONSTRAINT instance_stopped CHECK (stopped_because IS NULL OR NOT enabled)
);

-- Number of the schema that the rows of the tables are of. Dumped: so sf_enable() notices rows that were loaded into
-- the tables of another schema. Written when a database is adopted, and by updates of the extension. Data that is
-- restored into an emptied database adds a row, so no key forbids one.
CREATE TABLE _sfflow.schema_of_rows (
	number integer NOT NULL
);
ALTER TABLE _sfflow.schema_of_rows REPLICA IDENTITY FULL;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.schema_of_rows', '');
