-- Two published ways to retry a Map, to the letter: the whole Map, and the failed items only. Item B-456 fails four
-- times out of five, so both are run until they have gone either way.
\set whole `cat test/demo/map-whole.asl.json`
\set items `cat test/demo/map-failed-items.asl.json`
BEGIN;
SELECT plan(12);

SELECT is(sf_create_state_machine('whole', :'whole'), 1, 'the Map that is retried as a whole is accepted');
SELECT is(sf_create_state_machine('once', replace(:'whole', '"MaxAttempts": 10', '"MaxAttempts": 1')::json), 1);
SELECT is(sf_create_state_machine('items', :'items'), 1, 'the Map whose failed items are tried again is accepted');

CREATE FUNCTION pg_temp.try(machine text, wanted text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	id text;
BEGIN
	FOR n IN 1 .. 300 LOOP
		id := sf_start(machine, '{}', n::text);
		IF sf_run(id, skip_waits => true) = wanted THEN
			RETURN id;
		END IF;
	END LOOP;
	RETURN NULL;
END $$;

SELECT isnt(pg_temp.try('whole', 'SUCCEEDED'), NULL, 'within eleven attempts item B-456 is lucky');
SELECT cmp_ok((SELECT count(*) FROM sf_history WHERE execution_id LIKE 'whole:%' AND type = 'MapIterationStarted'), '=',
	(SELECT 2 * count(*) FROM sf_history WHERE execution_id LIKE 'whole:%' AND type = 'MapStateStarted'),
	'each attempt runs all items');

-- Retries used up: redriven until it is lucky.
SELECT pg_temp.try('once', 'FAILED') AS failed \gset
SELECT is((SELECT error FROM sf_executions WHERE execution_id = :'failed'), 'MyProcessingError',
	'retries can be used up');
CREATE FUNCTION pg_temp.redrive(id text, from_state text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	FOR n IN 1 .. 300 LOOP
		PERFORM sf_redrive(id, from_state);
		IF sf_run(id, skip_waits => true) = 'SUCCEEDED' THEN
			RETURN 'SUCCEEDED';
		END IF;
	END LOOP;
	RETURN 'never';
END $$;
SELECT is(pg_temp.redrive(:'failed', NULL), 'SUCCEEDED', 'a redrive goes on with the item that failed');

SELECT isnt(pg_temp.try('items', 'SUCCEEDED'), NULL, 'failed items are filtered out and tried again');
SELECT pg_temp.try('items', 'FAILED') AS failed \gset
SELECT is((SELECT error FROM sf_executions WHERE execution_id = :'failed'), 'RetryFailed', 'both passes can fail');
SELECT is((SELECT count(*) FROM sf_history WHERE execution_id = :'failed' AND type = 'MapIterationStarted'), 4::bigint,
	'three items in the first pass, one in the second');
SELECT is(pg_temp.redrive(:'failed', 'RetryFailedItems_2ndPass'), 'SUCCEEDED',
	'a redrive from the second Map can succeed');
SELECT is_empty('SELECT * FROM sf_check()');

SELECT * FROM finish();
ROLLBACK;
