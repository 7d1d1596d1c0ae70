-- The repair, and the very same call again.

\qecho '=== The record is repaired'
UPDATE shop.payment SET terminal = 'T0000117' WHERE terminal = 'T00O0117' RETURNING *;

\qecho '=== The very same call again: it redrives what did not succeed'
SELECT sf_start('nightly', '{"id":"20250205"}');

CALL sf_wait('nightly:20250205', '50 s');

\qecho '=== 001 to 004 ran once, 005 twice, 006 once'
SELECT job_id, job_status, attempts, left(output::text, 100) AS output
FROM sf_jobs WHERE execution_id = 'nightly:20250205' ORDER BY job_id;

SELECT status, redrive_count, start_requests, stopped_at - started_at AS took
FROM sf_executions WHERE execution_id = 'nightly:20250205';

\qecho '=== The closed day'
SELECT business_day, stores, receipts, revenue, settled, differences FROM shop.closed_day;

SELECT region, revenue, best_store, best_sku FROM shop.region_report ORDER BY region;

\qecho '=== The history, as Step Functions would tell it'
SELECT id, previous_event_id AS prev, to_char(timestamp, 'HH24:MI:SS.MS') AS at, type, state, details ->> 'error' AS error
FROM sf_history WHERE execution_id = 'nightly:20250205' ORDER BY id;
