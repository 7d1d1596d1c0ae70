-- What the console shows besides the nightly batch: orders, of which some are refused, invoices that a Distributed Map
-- makes one by one, a release that waits for a program outside, a step that is held, schedules with a calendar.
SET client_min_messages = warning;
SET search_path = shop, public;

CREATE TABLE stock (article text PRIMARY KEY, pieces integer NOT NULL CHECK (pieces >= 0));
INSERT INTO stock VALUES ('lamp', 500), ('chair', 40), ('table', 3);

CREATE FUNCTION reserve(article text, pieces integer) RETURNS jsonb
LANGUAGE sql SET search_path = shop, pg_temp AS $$
	UPDATE stock SET pieces = stock.pieces - reserve.pieces WHERE stock.article = reserve.article
	RETURNING jsonb_build_object('article', stock.article, 'left', stock.pieces)
$$;

CREATE FUNCTION pack(article text) RETURNS text
LANGUAGE sql SET search_path = shop, pg_temp AS $$
	SELECT 'packed ' || pack.article FROM (SELECT pg_sleep(0.02 + 0.03 * random())) AS takes
$$;

CREATE FUNCTION print_invoice(store integer) RETURNS jsonb
LANGUAGE plpgsql SET search_path = shop, pg_temp AS $$
BEGIN
	IF store % 13 = 0 THEN
		RAISE EXCEPTION 'store % has no address', store USING DETAIL = 'The table store has neither street nor town.', ERRCODE = 'no_data_found';
	END IF;
	RETURN jsonb_build_object('store', store, 'invoice', 10000 + store);
END $$;

SELECT sf_create_state_machine('order', '{
  "Comment": "An order: reserve, pack, ship; what is not in stock is refused",
  "StartAt": "Reserve",
  "States": {
    "Reserve": {
      "Type": "Task",
      "Resource": "sql:shop.reserve",
      "Parameters": { "article.$": "$.article", "pieces.$": "$.pieces" },
      "ResultPath": "$.stock",
      "Retry": [ { "ErrorEquals": ["serialization_failure"], "MaxAttempts": 3 } ],
      "Catch": [ { "ErrorEquals": ["check_violation"], "ResultPath": "$.error", "Next": "Refuse" } ],
      "Next": "How many?"
    },
    "How many?": {
      "Type": "Choice",
      "Choices": [ { "Variable": "$.pieces", "NumericGreaterThan": 10, "Next": "Ask a person" } ],
      "Default": "Pack"
    },
    "Ask a person": { "Type": "Task", "Resource": "activity:large-orders", "ResultPath": "$.answer", "Next": "Pack" },
    "Pack": {
      "Type": "Task",
      "Resource": "sql:shop.pack",
      "Parameters": { "article.$": "$.article" },
      "ResultPath": "$.packed",
      "Next": "Ship"
    },
    "Ship": { "Type": "Pass", "Result": "on its way", "ResultPath": "$.shipped", "End": true },
    "Refuse": { "Type": "Fail", "Error": "OutOfStock", "Cause": "There are not enough pieces in stock." }
  }
}', execution_id_path => '$.order') \g /dev/null

SELECT sf_create_state_machine('invoices', '{
  "Comment": "An invoice per store, each an execution of its own",
  "StartAt": "Every store",
  "States": {
    "Every store": {
      "Type": "Map",
      "ItemsPath": "$.stores",
      "MaxConcurrency": 10,
      "ToleratedFailurePercentage": 1,
      "ItemProcessor": {
        "ProcessorConfig": { "Mode": "DISTRIBUTED", "ExecutionType": "STANDARD" },
        "StartAt": "Print",
        "States": {
          "Print": { "Type": "Task", "Resource": "sql:shop.print_invoice", "Parameters": { "store.$": "$" }, "End": true }
        }
      },
      "ResultPath": "$.invoices",
      "Next": "Send"
    },
    "Send": { "Type": "Succeed" }
  }
}') \g /dev/null

SELECT sf_create_activity('large-orders') \g /dev/null
SELECT sf_create_calendar('bank', '{"Weekdays": ["MON", "TUE", "WED", "THU", "FRI"], "Closed": ["01-01", "12-25", "12-26"]}') \g /dev/null
SELECT sf_create_calendar('month-end', '{"Extends": "bank"}', '{"OpenDays": [-1]}') \g /dev/null
SELECT sf_schedule('nightly-0200', '0 2 * * *', 'nightly', '{"id": "<aws.scheduler.execution-id>"}', 'Europe/Berlin') \g /dev/null
SELECT sf_schedule('invoices-month-end', '30 6 * * *', 'invoices', '{"stores": [1, 2, 3]}', 'Europe/Berlin', calendar => 'month-end') \g /dev/null

SELECT sf_set_deadline('nightly', end_by => date_trunc('minute', now() AT TIME ZONE 'Europe/Berlin' - interval '2 hours')::time, timezone => 'Europe/Berlin') \g /dev/null
SELECT sf_set_limit('order/Pack', max_running => 100) \g /dev/null

-- Who is to know: of what failed a channel; of invoices a pager that is out of order.
CREATE FUNCTION page(event jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = shop, pg_temp AS $$
BEGIN
	RAISE EXCEPTION 'the pager does not answer' USING ERRCODE = 'connection_failure';
END $$;
SELECT sf_create_rule('failures', '{"source": ["aws.states"], "detail": {"status": ["FAILED", "TIMED_OUT"]}}', 'notify:failures', '{"execution.$": "$.detail.name"}') \g /dev/null
SELECT sf_create_rule('page-for-invoices', '{"source": ["aws.states"], "detail": {"status": ["FAILED"], "stateMachineArn": [{"suffix": ":stateMachine:invoices"}]}}', 'sql:shop.page') \g /dev/null

CREATE FUNCTION orders(first integer, last integer) RETURNS jsonb[]
LANGUAGE sql SET search_path = shop, pg_temp AS $$
	SELECT array_agg(jsonb_build_object('order', 'A-' || n, 'article', (ARRAY['lamp', 'lamp', 'chair', 'table'])[1 + n % 4],
		'pieces', CASE n WHEN 17 THEN 12 ELSE 1 + n % 2 END))
	FROM generate_series(first, last) AS n
$$;
SELECT sf_start_many('order', orders(1, 16)) \g /dev/null
\o /dev/null
SELECT format('CALL sf_wait(%L, %L)', 'order:A-' || n, '50 s') FROM generate_series(1, 16) AS n \gexec
\o
SELECT sf_start('invoices', jsonb_build_object('stores', (SELECT jsonb_agg(n) FROM generate_series(1, 40) AS n)), 'february') \g /dev/null
CALL sf_wait('invoices:february', '50 s') \g /dev/null

-- The lorry is late: orders wait before they are shipped.
SELECT sf_hold('order/Ship', reason => 'The lorry comes at ten.') \g /dev/null
SELECT sf_start_many('order', orders(17, 32)) \g /dev/null
SELECT sf_start('order', '{"order": "B-1", "article": "lamp", "pieces": 1}') \g /dev/null
SELECT sf_start('order', '{"order": "B-2", "article": "lamp", "pieces": 2}') \g /dev/null
