/*
 * integer_parse.c
 *		Parse integers by the picture strings that format them.
 */
#include "postgres.h"

#include <math.h>

#include "jsonata/function/functions.h"
#include "jsonata/picture/picture.h"

/* Compare a word with another, whatever their case. */
static bool
same_word(const char *s, Size len, const char *word)
{
	return strlen(word) == len && pg_strncasecmp(s, word, len) == 0;
}

/* Value of one English word; NaN when it is none of a number. */
static double
word_value(const char *s, Size len)
{
	char		th[32];
	int			i;

	for (i = 0; i < 20; i++)
	{
		if (same_word(s, len, sf_jn_few[i]) || same_word(s, len, sf_jn_ordinals[i]))
			return i;
	}
	for (i = 0; i < 8; i++)
	{
		snprintf(th, sizeof(th), "%.*sieth", (int) strlen(sf_jn_tens[i]) - 1, sf_jn_tens[i]);
		if (same_word(s, len, sf_jn_tens[i]) || same_word(s, len, th))
			return (i + 2) * 10;
	}
	if (same_word(s, len, "hundred") || same_word(s, len, "hundredth"))
		return 100;
	for (i = 0; i < 4; i++)
	{
		snprintf(th, sizeof(th), "%sth", sf_jn_magnitudes[i]);
		if (same_word(s, len, sf_jn_magnitudes[i]) || same_word(s, len, th))
			return pow(10, (i + 1) * 3);
	}
	return NAN;
}

/*
 * Length of what separates two words at s (", ", " and ", a blank, a hyphen),
 * or 0.
 */
static int
word_break(const char *s, const char *end)
{
	if (end - s >= 2 && s[0] == ',' && isspace((unsigned char) s[1]))
		return 2;
	if (end - s >= 5 && isspace((unsigned char) s[0]) &&
		pg_strncasecmp(s + 1, "and", 3) == 0 && isspace((unsigned char) s[4]))
		return 5;
	return s < end && (isspace((unsigned char) *s) || *s == '-' || *s == '\\') ? 1 : 0;
}

/*
 * Parse English words: values below a hundred are added to the current
 * segment, larger ones multiply it; segments are summed.
 */
static double
parse_words(SfJnEval *ev, const char *s, Size len)
{
	const char *end = s + len;
	const char *start = s;
	double		total = 0;
	double		segment = 0;

	for (;;)
	{
		int			skip = word_break(s, end);

		sf_jn_check(ev);
		if (s == end || skip > 0)
		{
			double		value = word_value(start, s - start);

			if (value < 100)
			{
				if (segment >= 1000)
				{
					total += segment;
					segment = 0;
				}
				segment += value;
			}
			else
				segment *= value;
			if (s == end)
				return total + segment;
			s += skip;
			start = s;
		}
		else
			s++;
	}
}

/* Parse a Roman numeral, from its right end; for a picture in capitals small letters are none. */
static double
parse_roman(const char *s, Size len, bool capitals)
{
	static const char letters[] = "IVXLCDM";
	static const int values[] = {1, 5, 10, 50, 100, 500, 1000};
	double		total = 0;
	double		largest = 1;

	while (len-- > 0)
	{
		const char *letter = s[len] == '\0' ? NULL :
			strchr(letters, capitals ? s[len] : pg_ascii_toupper((unsigned char) s[len]));
		double		value;

		if (letter == NULL)
			return NAN;
		value = values[letter - letters];
		total += value < largest ? -value : value;
		largest = Max(largest, value);
	}
	return total;
}

/* Tell whether a character is a separator of a picture; one that repeats is a comma. */
static bool
is_separator(const SfJnIntegerPicture *picture, uint32 c)
{
	for (int i = 0; !picture->regular && i < picture->nseparators; i++)
	{
		if (c == picture->separators[i].character)
			return true;
	}
	return picture->regular && c == ',';
}

/*
 * Parse digits, passing over the picture's separators; stops at what is no
 * digit, as JavaScript's parseInt().
 */
static double
parse_digits(SfJnEval *ev, const char *s, Size len, const SfJnIntegerPicture *picture)
{
	const char *end = s + len;
	double		value = 0;
	bool		negative = false;
	bool		any = false;
	uint32		c;

	if (picture->ordinal)
		end = s + (len >= 2 ? len - 2 : 0);
	while (s < end && isspace((unsigned char) *s))
		s++;
	if (s < end && (*s == '-' || *s == '+'))
		negative = *s++ == '-';
	while (s < end)
	{
		sf_jn_check(ev);
		s += sf_jn_decode(s, end, &c);
		if (c >= picture->zero && c <= picture->zero + 9)
		{
			value = value * 10 + (c - picture->zero);
			any = true;
		}
		else if (!is_separator(picture, c))
			break;
	}
	return any ? (negative ? -value : value) : NAN;
}

/* Parse an integer by its picture; NaN where the text is none. */
double
sf_jn_parse_integer(SfJnEval *ev, const char *s, Size len, const SfJnIntegerPicture *picture)
{
	double		value = 0;

	switch (picture->style)
	{
		case SF_JN_STYLE_DECIMAL:
			return parse_digits(ev, s, len, picture);
		case SF_JN_STYLE_LETTERS:
			for (Size i = 0; i < len; i++)
				value = value * 26 + s[i] - (picture->letter_case == SF_JN_CASE_UPPER ? 'A' : 'a') + 1;
			return value;
		case SF_JN_STYLE_ROMAN:
			return parse_roman(s, len, picture->letter_case == SF_JN_CASE_UPPER);
		case SF_JN_STYLE_WORDS:
			return parse_words(ev, s, len);
		case SF_JN_STYLE_NUMBERING:
			break;
	}
	sf_jn_fail(ev, SF_JN_ERROR_D3130, .value = picture->token);
}

/* Append the regular expression of an integer within a time. */
void
sf_jn_integer_pattern(SfJnEval *ev, StringInfo buf, const SfJnIntegerPicture *picture)
{
	switch (picture->style)
	{
		case SF_JN_STYLE_DECIMAL:
			appendStringInfoString(buf, "[0-9]");
			if (picture->parse_width > 0)
				appendStringInfo(buf, "{%d}", Min(picture->parse_width, 255));
			else
				appendStringInfoChar(buf, '+');
			if (picture->ordinal)
				appendStringInfoString(buf, "(?:th|st|nd|rd)");
			return;
		case SF_JN_STYLE_LETTERS:
			appendStringInfoString(buf, picture->letter_case == SF_JN_CASE_UPPER ? "[A-Z]+" : "[a-z]+");
			return;
		case SF_JN_STYLE_ROMAN:
			appendStringInfoString(buf, picture->letter_case == SF_JN_CASE_UPPER ?
								   "[MDCLXVI]+" : "[mdclxvi]+");
			return;
		case SF_JN_STYLE_WORDS:
			appendStringInfoString(buf, "(?:");
			for (int i = 0; i < 20; i++)
				appendStringInfo(buf, "%s|%s|", sf_jn_few[i], sf_jn_ordinals[i]);
			for (int i = 0; i < 8; i++)
				appendStringInfo(buf, "%s|%.*sieth|", sf_jn_tens[i],
								 (int) strlen(sf_jn_tens[i]) - 1, sf_jn_tens[i]);
			for (int i = 0; i < 4; i++)
				appendStringInfo(buf, "%s|%sth|", sf_jn_magnitudes[i], sf_jn_magnitudes[i]);
			appendStringInfoString(buf, "hundred|hundredth|and|[\\-, ])+");
			return;
		case SF_JN_STYLE_NUMBERING:
			break;
	}
	sf_jn_fail(ev, SF_JN_ERROR_D3130, .value = picture->token);
}

/* $parseInteger(string, picture) */
SF_JN_LIBRARY_FUNCTION(parseInteger)
{
	SfJnIntegerPicture picture;

	sf_jn_integer_picture(ev, args[1]->u.str, args[1]->len, &picture);
	return sf_jn_number(&ev->arena,
						sf_jn_parse_integer(ev, args[0]->u.str, args[0]->len, &picture));
}
