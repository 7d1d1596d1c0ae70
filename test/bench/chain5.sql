-- Five tasks that do nothing, one after the other: what is left is sfflow itself.

CREATE FUNCTION nothing(payload jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS 'SELECT payload';

SELECT sf_create_state_machine('chain5', json_build_object(
	'StartAt', 'T1',
	'States', (
		SELECT json_object_agg('T' || n, CASE
			WHEN n < 5 THEN json_build_object('Type', 'Task', 'Resource', 'sql:public.nothing', 'Next', 'T' || n + 1)
			ELSE json_build_object('Type', 'Task', 'Resource', 'sql:public.nothing', 'End', true)
		END)
		FROM generate_series(1, 5) AS n)),
	options => '{"history": "NONE"}');
