-- Check constraints that a superuser adds to a table of sfflow hold for rows that are written without the executor, in
-- a session that keeps the constraints of the table compiled, too.
BEGIN;

SELECT plan(11);

SELECT sf_create_state_machine('checked', '{"StartAt": "W",
	"States": {"W": {"Type": "Wait", "Seconds": 1000, "End": true}}}');

SELECT lives_ok($$SELECT sf_start('checked', '{}', 'a')$$, 'the session writes a branch and keeps the constraints');
ALTER TABLE _sfflow.branch ADD CONSTRAINT added CHECK (state < 0) NOT VALID;
SELECT throws_ok($$SELECT sf_start('checked', '{}', 'b')$$, '23514', NULL, 'an added constraint holds at once');
ALTER TABLE _sfflow.branch DROP CONSTRAINT added;
SELECT lives_ok($$SELECT sf_start('checked', '{}', 'b')$$, 'a dropped constraint holds no more');

-- What is compiled does not outlive a change of a function that is not PostgreSQL's own.
CREATE FUNCTION public.is_right_state(state integer) RETURNS boolean LANGUAGE sql IMMUTABLE
	AS 'SELECT true';
ALTER TABLE _sfflow.branch ADD CONSTRAINT added CHECK (public.is_right_state(state));
SELECT lives_ok($$SELECT sf_start('checked', '{}', 'c')$$, 'a constraint with a function is met');
SELECT lives_ok($$SELECT sf_start('checked', '{}', 'd')$$, 'and met once more');
CREATE OR REPLACE FUNCTION public.is_right_state(state integer) RETURNS boolean LANGUAGE sql IMMUTABLE
	AS 'SELECT false';
SELECT throws_ok($$SELECT sf_start('checked', '{}', 'e')$$, '23514', NULL, 'a replaced function counts at once');
ALTER TABLE _sfflow.branch DROP CONSTRAINT added;

-- A whole row, and a domain, whose constraints change without the table's.
ALTER TABLE _sfflow.branch ADD CONSTRAINT added CHECK (num_nulls(branch.*) < 1000);
SELECT lives_ok($$SELECT sf_start('checked', '{}', 'f')$$, 'a constraint with a whole row is met');
SELECT lives_ok($$SELECT sf_start('checked', '{}', 'g')$$, 'and met once more');
ALTER TABLE _sfflow.branch DROP CONSTRAINT added;
CREATE DOMAIN public.state_number AS integer;
ALTER TABLE _sfflow.branch ADD CONSTRAINT added CHECK (state::public.state_number IS NOT NULL);
SELECT lives_ok($$SELECT sf_start('checked', '{}', 'h')$$, 'a constraint with a domain is met');
ALTER DOMAIN public.state_number ADD CONSTRAINT negative CHECK (VALUE < 0) NOT VALID;
SELECT throws_ok($$SELECT sf_start('checked', '{}', 'i')$$, '23514', NULL, 'a constraint of the domain counts at once');

SELECT is((SELECT string_agg(name, ' ' ORDER BY name) FROM sf_executions WHERE state_machine = 'checked'),
	'a b c d f g h', 'nothing that was refused is there');

SELECT * FROM finish();
ROLLBACK;
