/*
 * aws_answer.h
 *		Answers and errors in the shape of AWS JSON 1.0.
 */
#ifndef SFG_AWS_ANSWER_H
#define SFG_AWS_ANSWER_H

#include "client/db.h"
#include "gateway/http_request.h"

extern void sfg_aws_answer(SfgRequest *request, unsigned status, const char *json, size_t len);
extern void sfg_aws_refuse_key(SfgRequest *request);
extern void sfg_aws_error(SfgRequest *request, unsigned status, const char *type, const char *message);
extern void sfg_aws_result(SfgRequest *request, const PGresult *result);

#endif							/* SFG_AWS_ANSWER_H */
