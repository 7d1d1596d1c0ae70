/*
 * state_functions.c
 *		The functions that Step Functions adds to the library.
 */
#include "postgres.h"

#include <math.h>

#include "base/digest.h"
#include "base/uuid.h"
#include "jsonata/functions.h"
#include "jsonata/jsonata_print.h"
#include "miscadmin.h"

#define MAX_RANGE 1e7

/*
 * $partition(array, size): chunks of so many elements; without a size one
 * chunk.
 */
SF_JN_LIBRARY_FUNCTION(partition)
{
	SfJnValue  *list = args[0];
	SfJnValue  *result;
	double		size;
	uint32		i;

	if (list->len == 0)
		return NULL;
	size = args[1] == NULL ? list->len : floor(args[1]->u.number);
	if (size < 0)
		sf_jn_fail(ev, SF_JN_D3137, .value =
				   sf_jn_cstring(&ev->arena, "Second argument must be zero or greater"));
	if (!(size >= 1))
		return NULL;
	result = sf_jn_sequence(&ev->arena, 4);
	for (i = 0; i < list->len; i++)
	{
		if (fmod(i, size) == 0)
			sf_jn_push(&ev->arena, result, sf_jn_array(&ev->arena, 4));
		sf_jn_push(&ev->arena, result->u.items[result->len - 1], list->u.items[i]);
	}
	/* One chunk stays an array of chunks. */
	result->flags |= SF_JN_KEEP;
	return result;
}

/*
 * $range(first, last, step): the numbers from first to last.  No step, or one
 * that leads away, gives undefined.
 */
SF_JN_LIBRARY_FUNCTION(range)
{
	double		first = args[0]->u.number;
	double		step = args[2]->u.number;
	double		count = floor((args[1]->u.number - first) / step) + 1;
	SfJnValue  *result;
	uint32		i;

	if (!(count >= 1) || step == 0)
		return NULL;
	if (count > MAX_RANGE)
		sf_jn_fail(ev, SF_JN_D2014, .value = sf_jn_number(&ev->arena, count));
	result = sf_jn_sequence(&ev->arena, (uint32) count);
	for (i = 0; i < (uint32) count; i++)
		sf_jn_push(&ev->arena, result, sf_jn_number(&ev->arena, first + i * step));
	return result;
}

/* $hash(str, algorithm): hex digits */
SF_JN_LIBRARY_FUNCTION(hash)
{
	char	   *digest = sf_digest_hex(args[1]->u.str, args[1]->len,
									   args[0]->u.str, args[0]->len);

	if (digest == NULL)
		sf_jn_fail(ev, SF_JN_D3137, .value =
				   sf_jn_cstring(&ev->arena,
								 psprintf("Hash algorithm '%.*s' must be one of SHA-1, SHA-384, SHA-256, SHA-512, MD5",
										  (int) Min(args[1]->len, 100), args[1]->u.str)));
	return sf_jn_cstring(&ev->arena, digest);
}

/* $uuid(): random, version 4 */
SF_JN_LIBRARY_FUNCTION(uuid)
{
	return sf_jn_cstring(&ev->arena, sf_uuid_v4());
}

/* $parse(str): a JSON text */
SF_JN_LIBRARY_FUNCTION(parse)
{
	SfJnValue  *result = sf_jn_parse_json_strict(&ev->arena, args[0]->u.str,
												 (int) args[0]->len);

	if (result == NULL)
		sf_jn_fail(ev, SF_JN_D3137, .value = sf_jn_cstring(&ev->arena, "Invalid JSON"));
	return result;
}
