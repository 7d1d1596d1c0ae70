-- Texts that name nothing, given to each function that steers: each is refused with an error that says so, and nothing
-- is written.
-- needs: hold deadline rule
BEGIN;
SELECT plan(5);

SELECT sf_create_state_machine('steered', '{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 600,
	"End": true}}}') \g /dev/null
SELECT sf_start('steered', name => 'x') \g /dev/null
CREATE TEMP TABLE before AS SELECT (SELECT count(*) FROM _sfflow.audit) AS audit,
	(SELECT count(*) FROM _sfflow.hold) AS hold,
	(SELECT count(*) FROM _sfflow.mark) AS mark, (SELECT count(*) FROM _sfflow.deadline) AS deadline;

-- %L: the text
CREATE TEMP TABLE calls (call text);
INSERT INTO calls VALUES ('sf_release(%L)'), ('sf_hold(''steered'', %L)'), ('sf_hold(''steered:x'', %L)'),
	('sf_release(''schedule:'' || %L)'),
	('sf_hold(''schedule:'' || %L)'), ('sf_hold(''activity:'' || %L)'),
	('sf_mark(%L, ''A'', ''skip'')'), ('sf_mark(''steered:x'', %L, ''skip'')'), ('sf_mark(''steered:x'', ''A'', %L)'),
	('sf_redrive_many(%L)'), ('sf_redrive_many(status => %L)'), ('sf_redrive_many(map_run => %L)'),
	('sf_stop_many(%L)'), ('sf_stop_many(status => %L)'),
	('sf_set_deadline(%L, ''02:00'')'), ('sf_set_deadline(''steered/'' || %L, ''02:00'')'),
	('sf_set_deadline(''schedule:'' || %L, ''02:00'')'),
	('sf_set_deadline(''steered'', ''02:00'', calendar => %L)'), ('sf_drop_deadline(%L)'),
	('sf_acknowledge(%L)'), ('sf_acknowledge(''steered:x'', %L)'), ('sf_acknowledge_all(%L)'),
	('sf_set_alias(%L, ''prod'', ''{"1": 100}'')'), ('sf_drop_alias(%L, ''prod'')'), ('sf_drop_alias(''steered'', %L)'),
	('sf_diff_versions(%L, 1, 1)'),
	('sf_migrate(%L, 1)'), ('sf_redrive(%L, version => 1)'), ('sf_start_many(%L, ''{}''::jsonb[])'),
	('sf_start_many(''steered'', ''{}''::jsonb[], if_exists => %L)'),
	('sf_create_rule(''steer'', ''{"source": ["aws.states"]}'', %L)'), ('sf_drop_rule(%L)'), ('sf_redeliver(%L)'),
	('sf_discard_deliveries(%L)'),
	('sf_compare(%L, ''steered:x'')'), ('sf_compare(''steered:x'', %L)'), ('sf_grid(%L)'), ('sf_progress(%L)'),
	('sf_drop_calendar(%L)'), ('sf_calendar_days(%L, ''2025-01-01'', ''2025-01-02'')'),
	('sf_backfill(%L, now(), now())'),
	('sf_schedule_preview(%L, now(), now())');
CREATE TEMP TABLE texts (bad text);
INSERT INTO texts VALUES (''), ('no'), ('no:no'), ('no/no'), (':'), ('/'), ('::'), ('//'), ('steered:'), ('steered:no'),
	('steered:x:'), ('steered/'), ('steered/no'), ('steered/1/2'),
	('activity:'), ('activity:no'), ('schedule:'), ('schedule:no'), (' steered'), ('STEERED'), ('steered%'),
	(E'\u0001'), (E'steered\n'), ('ünïcödé'), ('''; DROP TABLE'), ('arn:'),
	('arn:aws:states:us-east-1:000000000000:stateMachine:no'),
	('arn:aws:states:us-east-1:000000000000:execution:no:no'), (repeat('x', 100000)), (repeat('x/', 1000)),
	(repeat(':', 1000));

CREATE FUNCTION pg_temp.try(call text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SELECT ' || call;
	RAISE 'ok' USING ERRCODE = 'ZZZZZ';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
CREATE TEMP TABLE outcome AS SELECT c.call, t.bad, pg_temp.try(format(c.call, t.bad)) AS state FROM calls c, texts t;

SELECT is_empty($$ SELECT call, left(bad, 60), state FROM outcome WHERE state = 'ZZZZZ'
	-- 'arn:' could be a resource; a job without a deadline has nothing to acknowledge
	AND (call, bad) NOT IN (VALUES ('sf_release(%L)', 'arn:'), ('sf_acknowledge(%L)', 'steered/'),
		('sf_acknowledge(%L)', 'steered/no'), ('sf_acknowledge(%L)', 'steered/1/2')) $$, 'none is taken');
SELECT is_empty($$ SELECT call, left(bad, 60), state FROM outcome WHERE state <> 'ZZZZZ'
	AND state !~ '^(SF0|42704|42601|22023|22004)' $$, 'each with an error of its own');
SELECT is_empty($$ SELECT call, state FROM (SELECT call, pg_temp.try(format(call, NULL)) AS state FROM calls) n
	WHERE call !~ '(status|map_run|calendar|timezone) =>|_many\(%L|steered'', %L\)$|steered:x'', %L\)$|\|\| %L'
	AND state <> '22004' $$, 'NULL is refused where nothing stands for it');
SELECT results_eq($$ SELECT (SELECT count(*) FROM _sfflow.audit), (SELECT count(*) FROM _sfflow.hold),
	(SELECT count(*) FROM _sfflow.mark), (SELECT count(*) FROM _sfflow.deadline) $$,
	$$ SELECT * FROM before $$, 'and nothing is written');
SELECT is((SELECT status FROM sf_executions WHERE execution_id = 'steered:x'), 'RUNNING', 'the execution goes on');

SELECT * FROM finish();
ROLLBACK;
