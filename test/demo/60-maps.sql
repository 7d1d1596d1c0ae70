-- Two ways to retry a Map, as an article on Step Functions describes them; the definitions are its
-- own, to the letter. Item B-456 fails four times out of five.
\set ECHO none
\set whole `cat test/demo/map-whole.asl.json`
\set items `cat test/demo/map-failed-items.asl.json`

\qecho '=== test/demo/map-whole.asl.json: a failing item makes the whole Map run again, at most ten times'
SELECT sf_create_state_machine('retry-whole-map', :'whole') AS version;

\qecho '=== The same with one retry, so that retries are used up'
SELECT sf_create_state_machine('retry-whole-map-once', replace(:'whole', '"MaxAttempts": 10', '"MaxAttempts": 1')::json) AS version;

\qecho '=== test/demo/map-failed-items.asl.json: failed items are filtered out and tried again in a Map of their own'
SELECT sf_create_state_machine('retry-failed-items', :'items') AS version;
