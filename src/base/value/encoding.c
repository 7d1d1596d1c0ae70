/*
 * encoding.c
 *		Digests of bytes, by the names that Step Functions has for them.
 */
#include "postgres.h"

#include "common/base64.h"
#include "common/cryptohash.h"
#include "common/md5.h"
#include "common/sha1.h"
#include "common/sha2.h"
#include "utils/builtins.h"

#include "base/value/encoding.h"
#include "base/version/compat.h"

static const struct
{
	const char *name;
	pg_cryptohash_type type;
	int			len;
}			algorithms[] = {
	{"MD5", PG_MD5, MD5_DIGEST_LENGTH},
	{"SHA-1", PG_SHA1, SHA1_DIGEST_LENGTH},
	{"SHA-256", PG_SHA256, PG_SHA256_DIGEST_LENGTH},
	{"SHA-384", PG_SHA384, PG_SHA384_DIGEST_LENGTH},
	{"SHA-512", PG_SHA512, PG_SHA512_DIGEST_LENGTH}
};

/* Compute a digest, or raise what OpenSSL reports. */
static void
compute(size_t algorithm, const void *bytes, Size len, uint8 *digest)
{
	pg_cryptohash_ctx *ctx = pg_cryptohash_create(algorithms[algorithm].type);

	if (ctx == NULL || pg_cryptohash_init(ctx) < 0 ||
		pg_cryptohash_update(ctx, bytes, len) < 0 ||
		pg_cryptohash_final(ctx, digest, algorithms[algorithm].len) < 0)
	{
		const char *reason = pg_cryptohash_error(ctx);

		pg_cryptohash_free(ctx);
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not compute %s hash: %s",
						algorithms[algorithm].name, reason)));
	}
	pg_cryptohash_free(ctx);
}

/* The first 64 bits of the SHA-256 digest of bytes. */
uint64
sf_digest_64(const void *bytes, Size len)
{
	enum {SHA_256 = 2};
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
	uint64		start;

	compute(SHA_256, bytes, len, digest);
	memcpy(&start, digest, sizeof(start));
	return start;
}

/*
 * Return the digest of len bytes in hexadecimal; NULL when there is no
 * algorithm of that name (MD5, SHA-1, SHA-256, SHA-384, SHA-512).
 */
char *
sf_digest_hex(const char *algorithm, Size algorithm_len, const void *bytes, Size len)
{
	uint8		digest[PG_SHA512_DIGEST_LENGTH];
	char	   *text;
	size_t		i;

	for (i = 0; i < lengthof(algorithms); i++)
		if (strlen(algorithms[i].name) == algorithm_len &&
			memcmp(algorithms[i].name, algorithm, algorithm_len) == 0)
			break;
	if (i == lengthof(algorithms))
		return NULL;
	compute(i, bytes, len, digest);
	text = palloc0(algorithms[i].len * 2 + 1);
	hex_encode((const char *) digest, algorithms[i].len, text);
	return text;
}

/* --- bytes as base64 text --- */

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
