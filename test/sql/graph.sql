-- sf_graph: machines and executions as pictures.
\pset format unaligned
\pset tuples_only on

SELECT sf_create_state_machine('graph-nightly', '{
  "StartAt": "Load",
  "States": {
    "Load": {"Type": "Pass", "Result": [1, 2, 3], "Next": "Both"},
    "Both": {
      "Type": "Parallel",
      "Branches": [
        {"StartAt": "Report", "States": {"Report": {"Type": "Pass", "End": true}}},
        {"StartAt": "Each", "States": {"Each": {
          "Type": "Map",
          "ItemProcessor": {"StartAt": "Two?", "States": {
            "Two?": {"Type": "Choice", "Choices": [{"Variable": "$", "NumericEquals": 2, "Next": "Bad"}], "Default": "Good"},
            "Bad": {"Type": "Fail", "Error": "Two"},
            "Good": {"Type": "Pass", "End": true}}},
          "End": true}}}
      ],
      "Catch": [{"ErrorEquals": ["Two"], "Next": "Wait"}],
      "Next": "Close"
    },
    "Wait": {"Type": "Wait", "Seconds": 3600, "Next": "Close"},
    "Close": {"Type": "Pass", "End": true}
  }
}');

-- A machine by itself has no colours.
SELECT sf_graph('graph-nightly');
SELECT sf_graph('graph-nightly/1', 'dot');

-- Before an execution is taken up, everything is still to come. (In a transaction of its own, so that
-- no worker takes it up.)
BEGIN;
SELECT sf_start('graph-nightly', '{}', 'a');
CREATE FUNCTION pg_temp.statuses(execution_id text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT line FROM regexp_split_to_table(sf_graph(execution_id), '\n') AS line WHERE line ~ '^ +class '
$$;
SELECT * FROM pg_temp.statuses('graph-nightly:a');

-- One iteration of the Map fails, the failure is caught, the flow waits: Close can still come.
SELECT sf_run('graph-nightly:a');
SELECT * FROM pg_temp.statuses('graph-nightly:a');

-- At the end nothing is still to come.
SELECT sf_run('graph-nightly:a', skip_waits => true);
SELECT * FROM pg_temp.statuses('graph-nightly:a');
SELECT line FROM regexp_split_to_table(sf_graph('graph-nightly:a', 'dot'), '\n') AS line WHERE line ~ 'Bad|Good';
COMMIT;

-- Names are the users': whatever they hold, it stays inside the label.
SELECT sf_create_state_machine('graph-names', '{
  "StartAt": "a \"quoted\" \\ name",
  "States": {
    "a \"quoted\" \\ name": {"Type": "Choice", "Default": "<b>]}|end\n", "Choices": [
      {"And": [{"Variable": "$[''k'']", "StringEquals": "\"];<script>"}, {"Not": {"Variable": "$.n", "IsPresent": true}}], "Next": "<b>]}|end\n"}]},
    "<b>]}|end\n": {"Type": "Task", "Resource": "sql:s.f&g", "End": true}
  }
}');
SELECT sf_graph('graph-names');
SELECT sf_graph('graph-names', 'dot');

-- SVG is well-formed XML, and boxes of one scope do not overlap.
CREATE FUNCTION pg_temp.boxes(target text) RETURNS TABLE (x int, y int, w int, h int) LANGUAGE sql AS $$
	SELECT (xpath('@x', r))[1]::text::int, (xpath('@y', r))[1]::text::int,
		(xpath('@width', r))[1]::text::int, (xpath('@height', r))[1]::text::int
	FROM unnest(xpath('//*[local-name()="rect"][starts-with(@class, "state")]', sf_graph(target, 'svg')::xml)) AS r
$$;
SELECT count(*) FROM pg_temp.boxes('graph-names');
SELECT count(*) FROM pg_temp.boxes('graph-nightly');
SELECT count(*) FROM pg_temp.boxes('graph-nightly') AS a, pg_temp.boxes('graph-nightly') AS b
WHERE a <> b AND a.x < b.x + b.w AND b.x < a.x + a.w AND a.y < b.y + b.h AND b.y < a.y + a.h
	-- not one inside the other
	AND NOT (a.x >= b.x AND a.x + a.w <= b.x + b.w AND a.y >= b.y AND a.y + a.h <= b.y + b.h)
	AND NOT (b.x >= a.x AND b.x + b.w <= a.x + a.w AND b.y >= a.y AND b.y + b.h <= a.y + a.h);

-- A Condition may be a literal.
BEGIN;
SELECT sf_create_state_machine('graph-literal', '{"QueryLanguage": "JSONata", "StartAt": "C", "States": {
	"C": {"Type": "Choice", "Choices": [{"Condition": true, "Next": "S"}], "Default": "S"}, "S": {"Type": "Succeed"}}}');
SELECT sf_graph('graph-literal', 'dot') ~ 'label="Condition"' AS labelled;
SELECT sf_start('graph-literal', '{}', 'a'), sf_run('graph-literal:a');
ROLLBACK;

-- What is not there, and who may not look.
SELECT sf_graph('graph-none');
SELECT sf_graph('graph-nightly/2');
SELECT sf_graph('graph-nightly:none');
SELECT sf_graph('graph-nightly', 'gif');
SELECT sf_graph(NULL);
CREATE ROLE graph_stranger;
SET ROLE graph_stranger;
SELECT sf_graph('graph-nightly');
SELECT sf_graph('graph-nightly:a');
RESET ROLE;
DROP ROLE graph_stranger;
SELECT sf_drop_state_machine('graph-nightly', true), sf_drop_state_machine('graph-names');
