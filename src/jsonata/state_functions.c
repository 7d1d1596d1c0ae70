/*
 * state_functions.c
 *		The functions that Step Functions adds to the library.
 */
#include "postgres.h"

#include <math.h>

#include "common/cryptohash.h"
#include "common/sha1.h"
#include "common/sha2.h"
#include "common/md5.h"
#include "jsonata/functions.h"
#include "jsonata/jsonata_print.h"
#include "miscadmin.h"

#define MAX_RANGE 1e7

/*
 * $partition(array, size): chunks of so many elements; without a size one
 * chunk.
 */
SF_JN_FUNCTION(partition)
{
	SfJnValue  *list = args[0];
	SfJnValue  *result;
	double		size;
	uint32		i;

	if (list == NULL || list->len == 0)
		return NULL;
	size = args[1] == NULL ? list->len : floor(args[1]->u.number);
	if (size < 0)
		sf_jn_fail_message(ev, SF_JN_D3137, "Second argument must be zero or greater");
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
SF_JN_FUNCTION(range)
{
	SfJnValue  *result;
	double		count;
	uint32		i;

	if (args[0] == NULL || args[1] == NULL || args[2] == NULL)
		return NULL;
	count = floor((args[1]->u.number - args[0]->u.number) / args[2]->u.number) + 1;
	if (!(count >= 1) || args[2]->u.number == 0)
		return NULL;
	if (count > MAX_RANGE)
		sf_jn_fail_value(ev, SF_JN_D2014, sf_jn_number(&ev->arena, count));
	result = sf_jn_sequence(&ev->arena, (uint32) count);
	for (i = 0; i < (uint32) count; i++)
		sf_jn_push(&ev->arena, result,
				   sf_jn_number(&ev->arena, args[0]->u.number + i * args[2]->u.number));
	return result;
}

/* The algorithms of $hash */
static const struct
{
	const char *name;
	pg_cryptohash_type type;
	int			len;
}			algorithms[] =
{
	{"MD5", PG_MD5, MD5_DIGEST_LENGTH},
	{"SHA-1", PG_SHA1, SHA1_DIGEST_LENGTH},
	{"SHA-256", PG_SHA256, PG_SHA256_DIGEST_LENGTH},
	{"SHA-384", PG_SHA384, PG_SHA384_DIGEST_LENGTH},
	{"SHA-512", PG_SHA512, PG_SHA512_DIGEST_LENGTH},
};

/*
 * $hash(str, algorithm): hex digits.
 */
SF_JN_FUNCTION(hash)
{
	uint8		digest[PG_SHA512_DIGEST_LENGTH];
	pg_cryptohash_ctx *ctx;
	char	   *text;
	size_t		i;
	int			k;

	if (args[0] == NULL || args[1] == NULL)
		return NULL;
	for (i = 0; i < lengthof(algorithms); i++)
	{
		if (strlen(algorithms[i].name) == args[1]->len &&
			memcmp(algorithms[i].name, args[1]->u.str, args[1]->len) == 0)
			break;
	}
	if (i == lengthof(algorithms))
		sf_jn_fail_message(ev, SF_JN_D3137,
						   psprintf("Hash algorithm '%.*s' must be one of SHA-1, SHA-384, SHA-256, SHA-512, MD5",
									(int) Min(args[1]->len, 100), args[1]->u.str));

	ctx = pg_cryptohash_create(algorithms[i].type);
	if (pg_cryptohash_init(ctx) < 0 ||
		pg_cryptohash_update(ctx, (const uint8 *) args[0]->u.str, args[0]->len) < 0 ||
		pg_cryptohash_final(ctx, digest, algorithms[i].len) < 0)
	{
		const char *reason = pg_cryptohash_error(ctx);

		pg_cryptohash_free(ctx);
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not compute %s hash: %s", algorithms[i].name, reason)));
	}
	pg_cryptohash_free(ctx);
	text = sf_jn_alloc(&ev->arena, algorithms[i].len * 2 + 1);
	for (k = 0; k < algorithms[i].len; k++)
		sprintf(text + k * 2, "%02x", digest[k]);
	return sf_jn_string(&ev->arena, text, algorithms[i].len * 2);
}

/* $uuid(): random, version 4 */
SF_JN_FUNCTION(uuid)
{
	uint8		b[16];
	char	   *text = sf_jn_alloc(&ev->arena, 40);

	if (!pg_strong_random(b, sizeof(b)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	b[6] = (b[6] & 0x0f) | 0x40;
	b[8] = (b[8] & 0x3f) | 0x80;
	snprintf(text, 40, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7],
			 b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
	return sf_jn_string(&ev->arena, text, 36);
}

/* $parse(str): a JSON text */
SF_JN_FUNCTION(parse)
{
	SfJnValue  *result;

	if (args[0] == NULL)
		return NULL;
	result = sf_jn_parse_json_strict(&ev->arena, args[0]->u.str, (int) args[0]->len);
	if (result == NULL)
		sf_jn_fail_message(ev, SF_JN_D3137, "Invalid JSON");
	return result;
}
