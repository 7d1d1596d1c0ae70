-- A task that runs in the session of another role leaves nothing in it: no object in pg_temp, no cursor, no lock.
-- needs: rule
\set VERBOSITY terse
BEGIN;
SELECT no_plan() \g /dev/null
CREATE ROLE eve LOGIN;
CREATE ROLE root SUPERUSER;
\ir ../../fixtures/temporary_objects.sql

CREATE FUNCTION kinds.run_task(resource text, payload jsonb, owner oid, timeout_ms integer, as_worker boolean)
RETURNS jsonb AS '$libdir/sfflow', 'sfflow_debug_run_task' LANGUAGE C;

-- The outcome of a statement as a task of a role in this session: its rows, or its error with the message.
CREATE FUNCTION kinds.task(owner regrole, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	outcome jsonb := kinds.run_task('sql:query', jsonb_build_object('Statement', statement), owner, 0, false);
BEGIN
	RETURN CASE WHEN (outcome ->> 'ok')::boolean THEN outcome #>> '{output,Rows}'
		ELSE concat_ws(' | ', outcome ->> 'error', (outcome ->> 'cause')::jsonb ->> 'message') END;
END $$;

-- The same, with what it left: 'refused' where it was, and nothing has changed.
CREATE FUNCTION kinds.attempt(owner regrole, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before text := kinds.fingerprint();
	outcome text := kinds.task(owner, statement);
BEGIN
	RETURN CASE WHEN kinds.fingerprint() IS DISTINCT FROM before THEN 'left something: ' || outcome
		WHEN outcome ~ '^(insufficient_privilege|invalid_schema_name|feature_not_supported|invalid_table_definition) '
		THEN 'refused'
		ELSE outcome END;
END $$;

-- The catalogues with new rows about temporary schemas after a statement of a role by itself, which is rolled back.
CREATE FUNCTION kinds.adds(maker name, statement text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	before text[] := ARRAY(SELECT catalogue || row_text FROM kinds.temporary_rows());
	added text[];
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', maker);
	EXECUTE statement;
	RESET ROLE;
	added := ARRAY(SELECT DISTINCT catalogue::text FROM kinds.temporary_rows()
		WHERE catalogue || row_text <> ALL (before));
	RAISE EXCEPTION USING ERRCODE = 'TEMPX', MESSAGE = added::text;
EXCEPTION WHEN SQLSTATE 'TEMPX' THEN
	RETURN sqlerrm::text[];
END $$;

-- A session without a temporary schema would have none to look at; pgTAP has made this one's.
CREATE TEMP TABLE mine (a integer);
CREATE TEMP TABLE ways AS SELECT way FROM unnest(ARRAY['pg_temp', 'real name', 'search_path']) AS way;

-- The statements do what they say where nothing forbids it …
CREATE TEMP TABLE control AS SELECT s.kind, w.way, kinds.adds(CASE WHEN s.by_root THEN 'root' ELSE 'eve' END,
	kinds.spell(s.text, w.way, kinds.real_name())) AS added
FROM kinds.statement AS s, ways AS w;
SELECT cmp_ok(cardinality(added), '>', 0, format('%s by %s: goes into the temporary schema of a session', kind, way))
	FROM control;
-- … and there is one for each catalogue. (PostgreSQL refuses extensions and publications of temporary schemas.)
SELECT ok(EXISTS (SELECT FROM control WHERE k.catalogue::text = ANY (added)),
	format('%s: some statement puts a row there', k.catalogue))
FROM kinds.catalogue AS k WHERE k.catalogue::text NOT IN ('pg_extension', 'pg_publication_namespace');

-- A guest is refused, whatever the kind and the spelling; a superuser's task, too.
SELECT is(kinds.attempt('eve', kinds.spell(s.text, w.way, kinds.real_name())), 'refused',
	format('%s by %s: a guest is refused', s.kind, w.way))
FROM kinds.statement AS s, ways AS w WHERE NOT s.by_root;
SELECT is(kinds.attempt('root', kinds.spell(s.text, w.way, kinds.real_name())), 'refused',
	format('%s by %s: also one of a superuser', s.kind, w.way))
FROM kinds.statement AS s, ways AS w;
SELECT is(kinds.attempt('eve', format('ALTER %s SET SCHEMA %s', object, schema)), 'refused',
	format('%s SET SCHEMA %s: refused', object, schema))
FROM unnest(ARRAY['TABLE kinds.numbers', 'TYPE kinds.pair', 'FUNCTION kinds.spring']) AS object,
unnest(ARRAY['pg_temp', kinds.real_name()]) AS schema;
-- What one catches leaves nothing either.
SELECT is(kinds.attempt('eve', $$DO 'BEGIN CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS ''SELECT 1''; '
		'EXCEPTION WHEN OTHERS THEN NULL; END'$$), '[]', 'a guest that catches the refusal leaves nothing');
-- What is not temporary is allowed.
SELECT is(kinds.task('eve', 'CREATE TABLE kinds.lasting (a integer PRIMARY KEY, b kinds.pair)'), '[]',
	'a table of its own is allowed');
SELECT is(kinds.task('eve', 'CREATE CAST (kinds.pair AS text) WITH FUNCTION kinds.as_text(kinds.pair)'), '[]',
	'... a cast');
SELECT is(kinds.task('eve', 'DROP TABLE kinds.lasting'), '[]', '... and to drop it');

-- The session has temporary objects of the guest's role: it replaces, changes and drops none of them, and adds nothing
-- to them.
SET ROLE eve;
CREATE FUNCTION pg_temp.fmt(integer) RETURNS text LANGUAGE sql AS $$ SELECT 'eve, in the session' $$;
CREATE TEMP TABLE hers (a integer);
CREATE DOMAIN pg_temp.hers_too AS integer;
RESET ROLE;
SELECT is(kinds.attempt('eve', statement), 'refused', statement) FROM unnest(ARRAY[
	'CREATE OR REPLACE FUNCTION pg_temp.fmt(integer) RETURNS text LANGUAGE sql AS $$ SELECT ''planted'' $$',
	'ALTER FUNCTION pg_temp.fmt(integer) SECURITY DEFINER',
	'ALTER FUNCTION pg_temp.fmt(integer) SET search_path = kinds',
	'ALTER FUNCTION pg_temp.fmt(integer) RENAME TO other', 'DROP FUNCTION pg_temp.fmt(integer)',
	'CREATE TRIGGER planted BEFORE INSERT ON hers FOR EACH ROW EXECUTE FUNCTION kinds.spring()',
	'CREATE RULE planted AS ON INSERT TO hers DO ALSO SELECT kinds.evil(1)',
	'CREATE POLICY planted ON hers USING (kinds.evil(a))',
	'CREATE INDEX planted ON hers (a)', 'CREATE STATISTICS kinds.planted ON (a + 1), (a + 2) FROM hers',
	'ALTER TABLE hers ALTER a SET DEFAULT kinds.evil(1)::int', 'ALTER TABLE hers ADD b boolean DEFAULT kinds.evil(1)',
	'ALTER TABLE hers ADD CHECK (kinds.evil(a))', 'ALTER TABLE hers RENAME TO mine_too', 'DROP TABLE hers',
	'ALTER DOMAIN pg_temp.hers_too ADD CHECK (kinds.evil(VALUE))', 'ALTER DOMAIN pg_temp.hers_too SET DEFAULT 1',
	'CREATE CAST (kinds.pair AS pg_temp.hers) WITHOUT FUNCTION',
	'CREATE FUNCTION kinds.g(pg_temp.hers) RETURNS integer LANGUAGE sql AS ''SELECT 1''']) AS statement;
SELECT is(pg_temp.fmt(1), 'eve, in the session', 'the session''s function is as it was');
-- Nor does it call one that runs with the session's rights.
CREATE FUNCTION pg_temp.as_me() RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN current_user; END';
SELECT is(kinds.task('eve', 'SELECT pg_temp.as_me()'),
	'insufficient_privilege | permission denied for function pg_temp.as_me',
	'a guest calls no function of the session''s temporary schema');

-- The attack: an overload that fits better than the session's own function.
CREATE TABLE kinds.seen (who text);
GRANT INSERT ON kinds.seen TO PUBLIC;
DROP FUNCTION pg_temp.fmt(integer);
CREATE FUNCTION pg_temp.fmt(numeric) RETURNS text LANGUAGE sql AS $$ SELECT 'mine' $$;
SELECT matches(kinds.task('eve', 'CREATE FUNCTION pg_temp.fmt(integer) RETURNS text LANGUAGE sql AS $$ INSERT INTO '
		'kinds.seen VALUES (current_user) RETURNING who $$'),
	'^insufficient_privilege . cannot create, change or drop temporary objects in the session of another role$',
	'an overload in pg_temp is refused');
SELECT is(pg_temp.fmt(1), 'mine', '... and the session''s function is called');

-- The session's tables and types do not hide those of the guest.
SET ROLE eve;
CREATE TABLE kinds.stock (a text);
INSERT INTO kinds.stock VALUES ('eve''s');
RESET ROLE;
CREATE TEMP TABLE stock AS SELECT 'the session''s' AS a;
GRANT SELECT ON stock TO PUBLIC;
ALTER ROLE eve SET search_path = kinds;
SELECT kinds.task('root', 'SELECT 1') \g /dev/null
SELECT is(kinds.task('eve', 'SELECT a FROM stock'), '[{"a": "eve''s"}]', 'a guest finds its own table');
ALTER ROLE eve SET search_path = pg_temp, kinds;
SELECT kinds.task('root', 'SELECT 1') \g /dev/null
SELECT is(kinds.task('eve', 'SELECT a FROM stock'), '[{"a": "the session''s"}]',
	'... unless its search_path says otherwise');
ALTER ROLE eve RESET search_path;
SELECT is((SELECT a FROM stock), 'the session''s', 'the session finds its temporary table');

-- Cursors of the session are neither read nor replaced, and those of a guest end with it.
DECLARE letters CURSOR FOR SELECT c FROM unnest(ARRAY['a', 'b', 'c']) AS c;
DECLARE held CURSOR WITH HOLD FOR SELECT 'secret' AS c;
FETCH letters \g /dev/null
SELECT matches(kinds.task('eve', $$DO 'DECLARE c refcursor := ''letters''; BEGIN CLOSE c; OPEN c FOR INSERT INTO '
		'kinds.seen VALUES (current_user) RETURNING who; END'$$),
	'cannot drop active portal', 'a guest cannot replace a cursor');
SELECT matches(kinds.task('eve',
		format($x$DO $do$ DECLARE c refcursor := %L; r text; BEGIN FETCH c INTO r; RAISE EXCEPTION USING MESSAGE = r;
			END $do$ $x$, name)), 'cannot be run', 'nor read it: ' || name)
FROM unnest(ARRAY['letters', 'held']) AS name;
SELECT matches(kinds.task('eve', 'CLOSE ALL'), '^insufficient_privilege ', 'nor close all');
SELECT is(kinds.task('eve', $$DO 'DECLARE c refcursor := ''own''; BEGIN OPEN c FOR SELECT 1; END'$$), '[]',
	'a guest opens a cursor of its own');
SELECT is(ARRAY(SELECT name FROM pg_cursors WHERE name IN ('letters', 'held', 'own') ORDER BY name),
	ARRAY['held', 'letters'], '... which ends with it, and the session''s stay');
FETCH letters \gset
SELECT is(:'c'::text, 'b', '... and go on where they were');
SELECT is((SELECT string_agg(kinds.task('eve', 'SELECT ' || n), '' ORDER BY n) FROM generate_series(1, 2) AS n),
	'[{"?column?": 1}][{"?column?": 2}]', 'a query that runs tasks is not disturbed');
DO $$
DECLARE
	r record;
	n integer := 0;
BEGIN
	FOR r IN SELECT * FROM generate_series(1, 200) LOOP
		PERFORM kinds.task('eve', CASE r.generate_series % 2 WHEN 0 THEN 'SELECT 1/0' ELSE 'SELECT 1' END);
		n := n + 1;
	END LOOP;
	PERFORM set_config('kinds.n', n::text, true);
END $$;
SELECT is(current_setting('kinds.n'), '200', 'a loop over a query goes on after tasks that succeed and fail');

-- Advisory locks of the session end with the guest; those that the session had stay.
CREATE FUNCTION kinds.locks() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM pg_locks
	WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND objsubid IN (1, 2) $$;
SELECT kinds.task('eve', 'SELECT pg_advisory_lock(1), pg_advisory_lock_shared(1, 2)') \g /dev/null
SELECT is(kinds.locks(), 0::bigint, 'advisory locks of a guest end with it');
SELECT kinds.task('eve', 'SELECT 1 / (pg_advisory_lock(1)::text = ''x'')::int') \g /dev/null
SELECT is(kinds.locks(), 0::bigint, '... also after an error');
SELECT pg_advisory_lock(2) \g /dev/null
SELECT kinds.task('eve', 'SELECT 1') \g /dev/null
SELECT is(kinds.locks(), 1::bigint, '... one that the session had stays');
SELECT pg_advisory_unlock(2) \g /dev/null

-- A security-definer function is not the session of the role that calls it.
CREATE FUNCTION kinds.definer(statement text) RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT kinds.task('eve', statement) $$;
GRANT USAGE ON SCHEMA kinds TO PUBLIC;
SET SESSION AUTHORIZATION eve;
SELECT kinds.definer('CREATE TEMP TABLE left_behind (a integer)') AS in_definer,
	kinds.task('eve', 'CREATE TEMP TABLE left_behind (a integer)') AS at_home \gset
RESET SESSION AUTHORIZATION;
SELECT matches(:'in_definer'::text, '^insufficient_privilege',
	'within a security-definer function a task is a guest also in the session of its role');
SELECT is(:'at_home'::text, '[]', '... by itself it is not');

-- Every way in which code of another role runs in a session: what it plants is refused, and its own statements see why.
SET ROLE eve;
CREATE FUNCTION kinds.plant(payload jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	CREATE FUNCTION pg_temp.planted(integer) RETURNS text LANGUAGE sql AS 'SELECT current_user';
	RETURN '[]';
EXCEPTION WHEN insufficient_privilege THEN
	INSERT INTO kinds.seen VALUES (current_user);
	RETURN '[]';
END $$;
SELECT sf_create_state_machine('plant', '{"StartAt": "T", "States": {"T": {"Type": "Task",
	"Resource": "sql:kinds.plant", "End": true}}}',
	options => '{"retention": "1 day", "archive": "sql:kinds.plant"}'),
	sf_create_state_machine('plant_items', '{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true,
		"ItemReader": {"Resource": "sql:kinds.plant", "Parameters": {}},
			"ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}}}}') \g /dev/null
SELECT sf_aws_api('CreateStateMachine', jsonb_build_object('name', 'plant_now', 'type', 'EXPRESS', 'roleArn',
		'arn:aws:iam::000000000000:role/r',
	'definition', '{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "sql:kinds.plant", "End": true}}}'))
	\g /dev/null
SELECT sf_create_rule('plant', '{"source": ["aws.states"]}', 'sql:kinds.plant') \g /dev/null
SELECT sf_start('plant', '{}', 'a'), sf_start('plant', '{}', 'b'), sf_start('plant_items', '{}', 'a') \g /dev/null
RESET ROLE;
CREATE FUNCTION kinds.deliver() RETURNS bigint AS '$libdir/sfflow', 'sfflow_debug_deliver' LANGUAGE C;
CREATE FUNCTION kinds.purge() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	UPDATE _sfflow.execution SET requested_at = requested_at - interval '40 days',
	stopped_at = stopped_at - interval '40 days' WHERE execution_id = 'plant:a';
	CALL sf_purge_due(n);
END $$;
-- What becomes of eve's code in a statement of this session.
CREATE FUNCTION kinds.through(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before text := kinds.fingerprint();
	refusals bigint;
BEGIN
	TRUNCATE kinds.seen;
	EXECUTE statement;
	SELECT count(*) INTO refusals FROM kinds.seen WHERE who = 'eve';
	RETURN CASE WHEN kinds.fingerprint() IS DISTINCT FROM before THEN 'left something'
	WHEN refusals = 0 THEN 'did not run' ELSE 'refused' END;
END $$;
SELECT is(kinds.through(statement), outcome, statement) FROM (VALUES
	($$SELECT sf_run('plant:a')$$, 'refused'),
	($$SELECT sf_step('plant:b') UNION ALL SELECT sf_step('plant:b')$$, 'refused'),
	($$SELECT sf_run('plant_items:a')$$, 'refused'),
	($$SELECT sf_aws_api_as('eve', 'StartSyncExecution',
			'{"stateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:plant_now", "name": "a"}')$$,
		'refused'),
	-- the work of a test is undone, also what its function wrote down
	($$SELECT sf_aws_api_as('eve', 'TestState',
			'{"definition": "{\"Type\": \"Task\", \"Resource\": \"sql:kinds.plant\", \"End\": true}"}')$$,
		'did not run'),
	('SELECT kinds.deliver()', 'refused'),
	('SELECT kinds.purge()', 'refused')) AS v (statement, outcome);

SELECT * FROM finish();
ROLLBACK;
