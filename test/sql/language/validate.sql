-- sf_validate: everything that is wrong with a definition at once. The rules themselves have their
-- cases in test/cases/validate.test; here are the form of the result and the limits.

-- A good definition has no problems.
SELECT * FROM sf_validate('{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}');

-- Problems come in the order of the text, with a location each.
SELECT * FROM sf_validate('{
  "StartAt": "A",
  "States": {
    "A": {"Type": "Task", "TimeoutSeconds": "soon", "Next": "B", "Retry": [{"ErrorEquals": ["States.Foo"]}]},
    "B": {"Type": "Wait", "Next": "C"},
    "D": {"Type": "Succeed"}
  }
}');

-- An error refuses the definition; a warning does not.
SELECT severity, count(*) FROM sf_validate('{"FailureMode": "DRAIN", "StartAt": "A",
	"States": {"A": {"Type": "Pass"}}}')
GROUP BY severity ORDER BY severity;

-- A resource that nothing maps is worth a warning, until the caller, or a superuser, maps it. Nothing
-- is said when the machine is created: what it needs may come later.
CREATE FUNCTION hello(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN payload;
CREATE ROLE validate_alice;
CREATE ROLE validate_bob;
CREATE VIEW problems AS
	SELECT v.* FROM sf_validate('{"StartAt": "A", "States": {
		"A": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:hello:live", "Next": "B"},
		"B": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "hello"},
			"Next": "C"},
		"C": {"Type": "Task", "Resource": "ticket.waitForTaskToken", "End": true}}}') AS v;
GRANT SELECT ON problems TO validate_alice, validate_bob;
SELECT * FROM problems;
SET ROLE validate_alice;
SELECT sf_map_resource('hello', 'sql:public.hello'), sf_map_resource('ticket', 'activity:ticket');
SELECT count(*) AS problems_of_alice FROM problems;
SET ROLE validate_bob;
SELECT count(*) AS problems_of_bob FROM problems;
RESET ROLE;
SELECT sf_map_resource('ti*', 'sql:nothing');
SET ROLE validate_bob;
SELECT message FROM problems;
SET ROLE validate_alice;
SELECT sf_unmap_resource('hello'), sf_unmap_resource('ticket');
RESET ROLE;
SELECT sf_unmap_resource('ti*');
SELECT sf_create_state_machine('unmapped', '{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "r",
	"End": true}}}');
SELECT sf_drop_state_machine('unmapped');

-- A function in a schema that the caller may not look into is none.
CREATE SCHEMA hidden;
CREATE FUNCTION hidden.f(payload jsonb) RETURNS jsonb LANGUAGE sql RETURN payload;
SELECT count(*) FROM sf_validate('{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:hidden.f",
	"End": true}}}');
SET ROLE validate_alice;
SELECT message FROM sf_validate('{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "sql:hidden.f",
	"End": true}}}');
RESET ROLE;
DROP VIEW problems;
DROP FUNCTION hello;
DROP SCHEMA hidden CASCADE;
DROP ROLE validate_alice, validate_bob;

-- Text that is no JSON is a problem like any other, and says where.
SELECT * FROM sf_validate('');
SELECT * FROM sf_validate(E' \n\t ');
SELECT * FROM sf_validate(E'{\n  "StartAt": "A",\n  "States": {,}\n}');
SELECT * FROM sf_validate('{"a": "\u0000"}');
SELECT * FROM sf_validate('{"a": 1e999999}');
SELECT * FROM sf_validate(NULL);

-- Only the beginning of a long text is quoted.
SELECT code, length(location), right(location, 40) FROM sf_validate('{' || repeat(' ', 10000) || 'x}');

-- Limits: length, and depth of nesting.
SELECT code, location, message FROM sf_validate('{"Comment": "' || repeat('x', 10 * 1024 * 1024) || '"}');
SELECT * FROM sf_validate(repeat('[', 10000) || repeat(']', 10000));
SELECT * FROM sf_validate(repeat('{"a":', 10000) || '1' || repeat('}', 10000));
SELECT * FROM sf_validate(repeat('[', 10000));
SELECT count(*) FROM sf_validate('{"a": ' || repeat('[', 900) || repeat(']', 900) || '}');

-- A large definition takes no longer than its length.
SELECT count(*) FROM (
	SELECT '{"StartAt": "s1", "States": {' ||
		string_agg(format('"s%s": {"Type": "Pass", "Next": "s%s"}', n, n + 1), ', ') ||
		', "s10001": {"Type": "Succeed"}}}' AS definition
	FROM generate_series(1, 10000) AS n) AS d, sf_validate(d.definition);

-- Of very many problems the first thousand are listed.
SELECT severity, code, location, message, count(*) OVER () FROM (
	SELECT '{"StartAt": "A", "States": {"A": {"Type": "Task", "QueryLanguage": "JSONata", "Resource": "sql:query",
		"End": true,
		"Arguments": [' || string_agg('"{% ( %}"', ', ') || ']}}}' AS definition
	FROM generate_series(1, 100000)) AS d, sf_validate(d.definition)
ORDER BY location DESC NULLS FIRST LIMIT 2;
