/*
 * response_shapes.c
 *		Compare a mocked result with the response of the mocked API.
 *
 * A table lists the known APIs with the shape of their response, written in a
 * small language:
 *
 *		s n b		string, number, boolean
 *		o *			any object, any value
 *		v			an AttributeValue of DynamoDB
 *		[T]			array of T
 *		<T>			object of T under any key
 *		{A:T,B!:T}	object with these members; B is always there
 *
 * Only the result of a request-response integration is its API's response.
 * Results of other integrations and of unknown APIs are not checked.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "aws/services.h"

#define UNITS		"{CapacityUnits:n,ReadCapacityUnits:n,WriteCapacityUnits:n}"
#define CONSUMED \
	"ConsumedCapacity:{TableName:s,CapacityUnits:n,ReadCapacityUnits:n," \
	"WriteCapacityUnits:n,Table:" UNITS ",LocalSecondaryIndexes:<" UNITS ">," \
	"GlobalSecondaryIndexes:<" UNITS ">}"
#define WRITTEN \
	"{Attributes:<v>," CONSUMED \
	",ItemCollectionMetrics:{ItemCollectionKey:<v>,SizeEstimateRangeGB:[n]}}"
#define ATTRIBUTE_VALUE \
	"{S:s,N:s,B:s,SS:[s],NS:[s],BS:[s],M:<v>,L:[v],NULL:b,BOOL:b}"

static const struct
{
	const char *service;
	const char *action;
	const char *shape;
}			responses[] = {
	{"batch", "submitJob", "{JobArn:s,JobName!:s,JobId!:s}"},
	{"dynamodb", "deleteItem", WRITTEN},
	{"dynamodb", "getItem", "{Item:<v>," CONSUMED "}"},
	{"dynamodb", "putItem", WRITTEN},
	{"dynamodb", "query", "{Items:[<v>],Count:n,ScannedCount:n,LastEvaluatedKey:<v>," CONSUMED "}"},
	{"dynamodb", "scan", "{Items:[<v>],Count:n,ScannedCount:n,LastEvaluatedKey:<v>," CONSUMED "}"},
	{"dynamodb", "updateItem", WRITTEN},
	{"ecs", "runTask", "{Tasks:[o],Failures:[{Arn:s,Reason:s,Detail:s}]}"},
	{"events", "putEvents", "{FailedEntryCount:n,Entries:[{EventId:s,ErrorCode:s,ErrorMessage:s}]}"},
	{"glue", "startJobRun", "{JobRunId:s}"},
	{"lambda", "invoke", "{StatusCode:n,FunctionError:s,LogResult:s,Payload:*,ExecutedVersion:s}"},
	{"sfn", "startExecution", "{ExecutionArn!:s,StartDate!:s}"},
	{"sns", "publish", "{MessageId:s,SequenceNumber:s}"},
	{"sqs", "sendMessage",
		"{MD5OfMessageBody:s,MD5OfMessageAttributes:s,MD5OfMessageSystemAttributes:s,"
	"MessageId:s,SequenceNumber:s}"},
	{"states", "startExecution", "{ExecutionArn!:s,StartDate!:s}"},
};

/* A check on its way through shape and value */
typedef struct Check
{
	bool		required;		/* members marked "!" have to be there */
	const char *problem;		/* what is wrong, once something is */
} Check;

static const char *check_value(Check *check, const char *shape, const char *name,
							   const JsonbValue *value);

/* Return a value if it is what the shape asks for, else NULL. */
static const JsonbValue *
require(Check *check, const char *name, const JsonbValue *value, bool fits, const char *kind)
{
	if (value == NULL || fits)
		return value;
	if (check->problem == NULL)
		check->problem = psprintf("Mock result schema validation error: Field '%s' must be %s",
								  name, kind);
	return NULL;
}

/* Return a value if it is an object, else NULL. */
static const JsonbValue *
require_object(Check *check, const char *name, const JsonbValue *value)
{
	return require(check, name, value, value != NULL && sf_json_is_object(value), "an object");
}

/* Check what each element of an array is; returns what follows the shape. */
static const char *
check_elements(Check *check, const char *shape, const char *name,
			   const JsonbValue *value)
{
	JsonbValue	element;

	value = require(check, name, value, value != NULL && sf_json_is_array(value), "an array");
	for (int i = 0; value != NULL && sf_json_element(value, i, &element); i++)
		(void) check_value(check, shape, name, &element);
	return check_value(check, shape, name, NULL) + 1;
}

/* Check what each member of an object is, whatever its name. */
static const char *
check_members(Check *check, const char *shape, const char *name,
			  const JsonbValue *value)
{
	SfJsonMember *members;
	int			n;

	value = require_object(check, name, value);
	if (value != NULL)
	{
		members = palloc(sizeof(SfJsonMember) * (sf_json_count(value) + 1));
		n = sf_json_list_members(value, members);
		for (int i = 0; i < n; i++)
			(void) check_value(check, shape,
							   pnstrdup(members[i].key.val.string.val,
										members[i].key.val.string.len),
							   &members[i].value);
	}
	return check_value(check, shape, name, NULL) + 1;
}

/* Check the members of an object that the shape names. */
static const char *
check_object(Check *check, const char *shape, const char *name,
			 const JsonbValue *value)
{
	JsonbValue	member;

	value = require_object(check, name, value);
	for (;;)
	{
		size_t		len = strcspn(shape, "!:");
		char	   *field = pnstrdup(shape, len);
		bool		found = value != NULL &&
			sf_json_member(value, field, len, &member);

		shape += len;
		if (*shape == '!')
		{
			if (value != NULL && !found && check->required && check->problem == NULL)
				check->problem = psprintf("Mock result schema validation error: Field '%s' is required",
										  field);
			shape++;
		}
		shape = check_value(check, shape + 1, field, found ? &member : NULL);
		if (*shape++ == '}')
			return shape;
	}
}

/*
 * Check a value (NULL: only find the end of the shape); returns what follows
 * the shape.
 */
static const char *
check_value(Check *check, const char *shape, const char *name,
			const JsonbValue *value)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch (*shape)
	{
		case '{':
			return check_object(check, shape + 1, name, value);
		case '[':
			return check_elements(check, shape + 1, name, value);
		case '<':
			return check_members(check, shape + 1, name, value);
		case 'v':
			if (value != NULL)
				(void) check_value(check, ATTRIBUTE_VALUE, name, value);
			break;
		case 's':
			require(check, name, value, value && value->type == jbvString, "a string");
			break;
		case 'n':
			require(check, name, value, value && value->type == jbvNumeric, "a number");
			break;
		case 'b':
			require(check, name, value, value && value->type == jbvBool, "a boolean");
			break;
		case 'o':
			require_object(check, name, value);
			break;
		default:
			break;
	}
	return shape + 1;
}

/* Compare a result with what the API of a resource returns. */
const char *
sf_response_check(const SfResource *resource, const Jsonb *result, bool all_members)
{
	const char *service = resource->service;
	Check		check = {.required = all_members};
	JsonbValue	root;

	if (resource->integration != SF_INTEGRATION_REQUEST_RESPONSE ||
		strstr(resource->text, ":states:::") == NULL)
		return NULL;
	if (strncmp(service, "aws-sdk:", 8) == 0)
		service += 8;
	for (size_t i = 0; i < lengthof(responses); i++)
	{
		if (strcmp(responses[i].service, service) != 0 ||
			strcmp(responses[i].action, resource->action) != 0)
			continue;
		sf_json_root(result, &root);
		(void) check_value(&check, responses[i].shape, "result", &root);
		break;
	}
	return check.problem;
}
