-- sf_dynamodb_condition, _key, _update, _project: DynamoDB's expressions over items in its typed JSON.

CREATE FUNCTION @extschema@.sf_dynamodb_condition(
	expression text,
	item jsonb,
	attribute_names jsonb DEFAULT NULL,
	attribute_values jsonb DEFAULT NULL,
	field text DEFAULT 'ConditionExpression')
RETURNS boolean
AS 'MODULE_PATHNAME', 'sfflow_sf_dynamodb_condition'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_dynamodb_condition(text, jsonb, jsonb, jsonb, text) IS
	'whether an item satisfies a condition, filter or key condition of DynamoDB';

CREATE FUNCTION @extschema@.sf_dynamodb_key(expression text, attribute_names jsonb DEFAULT NULL,
	attribute_values jsonb DEFAULT NULL)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_dynamodb_key'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_dynamodb_key(text, jsonb, jsonb) IS
	'the attributes that a key condition of DynamoDB compares: with "=", and otherwise';

CREATE FUNCTION @extschema@.sf_dynamodb_update(
	expression text,
	item jsonb,
	attribute_names jsonb DEFAULT NULL,
	attribute_values jsonb DEFAULT NULL)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_dynamodb_update'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_dynamodb_update(text, jsonb, jsonb, jsonb) IS
	'an item after an update expression of DynamoDB, and the attributes that it touched';

CREATE FUNCTION @extschema@.sf_dynamodb_project(expression text, item jsonb, attribute_names jsonb DEFAULT NULL)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_dynamodb_project'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.sf_dynamodb_project(text, jsonb, jsonb) IS
	'the attributes of an item that a projection expression of DynamoDB names';
