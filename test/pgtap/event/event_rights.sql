-- Events by key: who may create types, emit, receive, and see what.
-- needs: event hold rule
BEGIN;
SELECT plan(37);

CREATE ROLE event_owner; CREATE ROLE event_shop; CREATE ROLE event_bank; CREATE ROLE event_stranger;
SELECT sf_revoke('CREATE', '*', 'public'), sf_grant('CREATE', '*', r) FROM unnest('{event_owner,event_shop}'::text[]) r
	\g /dev/null
CREATE FUNCTION pg_temp.refused(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	code text;
	said text;
BEGIN
	EXECUTE call;
	RETURN 'allowed';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, said = MESSAGE_TEXT;
	RETURN code || ' ' || said;
END $$;

SET ROLE event_stranger;
SELECT is(pg_temp.refused($$ SELECT sf_create_event('paid') $$),
	'42501 permission denied to create state machines and activities', 'a type is created with the right CREATE');
SET ROLE event_owner;
SELECT is(pg_temp.refused($$ SELECT sf_create_event('paid') $$), 'allowed', '... by a role that has it');
SELECT is(pg_temp.refused($$ SELECT sf_create_event('paid') $$), 'allowed', 'the same call again is no error');
SELECT is(pg_temp.refused($$ SELECT sf_create_event('paid', '2 days') $$),
	'42710 event "paid" exists with other settings, or of another owner', '... another one is');
SELECT is(pg_temp.refused($$ SELECT sf_create_event('a,b') $$),
	'SF002 event name "a,b" contains a character that is not allowed', 'names are as others');
SELECT is(pg_temp.refused($$ SELECT sf_grant('START', 'event:paid', 'event_bank') $$),
	'SF012 privilege START does not apply to "event:paid"', 'not all rights apply');
SELECT is(pg_temp.refused($$ SELECT sf_grant('EMIT', 'event:paid', 'event_bank') $$), 'allowed',
	'the owner gives EMIT');

SET ROLE event_shop;
SELECT is(pg_temp.refused($$ SELECT sf_emit('paid', '1') $$), 'SF080 event "paid" does not exist',
	'who has no right does not know the type');
SELECT is(pg_temp.refused($$ SELECT sf_grant('EMIT', 'event:paid', 'event_shop') $$),
	'SF080 event "paid" does not exist', '... nor gives rights on it');
SELECT is_empty('SELECT * FROM sf_event_types', '... nor sees it');
SELECT sf_create_state_machine('pay', '{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:paid",
	"Parameters": {"Key": "1"}, "End": true}}}') \g /dev/null
SELECT is((SELECT message FROM sf_validate('{"StartAt": "W", "States": {"W": {"Type": "Task", "Resource": "event:paid",
			"Parameters": {"Key": "1"}, "End": true}}}')),
	'The resource ''event:paid'' waits for event ''paid'', which does not exist.', '... and is warned');
SELECT sf_start('pay', '{}', '1'), sf_run('pay:1') \g /dev/null
SELECT is((SELECT error FROM sf_executions WHERE execution_id = 'pay:1'), 'States.Runtime',
	'its machines do not find it');

SELECT is(pg_temp.refused($$ SELECT sf_create_rule('r', '{"source": ["none"]}', 'event:paid', '{"key": "k"}') $$),
	'SF080 event "paid" does not exist', '... nor do its rules');

SET ROLE event_bank;
SELECT is(pg_temp.refused($$ SELECT sf_emit('paid', '1', '{"secret": 1}', 'p1') $$), 'allowed', 'EMIT allows to emit');
SELECT is(pg_temp.refused($$ SELECT sf_emit_many('event:paid', '{}') $$), 'allowed', '... and many, by the long name');
SELECT is((SELECT string_agg(name, ' ') FROM sf_event_types), 'paid', 'the type is seen');
SELECT is_empty('SELECT * FROM sf_events', '... its events are not: they are for those who receive');
SELECT is(pg_temp.refused($$ SELECT sf_drop_event('paid') $$), '42501 must be owner of event "paid"',
	'only the owner drops it');
SELECT is(pg_temp.refused($$ SELECT sf_hold('event:paid') $$), '42501 must be owner of event "paid"', '... holds it');
RESET ROLE;
SELECT sf_revoke('EMIT', 'event:paid', 'event_bank'), sf_grant('RECEIVE', 'event:paid', 'event_bank'),
	sf_grant('CREATE', '*', 'event_bank'), sf_grant('EMIT', 'event:paid', 'event_shop') \g /dev/null
SET ROLE event_bank;
SELECT is(pg_temp.refused($$ SELECT sf_create_rule('r', '{"source": ["none"]}', 'event:paid', '{"key": "k"}') $$),
	'42501 the owner of the rule has no right to emit event "paid"', 'a rule that emits needs EMIT');
RESET ROLE;
SELECT sf_revoke('CREATE', '*', 'event_bank'), sf_grant('EMIT', 'event:paid', 'event_bank') \g /dev/null
SET ROLE event_shop;
SELECT is(pg_temp.refused($$ SELECT sf_create_rule('r', '{"source": ["none"]}', 'event:paid') $$),
	'SF012 argument input must have "key", and maybe "payload" and "id", for a target that is an event',
	'... and says which key');
SELECT is(pg_temp.refused($$ SELECT sf_create_rule('r', '{"source": ["none"]}', 'event:paid', '{"key": "k",
			"to": 1}') $$), 'SF012 argument input must have "key", and maybe "payload" and "id", for a target that is '
	'an event', '... and nothing else');
SELECT is(pg_temp.refused($$ SELECT sf_create_rule('r', '{"source": ["none"]}', 'event:paid', '{"key": "k",
			"payload.$": "$", "id.$": "$.id"}') $$), 'allowed', '... but a payload and an id');
SELECT is(pg_temp.refused($$ SELECT sf_create_rule('r', '{"source": ["none"]}', 'event:paid', '{"key": "k"}',
			'$.id') $$), 'SF012 argument execution_name is for a target that starts executions, and "event:paid" does '
	'not', 'a rule that starts nothing names nothing');
SELECT is(pg_temp.refused($$ SELECT sf_create_rule('r', '{"source": ["none"]}', 'pay', NULL, 'id') $$),
	'SF012 argument execution_name is invalid: The value for the field ''name.$'' must be a valid JSONPath or a valid '
	'intrinsic function call', 'a name is a path');
SELECT is(pg_temp.refused($$ SELECT sf_create_rule('r', '{"source": ["none"]}', 'pay', NULL, '$.id', 'replaced') $$),
	'SF012 argument if_exists must not be "replaced"', 'if_exists is as in sf_start');
SET ROLE event_shop;
SELECT sf_start('pay', '{}', '2'), sf_run('pay:2') \g /dev/null
SELECT is((SELECT error || ' ' || cause FROM sf_executions WHERE execution_id = 'pay:2'),
	'States.Permissions The owner of state machine ''pay'' has no right to receive event ''paid''.',
	'EMIT is not RECEIVE');
RESET ROLE;
SELECT sf_grant('RECEIVE', 'event:paid', 'event_shop') \g /dev/null
SET ROLE event_shop;
SELECT sf_start('pay', '{}', '3'), sf_run('pay:3') \g /dev/null
SELECT is((SELECT output ->> 'Id' FROM sf_executions WHERE execution_id = 'pay:3'), 'p1',
	'with RECEIVE its machines receive');
SELECT is((SELECT string_agg(id || ' ' || received, ' ') FROM sf_events), 'p1 1', '... and it sees the events');
SELECT sf_start('pay', '{}', '4'), sf_run('pay:4') \g /dev/null
RESET ROLE;

-- Ownership; DROP ROLE; what is audited.
SELECT sf_withdraw_event('paid', '1', 'p1'), sf_start('pay', '{}', '5') \g /dev/null
SET ROLE event_shop;
SELECT sf_run('pay:5') \g /dev/null
RESET ROLE;
SELECT is(pg_temp.refused($$ SELECT sf_drop_event('paid') $$), '55006 event "paid" is waited for by 1 branches',
	'a type that is waited for is not dropped');
SELECT is(pg_temp.refused('DROP ROLE event_owner'),
	'2BP01 role "event_owner" cannot be dropped because some objects depend on it', 'nor is its owner');
SELECT is(pg_temp.refused('DROP ROLE event_bank'),
	'2BP01 role "event_bank" cannot be dropped because some objects depend on it', '... nor a role with a right on it');
SELECT sf_alter_owner('event:paid', 'event_bank') \g /dev/null
SELECT is((SELECT owner FROM sf_event_types), 'event_bank'::regrole, 'a type gets another owner');
SELECT is((SELECT string_agg(action, ', ' ORDER BY at, action) FROM sf_audit WHERE target = 'event:paid'
		AND action NOT IN ('grant', 'revoke')), 'create, alter owner', 'the audit tells');
SET ROLE event_bank;
SELECT is((SELECT string_agg(action, ', ' ORDER BY at, action) FROM sf_list_audit('event:paid')
		WHERE action NOT IN ('grant', 'revoke')),
	'create, alter owner', '... also in pages, to the owner');
SET ROLE event_stranger;
SELECT is_empty($$ SELECT * FROM sf_list_audit('event:paid') $$, '... not to a role without a right');
RESET ROLE;
SELECT sf_stop('pay:5'), sf_drop_event('paid') \g /dev/null
SELECT is((SELECT count(*) FROM _sfflow.emission) + (SELECT count(*) FROM _sfflow.event_receipt) + (SELECT count(*)
		FROM _sfflow.privilege WHERE object_kind = 'e'), 0::bigint, 'dropped with its events and rights');

SELECT * FROM finish();
ROLLBACK;
