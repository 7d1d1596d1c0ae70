-- sf_test_state runs a SQL task that has no mock for real, as the caller, and leaves nothing behind.
SET client_min_messages = warning;
CREATE TABLE paid (invoice integer PRIMARY KEY);
CREATE FUNCTION pay(invoice integer) RETURNS jsonb LANGUAGE sql AS $$
	INSERT INTO paid VALUES (invoice) RETURNING jsonb_build_object('paid', paid.invoice, 'by',
		current_user = session_user)
$$;

SELECT sf_test_state('{"Type": "Task", "Resource": "sql:public.pay", "End": true}', '{"invoice": 1}');
SELECT count(*) FROM paid;

-- An error of the task is an outcome, and the session goes on.
INSERT INTO paid VALUES (2);
SELECT r->>'status' AS status, r->>'error' AS error, r->>'nextState' AS next_state
FROM sf_test_state('{"Type": "Task", "Resource": "sql:public.pay", "Catch": [{"ErrorEquals": ["unique_violation"],
	"Next": "Twice"}], "End": true}',
	'{"invoice": 2}') AS r;
TABLE paid;

-- A mapped resource runs what it is mapped to.
SELECT sf_map_resource('arn:aws:lambda:*:function:pay', 'sql:public.pay');
SELECT sf_test_state('{"Type": "Task", "Resource": "arn:aws:lambda:eu-west-1:1:function:pay", "ResultPath": "$.r",
	"End": true}', '{"invoice": 3}');
SELECT sf_unmap_resource('arn:aws:lambda:*:function:pay');

-- The context object is given, or made up; one that no state could see is refused.
SELECT sf_test_state('{"Type": "Pass", "Parameters": {"me.$": "$$.Execution.Name", "state.$": "$$.State.Name"},
	"End": true}');
SELECT sf_test_state('{"Type": "Pass", "Parameters": {"me.$": "$$.Execution.Name"}, "End": true}',
	context => '{"Execution": {"Name": "nightly"}}');
SELECT sf_test_state('{"Type": "Pass", "End": true}', context => '{"Weather": {}}');
SELECT sf_test_state('{"Type": "Pass", "End": true}', context => '{"Task": {"Token": "t"}}');
SELECT sf_test_state('{"Type": "Task", "Resource": "activity:a.waitForTaskToken",
	"Parameters": {"t.$": "$$.Task.Token"}, "End": true}',
	context => '{"Task": {"Token": "t"}}', mock => '{"result": 1}',
		inspection_level => 'DEBUG') #> '{inspectionData,afterParameters}' AS payload;

-- Full jitter: anything up to the delay.
SELECT max(delay) < 1000 AND min(delay) >= 0 AS within, count(DISTINCT delay) > 1 AS spread
FROM generate_series(1, 50) AS n, LATERAL (SELECT (sf_test_state('{"Type": "Task", "Resource": "activity:a",
	"End": true,
	"Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 1000, "JitterStrategy": "FULL"}]}', to_jsonb(n),
		mock => '{"errorOutput": {"error": "E"}}',
	inspection_level => 'DEBUG') #> '{inspectionData,errorDetails,retryBackoffIntervalSeconds}')::integer AS delay) AS
		tested;

-- Arguments that are not what they have to be.
SELECT sf_test_state('{"Type": "Pass", "End": true}', variables => '[]');
SELECT sf_test_state('{"Type": "Pass", "End": true}', inspection_level => 'ALL');
SELECT sf_test_state('{"Type": "Task", "Resource": "activity:a", "End": true}', mock => '{"output": 1}');

DROP TABLE paid;
DROP FUNCTION pay;
