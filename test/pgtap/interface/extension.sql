-- What an installation holds.
BEGIN;
SELECT plan(4);

SELECT has_extension('sfflow', 'the extension is there');
SELECT has_schema('_sfflow', 'and so is its private schema');

-- Views that everyone may read say what they are, and what each column holds.
CREATE TEMP VIEW public_view AS
SELECT c.oid, c.relname FROM pg_class AS c JOIN pg_depend AS d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
AND d.deptype = 'e'
JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid
WHERE e.extname = 'sfflow' AND c.relkind = 'v' AND c.relnamespace <> '_sfflow'::regnamespace;
SELECT ok(count(*) >= 20 AND bool_and(obj_description(oid, 'pg_class') <> ''), 'every view has a comment')
	FROM public_view;
SELECT is_empty($$ SELECT v.relname, a.attname FROM public_view AS v JOIN pg_attribute AS a ON a.attrelid = v.oid
	WHERE a.attnum > 0 AND col_description(v.oid, a.attnum) IS NULL $$, 'and so has every column of every view');

SELECT * FROM finish();
ROLLBACK;
