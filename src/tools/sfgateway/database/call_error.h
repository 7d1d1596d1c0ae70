/*
 * call_error.h
 *		Calls for requests, and what their errors mean for clients.
 */
#ifndef SFG_CALL_ERROR_H
#define SFG_CALL_ERROR_H

#include "tools/sfgateway/database/pool.h"
#include "tools/sfgateway/http/http_request.h"

/* Bytes of an answer */
#define SFG_LARGEST_ANSWER (64 * 1024 * 1024)

/* Bytes of a message in an answer: errors of SQL may have much of the request in them */
#define SFG_LARGEST_MESSAGE (64 * 1024)

extern bool sfg_call_wait(SfgRequest *request, SfgCall *call);
extern void sfg_call_make(SfgRequest *request, SfgPool *pool, const char *statement, int n,
						  const char *const *values, SfcDbDone done);
extern bool sfg_call_has_value(const PGresult *result);
extern void sfg_call_answer(SfgRequest *request, const PGresult *result, const char *type);

#endif							/* SFG_CALL_ERROR_H */
