/*
 * json.h
 *		Helpers over jsonb, the representation of every payload.
 *
 * A payload is a detoasted Jsonb with a four-byte header.  Pieces of it are
 * JsonbValues, which point into the payload's buffer and are valid as long as
 * that buffer.
 */
#ifndef SF_JSON_JSON_H
#define SF_JSON_JSON_H

#include "lib/stringinfo.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"

#include "base/version/compat.h"

/* --- reading --- */

/* Where the number of elements or members may stand: the value is a scalar */
#define SF_JSON_NO_COUNT	(-1)

/* Count the elements of an array or the members of an object, or SF_JSON_NO_COUNT. */
static inline int
sf_json_count(const JsonbValue *value)
{
	return value->type == jbvBinary ? (int) JsonContainerSize(value->val.binary.data) : SF_JSON_NO_COUNT;
}

/* Tell whether a value is an object. */
static inline bool
sf_json_is_object(const JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsObject(value->val.binary.data);
}

/* Tell whether a value is an array. */
static inline bool
sf_json_is_array(const JsonbValue *value)
{
	return value->type == jbvBinary && JsonContainerIsArray(value->val.binary.data);
}

extern void sf_json_root(const Jsonb *document, JsonbValue *out);
extern bool sf_json_member(const JsonbValue *value, const char *key, int keylen,
						   JsonbValue *out);
extern bool sf_json_element(const JsonbValue *value, int64 index, JsonbValue *out);

/*
 * Begin to walk over the elements of an array, or over the elements or the values
 * of any container.  Other values have none.  sf_json_next gets the next one; false
 * at the end.
 */
extern JsonbIterator *sf_json_elements(const JsonbValue *value);
extern JsonbIterator *sf_json_children(const JsonbValue *value);
extern bool sf_json_next(JsonbIterator **it, JsonbValue *child);
extern const char *sf_json_type_name(const JsonbValue *value);
extern char *sf_json_get_cstring(const Jsonb *document, const char *key);
extern Jsonb *sf_json_get(const Jsonb *document, const char *key);
extern bool sf_json_to_int64(const JsonbValue *value, int64 *out);

/* --- building --- */

/* Make a separate document of any value, including jbvBinary. */
extern Jsonb *sf_json_make(const JsonbValue *value);
extern Jsonb *sf_json_from_cstring(const char *text);	/* JSON text; ereports */

/* The same, but false for malformed text instead of an ereport. */
extern bool sf_json_parse(const char *text, int len, Jsonb **out);
extern Jsonb *sf_json_string(const char *text);			/* a JSON string */
extern Jsonb *sf_json_int(int64 value);
extern Jsonb *sf_json_null(void);
extern Jsonb *sf_json_empty_object(void);
extern Jsonb *sf_json_empty_array(void);
extern void sf_json_value_string(JsonbValue *out, const char *text, int len);
extern void sf_json_value_cstring(JsonbValue *out, const char *text);
extern void sf_json_value_int(JsonbValue *out, int64 value);

/*
 * An object under construction:
 *		SfJsonBuilder b; sf_json_begin_object(&b);
 *		sf_json_add_string(&b, "Error", name); … Jsonb *j = sf_json_end(&b);
 * NULL strings and documents are omitted.  Keys, strings and documents are copied
 * when the container around them is closed, and must live until then.  Of members
 * with the same key the last one is kept.
 */
typedef struct SfJsonBuilder
{
	struct SfJsonLevel *level;	/* container begun last */
	Jsonb	   *result;
} SfJsonBuilder;

/* Begin and end containers; key is NULL in an array. */
extern void sf_json_begin(SfJsonBuilder *json, bool is_object);
extern void sf_json_open(SfJsonBuilder *json, const char *key, bool is_object);
extern void sf_json_close(SfJsonBuilder *json, bool is_object);

#define sf_json_begin_object(b)		sf_json_begin((b), true)
#define sf_json_begin_array(b)		sf_json_begin((b), false)
#define sf_json_open_object(b, key)	sf_json_open((b), (key), true)
#define sf_json_open_array(b, key)	sf_json_open((b), (key), false)
#define sf_json_close_object(b)		sf_json_close((b), true)
#define sf_json_close_array(b)		sf_json_close((b), false)

extern void sf_json_add_string(SfJsonBuilder *json, const char *key, const char *value);
extern void sf_json_add_int(SfJsonBuilder *json, const char *key, int64 value);
extern void sf_json_add_bool(SfJsonBuilder *json, const char *key, bool value);
extern void sf_json_add_null(SfJsonBuilder *json, const char *key);
extern void sf_json_add(SfJsonBuilder *json, const char *key, const Jsonb *value);
extern void sf_json_add_value(SfJsonBuilder *json, const char *key, const JsonbValue *value);
extern Jsonb *sf_json_end(SfJsonBuilder *json);

/*
 * Arrays and objects of complete parts: scalars, and containers of any document
 * (jbvBinary).  Parts are copied as a whole, which is much cheaper than the builder
 * when they are large.
 */
typedef struct SfJsonMember
{
	JsonbValue	key;
	JsonbValue	value;
	int			order;			/* for the sort */
} SfJsonMember;

extern Jsonb *sf_json_array_of(const JsonbValue *values, Size n);
extern Jsonb *sf_json_object_of(SfJsonMember *members, int n);
extern int	sf_json_list_members(const JsonbValue *object, SfJsonMember *members);
extern SfJsonMember *sf_json_members(const JsonbValue *object, int *n);

/* --- comparing, merging, printing --- */

/* Equality by meaning (jsonb's own). */
extern bool sf_json_is_equal(const Jsonb *a, const Jsonb *b);
extern bool sf_json_value_is_equal(const JsonbValue *a, const JsonbValue *b);
extern int	sf_json_order(const JsonbValue *a, const JsonbValue *b);

/*
 * A difference of two documents: its JSON pointer, and what each of them has there (NULL:
 * nothing).  Returns whether to look for more.
 */
typedef bool (*SfJsonDifference) (const char *pointer, const JsonbValue *before,
								  const JsonbValue *after, void *arg);

extern void sf_json_append_pointer(StringInfo pointer, const char *key, int len);
extern void sf_json_differences(const Jsonb *before, const Jsonb *after,
								SfJsonDifference visitor, void *arg);

extern Jsonb *sf_json_merge(const Jsonb *base, const Jsonb *overlay);

/* Compact JSON text, as Step Functions prints it: no blanks after : and , */
extern char *sf_json_to_cstring(const Jsonb *document);
extern void sf_json_append_text(StringInfo buf, const JsonbValue *value);

extern bool sf_json_append_text_within(StringInfo buf, const JsonbValue *value, Size max);
extern char *sf_json_excerpt(const Jsonb *document);
extern Size sf_json_text_size(const Jsonb *document);

/* --- text and time --- */

extern char *sf_yaml_to_json(const char *text);

extern bool sf_timestamp_parse(const char *text, int len, TimestampTz *out);
extern char *sf_timestamp_print(TimestampTz at);

#endif							/* SF_JSON_JSON_H */
