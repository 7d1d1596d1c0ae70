/*
 * json.h
 *		JSON read in place and written with care.
 */
#ifndef SFW_JSON_H
#define SFW_JSON_H

#include "buf.h"

/* A value inside a document that was checked: its text, without blanks around. */
typedef struct SfwJson
{
	const char *text;
	size_t		len;
} SfwJson;

/* A walk over the members of an object or the elements of an array. */
typedef struct SfwJsonWalk
{
	const char *at;
	const char *end;
	bool		object;
} SfwJsonWalk;

extern bool sfw_json_parse(const char *text, size_t len, SfwJson *value);
extern char sfw_json_type(SfwJson value);
extern bool sfw_json_get(SfwJson object, const char *key, SfwJson *value);
extern SfwJsonWalk sfw_json_walk(SfwJson container);
extern bool sfw_json_next(SfwJsonWalk *walk, SfwJson *key, SfwJson *value);
extern size_t sfw_json_count(SfwJson container);
extern char *sfw_json_text(SfwJson value);
extern bool sfw_json_number(SfwJson value, double *number);

extern void sfw_json_put_string(SfwBuf *buf, const char *text, size_t len);
extern void sfw_json_put_key(SfwBuf *buf, const char *key);

#endif							/* SFW_JSON_H */
