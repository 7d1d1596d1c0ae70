/*
 * hashing.h
 *		Digests, random names, comparison in constant time.
 */
#ifndef SFG_HASHING_H
#define SFG_HASHING_H

#include <stdbool.h>
#include <stddef.h>

#define SFG_DIGEST_SIZE 32
#define SFG_DIGEST_HEX	(2 * SFG_DIGEST_SIZE + 1)

extern void sfg_crypto_fails(void);
extern void sfg_hex(const unsigned char *bytes, size_t n, char *hex);
extern void sfg_sha256(const void *data, size_t len, unsigned char digest[SFG_DIGEST_SIZE]);
extern void sfg_sha256_hex(const void *data, size_t len, char hex[SFG_DIGEST_HEX]);
extern void sfg_hmac_sha256(const void *key, size_t key_len, const void *data, size_t len,
							unsigned char digest[SFG_DIGEST_SIZE]);
extern bool sfg_same(const char *a, const char *b);
extern void sfg_random_hex(char *hex, size_t n_bytes);

#endif							/* SFG_HASHING_H */
