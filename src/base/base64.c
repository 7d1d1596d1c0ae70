/*
 * base64.c
 *		Bytes as base64 text.
 */
#include "postgres.h"

#include "common/base64.h"

#include "base/base64.h"
#include "base/compat.h"

/* Encode n bytes; the text is palloc'd. */
char *
sf_base64_encode(const void *bytes, int n)
{
	int			size = pg_b64_enc_len(n);
	char	   *text = palloc(size + 1);
	int			len = pg_b64_encode(SF_B64_SRC(bytes), n, text, size);

	if (len < 0)
		elog(ERROR, "could not encode base64");
	text[len] = '\0';
	return text;
}
