/*
 * call.h
 *		A call of the AWS API: the operation, what is asked for, and the answer.
 *
 * An operation reads the members of the request with sf_request_…, which were
 * checked before (members.h), and adds those of the answer to call->answer.
 */
#ifndef SF_AWSAPI_CALL_H
#define SF_AWSAPI_CALL_H

#include "awsapi/refusals.h"
#include "base/public_name.h"
#include "json/json.h"

typedef struct SfCall SfCall;

/* An operation: its name, the members of its requests (operations.h), what answers it */
typedef struct SfOperation
{
	const char *action;
	const char *members;
	void		(*answer) (SfCall *call);
} SfOperation;

struct SfCall
{
	const SfOperation *operation;
	JsonbValue	request;		/* an object */
	const char *subject;		/* what errors name: an ARN or a name of the request */
	const char *missing;		/* not NULL: the title of ResourceNotFound, which a missing object is */
	SfJsonBuilder answer;
};

/* --- members.c --- */

extern void sf_request_check(SfCall *call);
extern char *sf_request_text(const SfCall *call, const char *member);
extern bool sf_request_flag(const SfCall *call, const char *member, bool if_absent);
extern int	sf_request_int(const SfCall *call, const char *member, int if_absent);
extern int	sf_request_limit(const SfCall *call);
extern Jsonb *sf_request_document(const SfCall *call, const char *member);
extern Jsonb *sf_request_payload(const SfCall *call, const char *member, SfRefusal refusal);
extern const char *sf_request_id(SfCall *call, const char *member, SfNameKind kind);

/* --- answer.c --- */

extern void sf_answer_time(SfCall *call, const char *key, TimestampTz at);
extern void sf_answer_payload(SfCall *call, const char *key, const Jsonb *payload);
extern void sf_answer_arn(SfCall *call, const char *key, SfNameKind kind, const char *id);
extern void sf_answer_next(SfCall *call, const char *key);
extern char *sf_answer_token_key(SfCall *call);

#endif							/* SF_AWSAPI_CALL_H */
