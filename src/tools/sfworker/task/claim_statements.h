/*
 * claim_statements.h
 *		Statements that claim tasks.
 */
#ifndef SFW_CLAIM_STATEMENTS_H
#define SFW_CLAIM_STATEMENTS_H

#include "tools/client/db.h"

extern char *sfw_claim_statement(const char *before, const char *arguments);
extern bool sfw_claim_is_no_utf8(const char *sqlstate);
extern char *sfw_claim_as_bytes_statement(void);
extern void sfw_claim_convert(const PGresult *claim, SfcDbDone done);

#endif							/* SFW_CLAIM_STATEMENTS_H */
