-- Tables: history.

-- History: one row per execution and slice.  src/store/README.md has the format of a body; the view
-- _sfflow.history_event shows the events.  Rows never change, so the first vacuum of a page freezes it.
CREATE TABLE _sfflow.history (
	execution_no bigint NOT NULL,
	at timestamptz NOT NULL,			-- of the first event
	first_id integer NOT NULL,			-- of the first event; the others follow it
	body bytea NOT NULL,				-- the events
	documents jsonb[],					-- their payloads and other details, in order
	PRIMARY KEY (execution_no, first_id)
) WITH (autovacuum_freeze_min_age = 0, toast.autovacuum_freeze_min_age = 0);

DO $compression$
BEGIN
	IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
		ALTER TABLE _sfflow.history ALTER body SET COMPRESSION lz4, ALTER documents SET COMPRESSION lz4;
	END IF;
END $compression$;

SELECT pg_catalog.pg_extension_config_dump('_sfflow.history', '');
