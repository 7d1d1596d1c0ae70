-- The AWS API: one function that answers every operation of Step Functions.

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
