/*
 * access_key.c
 *		Rows of _sfflow.access_key.
 */
#include "postgres.h"

#include "feature/access/access_key.h"

#define ROW SfAccessKey
SF_ROW_TYPE(row_type, SF_ACCESS_KEY_COLUMNS, access_key, 1);

/* Read a row. */
static void
read_key(HeapTuple tuple, TupleDesc desc, void *arg)
{
	sf_row_read(&row_type, tuple, desc, row_type.ncolumns, arg);
}

/* Find a key; NULL: there is none. */
SfAccessKey *
sf_access_key_read(const char *id)
{
	SfAccessKey *key = palloc0(sizeof(SfAccessKey));

	return sf_row_fetch(&row_type.key, SF_LOCK_NONE, NULL, read_key, key, SF_TEXT(id)) ? key : NULL;
}

/* Store a new key. */
void
sf_access_key_store(const SfAccessKey *key)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.access_key (access_key_id, role, secret, created_at, created_by, created_in)"
		" VALUES ($1, $2, $3, $4, $5, $6)");

	sf_db_execute(&plan, SF_TEXT(key->access_key_id), SF_ROLE(key->role),
				  SF_TEXT(key->secret), SF_TIME(key->created_at),
				  SF_TEXT(key->created_by), SF_TEXT(key->created_in));
}

/* The number of keys of a role. */
int64
sf_access_key_count_of(Oid role)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM _sfflow.access_key k WHERE k.role = $1");

	return sf_db_number(&plan, 0, SF_ROLE(role));
}

/* Delete a key. */
void
sf_access_key_delete(const char *id)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.access_key k WHERE k.access_key_id = $1");

	sf_db_execute(&plan, SF_TEXT(id));
}

/* Delete all keys of a role. */
void
sf_access_key_delete_of(Oid role)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.access_key k WHERE k.role = $1");

	sf_db_execute(&plan, SF_ROLE(role));
}
