/*
 * number_functions.c
 *		The library: numbers.
 */
#include "postgres.h"

#include <math.h>

#include "common/jsonapi.h"
#include "common/pg_prng.h"

#include "base/value/random.h"
#include "jsonata/function/functions.h"

/* $abs(number) */
SF_JN_LIBRARY_FUNCTION(abs)
{
	return sf_jn_number(&ev->arena, fabs(args[0]->u.number));
}

/* $floor(number) */
SF_JN_LIBRARY_FUNCTION(floor)
{
	return sf_jn_number(&ev->arena, floor(args[0]->u.number));
}

/* $ceil(number) */
SF_JN_LIBRARY_FUNCTION(ceil)
{
	return sf_jn_number(&ev->arena, ceil(args[0]->u.number));
}

/* Shift the decimal point of a number without the rounding of a product. */
static double
shift_point(double d, int places)
{
	char		text[SF_JN_NUMBER_LEN + 16];
	int			len = sf_jn_print_number(d, text);
	char	   *e = memchr(text, 'e', len);
	int			exponent = places + (e == NULL ? 0 : atoi(e + 1));

	if (!isfinite(d))
		return d;
	if (e == NULL)
		e = text + len;
	snprintf(e, text + sizeof(text) - e, "e%d", exponent);
	return strtod(text, NULL);
}

/* Round to so many decimals; halves go to the even neighbour. */
double
sf_jn_round(double d, int decimals)
{
	double		result;

	if (decimals != 0)
		d = shift_point(d, decimals);
	result = floor(d + 0.5);
	if (fabs(d) >= 4503599627370496.0)
		result = d;
	if (fabs(result - d) == 0.5 && fabs(fmod(result, 2)) == 1)
		result -= 1;
	if (decimals != 0)
		result = shift_point(result, -decimals);
	return result == 0 ? 0 : result;
}

/* $round(number, precision) */
SF_JN_LIBRARY_FUNCTION(round)
{
	return sf_jn_number(&ev->arena,
						sf_jn_round(args[0]->u.number, args[1] == NULL ? 0 :
									(int) Max(Min(args[1]->u.number, 400), -400)));
}

/* $sqrt(number) */
SF_JN_LIBRARY_FUNCTION(sqrt)
{
	if (args[0]->u.number < 0)
		sf_jn_fail(ev, SF_JN_ERROR_D3060, .value = args[0], .index = 1);
	return sf_jn_number(&ev->arena, sqrt(args[0]->u.number));
}

/* $power(base, exponent) */
SF_JN_LIBRARY_FUNCTION(power)
{
	/* Without an exponent, and for (±1)^±∞, JavaScript has NaN. */
	double		result = args[1] == NULL ? NAN : pow(args[0]->u.number, args[1]->u.number);

	if (!isfinite(result))
		sf_jn_fail(ev, SF_JN_ERROR_D3061, .index = 1, .value = args[0], .value2 = args[1]);
	return sf_jn_number(&ev->arena, result);
}

/* Draw the first number of a generator with a seed, as Step Functions does. */
static double
java_random(int64 seed)
{
	uint64		state = sf_java_random_seed(seed);
	uint64		high = sf_java_random_bits(&state, 26);
	uint64		low = sf_java_random_bits(&state, 27);

	return (double) ((high << 27) + low) * (1.0 / (double) (UINT64CONST(1) << 53));
}

/* $random(seed) */
SF_JN_LIBRARY_FUNCTION(random)
{
	if (SF_JN_IS_NUMBER(args[0]))
	{
		double		seed = args[0]->u.number;
		int64		n = seed >= 9.2233720368547758e18 ? PG_INT64_MAX :
			seed <= -9.2233720368547758e18 ? PG_INT64_MIN : (int64) seed;

		if ((args[0]->flags & SF_JN_EXACT) != 0)
			n = ((SfJnExact *) args[0])->exact;
		return sf_jn_number(&ev->arena, java_random(n));
	}
	return sf_jn_number(&ev->arena, pg_prng_double(&pg_global_prng_state));
}

/* Check a string against the decimal notation that $number takes. */
static bool
is_decimal(const char *s, Size len)
{
	if (len > 1 && *s == '-' && s[1] != '-')
	{
		s++;
		len--;
	}
	/* unlike in JSON there may be zeros in front */
	while (len > 1 && s[0] == '0' && isdigit((unsigned char) s[1]))
	{
		s++;
		len--;
	}
	return len <= PG_INT32_MAX && IsValidJsonNumber(s, (int) len);
}

/* Read 0x…, 0o… or 0b…; false when it is none of them. */
static bool
parse_radix(const char *s, Size len, double *result)
{
	int			base;

	if (len < 3 || s[0] != '0')
		return false;
	base = s[1] == 'x' || s[1] == 'X' ? 16 : s[1] == 'o' || s[1] == 'O' ? 8 :
		s[1] == 'b' || s[1] == 'B' ? 2 : 0;
	if (base == 0)
		return false;
	*result = 0;
	for (Size i = 2; i < len; i++)
	{
		int			digit;

		if (!sf_jn_hex_value(s + i, s + len, 1, &digit) || digit >= base)
			return false;
		*result = *result * base + digit;
	}
	return true;
}

/* $number(value) */
SF_JN_LIBRARY_FUNCTION(number)
{
	SfJnValue  *value = args[0];
	double		d;

	if (value->type == SF_JN_TYPE_NUMBER)
		return value;
	if (value->type == SF_JN_TYPE_BOOL)
		return sf_jn_number(&ev->arena, value->u.boolean ? 1 : 0);
	if (value->type == SF_JN_TYPE_STRING)
	{
		if (is_decimal(value->u.str, value->len))
		{
			d = sf_jn_parse_number(value->u.str, value->len);
			if (isfinite(d))
				return sf_jn_number(&ev->arena, d);
		}
		else if (parse_radix(value->u.str, value->len, &d))
			return sf_jn_number(&ev->arena, d);
	}
	sf_jn_fail(ev, SF_JN_ERROR_D3030, .value = value, .index = 1);
}

/* $formatBase(number, radix) */
SF_JN_LIBRARY_FUNCTION(formatBase)
{
	char		digits[1100];
	int			n = sizeof(digits);
	double		value = sf_jn_round(args[0]->u.number, 0);
	double		radix = args[1] == NULL ? 10 : sf_jn_round(args[1]->u.number, 0);
	double		rest;

	if (radix < 2 || radix > 36)
		sf_jn_fail(ev, SF_JN_ERROR_D3100, .value = sf_jn_number(&ev->arena, radix));
	if (radix == 10 || !isfinite(value))
	{
		char	   *text = sf_jn_alloc(&ev->arena, SF_JN_NUMBER_LEN);

		return sf_jn_string(&ev->arena, text, sf_jn_print_number(value, text));
	}
	for (rest = fabs(value); rest >= 1 || n == sizeof(digits); rest = floor(rest / radix))
		digits[--n] = "0123456789abcdefghijklmnopqrstuvwxyz"[(int) fmod(rest, radix)];
	if (value < 0)
		digits[--n] = '-';
	return sf_jn_string_copy(&ev->arena, digits + n, sizeof(digits) - n);
}

/* $sum(array) */
SF_JN_LIBRARY_FUNCTION(sum)
{
	double		total = 0;

	for (uint32 i = 0; i < args[0]->len; i++)
		total += args[0]->u.items[i]->u.number;
	return sf_jn_number(&ev->arena, total);
}

/* $count(array) */
SF_JN_LIBRARY_FUNCTION(count)
{
	return sf_jn_number(&ev->arena, args[0] == NULL ? 0 : args[0]->len);
}

/* Find the largest (or smallest) of the numbers in an array. */
static SfJnValue *
extreme(SfJnEval *ev, const SfJnValue *list, bool largest)
{
	double		result = largest ? -INFINITY : INFINITY;

	for (uint32 i = 0; i < list->len; i++)
		result = largest ? Max(result, list->u.items[i]->u.number) :
			Min(result, list->u.items[i]->u.number);
	return list->len == 0 ? NULL : sf_jn_number(&ev->arena, result);
}

/* $max(array) */
SF_JN_LIBRARY_FUNCTION(max)
{
	return extreme(ev, args[0], true);
}

/* $min(array) */
SF_JN_LIBRARY_FUNCTION(min)
{
	return extreme(ev, args[0], false);
}

/* $average(array) */
SF_JN_LIBRARY_FUNCTION(average)
{
	return args[0]->len == 0 ? NULL :
		sf_jn_number(&ev->arena,
					 sf_jn_fn_sum(ev, args, nargs)->u.number / args[0]->len);
}
