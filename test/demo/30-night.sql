-- The first night: one bad record in 30,935 payments.
\set definition `cat test/demo/nightly.asl.json`

\qecho
\qecho '=== The machine is stored; an execution is named after the "id" in its input'
SELECT sf_create_state_machine('nightly', :'definition', execution_id_path => '$.id') AS version;

\qecho '=== The night of 2025-02-05'
SELECT sf_start('nightly', '{"id":"20250205"}');

CALL sf_wait('nightly:20250205', '50 s');

\qecho '=== JOB-005 failed; its sibling branch ran on to the join; JOB-006 is skipped'
SELECT job_id, job_status, attempts, error, left(output::text, 100) AS output
FROM sf_jobs WHERE execution_id = 'nightly:20250205' ORDER BY job_id;

\qecho '=== What JOB-005 says'
SELECT job_id, error, cause::jsonb ->> 'message' AS message, cause::jsonb ->> 'detail' AS detail
FROM sf_jobs WHERE execution_id = 'nightly:20250205' AND job_status = 'failure';
