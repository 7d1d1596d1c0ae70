-- sf_grant and sf_revoke: rights on state machines and activities for roles other than the owner.

CREATE FUNCTION @extschema@.sf_grant(privilege text, object text, role text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_grant'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.sf_grant(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.sf_grant(text, text, text) TO PUBLIC;
COMMENT ON FUNCTION @extschema@.sf_grant(text, text, text) IS
	'give START, READ or OPERATE on a state machine, or WORK on activity:name, to a role or to public';

CREATE FUNCTION @extschema@.sf_revoke(privilege text, object text, role text) RETURNS void
AS 'MODULE_PATHNAME', 'sfflow_sf_revoke'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION @extschema@.sf_revoke(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION @extschema@.sf_revoke(text, text, text) TO PUBLIC;
COMMENT ON FUNCTION @extschema@.sf_revoke(text, text, text) IS
	'take back what sf_grant gave';
