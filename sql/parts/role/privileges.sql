-- sf_grant and sf_revoke: rights on state machines and activities for roles other than the owner.

CREATE FUNCTION @extschema@.sf_grant(privilege text, object text, role text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_grant'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_grant(text, text, text) IS
	'give START, READ, OPERATE or SEND on a state machine, WORK or SEND on activity:name, or CREATE on *, to a role or to public';

CREATE FUNCTION @extschema@.sf_revoke(privilege text, object text, role text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_revoke'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_revoke(text, text, text) IS
	'revoke a right that sf_grant gave; task tokens that a role holds stay valid until SEND is revoked from public';

-- What ALTER OWNER TO and REASSIGN OWNED do for PostgreSQL's own objects.
CREATE FUNCTION @extschema@.sf_alter_owner(object text, new_owner text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_alter_owner'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_alter_owner(text, text) IS
	'give a state machine, activity:name, schedule:name or calendar:name to another role';

CREATE FUNCTION @extschema@.sf_reassign_owned(old_role text, new_role text) RETURNS bigint
AS 'MODULE_PATHNAME', 'sfflow_sf_reassign_owned'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_reassign_owned(text, text) IS
	'give all objects of a role to another one, and revoke the rights of the former; returns the number of objects';

--@slot functions
