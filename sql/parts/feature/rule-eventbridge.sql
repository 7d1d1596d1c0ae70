-- What sf_aws_install makes for EventBridge: rules of the schema, which put_events matches. They have the patterns and
-- inputs of this feature.

--@into aws_services
-- Runs with the rights of its caller, to whom all that it makes belongs.
CREATE FUNCTION _sfflow.aws_install_eventbridge()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $install$
BEGIN
	CREATE TABLE sfflow_aws.event_rule (
		name text PRIMARY KEY,
		bus text,					-- NULL: any
		pattern jsonb NOT NULL,
		target text NOT NULL,
		input jsonb					-- a template of what the target gets; NULL: the event
	);

	-- Send the events that match a pattern to a target; the same name again changes the rule. A pattern that is not
	-- valid is refused, and so is a template.
	CREATE FUNCTION sfflow_aws.put_rule(name text, pattern jsonb, target text, bus text DEFAULT NULL,
		input jsonb DEFAULT NULL)
	RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM @extschema@.sf_test_event_pattern(pattern, '{}'), _sfflow.check_rule_input(target, input);
		INSERT INTO sfflow_aws.event_rule VALUES (name, bus, pattern, sfflow_aws.check_target(target), input)
		ON CONFLICT ON CONSTRAINT event_rule_pkey DO UPDATE SET bus = EXCLUDED.bus, pattern = EXCLUDED.pattern,
			target = EXCLUDED.target, input = EXCLUDED.input;
	END $f$;

	CREATE FUNCTION sfflow_aws.delete_rule(name text)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		DELETE FROM sfflow_aws.event_rule AS r WHERE r.name = delete_rule.name
	$f$;

	-- What is wrong with an entry, or NULL.
	CREATE FUNCTION sfflow_aws.entry_problem(entry jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		field text;
	BEGIN
		FOREACH field IN ARRAY ARRAY['Source', 'DetailType', 'Detail'] LOOP
			IF coalesce(entry->>field, '') = '' THEN
				RETURN jsonb_build_object('ErrorCode', 'InvalidArgument',
					'ErrorMessage', format('Parameter %1$s is not valid. Reason: %1$s is a required argument.', field));
			END IF;
		END LOOP;
		IF (CASE jsonb_typeof(entry->'Detail') WHEN 'object' THEN 'object' WHEN 'string'
			THEN jsonb_typeof((entry->>'Detail')::jsonb) END) = 'object' THEN
			RETURN NULL;
		END IF;
		RETURN '{"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}';
	EXCEPTION WHEN invalid_text_representation THEN
		RETURN '{"ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed."}';
	END $f$;

	-- Put one event on its bus; returns its id.
	CREATE FUNCTION sfflow_aws.put_event(entry jsonb) RETURNS uuid LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		event_id uuid := gen_random_uuid();
		event jsonb := jsonb_build_object('version', '0', 'id', event_id, 'detail-type', entry->'DetailType', 'source',
			entry->'Source',
			'account', current_setting('sfflow.account_id'), 'time',
				to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'region',
				current_setting('sfflow.region'),
			'resources', coalesce(entry->'Resources', '[]'),
			'detail', CASE jsonb_typeof(entry->'Detail') WHEN 'string' THEN (entry->>'Detail')::jsonb
				ELSE entry->'Detail' END);
		rule sfflow_aws.event_rule;
	BEGIN
		FOR rule IN
			SELECT r.* FROM sfflow_aws.event_rule AS r
			WHERE (r.bus IS NULL OR r.bus = regexp_replace(coalesce(entry->>'EventBusName', 'default'),
				'^arn:.*:event-bus/', ''))
				AND @extschema@.sf_test_event_pattern(r.pattern, event)
			ORDER BY r.name
		LOOP
			PERFORM sfflow_aws.deliver(rule.target,
				CASE WHEN rule.input IS NULL THEN event ELSE _sfflow.rule_input(rule.input, event) END, NULL,
				event_id::text);
		END LOOP;
		RETURN event_id;
	END $f$;

	-- All entries, or none: a failure rolls back what the others started.
	CREATE FUNCTION sfflow_aws.events_put_events(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		entry jsonb;
		problem jsonb;
		refusal text;
		entries jsonb := '[]';
		failed integer := 0;
	BEGIN
		refusal := sfflow_aws.validation_errors(VARIADIC ARRAY[sfflow_aws.member_problem('entries', payload->'Entries',
			1, 10)] || ARRAY(
			SELECT sfflow_aws.size_problem(format('entries.%s.member.eventBusName', n), e->'EventBusName', 1, 1600,
				'(arn:aws[\w-]*:events:[a-z]+-[a-z]+-[\w-]+:[0-9]{12}:event-bus\/)?[\/\.\-_A-Za-z0-9]+')
			FROM jsonb_array_elements(CASE jsonb_typeof(payload->'Entries') WHEN 'array' THEN payload->'Entries'
				ELSE '[]' END) WITH ORDINALITY AS a (e, n)));
		IF refusal IS NULL AND octet_length((payload->'Entries')::text) > 262144 THEN
			refusal := 'Total size of the entries in the request is over the limit.';
		END IF;
		IF refusal IS NOT NULL THEN
			PERFORM sfflow_aws.fail('EventBridge.AmazonEventBridgeException', refusal, 'AmazonEventBridge',
				'ValidationException');
		END IF;
		FOR entry IN SELECT * FROM jsonb_array_elements(payload->'Entries') LOOP
			problem := sfflow_aws.entry_problem(entry);
			failed := failed + (problem IS NOT NULL)::integer;
			entries := entries || coalesce(problem, jsonb_build_object('EventId', sfflow_aws.put_event(entry)));
		END LOOP;
		IF failed > 0 THEN
			PERFORM @extschema@.sf_raise('EventBridge.FailedEntry',
				jsonb_build_object('Entries', entries, 'FailedEntryCount', failed)::text);
		END IF;
		RETURN jsonb_build_object('Entries', entries, 'FailedEntryCount', 0);
	END $f$;
END $install$;
--@into aws_installs
	PERFORM _sfflow.aws_install_eventbridge();
--@into public_functions
		aws_install_eventbridge,
