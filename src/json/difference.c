/*
 * difference.c
 *		What two documents differ in, by JSON pointer (RFC 6901).
 *
 * Members of objects are compared by key, elements of arrays by index.  What only one
 * document has is one difference, however much there is below it.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "json/json.h"

/* A comparison of two documents */
typedef struct Comparison
{
	SfJsonDifference visitor;
	void	   *arg;
	bool		over;			/* the visitor wants no more */
	StringInfoData pointer;		/* of what is compared now */
} Comparison;

/* Append a key of some bytes to a JSON pointer (RFC 6901). */
void
sf_json_append_pointer(StringInfo pointer, const char *key, int len)
{
	appendStringInfoChar(pointer, '/');
	for (int i = 0; i < len; i++)
	{
		if (key[i] == '~' || key[i] == '/')
			appendStringInfoString(pointer, key[i] == '~' ? "~0" : "~1");
		else
			appendStringInfoChar(pointer, key[i]);
	}
}

/* Shorten the pointer to what it was before a key or an index was appended. */
static void
shorten(StringInfo pointer, int len)
{
	pointer->len = len;
	pointer->data[len] = '\0';
}

static void compare(Comparison *comparison, const JsonbValue *before, const JsonbValue *after);

/* Compare the members of two objects that have a key of one of them; again: of the second one. */
static void
compare_members(Comparison *comparison, const JsonbValue *before, const JsonbValue *after, bool again)
{
	const JsonbValue *from = again ? after : before;
	const JsonbValue *other = again ? before : after;
	int			n;
	SfJsonMember *members = sf_json_members(from, &n);
	int			len = comparison->pointer.len;

	for (int i = 0; i < n && !comparison->over; i++)
	{
		const JsonbValue *key = &members[i].key;
		JsonbValue	there;
		bool		found = sf_json_member(other, key->val.string.val, key->val.string.len, &there);

		if (again && found)
			continue;			/* was compared already */
		sf_json_append_pointer(&comparison->pointer, key->val.string.val, key->val.string.len);
		compare(comparison, again ? NULL : &members[i].value,
				again ? &members[i].value : found ? &there : NULL);
		shorten(&comparison->pointer, len);
	}
	pfree(members);
}

/* Compare two arrays, element by element. */
static void
compare_elements(Comparison *comparison, const JsonbValue *before, const JsonbValue *after)
{
	int			n = Max(sf_json_count(before), sf_json_count(after));
	int			len = comparison->pointer.len;

	for (int i = 0; i < n && !comparison->over; i++)
	{
		JsonbValue	a,
					b;
		bool		in_a = sf_json_element(before, i, &a);
		bool		in_b = sf_json_element(after, i, &b);

		appendStringInfo(&comparison->pointer, "/%d", i);
		compare(comparison, in_a ? &a : NULL, in_b ? &b : NULL);
		shorten(&comparison->pointer, len);
	}
}

/* Compare two values; NULL: there is none. */
static void
compare(Comparison *comparison, const JsonbValue *before, const JsonbValue *after)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (before != NULL && after != NULL && sf_json_is_object(before) && sf_json_is_object(after))
	{
		compare_members(comparison, before, after, false);
		compare_members(comparison, before, after, true);
	}
	else if (before != NULL && after != NULL && sf_json_is_array(before) && sf_json_is_array(after))
		compare_elements(comparison, before, after);
	else if (before == NULL || after == NULL || !sf_json_value_is_equal(before, after))
		comparison->over = !comparison->visitor(comparison->pointer.data, before, after, comparison->arg);
}

/* Visit what two documents differ in, until the visitor wants no more. */
void
sf_json_differences(const Jsonb *before, const Jsonb *after, SfJsonDifference visitor, void *arg)
{
	Comparison	comparison = {.visitor = visitor,.arg = arg};
	JsonbValue	a,
				b;

	if (VARSIZE(before) == VARSIZE(after) && memcmp(before, after, VARSIZE(before)) == 0)
		return;
	sf_json_root(before, &a);
	sf_json_root(after, &b);
	initStringInfo(&comparison.pointer);
	compare(&comparison, &a, &b);
	pfree(comparison.pointer.data);
}
