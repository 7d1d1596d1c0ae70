/*
 * json_text.h
 *		JSON documents read in place, and text written as JSON.
 */
#ifndef SFC_JSON_TEXT_H
#define SFC_JSON_TEXT_H

#include "postgres_fe.h"

#include "common/jsonapi.h"
#include "pqexpbuffer.h"

/* A value inside a document that was checked: its text, without blanks around it. */
typedef struct SfcJson
{
	const char *text;
	size_t		len;
} SfcJson;

/* A walk over the members of an object or the elements of an array. */
typedef struct SfcJsonWalk
{
	JsonLexContext lex;
	bool		object;
} SfcJsonWalk;

extern bool sfc_json_parse(const char *text, size_t len, SfcJson *value);
extern char sfc_json_type(SfcJson value);
extern bool sfc_json_get(SfcJson object, const char *key, SfcJson *value);
extern SfcJsonWalk sfc_json_walk(SfcJson container);
extern bool sfc_json_next(SfcJsonWalk *walk, SfcJson *key, SfcJson *value);
extern bool sfc_json_is(SfcJson value, const char *text);
extern char *sfc_json_text(SfcJson value);

/* Each of these first appends the comma that JSON wants after an earlier value. */
extern void sfc_json_put_key(PQExpBuffer buf, const char *key);
extern void sfc_json_put_string(PQExpBuffer buf, const char *text);
extern void sfc_json_put_bytes(PQExpBuffer buf, const char *text, size_t len);
extern void sfc_json_put_value(PQExpBuffer buf, SfcJson value);
extern void sfc_json_open(PQExpBuffer buf, char bracket);

extern char *sfc_utf8_repair(const char *text, size_t len);
extern size_t sfc_utf8_clip(const char *text, size_t len);
extern bool sfc_utf8_replace(char *text, const char *character);

extern void sfc_out_of_memory(void) __attribute__((noreturn));
extern char *sfc_buffer_data(PQExpBuffer buf);

#endif							/* SFC_JSON_TEXT_H */
