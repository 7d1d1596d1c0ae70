/*
 * key_lookup.h
 *		Access keys, of the settings and of the database.
 */
#ifndef SFG_KEY_LOOKUP_H
#define SFG_KEY_LOOKUP_H

#include "client/db.h"
#include "gateway/pool.h"
#include "gateway/sigv4.h"

/* Called with the role and the secret of a key; NULL: there is no such key. */
typedef void (*SfgKeyFound) (SfgRequest *request, const char *role, SfgSecret *secret);

/* Called with the error of a look-up, as SfwDbDone. */
typedef void (*SfgKeyFailed) (SfgRequest *request, const PGresult *result);

/* What a look-up has said of a key */
typedef enum SfgKeyState
{
	SFG_KEY_GOOD,
	SFG_KEY_GONE,				/* it is not there, or its role cannot log in */
	SFG_KEY_UNKNOWN				/* the database gave no answer */
} SfgKeyState;

extern void sfg_access_key_find(SfgRequest *request, const char *id, SfgKeyFound found, SfgKeyFailed failed);
extern bool sfg_access_key_is_known(const char *id);
extern SfgCall *sfg_access_key_ask(const char *id, SfwDbDone done, void *arg);
extern SfgKeyState sfg_access_key_state(const PGresult *result);

#endif							/* SFG_KEY_LOOKUP_H */
