/*
 * encode_functions.c
 *		The library: base64 and URLs.
 */
#include "postgres.h"

#include "common/base64.h"
#include "mb/pg_wchar.h"

#include "jsonata/function/functions.h"

static const char url_component[] = "-_.!~*'()";
static const char url_whole[] = "-_.!~*'();/?:@&=+$,#";

/*
 * $base64encode(str).  The bytes are those of UTF-8 in a state machine; the
 * reference takes one byte a character, the low one of its code.
 */
SF_JN_LIBRARY_FUNCTION(base64encode)
{
	const char *bytes = args[0]->u.str;
	int			n = (int) args[0]->len;
	int			len;
	char	   *text;

	if (ev->mode != SF_JN_IN_STATE)
	{
		const char *p = bytes;
		char	   *low = sf_jn_alloc(&ev->arena, n);

		for (n = 0; p < bytes + args[0]->len; n++)
		{
			uint32		c;

			p += sf_jn_decode(p, bytes + args[0]->len, &c);
			low[n] = (char) c;
		}
		bytes = low;
	}
	len = pg_b64_enc_len(n);
	text = sf_jn_alloc(&ev->arena, len + 1);
	len = pg_b64_encode(SF_B64_SRC(bytes), n, text, len);
	return sf_jn_string(&ev->arena, text, Max(len, 0));
}

/* Read a base64 digit, of either alphabet; false: it is none. */
static bool
base64_digit(char c, int *digit)
{
	if (c >= 'A' && c <= 'Z')
		*digit = c - 'A';
	else if (c >= 'a' && c <= 'z')
		*digit = c - 'a' + 26;
	else if (c >= '0' && c <= '9')
		*digit = c - '0' + 52;
	else if (c == '+' || c == '-')
		*digit = 62;
	else if (c == '/' || c == '_')
		*digit = 63;
	else
		return false;
	return true;
}

/*
 * $base64decode(str).  As lenient as the reference: what is no digit is
 * passed over and padding ends the text.  In a state machine the bytes are
 * UTF-8 (what is not becomes U+FFFD), else each is a character.
 */
SF_JN_LIBRARY_FUNCTION(base64decode)
{
	char	   *bytes = sf_jn_alloc(&ev->arena, args[0]->len + 1);
	char	   *text;
	Size		n = 0;
	Size		len = 0;
	uint32		bits = 0;
	int			nbits = 0;

	for (Size i = 0; i < args[0]->len && args[0]->u.str[i] != '='; i++)
	{
		int			digit;

		if (!base64_digit(args[0]->u.str[i], &digit))
			continue;
		bits = (bits << 6) | digit;
		nbits += 6;
		if (nbits >= 8)
		{
			nbits -= 8;
			bytes[n++] = (char) (bits >> nbits);
		}
	}
	text = sf_jn_alloc(&ev->arena, n * 3 + 1);
	for (Size i = 0; i < n;)
	{
		int			mblen = pg_utf_mblen((unsigned char *) bytes + i);

		if (ev->mode != SF_JN_IN_STATE)
			len += sf_jn_encode((unsigned char) bytes[i++], text + len);
		else if (i + mblen <= n &&
			pg_utf8_islegal((unsigned char *) bytes + i, mblen))
		{
			memcpy(text + len, bytes + i, mblen);
			len += mblen;
			i += mblen;
		}
		else
		{
			len += sf_jn_encode(0xfffd, text + len);
			i++;
		}
	}
	return sf_jn_string(&ev->arena, text, len);
}

/* Escape what is not a letter, a digit or in a set. */
static SfJnValue *
encode(SfJnEval *ev, SfJnValue *s, const char *kept, const char *function)
{
	static const char hex[] = "0123456789ABCDEF";
	char	   *text = sf_jn_alloc(&ev->arena, (Size) s->len * 3);
	Size		n = 0;

	for (uint32 i = 0; i < s->len; i++)
	{
		unsigned char c = (unsigned char) s->u.str[i];

		if (c == 0xed && i + 1 < s->len && (unsigned char) s->u.str[i + 1] >= 0xa0)
			sf_jn_fail(ev, SF_JN_ERROR_D3140, .type = function, .value = s);
		if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
			(c != '\0' && strchr(kept, c) != NULL))
			text[n++] = (char) c;
		else
		{
			text[n++] = '%';
			text[n++] = hex[c >> 4];
			text[n++] = hex[c & 15];
		}
	}
	return sf_jn_string(&ev->arena, text, n);
}

/* Read the byte of %XX at s; false when it is not one. */
static bool
escaped_byte(const char *s, const char *end, unsigned char *byte)
{
	int			value;

	if (s >= end || *s != '%' || !sf_jn_hex_value(s + 1, end, 2, &value))
		return false;
	*byte = (unsigned char) value;
	return true;
}

/* Undo escapes, except of the characters in a set. */
static SfJnValue *
decode(SfJnEval *ev, SfJnValue *s, const char *kept, const char *function)
{
	const char *p = s->u.str;
	const char *end = p + s->len;
	char	   *text = sf_jn_alloc(&ev->arena, s->len);
	Size		n = 0;

	while (p < end)
	{
		unsigned char bytes[4];
		int			mblen;

		if (*p != '%')
		{
			text[n++] = *p++;
			continue;
		}
		if (!escaped_byte(p, end, &bytes[0]))
			sf_jn_fail(ev, SF_JN_ERROR_D3140, .type = function, .value = s);
		mblen = pg_utf_mblen(bytes);
		for (int i = 1; i < mblen; i++)
			if (!escaped_byte(p + i * 3, end, &bytes[i]))
				sf_jn_fail(ev, SF_JN_ERROR_D3140, .type = function, .value = s);
		if (!pg_utf8_islegal(bytes, mblen))
			sf_jn_fail(ev, SF_JN_ERROR_D3140, .type = function, .value = s);
		if (mblen == 1 && bytes[0] != '\0' && strchr(kept, bytes[0]) != NULL)
		{
			memcpy(text + n, p, 3);
			n += 3;
		}
		else
		{
			memcpy(text + n, bytes, mblen);
			n += mblen;
		}
		p += mblen * 3;
	}
	return sf_jn_string(&ev->arena, text, n);
}

/* $encodeUrlComponent(str) */
SF_JN_LIBRARY_FUNCTION(encodeUrlComponent)
{
	return encode(ev, args[0], url_component, "encodeUrlComponent");
}

/* $encodeUrl(str) */
SF_JN_LIBRARY_FUNCTION(encodeUrl)
{
	return encode(ev, args[0], url_whole, "encodeUrl");
}

/* $decodeUrlComponent(str) */
SF_JN_LIBRARY_FUNCTION(decodeUrlComponent)
{
	return decode(ev, args[0], "", "decodeUrlComponent");
}

/* $decodeUrl(str) */
SF_JN_LIBRARY_FUNCTION(decodeUrl)
{
	return decode(ev, args[0], ";/?:@&=+$,#", "decodeUrl");
}
