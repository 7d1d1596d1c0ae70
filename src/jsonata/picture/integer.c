/*
 * integer.c
 *		Integers by picture strings: digits of any script with separators,
 *		letters, Roman numerals, English words.
 */
#include "postgres.h"

#include <math.h>

#include "jsonata/function/functions.h"
#include "jsonata/picture/picture.h"

const char *const sf_jn_few[20] = {
	"Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine",
	"Ten", "Eleven", "Twelve", "Thirteen", "Fourteen", "Fifteen", "Sixteen",
	"Seventeen", "Eighteen", "Nineteen"
};

const char *const sf_jn_ordinals[20] = {
	"Zeroth", "First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh",
	"Eighth", "Ninth", "Tenth", "Eleventh", "Twelfth", "Thirteenth", "Fourteenth",
	"Fifteenth", "Sixteenth", "Seventeenth", "Eighteenth", "Nineteenth"
};

const char *const sf_jn_tens[8] = {
	"Twenty", "Thirty", "Forty", "Fifty", "Sixty", "Seventy", "Eighty", "Ninety"
};

const char *const sf_jn_magnitudes[4] = {
	"Thousand", "Million", "Billion", "Trillion"
};

/* First code points of Unicode's decimal digits */
static const uint32 digit_groups[] = {
	0x30, 0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6,
	0x0C66, 0x0CE6, 0x0D66, 0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0,
	0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620,
	0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10
};

/* Roman numerals, from the largest */
static const struct
{
	int			value;
	const char *letters;
}			romans[] =
{
	{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"},
	{50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"}
};

#define MAX_ROMAN 10000000		/* ten thousand letters M */

/* The zero of the group of digits that a character belongs to, or 0. */
static uint32
digit_group(uint32 c)
{
	for (size_t i = 0; i < lengthof(digit_groups); i++)
	{
		if (c >= digit_groups[i] && c <= digit_groups[i] + 9)
			return digit_groups[i];
	}
	return 0;
}

/*
 * Tell at which distance positions, which rise or fall, repeat (d, 2d, 3d …); 0: they
 * do not.
 */
int
sf_jn_regular_distance(SfJnEval *ev, const int *positions, int n)
{
	bool		rise = n > 0 && positions[0] <= positions[n - 1];
	int			distance = n == 0 ? 0 : rise ? positions[0] : positions[n - 1];

	for (int i = 0; i < n; i++)
	{
		sf_jn_check(ev);
		if (positions[rise ? i : n - 1 - i] != (int64) distance * (i + 1))
			return 0;
	}
	return distance;
}

/* Tell at which distance one separator repeats; 0: it does not. */
static int
separator_distance(SfJnEval *ev, const SfJnIntegerPicture *picture)
{
	int		   *positions = sf_jn_alloc(&ev->arena, (picture->nseparators + 1) * sizeof(int));

	for (int i = 0; i < picture->nseparators; i++)
	{
		if (picture->separators[i].character != picture->separators[0].character)
			return 0;
		positions[i] = picture->separators[i].position;
	}
	return sf_jn_regular_distance(ev, positions, picture->nseparators);
}

/* Read a picture of digits, from its right end. */
static void
digits_picture(SfJnEval *ev, const char *picture, Size len, SfJnIntegerPicture *out)
{
	uint32	   *chars = sf_jn_alloc(&ev->arena, (len + 1) * sizeof(uint32));
	int			n = 0;
	const char *at = picture;
	int			position = 0;
	int			distance;

	while (at < picture + len)
		at += sf_jn_decode(at, picture + len, &chars[n++]);
	out->separators = sf_jn_alloc(&ev->arena, (n + 1) * sizeof(SfJnSeparator));
	while (n-- > 0)
	{
		uint32		group = digit_group(chars[n]);

		sf_jn_check(ev);
		if (group != 0)
		{
			if (out->zero == 0)
				out->zero = group;
			else if (out->zero != group)
				sf_jn_fail(ev, SF_JN_ERROR_D3131);
			out->mandatory++;
			position++;
		}
		else if (chars[n] == '#')
		{
			out->optional++;
			position++;
		}
		else
		{
			out->separators[out->nseparators].position = position;
			out->separators[out->nseparators++].character = chars[n];
		}
	}
	if (out->mandatory == 0)
	{
		out->style = SF_JN_STYLE_NUMBERING;
		return;
	}
	distance = separator_distance(ev, out);
	if (distance > 0)
	{
		out->regular = true;
		out->separators[0].position = distance;
	}
}

/* Read the picture of an integer. */
void
sf_jn_integer_picture(SfJnEval *ev, const char *picture, Size len,
					  SfJnIntegerPicture *out)
{
	Size		primary = len;

	memset(out, 0, sizeof(*out));
	for (Size i = len; i > 0; i--)
	{
		if (picture[i - 1] != ';')
			continue;
		primary = i - 1;
		out->ordinal = i < len && picture[i] == 'o';
		break;
	}
	out->token = sf_jn_string_copy(&ev->arena, picture, primary);
	if (primary == 2 && memcmp(picture, "Ww", 2) == 0)
	{
		out->style = SF_JN_STYLE_WORDS;
		out->letter_case = SF_JN_CASE_TITLE;
		return;
	}
	if (primary == 1 && strchr("AaIiWw", picture[0]) != NULL)
	{
		out->letter_case = picture[0] >= 'a' ? SF_JN_CASE_LOWER : SF_JN_CASE_UPPER;
		out->style = picture[0] == 'A' || picture[0] == 'a' ? SF_JN_STYLE_LETTERS :
			picture[0] == 'I' || picture[0] == 'i' ? SF_JN_STYLE_ROMAN : SF_JN_STYLE_WORDS;
		return;
	}
	out->style = SF_JN_STYLE_DECIMAL;
	digits_picture(ev, picture, primary, out);
}

/* Append a number in words; follows: it comes after a larger part. */
static void
append_words(SfJnEval *ev, StringInfo buf, double n, bool follows, bool ordinal)
{
	if (n <= 19)
	{
		appendStringInfoString(buf, follows ? " and " : "");
		appendStringInfoString(buf, ordinal ? sf_jn_ordinals[(int) n] : sf_jn_few[(int) n]);
	}
	else if (n < 100)
	{
		appendStringInfoString(buf, follows ? " and " : "");
		appendStringInfoString(buf, sf_jn_tens[(int) n / 10 - 2]);
		if ((int) n % 10 > 0)
		{
			appendStringInfoChar(buf, '-');
			append_words(ev, buf, (int) n % 10, false, ordinal);
		}
		else if (ordinal)
		{
			/* Twenty, twentieth */
			buf->len--;
			appendStringInfoString(buf, "ieth");
		}
	}
	else
	{
		int			magnitude = n < 1000 ? 0 : Min((int) floor(log10(n) / 3), 4);
		double		factor = magnitude == 0 ? 100 : pow(10, magnitude * 3);
		double		mantissa = floor(n / factor);
		double		rest = n - mantissa * factor;

		sf_jn_check(ev);
		appendStringInfoString(buf, follows ? ", " : "");
		append_words(ev, buf, mantissa, false, false);
		appendStringInfo(buf, " %s",
						 magnitude == 0 ? "Hundred" : sf_jn_magnitudes[magnitude - 1]);
		if (rest > 0)
			append_words(ev, buf, rest, true, ordinal);
		else if (ordinal)
			appendStringInfoString(buf, "th");
	}
}

/* Append a number by letters: a, b, … z, aa, … */
static void
append_letters(StringInfo buf, double n, char first)
{
	char		letters[256];
	int			at = sizeof(letters);

	while (n > 0 && isfinite(n) && at > 0)
	{
		letters[--at] = first + (char) fmod(n - 1, 26);
		n = floor((n - 1) / 26);
	}
	appendBinaryStringInfo(buf, letters + at, sizeof(letters) - at);
}

/* Append a Roman numeral. */
static void
append_roman(SfJnEval *ev, StringInfo buf, double n)
{
	if (n > MAX_ROMAN)
		sf_jn_fail(ev, SF_JN_ERROR_D3137,
				   .value = sf_jn_cstring(&ev->arena, "number is too large for a Roman numeral"));
	for (size_t i = 0; i < lengthof(romans); i++)
	{
		for (; n >= romans[i].value; n -= romans[i].value)
			appendStringInfoString(buf, romans[i].letters);
	}
}

/* Put one separator between digits wherever so many are left, or a multiple of these. */
static int
separate_regularly(const char *digits, int n, const SfJnSeparator *separator, uint32 *out)
{
	int			len = 0;

	for (int i = 0; i < n; i++)
	{
		if (i > 0 && (n - i) % separator->position == 0)
			out[len++] = separator->character;
		out[len++] = (unsigned char) digits[i];
	}
	return len;
}

/*
 * Put separators between digits, each where so many are left, from the left.
 *
 * A separator that would stand to the left of all digits goes to the front.  Behind it
 * the reference keeps the last characters only, as many as it lacks to its position.
 */
static int
separate(SfJnEval *ev, const char *digits, int n, const SfJnIntegerPicture *picture, uint32 *out)
{
	uint32	   *text = sf_jn_alloc(&ev->arena, ((Size) picture->nseparators + n + 1) * sizeof(uint32));
	int			start = picture->nseparators;
	int			end = start + n;
	int			i = picture->nseparators - 1;
	int			len = 0;

	for (int k = 0; k < n; k++)
		text[start + k] = (unsigned char) digits[k];
	for (; i >= 0 && picture->separators[i].position > end - start; i--)
	{
		start = end - Min(picture->separators[i].position - (end - start), end - start);
		text[--start] = picture->separators[i].character;
	}
	for (; i >= 0; i--)
	{
		sf_jn_check(ev);
		while (start < end - picture->separators[i].position)
			out[len++] = text[start++];
		out[len++] = picture->separators[i].character;
	}
	while (start < end)
		out[len++] = text[start++];
	return len;
}

/* Append the digits of a number. */
static void
append_digits(SfJnEval *ev, StringInfo buf, double value, const SfJnIntegerPicture *picture)
{
	char		text[SF_JN_NUMBER_LEN];
	int			len = sf_jn_print_number(value, text);
	int			n = Max(len, picture->mandatory);
	char	   *digits = sf_jn_alloc(&ev->arena, n + 1);
	uint32	   *out = sf_jn_alloc(&ev->arena, ((Size) n * 2 + picture->nseparators + 1) * sizeof(uint32));
	const char *suffix = "th";

	memset(digits, '0', n - len);
	memcpy(digits + n - len, text, len);
	n = picture->regular ? separate_regularly(digits, n, &picture->separators[0], out) :
		separate(ev, digits, n, picture, out);
	if (picture->ordinal)
	{
		uint32		last = out[n - 1];
		bool		teen = n > 1 && out[n - 2] == '1';

		if (!teen && last >= '1' && last <= '3')
			suffix = last == '1' ? "st" : last == '2' ? "nd" : "rd";
	}
	for (int i = 0; i < n; i++)
	{
		char		encoded[4];
		uint32		c = out[i] >= '0' && out[i] <= '9' ? picture->zero + (out[i] - '0') : out[i];

		sf_jn_check(ev);
		appendBinaryStringInfo(buf, encoded, sf_jn_encode(c, encoded));
	}
	if (picture->ordinal)
		appendStringInfoString(buf, suffix);
}

/* Append an integer by its picture. */
void
sf_jn_append_integer(SfJnEval *ev, StringInfo buf, double value,
					 const SfJnIntegerPicture *picture)
{
	int			start;

	if (value < 0)
		appendStringInfoChar(buf, '-');
	value = fabs(value);
	start = buf->len;
	switch (picture->style)
	{
		case SF_JN_STYLE_DECIMAL:
			append_digits(ev, buf, value, picture);
			return;
		case SF_JN_STYLE_LETTERS:
			append_letters(buf, value, picture->letter_case == SF_JN_CASE_UPPER ? 'A' : 'a');
			return;
		case SF_JN_STYLE_ROMAN:
			append_roman(ev, buf, value);
			break;
		case SF_JN_STYLE_WORDS:
			if (isfinite(value))
				append_words(ev, buf, value, false, picture->ordinal);
			break;
		case SF_JN_STYLE_NUMBERING:
			sf_jn_fail(ev, SF_JN_ERROR_D3130, .value = picture->token);
	}
	for (; start < buf->len && picture->letter_case != SF_JN_CASE_TITLE; start++)
		buf->data[start] = picture->letter_case == SF_JN_CASE_UPPER ?
			pg_ascii_toupper((unsigned char) buf->data[start]) :
			pg_ascii_tolower((unsigned char) buf->data[start]);
}

/* $formatInteger(number, picture) */
SF_JN_LIBRARY_FUNCTION(formatInteger)
{
	SfJnIntegerPicture picture;
	StringInfoData buf;

	sf_jn_integer_picture(ev, args[1]->u.str, args[1]->len, &picture);
	initStringInfo(&buf);
	sf_jn_append_integer(ev, &buf, floor(args[0]->u.number), &picture);
	return sf_jn_string_of(&ev->arena, &buf);
}
