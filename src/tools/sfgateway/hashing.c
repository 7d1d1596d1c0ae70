/*
 * hashing.c
 *		Digests, random names, comparison in constant time, and sealed secrets.
 */
#include "postgres_fe.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "tools/sfgateway/hashing.h"

#define RANDOM_MAX 32

/* End the program because the library cannot do what it is for. */
static void
crypto_fails(void)
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
		crypto_fails();
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
		crypto_fails();
}

/* Tell whether two texts are the same, in a time that depends on their lengths alone. */
bool
sfg_is_same(const char *a, const char *b)
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
		crypto_fails();
	if (left < n_bytes)
	{
		if (RAND_bytes(drawn, sizeof(drawn)) != 1)
			crypto_fails();
		left = sizeof(drawn);
	}
	left -= n_bytes;
	sfg_hex(drawn + left, n_bytes, hex);
	/* Names of sessions are secrets, which do not stay here. */
	explicit_bzero(drawn + left, n_bytes);
}

/* Write a random UUID. */
void
sfg_random_uuid(char uuid[37])
{
	char		hex[33];

	sfg_random_hex(hex, 16);
	snprintf(uuid, 37, "%.8s-%.4s-4%.3s-a%.3s-%.12s", hex, hex + 8, hex + 13, hex + 17, hex + 20);
}

/*
 * Secrets that only those can read who bring the key.
 *
 * AES-256-GCM with a key of 32 bytes and a random nonce:
 *
 * nonce (12 bytes), tag (16 bytes), ciphertext
 */

#define NONCE	12
#define TAG		16

StaticAssertDecl(SFG_SEALED_LEAST == NONCE + TAG, "SFG_SEALED_LEAST has to be what is added to a text");

/* Encrypt a text with a key of SFG_DIGEST_SIZE bytes. */
SfgSealed
sfg_seal(const unsigned char *key, const char *secret)
{
	size_t		len = strlen(secret);
	SfgSealed	sealed = {.bytes = pg_malloc(NONCE + TAG + len), .len = NONCE + TAG + len};
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	unsigned char *text = sealed.bytes + NONCE + TAG;
	int			done;

	if (context == NULL || RAND_bytes(sealed.bytes, NONCE) != 1 ||
		!EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, sealed.bytes) ||
		!EVP_EncryptUpdate(context, text, &done, (const unsigned char *) secret, (int) len) ||
		!EVP_EncryptFinal_ex(context, text + done, &done) ||
		!EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, TAG, sealed.bytes + NONCE))
		crypto_fails();
	EVP_CIPHER_CTX_free(context);
	return sealed;
}

/* Decrypt a text, which the caller wipes and frees; NULL: the key is another one. */
char *
sfg_unseal(const unsigned char *key, const SfgSealed *sealed)
{
	size_t		len = sealed->len - NONCE - TAG;
	char	   *secret = pg_malloc0(len + 1);
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	int			done;
	bool		good;

	if (context == NULL)
		crypto_fails();
	good = EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, sealed->bytes) &&
		EVP_DecryptUpdate(context, (unsigned char *) secret, &done, sealed->bytes + NONCE + TAG, (int) len) &&
		EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, TAG, sealed->bytes + NONCE) &&
		EVP_DecryptFinal_ex(context, (unsigned char *) secret + done, &done) > 0;
	EVP_CIPHER_CTX_free(context);
	if (good)
		return secret;
	explicit_bzero(secret, len);
	free(secret);
	return NULL;
}

/* Free what was encrypted. */
void
sfg_sealed_free(SfgSealed *sealed)
{
	free(sealed->bytes);
	sealed->bytes = NULL;
}
