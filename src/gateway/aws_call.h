/*
 * aws_call.h
 *		The API of AWS Step Functions.
 */
#ifndef SFG_AWS_CALL_H
#define SFG_AWS_CALL_H

#include "gateway/pool.h"
#include "gateway/http_request.h"

/* Runs an action as a role: $1 role, $2 action, $3 request */
#define SFG_AWS_CALL "SELECT @.sf_aws_api_as($1::pg_catalog.name, $2::pg_catalog.text, $3::pg_catalog.jsonb)::pg_catalog.text"

extern bool sfg_aws_check(SfgRequest *request);
extern void sfg_aws(SfgRequest *request);

#endif							/* SFG_AWS_CALL_H */
