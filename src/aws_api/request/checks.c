/*
 * checks.c
 *		Check the members of a request by the table in members.h.
 *
 * A value of another type is an error of its own.  All other problems are collected,
 * and told together, as in the service, up to a limit: what a request makes of an error
 * must not grow with the request.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "aws_api/request/call.h"
#include "aws_api/request/members.h"
#include "base/settings.h"
#include "base/version/compat.h"

/* Most problems that an error lists; the rest of the request is not looked at */
#define MOST_PROBLEMS	10

/* Most characters of a value that an error shows: the service shows a long nextToken whole */
#define MOST_SHOWN		4000

typedef struct Member
{
	const char *name;
	SfMemberKind kind;
	int			least;
	int			greatest;
	const char *detail;
} Member;

static const Member members[] = {
#define MEMBER(name, kind, least, greatest, detail) {name, SF_MEMBER_##kind, least, greatest, detail},
	SF_MEMBER_LIST(MEMBER)
};

static const struct
{
	const char *printed;
	const char *regex;
}			patterns[] = {
#define PATTERN(printed, regex) {printed, regex},
	SF_PATTERN_LIST(PATTERN)
};

/* The problems that a request has, as the service lists them */
typedef struct Problems
{
	int			n;
	StringInfoData text;
} Problems;

static void check_members(Problems *problems, const char *list, const JsonbValue *object, const char *path);

/* Tell whether an error has no room for another problem. */
static bool
is_full(const Problems *problems)
{
	return problems->n == MOST_PROBLEMS;
}

/* Note that a member breaks a rule; shown is its value with quotes, NULL: it is a secret. */
static void
add_problem(Problems *problems, const char *path, const char *shown, const char *rule)
{
	if (is_full(problems))
		return;
	if (problems->n++ > 0)
		appendStringInfoString(&problems->text, "; ");
	appendStringInfo(&problems->text, "Value%s%s at '%s' failed to satisfy constraint: Member must %s",
					 shown == NULL ? "" : " ", shown == NULL ? "" : shown, path, rule);
}

/* Quote a value for an error, and cut it if it is long. */
static char *
quote(const char *text)
{
	int			len = strlen(text);
	int			shown = pg_mbcharcliplen(text, len, MOST_SHOWN);

	return psprintf("'%.*s%s'", shown, text, shown < len ? "..." : "");
}

/* Tell whether a member must not be shown. */
static bool
is_secret(const Member *member)
{
	return member->kind == SF_MEMBER_SECRET || member->kind == SF_MEMBER_PAYLOAD;
}

/* Tell whether a text is one of the values in a list. */
static bool
is_value(const char *values, const char *text)
{
	size_t		len = strlen(text);

	for (const char *p = values; p != NULL; p = strchr(p, ','))
	{
		p += strspn(p, ", ");
		if (strncmp(p, text, len) == 0 && (p[len] == ',' || p[len] == '\0'))
			return true;
	}
	return false;
}

/* Check a text against the pattern or the values that it may have. */
static void
check_form(Problems *problems, const Member *member, const char *path, const char *text, const char *shown)
{
	if (member->detail == NULL)
		return;
	for (size_t i = 0; i < lengthof(patterns); i++)
	{
		if (strcmp(patterns[i].printed, member->detail) != 0)
			continue;
		if (!DatumGetBool(DirectFunctionCall2Coll(textregexeq, C_COLLATION_OID, CStringGetTextDatum(text),
												  CStringGetTextDatum(patterns[i].regex))))
			add_problem(problems, path, shown,
						psprintf("satisfy regular expression pattern: %s", member->detail));
		return;
	}
	if (!is_value(member->detail, text))
		add_problem(problems, path, shown, psprintf("satisfy enum value set: [%s]", member->detail));
}

/* Check a text, and its length in characters; that of a payload counts in bytes. */
static void
check_text(Problems *problems, const Member *member, const char *path, const char *text)
{
	bool		is_payload = member->kind == SF_MEMBER_PAYLOAD;
	int			length = is_payload ? (int) strlen(text) : pg_mbstrlen(text);
	int			greatest = is_payload ? sf_setting_max_payload_bytes : member->greatest;
	char	   *shown = is_secret(member) ? NULL : quote(text);

	check_form(problems, member, path, text, shown);
	if (length < member->least)
		add_problem(problems, path, shown, psprintf("have length greater than or equal to %d", member->least));
	if (length > greatest)
		add_problem(problems, path, shown, psprintf("have length less than or equal to %d", greatest));
}

/* Check a number. */
static void
check_number(Problems *problems, const Member *member, const char *path, const JsonbValue *value)
{
	char	   *shown = quote(sf_json_to_cstring(sf_json_make(value)));
	double		number = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
															NumericGetDatum(value->val.numeric)));

	if (number < member->least)
		add_problem(problems, path, shown, psprintf("have value greater than or equal to %d", member->least));
	if (number > member->greatest)
		add_problem(problems, path, shown, psprintf("have value less than or equal to %d", member->greatest));
}

/* Name the type of a JSON value, as the service does. */
static const char *
name_value(const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvString:
			return "STRING_VALUE";
		case jbvNumeric:
			return "NUMBER_VALUE";
		case jbvBool:
			return value->val.boolean ? "TRUE_VALUE" : "FALSE_VALUE";
		default:
			return "NULL_VALUE";
	}
}

/* Refuse a value of another type than the member has. */
static void pg_attribute_noreturn()
refuse_type(const Member *member, const JsonbValue *value)
{
	static const char *const types[] = {
		[SF_MEMBER_TEXT] = "a String",
		[SF_MEMBER_SECRET] = "a String",
		[SF_MEMBER_PAYLOAD] = "a String",
		[SF_MEMBER_NUMBER] = "an Integer",
		[SF_MEMBER_REAL] = "a Float",
		[SF_MEMBER_FLAG] = "a Boolean",
		[SF_MEMBER_TEXTS] = NULL
	};

	if (sf_json_is_array(value))
		sf_refusal_raise(SF_REFUSAL_SERIALIZATION, "Start of list found where not expected");
	if (sf_json_is_object(value))
		sf_refusal_raise(SF_REFUSAL_SERIALIZATION, "Start of structure or map found where not expected.");
	if (types[member->kind] == NULL)
		sf_refusal_raise(SF_REFUSAL_SERIALIZATION, "Unexpected field type");
	sf_refusal_raise(SF_REFUSAL_SERIALIZATION, "%s can not be converted to %s", name_value(value),
					 types[member->kind]);
}

/* Tell whether a value has the type of a member. */
static bool
has_type(const Member *member, const JsonbValue *value)
{
	int64		number;

	switch (member->kind)
	{
		case SF_MEMBER_TEXT:
		case SF_MEMBER_SECRET:
		case SF_MEMBER_PAYLOAD:
			return value->type == jbvString;
		case SF_MEMBER_NUMBER:
			return value->type == jbvNumeric && sf_json_to_int64(value, &number);
		case SF_MEMBER_REAL:
			return value->type == jbvNumeric;
		case SF_MEMBER_FLAG:
			return value->type == jbvBool;
		case SF_MEMBER_OBJECT:
			return sf_json_is_object(value);
		case SF_MEMBER_LIST:
		case SF_MEMBER_TEXTS:
			return sf_json_is_array(value);
	}
	return false;
}

/* Find what is known of a member, by the first len characters of a text. */
static const Member *
describe_member(const char *name, size_t len)
{
	for (size_t i = 0; i < lengthof(members); i++)
		if (strncmp(members[i].name, name, len) == 0 && members[i].name[len] == '\0')
			return &members[i];
	elog(ERROR, "member \"%s\" of a request is not described", name);
}

/* Print a list as the service does: its elements without quotes, objects as "Name(member=value, …)". */
static char *
print_list(const Member *member, const JsonbValue *list)
{
	StringInfoData text;
	JsonbValue	element;

	initStringInfo(&text);
	appendStringInfoChar(&text, '[');
	for (JsonbIterator *it = sf_json_elements(list); sf_json_next(&it, &element);)
	{
		if (text.len > MOST_SHOWN * MAX_MULTIBYTE_CHAR_LEN)
			break;				/* quote() cuts the rest off */
		appendStringInfoString(&text, text.len == 1 ? "" : ", ");
		if (element.type == jbvString)
			appendBinaryStringInfo(&text, element.val.string.val, element.val.string.len);
		else if (strcmp(member->name, "routingConfiguration") == 0 && sf_json_is_object(&element))
		{
			Jsonb	   *route = sf_json_make(&element);
			Jsonb	   *weight = sf_json_get(route, "weight");
			char	   *arn = sf_json_get_cstring(route, "stateMachineVersionArn");

			appendStringInfo(&text, "RoutingConfigurationListItem(stateMachineVersionArn=%s, weight=%s)",
							 arn == NULL ? "null" : arn, weight == NULL ? "null" : sf_json_to_cstring(weight));
		}
	}
	appendStringInfoChar(&text, ']');
	return quote(text.data);
}

/* Check a text of a list of texts: the service tells of the whole list. */
static bool
is_bad_element(const Member *described, const JsonbValue *element)
{
	int			length;

	if (element->type != jbvString)
		refuse_type(described, element);
	length = pg_mbstrlen_with_len(element->val.string.val, element->val.string.len);
	return length < described->least || length > described->greatest;
}

/* Check a list of texts. */
static void
check_texts(Problems *problems, const Member *member, const char *path, const JsonbValue *list)
{
	const Member *described = describe_member(member->detail, strlen(member->detail));
	JsonbValue	element;
	bool		is_bad = false;

	for (JsonbIterator *it = sf_json_elements(list); sf_json_next(&it, &element);)
		is_bad |= is_bad_element(described, &element);
	if (is_bad)
		add_problem(problems, path, print_list(member, list),
					psprintf("satisfy constraint: [Member must have length less than or equal to %d, Member must have length greater than or equal to %d]",
							 described->greatest, described->least));
}

/* Check an element of a list of objects. */
static void
check_element(Problems *problems, const Member *member, const char *path, const JsonbValue *element)
{
	if (!sf_json_is_object(element))
		sf_refusal_raise(SF_REFUSAL_SERIALIZATION, "Unexpected field type");
	check_members(problems, member->detail, element, path);
}

/* Check a list of objects. */
static void
check_list(Problems *problems, const Member *member, const char *path, const JsonbValue *list)
{
	int			length = sf_json_count(list);
	int			n = 0;
	JsonbValue	element;

	if (length < member->least)
		add_problem(problems, path, print_list(member, list),
					psprintf("have length greater than or equal to %d", member->least));
	else if (length > member->greatest)
		add_problem(problems, path, print_list(member, list),
					psprintf("have length less than or equal to %d", member->greatest));
	else
		for (JsonbIterator *it = sf_json_elements(list); !is_full(problems) && sf_json_next(&it, &element);)
			check_element(problems, member, psprintf("%s.%d.member.", path, ++n), &element);
}

/* Check the value of a member. */
static void
check_value(Problems *problems, const Member *member, const char *path, const JsonbValue *value)
{
	if (!has_type(member, value))
		refuse_type(member, value);
	switch (member->kind)
	{
		case SF_MEMBER_TEXT:
		case SF_MEMBER_SECRET:
		case SF_MEMBER_PAYLOAD:
			check_text(problems, member, path, pnstrdup(value->val.string.val, value->val.string.len));
			break;
		case SF_MEMBER_NUMBER:
		case SF_MEMBER_REAL:
			check_number(problems, member, path, value);
			break;
		case SF_MEMBER_FLAG:
			break;
		case SF_MEMBER_OBJECT:
			check_members(problems, member->detail, value, psprintf("%s.", path));
			break;
		case SF_MEMBER_LIST:
			check_list(problems, member, path, value);
			break;
		case SF_MEMBER_TEXTS:
			check_texts(problems, member, path, value);
			break;
	}
}

/*
 * Check the members in a list such as "name! tags nextToken=listToken" of an object: !
 * marks those that must be there, and what follows = describes a member.  What the list
 * does not have is ignored; path is what stands before names in errors.
 */
static void
check_members(Problems *problems, const char *list, const JsonbValue *object, const char *path)
{
	for (const char *p = list + strspn(list, " "); *p != '\0'; p += strspn(p, "! "))
	{
		size_t		len = strcspn(p, " !=");
		char	   *name = pnstrdup(p, len);
		const Member *member;
		JsonbValue	value;

		p += p[len] == '=' ? len + 1 : 0;
		len = strcspn(p, " !");
		member = describe_member(p, len);
		p += len;
		if (sf_json_member(object, name, strlen(name), &value) && value.type != jbvNull)
			check_value(problems, member, psprintf("%s%s", path, name), &value);
		else if (*p == '!')
			add_problem(problems, psprintf("%s%s", path, name), is_secret(member) ? NULL : "null", "not be null");
	}
}

/* Refuse a request with a member that is missing or not valid. */
void
sf_request_check(SfCall *call)
{
	Problems	problems = {0};

	initStringInfo(&problems.text);
	check_members(&problems, call->operation->members, &call->request, "");
	if (problems.n > 0)
		sf_refusal_raise(SF_REFUSAL_VALIDATION, "%d validation error%s detected: %s", problems.n,
						 problems.n == 1 ? "" : "s", problems.text.data);
}
