-- What sf_aws_install makes for SQS and SNS: queues and topics, which deliver to machines, activities and functions.

-- Runs with the rights of its caller, to whom all that it makes belongs.
CREATE FUNCTION _sfflow.aws_install_sqs()
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $install$
BEGIN
	-- Queues have one target, topics any number.
	CREATE TABLE sfflow_aws.channel (
		kind text CHECK (kind IN ('queue', 'topic')),
		name text,
		targets text[] NOT NULL,
		PRIMARY KEY (kind, name)
	);

	CREATE FUNCTION sfflow_aws.create_queue(name text, target text)
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		INSERT INTO sfflow_aws.channel VALUES ('queue', name, ARRAY[sfflow_aws.check_target(target)])
	$f$;

	CREATE FUNCTION sfflow_aws.create_topic(name text, VARIADIC targets text[] DEFAULT '{}')
	RETURNS void LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		INSERT INTO sfflow_aws.channel
		SELECT 'topic', create_topic.name, coalesce(array_agg(sfflow_aws.check_target(target)), '{}')
			FROM unnest(targets) AS target
	$f$;

	-- Send a message to all targets of a channel; false: there is no such channel.
	CREATE FUNCTION sfflow_aws.send(channel_kind text, channel_name text, message jsonb) RETURNS boolean
		LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		channel_targets text[];
		target text;
	BEGIN
		SELECT c.targets INTO channel_targets FROM sfflow_aws.channel AS c WHERE c.kind = channel_kind
			AND c.name = channel_name;
		IF NOT FOUND THEN
			RETURN false;
		END IF;
		FOREACH target IN ARRAY channel_targets LOOP
			PERFORM sfflow_aws.deliver(target, message);
		END LOOP;
		RETURN true;
	END $f$;

	-- What a FIFO queue or topic adds to its response.
	CREATE FUNCTION sfflow_aws.sequence_number(channel_name text) RETURNS jsonb LANGUAGE sql
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT CASE WHEN channel_name LIKE '%.fifo'
			THEN jsonb_build_object('SequenceNumber',
				lpad((extract(epoch FROM clock_timestamp()) * 1000000)::bigint::text, 20, '0')) ELSE '{}' END
	$f$;

	-- What is wrong with the attributes of a message; NULL: nothing.
	CREATE FUNCTION sfflow_aws.attribute_problem(attributes jsonb) RETURNS text LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT format('The message attribute ''%s'' ', name) || CASE
			WHEN coalesce(type, '') = '' THEN 'must contain non-empty message attribute type.'
			WHEN type !~ '^(?:Binary|Number|String)'
				THEN 'has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.'
			ELSE format('must contain non-empty message attribute value for message attribute type ''%s''.', type) END
		FROM jsonb_each(CASE jsonb_typeof(attributes) WHEN 'object' THEN attributes ELSE '{}' END) AS a (name,
			attribute), LATERAL (SELECT attribute->>'DataType' AS type) AS t
		WHERE coalesce(type, '') !~ '^(?:Binary|Number|String)'
			OR coalesce(attribute->>CASE WHEN type ^@ 'Binary' THEN 'BinaryValue' ELSE 'StringValue' END, '') = ''
		ORDER BY name COLLATE "C" LIMIT 1
	$f$;

	-- A piece of what the digest of attributes is made of: its length, then itself.
	CREATE FUNCTION sfflow_aws.with_length(piece bytea) RETURNS bytea LANGUAGE sql IMMUTABLE
	RETURN int4send(length(piece)) || piece;

	-- The digest of the attributes of a message, as the service makes it; {} if there are none.
	CREATE FUNCTION sfflow_aws.attribute_digest(attributes jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
		SELECT CASE WHEN count(*) = 0 THEN '{}' ELSE jsonb_build_object('MD5OfMessageAttributes', md5(string_agg(
			sfflow_aws.with_length(convert_to(name, 'UTF8')) || sfflow_aws.with_length(convert_to(type, 'UTF8'))
				|| CASE WHEN type ^@ 'Binary'
				THEN '\x02' || sfflow_aws.with_length(decode(attribute->>'BinaryValue', 'base64'))
				ELSE '\x01' || sfflow_aws.with_length(convert_to(attribute->>'StringValue', 'UTF8')) END, ''
					ORDER BY name COLLATE "C"))) END
		FROM jsonb_each(CASE jsonb_typeof(attributes) WHEN 'object' THEN attributes ELSE '{}' END) AS a (name,
			attribute), LATERAL (SELECT attribute->>'DataType' AS type) AS t
	$f$;

	-- Refuse a message that SQS would refuse before it looks for the queue.
	CREATE FUNCTION sfflow_aws.check_message(payload jsonb) RETURNS void LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		is_fifo boolean := coalesce(payload->>'QueueUrl' LIKE '%.fifo', false);
		missing text := (SELECT member FROM unnest(ARRAY['QueueUrl', 'MessageBody'] || CASE WHEN is_fifo
			THEN ARRAY['MessageGroupId'] END) WITH ORDINALITY AS m (member, n)
			WHERE coalesce(payload->>member, '') = '' ORDER BY n LIMIT 1);
		delay numeric := CASE jsonb_typeof(payload->'DelaySeconds') WHEN 'number' THEN payload->'DelaySeconds' END;
		body text := payload->>'MessageBody';
		wrong_id text := (SELECT member FROM unnest(ARRAY['MessageGroupId', 'MessageDeduplicationId']) AS member
			WHERE payload->>member !~ '^[[:alnum:][:punct:]]{1,128}$' LIMIT 1);
		problem text := CASE
			WHEN missing IS NOT NULL THEN 'The request must contain the parameter ' || missing || '.'
			WHEN octet_length(body) > 1048576
				THEN 'One or more parameters are invalid. Reason: Message must be shorter than 1048576 bytes.'
			WHEN body ~ '[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]'
				THEN format('Invalid binary character ''#x%s'' was found in the message body, the set of allowed characters is #x9 | #xA | #xD | [#x20 to #xD7FF] | [#xE000 to #xFFFD] | [#x10000 to #x10FFFF]',
				upper(to_hex(ascii(substring(body FROM '[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]')))))
			WHEN wrong_id IS NOT NULL THEN format('Value %s for parameter %s is invalid. Reason: %s can only include alphanumeric and punctuation characters. 1 to 128 in length.', payload->>wrong_id, wrong_id, wrong_id)
			WHEN (is_fifo AND delay > 0) OR (NOT is_fifo AND payload->>'MessageDeduplicationId' IS NOT NULL)
				THEN format('Value %s for parameter %s is invalid. Reason: The request include parameter that is not valid for this queue type.',
					CASE WHEN is_fifo THEN delay::text ELSE payload->>'MessageDeduplicationId' END,
						CASE WHEN is_fifo THEN 'DelaySeconds' ELSE 'MessageDeduplicationId' END)
			WHEN delay NOT BETWEEN 0 AND 900
				THEN format('Value %s for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.', delay)
			WHEN (SELECT count(*) FROM jsonb_object_keys(CASE jsonb_typeof(payload->'MessageAttributes') WHEN 'object'
				THEN payload->'MessageAttributes' ELSE '{}' END)) > 10
				THEN format('Number of message attributes [%s] exceeds the allowed maximum [10].',
					(SELECT count(*) FROM jsonb_object_keys(payload->'MessageAttributes')))
			ELSE sfflow_aws.attribute_problem(payload->'MessageAttributes') END;
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail('SQS.AmazonSQSException', problem, 'AmazonSQS', CASE
				WHEN missing IS NOT NULL THEN 'MissingParameter' WHEN problem ^@ 'Invalid binary'
					THEN 'InvalidMessageContents' ELSE 'InvalidParameterValue' END);
		END IF;
	END $f$;

	CREATE FUNCTION sfflow_aws.sqs_send_message(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		body jsonb := payload->'MessageBody';
	BEGIN
		PERFORM sfflow_aws.check_message(payload);
		IF payload->>'QueueUrl' ~ '^https?://[^/]*/?$' THEN
			PERFORM @extschema@.sf_raise('SQS.SdkClientException',
				format('Unable to execute HTTP request: %s: Name or service not known',
					substring(payload->>'QueueUrl' FROM '//([^/:]*)')));
		ELSIF NOT sfflow_aws.send('queue', regexp_replace(payload->>'QueueUrl', '^.*[/:]', ''), body) THEN
			PERFORM sfflow_aws.fail('SQS.QueueDoesNotExistException', 'The specified queue does not exist.',
				'AmazonSQS', 'AWS.SimpleQueueService.NonExistentQueue');
		END IF;
		RETURN jsonb_build_object('MessageId', gen_random_uuid(),
			'MD5OfMessageBody', md5(CASE jsonb_typeof(body) WHEN 'string' THEN body #>> '{}' ELSE body::text END))
			|| sfflow_aws.attribute_digest(payload->'MessageAttributes')
				|| sfflow_aws.sequence_number(payload->>'QueueUrl') || sfflow_aws.metadata();
	END $f$;

	-- What is wrong with a message that has another text for each protocol; NULL: nothing.
	CREATE FUNCTION sfflow_aws.structure_problem(message text) RETURNS text LANGUAGE plpgsql IMMUTABLE
	SET search_path = pg_catalog, pg_temp AS $f$
	BEGIN
		RETURN CASE WHEN jsonb_typeof(message::jsonb) <> 'object'
			THEN 'Message Structure - JSON message body failed to parse'
			WHEN jsonb_typeof(message::jsonb->'default') IS DISTINCT FROM 'string'
				THEN 'Message Structure - No default entry in JSON message body' END;
	EXCEPTION WHEN data_exception THEN
		RETURN 'Message Structure - JSON message body failed to parse';
	END $f$;

	CREATE FUNCTION sfflow_aws.sns_publish(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
	SET search_path = pg_catalog, pg_temp AS $f$
	DECLARE
		topic text := coalesce(payload->>'TopicArn', payload->>'TargetArn');
		attribute text := sfflow_aws.attribute_problem(payload->'MessageAttributes');
		structure text := payload->>'MessageStructure';
		problem text := CASE
			WHEN coalesce(topic, '') = '' AND payload->>'PhoneNumber' IS NULL
				THEN 'TopicArn or TargetArn Reason: no value for required parameter'
			WHEN coalesce(payload->>'Message', '') = '' THEN 'Empty message'
			WHEN octet_length(payload->>'Message') > 262144 THEN 'Message too long'
			WHEN structure <> 'json' THEN 'MessageStructure'
			WHEN structure = 'json' THEN sfflow_aws.structure_problem(payload->>'Message')
			WHEN payload->>'Subject' = '' OR length(payload->>'Subject') > 100 OR payload->>'Subject' ~ '[[:cntrl:]]'
				THEN 'Subject'
			WHEN topic LIKE '%.fifo' AND coalesce(payload->>'MessageGroupId', '') = ''
				THEN 'The MessageGroupId parameter is required for FIFO topics' END;
	BEGIN
		IF problem IS NOT NULL THEN
			PERFORM sfflow_aws.fail('SNS.InvalidParameterException', 'Invalid parameter: ' || problem, 'AmazonSNS',
				'InvalidParameter');
		ELSIF attribute IS NOT NULL THEN
			PERFORM sfflow_aws.fail('SNS.InvalidParameterValueException', attribute, 'AmazonSNS',
				'ParameterValueInvalid');
		ELSIF NOT sfflow_aws.send('topic', regexp_replace(coalesce(topic, ''), '^.*:', ''), payload->'Message') THEN
			PERFORM sfflow_aws.fail('SNS.NotFoundException', 'Topic does not exist', 'AmazonSNS', 'NotFound', 404);
		END IF;
		RETURN jsonb_build_object('MessageId', gen_random_uuid()) || sfflow_aws.sequence_number(topic)
			|| sfflow_aws.metadata();
	END $f$;
END $install$;
