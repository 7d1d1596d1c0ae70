-- What an installation holds.
BEGIN;
SELECT plan(2);

SELECT has_extension('sfflow', 'the extension is there');
SELECT has_schema('_sfflow', 'and so is its private schema');

SELECT * FROM finish();
ROLLBACK;
