/*
 * digest.h
 *		Digests of bytes, by the names that Step Functions has for them.
 */
#ifndef SF_BASE_DIGEST_H
#define SF_BASE_DIGEST_H

/*
 * Return the digest of len bytes in hexadecimal; NULL when there is no
 * algorithm of that name (MD5, SHA-1, SHA-256, SHA-384, SHA-512).
 */
extern char *sf_digest_hex(const char *algorithm, Size algorithm_len,
						   const void *bytes, Size len);

#endif							/* SF_BASE_DIGEST_H */
