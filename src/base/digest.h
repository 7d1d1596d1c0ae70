/*
 * digest.h
 *		Digests of bytes, by the names that Step Functions has for them.
 */
#ifndef SF_BASE_DIGEST_H
#define SF_BASE_DIGEST_H

extern char *sf_digest_hex(const char *algorithm, Size algorithm_len,
						   const void *bytes, Size len);

#endif							/* SF_BASE_DIGEST_H */
