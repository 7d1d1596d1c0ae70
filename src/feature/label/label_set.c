/*
 * label_set.c
 *		The labels of an execution as an object: what may be in it, and what a change makes of it.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "feature/label/label.h"

/* Refuse the name of a label that is empty or too long. */
bool
sf_label_check_name(const char *name, int len, SfError *error)
{
	if (len > 0 && pg_mbstrlen_with_len(name, len) <= SF_MAX_LABEL_NAME)
		return true;
	return sf_error_set(error, SF_ERR_RUNTIME, "the name of a label must have 1 to %d characters", SF_MAX_LABEL_NAME);
}

/* The value of a label as text; false: it can be none. */
static bool
value_text(const char *name, int name_len, const JsonbValue *value, JsonbValue *text, SfError *error)
{
	switch (value->type)
	{
		case jbvString:
			*text = *value;
			break;
		case jbvNumeric:
			sf_json_value_cstring(text, DatumGetCString(DirectFunctionCall1(numeric_out,
																			NumericGetDatum(value->val.numeric))));
			break;
		case jbvBool:
			sf_json_value_cstring(text, value->val.boolean ? "true" : "false");
			break;
		default:
			return sf_error_set(error, SF_ERR_RUNTIME,
								"the value of label \"%.*s\" must be a string, a number or a boolean, not %s",
								name_len, name, sf_json_type_name(value));
	}
	if (pg_mbstrlen_with_len(text->val.string.val, text->val.string.len) > SF_MAX_LABEL_VALUE)
		return sf_error_set(error, SF_ERR_RUNTIME, "the value of label \"%.*s\" has more than %d characters",
							name_len, name, SF_MAX_LABEL_VALUE);
	return true;
}

/* Check changes, and make one object of them: values as texts, and nulls. */
static bool
check_changes(const Jsonb *changes, Jsonb **checked, SfError *error)
{
	JsonbValue	root;
	SfJsonMember *members;
	int			n;

	sf_json_root(changes, &root);
	if (!sf_json_is_object(&root))
		return sf_error_set(error, SF_ERR_RUNTIME, "labels must be a JSON object");
	members = sf_json_members(&root, &n);
	for (int i = 0; i < n; i++)
	{
		const char *name = members[i].key.val.string.val;
		int			len = members[i].key.val.string.len;
		JsonbValue	text;

		if (!sf_label_check_name(name, len, error))
			return false;
		if (members[i].value.type == jbvNull)
			continue;
		if (!value_text(name, len, &members[i].value, &text, error))
			return false;
		members[i].value = text;
	}
	*checked = sf_json_object_of(members, n);
	return true;
}

/* An object without its members that are null; NULL: none is left. */
static Jsonb *
without_nulls(Jsonb *object)
{
	Jsonb	   *kept = DatumGetJsonbP(DirectFunctionCall1(jsonb_strip_nulls, JsonbPGetDatum(object)));

	return JB_ROOT_COUNT(kept) == 0 ? NULL : kept;
}

/*
 * Change labels (NULL: none): a value sets, null removes.  *result is NULL if none is left.  False: *error says what
 * cannot be a label.
 */
bool
sf_label_merge(const Jsonb *labels, const Jsonb *changes, Jsonb **result, SfError *error)
{
	Jsonb	   *checked = NULL;

	if (!check_changes(changes, &checked, error))
		return false;
	*result = without_nulls(labels == NULL ? checked : sf_json_merge(labels, checked));
	if (*result != NULL && JB_ROOT_COUNT(*result) > SF_MAX_LABELS)
		return sf_error_set(error, SF_ERR_RUNTIME, "an execution can have at most %d labels", SF_MAX_LABELS);
	return true;
}
