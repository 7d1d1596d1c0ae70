/*
 * direct_internal.h
 *		What direct.c and direct_write.c share.
 */
#ifndef SF_DB_DIRECT_INTERNAL_H
#define SF_DB_DIRECT_INTERNAL_H

#include "storage/lockdefs.h"
#include "utils/relcache.h"

#include "base/compat.h"

/* Open a table of _sfflow; waits for a session that is dropping the extension. */
extern Relation sf_direct_open(const char *name, LOCKMODE lockmode);

/* Raise 40001: a row has changed since this transaction's snapshot. */
extern void sf_direct_refuse_changed(void) pg_attribute_noreturn();

#endif							/* SF_DB_DIRECT_INTERNAL_H */
