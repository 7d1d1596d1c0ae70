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

-- For sfgateway, which merges the pages of several databases: each entry has the member pageKey, of which the token of
-- a page is made that ends with it.
CREATE FUNCTION @extschema@.sf_aws_list_as(role name, request jsonb)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_aws_list_as'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_aws_list_as(name, jsonb) IS
	'ListExecutions as sf_aws_api_as has it, with the key of each entry, for servers that merge pages of several databases';
