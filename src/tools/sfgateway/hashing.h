/*
 * hashing.h
 *		Digests, random names, comparison in constant time, and sealed secrets.
 */
#ifndef SFG_HASHING_H
#define SFG_HASHING_H

#include <stdbool.h>
#include <stddef.h>

#define SFG_DIGEST_SIZE 32
#define SFG_DIGEST_HEX	(2 * SFG_DIGEST_SIZE + 1)

extern void sfg_hex(const unsigned char *bytes, size_t n, char *hex);
extern void sfg_sha256(const void *data, size_t len, unsigned char digest[SFG_DIGEST_SIZE]);
extern void sfg_sha256_hex(const void *data, size_t len, char hex[SFG_DIGEST_HEX]);
extern void sfg_hmac_sha256(const void *key, size_t key_len, const void *data, size_t len,
							unsigned char digest[SFG_DIGEST_SIZE]);
extern bool sfg_is_same(const char *a, const char *b);
extern void sfg_random_hex(char *hex, size_t n_bytes);
extern void sfg_random_uuid(char uuid[37]);

/* --- secrets that only those can read who bring the key --- */

/* The ciphertext, its tag and its nonce; an empty text has SFG_SEALED_LEAST bytes */
#define SFG_SEALED_LEAST 28

typedef struct SfgSealed
{
	unsigned char *bytes;
	size_t		len;
} SfgSealed;

extern SfgSealed sfg_seal(const unsigned char *key, const char *secret);
extern char *sfg_unseal(const unsigned char *key, const SfgSealed *sealed);
extern void sfg_sealed_free(SfgSealed *sealed);

#endif							/* SFG_HASHING_H */
