/*
 * jsonata_print.h
 *		Values to and from JSON text and jsonb.
 */
#ifndef SF_JSONATA_JSONATA_PRINT_H
#define SF_JSONATA_JSONATA_PRINT_H

#include "json/json.h"
#include "jsonata/value/jsonata_value.h"

/* How functions and numbers come out */
#define SF_JN_PRINT_STRING	0x01	/* as $string: 15 digits, functions "" */
#define SF_JN_PRINT_PRETTY	0x02	/* indented by two */
#define SF_JN_PRINT_LIMITED	0x04	/* no more of it than a message shows */

extern void sf_jn_measure(const SfJnValue *value, Size max, Size *size);
extern void sf_jn_print(StringInfo buf, const SfJnValue *value, int flags);
extern void sf_jn_print_limited(StringInfo buf, const SfJnValue *value);

/*
 * Parse JSON text in the server's encoding, keeping the order of keys; ereports
 * malformed text.  strict: NULL instead of an error, also for duplicate keys and
 * for numbers out of the range of a double.
 */
extern SfJnValue *sf_jn_parse_json(SfJnArena *arena, const char *text, int len);
extern SfJnValue *sf_jn_parse_json_strict(SfJnArena *arena, const char *text, int len);

extern SfJnValue *sf_jn_from_jsonb(SfJnArena *arena, const JsonbValue *value);
extern Jsonb *sf_jn_to_jsonb(const SfJnValue *value, bool *unsupported);
extern SfJnValue *sf_jn_clone(SfJnArena *arena, const SfJnValue *value);

#endif							/* SF_JSONATA_JSONATA_PRINT_H */
