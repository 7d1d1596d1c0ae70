/*
 * sqlstate.h
 *		SQLSTATEs by their names, as the text that libpq gives.
 */
#ifndef SFC_SQLSTATE_H
#define SFC_SQLSTATE_H

#include "base/error/sqlstates.h"

/* sfflow's own, by the symbols of base/error/sqlstates.h */
typedef enum SfcSqlstate
{
#define SFC_SQLSTATE_SYMBOL(sym, a, b, c, name, answer, meaning, advice) SFC_STATE_##sym,
	SF_SQLSTATE_LIST(SFC_SQLSTATE_SYMBOL)
} SfcSqlstate;

extern const char sfc_sqlstates[][6];

/* The text of one of them, and what all begin with */
#define SFC_SQLSTATE(symbol)	sfc_sqlstates[SFC_STATE_##symbol]
#define SFC_ERRCLASS			"SF"

/* PostgreSQL's, with their names in utils/errcodes.h, where they are numbers of the server */
#define ERRCODE_NO_DATA							"02000"
#define ERRCODE_CHARACTER_NOT_IN_REPERTOIRE		"22021"
#define ERRCODE_UNTRANSLATABLE_CHARACTER		"22P05"
#define ERRCODE_INSUFFICIENT_PRIVILEGE			"42501"
#define ERRCODE_UNDEFINED_OBJECT				"42704"
#define ERRCODE_UNDEFINED_FUNCTION				"42883"
#define ERRCODE_TOO_MANY_CONNECTIONS			"53300"
#define ERRCODE_LOCK_NOT_AVAILABLE				"55P03"
#define ERRCODE_CANNOT_CONNECT_NOW				"57P03"
#define ERRCODE_RAISE_EXCEPTION					"P0001"
#define ERRCODE_NO_DATA_FOUND					"P0002"

/* Its classes, each of which stands for those that begin with it */
#define ERRCLASS_CONNECTION						"08"
#define ERRCLASS_FEATURE_NOT_SUPPORTED			"0A"
#define ERRCLASS_DATA							"22"
#define ERRCLASS_INTEGRITY_CONSTRAINT			"23"
#define ERRCLASS_TRANSACTION_STATE				"25"
#define ERRCLASS_AUTHORIZATION					"28"
#define ERRCLASS_TRANSACTION_ROLLBACK			"40"
#define ERRCLASS_RESOURCES						"53"
#define ERRCLASS_PROGRAM_LIMIT					"54"
#define ERRCLASS_OPERATOR_INTERVENTION			"57"

/* Is a SQLSTATE the one with a code, or of the class that a code stands for? */
static inline bool
sfc_sqlstate_is(const char *sqlstate, const char *code)
{
	return strncmp(sqlstate, code, strlen(code)) == 0;
}

#endif							/* SFC_SQLSTATE_H */
