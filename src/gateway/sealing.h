/*
 * sealing.h
 *		Secrets that only those can read who bring the key.
 */
#ifndef SFG_SEALING_H
#define SFG_SEALING_H

#include <stddef.h>

/* The ciphertext, its tag and its nonce */
typedef struct SfgSealed
{
	unsigned char *bytes;
	size_t		len;
} SfgSealed;

extern SfgSealed sfg_seal(const unsigned char *key, const char *secret);
extern char *sfg_unseal(const unsigned char *key, const SfgSealed *sealed);
extern void sfg_sealed_free(SfgSealed *sealed);

#endif							/* SFG_SEALING_H */
