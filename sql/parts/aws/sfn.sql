-- What sf_aws_install makes for the API of Step Functions, as a service that a Task calls.

-- Runs with the rights of its caller, to whom all that it makes belongs.
CREATE FUNCTION _sfflow.aws_install_sfn()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $install$
BEGIN
	-- Fail with what is wrong with a token.
	CREATE FUNCTION sfflow_aws.token_fail(state text, message text) RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT sfflow_aws.fail_sdk('Sfn',
			CASE state WHEN 'SF019' THEN 'InvalidTokenException' ELSE 'TaskTimedOutException' END,
			CASE state WHEN 'SF021' THEN 'Task Timed Out: ''Provided task does not exist anymore''' ELSE message END)
	$f$;

	-- Refuse the answer to a task that the service would refuse before it looks for the token.
	CREATE FUNCTION sfflow_aws.check_answer(payload jsonb, needs_output boolean DEFAULT false) RETURNS void
		LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		problem text := sfflow_aws.validation_errors(
			sfflow_aws.member_problem('taskToken', payload->'TaskToken', 1, 2048),
			CASE WHEN needs_output AND coalesce(jsonb_typeof(payload->'Output'), 'null') = 'null'
				THEN sfflow_aws.member_problem('output', NULL) END,
			sfflow_aws.size_problem('error', payload->'Error', 0, 256),
				sfflow_aws.size_problem('cause', payload->'Cause', 0, 32768));
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail_sdk('Sfn', 'SfnException', problem);
		END IF;
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_sfn_send_task_success(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		output jsonb := payload->'Output';
	BEGIN
		PERFORM sfflow_aws.check_answer(payload, true);
		BEGIN
			IF jsonb_typeof(output) = 'string' THEN
				output := output #>> '{}';
			END IF;
		EXCEPTION WHEN invalid_text_representation THEN
			output := NULL;
		END;
		BEGIN
			PERFORM @extschema@.sf_send_task_success(payload->>'TaskToken', coalesce(output, '{}'));
		EXCEPTION WHEN SQLSTATE 'SF019' OR SQLSTATE 'SF020' OR SQLSTATE 'SF021' THEN
			PERFORM sfflow_aws.token_fail(SQLSTATE, SQLERRM);
		END;
		IF output IS NULL THEN
			PERFORM sfflow_aws.fail_sdk('Sfn', 'InvalidOutputException',
				'Invalid Output: ''Output must be a valid JSON text''');
		END IF;
		RETURN '{}';
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_sfn_send_task_failure(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.check_answer(payload);
		PERFORM @extschema@.sf_send_task_failure(payload->>'TaskToken', payload->>'Error', payload->>'Cause');
		RETURN '{}';
	EXCEPTION WHEN SQLSTATE 'SF019' OR SQLSTATE 'SF020' OR SQLSTATE 'SF021' THEN
		PERFORM sfflow_aws.token_fail(SQLSTATE, SQLERRM);
	END $f$;

	CREATE FUNCTION sfflow_aws.sdk_sfn_send_task_heartbeat(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		PERFORM sfflow_aws.check_answer(payload);
		PERFORM @extschema@.sf_send_task_heartbeat(payload->>'TaskToken');
		RETURN '{}';
	EXCEPTION WHEN SQLSTATE 'SF019' OR SQLSTATE 'SF020' OR SQLSTATE 'SF021' THEN
		PERFORM sfflow_aws.token_fail(SQLSTATE, SQLERRM);
	END $f$;
END $install$;
