/*
 * cursor.h
 *		A cursor over the text of an expression, shared by the parsers.
 *
 * Every scanner returns false with an error.  The error's cause says what is wrong,
 * its position where (byte offset).
 */
#ifndef SF_EXPR_CURSOR_H
#define SF_EXPR_CURSOR_H

#include "base/errors.h"
#include "json/json.h"

typedef struct SfScanner
{
	const char *text;			/* the whole expression */
	const char *p;				/* next byte */
	const char *end;
	SfError    *err;			/* may be NULL */
	int			depth;			/* calls of intrinsic functions around p */
	int			context_use;	/* SF_CONTEXT_…: of the paths that begin with $$ */
} SfScanner;

extern void sf_cursor_init(SfScanner *s, const char *text, SfError *err);
extern bool sf_cursor_fail(SfScanner *s, const char *fmt,...) pg_attribute_printf(2, 3);

/* Next byte, or '\0' at the end. */
extern char sf_cursor_peek(const SfScanner *s);
extern void sf_cursor_space(SfScanner *s);

extern bool sf_cursor_accept(SfScanner *s, const char *token);
extern bool sf_cursor_expect(SfScanner *s, const char *token);
extern bool sf_cursor_is_word(char c);
extern bool sf_cursor_constant(SfScanner *s, JsonbValue *out);
extern bool sf_cursor_quoted(SfScanner *s, char **str, int *len);
extern bool sf_cursor_integer(SfScanner *s, int64 *out);
extern bool sf_cursor_number(SfScanner *s, JsonbValue *out);

#endif							/* SF_EXPR_CURSOR_H */
