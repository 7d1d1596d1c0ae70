/*
 * access_key.h
 *		Rows of _sfflow.access_key.
 */
#ifndef SF_FEATURE_ACCESS_KEY_H
#define SF_FEATURE_ACCESS_KEY_H

#include "db/row.h"

/* Columns of _sfflow.access_key; see sql/parts/feature/access.sql. */
#define SF_ACCESS_KEY_COLUMNS(X) \
	X(char *, access_key_id, TEXT, NOT_NULL) \
	X(Oid, role, REGROLE, NOT_NULL) \
	X(char *, secret, TEXT, NOT_NULL) \
	X(TimestampTz, created_at, TIMESTAMPTZ, NOT_NULL) \
	X(char *, created_by, TEXT, NOT_NULL) \
	X(char *, created_in, TEXT, NOT_NULL)

typedef struct SfAccessKey
{
	SF_ACCESS_KEY_COLUMNS(SF_FIELD)
} SfAccessKey;

extern SfAccessKey *sf_access_key_read(const char *id);
extern void sf_access_key_store(const SfAccessKey *key);
extern int64 sf_access_key_count_of(Oid role);
extern void sf_access_key_delete(const char *id);
extern void sf_access_key_delete_of(Oid role);

#endif							/* SF_FEATURE_ACCESS_KEY_H */
