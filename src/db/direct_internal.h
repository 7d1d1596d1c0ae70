/*
 * direct_internal.h
 *		What direct.c, direct_write.c and index_walk.c share.
 */
#ifndef SF_DB_DIRECT_INTERNAL_H
#define SF_DB_DIRECT_INTERNAL_H

#include "access/skey.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"

#include "base/version/compat.h"
#include "db/direct.h"

/* Columns of an index, at most */
#define SF_DIRECT_MAX_KEYS	5

/* Open a table of _sfflow; waits for a session that is dropping the extension. */
extern Relation sf_direct_open(const char *name, LOCKMODE lockmode);

/* Open an index of a table that is open. */
extern Relation sf_direct_open_index(const char *name);

/* Compare the first columns of an index with the values of a key. */
extern void sf_direct_form_keys(const SfArg *key, int nkeys, ScanKey scan_keys);

/* Raise 40001: a row has changed since this transaction's snapshot. */
extern void sf_direct_refuse_changed(void) pg_attribute_noreturn();

#endif							/* SF_DB_DIRECT_INTERNAL_H */
