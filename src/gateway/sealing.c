/*
 * sealing.c
 *		Secrets that only those can read who bring the key.
 *
 * AES-256-GCM with a key of 32 bytes and a random nonce:
 *
 *		nonce (12 bytes), tag (16 bytes), ciphertext
 */
#include "postgres_fe.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "gateway/hashing.h"
#include "gateway/sealing.h"

#define NONCE	12
#define TAG		16

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
		sfg_crypto_fails();
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
		sfg_crypto_fails();
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
