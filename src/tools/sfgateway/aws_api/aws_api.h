/*
 * aws_api.h
 *		The API of AWS Step Functions: calls, answers, signatures, access keys.
 */
#ifndef SFG_AWS_API_H
#define SFG_AWS_API_H

#include "tools/client/db.h"
#include "tools/sfgateway/database/pool.h"
#include "tools/sfgateway/hashing.h"
#include "tools/sfgateway/http/http_request.h"

/* Runs an action as a role: $1 role, $2 action, $3 request */
#define SFG_AWS_CALL "SELECT @.sf_aws_api_as($1::pg_catalog.name, $2::pg_catalog.text, $3::pg_catalog.jsonb)::pg_catalog.text"

/* The same with a trace header, unless the request has its own */
#define SFG_AWS_TRACED_CALL \
	"SELECT @.sf_aws_api_as($1::pg_catalog.name, $2::pg_catalog.text," \
	" pg_catalog.jsonb_build_object('traceHeader', $4::pg_catalog.text) OPERATOR(pg_catalog.||) $3::pg_catalog.jsonb)::pg_catalog.text"

extern bool sfg_aws_check(SfgRequest *request);
extern void sfg_aws(SfgRequest *request);

/* --- answers and errors in the shape of AWS JSON 1.0 --- */

extern void sfg_aws_answer(SfgRequest *request, unsigned status, const char *json, size_t len);
extern void sfg_aws_refuse_key(SfgRequest *request);
extern void sfg_aws_result(SfgRequest *request, const PGresult *result);
extern void sfg_aws_refuse(SfgRequest *request, unsigned status, const char *type, const char *message);

/* An error of a call, as clients see it */
typedef struct SfgAwsError
{
	unsigned	status;			/* 0: there is none */
	char	   *type;
	char	   *message;
	char	   *reason;			/* or NULL */
} SfgAwsError;

extern bool sfg_aws_is_down(const PGresult *result);
extern SfgAwsError sfg_aws_error_read(const PGresult *result);
extern void sfg_aws_error_answer(SfgRequest *request, const SfgAwsError *error);
extern void sfg_aws_error_free(SfgAwsError *error);

/* --- GetActivityTask: workers that wait for tasks --- */

extern void sfg_activity_poll(SfgRequest *request, const char *role, const char *key_id);
extern void sfg_activity_notified(const char *activity, int node_index);
extern void sfg_activity_ask(int node_index);
extern void sfg_activity_drain(void);

/* --- signatures of requests, AWS Signature Version 4 --- */

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

/* --- access keys, of the settings and of the database --- */

/* Called with the role and the secret of a key; NULL: there is no such key. */
typedef void (*SfgAccessKeyFound) (SfgRequest *request, const char *role, SfgSecret *secret);

/* What a look-up calls when it ends */
typedef struct SfgAccessKeyUser
{
	SfgAccessKeyFound found;
	void		(*failed) (SfgRequest *request, const PGresult *result);	/* with its error, as SfcDbDone */
} SfgAccessKeyUser;

/* What a look-up has said of a key */
typedef enum SfgAccessKeyStatus
{
	SFG_ACCESS_KEY_GOOD,
	SFG_ACCESS_KEY_GONE,		/* it is not there, or its role cannot log in */
	SFG_ACCESS_KEY_UNKNOWN		/* the database gave no answer */
} SfgAccessKeyStatus;

extern void sfg_access_key_find(SfgRequest *request, const char *id, const SfgAccessKeyUser *user);
extern bool sfg_access_key_is_known(const char *id);
extern SfgCall *sfg_access_key_ask(const char *id, SfcDbDone done, void *arg);
extern SfgAccessKeyStatus sfg_access_key_status(const PGresult *result);

#endif							/* SFG_AWS_API_H */
