-- Thousands of tasks that run come under a limit when their machine gets another owner: the rows of its slots are read
-- once, and not for each of the tasks. Proved by counts.
-- needs: limit
BEGIN;
SELECT plan(4);
CREATE ROLE late_one;
CREATE ROLE late_two;
SELECT sf_grant('CREATE', '*', 'late_one'), sf_grant('CREATE', '*', 'late_two') \g /dev/null
SELECT sf_create_activity('late'), sf_grant('WORK', 'activity:late', 'public') \g /dev/null
SET ROLE late_two;
SELECT sf_map_resource('arn:aws:states:::late', 'activity:late'), sf_set_limit('arn:aws:states:::late',
	max_running => 100) \g /dev/null
SET ROLE late_one;
SELECT sf_map_resource('arn:aws:states:::late', 'activity:late') \g /dev/null
SELECT sf_create_state_machine('late', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "arn:aws:states:::late", "End": true}}}') \g /dev/null
RESET ROLE;
SELECT count(sf_start('late', '{}', n::text)) FROM generate_series(1, 1000) AS n \g /dev/null
SELECT count(sf_run('late:' || n)) FROM generate_series(1, 1000) AS n \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.limit_slot), 0::bigint, 'tasks run without a limit');

CREATE FUNCTION pg_temp.rows_read() RETURNS bigint LANGUAGE sql AS $$
	SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_all_tables WHERE schemaname = '_sfflow'
	AND relname = 'limit_slot'
$$;
SELECT pg_temp.rows_read() AS before \gset
SELECT clock_timestamp() AS began \gset
SELECT sf_alter_owner('late', 'late_two') \g /dev/null
SELECT diag(clock_timestamp() - :'began');
SELECT ok(pg_temp.rows_read() - :before < 20 * 1000, 'the rows are not read for each of them: '
	|| pg_temp.rows_read() - :before);
SELECT is((SELECT count(DISTINCT slot) FROM _sfflow.limit_slot), 1000::bigint, 'each has a slot');
SELECT is((SELECT highest FROM _sfflow.run_limit WHERE name = 'arn:aws:states:::late'), 1000,
	'... first those that the limit allows');
SELECT * FROM finish();
ROLLBACK;
