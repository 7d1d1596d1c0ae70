/*
 * sigv4.h
 *		Signatures of requests, AWS Signature Version 4.
 */
#ifndef SFG_SIGV4_H
#define SFG_SIGV4_H

#include "gateway/hashing.h"
#include "gateway/http_request.h"

/* What the Authorization header says */
typedef struct SfgSignature
{
	char		key_id[129];
	char		date[9];		/* YYYYMMDD */
	char		region[65];
	char		headers[1025];	/* names, separated by semicolons */
	char		signature[65];
	char		time[17];		/* YYYYMMDDTHHMMSSZ, from X-Amz-Date */
} SfgSignature;

/* A secret, and the key that was derived from it last: a client signs with one for a day */
typedef struct SfgSecret
{
	char	   *text;
	char		date[9];		/* "": none was derived */
	char		region[65];
	unsigned char key[SFG_DIGEST_SIZE];
} SfgSecret;

/* Why a request is refused */
typedef struct SfgRefusal
{
	unsigned	status;
	const char *type;
	const char *message;
} SfgRefusal;

extern const SfgRefusal *sfg_sigv4_read(const SfgRequest *request, SfgSignature *signature);
extern const SfgRefusal *sfg_sigv4_verify(const SfgRequest *request, const SfgSignature *signature, SfgSecret *secret);

#endif							/* SFG_SIGV4_H */
