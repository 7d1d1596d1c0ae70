/*
 * base64.h
 *		Bytes as base64 text.
 */
#ifndef SF_BASE_BASE64_H
#define SF_BASE_BASE64_H

extern char *sf_base64_encode(const void *bytes, int n);

#endif							/* SF_BASE_BASE64_H */
