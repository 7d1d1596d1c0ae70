/*
 * sqlstate.c
 *		SQLSTATEs by their names, as the text that libpq gives.
 */
#include "postgres_fe.h"

#include "tools/client/sqlstate.h"

const char	sfc_sqlstates[][6] = {
#define SQLSTATE_TEXT(sym, a, b, c, name, answer, meaning, advice) {'S', 'F', a, b, c},
	SF_SQLSTATE_LIST(SQLSTATE_TEXT)
};
