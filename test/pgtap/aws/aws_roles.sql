-- Roles that rows of the schema sfflow_aws name: DROP ROLE refuses them, until no row names them.
BEGIN;
SELECT plan(11);
SET client_min_messages = error;

SELECT sf_aws_install() \g /dev/null
GRANT USAGE ON SCHEMA sfflow_aws TO PUBLIC;
CREATE ROLE aws_owner;
CREATE ROLE aws_reader;
CREATE ROLE aws_asker;
CREATE ROLE aws_admin SUPERUSER;

-- What refuses to drop a role; NULL: nothing does, and the role is gone.
CREATE FUNCTION pg_temp.refusal(role name) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	because text;
BEGIN
	EXECUTE format('DROP ROLE %I', role);
	RETURN NULL;
EXCEPTION WHEN dependent_objects_still_exist THEN
	GET STACKED DIAGNOSTICS because = PG_EXCEPTION_DETAIL;
	RETURN because;
END $$;

SET ROLE aws_owner;
SELECT sfflow_aws.create_bucket('one'), sfflow_aws.create_bucket('two') \g /dev/null
SELECT sfflow_aws.grant_bucket('one', 'aws_reader'), sfflow_aws.grant_bucket('one', 'public') \g /dev/null
SET ROLE aws_admin;
SELECT sfflow_aws.create_bucket('three') \g /dev/null
SET ROLE aws_asker;
INSERT INTO sfflow_aws.athena_query (statement, request) SELECT 'SELECT 1', '{}' FROM generate_series(1, 3);
RESET ROLE;
SELECT is(pg_temp.refusal(role), 'privileges for type sfflow_aws.role_in_use', role || ' cannot be dropped')
FROM unnest('{aws_owner,aws_reader,aws_asker,aws_admin}'::text[]) role;

SET ROLE aws_owner;
SELECT sfflow_aws.drop_bucket('two') \g /dev/null
RESET ROLE;
SELECT is(pg_temp.refusal('aws_owner'), 'privileges for type sfflow_aws.role_in_use', 'nor with one bucket less');
UPDATE sfflow_aws.s3_bucket SET owner = 'aws_reader' WHERE name = 'one';
SELECT is(pg_temp.refusal('aws_owner'), NULL, 'but when another role owns the last one');
SELECT sfflow_aws.revoke_bucket('one', 'aws_reader') \g /dev/null
SELECT is(pg_temp.refusal('aws_reader'), 'privileges for type sfflow_aws.role_in_use',
	'that one without its right, which it does not need');
SELECT sfflow_aws.drop_bucket('one') \g /dev/null
SELECT is(pg_temp.refusal('aws_reader'), NULL, 'it can be dropped without the bucket');
DELETE FROM sfflow_aws.athena_query;
SELECT is(pg_temp.refusal('aws_asker'), NULL, 'and a role whose queries are gone');
SELECT sf_aws_uninstall() \g /dev/null
SELECT is(pg_temp.refusal('aws_admin'), NULL, 'and all of them without the schema');
SELECT is((SELECT count(*) FROM pg_roles WHERE rolname LIKE 'aws\_%'), 0::bigint, 'all are gone');

SELECT * FROM finish();
ROLLBACK;
