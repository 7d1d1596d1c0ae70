-- Numbers of nodes: where sequences go on, what rows of other nodes do to that, and what is noticed.
-- needs: event
BEGIN;
SELECT plan(16);

SELECT sf_create_state_machine('m', '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}') \g /dev/null
SELECT sf_start('m', '{}', 'before') \g /dev/null
SELECT sf_set_node(3) \g /dev/null

CREATE FUNCTION pg_temp.node_of(id text) RETURNS bigint LANGUAGE sql
	AS $$ SELECT execution_no >> 48 FROM _sfflow.execution WHERE execution_id = 'm:' || id $$;

SELECT is(sf_start('m', '{}', 'after'), 'm:after', 'a node starts executions');
SELECT is(pg_temp.node_of('before'), 0::bigint, 'what exists keeps its number');
SELECT is(pg_temp.node_of('after'), 3::bigint, 'what comes after it has the number of the node');
SELECT is(sf_run('m:after'), 'SUCCEEDED', 'and runs');
SELECT is_empty($$ SELECT * FROM sf_check() WHERE problem LIKE 'sequence%' $$,
	'sf_check is content with the sequences');
SELECT ok((SELECT ok FROM sf_health WHERE item = 'sequences'), 'so is sf_health');

-- An execution that has come from a node with a higher number, and one of this node that no sequence has drawn.
UPDATE _sfflow.execution SET execution_no = (9::bigint << 48) + 5 WHERE execution_id = 'm:before';
SELECT is_empty($$ SELECT * FROM sf_check() WHERE problem LIKE 'sequence%' $$,
	'a row of another node leaves the sequence as it is');
UPDATE _sfflow.execution SET execution_no = (3::bigint << 48) + 1000 WHERE execution_id = 'm:after';
SELECT is((SELECT string_agg(problem, ',') FROM sf_check() WHERE problem LIKE 'sequence%'), 'sequence_behind',
	'a row of this node that is ahead of the sequence is noticed');
SELECT sf_enable() \g /dev/null
SELECT sf_start('m', '{}', 'again') \g /dev/null
SELECT is((SELECT execution_no - (3::bigint << 48) FROM _sfflow.execution WHERE execution_id = 'm:again'), 1001::bigint,
	'sf_enable() goes on after it, and not after that of the other node');

ALTER SEQUENCE _sfflow.branch_no RESTART WITH 70;
SELECT is((SELECT string_agg(problem, ',') FROM sf_check() WHERE problem = 'sequence_astray'), 'sequence_astray',
	'a sequence outside of the range is noticed');
SELECT sf_enable() \g /dev/null
SELECT is((SELECT last_value >> 48 FROM _sfflow.branch_no), 3::bigint, 'sf_enable() brings it back');

SELECT is((SELECT last_value < 1000 FROM _sfflow.machine_no), true, 'numbers of machines are integers and stay');
SELECT throws_ok('SELECT sf_set_node(32)', 'SF012', 'argument node must be from 0 to 31', 'numbers are bounded');

-- Executions pass by events with lower numbers than they have received.
SELECT lives_ok('SELECT sf_set_node(2)', 'a lower number may follow');
SELECT sf_create_event('numbered'), sf_emit('numbered', 'k') \g /dev/null
SELECT throws_ok('SELECT sf_set_node(1)', '55000',
	'this database cannot have the number 1 of a node, because it has events with higher numbers',
	'... but not once there are events');
SELECT lives_ok('SELECT sf_set_node(4)', 'a higher one may');

SELECT * FROM finish();
ROLLBACK;
