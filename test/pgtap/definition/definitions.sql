-- Definitions as code: what a document may say, what becomes of each object, and with whose rights.
-- needs: limit event human label
BEGIN;
SELECT plan(56);
CREATE ROLE definer;
CREATE ROLE definer_member;
CREATE ROLE definer_stranger;
GRANT definer TO definer_member;
SELECT sf_grant('CREATE', '*', r) FROM unnest('{definer,definer_member,definer_stranger}'::text[]) r \g /dev/null

CREATE FUNCTION pg_temp.applied(document jsonb, dry_run boolean DEFAULT false, remove boolean DEFAULT false)
	RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(concat_ws(' ', object, name, outcome, '(' || changes || ')'), E'\n')
	FROM sf_apply('{"format": 1}' || document, dry_run, remove) $$;
CREATE FUNCTION pg_temp.place(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	message text; detail text; context text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
	RETURN message || ' | ' || coalesce(substring(context FROM 'definitions at "[^"]*"'), detail);
END $$;

-- A definition without a number.
SET ROLE definer;
SELECT is(pg_temp.applied('{"state_machines": {"a": {"definition": {"StartAt": "A",
		"States": {"A": {"Type": "Succeed"}}}}}}'),
	E'state machine a created\nversion a/1 created', 'a machine is made with its first version');
SELECT is((SELECT m.owner::text FROM sf_state_machines m WHERE m.state_machine = 'a'), 'definer',
	'... and is the caller''s');
SELECT is(pg_temp.applied('{"state_machines": {"a": {"definition": {"States": {"A": {"Type": "Succeed"}},
		"StartAt": "A"}}}}'),
	E'state machine a unchanged\nversion a/1 unchanged',
	'the same again, with its keys in another order, is unchanged');
SELECT is(pg_temp.applied('{"state_machines": {"a": {"definition": ["{\"StartAt\": \"B\",",
		"\"States\": {\"B\": {\"Type\": \"Succeed\"}}}"]}}}'),
	E'state machine a unchanged\nversion a/2 created', 'another definition is the next version');
SELECT is((SELECT definition::text FROM sf_state_machines WHERE state_machine = 'a' AND is_current),
	E'{"StartAt": "B",\n"States": {"B": {"Type": "Succeed"}}}',
	'lines are the text of a definition, byte by byte');
SELECT is(pg_temp.applied('{"state_machines": {"a": {"definition": ["{\"StartAt\": \"B\",",
		"\"States\": {\"B\": {\"Type\": \"Succeed\"}}}"], "options": {"history": "TASKS"}}}}'),
	E'state machine a unchanged\nversion a/3 created', 'and so are other options');

-- Versions with numbers.
SELECT is(pg_temp.applied('{"state_machines": {"b": {"versions": {
	"10": {"definition": "{\"StartAt\": \"B\", \"States\": {\"B\": {\"Type\": \"Succeed\"}}}"},
	"2": {"definition": "{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Succeed\"}}}",
		"execution_id_path": "$.id"}}}}}'),
	E'state machine b created\nversion b/2 created\nversion b/10 created', 'versions have the numbers of the document');
SELECT is((SELECT version FROM sf_state_machines WHERE state_machine = 'b' AND is_current), 10,
	'the highest one is current');
SELECT is(pg_temp.applied('{"state_machines": {"b": {"versions": {"3": {"definition": "{\"StartAt\": \"C\", '
		'\"States\": {\"C\": {\"Type\": \"Succeed\"}}}"}}}}}'),
	E'state machine b unchanged\nversion b/3 created', 'a lower one can come later');
SELECT is((SELECT version FROM sf_state_machines WHERE state_machine = 'b' AND is_current), 10,
	'... and is not current');
SELECT is(pg_temp.place($$SELECT pg_temp.applied('{"state_machines": {"b": {"versions": {"2": {"definition": '
			'"{\"StartAt\": \"B\", \"States\": {\"B\": {\"Type\": \"Succeed\"}}}"}}}}}')$$),
	'version 2 of state machine "b" exists with another definition or other options | definitions at '
	'"/state_machines/b/versions/2"', 'a version never changes');
SELECT throws_ok($$SELECT sf_set_alias('b', 'x', '{"4": 100}')$$, 'SF012',
	'argument versions has "4", which is no version of state machine "b"',
	'an alias cannot name a number that no version has');

-- Aliases, rights, and what changes.
SELECT is(pg_temp.applied('{"state_machines": {"b": {"aliases": {"live": {"2": 100}},
		"grants": {"START": ["definer_stranger"], "READ": ["public"]}, "revoked_from_public": ["SEND"]}}}'),
	E'state machine b unchanged\nalias b/live created\ngrant READ on b to public created\nrevocation SEND on b from '
	'public created\ngrant START on b to definer_stranger created',
	'aliases and rights of a machine that is there');
SELECT is(pg_temp.applied('{"state_machines": {"b": {"aliases": {"live": {"2": 90, "10": 10}}}}}'),
	E'state machine b unchanged\nalias b/live changed (2: 100 -> 90; 10: none -> 10)', 'a change says what it changes');
SELECT is(pg_temp.applied('{"state_machines": {"b": {"aliases": {}, "grants": {"READ": ["public"]}}}}'),
	'state machine b unchanged' || E'\n' || 'grant READ on b to public unchanged',
	'what the document lacks stays');
SELECT is(pg_temp.applied('{"state_machines": {"b": {"aliases": {}, "grants": {"READ": ["public"]}}}}', dry_run => true,
		remove => true),
	E'state machine b unchanged\ngrant READ on b to public unchanged\ngrant START on b to definer_stranger '
	'removed\nalias b/live removed\nstate machine a removed',
	'remove: it goes, within what the document has');
SELECT is((SELECT count(*) FROM sf_aliases) + (SELECT count(*) FROM sf_state_machines), 8::bigint,
	'a dry run leaves everything as it was');
SELECT is(pg_temp.applied('{"state_machines": {"b": {"grants": {}}}}', remove => true),
	E'state machine b unchanged\ngrant START on b to definer_stranger removed\ngrant READ on b to public '
	'removed\nstate machine a removed', 'and then it is gone');
SELECT is((SELECT string_agg(DISTINCT state_machine, ' ') FROM sf_state_machines), 'b', '... with its versions');

-- The other sections.
SELECT is(pg_temp.applied('{"activities": {"act": {"lease": "1 hour"}}, "events": {"ev": {"ttl": "2 days",
		"deliver": "all", "grants": {"EMIT": ["definer_stranger"]}}},
	"worklists": {"wl": {"description": "d"}}, "resources": [{"pattern": "arn:aws:lambda:*",
		"resource": "activity:act"}],
	"limits": [{"target": "b", "max_running": 3}, {"target": "b", "key": "$.t", "rate": 2, "per": "60 s"},
		{"target": "sql:x.y", "max_running": 1}]}'),
	E'activity act created\nevent ev created\nworklist wl created\nresource arn:aws:lambda:* of definer created\ngrant '
	'EMIT on event:ev to definer_stranger created\n'
	'limit b created\nlimit b by $.t created\nlimit sql:x.y of definer created',
	'activities, events, worklists, resources, limits');
SELECT is(pg_temp.applied('{"activities": {"act": {"lease": "60 min"}}, "events": {"ev": {"ttl": "P2D"}},
		"worklists": {"wl": {"description": "d", "form": null}},
	"resources": [{"owner": "definer", "pattern": "arn:aws:lambda:*", "resource": "activity:act"}],
	"limits": [{"target": "b", "key": "$.t", "rate": 2.0, "per": "1 min", "on_limit": "queue"}]}') ~ 'created| changed',
	false, 'the same in other words is unchanged');
SELECT is(pg_temp.applied('{"worklists": {"wl": {}}, "limits": [{"target": "b", "max_running": 5,
		"on_limit": "fail"}]}'),
	E'worklist wl changed (description: "d" -> none)\nlimit b changed (max_running: 3 -> 5; on_limit: none -> "fail")',
	'what is left out of an object has its default again');
SELECT is(pg_temp.place($$SELECT pg_temp.applied('{"activities": {"act": {"lease": "2 hours"}}}')$$),
	'activity "act" exists with other settings, or of another owner | definitions at "/activities/act"',
	'what cannot be changed is refused');

-- A document that fails changes nothing, and says where.
SELECT is(pg_temp.place(format('SELECT pg_temp.applied(%L)', d)), p, 'refused: ' || left(d, 60)) FROM (VALUES
	('{"format": 2}', 'the document of definitions must be an object with "format": 1 | It is at "/format".'),
	('{"state_machine": {}}',
		'the document of definitions has an unknown member "state_machine" | It is at "/state_machine".'),
	('{"state_machines": []}', 'the document of definitions must have an object there | It is at "/state_machines".'),
	('{"limits": {}}', 'the document of definitions must have a list there | It is at "/limits".'),
	('{"limits": [{"target": "b", "max": 1}]}',
		'the document of definitions has an unknown member "max" | It is at "/limits/0/max".'),
	('{"limits": [{"target": "b", "max_running": 1}, {"target": "b", "max_running": 2}]}',
		'the document of definitions has limit "b" twice | It is at "/limits/1".'),
	('{"state_machines": {"c/d~": {"versions": {"1": {}}}}}',
		'the document of definitions must have a definition there | It is at "/state_machines/c~1d~0/versions/1".'),
	('{"state_machines": {"c": {"versions": {"01": {"definition": {}}}}}}',
		'the document of definitions must have the number of a version there, from 1 on | It is at '
		'"/state_machines/c/versions/01".'),
	('{"state_machines": {"c": {}}}', 'the document of definitions has no version of state machine "c", which does not '
		'exist | definitions at "/state_machines/c"'),
	('{"state_machines": {"c": {"definition": {}, "versions": {}}}}',
		'the document of definitions must have either versions or a definition there | It is at "/state_machines/c".'),
	('{"state_machines": {"b": {"grants": {"START": "x"}}}}',
		'the document of definitions must have a list there | It is at "/state_machines/b/grants/START".'),
	('{"state_machines": {"b": {"grants": {"START": ["nobody"]}}}}',
		'role "nobody" does not exist | definitions at "/state_machines/b/grants/START/0"'),
	('{"activities": {"z": {"lease": "soon"}}}',
		'invalid input syntax for type interval: "soon" | definitions at "/activities/z"'),
	('{"revision": -1}', 'the document of definitions must have an integer there that is not negative | It is at '
		'"/revision".')) v (d, p);
SELECT matches(pg_temp.place($$SELECT pg_temp.applied('{"activities": {"z": {}},
			"state_machines": {"c": {"definition": {"StartAt": "A"}}}}')$$),
	'States.*definitions at "/state_machines/c/definition"', 'a definition that is not valid');
SELECT is((SELECT count(*) FROM sf_activities WHERE activity = 'z'), 0::bigint,
	'... and nothing of that document is there');

-- Revisions.
SELECT is(pg_temp.applied('{"name": "n", "revision": 5}'), NULL, 'a document with a revision, and nothing else');
SELECT is(pg_temp.place($$SELECT pg_temp.applied('{"name": "n", "revision": 4}')$$),
	'revision 4 of the document of definitions is older than the one that was applied | Revision 5 was applied.',
	'an older revision is refused');
SELECT is(pg_temp.applied('{"name": "n", "revision": 5}'), NULL, 'the same one is not');
SELECT is(pg_temp.applied('{"name": "other", "revision": 4}'), NULL, 'names have revisions of their own');

-- Rights: those of the functions that are called.
SET ROLE definer_stranger;
SELECT is(pg_temp.applied('{"name": "n", "revision": 1}'), NULL, 'so have roles');
SELECT is(pg_temp.place($$SELECT pg_temp.applied('{"state_machines": {"b": {"definition": {"StartAt": "A",
			"States": {"A": {"Type": "Succeed"}}}}}}')$$),
	'the name "b" of a state machine is taken | definitions at "/state_machines/b/definition"',
	'what another role owns cannot be changed');
SELECT is(pg_temp.place($$SELECT pg_temp.applied('{"activities": {"x": {"owner": "definer"}}}')$$),
	'must be able to SET ROLE "definer" | definitions at "/activities/x"',
	'nor can anything be made for it');
SELECT is(sf_export_definitions() - 'digest', '{"format": 1}', 'and nothing of it is exported');
SET ROLE definer_member;
SELECT is(pg_temp.applied('{"activities": {"x": {"owner": "definer"}}}'), 'activity x created',
	'a member makes objects for the role');
SELECT is((SELECT owner::text FROM sf_activities WHERE activity = 'x'), 'definer', '... which owns them');
SELECT is(pg_temp.applied('{"activities": {"x": {"owner": "definer_member"}}}'),
	'activity x changed (owner: definer -> definer_member)', '... and gives them away');
SELECT is((sf_export_definitions() -> 'activities') - 'act', '{"x": {"owner": "definer_member"}}',
	'... and exports them');
RESET ROLE;
SELECT sf_revoke('CREATE', '*', 'definer_stranger'), sf_revoke('CREATE', '*', 'public') \g /dev/null
SELECT is(pg_temp.applied('{"state_machines": {"s": {"owner": "definer_stranger", "definition": {"StartAt": "A",
		"States": {"A": {"Type": "Succeed"}}}}}}'),
	E'state machine s created\nversion s/1 created', 'a superuser makes for a role what this may not make');
SELECT is((SELECT owner::text FROM sf_state_machines WHERE state_machine = 's'), 'definer_stranger',
	'... and it owns that');
SELECT matches((sf_export_definitions() - 'digest')::text, '"revoked_from_public": \["CREATE"\]',
	'administrators export the right CREATE');
SELECT is((SELECT count(*) FROM sf_apply(sf_export_definitions()) WHERE outcome <> 'unchanged'), 0::bigint,
	'what is exported is unchanged');
SELECT is(sf_export_definitions()::text, sf_export_definitions()::text, 'an export is the same each time');
SELECT * FROM finish();
ROLLBACK;
