/*
 * format_number.c
 *		$formatNumber: numbers by decimal pictures (XPath functions and
 *		operators, section 4.7).
 *
 * Text is an array of code points here.  A picture is split into parts.  The
 * parts are checked and give sizes and grouping positions.  The number is then
 * formatted by the rules of the specification, in their order.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"

#include "jsonata/function/functions.h"
#include "jsonata/picture/picture.h"

#define MAX_FRACTION 100		/* digits after the point, as toFixed() has it */

/* A run of code points, not owned */
typedef struct Run
{
	const uint32 *at;
	int			n;
} Run;

/* The characters of a decimal format */
typedef struct Symbols
{
	uint32		decimal;
	uint32		grouping;
	uint32		exponent;
	uint32		zero;
	uint32		digit;
	uint32		separator;
	Run			percent;
	Run			per_mille;
	Run			minus;
} Symbols;

/* Separators at so many digits from the point */
typedef struct Positions
{
	int		   *at;
	int			n;
} Positions;

typedef struct SubPicture
{
	Run			whole;
	Run			prefix;
	Run			suffix;
	Run			active;
	Run			mantissa;
	Run			integer;
	Run			fraction;
	Run			exponent;
	bool		has_exponent;

	int			regular;		/* distance of separators, or 0 */
	Positions	integer_groups;
	Positions	fraction_groups;
	int			min_integer;
	int			scaling;
	int			min_fraction;
	int			max_fraction;
	int			min_exponent;
} SubPicture;

/* Decode a string. */
static Run
decode(SfJnEval *ev, const SfJnValue *text)
{
	uint32	   *at = sf_jn_alloc(&ev->arena, ((Size) text->len + 1) * sizeof(uint32));
	const char *p = text->u.str;
	Run			run = {at, 0};

	while (p < text->u.str + text->len)
	{
		sf_jn_check(ev);
		p += sf_jn_decode(p, text->u.str + text->len, &at[run.n++]);
	}
	return run;
}

/* Take a part of a run. */
static Run
part_of(Run run, int from, int to)
{
	Run			part;

	from = Max(Min(from, run.n), 0);
	to = Max(Min(to, run.n), from);
	part.at = run.at + from;
	part.n = to - from;
	return part;
}

/* Where the position of a character may stand: it is not there */
#define NOT_FOUND	(-1)

/* Find a character at or after a position, or NOT_FOUND. */
static int
find_char(Run run, uint32 c, int from)
{
	int			i;

	for (i = Max(from, 0); i < run.n; i++)
	{
		if (run.at[i] == c)
			return i;
	}
	return NOT_FOUND;
}

/* Count the positions where one run stands in another. */
static int
count_runs(SfJnEval *ev, Run run, Run needle)
{
	int			count = 0;

	for (int i = 0; needle.n > 0 && i + needle.n <= run.n; i++)
	{
		if (run.at[i] != needle.at[0])
			continue;
		sf_jn_check(ev);
		count += memcmp(run.at + i, needle.at, needle.n * sizeof(uint32)) == 0;
	}
	return count;
}

/* Tell whether a character is a digit of the format. */
static bool
is_digit(const Symbols *symbols, uint32 c)
{
	return c >= symbols->zero && c < symbols->zero + 10;
}

/* Tell whether a character means something in a picture. */
static bool
is_active(const Symbols *symbols, uint32 c)
{
	return is_digit(symbols, c) || c == symbols->decimal || c == symbols->exponent ||
		c == symbols->grouping || c == symbols->digit || c == symbols->separator;
}

/* Tell whether a character is a digit of the format, mandatory or optional. */
static bool
is_any_digit(const Symbols *symbols, uint32 c)
{
	return is_digit(symbols, c) || c == symbols->digit;
}

/* Count the digits of a run: mandatory ones, or optional ones too. */
static int
count_digits(const Symbols *symbols, Run run, bool optional)
{
	int			count = 0;

	for (int i = 0; i < run.n; i++)
		count += optional ? is_any_digit(symbols, run.at[i]) : is_digit(symbols, run.at[i]);
	return count;
}

/* One character of the options, or its default. */
static uint32
symbol(SfJnEval *ev, const SfJnValue *options, const char *name, uint32 fallback)
{
	SfJnValue  *value = SF_JN_IS_OBJECT(options) ? sf_jn_get(options, name) : NULL;
	uint32		c = fallback;

	if (SF_JN_IS_STRING(value) && value->len > 0)
		sf_jn_decode(value->u.str, value->u.str + value->len, &c);
	return c;
}

/* Read a string of the options, or its default. */
static Run
symbol_run(SfJnEval *ev, const SfJnValue *options, const char *name, const char *fallback)
{
	SfJnValue  *value = SF_JN_IS_OBJECT(options) ? sf_jn_get(options, name) : NULL;

	if (!SF_JN_IS_STRING(value))
		value = sf_jn_cstring(&ev->arena, fallback);
	return decode(ev, value);
}

/* Read the options. */
static void
read_symbols(SfJnEval *ev, const SfJnValue *options, Symbols *symbols)
{
	symbols->decimal = symbol(ev, options, "decimal-separator", '.');
	symbols->grouping = symbol(ev, options, "grouping-separator", ',');
	symbols->exponent = symbol(ev, options, "exponent-separator", 'e');
	symbols->zero = symbol(ev, options, "zero-digit", '0');
	symbols->digit = symbol(ev, options, "digit", '#');
	symbols->separator = symbol(ev, options, "pattern-separator", ';');
	symbols->percent = symbol_run(ev, options, "percent", "%");
	symbols->per_mille = symbol_run(ev, options, "per-mille", "\xe2\x80\xb0");
	symbols->minus = symbol_run(ev, options, "minus-sign", "-");
}

/* Split a sub-picture into its parts. */
static void
split_parts(const Symbols *symbols, Run whole, SubPicture *picture)
{
	int			first = 0;
	int			last = whole.n;
	int			exponent;
	int			point;

	memset(picture, 0, sizeof(*picture));
	picture->whole = whole;
	while (first < whole.n &&
		   (!is_active(symbols, whole.at[first]) || whole.at[first] == symbols->exponent))
		first++;
	while (last > 0 &&
		   (!is_active(symbols, whole.at[last - 1]) || whole.at[last - 1] == symbols->exponent))
		last--;
	/* Without any character that means something all of it is the active part. */
	if (first == whole.n)
	{
		first = 0;
		last = whole.n;
	}
	picture->prefix = part_of(whole, 0, first);
	picture->suffix = part_of(whole, last, whole.n);
	picture->active = part_of(whole, first, last);
	exponent = find_char(whole, symbols->exponent, first);
	if (exponent == NOT_FOUND || exponent > last)
		picture->mantissa = picture->active;
	else
	{
		picture->has_exponent = true;
		/* As in the reference a prefix shifts where the exponent begins. */
		picture->mantissa = part_of(picture->active, 0, exponent);
		picture->exponent = part_of(picture->active, exponent + 1, picture->active.n);
	}
	point = find_char(picture->mantissa, symbols->decimal, 0);
	picture->integer = point == NOT_FOUND ? picture->mantissa : part_of(picture->mantissa, 0, point);
	picture->fraction = point == NOT_FOUND ? picture->suffix :
		part_of(picture->mantissa, point + 1, picture->mantissa.n);
}

/* Check a sub-picture.  Of several errors the last one counts. */
static void
check_parts(SfJnEval *ev, const Symbols *symbols, const SubPicture *picture)
{
	SfJnErrorCode error = SF_JN_ERROR_NONE;
	Run			decimal = {&symbols->decimal, 1};
	uint32		twice[2] = {symbols->grouping, symbols->grouping};
	Run			groups = {twice, 2};
	int			point = find_char(picture->whole, symbols->decimal, 0);
	int			percent = count_runs(ev, picture->whole, symbols->percent);
	int			per_mille = count_runs(ev, picture->whole, symbols->per_mille);
	int			optional;
	int			i;

	if (count_runs(ev, picture->whole, decimal) > 1)
		error = SF_JN_ERROR_D3081;
	if (percent > 1)
		error = SF_JN_ERROR_D3082;
	if (per_mille > 1)
		error = SF_JN_ERROR_D3083;
	if (percent > 0 && per_mille > 0)
		error = SF_JN_ERROR_D3084;
	if (count_digits(symbols, picture->mantissa, true) == 0)
		error = SF_JN_ERROR_D3085;
	for (i = 0; i < picture->active.n; i++)
	{
		if (!is_active(symbols, picture->active.at[i]))
			error = SF_JN_ERROR_D3086;
	}
	if (point >= 0)
	{
		if ((point > 0 && picture->whole.at[point - 1] == symbols->grouping) ||
			(point + 1 < picture->whole.n && picture->whole.at[point + 1] == symbols->grouping))
			error = SF_JN_ERROR_D3087;
	}
	else if (picture->integer.n > 0 && picture->integer.at[picture->integer.n - 1] == symbols->grouping)
		error = SF_JN_ERROR_D3088;
	if (count_runs(ev, picture->whole, groups) > 0)
		error = SF_JN_ERROR_D3089;
	optional = find_char(picture->integer, symbols->digit, 0);
	if (optional != NOT_FOUND && count_digits(symbols, part_of(picture->integer, 0, optional), false) > 0)
		error = SF_JN_ERROR_D3090;
	for (i = picture->fraction.n; i > 0 && picture->fraction.at[i - 1] != symbols->digit; i--)
		;
	if (i > 0 && count_digits(symbols, part_of(picture->fraction, i, picture->fraction.n), false) > 0)
		error = SF_JN_ERROR_D3091;
	if (picture->has_exponent && picture->exponent.n > 0 && (percent > 0 || per_mille > 0))
		error = SF_JN_ERROR_D3092;
	if (picture->has_exponent &&
		(picture->exponent.n == 0 || count_digits(symbols, picture->exponent, false) < picture->exponent.n))
		error = SF_JN_ERROR_D3093;
	if (error != SF_JN_ERROR_NONE)
		sf_jn_fail(ev, error);
}

/* Tell how many digits stand right (or left) of each separator of a part. */
static Positions
group_positions(SfJnEval *ev, const Symbols *symbols, Run part, Run integer, bool left)
{
	Positions	result;
	int			total = count_digits(symbols, part, true);
	int			passed = 0;		/* characters of the part */
	int			before = 0;		/* digits among these */

	result.at = sf_jn_alloc(&ev->arena, (part.n + integer.n + 1) * sizeof(int));
	result.n = 0;
	/* The reference looks for further ones in the integer part, whichever it is. */
	for (int i = find_char(part, symbols->grouping, 0); i != NOT_FOUND;
		 i = find_char(integer, symbols->grouping, i + 1))
	{
		for (; passed < Min(i, part.n); passed++)
			before += is_any_digit(symbols, part.at[passed]);
		result.at[result.n++] = left ? before : total - before;
		sf_jn_check(ev);
	}
	return result;
}

/* Work out the sizes that a sub-picture asks for. */
static void
analyse_parts(SfJnEval *ev, const Symbols *symbols, SubPicture *picture)
{
	picture->integer_groups = group_positions(ev, symbols, picture->integer, picture->integer, false);
	picture->regular = sf_jn_regular_distance(ev, picture->integer_groups.at, picture->integer_groups.n);
	picture->fraction_groups = group_positions(ev, symbols, picture->fraction, picture->integer, true);
	picture->min_integer = count_digits(symbols, picture->integer, false);
	picture->scaling = picture->min_integer;
	picture->min_fraction = count_digits(symbols, picture->fraction, false);
	picture->max_fraction = count_digits(symbols, picture->fraction, true);
	if (picture->min_integer == 0 && picture->max_fraction == 0)
	{
		if (picture->has_exponent)
			picture->min_fraction = picture->max_fraction = 1;
		else
			picture->min_integer = 1;
	}
	if (picture->has_exponent && picture->min_integer == 0 &&
		find_char(picture->integer, symbols->digit, 0) != NOT_FOUND)
		picture->min_integer = 1;
	if (picture->min_integer == 0 && picture->min_fraction == 0)
		picture->min_fraction = 1;
	picture->min_exponent = picture->has_exponent ? count_digits(symbols, picture->exponent, false) : 0;
}

/* Code points of the result, with room to insert */
typedef struct Output
{
	uint32	   *at;
	int			n;
	int			cap;
} Output;

/* Insert a character so many times. */
static void
insert(SfJnEval *ev, Output *out, int where, uint32 c, int times)
{
	if (times <= 0)
		return;
	where = Max(Min(where, out->n), 0);
	if (out->n + times > out->cap)
	{
		out->cap = (out->n + times) * 2;
		out->at = sf_jn_grow(&ev->arena, out->at, out->n, out->cap, sizeof(uint32));
	}
	memmove(out->at + where + times, out->at + where, (out->n - where) * sizeof(uint32));
	for (int i = 0; i < times; i++)
		out->at[where + i] = c;
	out->n += times;
}

/*
 * Insert a character at each of some offsets, which rise.  An offset counts in the text
 * that has those before it already.
 */
static void
insert_each(SfJnEval *ev, Output *out, uint32 c, const int *offsets, int n)
{
	Output		result = {NULL, 0, out->n + n + 1};
	int			from = 0;

	result.at = sf_jn_alloc(&ev->arena, (Size) result.cap * sizeof(uint32));
	for (int i = 0; i < n; i++)
	{
		int			offset = Min(offsets[i], out->n + i);

		sf_jn_check(ev);
		while (result.n < offset)
			result.at[result.n++] = out->at[from++];
		result.at[result.n++] = c;
	}
	while (from < out->n)
		result.at[result.n++] = out->at[from++];
	*out = result;
}

/* Append text of digits and perhaps a point. */
static void
append_number(SfJnEval *ev, const Symbols *symbols, Output *out, const char *text)
{
	for (; *text != '\0'; text++)
		insert(ev, out, out->n, *text >= '0' && *text <= '9' ? symbols->zero + (*text - '0') :
			   *text == '.' ? symbols->decimal : (uint32) *text, 1);
}

/*
 * Put the digits of the mantissa down: without needless zeros, then padded.
 * Returns the position of the point.
 */
static int
put_digits(SfJnEval *ev, const Symbols *symbols, const SubPicture *picture, double mantissa, Output *out)
{
	double		rounded = fabs(sf_jn_round(mantissa, Min(picture->max_fraction, 400)));
	char		text[512];
	int			strip = 0;
	int			point;

	if (rounded < 1e21)
		snprintf(text, sizeof(text), "%.*f", Min(picture->max_fraction, MAX_FRACTION), rounded);
	else
		sf_jn_print_number(rounded, text);
	append_number(ev, symbols, out, text);
	if (strchr(text, '.') == NULL)
		insert(ev, out, out->n, symbols->decimal, 1);
	while (strip < out->n && out->at[strip] == symbols->zero)
		strip++;
	out->at += strip;
	out->n -= strip;
	out->cap -= strip;
	while (out->n > 0 && out->at[out->n - 1] == symbols->zero)
		out->n--;

	point = find_char((Run) {out->at, out->n}, symbols->decimal, 0);
	insert(ev, out, out->n, symbols->zero, picture->min_fraction - (out->n - point - 1));
	insert(ev, out, 0, symbols->zero, picture->min_integer - point);
	return Max(point, picture->min_integer);
}

/* Put the separators of the integer part, which ends at point, when they repeat. */
static void
put_regular_separators(SfJnEval *ev, const Symbols *symbols, int distance, Output *out, int point)
{
	int			n = Max(point - 1, 0) / distance;
	int		   *offsets = sf_jn_alloc(&ev->arena, (n + 1) * sizeof(int));

	for (int i = 0; i < n; i++)
		offsets[i] = point - (n - i) * distance + i;
	insert_each(ev, out, symbols->grouping, offsets, n);
}

/*
 * Put the separators of the integer part, which ends at point.  The reference counts one
 * that would stand to the left of all digits from the end of the whole text.
 */
static void
put_integer_separators(SfJnEval *ev, const Symbols *symbols, const Positions *groups, Output *out, int point)
{
	int		   *offsets = sf_jn_alloc(&ev->arena, (groups->n + 1) * sizeof(int));
	int			before;

	for (before = 0; before < groups->n && point + before < groups->at[before]; before++)
		offsets[before] = out->n + before + point + before - groups->at[before];
	insert_each(ev, out, symbols->grouping, offsets, before);
	for (int i = before; i < groups->n; i++)
		offsets[i] = point + i - groups->at[i];
	insert_each(ev, out, symbols->grouping, offsets + before, groups->n - before);
}

/* Put the separators between the digits. */
static void
put_separators(SfJnEval *ev, const Symbols *symbols, const SubPicture *picture, Output *out, int point)
{
	int		   *offsets = sf_jn_alloc(&ev->arena, (picture->fraction_groups.n + 1) * sizeof(int));

	if (picture->regular > 0)
		put_regular_separators(ev, symbols, picture->regular, out, point);
	else
		put_integer_separators(ev, symbols, &picture->integer_groups, out, point);
	point = find_char((Run) {out->at, out->n}, symbols->decimal, 0);
	for (int i = 0; i < picture->fraction_groups.n; i++)
		offsets[i] = picture->fraction_groups.at[i] + point + 1;
	insert_each(ev, out, symbols->grouping, offsets, picture->fraction_groups.n);
	point = find_char((Run) {out->at, out->n}, symbols->decimal, 0);
	if (find_char(picture->whole, symbols->decimal, 0) == NOT_FOUND || point == out->n - 1)
		out->n--;
}

/* Bring a number into the range of its mantissa; returns the exponent. */
static int
scale(const SubPicture *picture, double *mantissa)
{
	double		most = pow(10, picture->scaling);
	double		least = pow(10, picture->scaling - 1);
	int			exponent = 0;

	if (*mantissa == 0 || !isfinite(*mantissa))
		return 0;
	for (; fabs(*mantissa) < least; exponent--)
		*mantissa *= 10;
	for (; fabs(*mantissa) > most; exponent++)
		*mantissa /= 10;
	return exponent;
}

/* Append code points as UTF-8. */
static void
append_run(SfJnEval *ev, StringInfo buf, Run run)
{
	char		text[4];

	for (int i = 0; i < run.n; i++)
	{
		sf_jn_check(ev);
		appendBinaryStringInfo(buf, text, sf_jn_encode(run.at[i], text));
	}
}

/* Format a number by a sub-picture. */
static SfJnValue *
format(SfJnEval *ev, const Symbols *symbols, const SubPicture *picture, double value, bool minus)
{
	Output		out = {NULL, 0, 0};
	StringInfoData buf;
	int			exponent = 0;
	int			point;

	if (count_runs(ev, picture->whole, symbols->percent) > 0)
		value *= 100;
	else if (count_runs(ev, picture->whole, symbols->per_mille) > 0)
		value *= 1000;
	if (picture->min_exponent > 0)
		exponent = scale(picture, &value);
	point = put_digits(ev, symbols, picture, value, &out);
	put_separators(ev, symbols, picture, &out, point);

	initStringInfo(&buf);
	if (minus)
		append_run(ev, &buf, symbols->minus);
	append_run(ev, &buf, picture->prefix);
	append_run(ev, &buf, (Run) {out.at, out.n});
	if (picture->min_exponent > 0)
	{
		Output		digits = {NULL, 0, 0};
		char		text[16];

		snprintf(text, sizeof(text), "%d", abs(exponent));
		append_number(ev, symbols, &digits, text);
		insert(ev, &digits, 0, symbols->zero, picture->min_exponent - digits.n);
		append_run(ev, &buf, (Run) {&symbols->exponent, 1});
		if (exponent < 0)
			append_run(ev, &buf, symbols->minus);
		append_run(ev, &buf, (Run) {digits.at, digits.n});
	}
	append_run(ev, &buf, picture->suffix);
	return sf_jn_string_of(&ev->arena, &buf);
}

/* $formatNumber(number, picture, options) */
SF_JN_LIBRARY_FUNCTION(formatNumber)
{
	Symbols		symbols;
	SubPicture	parts[2];
	Run			picture;
	int			n = 0;
	int			start = 0;

	read_symbols(ev, args[2], &symbols);
	picture = decode(ev, args[1]);
	for (;;)
	{
		int			end = find_char(picture, symbols.separator, start);

		if (n == 2)
			sf_jn_fail(ev, SF_JN_ERROR_D3080);
		split_parts(&symbols, part_of(picture, start, end == NOT_FOUND ? picture.n : end), &parts[n++]);
		if (end == NOT_FOUND)
			break;
		start = end + 1;
	}
	for (int i = 0; i < n; i++)
		check_parts(ev, &symbols, &parts[i]);
	for (int i = 0; i < n; i++)
		analyse_parts(ev, &symbols, &parts[i]);
	if (args[0]->u.number >= 0 || isnan(args[0]->u.number))
		return format(ev, &symbols, &parts[0], args[0]->u.number, false);
	return format(ev, &symbols, &parts[n - 1], args[0]->u.number, n == 1);
}
