/*
 * build.c
 *		Making jsonb: scalars, objects and arrays piece by piece, merging.
 */
#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "json/json.h"

/* Make a document of any value; containers inside another document are copied. */
Jsonb *
sf_json_make(const JsonbValue *value)
{
	return JsonbValueToJsonb((JsonbValue *) value);
}

/* Give the root of a document as a value: a scalar, or jbvBinary. */
void
sf_json_root(const Jsonb *document, JsonbValue *out)
{
	JsonbContainer *root = (JsonbContainer *) &document->root;

	if (JsonContainerIsScalar(root))
	{
		(void) JsonbExtractScalar(root, out);
		return;
	}
	out->type = jbvBinary;
	out->val.binary.data = root;
	out->val.binary.len = VARSIZE(document) - VARHDRSZ;
}

/* Parse JSON text; ereports as the input function of jsonb does. */
Jsonb *
sf_json_from_cstring(const char *text)
{
	return DatumGetJsonbP(DirectFunctionCall1(jsonb_in,
											  CStringGetDatum(text)));
}

/* Make a value of a text, which must live longer than the value. */
void
sf_json_value_string(JsonbValue *out, const char *text, int len)
{
	out->type = jbvString;
	out->val.string.val = (char *) text;
	out->val.string.len = len;
}

/* The same of a C string. */
void
sf_json_value_cstring(JsonbValue *out, const char *text)
{
	sf_json_value_string(out, text, strlen(text));
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
	JsonbValue	value;

	sf_json_value_cstring(&value, text);
	return sf_json_make(&value);
}

/* Make a JSON number. */
Jsonb *
sf_json_int(int64 value)
{
	JsonbValue	v;

	sf_json_value_int(&v, value);
	return sf_json_make(&v);
}

/* Make null. */
Jsonb *
sf_json_null(void)
{
	JsonbValue	value = {.type = jbvNull};

	return sf_json_make(&value);
}

/* Make {}. */
Jsonb *
sf_json_empty_object(void)
{
	return sf_json_object_of(NULL, 0);
}

/* Make []. */
Jsonb *
sf_json_empty_array(void)
{
	return sf_json_array_of(NULL, 0);
}

/* --- objects and arrays under construction --- */

/* A container that has been begun and not ended yet */
typedef struct SfJsonLevel
{
	struct SfJsonLevel *parent;
	JsonbValue	key;			/* its name, when the parent is an object */
	bool		is_object;
	int			n;
	int			allocated;
	SfJsonMember *members;		/* of an object */
	JsonbValue *elements;		/* of an array */
	List	   *documents;		/* nested containers that were ended */
} SfJsonLevel;

/* Begin a document that is an object or an array. */
void
sf_json_begin(SfJsonBuilder *json, bool is_object)
{
	memset(json, 0, sizeof(SfJsonBuilder));
	sf_json_open(json, NULL, is_object);
}

/* Begin a container inside the current one, if any. */
void
sf_json_open(SfJsonBuilder *json, const char *key, bool is_object)
{
	SfJsonLevel *level = palloc0(sizeof(SfJsonLevel));

	if (key != NULL)
		sf_json_value_cstring(&level->key, key);
	level->parent = json->level;
	level->is_object = is_object;
	json->level = level;
}

/* Make room for one more child. */
static void
reserve_child(SfJsonLevel *level)
{
	Size		size = level->is_object ? sizeof(SfJsonMember) : sizeof(JsonbValue);
	void	   *children = level->is_object ?
		(void *) level->members : (void *) level->elements;

	if (level->n < level->allocated)
		return;
	level->allocated = Max(level->allocated * 2, 8);
	children = children == NULL ? palloc(level->allocated * size) :
		repalloc_huge(children, level->allocated * size);
	if (level->is_object)
		level->members = children;
	else
		level->elements = children;
}

/* Add a child to a container; the key counts in an object only. */
static void
add_child(SfJsonLevel *level, const JsonbValue *key, const JsonbValue *value)
{
	JsonbValue	child = *value;

	/* parts are copied as they are, so they have to be documents by now */
	if (value->type == jbvArray || value->type == jbvObject)
		sf_json_root(sf_json_make(value), &child);
	reserve_child(level);
	if (level->is_object)
	{
		level->members[level->n].key = *key;
		level->members[level->n++].value = child;
	}
	else
		level->elements[level->n++] = child;
}

/* End the container begun last, and add it to the one around it. */
void
sf_json_close(SfJsonBuilder *json, bool is_object)
{
	SfJsonLevel *level = json->level;
	Jsonb	   *document = level->is_object ?
		sf_json_object_of(level->members, level->n) :
		sf_json_array_of(level->elements, level->n);

	Assert(level->is_object == is_object);
	list_free_deep(level->documents);
	if (level->members != NULL)
		pfree(level->members);
	if (level->elements != NULL)
		pfree(level->elements);
	json->level = level->parent;
	if (json->level == NULL)
		json->result = document;
	else
	{
		JsonbValue	value;

		sf_json_root(document, &value);
		add_child(json->level, &level->key, &value);
		json->level->documents = lappend(json->level->documents, document);
	}
	pfree(level);
}

/* Add a value of any kind, which must live until its container is ended. */
void
sf_json_add_value(SfJsonBuilder *json, const char *key, const JsonbValue *value)
{
	JsonbValue	k;

	if (json->level->is_object)
		sf_json_value_cstring(&k, key);
	add_child(json->level, &k, value);
}

/* Add a string; NULL is left out. */
void
sf_json_add_string(SfJsonBuilder *json, const char *key, const char *value)
{
	JsonbValue	v;

	if (value == NULL)
		return;
	sf_json_value_cstring(&v, value);
	sf_json_add_value(json, key, &v);
}

/* Add an integer. */
void
sf_json_add_int(SfJsonBuilder *json, const char *key, int64 value)
{
	JsonbValue	v;

	sf_json_value_int(&v, value);
	sf_json_add_value(json, key, &v);
}

/* Add true or false. */
void
sf_json_add_bool(SfJsonBuilder *json, const char *key, bool value)
{
	JsonbValue	v = {.type = jbvBool,.val.boolean = value};

	sf_json_add_value(json, key, &v);
}

/* Add null. */
void
sf_json_add_null(SfJsonBuilder *json, const char *key)
{
	JsonbValue	value = {.type = jbvNull};

	sf_json_add_value(json, key, &value);
}

/* Add a document; NULL is left out. */
void
sf_json_add(SfJsonBuilder *json, const char *key, const Jsonb *value)
{
	JsonbValue	v;

	if (value == NULL)
		return;
	sf_json_root(value, &v);
	sf_json_add_value(json, key, &v);
}

/* End the document and give it; nested containers must have been closed. */
Jsonb *
sf_json_end(SfJsonBuilder *json)
{
	if (json->level != NULL)
	{
		Assert(json->level->parent == NULL);
		sf_json_close(json, json->level->is_object);
	}
	return json->result;
}

/*
 * Lay the members of overlay over those of base.  Both are objects; either
 * may be NULL.  Where one has nothing to add, the other is returned itself.
 */
Jsonb *
sf_json_merge(const Jsonb *base, const Jsonb *overlay)
{
	SfJsonMember *members;
	JsonbValue	value;
	Jsonb	   *merged;
	int			n;

	if (overlay == NULL || JB_ROOT_COUNT(overlay) == 0)
		return base != NULL ? (Jsonb *) base : sf_json_empty_object();
	if (base == NULL || JB_ROOT_COUNT(base) == 0)
		return (Jsonb *) overlay;

	members = palloc(sizeof(SfJsonMember) *
					 (JB_ROOT_COUNT(base) + JB_ROOT_COUNT(overlay)));
	sf_json_root(base, &value);
	n = sf_json_list_members(&value, members);
	sf_json_root(overlay, &value);
	n += sf_json_list_members(&value, members + n);
	merged = sf_json_object_of(members, n);
	pfree(members);
	return merged;
}
