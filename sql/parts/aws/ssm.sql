-- What sf_aws_install makes for Systems Manager: sendCommand and what asks for its outcome.

-- Runs with the rights of its caller, to whom all that it makes belongs.
CREATE FUNCTION _sfflow.aws_install_ssm()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $install$
BEGIN
	-- Which activity's workers run the commands of an instance.
	CREATE TABLE sfflow_aws.instance (
		instance_id text PRIMARY KEY,
		activity text NOT NULL
	);

	CREATE FUNCTION sfflow_aws.put_instance(instance_id text, activity text)
	RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.activity_machine(activity);
		INSERT INTO sfflow_aws.instance VALUES (instance_id, activity)
		ON CONFLICT ON CONSTRAINT instance_pkey DO UPDATE SET activity = EXCLUDED.activity;
	END $f$;

	-- The execution in which a command runs on an instance; NULL: there is no such instance.
	CREATE FUNCTION sfflow_aws.command_execution(command text, instance text) RETURNS text LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT format('aws-activity-%s:%s.%s', activity, command, instance) FROM sfflow_aws.instance AS i
			WHERE i.instance_id = instance
	$f$;

	-- What sfworker is given for a command.
	CREATE FUNCTION sfflow_aws.shell_task(parameters jsonb) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT jsonb_strip_nulls(jsonb_build_object(
			'Command', jsonb_build_array('/bin/sh', '-c',
				(SELECT string_agg(line, E'\n' ORDER BY n)
				FROM jsonb_array_elements_text(parameters->'commands') WITH ORDINALITY AS c (line, n))),
			'Directory', nullif(parameters->'workingDirectory'->>0, ''),
			'TimeoutSeconds', (parameters->'executionTimeout'->>0)::integer))
	$f$;

	CREATE FUNCTION sfflow_aws.sdk_ssm_send_command(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		command_id uuid := gen_random_uuid();
		instance text;
		execution text;
		problem text := sfflow_aws.validation_errors(
			sfflow_aws.member_problem('documentName', payload->'DocumentName', NULL, NULL,
				'^[a-zA-Z0-9_\-.:/]{3,128}$'),
			sfflow_aws.size_problem('instanceIds', payload->'InstanceIds', 0, 50),
				sfflow_aws.size_problem('comment', payload->'Comment', 0, 100),
			sfflow_aws.number_problem('timeoutSeconds', payload->'TimeoutSeconds', 30, 2592000));
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail_sdk('Ssm', 'SsmException', problem);
		END IF;
		IF payload->>'DocumentName' IS DISTINCT FROM 'AWS-RunShellScript' THEN
			PERFORM sfflow_aws.fail_sdk('Ssm', 'InvalidDocumentException',
				'Document ' || coalesce(payload->>'DocumentName', 'null') || ' does not exist');
		END IF;
		FOR instance IN SELECT * FROM jsonb_array_elements_text(payload->'InstanceIds') LOOP
			execution := sfflow_aws.command_execution(command_id::text, instance);
			IF execution IS NULL THEN
				PERFORM sfflow_aws.fail_sdk('Ssm', 'InvalidInstanceIdException',
					'Instances not in a valid state for account');
			END IF;
			PERFORM @extschema@.sf_start(split_part(execution, ':', 1), sfflow_aws.shell_task(payload->'Parameters'),
				split_part(execution, ':', 2));
		END LOOP;
		RETURN jsonb_build_object('Command',
			jsonb_build_object('CommandId', command_id, 'DocumentName', payload->'DocumentName',
			'InstanceIds', payload->'InstanceIds', 'Parameters', payload->'Parameters', 'RequestedDateTime',
				to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
			'Status', 'Pending', 'StatusDetails', 'Pending', 'TargetCount', jsonb_array_length(payload->'InstanceIds'),
				'CompletedCount', 0, 'ErrorCount', 0));
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_ssm_get_command_invocation(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		execution record;
		status text;
		problem text := sfflow_aws.validation_errors(
			sfflow_aws.member_problem('commandId', payload->'CommandId', 36, 36),
				sfflow_aws.member_problem('instanceId', payload->'InstanceId'));
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail_sdk('Ssm', 'SsmException', problem);
		END IF;
		SELECT e.status, e.output, e.error, e.cause INTO execution FROM @extschema@.sf_executions AS e
		WHERE e.execution_id = sfflow_aws.command_execution(payload->>'CommandId', payload->>'InstanceId');
		IF NOT FOUND THEN
			PERFORM sfflow_aws.fail_sdk('Ssm', 'InvocationDoesNotExistException', 'null');
		END IF;
		status := CASE WHEN execution.error = 'States.Timeout' OR execution.status = 'TIMED_OUT' THEN 'TimedOut'
			WHEN execution.status = 'RUNNING' THEN 'InProgress' WHEN execution.status = 'SUCCEEDED' THEN 'Success'
			WHEN execution.status = 'ABORTED' THEN 'Cancelled' ELSE 'Failed' END;
		RETURN jsonb_build_object('CommandId', payload->'CommandId', 'InstanceId', payload->'InstanceId',
			'DocumentName', 'AWS-RunShellScript',
			'Status', status, 'StatusDetails', status,
			'ResponseCode', CASE status WHEN 'Success' THEN 0 WHEN 'Failed'
				THEN coalesce(substring(execution.error FROM '^Shell\.ExitCode\.(\d+)$')::integer, 1) ELSE -1 END,
			'StandardOutputContent', left(coalesce(execution.output->>'stdout', execution.output::text, ''), 24000),
			'StandardErrorContent', left(coalesce(execution.cause, ''), 24000));
	END $f$;
END $install$;
