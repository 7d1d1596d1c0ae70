-- sf_test_state: one state by itself, without an execution.

--@into functions
-- mock: {"result": value} or {"errorOutput": {"error", "cause"}} in place of what a Task or the
-- children of a Map or Parallel do; with "fieldValidationMode" (STRICT, PRESENT, NONE) and
-- "stateConfiguration" {"retrierRetryCount", "errorCausedByState", "mapIterationFailureCount",
-- "mapItemReaderData"} and "revealSecrets", all as in TestState, but values where that has JSON text;
-- and with "serviceQuotas": payloads may have the 256 KiB of Step Functions only.
CREATE FUNCTION @extschema@.sf_test_state(
	definition json,
	input jsonb DEFAULT '{}',
	context jsonb DEFAULT NULL,
	variables jsonb DEFAULT '{}',
	mock jsonb DEFAULT NULL,
	inspection_level text DEFAULT 'INFO',
	state_name text DEFAULT NULL)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'sfflow_sf_test_state'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.sf_test_state(json, jsonb, jsonb, jsonb, jsonb, text, text) IS
	'runs one state of a definition with this input and returns the outcome; writes nothing';
