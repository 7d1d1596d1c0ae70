/*
 * hashing.c
 *		Digests, random names, comparison in constant time.
 */
#include "postgres_fe.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "gateway/hashing.h"

#define RANDOM_MAX 32

/* End the program because the library cannot do what it is for. */
void
sfg_crypto_fails(void)
{
	fprintf(stderr, "%s: OpenSSL fails\n", program_invocation_short_name);
	exit(1);
}

/* Write bytes as hexadecimal digits, with a NUL. */
void
sfg_hex(const unsigned char *bytes, size_t n, char *hex)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++)
	{
		hex[2 * i] = digits[bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	hex[2 * n] = '\0';
}

/* Compute SHA-256. */
void
sfg_sha256(const void *data, size_t len, unsigned char digest[SFG_DIGEST_SIZE])
{
	static EVP_MD *sha256;
	static EVP_MD_CTX *context;

	/* Made once: looking for it takes longer than a short digest. */
	if (sha256 == NULL)
	{
		sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
		context = EVP_MD_CTX_new();
	}
	if (sha256 == NULL || context == NULL || !EVP_DigestInit_ex(context, sha256, NULL) ||
		!EVP_DigestUpdate(context, data, len) || !EVP_DigestFinal_ex(context, digest, NULL))
		sfg_crypto_fails();
}

/* Compute SHA-256 as hexadecimal digits. */
void
sfg_sha256_hex(const void *data, size_t len, char hex[SFG_DIGEST_HEX])
{
	unsigned char digest[SFG_DIGEST_SIZE];

	sfg_sha256(data, len, digest);
	sfg_hex(digest, sizeof(digest), hex);
}

/* Compute HMAC with SHA-256. */
void
sfg_hmac_sha256(const void *key, size_t key_len, const void *data, size_t len, unsigned char digest[SFG_DIGEST_SIZE])
{
	static EVP_MAC_CTX *context;
	static char sha256[] = "SHA256";
	OSSL_PARAM	parameters[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, sha256, 0), OSSL_PARAM_construct_end()
	};
	bool		first = context == NULL;

	if (first)
		context = EVP_MAC_CTX_new(EVP_MAC_fetch(NULL, "HMAC", NULL));
	if (context == NULL || !EVP_MAC_init(context, key, key_len, first ? parameters : NULL) ||
		!EVP_MAC_update(context, data, len) || !EVP_MAC_final(context, digest, NULL, SFG_DIGEST_SIZE))
		sfg_crypto_fails();
}

/* Tell whether two texts are the same, in a time that depends on their lengths alone. */
bool
sfg_same(const char *a, const char *b)
{
	size_t		len = strlen(a);

	return len == strlen(b) && CRYPTO_memcmp(a, b, len) == 0;
}

/* Make a random name of n_bytes bytes as hexadecimal digits, from bytes that are drawn many at a time. */
void
sfg_random_hex(char *hex, size_t n_bytes)
{
	static unsigned char drawn[64 * RANDOM_MAX];
	static size_t left = 0;

	if (n_bytes > RANDOM_MAX)
		sfg_crypto_fails();
	if (left < n_bytes)
	{
		if (RAND_bytes(drawn, sizeof(drawn)) != 1)
			sfg_crypto_fails();
		left = sizeof(drawn);
	}
	left -= n_bytes;
	sfg_hex(drawn + left, n_bytes, hex);
	/* Names of sessions are secrets, which do not stay here. */
	explicit_bzero(drawn + left, n_bytes);
}
