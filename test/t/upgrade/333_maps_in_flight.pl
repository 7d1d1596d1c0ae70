# Distributed Maps of 1.0 that are in flight, or have ended and are redriven, when the schema is updated: each goes on
# from where it was, and reads its items and writes its results as often as is left to do.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use SfTest;
use Test::More;

my $node = new_node('main', bare => 1, conf => 'autovacuum = off');
$node->safe_psql('postgres', 'CREATE DATABASE maps');
$node->safe_psql(
	'maps', q(
CREATE TABLE read (at timestamptz DEFAULT clock_timestamp());
CREATE TABLE stored (map_run text, results jsonb);
CREATE FUNCTION items() RETURNS SETOF integer LANGUAGE sql AS $$
	INSERT INTO public.read DEFAULT VALUES;
	SELECT generate_series(1, 2)
$$;
CREATE FUNCTION store(payload jsonb) RETURNS void LANGUAGE sql AS $$
	INSERT INTO public.stored VALUES (payload ->> 'MapRunArn', payload -> 'Results')
$$;
CREATE EXTENSION sfflow VERSION '1.0';
BEGIN;
INSERT INTO _sfflow.state_machine (machine_no, name, owner, current_version, created_at)
VALUES (1, 'map', current_user::regrole, 1, now());
INSERT INTO _sfflow.state_machine_version (machine_no, version, definition, options, created_at)
VALUES (1, 1, '{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
	"ItemReader": {"Resource": "sql:public.items"}, "ResultWriter": {"Resource": "sql:public.store"},
	"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}}}}', '{"history": "none"}', now());

-- What each execution is at: its status and that of its run, the branch at the Map, how many items there are, how many
-- of its children have begun, and how many have ended.
CREATE TABLE flight AS SELECT row_number() OVER ()::integer AS no, v.* FROM (VALUES
	('reads', 0, 0, 4, true, '{}'::jsonb, NULL::jsonb, -1, 0, 0, 0),
	('has_read', 0, 0, 5, true, NULL, '2', -1, 2, 0, 0),
	('begins', 0, 0, 3, true, NULL, NULL, 2, 2, 0, 0),
	('runs', 0, 0, 3, false, NULL, NULL, 2, 0, 2, 0),
	('has_run', 0, 0, 3, true, NULL, NULL, 2, 0, 2, 2),
	('is_to_write', 0, 0, 1, true, NULL, NULL, 2, 0, 2, 2),
	('writes', 0, 0, 4, true, '{}', NULL, 2, 0, 2, 2),
	('has_written', 0, 0, 5, true, NULL, '"before"', 2, 0, 2, 2),
	('stopped_has_read', 4, 4, 5, false, NULL, '2', -1, 2, 0, 0),
	('stopped_runs', 4, 4, 3, false, NULL, NULL, 2, 1, 1, 1),
	('stopped_is_to_write', 4, 4, 9, false, NULL, NULL, 2, 0, 2, 2),
	('stopped_has_written', 4, 4, 5, false, NULL, '"before"', 2, 0, 2, 2),
	('failed_to_read', 2, 2, 8, false, NULL, NULL, -1, 0, 0, 0),
	('failed_to_write', 2, 2, 8, false, NULL, NULL, 2, 0, 2, 2),
	('reads_again', 0, 2, 0, true, NULL, NULL, -1, 0, 0, 0))
	v(name, status, run_status, phase, due, task_payload, outcome, total, items, children, ended);
INSERT INTO _sfflow.execution (execution_no, machine_no, version, requested_at, execution_id, status, started_at,
	stopped_at, last_redriven_at, redrive_count, input, error)
SELECT no, 1, 1, now(), 'map:' || name, status, now(), CASE WHEN status <> 0 THEN now() END,
	CASE phase WHEN 0 THEN now() END, CASE phase WHEN 0 THEN 1 ELSE 0 END, '{}', CASE status WHEN 2 THEN 'Bad' END
FROM flight;
INSERT INTO _sfflow.open_execution (machine_no, status, requested_at, execution_no, error)
SELECT 1, CASE status WHEN 0 THEN 'RUNNING' WHEN 2 THEN 'FAILED' ELSE 'ABORTED' END, now(), no,
	CASE status WHEN 2 THEN 'Bad' END FROM flight;
INSERT INTO _sfflow.branch (execution_no, branch_no, state, phase, owner, due_at, entered_at, generation, transitions,
	pending, next_index, total, map_run_no, task_payload, outcome, payload, error)
SELECT no, 0, 0, phase, current_user::regrole, CASE WHEN due THEN now() END, now(), 1, 1, children - ended, children,
	total, no, task_payload, outcome, '{}', CASE status WHEN 2 THEN 'Bad' END
FROM flight;
INSERT INTO _sfflow.map_run (execution_no, map_run_no, branch_no, state, uuid, status, keyed, max_items,
	max_items_per_batch, max_bytes_per_batch, tolerated_count, tolerated_percentage, max_concurrency, total, children,
	succeeded, failed, timed_out, aborted, items_succeeded, items_failed, started_at, stopped_at)
SELECT no, no, 0, 0, 'run-' || name, run_status, false, 0, 0, 0, 0, 0, 0, items + children, children, ended, 0, 0, 0,
	ended, 0, now(), CASE WHEN run_status <> 0 THEN now() END
FROM flight;
INSERT INTO _sfflow.map_item (execution_no, map_run_no, item_index, item)
SELECT no, no, i, to_jsonb(i + 1) FROM flight CROSS JOIN generate_series(children, children + items - 1) i;

-- Children: those that have ended have an output, those that run are about to begin.
CREATE TABLE child AS SELECT 100 * no + i AS no, no AS parent_no, name, i, i < ended AS has_ended
FROM flight CROSS JOIN generate_series(0, children - 1) i;
INSERT INTO _sfflow.execution (execution_no, machine_no, version, parent_execution_no, parent_branch_no, map_run_no,
	map_index, map_items, requested_at, execution_id, status, started_at, stopped_at, output, input)
SELECT no, 1, 1, parent_no, 0, parent_no, i, 1, now(), format('map/run-%s:%s', name, i), has_ended::integer,
	CASE WHEN has_ended THEN now() END, CASE WHEN has_ended THEN now() END,
	CASE WHEN has_ended THEN to_jsonb(i + 1) END, to_jsonb(i + 1)
FROM child;
INSERT INTO _sfflow.branch (execution_no, branch_no, branch_index, scope, state, phase, owner, due_at, payload)
SELECT no, 0, i, 1, 1, 0, current_user::regrole, now(), to_jsonb(i + 1) FROM child WHERE NOT has_ended;
SELECT setval('_sfflow.machine_no', 1), setval('_sfflow.execution_no', 10000), setval('_sfflow.branch_no', 10000);
COMMIT;
ALTER EXTENSION sfflow UPDATE));
is($node->safe_psql('maps', 'SELECT problem, execution_id, detail FROM sf_check()'), '',
	'an update of Distributed Maps in flight leaves nothing that sf_check() would find');

$node->safe_psql('maps', q(SELECT sf_redrive('map:' || name) FROM flight WHERE status <> 0));
is($node->safe_psql('maps', 'SELECT problem, execution_id, detail FROM sf_check()'), '', '... nor does a redrive');
# By single transitions, with a look at what follows which phase.
$node->safe_psql('maps', q(SET sfflow.debug_point = 'no-such-point:error';
DO $$
DECLARE
	v_id text;
BEGIN
	FOR v_id IN SELECT 'map:' || name FROM flight ORDER BY no LOOP
		FOR i IN 1 .. 30 LOOP
			EXIT WHEN sf_run(v_id, max_steps => 1) <> 'RUNNING';
		END LOOP;
	END LOOP;
END $$));
is($node->safe_psql('maps', q(SELECT execution_id, status, error, cause FROM sf_executions
	WHERE status <> 'SUCCEEDED')), '', '... and all go on and succeed');
is($node->safe_psql('maps', 'SELECT count(*) FROM read'), '3', '... those read their items that had not');
is($node->safe_psql('maps', q(SELECT string_agg(f.name, ' ' ORDER BY f.no) FROM flight f WHERE NOT EXISTS (
	SELECT FROM sf_map_runs r JOIN stored s ON s.map_run = r.map_run_arn WHERE r.execution_id = 'map:' || f.name))),
	'has_written stopped_has_written', '... and those write their results that had not');
is($node->safe_psql('maps', q(SELECT DISTINCT results FROM stored)), '[1, 2]', '... which are those of all children');
is($node->safe_psql('maps', q(SELECT string_agg(split_part(execution_id, ':', 2), ' ' ORDER BY execution_id)
	FROM sf_executions WHERE output ->> 'ResultWriterDetails' = 'before')), 'has_written stopped_has_written',
	'... whose output tells of what was written before');
is($node->safe_psql('maps', 'SELECT problem, execution_id, detail FROM sf_check()'), '',
	'sf_check() finds nothing then');
$node->stop;
done_testing();
