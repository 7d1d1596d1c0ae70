-- Keys with which clients sign in over HTTP: the feature access.

--@into tables
-- One row per access key: which role a request signed with it runs as. No role but the owner reads it.
CREATE TABLE _sfflow.access_key (
	access_key_id text COLLATE "C" NOT NULL PRIMARY KEY,
	role regrole NOT NULL,
	secret text NOT NULL,				-- as it is: signatures are computed from it
	created_at timestamptz NOT NULL,
	created_by text COLLATE "C" NOT NULL,	-- current_user and
	created_in text COLLATE "C" NOT NULL	-- session_user then, by name: the row may outlive these roles
);
CREATE INDEX access_key_role ON _sfflow.access_key (role);

SELECT pg_catalog.pg_extension_config_dump('_sfflow.access_key', '');

--@into named_role
UNION ALL SELECT role FROM _sfflow.access_key

--@into functions
CREATE FUNCTION @extschema@.sf_create_access_key(role name, OUT access_key_id text, OUT secret_access_key text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_create_access_key'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION @extschema@.sf_create_access_key(name) IS
	'makes a key with which a client of the AWS API signs its requests; the secret is shown once';

CREATE FUNCTION @extschema@.sf_drop_access_key(access_key_id text)
RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_drop_access_key'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_drop_access_key(text) IS 'deletes an access key';

CREATE VIEW @extschema@.sf_access_keys WITH (security_barrier) AS
SELECT k.access_key_id, k.role, k.created_at, k.created_by, k.created_in AS created_by_session,
	r.rolcanlogin AND coalesce(r.rolvaliduntil > now(), true)
		AND has_database_privilege(k.role::oid, current_database(), 'CONNECT') AS usable
FROM _sfflow.access_key k
JOIN pg_roles r ON r.oid = k.role
WHERE pg_has_role(k.role::oid, 'MEMBER');
COMMENT ON VIEW @extschema@.sf_access_keys IS
	'access keys of roles that the reader is a member of, without their secrets';
GRANT SELECT ON @extschema@.sf_access_keys TO PUBLIC;

-- For the role of sfgateway alone, which is given EXECUTE.
CREATE FUNCTION @extschema@.sf_access_key(access_key_id text, OUT role name, OUT secret_access_key text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'sfflow_sf_access_key'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION @extschema@.sf_access_key(text) IS
	'the role and the secret of an access key; no row when there is none, or when its role cannot log in';
COMMENT ON COLUMN @extschema@.sf_access_keys.access_key_id IS 'the public part, which a request names';
COMMENT ON COLUMN @extschema@.sf_access_keys.role IS 'the role as which requests with the key are answered';
COMMENT ON COLUMN @extschema@.sf_access_keys.created_at IS 'when the key was made';
COMMENT ON COLUMN @extschema@.sf_access_keys.created_by IS 'the role that made the key, by its name then';
COMMENT ON COLUMN @extschema@.sf_access_keys.created_by_session IS
	'the role that had logged in when the key was made, by its name then';
COMMENT ON COLUMN @extschema@.sf_access_keys.usable IS 'whether the key is good now: its role can log in';
