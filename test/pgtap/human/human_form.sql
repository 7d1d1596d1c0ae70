-- Tasks of people: forms. Which keywords a form may have, what each refuses, and at which place.
-- needs: human
BEGIN;
SELECT plan(57);

CREATE FUNCTION pg_temp.refused(call text, argument text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	code text;
	said text;
	place text;
BEGIN
	EXECUTE call USING argument;
	RETURN 'allowed';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, said = MESSAGE_TEXT, place = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(' ', code, replace(said, 'the form is no JSON Schema that sfflow knows: ', ''), place);
END $$;

-- What a form must not have.
SELECT is(pg_temp.refused('SELECT sf_create_worklist(''f'', $1::jsonb)', form), 'SF061 ' || wanted, form) FROM (VALUES
	('true', 'a schema is an object At "".'),
	('{"oneOf": []}', 'the keyword "oneOf" is not supported At "/oneOf".'),
	('{"properties": {"a/b": {"$ref": "#"}}}', 'the keyword "$ref" is not supported At "/properties/a~1b/$ref".'),
	('{"properties": {"~": {"properties": {"x": 1}}}}', 'a schema is an object At "/properties/~0/properties/x".'),
	('{"type": "text"}', 'a type is null, boolean, object, array, number, string or integer At "/type".'),
	('{"type": ["string", 1]}', 'a type is null, boolean, object, array, number, string or integer At "/type/1".'),
	('{"properties": []}', 'the value is no object At "/properties".'),
	('{"required": "a"}', 'the value is no array At "/required".'),
	('{"required": ["a", 1]}', 'the name of a property is a string At "/required/1".'),
	('{"enum": 1}', 'the value is no array At "/enum".'),
	('{"minimum": "1"}', 'the value is no number At "/minimum".'),
	('{"maxLength": -1}', 'the value is no integer from 0 on At "/maxLength".'),
	('{"minItems": 1.5}', 'the value is no integer from 0 on At "/minItems".'),
	('{"pattern": "("}', 'invalid regular expression: parentheses () not balanced At "/pattern".'),
	('{"format": "uri"}', 'a format is date, date-time or email At "/format".'),
	('{"additionalProperties": {}}', 'the value is neither true nor false At "/additionalProperties".'),
	('{"items": {"items": {"title": 1}}}', 'the value is no string At "/items/items/title".')) c (form, wanted);
SELECT is(pg_temp.refused('SELECT sf_create_worklist(''f'', $1::jsonb)', form), 'allowed', form) FROM (VALUES
	('{}'), ('{"$schema": "x", "title": "x", "description": "x", "default": 1, "examples": [1], "$comment": "x"}')) c
	(form);

-- What each keyword refuses.
CREATE FUNCTION pg_temp.answer(form jsonb, output jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	code text;
	said text;
BEGIN
	PERFORM sf_create_worklist('f', form);
	PERFORM sf_start('m', '{}', 'x', if_exists => 'restart');
	PERFORM sf_run('m:x');
	BEGIN
		PERFORM sf_complete_task(task, output) FROM sf_human_tasks;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, said = MESSAGE_TEXT;
		PERFORM sf_stop('m:x');
		RETURN code || replace(said, 'the output does not fit the form of worklist "f":', '');
	END;
	RETURN sf_run('m:x');
END $$;
SELECT sf_create_worklist('f'), sf_create_state_machine('m', '{"StartAt": "A", "States": {"A": {"Type": "Task",
	"Resource": "human:f", "Parameters": {"Title": "x"}, "End": true}}}') \g /dev/null
SELECT is(pg_temp.answer(form::jsonb, output::jsonb), coalesce('SF061 ' || wanted, 'SUCCEEDED'),
	form || ' and ' || output) FROM (VALUES
	('{"type": "integer"}', '1.0', NULL),
	('{"type": "integer"}', '1.5', '"" is not of type "integer"'),
	('{"type": "number"}', '1.5', NULL),
	('{"type": ["null", "string"]}', 'null', NULL),
	('{"type": ["null", "string"]}', '1', '"" is not of type ["null","string"]'),
	('{"type": "object"}', '[]', '"" is not of type "object"'),
	('{"enum": ["a", {"b": 1}]}', '{"b": 1.0}', NULL),
	('{"enum": ["a", "b"]}', '"c"', '"" is none of ["a","b"]'),
	('{"const": true}', 'false', '"" is not true'),
	('{"minimum": 1, "maximum": 2}', '1', NULL),
	('{"minimum": 1}', '0.9', '"" is less than 1'),
	('{"maximum": 2}', '2.1', '"" is greater than 2'),
	('{"exclusiveMinimum": 1}', '1', '"" is not greater than 1'),
	('{"exclusiveMaximum": 2}', '2', '"" is not less than 2'),
	('{"minLength": 2, "maxLength": 2}', '"äö"', NULL),
	('{"minLength": 2}', '"ä"', '"" has fewer than 2 characters'),
	('{"maxLength": 1}', '"äö"', '"" has more than 1 characters'),
	('{"minItems": 1}', '[]', '"" has fewer than 1 elements'),
	('{"maxItems": 1}', '[1, 2]', '"" has more than 1 elements'),
	('{"pattern": "^[A-Z]+\\d$"}', '"AB7"', NULL),
	('{"pattern": "^[A-Z]+$"}', '"Ab"', '"" does not match the pattern "^[A-Z]+$"'),
	('{"format": "date"}', '"2024-02-29"', NULL),
	('{"format": "date"}', '"2025-02-29"', '"" is no date'),
	('{"format": "date-time"}', '"2025-02-28T12:00:00+01:00"', NULL),
	('{"format": "date-time"}', '"2025-02-28"', '"" is no date-time'),
	('{"format": "email"}', '"a@b.example"', NULL),
	('{"format": "email"}', '"a b@c"', '"" is no email'),
	('{"format": "email"}', '"a@"', '"" is no email'),
	('{"minimum": 5, "minLength": 5}', 'true', NULL),
	('{"items": {"type": "string"}}', '["a", 1]', '"/1" is not of type "string"'),
	('{"properties": {"a": {"items": {"properties": {"b": {"const": 1}}}}}}', '{"a": [{}, {"b": 2}]}',
		'"/a/1/b" is not 1'),
	('{"required": ["x/y"]}', '{}', '"/x~1y" is missing'),
	('{"properties": {"a": {}}, "additionalProperties": false}', '{"a": 1}', NULL),
	('{"properties": {"a": {}}, "additionalProperties": false}', '{"b": 1}', '"/b" is not in the form')) c (form,
	output, wanted);
SELECT is(pg_temp.answer(NULL, '["anything"]'), 'SUCCEEDED', 'without a form any output fits');
-- A form that is changed is for tasks to come.
SELECT sf_create_worklist('f', '{"const": 1}'), sf_start('m', '{}', 'y'), sf_run('m:y'),
	sf_create_worklist('f', '{"const": 2}') \g /dev/null
SELECT is(pg_temp.refused('SELECT sf_complete_task(task, ''2'') FROM sf_human_tasks'),
	'SF061 the output does not fit the form of worklist "f": "" is not 1 At "".',
	'a task keeps the form as it was when it began');
SELECT lives_ok('SELECT sf_complete_task(task, ''1'') FROM sf_human_tasks', '... and is completed by that');
SELECT is((SELECT string_agg(action, ', ' ORDER BY at) FROM (SELECT DISTINCT ON (action) action, at FROM sf_audit
			WHERE target = 'human:f' ORDER BY action, at) a), 'create, change', 'the audit tells of worklists');

SELECT * FROM finish();
ROLLBACK;
