/*
 * build.c
 *		Making jsonb: scalars, objects and arrays piece by piece, merging.
 */
#include "postgres.h"

#include "json/json.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* Make a document of any value; containers inside another document are copied. */
Jsonb *
sf_json_make(const JsonbValue *v)
{
	return JsonbValueToJsonb((JsonbValue *) v);
}

/* Parse JSON text; ereports as the input function of jsonb does. */
Jsonb *
sf_json_from_cstring(const char *text)
{
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in,
											  CStringGetDatum(text)));
}

/* Make a value of a C string, which has to outlive it. */
void
sf_json_value_cstring(JsonbValue *out, const char *text)
{
	out->type = jbvString;
	out->val.string.val = (char *) text;
	out->val.string.len = strlen(text);
}

/* Make a value of an integer. */
void
sf_json_value_int(JsonbValue *out, int64 value)
{
	out->type = jbvNumeric;
	out->val.numeric = int64_to_numeric(value);
}

/* Make a JSON string. */
Jsonb *
sf_json_string(const char *text)
{
	JsonbValue	v;

	sf_json_value_cstring(&v, text);
	return sf_json_make(&v);
}

/* Make a JSON number. */
Jsonb *
sf_json_int(int64 value)
{
	JsonbValue	v;

	sf_json_value_int(&v, value);
	return sf_json_make(&v);
}

/* Make true or false. */
Jsonb *
sf_json_bool(bool value)
{
	JsonbValue	v;

	v.type = jbvBool;
	v.val.boolean = value;
	return sf_json_make(&v);
}

/* Make null. */
Jsonb *
sf_json_null(void)
{
	JsonbValue	v;

	v.type = jbvNull;
	return sf_json_make(&v);
}

/* Make {}. */
Jsonb *
sf_json_empty_object(void)
{
	SfJsonBuilder b;

	sf_json_begin_object(&b);
	return sf_json_finish(&b);
}

/* Make []. */
Jsonb *
sf_json_empty_array(void)
{
	SfJsonBuilder b;

	sf_json_begin_array(&b);
	return sf_json_finish(&b);
}

/* --- objects and arrays under construction --- */

/* Begin a document that is an object. */
void
sf_json_begin_object(SfJsonBuilder *b)
{
	b->state = NULL;
	b->result = pushJsonbValue(&b->state, WJB_BEGIN_OBJECT, NULL);
}

/* Begin a document that is an array. */
void
sf_json_begin_array(SfJsonBuilder *b)
{
	b->state = NULL;
	b->result = pushJsonbValue(&b->state, WJB_BEGIN_ARRAY, NULL);
}

/* Push the name of the member that follows; in an array there is none. */
static void
push_key(SfJsonBuilder *b, const char *key)
{
	JsonbValue	k;

	if (key == NULL)
		return;
	sf_json_value_cstring(&k, key);
	(void) pushJsonbValue(&b->state, WJB_KEY, &k);
}

/* Begin a nested object; key is NULL inside an array. */
void
sf_json_open_object(SfJsonBuilder *b, const char *key)
{
	push_key(b, key);
	(void) pushJsonbValue(&b->state, WJB_BEGIN_OBJECT, NULL);
}

/* Begin a nested array; key is NULL inside an array. */
void
sf_json_open_array(SfJsonBuilder *b, const char *key)
{
	push_key(b, key);
	(void) pushJsonbValue(&b->state, WJB_BEGIN_ARRAY, NULL);
}

/* End the object begun last. */
void
sf_json_close_object(SfJsonBuilder *b)
{
	b->result = pushJsonbValue(&b->state, WJB_END_OBJECT, NULL);
}

/* End the array begun last. */
void
sf_json_close_array(SfJsonBuilder *b)
{
	b->result = pushJsonbValue(&b->state, WJB_END_ARRAY, NULL);
}

/* Add a value of any kind; a container is copied piece by piece. */
void
sf_json_add_value(SfJsonBuilder *b, const char *key, const JsonbValue *value)
{
	bool		in_object = b->state->contVal.type == jbvObject;

	push_key(b, key);
	(void) pushJsonbValue(&b->state, in_object ? WJB_VALUE : WJB_ELEM,
						  (JsonbValue *) value);
}

/* Add a string; NULL is left out. */
void
sf_json_add_string(SfJsonBuilder *b, const char *key, const char *value)
{
	JsonbValue	v;

	if (value == NULL)
		return;
	sf_json_value_cstring(&v, value);
	sf_json_add_value(b, key, &v);
}

/* Add an integer. */
void
sf_json_add_int(SfJsonBuilder *b, const char *key, int64 value)
{
	JsonbValue	v;

	sf_json_value_int(&v, value);
	sf_json_add_value(b, key, &v);
}

/* Add true or false. */
void
sf_json_add_bool(SfJsonBuilder *b, const char *key, bool value)
{
	JsonbValue	v;

	v.type = jbvBool;
	v.val.boolean = value;
	sf_json_add_value(b, key, &v);
}

/* Add null. */
void
sf_json_add_null(SfJsonBuilder *b, const char *key)
{
	JsonbValue	v;

	v.type = jbvNull;
	sf_json_add_value(b, key, &v);
}

/* Add a document; NULL is left out. */
void
sf_json_add(SfJsonBuilder *b, const char *key, const Jsonb *value)
{
	JsonbValue	v;

	if (value == NULL)
		return;
	sf_json_root(value, &v);
	sf_json_add_value(b, key, &v);
}

/* End the document and give it; nested ones must have been closed. */
Jsonb *
sf_json_finish(SfJsonBuilder *b)
{
	if (b->state != NULL)
	{
		Assert(b->state->next == NULL);
		if (b->state->contVal.type == jbvObject)
			sf_json_close_object(b);
		else
			sf_json_close_array(b);
	}
	return JsonbValueToJsonb(b->result);
}

/*
 * Lay the members of overlay over those of base.  Both are objects; either
 * may be NULL.  Where one has nothing to add, the other is returned itself.
 */
Jsonb *
sf_json_merge(const Jsonb *base, const Jsonb *overlay)
{
	SfJsonMember *members;
	JsonbValue	v;
	Jsonb	   *merged;
	int			n;

	if (overlay == NULL || JB_ROOT_COUNT(overlay) == 0)
		return base != NULL ? (Jsonb *) base : sf_json_empty_object();
	if (base == NULL || JB_ROOT_COUNT(base) == 0)
		return (Jsonb *) overlay;

	members = palloc(sizeof(SfJsonMember) *
					 (JB_ROOT_COUNT(base) + JB_ROOT_COUNT(overlay)));
	sf_json_root(base, &v);
	n = sf_json_list_members(&v, members);
	sf_json_root(overlay, &v);
	n += sf_json_list_members(&v, members + n);
	merged = sf_json_object_of(members, n);
	pfree(members);
	return merged;
}
