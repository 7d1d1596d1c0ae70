-- The AWS API: one function that answers every operation of Step Functions, and keys for its clients.

CREATE FUNCTION @extschema@.sf_aws_api(action text, request jsonb DEFAULT '{}')
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_aws_api'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_aws_api(text, jsonb) IS
	'answers an operation of the Step Functions API; the name of an error is in its field CONSTRAINT NAME';

-- For sfgateway. The role is the identity of this one call, and nothing that it calls can leave it.
CREATE FUNCTION @extschema@.sf_aws_api_as(role name, action text, request jsonb DEFAULT '{}')
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_aws_api_as'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_aws_api_as(name, text, jsonb) IS
	'the same with the rights of a role that the session user is a member of';

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
