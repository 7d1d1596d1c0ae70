SET LOCAL lock_timeout = '10s';                 -- a long task holds locks on the tables: fail, and try again
SET LOCAL search_path TO pg_catalog, pg_temp;
DROP FUNCTION _sfflow.schema_1();

-- A slot of an execution as a whole is no branch's; it had a number that no branch has.
ALTER TABLE _sfflow.limit_slot ALTER COLUMN branch_no DROP NOT NULL;
UPDATE _sfflow.limit_slot SET branch_no = NULL WHERE branch_no = -3;

UPDATE _sfflow.schema_of_rows SET number = 2;
