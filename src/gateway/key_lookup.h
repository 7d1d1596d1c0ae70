/*
 * key_lookup.h
 *		Access keys, of the settings and of the database.
 */
#ifndef SFG_KEY_LOOKUP_H
#define SFG_KEY_LOOKUP_H

#include "client/db.h"
#include "gateway/sigv4.h"

/* Called with the role and the secret of a key; NULL: there is no such key. */
typedef void (*SfgKeyFound) (SfgRequest *request, const char *role, SfgSecret *secret);

/* Called with the error of a look-up, as SfwDbDone. */
typedef void (*SfgKeyFailed) (SfgRequest *request, const PGresult *result);

extern void sfg_access_key_find(SfgRequest *request, const char *id, SfgKeyFound found, SfgKeyFailed failed);

#endif							/* SFG_KEY_LOOKUP_H */
