/*
 * form.c
 *		Forms: the part of JSON Schema that the outputs of people's tasks are checked against.
 *
 * A form is checked when its worklist is made; what is not known here is refused then, so that no form relies on a
 * keyword that does nothing.  Pointers are JSON pointers (RFC 6901), "" for the whole.
 */
#include "postgres.h"

#include "catalog/pg_collation_d.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "regex/regex.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "base/error/errors.h"
#include "base/version/compat.h"
#include "feature/human/human.h"

/* What a value of a keyword has to be */
typedef enum Shape
{
	ANY,						/* an annotation, or any value */
	STRING,
	TYPES,						/* the name of a type, or some of them */
	SCHEMA,
	SCHEMAS,					/* an object of them */
	NAMES,						/* strings */
	ARRAY,
	BOOLEAN,
	NUMBER,
	COUNT,						/* an integer, not negative */
	PATTERN,
	FORMAT
} Shape;

/* Keywords: symbol, name, what its value has to be */
#define KEYWORD_LIST(X) \
	X(TYPE, "type", TYPES) \
	X(PROPERTIES, "properties", SCHEMAS) \
	X(REQUIRED, "required", NAMES) \
	X(ADDITIONAL, "additionalProperties", BOOLEAN) \
	X(ITEMS, "items", SCHEMA) \
	X(ENUM, "enum", ARRAY) \
	X(CONST, "const", ANY) \
	X(MINIMUM, "minimum", NUMBER) \
	X(MAXIMUM, "maximum", NUMBER) \
	X(ABOVE, "exclusiveMinimum", NUMBER) \
	X(BELOW, "exclusiveMaximum", NUMBER) \
	X(MIN_LENGTH, "minLength", COUNT) \
	X(MAX_LENGTH, "maxLength", COUNT) \
	X(MIN_ITEMS, "minItems", COUNT) \
	X(MAX_ITEMS, "maxItems", COUNT) \
	X(PATTERN, "pattern", PATTERN) \
	X(FORMAT, "format", FORMAT) \
	X(TITLE, "title", STRING) \
	X(DESCRIPTION, "description", STRING) \
	X(DEFAULT, "default", ANY) \
	X(EXAMPLES, "examples", ARRAY) \
	X(SCHEMA, "$schema", STRING) \
	X(COMMENT, "$comment", STRING)

#define KEYWORD_ENUM(sym, name, shape) KEYWORD_##sym,
typedef enum Keyword
{
	KEYWORD_LIST(KEYWORD_ENUM)
	KEYWORD_COUNT
} Keyword;

typedef struct KeywordInfo
{
	const char *name;
	Shape		shape;
} KeywordInfo;

#define KEYWORD_INFO(sym, name, shape) {name, shape},
static const KeywordInfo keywords[] = {KEYWORD_LIST(KEYWORD_INFO)};

static const char *const types[] = {"null", "boolean", "object", "array", "number", "string", "integer"};
static const char *const formats[] = {"date", "date-time", "email"};

/* --- pointers --- */

/* The pointer of a member, or of an element, below another one. */
static char *
below(const char *pointer, const char *name)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, pointer);
	sf_json_append_pointer(&buf, name, (int) strlen(name));
	return buf.data;
}

/* The pointer of an element. */
static char *
element_of(const char *pointer, int i)
{
	return psprintf("%s/%d", pointer, i);
}

/* A string as a C string. */
static char *
text_of(const JsonbValue *value)
{
	return pnstrdup(value->val.string.val, value->val.string.len);
}

/* --- the form itself --- */

/* Refuse a form. */
static void pg_attribute_noreturn()
refuse_form(const char *pointer, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_FORM),
			 errmsg("the form is no JSON Schema that sfflow knows: %s", what),
			 errdetail("At \"%s\".", pointer),
			 errhint("docs/human-tasks.md lists the keywords.")));
}

/* Is a text among some? */
static bool
is_among(const char *text, const char *const *list, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(text, list[i]) == 0)
			return true;
	return false;
}

/* Check the name of a type. */
static void
check_type(const JsonbValue *value, const char *pointer)
{
	if (value->type != jbvString || !is_among(text_of(value), types, lengthof(types)))
		refuse_form(pointer, "a type is null, boolean, object, array, number, string or integer");
}

/* Compile a pattern: an error of it is one of the form. */
static bool
compile_pattern(void *arg)
{
	(void) RE_compile_and_cache(cstring_to_text(arg), REG_ADVANCED, C_COLLATION_OID);
	return true;
}

static void check_schema(const JsonbValue *schema, const char *pointer);

/* Check the elements of a keyword's value, or the values of its members. */
static void
check_parts(const JsonbValue *value, const char *pointer, Shape shape)
{
	JsonbIterator *it = sf_json_elements(value);
	JsonbValue	part;
	SfJsonMember *members;
	int			n = 0;

	if (shape == SCHEMAS)
	{
		members = sf_json_members(value, &n);
		for (int i = 0; i < n; i++)
			check_schema(&members[i].value, below(pointer, text_of(&members[i].key)));
		return;
	}
	while (sf_json_next(&it, &part))
	{
		char	   *here = element_of(pointer, n++);

		if (shape == TYPES)
			check_type(&part, here);
		else if (part.type != jbvString)
			refuse_form(here, "the name of a property is a string");
	}
}

/* Check a pattern. */
static void
check_pattern(const JsonbValue *value, const char *pointer)
{
	ErrorData  *error = sf_subtransaction_run(compile_pattern, NULL, text_of(value));

	if (error != NULL)
		refuse_form(pointer, error->message);
}

/* Check the value of a keyword. */
static void
check_value(const KeywordInfo *keyword, const JsonbValue *value, const char *pointer)
{
	int64		count;

	switch (keyword->shape)
	{
		case ANY:
			return;
		case STRING:
		case PATTERN:
		case FORMAT:
			if (value->type != jbvString)
				refuse_form(pointer, "the value is no string");
			if (keyword->shape == PATTERN)
				check_pattern(value, pointer);
			if (keyword->shape == FORMAT && !is_among(text_of(value), formats, lengthof(formats)))
				refuse_form(pointer, "a format is date, date-time or email");
			return;
		case BOOLEAN:
			if (value->type != jbvBool)
				refuse_form(pointer, "the value is neither true nor false");
			return;
		case NUMBER:
			if (value->type != jbvNumeric)
				refuse_form(pointer, "the value is no number");
			return;
		case COUNT:
			if (!sf_json_to_int64(value, &count) || count < 0)
				refuse_form(pointer, "the value is no integer from 0 on");
			return;
		case SCHEMA:
			check_schema(value, pointer);
			return;
		case SCHEMAS:
			if (!sf_json_is_object(value))
				refuse_form(pointer, "the value is no object");
			check_parts(value, pointer, SCHEMAS);
			return;
		case TYPES:
			if (!sf_json_is_array(value))
			{
				check_type(value, pointer);
				return;
			}
			pg_fallthrough;
		case NAMES:
		case ARRAY:
			if (!sf_json_is_array(value))
				refuse_form(pointer, "the value is no array");
			if (keyword->shape != ARRAY)
				check_parts(value, pointer, keyword->shape);
			return;
	}
}

/* Find a keyword. */
static const KeywordInfo *
find_keyword(const char *name)
{
	for (int i = 0; i < KEYWORD_COUNT; i++)
		if (strcmp(name, keywords[i].name) == 0)
			return &keywords[i];
	return NULL;
}

/* Check a schema, which the form is or has in it. */
static void
check_schema(const JsonbValue *schema, const char *pointer)
{
	SfJsonMember *members;
	int			n;

	check_stack_depth();
	if (!sf_json_is_object(schema))
		refuse_form(pointer, "a schema is an object");
	members = sf_json_members(schema, &n);
	for (int i = 0; i < n; i++)
	{
		char	   *name = text_of(&members[i].key);
		const KeywordInfo *keyword = find_keyword(name);

		if (keyword == NULL)
			refuse_form(below(pointer, name), psprintf("the keyword \"%s\" is not supported", name));
		check_value(keyword, &members[i].value, below(pointer, name));
	}
}

/* Raise unless sfflow knows all that a form says. */
void
sf_form_check(const Jsonb *form)
{
	JsonbValue	root;

	sf_json_root(form, &root);
	check_schema(&root, "");
}

/* --- outputs --- */

/* What is wrong with an output, and where */
typedef struct Refusal
{
	char	   *what;			/* NULL: nothing so far */
	char	   *pointer;
} Refusal;

/* Say what is wrong; returns false. */
static bool
wrong(Refusal *refusal, const char *pointer, char *what)
{
	refusal->what = what;
	refusal->pointer = pstrdup(pointer);
	return false;
}

/* The value of a keyword; false: the schema does not have it. */
static bool
get(const JsonbValue *schema, Keyword keyword, JsonbValue *out)
{
	return sf_json_member(schema, keywords[keyword].name, (int) strlen(keywords[keyword].name), out);
}

/* Has a number no fraction? */
static bool
is_integer(const JsonbValue *value)
{
	Datum		number = NumericGetDatum(value->val.numeric);

	return DatumGetBool(DirectFunctionCall2(numeric_eq, number, DirectFunctionCall1(numeric_floor, number)));
}

/* Is a value of a type? */
static bool
is_of_type(const JsonbValue *value, const char *type)
{
	if (strcmp(type, "integer") == 0)
		return value->type == jbvNumeric && is_integer(value);
	return strcmp(type, sf_json_type_name(value)) == 0;
}

/* Is a value of one of the types that a schema wants? */
static bool
has_type(const JsonbValue *wanted, const JsonbValue *value)
{
	JsonbIterator *it = sf_json_elements(wanted);
	JsonbValue	type;

	if (wanted->type == jbvString)
		return is_of_type(value, text_of(wanted));
	while (sf_json_next(&it, &type))
		if (is_of_type(value, text_of(&type)))
			return true;
	return false;
}

/* Is a value one of an array? */
static bool
is_element(const JsonbValue *array, const JsonbValue *value)
{
	JsonbIterator *it = sf_json_elements(array);
	JsonbValue	element;

	while (sf_json_next(&it, &element))
		if (sf_json_value_is_equal(&element, value))
			return true;
	return false;
}

/* JSON text of a value, for a message. */
static char *
shown(const JsonbValue *value)
{
	return sf_json_excerpt(sf_json_make(value));
}

/* Check a number. */
static bool
check_number(const JsonbValue *schema, const JsonbValue *value, const char *pointer, Refusal *refusal)
{
	static const struct
	{
		Keyword		keyword;
		bool		is_least;	/* a value below it is wrong; else one above it */
		bool		is_exclusive;	/* so is the bound itself */
		const char *what;
	}			bounds[] = {
		{KEYWORD_MINIMUM, true, false, "is less than %s"},
		{KEYWORD_MAXIMUM, false, false, "is greater than %s"},
		{KEYWORD_ABOVE, true, true, "is not greater than %s"},
		{KEYWORD_BELOW, false, true, "is not less than %s"},
	};
	JsonbValue	bound;

	for (size_t i = 0; i < lengthof(bounds); i++)
	{
		int			c;

		if (!get(schema, bounds[i].keyword, &bound))
			continue;
		c = DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(value->val.numeric),
											  NumericGetDatum(bound.val.numeric)));
		if ((bounds[i].is_least ? c < 0 : c > 0) || (c == 0 && bounds[i].is_exclusive))
			return wrong(refusal, pointer, psprintf(bounds[i].what, shown(&bound)));
	}
	return true;
}

/* Check how many characters, or elements, there are. */
static bool
check_count(const JsonbValue *schema, Keyword least, Keyword most, int64 count, const char *unit, const char *pointer,
			Refusal *refusal)
{
	JsonbValue	bound;
	int64		limit;

	if (get(schema, least, &bound) && sf_json_to_int64(&bound, &limit) && count < limit)
		return wrong(refusal, pointer, psprintf("has fewer than " INT64_FORMAT " %s", limit, unit));
	if (get(schema, most, &bound) && sf_json_to_int64(&bound, &limit) && count > limit)
		return wrong(refusal, pointer, psprintf("has more than " INT64_FORMAT " %s", limit, unit));
	return true;
}

/* Is a text a date, a time, or an address? */
static bool
has_format(const char *text, const char *format)
{
	TimestampTz ignored;
	const char *at = strchr(text, '@');

	if (strcmp(format, "date") == 0)
		return strlen(text) == 10 && sf_timestamp_parse(psprintf("%sT00:00:00Z", text), 20, &ignored);
	if (strcmp(format, "date-time") == 0)
		return sf_timestamp_parse(text, (int) strlen(text), &ignored);
	return at != NULL && at != text && at[1] != '\0' && strchr(at + 1, '@') == NULL &&
		strpbrk(text, " \t\r\n") == NULL;
}

/* Check a string. */
static bool
check_string(const JsonbValue *schema, const JsonbValue *value, const char *pointer, Refusal *refusal)
{
	JsonbValue	wanted;

	if (!check_count(schema, KEYWORD_MIN_LENGTH, KEYWORD_MAX_LENGTH,
					 pg_mbstrlen_with_len(value->val.string.val, value->val.string.len), "characters", pointer,
					 refusal))
		return false;
	if (get(schema, KEYWORD_PATTERN, &wanted) &&
		!RE_compile_and_execute(cstring_to_text(text_of(&wanted)), value->val.string.val, value->val.string.len,
								REG_ADVANCED,
								C_COLLATION_OID, 0, NULL))
		return wrong(refusal, pointer, psprintf("does not match the pattern %s", shown(&wanted)));
	if (get(schema, KEYWORD_FORMAT, &wanted) && !has_format(text_of(value), text_of(&wanted)))
		return wrong(refusal, pointer, psprintf("is no %s", text_of(&wanted)));
	return true;
}

static bool check_output(const JsonbValue *schema, const JsonbValue *value, const char *pointer, Refusal *refusal);

/* Check an array. */
static bool
check_array(const JsonbValue *schema, const JsonbValue *value, const char *pointer, Refusal *refusal)
{
	JsonbIterator *it = sf_json_elements(value);
	JsonbValue	items;
	JsonbValue	element;

	if (!check_count(schema, KEYWORD_MIN_ITEMS, KEYWORD_MAX_ITEMS, sf_json_count(value), "elements", pointer, refusal))
		return false;
	if (get(schema, KEYWORD_ITEMS, &items))
		for (int i = 0; sf_json_next(&it, &element); i++)
			if (!check_output(&items, &element, element_of(pointer, i), refusal))
				return false;
	return true;
}

/* Check whether an object has the members that it must have. */
static bool
check_required(const JsonbValue *schema, const JsonbValue *value, const char *pointer, Refusal *refusal)
{
	JsonbIterator *it;
	JsonbValue	required;
	JsonbValue	name;
	JsonbValue	ignored;

	if (!get(schema, KEYWORD_REQUIRED, &required))
		return true;
	it = sf_json_elements(&required);
	while (sf_json_next(&it, &name))
		if (!sf_json_member(value, name.val.string.val, name.val.string.len, &ignored))
			return wrong(refusal, below(pointer, text_of(&name)), "is missing");
	return true;
}

/* Check an object. */
static bool
check_object(const JsonbValue *schema, const JsonbValue *value, const char *pointer, Refusal *refusal)
{
	JsonbValue	properties;
	JsonbValue	additional;
	bool		has_properties = get(schema, KEYWORD_PROPERTIES, &properties);
	bool		others = !get(schema, KEYWORD_ADDITIONAL, &additional) || additional.val.boolean;
	SfJsonMember *members;
	int			n;

	if (!check_required(schema, value, pointer, refusal))
		return false;
	members = sf_json_members(value, &n);
	for (int i = 0; i < n; i++)
	{
		const JsonbValue *key = &members[i].key;
		char	   *here = below(pointer, text_of(key));
		JsonbValue	property;

		if (!has_properties || !sf_json_member(&properties, key->val.string.val, key->val.string.len, &property))
		{
			if (!others)
				return wrong(refusal, here, "is not in the form");
		}
		else if (!check_output(&property, &members[i].value, here, refusal))
			return false;
	}
	return true;
}

/* Check a value against a schema; false: *refusal says what is wrong. */
static bool
check_output(const JsonbValue *schema, const JsonbValue *value, const char *pointer, Refusal *refusal)
{
	JsonbValue	wanted;

	check_stack_depth();
	if (get(schema, KEYWORD_TYPE, &wanted) && !has_type(&wanted, value))
		return wrong(refusal, pointer, psprintf("is not of type %s", shown(&wanted)));
	if (get(schema, KEYWORD_ENUM, &wanted) && !is_element(&wanted, value))
		return wrong(refusal, pointer, psprintf("is none of %s", shown(&wanted)));
	if (get(schema, KEYWORD_CONST, &wanted) && !sf_json_value_is_equal(&wanted, value))
		return wrong(refusal, pointer, psprintf("is not %s", shown(&wanted)));
	if (value->type == jbvNumeric)
		return check_number(schema, value, pointer, refusal);
	if (value->type == jbvString)
		return check_string(schema, value, pointer, refusal);
	if (sf_json_is_array(value))
		return check_array(schema, value, pointer, refusal);
	return !sf_json_is_object(value) || check_object(schema, value, pointer, refusal);
}

/* Say what is wrong with an output, and at which pointer of it; NULL: nothing. */
char *
sf_form_refuses(const Jsonb *form, const Jsonb *output, char **pointer)
{
	Refusal		refusal = {NULL, NULL};
	JsonbValue	schema;
	JsonbValue	root;

	sf_json_root(form, &schema);
	sf_json_root(output, &root);
	(void) check_output(&schema, &root, "", &refusal);
	*pointer = refusal.pointer;
	return refusal.what;
}
