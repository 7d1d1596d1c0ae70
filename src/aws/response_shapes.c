/*
 * response_shapes.c
 *		Compare a mocked result with the response of the mocked API.
 *
 * The shape of a response (shapes.c) is written in a small language:
 *
 *		s n b		string, number, boolean
 *		[T]			array of T
 *		<T>			object of T under any key
 *		{A:T,B!:T}	object with these members; B is always there
 *		*			any value
 *		@7			the shared shape number 7 of the service
 *
 * Bounds may follow: n0~100 is a number from 0 to 100, s1~ a string of at least one
 * character, [T]~10 an array of at most ten elements.  s(A|B) is one of some
 * strings, s/[a-z]+/ one that a regular expression matches as a whole; there "\" stands
 * before a character that would end it.
 *
 * Timestamps and binary data are strings in JSON.  Other members than those of
 * the shape are not looked at.  Only the result of a request-response integration
 * is its API's response.  Results of other integrations and of unknown APIs are
 * not checked.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "regex/regex.h"
#include "utils/float.h"
#include "utils/numeric.h"

#include "aws/services.h"
#include "aws/shapes.h"

/* A value on the way to which the check is, and where it stands */
typedef struct Path
{
	const struct Path *above;	/* NULL: this is the result */
	const char *key;			/* of a member; NULL: an element of an array */
	int			index;
	const char *field;			/* the member that messages name */
} Path;

/* A check on its way through shape and value */
typedef struct Check
{
	SfOperationShape shape;		/* of the operation */
	bool		required;		/* members marked "!" have to be there */
	SfMockProblem problem;		/* what is wrong, once something is */
} Check;

static const char *check_value(Check *check, const char *shape, const Path *path,
							   const JsonbValue *value);

/* --- complaints --- */

/* Print the JSON pointer of a path. */
static void
print_path(StringInfo out, const Path *path)
{
	if (path->above == NULL)
		return;
	print_path(out, path->above);
	if (path->key == NULL)
		appendStringInfo(out, "/%d", path->index);
	else
		appendStringInfo(out, "/%s", path->key);
}

/* Keep what is wrong at a path, if nothing was wrong before; detail NULL: nothing to add. */
static void
complain(Check *check, const Path *path, const char *problem, char *detail)
{
	StringInfoData where;

	if (check->problem.message != NULL)
		return;
	initStringInfo(&where);
	appendStringInfoString(&where, "At \"");
	print_path(&where, path);
	appendStringInfo(&where, "\" of the result.%s%s", detail ? " " : "", detail ? detail : "");
	check->problem.message = psprintf("Mock result schema validation error: %s", problem);
	check->problem.detail = where.data;
}

/* Keep that the field at a path is not what it should be. */
static void
complain_of_field(Check *check, const Path *path, const char *problem, char *detail)
{
	complain(check, path, psprintf("Field '%s' %s", path->field, problem), detail);
}

/* Return a value if it is what the shape asks for, else NULL. */
static const JsonbValue *
require(Check *check, const Path *path, const JsonbValue *value, bool fits, const char *kind)
{
	if (value == NULL || fits)
		return value;
	complain_of_field(check, path, psprintf("must be %s", kind), NULL);
	return NULL;
}

/* --- numbers, strings --- */

/* Read one bound of a shape, if it is there; returns what follows it. */
static const char *
read_bound(const char *shape, double *bound)
{
	char	   *end;

	if ((*shape < '0' || *shape > '9') && *shape != '-')
		return shape;
	*bound = strtod(shape, &end);
	return end;
}

/*
 * Check a number, a length or a count against the bounds at shape, if it has any;
 * returns what follows them.
 */
static const char *
check_bounds(Check *check, const char *shape, const Path *path, const double *value, bool is_length)
{
	double		least = -get_float8_infinity();
	double		most = get_float8_infinity();

	shape = read_bound(shape, &least);
	if (*shape != '~')
		return shape;
	shape = read_bound(shape + 1, &most);
	if (value != NULL && *value < least)
		complain_of_field(check, path, is_length ? "is smaller than the minimum length" : "is less than the minimum value",
						  psprintf("The minimum is %.17g.", least));
	else if (value != NULL && *value > most)
		complain_of_field(check, path, is_length ? "exceeds the maximum length" : "exceeds the maximum value",
						  psprintf("The maximum is %.17g.", most));
	return shape;
}

/* Check a number; returns what follows the shape. */
static const char *
check_number(Check *check, const char *shape, const Path *path, const JsonbValue *value)
{
	double		number;

	value = require(check, path, value, value && value->type == jbvNumeric, "a number");
	if (value != NULL)
		number = strtod(numeric_normalize(value->val.numeric), NULL);
	return check_bounds(check, shape, path, value ? &number : NULL, false);
}

/* Find the character that ends a part of a shape, where no "\" stands before it. */
static const char *
find_end(const char *shape, char end)
{
	while (*shape != end && *shape != '\0')
		shape += *shape == '\\' && shape[1] != '\0' ? 2 : 1;
	return shape;
}

/* Tell whether a string is a word of a shape, which ends at end; "\" stands before some characters. */
static bool
is_word(const char *word, const char *end, const JsonbValue *value)
{
	int			n = 0;

	for (; word < end; word++, n++)
	{
		word += *word == '\\';
		if (n == value->val.string.len || value->val.string.val[n] != *word)
			return false;
	}
	return n == value->val.string.len;
}

/* Check that a string is one of those up to the closing bracket; returns what follows. */
static const char *
check_enum(Check *check, const char *shape, const Path *path, const JsonbValue *value)
{
	const char *end = find_end(shape, ')');
	bool		known = false;

	for (const char *word = shape; value != NULL && !known && word <= end;)
	{
		const char *bar = Min(find_end(word, '|'), end);

		known = is_word(word, bar, value);
		word = bar + 1;
	}
	if (value != NULL && !known)
		complain_of_field(check, path, "is not an expected value",
						  psprintf("It must be one of %.*s.", (int) (end - shape), shape));
	return end + 1;
}

/* Tell whether a regular expression matches all of a string; true also where PostgreSQL cannot read it. */
static bool
matches(const char *pattern, int length, const JsonbValue *value)
{
	char	   *whole = psprintf("^(?:%.*s)$", length, pattern);
	pg_wchar   *expression = palloc(sizeof(pg_wchar) * (strlen(whole) + 1));
	pg_wchar   *text = palloc(sizeof(pg_wchar) * (value->val.string.len + 1));
	int			n = pg_mb2wchar_with_len(whole, expression, strlen(whole));
	regex_t		re;
	int			result;

	if (pg_regcomp(&re, expression, n, REG_ADVANCED | REG_NOSUB, C_COLLATION_OID) != REG_OKAY)
		return true;
	n = pg_mb2wchar_with_len(value->val.string.val, text, value->val.string.len);
	result = pg_regexec(&re, text, n, 0, NULL, 0, NULL, 0);
	pg_regfree(&re);
	return result != REG_NOMATCH;
}

/* Check that a string has the pattern up to "/"; returns what follows. */
static const char *
check_pattern(Check *check, const char *shape, const Path *path, const JsonbValue *value)
{
	const char *end = find_end(shape, '/');

	if (value != NULL && check->problem.message == NULL && !matches(shape, end - shape, value))
		complain_of_field(check, path, "does not match the expected pattern",
						  psprintf("The pattern is %.*s.", (int) (end - shape), shape));
	return end + 1;
}

/* Check a string; returns what follows the shape. */
static const char *
check_string(Check *check, const char *shape, const Path *path, const JsonbValue *value)
{
	double		length;

	value = require(check, path, value, value && value->type == jbvString, "a string");
	if (*shape == '(')
		return check_enum(check, shape + 1, path, value);
	if (value != NULL)
		length = pg_mbstrlen_with_len(value->val.string.val, value->val.string.len);
	shape = check_bounds(check, shape, path, value ? &length : NULL, true);
	return *shape == '/' ? check_pattern(check, shape + 1, path, value) : shape;
}

/* --- arrays, objects --- */

/* Check what each element of an array is; returns what follows the shape. */
static const char *
check_elements(Check *check, const char *shape, const Path *path, const JsonbValue *value)
{
	Path		inner = {path, NULL, 0, path->field};
	JsonbValue	element;
	double		count;

	value = require(check, path, value, value != NULL && sf_json_is_array(value), "an array");
	for (; value != NULL && sf_json_element(value, inner.index, &element); inner.index++)
		(void) check_value(check, shape, &inner, &element);
	count = inner.index;
	shape = check_value(check, shape, path, NULL) + 1;
	return check_bounds(check, shape, path, value ? &count : NULL, true);
}

/* List the members of an object. */
static int
list_members(const JsonbValue *object, SfJsonMember **members)
{
	*members = palloc(sizeof(SfJsonMember) * (sf_json_count(object) + 1));
	return sf_json_list_members(object, *members);
}

/* Make the path of a member. */
static Path
member_path(const Path *object, const SfJsonMember *member)
{
	const char *key = pnstrdup(member->key.val.string.val, member->key.val.string.len);
	Path		path = {object, key, 0, key};

	return path;
}

/* Check what each member of an object is, whatever its name; returns what follows the shape. */
static const char *
check_members(Check *check, const char *shape, const Path *path, const JsonbValue *value)
{
	SfJsonMember *members = NULL;
	double		count = 0;

	value = require(check, path, value, value != NULL && sf_json_is_object(value), "an object");
	if (value != NULL)
		count = list_members(value, &members);
	for (int i = 0; i < count; i++)
	{
		Path		inner = member_path(path, &members[i]);

		(void) check_value(check, shape, &inner, &members[i].value);
	}
	shape = check_value(check, shape, path, NULL) + 1;
	return check_bounds(check, shape, path, value ? &count : NULL, true);
}

/*
 * Tell whether a member has the name at shape, which ends with "!" or ":". Of names with capitals in
 * a row both forms count, that of Step Functions and that of the API: DbInstances, DBInstances.
 */
static bool
is_member(const SfJsonMember *member, const char *shape, size_t len)
{
	return member->key.val.string.len == (int) len && member->key.val.string.val[0] == shape[0] &&
		pg_strncasecmp(member->key.val.string.val, shape, len) == 0;
}

/* Report the members of an object that have to be there; shape begins with the first name. */
static void
check_required(Check *check, const char *shape, const Path *path, const SfJsonMember *members, int n)
{
	for (; check->required && check->problem.message == NULL; shape++)
	{
		size_t		len = strcspn(shape, "!:}");
		int			i = 0;

		if (len == 0)
			return;				/* it has no members */
		while (i < n && !is_member(&members[i], shape, len))
			i++;
		if (shape[len] == '!' && i == n)
			complain(check, path, psprintf("Required field '%.*s' is missing", (int) len, shape), NULL);
		shape += len + (shape[len] == '!') + 1;
		shape = check_value(check, shape, path, NULL);
		if (*shape == '}')
			return;
	}
}

/* Check the members of an object that the shape names; returns what follows the shape. */
static const char *
check_object(Check *check, const char *shape, const Path *path, const JsonbValue *value)
{
	SfJsonMember *members = NULL;
	int			n = 0;

	value = require(check, path, value, value != NULL && sf_json_is_object(value), "an object");
	if (value != NULL)
	{
		n = list_members(value, &members);
		check_required(check, shape, path, members, n);
	}
	while (*shape != '}')
	{
		size_t		len = strcspn(shape, "!:");
		int			i = 0;
		Path		inner = *path;

		while (i < n && !is_member(&members[i], shape, len))
			i++;
		if (i < n)
			inner = member_path(path, &members[i]);
		shape += len + (shape[len] == '!') + 1;
		shape = check_value(check, shape, &inner, i < n ? &members[i].value : NULL);
		shape += *shape == ',';
	}
	return shape + 1;
}

/* Check a value against a shared shape; returns what follows the reference. */
static const char *
check_shared(Check *check, const char *shape, const Path *path, const JsonbValue *value)
{
	char	   *end;
	long		number = strtol(shape, &end, 10);

	if (value != NULL && number < check->shape.nshared)
		(void) check_value(check, check->shape.shared[number], path, value);
	return end;
}

/*
 * Check a value (NULL: only find the end of the shape); returns what follows
 * the shape.
 */
static const char *
check_value(Check *check, const char *shape, const Path *path, const JsonbValue *value)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch (*shape++)
	{
		case '{':
			return check_object(check, shape, path, value);
		case '[':
			return check_elements(check, shape, path, value);
		case '<':
			return check_members(check, shape, path, value);
		case '@':
			return check_shared(check, shape, path, value);
		case 's':
			return check_string(check, shape, path, value);
		case 'n':
			return check_number(check, shape, path, value);
		case 'b':
			require(check, path, value, value && value->type == jbvBool, "a boolean");
			break;
		default:
			break;
	}
	return shape;
}

/* Compare a result with what the API of a resource returns. */
SfMockProblem
sf_response_check(const SfResource *resource, const Jsonb *result, bool all_members)
{
	Check		check = {.required = all_members};
	Path		path = {.field = "result"};
	JsonbValue	root;

	if (resource->integration == SF_INTEGRATION_REQUEST_RESPONSE)
		check.shape = sf_shape_find(resource);
	if (check.shape.text != NULL)
	{
		sf_json_root(result, &root);
		(void) check_value(&check, check.shape.text, &path, &root);
	}
	return check.problem;
}
