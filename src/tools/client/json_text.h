/*
 * json_text.h
 *		JSON documents read in place, and text written as JSON.
 */
#ifndef SFW_JSON_TEXT_H
#define SFW_JSON_TEXT_H

#include "postgres_fe.h"

#include "common/jsonapi.h"
#include "pqexpbuffer.h"

/* A value inside a document that was checked: its text, without blanks around it. */
typedef struct SfwJson
{
	const char *text;
	size_t		len;
} SfwJson;

/* A walk over the members of an object or the elements of an array. */
typedef struct SfwJsonWalk
{
	JsonLexContext lex;
	bool		object;
} SfwJsonWalk;

extern bool sfw_json_parse(const char *text, size_t len, SfwJson *value);
extern char sfw_json_type(SfwJson value);
extern bool sfw_json_get(SfwJson object, const char *key, SfwJson *value);
extern SfwJsonWalk sfw_json_walk(SfwJson container);
extern bool sfw_json_next(SfwJsonWalk *walk, SfwJson *key, SfwJson *value);
extern bool sfw_json_is(SfwJson value, const char *text);
extern char *sfw_json_text(SfwJson value);

/* Each of these first appends the comma that JSON wants after an earlier value. */
extern void sfw_json_put_key(PQExpBuffer buf, const char *key);
extern void sfw_json_put_string(PQExpBuffer buf, const char *text);
extern void sfw_json_put_bytes(PQExpBuffer buf, const char *text, size_t len);
extern void sfw_json_put_value(PQExpBuffer buf, SfwJson value);
extern void sfw_json_open(PQExpBuffer buf, char bracket);

extern char *sfw_utf8_repair(const char *text, size_t len);
extern size_t sfw_utf8_clip(const char *text, size_t len);

extern void sfw_out_of_memory(void) __attribute__((noreturn));
extern char *sfw_buffer_data(PQExpBuffer buf);

#endif							/* SFW_JSON_TEXT_H */
