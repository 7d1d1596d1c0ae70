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
            "Two?": {"Type": "Choice", "Choices": [{"Variable": "$", "NumericEquals": 2, "Next": "Bad"}],
            	"Default": "Good"},
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

-- What the history level leaves out is unknown, unless it is at work: with TASKS the states that are no Task,
-- with NONE all of them. (State, then its status with ALL, TASKS and NONE.)
BEGIN;
DO $$
DECLARE
	level text;
BEGIN
	FOREACH level IN ARRAY '{ALL,TASKS,NONE}'::text[] LOOP
		PERFORM sf_create_state_machine('graph-' || level, '{"StartAt": "Load", "States": {
			"Load": {"Type": "Pass", "Next": "Sum"},
			"Sum": {"Type": "Task", "Resource": "sql:query", "Parameters": {"Statement": "SELECT 1"}, "Next": "Any?"},
			"Any?": {"Type": "Choice", "Choices": [{"Variable": "$.RowCount", "NumericEquals": 0,
				"Next": "Report"}], "Default": "Rest"},
			"Report": {"Type": "Task", "Resource": "sql:query", "Parameters": {"Statement": "SELECT 2"}, "End": true},
			"Rest": {"Type": "Wait", "Seconds": 3600, "Next": "Check"},
			"Check": {"Type": "Task", "Resource": "sql:query", "Parameters": {"Statement": "SELECT 1 / 0"},
				"Next": "Done"},
			"Done": {"Type": "Succeed"}}}', options => jsonb_build_object('history', level));
		PERFORM sf_start('graph-' || level, '{}', 'a'), sf_run('graph-' || level || ':a');
	END LOOP;
END $$;
CREATE FUNCTION pg_temp.by_level() RETURNS TABLE (state text, all_events text, tasks text, no_events text)
	LANGUAGE sql AS $$
	SELECT name, max(status) FILTER (WHERE level = 'ALL'), max(status) FILTER (WHERE level = 'TASKS'), max(status)
		FILTER (WHERE level = 'NONE')
	FROM unnest('{Load,Sum,Any?,Report,Rest,Check,Done}'::text[]) WITH ORDINALITY AS s (name, no),
		unnest('{ALL,TASKS,NONE}'::text[]) AS level,
		LATERAL (SELECT reverse(split_part(reverse(line), ' ', 1)) AS status
			FROM pg_temp.statuses('graph-' || level || ':a') AS line
			WHERE line ~ (',s' || no - 1 || '[, ]')) AS found
	GROUP BY no, name ORDER BY no
$$;
SELECT * FROM pg_temp.by_level();
SELECT sf_run('graph-' || level || ':a', skip_waits => true) FROM unnest('{ALL,TASKS,NONE}'::text[]) AS level;
SELECT * FROM pg_temp.by_level();
-- Only then the legend has it.
SELECT format, level, sf_graph('graph-' || level || ':a', format) ~ 'legend_unknown|>unknown<' AS in_legend
FROM unnest('{mermaid,dot,svg}'::text[]) AS format, unnest('{ALL,NONE}'::text[]) AS level;
SELECT line FROM regexp_split_to_table(sf_graph('graph-NONE:a', 'dot'), '\n') AS line WHERE line ~ '^ *s[05] .*shape';
ROLLBACK;

-- Names are the users': whatever they hold, it stays inside the label.
SELECT sf_create_state_machine('graph-names', '{
  "StartAt": "a \"quoted\" \\ name",
  "States": {
    "a \"quoted\" \\ name": {"Type": "Choice", "Default": "<b>]}|end\n", "Choices": [
      {"And": [{"Variable": "$[''k'']", "StringEquals": "\"];<script>"},
      	{"Not": {"Variable": "$.n", "IsPresent": true}}], "Next": "<b>]}|end\n"}]},
    "<b>]}|end\n": {"Type": "Task", "Resource": "sql:s.f&g", "End": true}
  }
}');
SELECT sf_graph('graph-names');
SELECT sf_graph('graph-names', 'dot');

-- SVG is well-formed XML, and boxes of one scope do not overlap.
CREATE FUNCTION pg_temp.boxes(target text) RETURNS TABLE (x int, y int, w int, h int) LANGUAGE sql AS $$
	SELECT (xpath('/*/@x', r))[1]::text::int, (xpath('/*/@y', r))[1]::text::int,
		(xpath('/*/@width', r))[1]::text::int, (xpath('/*/@height', r))[1]::text::int
	FROM unnest(xpath('//*[@data-state]/*[local-name()="rect"][@class="box"]', sf_graph(target, 'svg')::xml)) AS r
$$;
SELECT count(*), count(x) FROM pg_temp.boxes('graph-names');
SELECT count(*), count(x) FROM pg_temp.boxes('graph-nightly');
SELECT count(*) FROM pg_temp.boxes('graph-nightly') AS a, pg_temp.boxes('graph-nightly') AS b
WHERE a <> b AND a.x < b.x + b.w AND b.x < a.x + a.w AND a.y < b.y + b.h AND b.y < a.y + a.h
	-- not one inside the other
	AND NOT (a.x >= b.x AND a.x + a.w <= b.x + b.w AND a.y >= b.y AND a.y + a.h <= b.y + b.h)
	AND NOT (b.x >= a.x AND b.x + b.w <= a.x + a.w AND b.y >= a.y AND b.y + b.h <= a.y + a.h);

-- An execution's boxes tell how often and how long a state was visited, the attempts at its task, and the iterations of
-- a Map; each has its id, its state and its status. (Times are left out here.)
CREATE FUNCTION pg_temp.facts(execution_id text) RETURNS TABLE (id text, state text, status text, facts text)
	LANGUAGE sql AS $$
	SELECT (xpath('/*/@id', g))[1], (xpath('/*/@data-state', g))[1], (xpath('/*/@data-status', g))[1],
		regexp_replace(array_to_string((xpath('/*/*[local-name()="text"]/text()', g))[2:], '; '), '[0-9.]+ (ms|s)\M',
			 'TIME', 'g')
	FROM unnest(xpath('//*[@data-state]', sf_graph(execution_id, 'svg')::xml)) AS g
$$;
SELECT * FROM pg_temp.facts('graph-nightly:a');
BEGIN;
SELECT sf_create_state_machine('graph-retry', '{"StartAt": "Try", "States": {
	"Try": {"Type": "Task", "Resource": "sql:query", "Parameters": {"Statement": "SELECT 1 / 0"},
		"Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2}],
			"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Pause"}], "End": true},
	"Pause": {"Type": "Wait", "Seconds": 3600, "End": true}}}');
SELECT sf_start('graph-retry', '{}', 'a'), sf_run('graph-retry:a', skip_waits => true), sf_start('graph-retry', '{}',
	'b');
SELECT * FROM pg_temp.facts('graph-retry:a');
SELECT * FROM pg_temp.facts('graph-retry:b');
ROLLBACK;

-- A Condition may be a literal.
BEGIN;
SELECT sf_create_state_machine('graph-literal', '{"QueryLanguage": "JSONata", "StartAt": "C", "States": {
	"C": {"Type": "Choice", "Choices": [{"Condition": true, "Next": "S"}], "Default": "S"},
		"S": {"Type": "Succeed"}}}');
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

-- Characters that XML cannot have become blanks.
SELECT sf_create_state_machine('graph-xml', '{"StartAt": "A\ufffe",
	"States": {"A\ufffe": {"Type": "Pass", "End": true}}}');
SELECT position('A ' IN svg) > 0 AS drawn, position(chr(65534) IN svg) AS forbidden
	FROM sf_graph('graph-xml', 'svg') AS svg;
SELECT sf_drop_state_machine('graph-xml');

-- Lines of one kind between two boxes are one line, whose tooltip has the labels of all; of thousands the first ones.
SELECT sf_create_state_machine('graph-labels', json_build_object('StartAt', 'C', 'States', json_build_object(
	'C', json_build_object('Type', 'Choice', 'Default', 'B', 'Choices',
		(SELECT json_agg(json_build_object('Variable', '$.n', 'NumericEquals', n, 'Next', 'A'))
			FROM generate_series(1, 2000) AS n)),
	'A', '{"Type": "Succeed"}'::json, 'B', '{"Type": "Succeed"}'::json)));
SELECT max(length(title)) BETWEEN 4000 AND 4100 AS bounded, bool_or(title LIKE E'$.n = 1\n$.n = 2\n%') AS of_all
FROM sf_graph('graph-labels', 'svg') AS svg, regexp_matches(svg, '<title>([^<]*)</title>', 'g') AS t,
	replace(t[1], '&#10;', E'\n') AS title;
SELECT sf_drop_state_machine('graph-labels');
