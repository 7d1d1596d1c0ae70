/*
 * response_shapes.c
 *		Compare a mocked result with the response of the mocked API.
 *
 * response_list.h lists the known APIs with the shape of their response, written
 * in a small language:
 *
 *		s n b		string, number, boolean
 *		s1-64		string with 1 to 64 characters; either bound may be absent
 *		s(A|B)		string that is one of these
 *		n0-100		number from 0 to 100; either bound may be absent
 *		o *			any object, any value
 *		v			an AttributeValue of DynamoDB
 *		[T]			array of T
 *		<T>			object of T under any key
 *		{A:T,B!:T}	object with these members; B is always there
 *
 * Timestamps and binary data are strings in JSON.  Other members than those of
 * the shape are not looked at.  Only the result of a request-response integration
 * is its API's response.  Results of other integrations and of unknown APIs are
 * not checked.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/numeric.h"

#include "aws/response_list.h"
#include "aws/services.h"

#define ATTRIBUTE_VALUE \
	"{S:s,N:s,B:s,SS:[s],NS:[s],BS:[s],M:<v>,L:[v],NULL:b,BOOL:b}"

static const struct
{
	const char *service;
	const char *action;
	const char *shape;
}			responses[] = {
#define RESPONSE(service, action, shape) {service, action, shape},
	SF_RESPONSE_LIST(RESPONSE)
};

/* A check on its way through shape and value */
typedef struct Check
{
	bool		required;		/* members marked "!" have to be there */
	const char *problem;		/* what is wrong, once something is */
} Check;

static const char *check_value(Check *check, const char *shape, const char *name,
							   const JsonbValue *value);

/* Keep what is wrong with a member, if nothing was wrong before. */
static void
complain(Check *check, const char *name, const char *problem)
{
	if (check->problem == NULL)
		check->problem = psprintf("Mock result schema validation error: Field '%s' %s",
								  name, problem);
}

/* Return a value if it is what the shape asks for, else NULL. */
static const JsonbValue *
require(Check *check, const char *name, const JsonbValue *value, bool fits, const char *kind)
{
	if (value == NULL || fits)
		return value;
	complain(check, name, psprintf("must be %s", kind));
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
			if (value != NULL && !found && check->required)
				complain(check, field, "is required");
			shape++;
		}
		shape = check_value(check, shape + 1, field, found ? &member : NULL);
		if (*shape++ == '}')
			return shape;
	}
}

/* Read one bound of a shape, if it is there; returns what follows it. */
static const char *
read_bound(const char *shape, int *bound)
{
	char	   *end;

	if (*shape < '0' || *shape > '9')
		return shape;
	*bound = strtol(shape, &end, 10);
	return end;
}

/*
 * Check a number, or the length of a string, against the bounds at shape, if it
 * has any; returns what follows them.
 */
static const char *
check_bounds(Check *check, const char *shape, const char *name,
			 const double *value, const char *what)
{
	int			least = PG_INT32_MIN;
	int			most = PG_INT32_MAX;

	shape = read_bound(shape, &least);
	if (*shape != '-')
		return shape;
	shape = read_bound(shape + 1, &most);
	if (value != NULL && *value < least)
		complain(check, name, psprintf("must %s at least %d", what, least));
	else if (value != NULL && *value > most)
		complain(check, name, psprintf("must %s at most %d", what, most));
	return shape;
}

/* Check a number; returns what follows the shape. */
static const char *
check_number(Check *check, const char *shape, const char *name,
			 const JsonbValue *value)
{
	double		number;

	value = require(check, name, value, value && value->type == jbvNumeric, "a number");
	if (value != NULL)
		number = strtod(numeric_normalize(value->val.numeric), NULL);
	return check_bounds(check, shape, name, value ? &number : NULL, "be");
}

/* Check that a string is one of those up to the closing bracket; returns what follows. */
static const char *
check_enum(Check *check, const char *shape, const char *name,
		   const JsonbValue *value)
{
	const char *end = strchr(shape, ')');
	const char *word = shape;
	bool		known = false;

	while (value != NULL && !known && word <= end)
	{
		int			length = strcspn(word, "|)");

		known = length == value->val.string.len &&
			memcmp(word, value->val.string.val, length) == 0;
		word += length + 1;
	}
	if (value != NULL && !known)
		complain(check, name, psprintf("is not an expected value. It must be one of %.*s",
									   (int) (end - shape), shape));
	return end + 1;
}

/* Check a string; returns what follows the shape. */
static const char *
check_string(Check *check, const char *shape, const char *name,
			 const JsonbValue *value)
{
	double		length;

	value = require(check, name, value, value && value->type == jbvString, "a string");
	if (*shape == '(')
		return check_enum(check, shape + 1, name, value);
	if (value != NULL)
		length = pg_mbstrlen_with_len(value->val.string.val, value->val.string.len);
	return check_bounds(check, shape, name, value ? &length : NULL, "have a length of");
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
			return check_string(check, shape + 1, name, value);
		case 'n':
			return check_number(check, shape + 1, name, value);
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
	const char *api;
	Check		check = {.required = all_members};
	JsonbValue	root;

	if (resource->integration != SF_INTEGRATION_REQUEST_RESPONSE ||
		strstr(resource->text, ":states:::") == NULL)
		return NULL;
	/* an API is listed under both names only if its responses differ */
	api = strncmp(service, "aws-sdk:", 8) == 0 ? service + 8 : service;
	for (size_t i = 0; i < lengthof(responses); i++)
	{
		if ((strcmp(responses[i].service, service) != 0 &&
			 strcmp(responses[i].service, api) != 0) ||
			strcmp(responses[i].action, resource->action) != 0)
			continue;
		sf_json_root(result, &root);
		(void) check_value(&check, responses[i].shape, "result", &root);
		break;
	}
	return check.problem;
}
